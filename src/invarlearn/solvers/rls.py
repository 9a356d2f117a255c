"""Regularised least squares, with the regularisation chosen by exact leave-one-out errors.

The weights beta and the intercept b minimise

    sum_i w_i |y_i - beta' x_i - b|^2 / sum_i w_i + lam |beta|^2.

One eigendecomposition, of the features' scatter matrix or of the Gram matrix, serves every lam:
its solution, its predictions and the leverage of every row, from which the error at a row that is
left out follows without solving again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, eigh, solve
from scipy.linalg.blas import get_blas_funcs
from scipy.sparse import diags_array, issparse

from invarlearn.transforms._threads import slices

Matrix = NDArray[np.float64]

# Rows are added to the scatter matrix in blocks of this many.
ROWS = 4096

# lam runs from 1e-7 to 10 times the largest eigenvalue, three to a decade.
N_LAMS = 25


def path_of(largest: float) -> Matrix:
    """Give the lams to try, the largest first, for a scatter matrix with this eigenvalue."""
    scale = largest if largest > 0 else 1.0
    return scale * np.logspace(1, -7, N_LAMS)


def row_keys(seed: int, first: int, n: int, weights: Matrix | None = None) -> NDArray[np.uint64]:
    """Give a random number to each of n rows, by its place in the whole alone (splitmix64).

    The same rows have the same keys, however they are cut into blocks. Rows of weight zero have
    the largest key.
    """
    z = np.arange(first + 1, first + n + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = (z + np.uint64(seed) * np.uint64(2**32)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return z if weights is None else np.where(weights > 0, z, np.uint64(2**64 - 1))


def smallest(keys: NDArray[np.uint64], size: int) -> NDArray[np.intp]:
    """Give the places of the smallest keys, in order of place."""
    return np.sort(np.argsort(keys, kind="stable")[:size])


@dataclass
class Held:
    """Some of the rows, a uniform sample: those with the smallest keys."""

    size: int
    X: Any = None
    Y: Any = None
    weights: Any = None
    keys: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))

    def merge(self, other: Held) -> Held:
        """Give the sample of both sets of rows."""
        if self.X is None or other.X is None:
            return other if self.X is None else self
        keys = np.concatenate([self.keys, other.keys])
        kept = smallest(keys, self.size)
        X, Y, weights = (
            np.concatenate([a, b])[kept]
            for a, b in ((self.X, other.X), (self.Y, other.Y), (self.weights, other.weights))
        )
        return Held(self.size, X, Y, weights, keys[kept])


@dataclass
class NormalEquations:
    """All that least squares needs to know of rows, in memory that does not grow with them.

    Parameters
    ----------
    origin : array of shape (d,)
        Rows are measured from here, near their mean, so that digits are not lost.
    n_targets : int
    held : Held
        A sample of the rows, on which lam is chosen.
    seed : int
        Of the sample.
    first : int
        Place of the first row in the whole.
    """

    origin: NDArray
    n_targets: int
    held: Held
    seed: int = 0
    first: int = 0
    gram: Any = None
    cross: Any = None
    sum_x: Any = None
    sum_y: Any = None
    weight: float = 0.0
    n_rows: int = 0

    def __post_init__(self) -> None:
        if self.gram is None:
            d = len(self.origin)
            self.gram, self.cross = np.zeros((d, d)), np.zeros((d, self.n_targets))
            self.sum_x, self.sum_y = np.zeros(d), np.zeros(self.n_targets)

    def add(self, X: Any, Y: Matrix, weights: Matrix) -> NormalEquations:
        """Add rows, dense or sparse, and give itself."""
        keys = row_keys(self.seed, self.first + self.n_rows, X.shape[0], weights)
        kept = smallest(keys, self.held.size)
        rows = X[kept].toarray() if issparse(X) else np.array(X[kept])
        sample = Held(self.held.size, rows, Y[kept], weights[kept], keys[kept])
        self.held = self.held.merge(sample)
        for some in slices(X.shape[0], ROWS):
            self._add(X[some], Y[some], weights[some])
        return self

    def _add(self, X: Any, Y: Matrix, weights: Matrix) -> None:
        if issparse(X):
            X = X.astype(float)
            weighted = diags_array(weights) @ X
            self.gram += (X.T @ weighted).toarray()
            if self.origin.any():
                # an earlier block was dense: measure these rows from its origin too
                here = np.asarray(weighted.sum(axis=0)).ravel()
                total = weights.sum()
                self.gram -= np.outer(self.origin, here) + np.outer(here, self.origin)
                self.gram += total * np.outer(self.origin, self.origin)
                self.cross -= np.outer(self.origin, weights @ Y)
                self.sum_x -= total * self.origin
        else:
            # in double precision: small eigenvalues matter where lam is small
            X = X.astype(float) - self.origin
            self.gram += scatter(X * np.sqrt(weights)[:, None])
            weighted = X * weights[:, None]
        self.cross += weighted.T @ Y
        self.sum_x += np.asarray(weighted.sum(axis=0, dtype=float)).ravel()
        self.sum_y += weights @ Y
        self.weight += float(weights.sum())
        self.n_rows += X.shape[0]

    def copy(self) -> NormalEquations:
        """Give a copy that can be changed."""
        sums = (self.gram, self.cross, self.sum_x, self.sum_y)
        gram, cross, sum_x, sum_y = (one.copy() for one in sums)
        return replace(self, gram=gram, cross=cross, sum_x=sum_x, sum_y=sum_y)

    def merge(self, other: NormalEquations) -> NormalEquations:
        """Add what is known of other rows, measured from the same origin, and give itself."""
        self.gram += other.gram
        self.cross += other.cross
        self.sum_x += other.sum_x
        self.sum_y += other.sum_y
        self.weight += other.weight
        self.n_rows += other.n_rows
        self.held = self.held.merge(other.held)
        return self

    def centred(self) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """Give the covariances of features, and with targets, and the means of both."""
        mean, target = self.sum_x / self.weight, self.sum_y / self.weight
        gram = self.gram / self.weight - np.outer(mean, mean)
        cross = self.cross / self.weight - np.outer(mean, target)
        return gram, cross, mean + self.origin, target

    def coefficients(self, lam: float) -> tuple[Matrix, Matrix]:
        """Give the weights, (d, targets), and the intercept for one lam."""
        gram, cross, mean, target = self.centred()
        gram[np.diag_indices(len(gram))] += lam
        try:
            beta = solve(gram, cross, assume_a="pos", overwrite_a=True, check_finite=False)
        except LinAlgError:
            # rounding has made it indefinite
            return self.path().coefficients(lam)
        return beta, target - mean @ beta

    def path(self) -> PrimalPath:
        """Factor the centred scatter matrix, for any lam."""
        gram, cross, mean, target = self.centred()
        # what is left of equal features is rounding, and no eigenvalue
        noise = np.finfo(float).eps * len(gram) * (np.trace(gram) + mean @ mean)
        values, vectors = eigh(gram, driver="evd", overwrite_a=True, check_finite=False)
        values = np.where(values > noise, values, 0.0)
        return PrimalPath(values, vectors, vectors.T @ cross, mean, target, self.weight)


def scatter(X: NDArray) -> NDArray:
    """Give X'X; BLAS computes one triangle of it."""
    X = np.ascontiguousarray(X)
    upper = get_blas_funcs("syrk", (X,))(1.0, X.T)
    return np.triu(upper) + np.triu(upper, 1).T


