"""How often predictions change when rows are transformed by what should not matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from invarlearn._progress import Clock, Progress
from invarlearn._shares import Share, share_of
from invarlearn.audit._inputs import check_audit
from invarlearn.audit.worst import margins_of
from invarlearn.transforms import Family, words_of_family
from invarlearn.transforms._checks import check_generator, check_number
from invarlearn.transforms._threads import slices
from invarlearn.transforms.base import BLOCK_BYTES
from invarlearn.transforms.combine import Combination

# The name of the whole family among its parts.
WHOLE = "all together"
# Lists are looked through if what they make of a row has no more numbers than this.
PROBE = 2**22


@dataclass(frozen=True)
class Stability:
    """How well predictions hold under some transformations, for some rows.

    Attributes
    ----------
    n_samples, n_elements : int
        Rows, and transformations that each was tried under, besides none.
    exhaustive : bool
        Whether these are all there are; otherwise they were drawn at random.
    accuracy : Share
        Of the rows as they are.
    moved_accuracy : Share
        Of the transformed rows, on average.
    flip_rate : Share
        Of transformed rows, those that are predicted otherwise than the row as it is.
    consistency : Share
        Of rows, those that are predicted alike under everything that was tried.
    worst_case_accuracy : Share
        Of rows, those that are right under everything that was tried, and as they are.
    """

    n_samples: int
    n_elements: int
    exhaustive: bool
    accuracy: Share
    moved_accuracy: Share
    flip_rate: Share
    consistency: Share
    worst_case_accuracy: Share

    def shares(self) -> dict[str, Share]:
        """Give the shares by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, Share)}


@dataclass(frozen=True)
class Flip:
    """A row that is predicted rightly as it is, and wrongly when transformed.

    Attributes
    ----------
    index : int
        Of the row.
    label, predicted : object
        Its class, and what it is taken for.
    margin : float
        The score of its class over that of the other, transformed: the lower, the surer the
        mistake. For classifiers without scores -1.
    row, moved : arrays of shape (n_features,)
        As it is, and transformed.
    """

    index: int
    label: Any
    predicted: Any
    margin: float
    row: Any
    moved: Any


@dataclass(frozen=True)
class InvarianceReport:
    """What transformations do to the predictions of a classifier.

    Attributes
    ----------
    family : Family
    overall : Stability
        Under the whole family, for all rows.
    by_transformation : dict from str to Stability
        Under the whole family, and under each of its parts alone, if it has parts.
    by_class : dict from class to Stability
        Under the whole family.
    flips : list of Flip
        Rows that the family makes wrong, the surest mistakes first.
    mistakes : list of Flip
        Rows that are wrong as they are, the surest mistakes first; ``moved`` is the row itself.
    """

    family: Family
    overall: Stability
    by_transformation: dict[str, Stability]
    by_class: dict[Any, Stability]
    flips: list[Flip]
    mistakes: list[Flip]

    def table(self) -> list[dict[str, Any]]:
        """Give rows for a table or a data frame: shares and the ends of their intervals."""
        groups: list[tuple[str, dict[Any, Stability]]] = [
            ("transformation", self.by_transformation),
            ("class", self.by_class),
        ]
        rows = []
        for group, found in groups:
            for name, one in found.items():
                row: dict[str, Any] = {"group": group, "name": _plain(name), "rows": one.n_samples}
                row["tried"] = one.n_elements
                for key, share in one.shares().items():
                    row |= {key: share.value, f"{key}_low": share.low, f"{key}_high": share.high}
                rows.append(row)
        return rows

    def summary(self) -> str:
        """Say in a few lines how invariant the classifier is."""
        one = self.overall
        how = "every element" if one.exhaustive else f"{one.n_elements} random elements"
        lines = [
            f"family: {words_of_family(self.family)}",
            f"{one.n_samples} samples, each under {how} of it",
            f"accuracy: {one.accuracy}; of transformed samples: {one.moved_accuracy}",
            f"predictions that flip: {one.flip_rate}",
            f"samples that never flip: {one.consistency}",
            f"samples that are always right: {one.worst_case_accuracy}",
        ]
        parts = {name: part for name, part in self.by_transformation.items() if name != WHOLE}
        most = max(parts, key=lambda name: parts[name].flip_rate.value, default="")
        if most and parts[most].flip_rate.value > 0:
            lines.append(f"flips most under: {most}, {parts[most].flip_rate}")
        return "\n".join(lines)


