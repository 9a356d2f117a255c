"""Estimate of the score by leave-one-group-out, with and without the declared family."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.statistics import sign_test_p_value
from invarlearn.estimators.invariant.features import FittedFeatures, new_features
from invarlearn.estimators.invariant.plan import Plan, Samples
from invarlearn.estimators.invariant.search import Choice
from invarlearn.estimators.invariant.space import Space, compress_unaugmented
from invarlearn.estimators.invariant.targets import Estimate, TargetCoding
from invarlearn.transforms import Family, Identity


@dataclass(frozen=True)
class Assessment:
    """Estimates from held-out samples.

    Attributes
    ----------
    n_samples, n_copies : int
        Number of held-out samples, and of copies of each.
    n_groups : int or None
        Number of groups whose samples were held out together. None: samples were held out one by
        one.
    estimate : Estimate
    score_without : float or None
        The score without the family. None: there are no copies.
    lowers_score : bool
        Whether the family increases the held-out loss significantly.
    warnings : tuple of str
        Messages for the user.
    """

    n_samples: int
    n_copies: int
    n_groups: int | None
    estimate: Estimate
    score_without: float | None
    lowers_score: bool
    warnings: tuple[str, ...]


def assess(
    plan: Plan,
    features: FittedFeatures,
    space: Space,
    choice: Choice,
    samples: Samples,
    copies: NDArray,
) -> tuple[Assessment, NDArray]:
    """Estimate the score by leave-one-group-out, with and without the family.

    More samples and copies are used than in the search, because copies that change the label do
    more harm if there are many.

    Parameters
    ----------
    plan : Plan
    features : FittedFeatures
    space : Space
    choice : Choice
    samples : Samples
    copies : array of shape (n_copies, n_samples, n_components)
        Compressed copies of the first samples, from the search.

    Returns
    -------
    assessment : Assessment
    copies : array of shape (n_copies, n_samples, n_components)
        The compressed copies that were used.
    """
    budget, dtype = plan.budget, plan.preparation.dtype
    n, n_copies = plan.subset_size(budget.assess_rows)
    # features are computed for one copy of all samples at a time
    n = budget.rows_in_memory(n, space.mean.size, dtype.itemsize)
    subset = samples.first(n)
    augmentation = plan.augmentation(choice.family)
    copies = space.transform_copies(augmentation, subset.X, n_copies, copies)
    held_out = plan.hold_out.predict(copies, subset.Y, subset.groups, choice.gamma, choice.lam)
    estimate = plan.targets.estimate(
        held_out.predicted, subset.Y, held_out.counted, subset.groups, len(samples)
    )
    score_without, lowers_score, warnings = None, False, estimate.warnings
    if n_copies > 1:
        unaugmented = _predict_without_family(plan, features, subset)
        score_without = plan.targets.score(unaugmented, subset.Y)
        losses, losses_without = (
            plan.targets.losses(scores, subset.Y) for scores in (held_out.predicted, unaugmented)
        )
        lowers_score = increases_loss(losses, losses_without, subset.groups, budget.warning_level)
        if lowers_score:
            score = estimate.score
            warnings += (_family_message(plan.targets, choice.family, score, score_without),)
    assessment = Assessment(
        n_samples=n,
        n_copies=n_copies,
        n_groups=None if subset.groups is None else len(np.unique(subset.groups)),
        estimate=estimate,
        score_without=score_without,
        lowers_score=lowers_score,
        warnings=warnings,
    )
    return assessment, copies


def _predict_without_family(plan: Plan, features: FittedFeatures, samples: Samples) -> NDArray:
    """Return held-out predictions without the family: (n_samples, n_targets).

    There is no augmentation and no whitening, and features do not use orbits. Images are not
    centred.
    """
    # the family only selects the default features here: edge features ignore its elements, so that
    # any family of the domain selects them; otherwise the identity selects standardised columns
    family = Identity() if plan.edges is None else plan.widest
    options = {name: value for name, value in features.options.items() if name != "centred"}
    transformer = new_features(plan, family, samples.X.shape[1], options).fit(samples.X)
    copies = compress_unaugmented(plan, transformer, samples.X)
    return plan.hold_out.tune(copies, samples.Y, samples.groups).predicted


def increases_loss(
    losses: NDArray, losses_without: NDArray, groups: NDArray | None, level: float
) -> bool:
    """Return whether losses are larger with the family than without it, beyond chance.

    Both the mean loss and the number of samples with a larger loss must have increased.

    Parameters
    ----------
    losses, losses_without : arrays of shape (n_samples,)
    groups : array of shape (n_samples,) or None
    level : float
        Significance level of a sign test over samples, or over groups.
    """
    increases = np.sign(losses - losses_without)
    is_worse = losses.mean() > losses_without.mean() and increases.sum() > 0
    return bool(is_worse and sign_test_p_value(increases, groups) < level)


def _family_message(
    targets: TargetCoding, family: Family, score: float, score_without: float
) -> str:
    before, after = targets.format_score(score_without), targets.format_score(score)
    return (
        f"The declared family lowers held-out {targets.score_name} from {before} to {after}. "
        f"Check that the labels do not depend on {family!r}."
    )
