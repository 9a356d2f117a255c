"""Search for the range of the family, gamma and lam by leave-one-group-out cross-validation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from invarlearn.estimators.invariant.plan import Plan, Samples
from invarlearn.estimators.invariant.space import Space
from invarlearn.transforms import Family


@dataclass(frozen=True)
class Choice:
    """The result of the search.

    Attributes
    ----------
    family : Family
        The candidate with the lowest held-out error.
    gamma : float
        For squared distances in the space.
    lam : float
    lams, errors : arrays of shape (n_lams,)
        Values of lam that were compared, and their held-out mean squared errors.
    n_copies : int
        Number of copies of each sample that were used.
    """

    family: Family
    gamma: float
    lam: float
    lams: NDArray[np.float64]
    errors: NDArray[np.float64]
    n_copies: int


def search(plan: Plan, space: Space, samples: Samples, copies: NDArray) -> tuple[Choice, NDArray]:
    """Choose the candidate, gamma and lam with the lowest held-out squared error.

    Parameters
    ----------
    plan : Plan
    space : Space
    samples : Samples
    copies : array of shape (n_copies, n_samples, n_components)
        Compressed copies of the first samples by the widest candidate.

    Returns
    -------
    choice : Choice
    copies : array of shape (n_copies, n_samples, n_components)
        Compressed copies by the chosen candidate.
    """
    subset = samples.first(copies.shape[1])
    trials = (_try_family(plan, space, subset, copies, family) for family in plan.candidates)
    # trials are made one at a time, so that at most three sets of copies are in memory: of the
    # widest candidate, of the best one so far, and of the current one
    return min(trials, key=lambda trial: trial[0].errors.min())


def _try_family(
    plan: Plan, space: Space, subset: Samples, copies: NDArray, family: Family
) -> tuple[Choice, NDArray]:
    """Return the best gamma and lam for a candidate, and its compressed copies."""
    n_copies = len(copies)
    if family is not plan.widest:
        # the samples themselves, which are the first copy, are the same for all candidates
        augmentation = plan.augmentation(family)
        copies = space.transform_copies(augmentation, subset.X, n_copies, copies[:1])
    best = plan.hold_out.tune(copies, subset.Y, subset.groups)
    return Choice(family, best.gamma, best.lam, best.lams, best.errors, n_copies), copies
