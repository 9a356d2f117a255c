"""Regularised least squares, linear or with a kernel, with lam chosen by leave-one-out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from invarlearn._utils.parallel import slices
from invarlearn.solvers.normal_equations import (
    HeldOutRows,
    NormalEquations,
    row_origin,
    sampling_keys,
    smallest_keys,
)
from invarlearn.solvers.ridge import DualPath, PrimalPath

Matrix = NDArray[np.floating]

# Number of rows that are converted to double precision at a time.
BLOCK_ROWS = 8192


@dataclass(frozen=True)
class LamSearch:
    """How lam is set: to a given value, or to the best of a grid by leave-one-out.

    Attributes
    ----------
    loss : callable
        ``loss(predicted, Y, weights)`` returns the error of held-out predictions, (n, n_targets),
        for targets of the same shape and weights of shape (n,).
    lam : float, optional
        The value of lam. None: search the grid.
    n_lams : int
        Number of values in the grid, equally spaced on a logarithmic scale.
    lam_range : tuple of two floats
        Smallest and largest value in the grid, relative to the largest eigenvalue.
    n_held_out, seed : int
        Size and seed of the random sample of rows whose leave-one-out errors are computed.
    """

    loss: Callable[[NDArray, NDArray, NDArray], float]
    lam: float | None = None
    n_lams: int = 25
    lam_range: tuple[float, float] = (1e-7, 10.0)
    n_held_out: int = 5000
    seed: int = 0

    def grid(self, largest: float) -> Matrix:
        """Return the values of the grid, in descending order: (n_lams,).

        Parameters
        ----------
        largest : float
            The largest eigenvalue of the covariance.
        """
        low, high = self.lam_range
        scale = largest if largest > 0 else 1.0
        return scale * np.logspace(np.log10(high), np.log10(low), self.n_lams)

    def choose(
        self,
        largest: float,
        left_out: Callable[[Matrix], Matrix],
        Y: NDArray,
        weights: NDArray,
    ) -> LamChoice:
        """Choose the lam with the smallest leave-one-out error, and the largest one among equals.

        Parameters
        ----------
        largest : float
            The largest eigenvalue of the covariance.
        left_out : callable
            ``left_out(lams)`` returns the held-out predictions for each lam: (n_lams, n,
            n_targets).
        Y, weights : arrays of shape (n, n_targets) and (n,)

        Returns
        -------
        LamChoice
        """
        if self.lam is not None:
            return LamChoice(float(self.lam))
        lams = self.grid(largest)
        errors = np.array([self.loss(predicted, Y, weights) for predicted in left_out(lams)])
        return LamChoice(float(lams[np.argmin(errors)]), lams, errors)


@dataclass(frozen=True)
class LamChoice:
    """The chosen lam.

    Attributes
    ----------
    lam : float
    lams, errors : arrays of shape (n_lams,), optional
        The grid, and its leave-one-out errors. None if lam was given.
    """

    lam: float
    lams: NDArray | None = None
    errors: NDArray | None = None


@dataclass(frozen=True)
class FittedRidge:
    """A solution of least squares: weights of features, or of training rows under a kernel.

    Attributes
    ----------
    lam : float
    intercept : array of shape (n_targets,)
        Not penalised.
    beta : array of shape (n_features, n_targets), optional
        Weights of features, without a kernel.
    alpha : array of shape (n, n_targets), optional
        Weights of the training rows, with a kernel.
    kernel, rows : Kernel and array of shape (n, n_features), optional
        The kernel and the training rows. None: predictions take kernel values instead of rows.
    lams, errors : arrays of shape (n_lams,), optional
        The grid of lam, and its leave-one-out errors. None if lam was given.
    """

    lam: float
    intercept: NDArray
    beta: NDArray | None = None
    alpha: NDArray | None = None
    kernel: Any = None
    rows: Any = None
    lams: NDArray | None = None
    errors: NDArray | None = None

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted targets: (n, n_targets).

        Parameters
        ----------
        X : array or sparse array of shape (n, n_features)
            Rows; kernel values of shape (n, n_training_rows) if ``rows`` is None.
        """
        if self.alpha is not None:
            values = X if self.rows is None else self.kernel(X, self.rows)
            return values @ self.alpha + self.intercept
        assert self.beta is not None
        out = np.empty((X.shape[0], self.beta.shape[1]))
        for block in slices(X.shape[0], BLOCK_ROWS):
            out[block] = X[block].astype(float) @ self.beta
        return out + self.intercept


