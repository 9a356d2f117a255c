"""Accuracy at the transformation that hurts most (paper 004's loss, measured)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from invarlearn.audit._inputs import check_audit
from invarlearn.transforms import Family


@dataclass(frozen=True)
class WorstCase:
    """What the worst transformations do to a classifier.

    Attributes
    ----------
    accuracy : float
        Share of rows that are right under every transformation.
    plain_accuracy : float
        Share of rows that are right as they are.
    margins : array of shape (n_samples,)
        The smallest score of the true class over that of the best other one, under any
        transformation. For classifiers without scores 1 or -1: right everywhere, or not.
    elements : array of shape (n_samples,), or None
        Which element of the family is worst, as in ``family.orbit(X)``; 0 is the identity. None if
        elements cannot be listed.
    rows : array or sparse matrix of shape (n_samples, n_features)
        The worst transformed rows.
    """

    accuracy: float
    plain_accuracy: float
    margins: NDArray[np.float64]
    elements: NDArray[np.intp] | None
    rows: Any

    def counts(self) -> dict[int, int]:
        """Count, for each element, the rows that it is worst for; the commonest first."""
        if self.elements is None:
            raise ValueError("the elements of this family cannot be listed: look at rows")
        which, how_often = np.unique(self.elements, return_counts=True)
        order = np.argsort(-how_often, kind="stable")
        return {int(which[i]): int(how_often[i]) for i in order}


def worst_case_accuracy(
    estimator: Any, X: ArrayLike, y: ArrayLike, family: Family, max_bytes: int | None = None
) -> WorstCase:
    """Find, for each row, the transformation that a classifier does worst on.

    Parameters
    ----------
    estimator : classifier
        Fitted, of any kind. A family whose elements cannot be listed, such as ``FeatureScaling``,
        needs a linear one, with ``coef_``.
    X : array-like of shape (n_samples, n_features)
        Sparse rows for ``FeatureScaling`` and its like.
    y : array-like of shape (n_samples,)
    family : Family
    max_bytes : int, optional
        Size of a block of transformed rows.

    Returns
    -------
    WorstCase

    Examples
    --------
    >>> from invarlearn.datasets import load_mnist_sample
    >>> from invarlearn.transforms import Translation
    >>> from sklearn.svm import SVC
    >>> digits = load_mnist_sample()
    >>> svc = SVC().fit(digits.X_train[:200], digits.y_train[:200])
    >>> found = worst_case_accuracy(svc, digits.X_test[:100], digits.y_test[:100], Translation(1))
    >>> found.accuracy < found.plain_accuracy
    True
    """
    X, y, true = check_audit(estimator, X, y, family)
    endless = not np.isfinite(family._size(X.shape[1]))
    if sparse.issparse(X) and not endless:
        raise TypeError(f"{family!r} transforms dense rows only: pass X.toarray()")
    plain = float((estimator.predict(X) == y).mean())
    if endless:
        return _closed_form(estimator, X, true, family, plain)
    return _listed(estimator, X, true, family, plain, max_bytes)


def _listed(
    estimator: Any, X: NDArray, true: NDArray, family: Family, plain: float, max_bytes: int | None
) -> WorstCase:
    margins = np.full(len(X), np.inf)
    elements = np.zeros(len(X), dtype=np.intp)
    rows = X.copy()
    for here, some, block in family.iter_orbit(X, max_bytes):
        n, k, d = block.shape
        found = margins_of(estimator, block.reshape(-1, d), np.repeat(true[here], k)).reshape(n, k)
        first = found.argmin(axis=1)
        lowest = found[np.arange(n), first]
        better = np.flatnonzero(lowest < margins[here])
        at = np.arange(len(X))[here][better]
        margins[at] = lowest[better]
        elements[at] = first[better] + some.start
        rows[at] = block[better, first[better]]
    return WorstCase(float((margins > 0).mean()), plain, margins, elements, rows)


def margins_of(estimator: Any, X: NDArray, true: NDArray) -> NDArray[np.float64]:
    """Give the score of the true class over that of the best other: (n,).

    Rows that are predicted right have a margin above zero, others none: so that ties count as the
    classifier decides them.
    """
    n_classes = len(estimator.classes_)
    right = np.asarray(estimator.predict(X) == estimator.classes_[true])
    scores = None
    for name in ("decision_function", "predict_proba"):
        if hasattr(estimator, name):
            scores = np.asarray(getattr(estimator, name)(X), dtype=float)
            break
    if scores is None or (scores.ndim == 2 and scores.shape[1] != n_classes):
        return np.where(right, 1.0, -1.0)
    if scores.ndim == 1:
        margins = np.where(true == 1, scores, -scores)
    else:
        own = scores[np.arange(len(X)), true]
        others = scores.copy()
        others[np.arange(len(X)), true] = -np.inf
        margins = own - others.max(axis=1)
    least = np.finfo(float).tiny
    return np.where(right, np.maximum(margins, least), np.minimum(margins, 0.0))


def _closed_form(estimator: Any, X: Any, true: NDArray, family: Family, plain: float) -> WorstCase:
    """Let the family find the worst row for every rival class of a linear classifier."""
    if not hasattr(estimator, "coef_"):
        raise ValueError(
            f"the elements of {family!r} cannot be listed: it needs a linear classifier, with "
            "coef_; of a pipeline, pass pipe[-1] and pipe[:-1].transform(X)"
        )
    coef = np.atleast_2d(np.asarray(_dense(estimator.coef_), dtype=X.dtype))
    intercept = np.broadcast_to(np.asarray(estimator.intercept_, dtype=float), len(coef))
    n_classes = len(estimator.classes_)
    if n_classes == 2:
        coef, intercept = np.stack([-coef[0], coef[0]]) / 2, np.array([-1, 1]) * intercept[0] / 2
    elif len(coef) != n_classes:
        raise ValueError("the linear classifier must have one row of coef_ for each class")
    margins = np.full(X.shape[0], np.inf)
    worst: list[Any] = [None] * X.shape[0]
    for own in range(n_classes):
        here = np.flatnonzero(true == own)
        for rival in range(n_classes):
            if rival == own or not len(here):
                continue
            rows, scores = family.worst_case(X[here], coef[own] - coef[rival])
            scores = np.asarray(scores, dtype=float) + intercept[own] - intercept[rival]
            for i in np.flatnonzero(scores < margins[here]):
                margins[here[i]] = scores[i]
                worst[here[i]] = rows[[i]]
    stack = sparse.vstack if sparse.issparse(X) else np.concatenate
    # a tie goes to the first class, in scikit-learn's linear classifiers
    rows = stack(worst)
    right = np.asarray(estimator.predict(rows) == estimator.classes_[true]) & (margins >= 0)
    return WorstCase(float(right.mean()), plain, margins, None, rows)


def _dense(values: Any) -> Any:
    return values.toarray() if sparse.issparse(values) else values
