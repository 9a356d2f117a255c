"""Which invariances help, and how much of each: nested cross-validation."""

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

from invarlearn._progress import Clock, Progress
from invarlearn._shares import Share, chance_of_gain, group_sums, share_of
from invarlearn.estimators._groups import check_groups, fitted, stratified_splits
from invarlearn.transforms import Family, Identity
from invarlearn.transforms._checks import check_number
from invarlearn.transforms.combine import Combination

# What is chosen: how far each of some candidates goes, by name. Nothing: no invariance.
Chosen = tuple[tuple[str, float], ...]

# A gain that chance gives less often than this is one.
LEVEL = 0.05


@dataclass(frozen=True)
class Evidence:
    """How one family did at samples left out, against no invariance.

    Attributes
    ----------
    family : Family
    accuracy : Share
    gained, lost : int
        Samples that are right with it and wrong without, and the other way round.
    chosen : bool
        Whether it was taken, alone or with more.
    """

    family: Family
    accuracy: Share
    gained: int
    lost: int
    chosen: bool


@dataclass(frozen=True)
class FamilyChoice:
    """Which invariances help.

    Attributes
    ----------
    family : Family
        What was chosen; ``Identity()`` if nothing is shown to help.
    best : Family
        What was added because it gains more than one standard error, whether or not that could be
        chance.
    accuracy, plain_accuracy : Share
        Of samples that took no part in the choice, with what was chosen without them and with no
        invariance.
    p_value : float
        How likely chance alone would give at least this gain.
    evidence : list of Evidence
        All that was tried, in the order in which it was.
    """

    family: Family
    best: Family
    accuracy: Share
    plain_accuracy: Share
    p_value: float
    evidence: list[Evidence] = field(repr=False)

    @property
    def helps(self) -> bool:
        """Whether any invariance is shown to help."""
        return not isinstance(self.family, Identity)

    def table(self) -> list[dict[str, Any]]:
        """Give the evidence as rows for a table or a data frame."""
        return [
            {
                "family": "none" if isinstance(one.family, Identity) else repr(one.family),
                "accuracy": one.accuracy.value,
                "accuracy_low": one.accuracy.low,
                "accuracy_high": one.accuracy.high,
                "gained": one.gained,
                "lost": one.lost,
                "chosen": one.chosen,
            }
            for one in self.evidence
        ]

    def summary(self) -> str:
        """Say in a few lines what helps, and how sure that is."""
        measured = (
            f"at samples that took no part in the choice: {self.accuracy} with it, "
            f"{self.plain_accuracy} without (p = {self.p_value:.2g})"
        )
        if self.helps:
            return f"helps: {self.family!r}\n{measured}"
        if isinstance(self.best, Identity):
            return "helps: none; no family gains more than one standard error at left-out samples"
        return f"helps: none that is shown to; best: {self.best!r}\n{measured}"