@dataclass
class PrimalPath:
    """Solutions for every lam from the eigenvectors of the scatter matrix of the features."""

    values: Matrix
    vectors: Matrix
    cross: Matrix
    mean: Matrix
    target: Matrix
    weight: float

    @property
    def largest(self) -> float:
        return float(self.values[-1])

    def coefficients(self, lam: float) -> tuple[Matrix, Matrix]:
        """Give the weights, (d, targets), and the intercept."""
        beta = self.vectors @ (self.cross / (self.values + lam)[:, None])
        return beta, self.target - self.mean @ beta

    def left_out(self, X: Any, Y: Matrix, weights: Matrix, lams: Matrix) -> Matrix:
        """Give what is predicted at rows by all the others: (lams, n, targets)."""
        out = np.empty((len(lams), *Y.shape))
        filters = 1 / (self.values[:, None] + lams)
        solutions = np.einsum("dl,dt->dlt", filters, self.cross).reshape(len(self.values), -1)
        for some in slices(X.shape[0], 1024):
            along = X[some] @ self.vectors - self.mean @ self.vectors
            shares = weights[some] / self.weight
            leverage = shares[:, None] * (1 + along**2 @ filters)
            fitted = (along @ solutions).reshape(len(along), len(lams), -1) + self.target
            residuals = (Y[some, None] - fitted) / free(1 - leverage)[..., None]
            out[:, some] = (Y[some, None] - residuals).transpose(1, 0, 2)
        return out


@dataclass
class DualPath:
    """Solutions for every lam from the eigenvectors of the Gram matrix of the rows."""

    values: Matrix
    vectors: Matrix
    along: Matrix
    gram: Matrix
    Y: Matrix
    weights: Matrix

    @classmethod
    def of(cls, gram: Matrix, Y: Matrix, weights: Matrix) -> DualPath:
        """Factor the centred Gram matrix of weighted rows."""
        gram, roots = np.asarray(gram, dtype=float), np.sqrt(weights)
        unit = roots / np.linalg.norm(roots)
        weighted = gram * np.outer(roots, roots)
        rest = weighted - np.outer(unit, unit @ weighted)
        rest -= np.outer(rest @ unit, unit)
        rest = (rest + rest.T) / (2 * weights.sum())
        noise = np.finfo(float).eps * len(gram) * abs(np.trace(weighted)) / weights.sum()
        values, vectors = eigh(rest, driver="evd", overwrite_a=True, check_finite=False)
        values = np.where(values > noise, values, 0.0)
        targets = Y * roots[:, None]
        targets = targets - np.outer(unit, unit @ targets)
        return cls(values, vectors, vectors.T @ targets, gram, Y, weights)

    @property
    def largest(self) -> float:
        return float(self.values[-1])

    def coefficients(self, lam: float) -> tuple[Matrix, Matrix]:
        """Give the coefficients of the rows, (n, targets), and the intercept."""
        total = self.weights.sum()
        scaled = self.vectors @ (self.along / (self.values + lam)[:, None]) / total
        alpha = np.sqrt(self.weights)[:, None] * scaled
        return alpha, self.weights @ (self.Y - self.gram @ alpha) / total

    def left_out(self, lams: Matrix) -> Matrix:
        """Give what is predicted at each row by all the others: (lams, n, targets)."""
        roots = np.sqrt(self.weights)
        unit = roots / np.linalg.norm(roots)
        present = roots > 0
        out = np.empty((len(lams), *self.Y.shape))
        squared = self.vectors**2
        for i, lam in enumerate(lams):
            shrunk = lam / (self.values + lam)
            residuals = self.vectors @ (shrunk[:, None] * self.along)
            residuals /= free(squared @ shrunk - unit**2)[:, None]
            residuals[present] /= roots[present, None]
            out[i] = self.Y - residuals
        return out


def free(share: Matrix) -> Matrix:
    """Keep the share of a row that its own prediction leaves open away from zero."""
    return np.maximum(share, 1e-10)
