"""Accuracy at the worst transformation of each row, after Teo et al. (2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from invarlearn.audit._inputs import check_audit
from invarlearn.transforms import Family


@dataclass(frozen=True)
class WorstCaseReport:
    """The result of :func:`worst_case_accuracy`.

    Attributes
    ----------
    worst_case_accuracy : float
        Proportion of rows that are classified correctly under every transformation.
    untransformed_accuracy : float
        Accuracy on the rows without transformation.
    margins : array of shape (n_samples,)
        Smallest margin of each row under any transformation: the score of the true class minus the
        largest score of the other classes. For classifiers without scores, 1 if the row is always
        classified correctly, and -1 otherwise.
    elements : array of shape (n_samples,), or None
        Index of the worst element, as in ``family.orbit(X)``; 0 is the identity. None if the
        elements of the family cannot be listed.
    rows : array or sparse matrix of shape (n_samples, n_features)
        The worst transformed rows.
    """

    worst_case_accuracy: float
    untransformed_accuracy: float
    margins: NDArray[np.float64]
    elements: NDArray[np.intp] | None
    rows: Any

    def counts(self) -> dict[int, int]:
        """Return for how many rows each element is the worst, in decreasing order."""
        if self.elements is None:
            raise ValueError(
                "elements is None, since the elements of the family cannot be listed: inspect the "
                "attribute rows instead"
            )
        elements, counts = np.unique(self.elements, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return {int(elements[i]): int(counts[i]) for i in order}

    def summary(self) -> str:
        """Return both accuracies as text."""
        return (
            f"Accuracy {100 * self.untransformed_accuracy:.1f} %; "
            f"{100 * self.worst_case_accuracy:.1f} % if each sample is transformed by the worst "
            "element of the family."
        )


def worst_case_accuracy(
    estimator: Any, X: ArrayLike, y: ArrayLike, family: Family, max_bytes: int | None = None
) -> WorstCaseReport:
    """Evaluate a classifier at the worst transformation of each row.

    A row counts as correct if it is classified correctly under every element of the family. The
    worst transformation has the smallest margin, ``min_g (f_y(g x) - max_{c != y} f_c(g x))``.

    Parameters
    ----------
    estimator : classifier
        Any fitted classifier. If the elements of the family cannot be listed, as those of
        ``FeatureScaling``, the classifier must be linear, with ``coef_``.
    X : array-like of shape (n_samples, n_features)
        May be sparse if the family transforms sparse rows, as ``FeatureScaling`` does.
    y : array-like of shape (n_samples,)
    family : Family
    max_bytes : int, optional
        Memory of a block of transformed rows. None: the default of ``family.iter_orbit``.

    Returns
    -------
    WorstCaseReport

    References
    ----------
    Teo, Globerson, Roweis and Smola, Convex learning with invariances (2007).

    Examples
    --------
    >>> from invarlearn.datasets import load_mnist_sample
    >>> from invarlearn.transforms import Translation
    >>> from sklearn.svm import SVC
    >>> digits = load_mnist_sample()
    >>> svc = SVC().fit(digits.X_train[:200], digits.y_train[:200])
    >>> report = worst_case_accuracy(svc, digits.X_test[:100], digits.y_test[:100], Translation(1))
    >>> report.worst_case_accuracy < report.untransformed_accuracy
    True
    """
    X, y, class_indices = check_audit(estimator, X, y, family)
    is_listed = np.isfinite(family.size(X.shape[1]))
    if sparse.issparse(X) and is_listed:
        raise TypeError(f"{family!r} transforms dense rows only: pass X.toarray()")
    accuracy = float((estimator.predict(X) == y).mean())
    if is_listed:
        return _over_orbits(estimator, X, class_indices, family, accuracy, max_bytes)
    return _in_closed_form(estimator, X, class_indices, family, accuracy)


def _over_orbits(
    estimator: Any,
    X: NDArray,
    class_indices: NDArray,
    family: Family,
    accuracy: float,
    max_bytes: int | None,
) -> WorstCaseReport:
    """Return the report of a family with a list of elements, all of which are tried."""
    smallest = np.full(len(X), np.inf)
    elements = np.zeros(len(X), dtype=np.intp)
    worst_rows = X.copy()
    for rows, listed, block in family.iter_orbit(X, max_bytes):
        n, k, d = block.shape
        classes = np.repeat(class_indices[rows], k)
        margins = classification_margins(estimator, block.reshape(-1, d), classes).reshape(n, k)
        worst = margins.argmin(axis=1)
        worst_margins = margins[np.arange(n), worst]
        lower = np.flatnonzero(worst_margins < smallest[rows])
        indices = np.arange(len(X))[rows][lower]
        smallest[indices] = worst_margins[lower]
        elements[indices] = worst[lower] + listed.start
        worst_rows[indices] = block[lower, worst[lower]]
    return WorstCaseReport(float((smallest > 0).mean()), accuracy, smallest, elements, worst_rows)


def classification_margins(
    estimator: Any, X: NDArray, class_indices: NDArray
) -> NDArray[np.float64]:
    """Return the score of the true class minus the largest score of the other classes.

    Margins are positive for correctly predicted rows and at most zero for the others, so that ties
    count as the classifier decides them. For classifiers without scores they are 1 and -1.

    Parameters
    ----------
    estimator : classifier
    X : array of shape (n_samples, n_features)
    class_indices : array of shape (n_samples,)
        Indices of the true classes in ``estimator.classes_``.

    Returns
    -------
    array of shape (n_samples,)
    """
    n_classes = len(estimator.classes_)
    correct = np.asarray(estimator.predict(X) == estimator.classes_[class_indices])
    scores = None
    for name in ("decision_function", "predict_proba"):
        if hasattr(estimator, name):
            scores = np.asarray(getattr(estimator, name)(X), dtype=float)
            break
    is_pairwise = getattr(estimator, "decision_function_shape", "ovr") == "ovo" and n_classes > 2
    if scores is None or is_pairwise or (scores.ndim == 2 and scores.shape[1] != n_classes):
        return np.where(correct, 1.0, -1.0)
    if scores.ndim == 1:
        margins = np.where(class_indices == 1, scores, -scores)
    else:
        own = scores[np.arange(len(X)), class_indices]
        others = scores.copy()
        others[np.arange(len(X)), class_indices] = -np.inf
        margins = own - others.max(axis=1)
    smallest_positive = np.finfo(float).tiny
    return np.where(correct, np.maximum(margins, smallest_positive), np.minimum(margins, 0.0))


def _in_closed_form(
    estimator: Any, X: Any, class_indices: NDArray, family: Family, accuracy: float
) -> WorstCaseReport:
    """Return the report of a linear classifier, from the worst case against each other class."""
    if not hasattr(estimator, "coef_"):
        raise ValueError(
            f"the elements of {family!r} cannot be listed: the audit needs a linear classifier "
            "with coef_. Of a pipeline, pass pipe[-1] and pipe[:-1].transform(X)"
        )
    coef = np.atleast_2d(np.asarray(_as_dense(estimator.coef_), dtype=X.dtype))
    intercept = np.broadcast_to(np.asarray(estimator.intercept_, dtype=float), len(coef))
    n_classes = len(estimator.classes_)
    if n_classes == 2:
        coef, intercept = np.stack([-coef[0], coef[0]]) / 2, np.array([-1, 1]) * intercept[0] / 2
    elif len(coef) != n_classes:
        raise ValueError(
            f"coef_ has {len(coef)} rows for {n_classes} classes: the linear classifier must have "
            "one row of coef_ for each class"
        )
    margins = np.full(X.shape[0], np.inf)
    worst: list[Any] = [None] * X.shape[0]
    for own in range(n_classes):
        members = np.flatnonzero(class_indices == own)
        for other in range(n_classes):
            if other == own or not len(members):
                continue
            rows, scores = family.worst_case(X[members], coef[own] - coef[other])
            scores = np.asarray(scores, dtype=float) + intercept[own] - intercept[other]
            for i in np.flatnonzero(scores < margins[members]):
                margins[members[i]] = scores[i]
                worst[members[i]] = rows[[i]]
    stack = sparse.vstack if sparse.issparse(X) else np.concatenate
    rows = stack(worst)
    # ties count as the classifier decides them
    correct = np.asarray(estimator.predict(rows) == estimator.classes_[class_indices])
    correct &= margins >= 0
    return WorstCaseReport(float(correct.mean()), accuracy, margins, None, rows)


def _as_dense(values: Any) -> Any:
    return values.toarray() if sparse.issparse(values) else values
