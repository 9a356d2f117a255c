"""Audit of the invariance of a classifier: flip rates and accuracy under transformations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from invarlearn._utils.parallel import slices
from invarlearn._utils.progress import Progress, ProgressClock
from invarlearn._utils.statistics import Proportion, estimate_proportion
from invarlearn._utils.validation import check_generator, check_number
from invarlearn.audit._inputs import check_audit
from invarlearn.audit.worst import classification_margins
from invarlearn.transforms import Family, format_family

# The key of the whole family, among those of its parts.
WHOLE = "all together"


@dataclass(frozen=True)
class InvarianceScores:
    """Accuracy and changes of predictions under the elements of a family.

    Attributes
    ----------
    n_samples, n_elements : int
        Number of samples, and number of transformations of each sample without the identity.
    exhaustive : bool
        Whether these transformations are all elements of the family. Otherwise they are random
        elements.
    accuracy : Proportion
        Accuracy on the samples without transformation.
    transformed_accuracy : Proportion
        Accuracy on the transformed samples.
    flip_rate : Proportion
        Proportion of transformed samples whose prediction differs from that of the sample without
        transformation.
    consistency : Proportion
        Proportion of samples with the same prediction under all transformations.
    worst_case_accuracy : Proportion
        Proportion of samples that are classified correctly without transformation and under all
        transformations.
    """

    n_samples: int
    n_elements: int
    exhaustive: bool
    accuracy: Proportion
    transformed_accuracy: Proportion
    flip_rate: Proportion
    consistency: Proportion
    worst_case_accuracy: Proportion

    def proportions(self) -> dict[str, Proportion]:
        """Return the proportions by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, Proportion)}


@dataclass(frozen=True)
class Misclassification:
    """A misclassified sample, transformed or not.

    Attributes
    ----------
    index : int
        Index of the sample.
    label, predicted : object
        True class of the sample, and predicted class.
    margin : float
        Score of the true class minus the largest score of the other classes, at most zero. It is
        -1 for classifiers without scores.
    row, transformed : arrays of shape (n_features,)
        The sample, and the row that is misclassified: the transformed sample, or the sample itself.
    """

    index: int
    label: Any
    predicted: Any
    margin: float
    row: Any
    transformed: Any