def invariance_report(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    family: Family,
    n_elements: int = 50,
    n_flips: int = 12,
    random_state: Any = 0,
    progress: Progress | None = None,
) -> InvarianceReport:
    """Try a classifier on transformed rows.

    Parameters
    ----------
    estimator : classifier
        Fitted, of any kind.
    X : array-like of shape (n_samples, n_features)
        Rows that it was not fitted to; sparse ones if the family can transform these.
    y : array-like of shape (n_samples,)
    family : Family
        What should not matter. Of a product or union, each part is tried alone as well.
    n_elements : int, default=50
        How many random elements are tried. Families that have no more are tried whole. The more are
        tried, the fewer rows are always right.
    n_flips : int, default=12
        How many rows that become wrong are kept, and as many that are wrong as they are.
    random_state : int, RandomState or None, default=0
    progress : callable, optional
        Called with (done, total, seconds left) after each transformation.

    Returns
    -------
    InvarianceReport

    Examples
    --------
    >>> from invarlearn.datasets import load_mnist_sample
    >>> from invarlearn.transforms import Rotation, Translation
    >>> from sklearn.svm import SVC
    >>> digits = load_mnist_sample()
    >>> svc = SVC().fit(digits.X_train[:500], digits.y_train[:500])
    >>> family = Translation(2) * Rotation(15)
    >>> report = invariance_report(svc, digits.X_test[:100], digits.y_test[:100], family, 10)
    >>> list(report.by_transformation)
    ['all together', 'translation', 'rotation']
    >>> report.overall.flip_rate.value > report.by_transformation["rotation"].flip_rate.value
    True
    """
    X, y, true = check_audit(estimator, X, y, family)
    most = int(check_number(n_elements, "n_elements", low=1, whole=True))
    n_flips = int(check_number(n_flips, "n_flips", low=0, whole=True))
    rng = check_generator(random_state)
    before = np.asarray(estimator.predict(X))
    tried = {
        name: _Tried(part, most, X.shape[1], int(rng.randint(2**31 - 1)))
        for name, part in _parts(family).items()
    }
    clock = Clock(sum(len(one) for one in tried.values()), 0, progress)
    for one in tried.values():
        one.run(estimator, X, true, before, clock)
    whole = tried[WHOLE]
    right = before == estimator.classes_[true]
    everyone = np.ones(len(y), dtype=bool)
    by_class = {
        label: whole.stability(right, y == label) for label in estimator.classes_ if label in y
    }
    by_transformation = {name: one.stability(right, everyone) for name, one in tried.items()}
    return InvarianceReport(
        family,
        by_transformation[WHOLE],
        by_transformation,
        by_class,
        whole.flips(estimator, X, y, n_flips),
        _mistakes(estimator, X, y, true, before, n_flips),
    )


def _mistakes(
    estimator: Any, X: Any, y: NDArray, true: NDArray, before: NDArray, most: int
) -> list[Flip]:
    """Give the rows that are surely wrong as they are."""
    wrong = np.flatnonzero(before != estimator.classes_[true])
    if not len(wrong):
        return []
    margins = margins_of(estimator, X[wrong], true[wrong])
    first = np.argsort(margins, kind="stable")[:most]
    return [
        Flip(int(i), _plain(y[i]), _plain(before[i]), float(margin), X[[i]][0], X[[i]][0])
        for i, margin in zip(wrong[first], margins[first], strict=True)
    ]


def _parts(family: Family) -> dict[str, Family]:
    """Name the whole family and, if it has several, its parts."""
    parts: dict[str, Family] = {WHOLE: family}
    if isinstance(family, Combination):
        # parts without a shape take that of the others
        parts |= dict(zip(family.named_parts(), family._bound(), strict=True))
    return parts


