"""Functionals with a weight for each row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from invarlearn.functionals.base import Functional, FunctionalTerm, Rows

Weights = ArrayLike | Callable[[Rows], ArrayLike]


class Weighted(Functional):
    """Functionals that are multiplied by a weight at each row.

    With a squared penalty, the weight w of a row multiplies ``nu`` by w^2 there, with the absolute
    penalty by w. The function is then flatter where weights are larger. An example is a class with
    few samples, from which the decision boundary should be further away.

    Parameters
    ----------
    functional : Functional
        It must have the same number of functionals at each row, row by row, such as
        :class:`Derivative`, :class:`Tangent`, :class:`Change` or :class:`LocalAverage`.
    weights : array-like of shape (n,), or callable
        One number for each row at which the functional is taken, in the order of the rows of
        ``fit``; rows of ``X_unlabeled`` follow. A callable returns them for any rows:
        ``weights(X)`` of shape (n,). Cross-validation, such as ``cross_val_score`` and
        ``GridSearchCV``, needs a callable, since every fold has other rows.

    Examples
    --------
    >>> from invarlearn.functionals import Derivative, Representers
    >>> from invarlearn.kernels import RBF
    >>> twice = Weighted(Derivative(), [1.0, 2.0])
    >>> Representers(RBF(0.5), [twice], [[0.0], [0.0]]).gram()
    array([[1., 2.],
           [2., 4.]])
    >>> by_value = Weighted(Derivative(), lambda X: 1 + X[:, 0])
    >>> Representers(RBF(0.5), [by_value], [[0.0], [1.0]]).gram().diagonal()
    array([1., 4.])
    """

    def __init__(self, functional: Functional, weights: Weights):
        self.functional = functional
        self.weights = weights

    def terms(self, X: Rows) -> list[FunctionalTerm]:
        values = self.weights(X) if callable(self.weights) else self.weights
        weights = np.asarray(values, dtype=float)
        if weights.shape != (len(X),) or not np.isfinite(weights).all():
            raise ValueError(
                f"weights have shape {weights.shape}: pass one finite number for each of the "
                f"{len(X)} rows, or a function that returns them (cross-validation needs one)"
            )
        terms = self.functional.terms(X)
        per_row, rest = divmod(len(terms[0]), len(X))
        if rest:
            raise ValueError(
                f"{self.functional!r} has {len(terms[0])} functionals at {len(X)} rows: it must "
                "have the same number at each row"
            )
        return [term.scaled(np.repeat(weights, per_row)) for term in terms]
