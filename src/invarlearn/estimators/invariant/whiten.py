"""Whitening within classes, after the estimate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from invarlearn.estimators.invariant.plan import Plan, Samples
from invarlearn.estimators.invariant.search import Choice
from invarlearn.estimators.invariant.space import Space
from invarlearn.features.compress import whitening
from invarlearn.kernels.gaussian import median_square


def whiten_classes(
    plan: Plan, space: Space, choice: Choice, samples: Samples, copies: NDArray
) -> tuple[Space, Choice, NDArray]:
    """Whiten the space within classes, in addition to the whitening within copies.

    Directions in which samples of one class differ are shrunk, more strongly with more samples.
    This uses the labels of all samples. It is therefore done after the search and the estimate,
    whose held-out samples must not have an influence on the space.

    Parameters
    ----------
    plan : Plan
    space : Space
    choice : Choice
    samples : Samples
    copies : array of shape (n_copies, n_samples, n_components)
        Compressed copies of the first samples. As many copies as in the search are used, at most.

    Returns
    -------
    space : Space
        The whitened space.
    choice : Choice
        The choice with gamma divided by the change of the median squared distance.
    copies : array of shape (n_copies, n_samples, n_components)
        The copies in the whitened space.
    """
    n = copies.shape[1]
    n_copies = min(choice.n_copies, len(copies))
    class_indices = plan.targets.class_indices(samples.Y[:n])
    if n_copies == 1 or class_indices is None:
        return space, choice, copies
    # degrees of freedom within classes
    dof = n - len(np.unique(class_indices))
    strength = plan.whitening * dof / (dof + plan.budget.class_prior)
    rows = copies[:n_copies].reshape(n_copies * n, -1)
    classes = np.tile(class_indices, n_copies)
    white = whitening(rows, classes, strength, plan.budget.whitening_floor)
    whitened = copies @ white
    before, after = (median_square(Z[0], plan.budget.median_rows) for Z in (copies, whitened))
    gamma = choice.gamma * (before / after)
    directions = space.directions @ white.astype(space.directions.dtype)
    return replace(space, directions=directions), replace(choice, gamma=gamma), whitened
