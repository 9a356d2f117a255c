"""Choice of a family, and of its ranges, by nested cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import mul
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_X_y

from invarlearn._utils.groups import check_groups, fit_with_groups, stratified_splits
from invarlearn._utils.progress import Progress, ProgressClock
from invarlearn._utils.statistics import (
    Proportion,
    estimate_proportion,
    sign_test_p_value,
    sum_by_group,
)
from invarlearn._utils.validation import check_number
from invarlearn.transforms import Family, Identity

# Names of candidates, each with a factor of its ranges. The candidate family is their product.
Combined = tuple[tuple[str, float], ...]
# Training rows and held-out rows.
Split = tuple[NDArray, NDArray]


@dataclass(frozen=True)
class NestedCV:
    """Folds of nested cross-validation, stratified by class.

    Attributes
    ----------
    outer : int, default=5
        Number of folds of the outer cross-validation, which evaluates the choice.
    inner : int, default=3
        Number of folds of the cross-validation within each outer training part, which chooses.
    random_state : int, default=0
        Seed of the cv.

    Examples
    --------
    >>> NestedCV(outer=4, inner=2)
    NestedCV(outer=4, inner=2, random_state=0)
    """

    outer: int = 5
    inner: int = 3
    random_state: int = 0

    def __post_init__(self) -> None:
        for name in ("outer", "inner"):
            check_number(getattr(self, name), name, low=2, whole=True)


@dataclass(frozen=True)
class FamilyComparison:
    """Held-out accuracy with one family, compared with no invariance.

    Attributes
    ----------
    family : Family
    accuracy : Proportion
        Held-out accuracy with the family.
    gained, lost : int
        Number of samples that are classified correctly only with the family, and only without it.
    chosen : bool
        Whether the family was chosen, alone or as a part of a product.
    """

    family: Family
    accuracy: Proportion
    gained: int
    lost: int
    chosen: bool


@dataclass(frozen=True)
class FamilyChoice:
    """The result of :func:`choose_family`.

    Attributes
    ----------
    family : Family
        The recommended family; ``Identity()`` if no family improves accuracy significantly.
    best : Family
        The family that forward selection chooses on all samples; ``Identity()`` if no family
        improves accuracy by more than one standard error. The improvement may be insignificant.
    accuracy, baseline_accuracy : Proportion
        Nested cross-validated accuracy with the selected families, and accuracy without
        invariance on the same samples. The samples of an outer fold take no part in the selection
        of its family.
    p_value : float
        One-sided p-value of the sign test of the difference of these two accuracies.
    evidence : list of FamilyComparison
        All families that were tried on all samples, in the order of the selection.
    """

    family: Family
    best: Family
    accuracy: Proportion
    baseline_accuracy: Proportion
    p_value: float
    evidence: list[FamilyComparison] = field(repr=False)

    @property
    def helps(self) -> bool:
        """Whether a family improves accuracy significantly."""
        return not self.family.is_identity

    def table(self) -> list[dict[str, Any]]:
        """Return the evidence as rows of a table or a data frame."""
        return [
            {
                "family": "none" if row.family.is_identity else repr(row.family),
                "accuracy": row.accuracy.value,
                "accuracy_low": row.accuracy.low,
                "accuracy_high": row.accuracy.high,
                "gained": row.gained,
                "lost": row.lost,
                "chosen": row.chosen,
            }
            for row in self.evidence
        ]

    def summary(self) -> str:
        """Return the recommendation and its significance as text."""
        if self.best.is_identity:
            return (
                "Recommended family: none. No family improves held-out accuracy by more than one "
                "standard error."
            )
        change = (
            f"from {self.baseline_accuracy} to {self.accuracy} (p = {self.p_value:.2g}, nested "
            "cross-validation)."
        )
        if self.helps:
            return f"Recommended family: {self.family!r}.\nIt changes held-out accuracy {change}"
        text = (
            f"Recommended family: none. The best family, {self.best!r}, changes held-out accuracy "
            f"{change}\nThis is not significant"
        )
        if self.accuracy.value < self.baseline_accuracy.value:
            return f"{text}; check that labels do not depend on the family."
        return f"{text}; more samples may show whether it helps."


def choose_family(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    candidates: Family | Sequence[Family] | Mapping[str, Family],
    ranges: Sequence[float] = (0.5, 1.0, 2.0),
    cv: int | NestedCV = 5,
    groups: ArrayLike | None = None,
    param: str = "family",
    alpha: float = 0.05,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> FamilyChoice:
    """Choose the family of a classifier by nested cross-validation.

    Forward selection adds candidates to a product one at a time. Each step adds the candidate, and
    the factor of its ranges, with the highest held-out accuracy. The selection ends when a step
    does not improve accuracy by more than one standard error. It is repeated in each training part
    of an outer cross-validation and evaluated on the held-out part. The family is recommended if
    this accuracy is significantly higher than without invariance.

    Parameters
    ----------
    estimator : classifier
        A classifier with a parameter that takes a family, such as
        :class:`invarlearn.VirtualSVC`, or a pipeline that contains such a classifier. It is fitted
        many times: pass :class:`invarlearn.InvariantClassifier` with ``n_copies=10``.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    candidates : Family, or sequence or dict of families
        Each part of a product or union is a candidate.
    ranges : sequence of float, default=(0.5, 1.0, 2.0)
        Factors by which the ranges of each candidate are multiplied.
    cv : int or NestedCV, default=5
        Folds of the outer cross-validation. Pass a :class:`NestedCV` to set the folds of the
        selection within its training parts, or the seed.
    groups : array-like of shape (n_samples,), optional
        Group of each sample, such as a patient or a speaker. Samples of one group are held out
        together. The sign test and the standard errors are those of groups. Groups are passed to
        ``fit`` of estimators that take them.
    param : str, default="family"
        Name of the parameter that takes the family, such as ``"virtualsvc__family"``.
    alpha : float, default=0.05
        Significance level of the recommendation.
    n_jobs : int, optional
        Number of parallel fits. Results do not depend on it.
    progress : callable, optional
        Progress callback, called after each fit. The total grows while candidates are added.

    Returns
    -------
    FamilyChoice

    Notes
    -----
    Warnings of category UserWarning that the fits raise are not shown, since they concern parts of
    the data. Warnings of subclasses and of other categories are shown.

    Examples
    --------
    >>> from invarlearn import VirtualSVC
    >>> from invarlearn.datasets import load_mnist_sample
    >>> from invarlearn.transforms import Shear
    >>> digits = load_mnist_sample()
    >>> X, y = digits.X_train[:200], digits.y_train[:200]
    >>> choice = choose_family(VirtualSVC(C=10), X, y, Shear(0.3), ranges=(1.0,), cv=3)
    >>> choice.family
    Shear(amount=0.3)
    """
    X, y = check_X_y(X, y, dtype=[np.float64, np.float32])
    groups = check_groups(groups, X)
    named = _named_candidates(candidates)
    if param not in estimator.get_params():
        raise ValueError(
            f"{type(estimator).__name__} has no parameter {param!r} that takes a family: pass an "
            "estimator with such a parameter, for example VirtualSVC, or its name as param"
        )
    factors = [float(check_number(f, "ranges", low=np.finfo(float).tiny)) for f in ranges]
    if not factors:
        raise ValueError("ranges is empty: pass at least one factor, such as (0.5, 1, 2)")
    if not isinstance(cv, NestedCV):
        cv = NestedCV(int(check_number(cv, "cv", low=2, whole=True)))
    check_number(alpha, "alpha", low=0, high=1)
    steps = _distinct_steps(named, factors)
    outer = _check_splits(y, groups, cv.outer, cv.random_state)
    # all splits are made before the first fit, so that too few samples raise an error early
    selections = [_Selection(outer, groups)]
    for train, _ in outer:
        train_groups = None if groups is None else groups[train]
        inner = _check_splits(y[train], train_groups, cv.inner, cv.random_state)
        selections.append(_Selection([(train[a], train[b]) for a, b in inner], groups))
    fits = _CachedFits(estimator, X, y, groups, param, named, n_jobs, progress)
    for selection in selections:
        selection.run(fits, steps)
    final, *nested = selections
    correct = np.empty(len(y), dtype=bool)
    baseline = np.empty(len(y), dtype=bool)
    selected = fits.correct(
        [(selection.chosen, split) for selection, split in zip(nested, outer, strict=True)]
    )
    plain = fits.correct([((), split) for split in outer])
    for (_, test), with_family, without in zip(outer, selected, plain, strict=True):
        correct[test], baseline[test] = with_family, without
    p_value = sign_test_p_value(correct.astype(int) - baseline, groups)
    best = fits.family(final.chosen)
    return FamilyChoice(
        family=best if p_value < alpha else Identity(),
        best=best,
        accuracy=estimate_proportion(correct, groups),
        baseline_accuracy=estimate_proportion(baseline, groups),
        p_value=p_value,
        evidence=final.evidence(fits),
    )


class _CachedFits:
    """Held-out predictions of an estimator with families; no fit is done twice."""

    def __init__(
        self,
        estimator: Any,
        X: NDArray,
        y: NDArray,
        groups: NDArray | None,
        param: str,
        named: dict[str, Family],
        n_jobs: int | None,
        progress: Progress | None,
    ):
        self.estimator, self.X, self.y, self.groups, self.param = estimator, X, y, groups, param
        self.named, self.n_jobs = named, n_jobs
        self.cache: dict[tuple[Combined, bytes, bytes], NDArray] = {}
        self.clock = ProgressClock(0, 0, progress)

    def family(self, combined: Combined) -> Family:
        """Return the product of candidates with their ranges."""
        parts = [
            self.named[name] if factor == 1 else self.named[name].scaled(factor)
            for name, factor in combined
        ]
        return reduce(mul, parts) if parts else Identity()

    def correct(self, tasks: list[tuple[Combined, Split]]) -> list[NDArray]:
        """Return for each task which of its held-out rows are classified correctly."""
        keys = [(combined, train.tobytes(), test.tobytes()) for combined, (train, test) in tasks]
        new = {key: task for key, task in zip(keys, tasks, strict=True) if key not in self.cache}
        self.clock.total += len(new)
        run = Parallel(n_jobs=self.n_jobs, return_as="generator")
        data = (self.X, self.y, self.groups, self.param)
        jobs = (
            delayed(_held_out_correct)(self.estimator, *data, self.family(combined), split)
            for combined, split in new.values()
        )
        for key, result in zip(new, run(jobs), strict=True):
            self.cache[key] = result
            self.clock.tick()
        return [self.cache[key] for key in keys]


class _Selection:
    """Forward selection of candidates by cross-validation."""

    def __init__(self, splits: list[Split], groups: NDArray | None):
        self.splits = splits
        held_out = np.concatenate([test for _, test in splits])
        # without groups each sample is a group
        self.groups = held_out if groups is None else groups[held_out]
        self.tried: list[Combined] = []
        self.chosen: Combined = ()

    def run(self, fits: _CachedFits, steps: list[tuple[str, float]]) -> None:
        """Add the best candidate while it improves accuracy by more than one standard error."""
        correct = self._try(fits, [()])[0]
        while True:
            chosen_names = dict(self.chosen)
            trials = [(*self.chosen, step) for step in steps if step[0] not in chosen_names]
            if not trials:
                return
            results = self._try(fits, trials)
            best = int(np.argmax([result.mean() for result in results]))
            gain = results[best].astype(float) - correct
            deviations = sum_by_group(gain - gain.mean(), self.groups)
            if gain.mean() <= np.sqrt((deviations**2).sum()) / len(gain):
                return
            self.chosen, correct = trials[best], results[best]

    def evidence(self, fits: _CachedFits) -> list[FamilyComparison]:
        """Return a comparison of each tried family with no invariance."""
        results = self._correct(fits, self.tried)
        baseline = results[0]
        return [
            FamilyComparison(
                family=fits.family(trial),
                accuracy=estimate_proportion(correct, self.groups),
                gained=int((correct & ~baseline).sum()),
                lost=int((baseline & ~correct).sum()),
                chosen=trial == self.chosen[: len(trial)] and bool(trial) == bool(self.chosen),
            )
            for trial, correct in zip(self.tried, results, strict=True)
        ]

    def _try(self, fits: _CachedFits, trials: list[Combined]) -> list[NDArray]:
        """Record the trials, and return their results."""
        self.tried += trials
        return self._correct(fits, trials)

    def _correct(self, fits: _CachedFits, trials: list[Combined]) -> list[NDArray]:
        """Return for each trial which samples are classified correctly when held out."""
        tasks = [(trial, split) for trial in trials for split in self.splits]
        results = iter(fits.correct(tasks))
        return [np.concatenate([next(results) for _ in self.splits]) for _ in trials]


def _held_out_correct(
    estimator: Any,
    X: NDArray,
    y: NDArray,
    groups: NDArray | None,
    param: str,
    family: Family,
    split: Split,
) -> NDArray[np.bool_]:
    """Return which held-out rows are classified correctly after a fit to the training rows."""
    train, test = split
    train_groups = None if groups is None else groups[train]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = clone(estimator).set_params(**{param: family})
        model = fit_with_groups(model, X[train], y[train], train_groups)
        correct = np.asarray(model.predict(X[test]) == y[test])
    for warning in caught:
        # a plain UserWarning concerns a part of the data, and would be repeated for each part
        if warning.category is not UserWarning:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    return correct


def _distinct_steps(named: dict[str, Family], factors: list[float]) -> list[tuple[str, float]]:
    """Return candidates with factors of their ranges; equal families are listed once."""
    steps: dict[tuple[str, str], tuple[str, float]] = {}
    for name, family in named.items():
        for factor in factors:
            steps.setdefault((name, repr(family.scaled(factor))), (name, factor))
    return list(steps.values())


def _named_candidates(candidates: Any) -> dict[str, Family]:
    """Return the candidates by name."""
    if isinstance(candidates, Family):
        parts = candidates.named_parts()
        candidates = parts if len(parts) > 1 else [candidates]
    if not isinstance(candidates, Mapping):
        candidates = {repr(candidate): candidate for candidate in candidates}
    if not candidates or not all(isinstance(family, Family) for family in candidates.values()):
        raise TypeError(
            f"candidates={candidates!r} must be a family from invarlearn.transforms, or a list or "
            "dict of families"
        )
    return dict(candidates)


def _check_splits(y: NDArray, groups: NDArray | None, n_splits: int, seed: int) -> list[Split]:
    """Return stratified splits; raise if a training part has fewer than two classes."""
    counts = np.unique(y, return_counts=True)[1]
    if len(counts) < 2:
        raise ValueError("y has one class only: choosing a family needs at least two classes")
    if counts.max() < n_splits:
        raise ValueError(
            f"no class has {n_splits} samples: pass fewer folds, such as "
            "cv=NestedCV(outer=2, inner=2), or more samples"
        )
    splits = stratified_splits(y, groups, n_splits, seed)
    if any(len(np.unique(y[train])) < 2 or not len(test) for train, test in splits):
        raise ValueError(
            "a training part has fewer than two classes: pass fewer folds, such as "
            "cv=NestedCV(outer=2, inner=2), or more samples or groups of each class"
        )
    return splits
