"""Features of the user, or default features of the domain of the family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from invarlearn.estimators.invariant.images import moves_far, seems_noisy
from invarlearn.estimators.invariant.plan import Plan, Samples
from invarlearn.estimators.invariant.space import compress
from invarlearn.features.defaults import InvariantFeatureSettings, default_features
from invarlearn.transforms import Family


@dataclass(frozen=True)
class FittedFeatures:
    """Fitted features.

    Attributes
    ----------
    transformer : transformer
        Fitted on augmented samples.
    options : dict
        Options of :func:`invarlearn.features.defaults.default_features` that lower the held-out
        error: ``centred``, ``noisy``.
    """

    transformer: Any
    options: dict[str, bool]


def fit_features(plan: Plan, samples: Samples) -> FittedFeatures:
    """Choose the options of the default image features, and fit the features.

    Features are fitted on copies by the widest candidate, so that they suit every candidate.
    """
    options = choose_image_options(plan, samples)
    rows, _ = plan.augmented_rows(samples, plan.budget.search_rows)
    transformer = new_features(plan, plan.widest, samples.X.shape[1], options)
    return FittedFeatures(transformer.fit(rows), options)


def new_features(plan: Plan, family: Family, n_features: int, options: Mapping[str, bool]) -> Any:
    """Return features that are not fitted, for rows that a family transforms."""
    if plan.features is not None:
        return clone(plan.features)
    return _default_features(plan, family, n_features, plan.n_landmarks, options)


def _default_features(
    plan: Plan,
    family: Family,
    n_features: int,
    n_landmarks: int | None,
    options: Mapping[str, bool],
) -> Any:
    """Return the default features, not fitted, with the constants of the budget."""
    return default_features(
        family,
        n_features,
        n_landmarks,
        plan.feature_seed,
        noisy=options.get("noisy", False),
        centred=options.get("centred", False),
        invariant=InvariantFeatureSettings(max_elements=plan.budget.feature_elements),
    )


def choose_image_options(plan: Plan, samples: Samples) -> dict[str, bool]:
    """Return the options of the default image features that lower the held-out error.

    Centring is tried if the family moves images far, and noise removal if images are noisy. An
    option is chosen if it lowers the squared error by ``budget.trial_error_ratio``.
    """
    shape, budget = plan.preparation.background_shape, plan.budget
    if shape is None:  # other features, or rows without a background
        return {}
    rows, n_copies = plan.augmented_rows(samples, budget.gamma_rows)
    copy_makers = plan.augmentation(plan.widest).copy_makers(budget.min_search_copies)
    names = []
    # the first copy maker returns the samples unchanged
    if n_copies > 1 and moves_far(copy_makers[1:], shape, budget):
        names.append("centred")
    if seems_noisy(samples.X, shape, budget):
        names.append("noisy")
    if not names:
        return {}
    chosen: dict[str, bool] = {}
    error = _held_out_error(plan, chosen, rows, n_copies, samples)
    for name in names:
        trial = {**chosen, name: True}
        trial_error = _held_out_error(plan, trial, rows, n_copies, samples)
        if trial_error < budget.trial_error_ratio * error:
            chosen, error = trial, trial_error
    return chosen


def _held_out_error(
    plan: Plan, options: Mapping[str, bool], rows: Any, n_copies: int, samples: Samples
) -> float:
    """Return the held-out squared error with default features, fitted with fewer landmarks."""
    budget, n_features = plan.budget, rows.shape[1]
    n_landmarks = budget.trial_landmarks
    if plan.n_landmarks is not None:
        n_landmarks = min(plan.n_landmarks, n_landmarks)
    features = _default_features(plan, plan.widest, n_features, n_landmarks, options)
    features.fit(rows[:: max(1, len(rows) // budget.trial_rows)])
    _, copies = compress(plan, features, rows, n_copies)
    subset = samples.first(copies.shape[1])
    return plan.hold_out.tune(copies, subset.Y, subset.groups).error