def choose_family(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    candidates: Family | Sequence[Family] | Mapping[str, Family],
    ranges: Sequence[float] = (0.5, 1.0, 2.0),
    cv: int = 5,
    inner_cv: int = 3,
    groups: ArrayLike | None = None,
    param: str = "family",
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> FamilyChoice:
    """Choose which invariances to give a classifier, and how much of each.

    One candidate after the other is added, each with the range that predicts left-out samples best,
    as long as that gains more than one standard error. All of this is repeated without each of
    ``cv`` parts of the samples, and tried on these: only if what is chosen helps there, and chance
    would seldom give as much, is it recommended.

    Parameters
    ----------
    estimator : classifier
        One that has a parameter ``family``, such as :class:`invarlearn.VirtualSVC`, or a pipeline
        with one. It is fitted often: for :class:`invarlearn.InvariantClassifier`, pass
        ``n_copies=10``.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    candidates : Family, or sequence or dict of them
        The parts of a product or union are candidates each.
    ranges : sequence of float, default=(0.5, 1.0, 2.0)
        The ranges of each candidate are multiplied by these numbers.
    cv, inner_cv : int, default=5 and 3
        Parts of the samples for the estimate, and for the choice.
    groups : array-like of shape (n_samples,), optional
        Samples of a group, such as a patient or a speaker, are left out together, and count
        together where chance is judged. Estimators whose ``fit`` takes groups are told.
    param : str, default="family"
        The parameter that takes the family, such as ``"virtualsvc__family"``.
    random_state : int, default=0
        Of the parts.
    n_jobs : int, optional
        Fits at a time. Results do not depend on it.
    progress : callable, optional
        Called with (done, total, seconds left); total grows while candidates are added.

    Returns
    -------
    FamilyChoice

    Examples
    --------
    >>> from invarlearn import VirtualSVC
    >>> from invarlearn.datasets import load_mnist_sample
    >>> from invarlearn.transforms import Shear
    >>> digits = load_mnist_sample()
    >>> X, y = digits.X_train[:200], digits.y_train[:200]
    >>> found = choose_family(VirtualSVC(C=10), X, y, Shear(0.3), ranges=(1.0,), cv=3)
    >>> found.family
    Shear(amount=0.3)
    """
    X, y = check_X_y(X, y, dtype=[np.float64, np.float32])
    groups = check_groups(groups, X)
    named = _named(candidates)
    if param not in estimator.get_params():
        raise ValueError(
            f"{type(estimator).__name__} has no parameter {param!r} that takes a family: pass one "
            "that has, such as VirtualSVC, or name the parameter with param="
        )
    factors = [float(check_number(f, "ranges", low=np.finfo(float).tiny)) for f in ranges]
    if not factors:
        raise ValueError("ranges must have at least one number, such as (0.5, 1, 2)")
    for name, value in (("cv", cv), ("inner_cv", inner_cv)):
        check_number(value, name, low=2, whole=True)
    steps = _steps(named, factors)
    outer = _splits(y, groups, cv, random_state)
    work = _Work(estimator, X, y, groups, param, named, n_jobs, progress)
    # all parts are cut before the work begins, so that too few samples are told at once
    parts = []
    for train, _ in outer:
        some = None if groups is None else groups[train]
        splits = _splits(y[train], some, inner_cv, random_state)
        parts.append(_Selection([(train[a], train[b]) for a, b in splits], groups))
    whole = _Selection(outer, groups)
    whole.run(work, steps)
    tasks: list[tuple[Chosen, NDArray, NDArray]] = []
    for (train, test), part in zip(outer, parts, strict=True):
        part.run(work, steps)
        tasks.append((part.chosen, train, test))
    right = work.right_of(tasks)
    plain = work.right_of([((), *split) for split in outer])
    with_, without = np.empty(len(y), dtype=bool), np.empty(len(y), dtype=bool)
    for (_, test), a, b in zip(outer, right, plain, strict=True):
        with_[test], without[test] = a, b
    chance = chance_of_gain(with_.astype(int) - without, groups)
    best = work.family(whole.chosen)
    return FamilyChoice(
        family=best if chance < LEVEL else Identity(),
        best=best,
        accuracy=share_of(with_, groups),
        plain_accuracy=share_of(without, groups),
        p_value=chance,
        evidence=whole.evidence(work),
    )


class _Work:
    """Fits with families, as many as are asked for, each done once."""

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
        self.known: dict[tuple[Chosen, bytes, bytes], NDArray] = {}
        self.clock = Clock(0, 0, progress)

    def family(self, chosen: Chosen) -> Family:
        """Give the product of some candidates with their ranges."""
        parts = [
            self.named[name] if factor == 1 else self.named[name].scaled(factor)
            for name, factor in chosen
        ]
        return reduce(mul, parts) if parts else Identity()

    def right_of(self, tasks: list[tuple[Chosen, NDArray, NDArray]]) -> list[NDArray]:
        """Say of each task, a choice and rows to learn from and to test, which are right."""
        keys = [(chosen, train.tobytes(), test.tobytes()) for chosen, train, test in tasks]
        new = {key: task for key, task in zip(keys, tasks, strict=True) if key not in self.known}
        self.clock.total += len(new)
        run = Parallel(n_jobs=self.n_jobs, return_as="generator")
        given = (self.X, self.y, self.groups, self.param)
        jobs = (
            delayed(_right)(self.estimator, *given, self.family(c), train, test)
            for c, train, test in new.values()
        )
        for key, found in zip(new, run(jobs), strict=True):
            self.known[key] = found
            self.clock.tick()
        return [self.known[key] for key in keys]


class _Selection:
    """Candidates added one after the other, judged by samples left out of some rows."""

    def __init__(self, splits: list[tuple[NDArray, NDArray]], groups: NDArray | None):
        self.splits = splits
        tested = np.concatenate([test for _, test in splits])
        # without groups every sample is one
        self.groups = tested if groups is None else groups[tested]
        self.tried: list[Chosen] = []
        self.chosen: Chosen = ()

    def run(self, work: _Work, steps: list[tuple[str, float]]) -> None:
        """Add the candidate that gains most, until none gains more than one standard error."""
        now = self._judged(work, [()])[0]
        while True:
            taken = dict(self.chosen)
            trials = [(*self.chosen, step) for step in steps if step[0] not in taken]
            if not trials:
                return
            found = self._judged(work, trials)
            best = int(np.argmax([one.mean() for one in found]))
            gain = found[best].astype(float) - now
            off = group_sums(gain - gain.mean(), self.groups)
            if gain.mean() <= np.sqrt((off**2).sum()) / len(gain):
                return
            self.chosen, now = trials[best], found[best]

    def evidence(self, work: _Work) -> list[Evidence]:
        """Say how everything that was tried did, against no invariance."""
        found = self._judged(work, self.tried, keep=False)
        plain = found[0]
        return [
            Evidence(
                family=work.family(chosen),
                accuracy=share_of(right, self.groups),
                gained=int((right & ~plain).sum()),
                lost=int((plain & ~right).sum()),
                chosen=chosen == self.chosen[: len(chosen)] and bool(chosen) == bool(self.chosen),
            )
            for chosen, right in zip(self.tried, found, strict=True)
        ]

    def _judged(self, work: _Work, trials: list[Chosen], keep: bool = True) -> list[NDArray]:
        """Say of each trial which samples are right when they are left out."""
        if keep:
            self.tried += trials
        tasks = [(chosen, *split) for chosen in trials for split in self.splits]
        found = iter(work.right_of(tasks))
        return [np.concatenate([next(found) for _ in self.splits]) for _ in trials]


def _right(
    estimator: Any,
    X: NDArray,
    y: NDArray,
    groups: NDArray | None,
    param: str,
    family: Family,
    train: NDArray,
    test: NDArray,
) -> NDArray[np.bool_]:
    some = None if groups is None else groups[train]
    with warnings.catch_warnings():
        # of the estimate of a part, which nobody will see
        for said in ("there is one sample only", "all samples of", "the family seems to hurt"):
            warnings.filterwarnings("ignore", said, UserWarning)
        # told once for each part otherwise
        warnings.filterwarnings("ignore", "rows of .* were taken for grey images", UserWarning)
        model = fitted(clone(estimator).set_params(**{param: family}), X[train], y[train], some)
    return np.asarray(model.predict(X[test]) == y[test])


def _steps(named: dict[str, Family], factors: list[float]) -> list[tuple[str, float]]:
    """List candidates with factors of their ranges; where a factor changes nothing, once."""
    found: dict[tuple[str, str], tuple[str, float]] = {}
    for name, family in named.items():
        for factor in factors:
            found.setdefault((name, repr(family.scaled(factor))), (name, factor))
    return list(found.values())


def _named(candidates: Any) -> dict[str, Family]:
    if isinstance(candidates, Combination):
        return dict(zip(candidates.named_parts(), candidates._bound(), strict=True))
    if isinstance(candidates, Family):
        candidates = [candidates]
    if not isinstance(candidates, Mapping):
        candidates = {repr(one): one for one in candidates}
    if not candidates or not all(isinstance(one, Family) for one in candidates.values()):
        raise TypeError(
            f"candidates={candidates!r} must be families from invarlearn.transforms: one, or a "
            "list or dict of them"
        )
    return dict(candidates)


def _splits(
    y: NDArray, groups: NDArray | None, n_splits: int, seed: int
) -> list[tuple[NDArray, NDArray]]:
    """Give rows to learn from and rows left out, classes as evenly as can be."""
    counts = np.unique(y, return_counts=True)[1]
    if len(counts) < 2:
        raise ValueError("y has one class only: a choice needs at least two")
    if counts.max() < n_splits:
        raise ValueError(
            f"no class has {n_splits} samples: pass smaller cv= and inner_cv=, or more samples"
        )
    splits = stratified_splits(y, groups, n_splits, seed)
    if any(len(np.unique(y[train])) < 2 or not len(test) for train, test in splits):
        raise ValueError(
            "when a part is left out, fewer than two classes remain: pass smaller cv= and "
            "inner_cv=, or more samples or groups of each class"
        )
    return splits