class _Tried:
    """Elements of one family, and what they do to predictions."""

    def __init__(self, family: Family, most: int, n_features: int, seed: int):
        self.elements: Sequence[Callable[[Any], Any]]
        self.exhaustive = False
        if not _has_all_listed(family, n_features):
            self.elements = family.sample(most, seed)
            return
        # without the identity, and none twice
        listed = family._listed(n_features)
        others = np.arange(1, len(listed))
        self.exhaustive = len(others) <= most
        if not self.exhaustive:
            others = np.random.RandomState(seed).permutation(others)[:most]
        self.elements = [_listed_element(listed, int(i)) for i in others]

    def __len__(self) -> int:
        return len(self.elements)

    def run(self, estimator: Any, X: Any, true: NDArray, before: NDArray, clock: Clock) -> None:
        """Count, for each row, how often it is predicted otherwise, and rightly."""
        n = X.shape[0]
        self.changed, self.right = np.zeros(n, dtype=int), np.zeros(n, dtype=int)
        # where a row becomes wrong: the surest mistake, and the element that makes it
        self.margins, self.worst = np.full(n, np.inf), np.zeros(n, dtype=int)
        was_right = before == estimator.classes_[true]
        for number, element in enumerate(self.elements):
            for some in _blocks(X):
                moved = element(X[some])
                found = np.asarray(estimator.predict(moved))
                self.changed[some] += found != before[some]
                good = found == estimator.classes_[true[some]]
                self.right[some] += good
                lost = np.flatnonzero(was_right[some] & ~good)
                if len(lost):
                    margins = margins_of(estimator, moved[lost], true[some][lost])
                    at = some.start + lost
                    worse = margins < self.margins[at]
                    self.margins[at[worse]] = margins[worse]
                    self.worst[at[worse]] = number
            clock.tick()

    def stability(self, right: NDArray, rows: NDArray) -> Stability:
        """Give the shares of some rows, of which it is known whether they are right as they are."""
        count = len(self)
        tries = max(1, count)
        moved = self.right[rows] / tries if count else right[rows]
        return Stability(
            n_samples=int(rows.sum()),
            n_elements=count,
            exhaustive=self.exhaustive,
            accuracy=share_of(right[rows]),
            moved_accuracy=share_of(moved),
            flip_rate=share_of(self.changed[rows] / tries),
            consistency=share_of(self.changed[rows] == 0),
            worst_case_accuracy=share_of(right[rows] & (self.right[rows] == count)),
        )

    def flips(self, estimator: Any, X: Any, y: NDArray, most: int) -> list[Flip]:
        """Give the rows that are right as they are and surely wrong when transformed."""
        lost = np.flatnonzero(np.isfinite(self.margins))
        order = lost[np.argsort(self.margins[lost], kind="stable")][:most]
        found = []
        for i in order:
            moved = self.elements[self.worst[i]](X[[i]])
            found.append(
                Flip(
                    index=int(i),
                    label=_plain(y[i]),
                    predicted=_plain(estimator.predict(moved)[0]),
                    margin=float(self.margins[i]),
                    row=X[[i]][0],
                    moved=moved[0],
                )
            )
        return found


def _has_all_listed(family: Family, n_features: int) -> bool:
    """Say whether random elements are among the listed ones, or lie between them.

    Seen at what they make of a row of random numbers, whatever kind of family this is.
    """
    size = family._size(n_features)
    if not np.isfinite(size) or size * n_features > PROBE:
        return False
    rng = np.random.RandomState(0)
    probe = rng.rand(1, n_features)
    listed = family._listed(n_features).act(probe, 0, int(size))[0]
    drawn = family.sample(32, rng)(probe)[0]
    return all(np.isclose(listed, one, atol=1e-9).all(axis=1).any() for one in drawn)


def _listed_element(listed: Any, i: int) -> Callable[[Any], Any]:
    return lambda X: listed.one(X, i)


def _blocks(X: Any) -> Iterator[slice]:
    """Cut rows so that transformed ones take little memory."""
    width = X.shape[1] if isinstance(X, np.ndarray) else max(1, X.nnz // X.shape[0])
    yield from slices(X.shape[0], max(1, BLOCK_BYTES // (width * X.dtype.itemsize)))


def _plain(value: Any) -> Any:
    """Give numpy's numbers as Python's."""
    return value.item() if isinstance(value, np.generic) else value
