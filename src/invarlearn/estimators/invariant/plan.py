"""The plan of a fit: validated parameters, and all decisions that do not need fitting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.progress import Progress, progress_callback
from invarlearn._utils.validation import Shape, check_generator, check_number
from invarlearn.estimators._validation import validate_family
from invarlearn.estimators.invariant.augment import Augmentation
from invarlearn.estimators.invariant.budget import Budget
from invarlearn.estimators.invariant.held_out import HoldOut, spread_groups
from invarlearn.estimators.invariant.images import (
    channels_first_message,
    subtract_background,
    unlike_images_message,
)
from invarlearn.estimators.invariant.targets import TargetCoding
from invarlearn.features.defaults import (
    EDGES,
    EdgeSettings,
    default_family,
    edge_settings,
    missing_default_message,
)
from invarlearn.transforms import Family


@dataclass(frozen=True)
class RowPreparation:
    """Preparation of rows before features are computed, in training and prediction.

    Attributes
    ----------
    dtype : dtype
        Precision of prepared rows.
    background_shape : tuple or None
        The shape of images whose background is subtracted. None: no background is subtracted.
    """

    dtype: np.dtype
    background_shape: tuple[int, ...] | None

    def __call__(self, X: NDArray) -> NDArray:
        """Return prepared rows, (n, n_features); X is not modified."""
        if self.background_shape is None:
            return X.astype(self.dtype, copy=False)
        return subtract_background(X.astype(self.dtype), self.background_shape)


@dataclass(frozen=True)
class Plan:
    """Decisions that do not need fitting.

    Attributes
    ----------
    candidates : tuple of Family
        The family with each of the ranges to compare, the widest one last.
    targets : TargetCoding
    features : transformer or None
        The transformer of the user, not fitted.
    edges : EdgeSettings or None
        Settings of the default features, if rows are images or spectrograms.
    preparation : RowPreparation
    precision : dtype
        Precision of compressed features, kernel matrices and weights.
    order : array of shape (n_samples,)
        A random order of the samples, so that the first ones represent all of them.
    n_copies : int
        Number of copies of each sample, itself included.
    n_elements : int
        Number of random elements for each copy of the samples.
    augmentation_seed, feature_seed : int
    nystroem_samples : tuple of arrays
        For each copy, the samples whose augmented copies are rows of the Nyström method, as
        positions in ``order``. Empty: all augmented samples are rows of the solution.
    lam : float or None
    whitening : float
    n_components : int
    n_landmarks : int or None
    budget : Budget
    progress : callable or None
    warnings : tuple of str
        Messages for the user.
    """

    candidates: tuple[Family, ...]
    targets: TargetCoding
    features: Any
    edges: EdgeSettings | None
    preparation: RowPreparation
    precision: np.dtype
    order: NDArray[np.intp]
    n_copies: int
    n_elements: int
    augmentation_seed: int
    feature_seed: int
    nystroem_samples: tuple[NDArray[np.intp], ...]
    lam: float | None
    whitening: float
    n_components: int
    n_landmarks: int | None
    budget: Budget
    progress: Progress | None
    warnings: tuple[str, ...]

    @property
    def widest(self) -> Family:
        """The widest candidate, on whose copies features are fitted."""
        return self.candidates[-1]

    def augmentation(self, family: Family) -> Augmentation:
        """Return the augmentation by a family."""
        return Augmentation(
            family,
            self.n_copies,
            self.n_elements,
            self.augmentation_seed,
            self.budget.average_range,
        )

    @property
    def uses_edges(self) -> bool:
        """Whether rows are compared by the default features of images or spectrograms."""
        return self.edges is not None and self.features is None

    @property
    def hold_out(self) -> HoldOut:
        """Settings of held-out predictions."""
        lams = self.budget.lams if self.lam is None else (float(self.lam),)
        return HoldOut(self.targets, lams, self.n_copies, self.budget)

    def subset_size(self, n_rows: int) -> tuple[int, int]:
        """Return numbers of samples, and of copies of each, for at most about ``n_rows`` rows."""
        n = len(self.order)
        min_copies = min(self.budget.min_search_copies, self.n_copies)
        n_copies = int(np.clip(n_rows // n, min_copies, self.n_copies))
        return min(n, n_rows // n_copies), n_copies

    def augmented_rows(self, samples: Samples, n_rows: int) -> tuple[NDArray, int]:
        """Return about ``n_rows`` augmented samples, and the number of copies of each sample.

        The copies are made by the widest candidate. All samples are followed by each copy of all
        samples.
        """
        itemsize = self.preparation.dtype.itemsize
        n_rows = self.budget.rows_in_memory(n_rows, samples.X.shape[1], itemsize)
        n, n_copies = self.subset_size(n_rows)
        copy_makers = self.augmentation(self.widest).copy_makers(n_copies)
        rows = np.concatenate([make_copy(samples.X[:n], 0) for make_copy in copy_makers])
        return rows, n_copies


@dataclass(frozen=True)
class Samples:
    """Prepared training samples, in the random order of the plan.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
    Y : array of shape (n_samples, n_targets)
    groups : array of shape (n_samples,) or None
    """

    X: NDArray
    Y: NDArray
    groups: NDArray | None

    def __len__(self) -> int:
        return len(self.X)

    def first(self, n: int) -> Samples:
        """Return the first n samples."""
        return Samples(self.X[:n], self.Y[:n], None if self.groups is None else self.groups[:n])


def resolve_plan(estimator: Any, targets: TargetCoding, X: NDArray, groups: NDArray | None) -> Plan:
    """Validate the parameters of an estimator, and make all decisions that do not need fitting.

    Parameters
    ----------
    estimator : InvariantClassifier or InvariantRegressor
        Its parameters are read; nothing is written to it.
    targets : TargetCoding
    X : array of shape (n_samples, n_features)
    groups : array of shape (n_samples,) or None

    Returns
    -------
    Plan
    """
    budget = _check_parameters(estimator, X)
    n, n_features = X.shape
    rng = check_generator(estimator.random_state)
    order = spread_groups(rng.permutation(n), groups)
    augmentation_seed = int(rng.randint(2**31 - 1))
    family = _resolve_family(estimator, n_features, budget)
    messages = _image_messages(estimator, family, X[order[: budget.image_rows]], budget)
    candidates = _candidates(family, estimator.ranges)
    n_copies = _resolve_n_copies(estimator.n_copies, family, n, budget)
    edges = edge_settings(candidates[-1], n_features)
    feature_seed = int(rng.randint(2**31 - 1))
    return Plan(
        candidates=candidates,
        targets=targets,
        features=estimator.features,
        edges=edges,
        preparation=_row_preparation(edges, estimator.features, candidates[-1], n_features),
        precision=np.dtype(np.float64 if n * n_copies <= budget.double_rows else np.float32),
        order=order,
        n_copies=n_copies,
        # the number of elements follows from n_copies of the fit, not from that of a stage, so that
        # the first copies are the same in all stages
        n_elements=int(np.clip(budget.n_elements // max(n_copies - 1, 1), 1, budget.max_elements)),
        augmentation_seed=augmentation_seed,
        feature_seed=feature_seed,
        nystroem_samples=_nystroem_samples(n, n_copies, budget, rng),
        lam=estimator.lam,
        whitening=estimator.whitening,
        n_components=int(estimator.n_components),
        n_landmarks=estimator.n_landmarks,
        budget=budget,
        progress=progress_callback(estimator.verbose),
        warnings=tuple(messages),
    )


def prepare_samples(plan: Plan, X: NDArray, Y: NDArray, groups: NDArray | None) -> Samples:
    """Return the samples in the order of the plan, prepared for features.

    Parameters
    ----------
    plan : Plan
    X : array of shape (n_samples, n_features)
    Y : array of shape (n_samples, n_targets)
    groups : array of shape (n_samples,) or None
    """
    rows = plan.preparation(X[plan.order])
    if plan.uses_edges and not rows.any():
        raise ValueError(
            "All images are flat, and the default features compare edges. Pass other features, "
            "such as features=StandardScaler() for the pixels themselves."
        )
    return Samples(rows, Y[plan.order], None if groups is None else groups[plan.order])


def _check_parameters(estimator: Any, X: NDArray) -> Budget:
    """Raise errors for parameters that are not valid; return the budget."""
    validate_family(estimator.family)
    if estimator.features is not None and not hasattr(estimator.features, "transform"):
        raise TypeError(f"features={estimator.features!r} has no transform: pass a transformer")
    if estimator.lam is not None and check_number(estimator.lam, "lam", low=0) == 0:
        raise ValueError("lam=0 must be above 0; lam=None chooses it")
    if estimator.n_landmarks is not None:
        check_number(estimator.n_landmarks, "n_landmarks", low=1, whole=True)
    for name in ("n_components", "n_average"):
        check_number(getattr(estimator, name), name, low=1, whole=True)
    check_number(estimator.whitening, "whitening", low=0, high=1)
    if np.ndim(estimator.ranges) != 1 or not len(estimator.ranges):
        raise ValueError(f"ranges={estimator.ranges!r} must be a list of numbers, such as (0.5, 1)")
    for factor in estimator.ranges:
        check_number(factor, "ranges", low=np.finfo(float).tiny)
    if np.abs(X).max() > np.finfo(np.float32).max:
        raise ValueError("X has values that are too large for single precision: scale the columns")
    if estimator.budget is None:
        return Budget()
    if not isinstance(estimator.budget, Budget):
        raise TypeError(f"budget={estimator.budget!r} is not a Budget: pass Budget(…) or None")
    return estimator.budget


def _resolve_family(estimator: Any, n_features: int, budget: Budget) -> Family:
    """Return the declared or the default family, with the declared shape."""
    family, shape = estimator.family, estimator.shape
    if family is None:
        name = type(estimator).__name__
        return default_family(shape, n_features, name, smallest_image=budget.smallest_image)
    if shape is None:
        return family
    if family.shape is None:
        return family.with_shape(shape)
    if _as_tuple(family.shape) != _as_tuple(shape):
        raise ValueError(
            f"shape={shape!r} is not the shape of the family, {family.shape!r}: pass one of them"
        )
    return family


def _as_tuple(shape: Shape) -> tuple[int, ...]:
    return tuple(np.atleast_1d(np.asarray(shape)))


def _image_messages(estimator: Any, family: Family, rows: NDArray, budget: Budget) -> list[str]:
    """Return warnings about features without a default, and about a shape that may be wrong."""
    n_features = rows.shape[1]
    messages = [missing_default_message(family)] if estimator.features is None else []
    settings = EDGES.get(family.domain)
    if settings is not None and settings.has_background:
        shape = family.resolve_shape(n_features)
        messages.append(channels_first_message(shape))
        is_guessed = estimator.family is None or estimator.family.shape is None
        if estimator.shape is None and is_guessed:
            messages.append(unlike_images_message(rows, shape, budget))
    return [message for message in messages if message is not None]


def _candidates(family: Family, ranges: Sequence[float]) -> tuple[Family, ...]:
    """Return the family scaled by each factor, in increasing order."""
    if family.is_identity:
        return (family,)
    return tuple(family if f == 1 else family.scaled(f) for f in sorted(ranges))


def _resolve_n_copies(n_copies: int | None, family: Family, n: int, budget: Budget) -> int:
    """Return the number of copies of each of n samples, itself included."""
    if family.is_identity:
        return 1
    if n_copies is not None:
        return int(check_number(n_copies, "n_copies", low=1, whole=True))
    return int(np.clip(budget.max_rows // n, budget.min_copies, budget.max_copies))


def _row_preparation(
    edges: EdgeSettings | None, features: Any, family: Family, n_features: int
) -> RowPreparation:
    # single precision is enough for pixels; columns of a table may be far from zero
    dtype = np.dtype(np.float64 if edges is None else np.float32)
    subtracts = edges is not None and edges.has_background and features is None
    return RowPreparation(dtype, family.resolve_shape(n_features) if subtracts else None)


def _nystroem_samples(
    n: int, n_copies: int, budget: Budget, rng: np.random.RandomState
) -> tuple[NDArray[np.intp], ...]:
    """Return random samples for each copy, or () if all augmented samples are used."""
    if n * n_copies <= budget.max_rows:
        return ()
    n_per_copy = -(-budget.n_nystroem_rows // n_copies)
    return tuple(np.sort(rng.permutation(n)[:n_per_copy]) for _ in range(n_copies))