def empty_equations(X: Any, n_targets: int, search: LamSearch) -> NormalEquations:
    """Return the normal equations of no rows, for rows like X, (n, n_features)."""
    held_out = HeldOutRows(search.n_held_out)
    return NormalEquations(row_origin(X), n_targets, held_out, search.seed)


def fit_equations(equations: NormalEquations, search: LamSearch) -> FittedRidge:
    """Solve normal equations for the weights of features."""
    moments = equations.moments()
    if search.lam is not None:
        beta, intercept = moments.coefficients(search.lam)
        return FittedRidge(float(search.lam), intercept, beta)
    path, held_out = PrimalPath.of(moments), equations.held_out
    rows = (held_out.X, held_out.Y, held_out.weights)
    choice = search.choose(path.largest, lambda lams: path.left_out(*rows, lams), *rows[1:])
    beta, intercept = path.coefficients(choice.lam)
    return FittedRidge(choice.lam, intercept, beta, lams=choice.lams, errors=choice.errors)


def fit_rows(X: Any, Y: Matrix, weights: Matrix, search: LamSearch) -> FittedRidge:
    """Solve for the weights of features, by the smaller one of the primal and the dual system.

    Parameters
    ----------
    X : array or sparse array of shape (n, n_features)
    Y : array of shape (n, n_targets)
    weights : array of shape (n,)
    search : LamSearch
    """
    if X.shape[0] >= X.shape[1]:
        return fit_equations(empty_equations(X, Y.shape[1], search).add(X, Y, weights), search)
    origin = row_origin(X)
    rows = X.astype(float) - origin if isinstance(X, np.ndarray) else X.astype(float)
    gram: Any = rows @ rows.T
    path = DualPath.of(gram.toarray() if issparse(gram) else gram, Y, weights)
    choice = _choose_dual(path, search)
    alpha, intercept = path.coefficients(choice.lam)
    beta = np.asarray(rows.T @ alpha)
    intercept = intercept - origin @ beta
    return FittedRidge(choice.lam, intercept, beta, lams=choice.lams, errors=choice.errors)


def fit_gram(
    gram: Matrix,
    Y: Matrix,
    weights: Matrix,
    search: LamSearch,
    kernel: Any = None,
    rows: Any = None,
) -> FittedRidge:
    """Solve for the weights of training rows under a kernel.

    Parameters
    ----------
    gram : array of shape (n, n)
        Kernel values between the rows.
    Y : array of shape (n, n_targets)
    weights : array of shape (n,)
    search : LamSearch
    kernel, rows : Kernel and array of shape (n, n_features), optional
        Used by predictions. None: predictions take kernel values instead of rows.
    """
    path = DualPath.of(gram, Y, weights)
    choice = _choose_dual(path, search)
    alpha, intercept = path.coefficients(choice.lam)
    return FittedRidge(
        choice.lam,
        intercept,
        alpha=alpha,
        kernel=kernel,
        rows=rows,
        lams=choice.lams,
        errors=choice.errors,
    )


def _choose_dual(path: DualPath, search: LamSearch) -> LamChoice:
    keys = sampling_keys(search.seed, 0, len(path.Y), path.weights)
    held_out = smallest_keys(keys, search.n_held_out)
    return search.choose(
        path.largest,
        lambda lams: path.left_out(lams)[:, held_out],
        path.Y[held_out],
        path.weights[held_out],
    )