@dataclass(frozen=True)
class InvarianceReport:
    """The result of :func:`invariance_report`.

    Attributes
    ----------
    family : Family
    overall : InvarianceScores
        Scores of all samples under the whole family.
    by_transformation : dict from str to InvarianceScores
        Scores of all samples under the whole family ("all together") and, for a product or union,
        under each of its parts.
    by_class : dict from class to InvarianceScores
        Scores of the samples of each class under the whole family.
    flips : list of Misclassification
        Samples that are classified correctly without transformation and misclassified with one, in
        increasing order of the margin.
    mistakes : list of Misclassification
        Samples that are misclassified without transformation, in increasing order of the margin;
        ``transformed`` is the sample itself.
    """

    family: Family
    overall: InvarianceScores
    by_transformation: dict[str, InvarianceScores]
    by_class: dict[Any, InvarianceScores]
    flips: list[Misclassification]
    mistakes: list[Misclassification]

    def table(self) -> list[dict[str, Any]]:
        """Return all proportions and their intervals as rows of a table or a data frame."""
        groups: list[tuple[str, dict[Any, InvarianceScores]]] = [
            ("transformation", self.by_transformation),
            ("class", self.by_class),
        ]
        rows = []
        for group, by_name in groups:
            for name, scores in by_name.items():
                row: dict[str, Any] = {"group": group, "name": _as_python(name)}
                row |= {"rows": scores.n_samples, "tried": scores.n_elements}
                for key, value in scores.proportions().items():
                    row |= {key: value.value, f"{key}_low": value.low, f"{key}_high": value.high}
                rows.append(row)
        return rows

    def summary(self) -> str:
        """Return the scores of the whole family as text, with 95 % intervals."""
        scores = self.overall
        elements = f"{scores.n_elements} {'' if scores.exhaustive else 'random '}transformations"
        lines = [
            f"Family: {format_family(self.family)}",
            f"{scores.n_samples} samples, each under {elements} (95 % intervals in parentheses)",
            f"Accuracy: {scores.accuracy}; on transformed samples: {scores.transformed_accuracy}",
            f"Flip rate (predictions that change when transformed): {scores.flip_rate}",
            f"Samples with the same prediction under all transformations: {scores.consistency}",
            f"Samples classified correctly under all transformations: {scores.worst_case_accuracy}",
        ]
        parts = {name: part for name, part in self.by_transformation.items() if name != WHOLE}
        highest = max(parts, key=lambda name: parts[name].flip_rate.value, default="")
        if highest and parts[highest].flip_rate.value > 0:
            lines.append(f"Highest flip rate: {highest}, {parts[highest].flip_rate}")
        if scores.transformed_accuracy.high < scores.accuracy.low:
            lines.append(
                "Transformations of the family lower the accuracy; check that labels do not depend "
                "on them, or train with this family."
            )
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
    max_bytes: int = 2**24,
) -> InvarianceReport:
    """Measure how invariant the predictions of a classifier are to a family.

    Parameters
    ----------
    estimator : classifier
        Any fitted classifier.
    X : array-like of shape (n_samples, n_features)
        Samples that the classifier was not fitted to. They may be sparse if the family transforms
        sparse rows.
    y : array-like of shape (n_samples,)
    family : Family
        The transformations to try. Each part of a product or union is tried alone as well.
    n_elements : int, default=50
        Number of random transformations of each sample. If the family has at most this many
        elements, all of them are tried. The worst-case accuracy decreases with this number.
    n_flips : int, default=12
        Maximum length of each list of misclassified samples.
    random_state : int, RandomState or None, default=0
        Seed of the random transformations.
    progress : callable, optional
        Progress callback, called after each transformation.
    max_bytes : int, default=2**24
        Memory of a block of transformed rows.

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
    X, y, class_indices = check_audit(estimator, X, y, family)
    n_elements = int(check_number(n_elements, "n_elements", low=1, whole=True))
    n_flips = int(check_number(n_flips, "n_flips", low=0, whole=True))
    check_number(max_bytes, "max_bytes", low=1, whole=True)
    rng = check_generator(random_state)
    predicted = np.asarray(estimator.predict(X))
    trials = {
        name: _Trial(part, n_elements, X.shape[1], int(rng.randint(2**31 - 1)))
        for name, part in _named_parts(family).items()
    }
    clock = ProgressClock(sum(len(trial.elements) for trial in trials.values()), 0, progress)
    for trial in trials.values():
        trial.run(estimator, X, class_indices, predicted, max_bytes, clock)
    whole = trials[WHOLE]
    correct = predicted == estimator.classes_[class_indices]
    all_rows = np.ones(len(y), dtype=bool)
    by_class = {
        label: whole.scores(correct, y == label) for label in estimator.classes_ if label in y
    }
    by_transformation = {name: trial.scores(correct, all_rows) for name, trial in trials.items()}
    return InvarianceReport(
        family,
        by_transformation[WHOLE],
        by_transformation,
        by_class,
        whole.flips(estimator, X, y, n_flips),
        _mistakes(estimator, X, y, class_indices, predicted, n_flips),
    )


def _mistakes(
    estimator: Any,
    X: Any,
    y: NDArray,
    class_indices: NDArray,
    predicted: NDArray,
    max_length: int,
) -> list[Misclassification]:
    """Return the samples that are misclassified without transformation."""
    wrong = np.flatnonzero(predicted != estimator.classes_[class_indices])
    if not len(wrong):
        return []
    margins = classification_margins(estimator, X[wrong], class_indices[wrong])
    order = np.argsort(margins, kind="stable")[:max_length]
    return [
        Misclassification(
            index=int(i),
            label=_as_python(y[i]),
            predicted=_as_python(predicted[i]),
            margin=float(margin),
            row=X[[i]][0],
            transformed=X[[i]][0],
        )
        for i, margin in zip(wrong[order], margins[order], strict=True)
    ]


def _named_parts(family: Family) -> dict[str, Family]:
    """Return the whole family and the parts of a product or union, by name."""
    parts: dict[str, Family] = {WHOLE: family}
    if len(family.bound_parts()) > 1:
        parts |= family.named_parts()
    return parts


class _Trial:
    """Elements of one family, and counts of the predictions under each of them."""

    def __init__(self, family: Family, n_elements: int, n_features: int, seed: int):
        self.elements: Sequence[Callable[[Any], Any]]
        self.exhaustive = False
        if not _samples_listed_elements(family, n_features):
            self.elements = family.sample(n_elements, seed)
            return
        # each element once, without the identity
        listed = family.elements(n_features)
        indices = np.arange(1, len(listed))
        self.exhaustive = len(indices) <= n_elements
        if not self.exhaustive:
            indices = np.random.RandomState(seed).permutation(indices)[:n_elements]
        self.elements = [_listed_element(listed, int(i)) for i in indices]

    def run(
        self,
        estimator: Any,
        X: Any,
        class_indices: NDArray,
        predicted: NDArray,
        max_bytes: int,
        clock: ProgressClock,
    ) -> None:
        """Count for each row the changed and the correct predictions."""
        n = X.shape[0]
        self.n_changed, self.n_correct = np.zeros(n, dtype=int), np.zeros(n, dtype=int)
        # smallest margin and its element, of rows that become misclassified when transformed
        self.margins, self.worst = np.full(n, np.inf), np.zeros(n, dtype=int)
        classes = estimator.classes_[class_indices]
        was_correct = predicted == classes
        for number, element in enumerate(self.elements):
            for block in _blocks(X, max_bytes):
                transformed = element(X[block])
                labels = np.asarray(estimator.predict(transformed))
                self.n_changed[block] += labels != predicted[block]
                correct = labels == classes[block]
                self.n_correct[block] += correct
                lost = np.flatnonzero(was_correct[block] & ~correct)
                if len(lost):
                    margins = classification_margins(
                        estimator, transformed[lost], class_indices[block][lost]
                    )
                    indices = block.start + lost
                    lower = margins < self.margins[indices]
                    self.margins[indices[lower]] = margins[lower]
                    self.worst[indices[lower]] = number
            clock.tick()

    def scores(self, correct: NDArray, rows: NDArray) -> InvarianceScores:
        """Return the scores of the rows in a mask.

        Parameters
        ----------
        correct : bool array of shape (n_samples,)
            Which samples are classified correctly without transformation.
        rows : bool array of shape (n_samples,)
        """
        n_elements = len(self.elements)
        n_tries = max(1, n_elements)
        transformed_correct = self.n_correct[rows] / n_tries if n_elements else correct[rows]
        always = correct[rows] & (self.n_correct[rows] == n_elements)
        return InvarianceScores(
            n_samples=int(rows.sum()),
            n_elements=n_elements,
            exhaustive=self.exhaustive,
            accuracy=estimate_proportion(correct[rows]),
            transformed_accuracy=estimate_proportion(transformed_correct),
            flip_rate=estimate_proportion(self.n_changed[rows] / n_tries),
            consistency=estimate_proportion(self.n_changed[rows] == 0),
            worst_case_accuracy=estimate_proportion(always),
        )

    def flips(self, estimator: Any, X: Any, y: NDArray, max_length: int) -> list[Misclassification]:
        """Return the samples that are correct without transformation and misclassified with one."""
        lost = np.flatnonzero(np.isfinite(self.margins))
        order = lost[np.argsort(self.margins[lost], kind="stable")][:max_length]
        flips = []
        for i in order:
            transformed = self.elements[self.worst[i]](X[[i]])
            flips.append(
                Misclassification(
                    index=int(i),
                    label=_as_python(y[i]),
                    predicted=_as_python(estimator.predict(transformed)[0]),
                    margin=float(self.margins[i]),
                    row=X[[i]][0],
                    transformed=transformed[0],
                )
            )
        return flips


def _samples_listed_elements(
    family: Family, n_features: int, max_numbers: int = 2**22, n_probes: int = 32
) -> bool:
    """Return whether the random elements of a family are among its listed elements.

    Some families draw parameters between those of the listed elements. This is tested on a row of
    random numbers. False is returned for families whose orbit of a row has more than
    ``max_numbers`` numbers.
    """
    size = family.size(n_features)
    if not np.isfinite(size) or size * n_features > max_numbers:
        return False
    rng = np.random.RandomState(0)
    probe = rng.rand(1, n_features)
    orbit = family.elements(n_features).act(probe, 0, int(size))[0]
    drawn = family.sample(n_probes, rng)(probe)[0]
    return all(np.isclose(orbit, row, atol=1e-9).all(axis=1).any() for row in drawn)


def _listed_element(listed: Any, i: int) -> Callable[[Any], Any]:
    return lambda X: listed.one(X, i)


def _blocks(X: Any, max_bytes: int) -> Iterator[slice]:
    """Yield slices of rows that take about ``max_bytes`` each."""
    width = X.shape[1] if isinstance(X, np.ndarray) else max(1, X.nnz // X.shape[0])
    yield from slices(X.shape[0], max(1, max_bytes // (width * X.dtype.itemsize)))


def _as_python(value: Any) -> Any:
    """Return a numpy scalar as a Python object."""
    return value.item() if isinstance(value, np.generic) else value
