"""Normal equations of least squares, accumulated over blocks of rows.

The sums, and a random sample of the rows, take memory that does not grow with the number of rows.
Sums over different rows can be merged, so that blocks can be summed on a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import get_blas_funcs
from scipy.sparse import diags_array, issparse

from invarlearn._utils.parallel import slices
from invarlearn.solvers.ridge import CentredMoments

Matrix = NDArray[np.floating]

# Number of rows that are converted to double precision at a time.
BLOCK_ROWS = 4096


def sampling_keys(
    seed: int, first: int, n: int, weights: Matrix | None = None
) -> NDArray[np.uint64]:
    """Return a pseudo-random number for each of n rows: (n,).

    The number is the splitmix64 hash of the seed and of the position of the row among all rows. It
    does not depend on the division into blocks.

    Parameters
    ----------
    seed : int
    first : int
        Position of the first of these rows among all rows.
    n : int
    weights : array of shape (n,), optional
        Rows of weight zero get the largest key.
    """
    z = np.arange(first + 1, first + n + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = (z + np.uint64(seed) * np.uint64(2**32)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return z if weights is None else np.where(weights > 0, z, np.uint64(2**64 - 1))


def smallest_keys(keys: NDArray[np.uint64], size: int) -> NDArray[np.intp]:
    """Return the indices of the ``size`` smallest keys, (n,), in ascending order of the indices."""
    return np.sort(np.argsort(keys, kind="stable")[:size])


@dataclass(frozen=True)
class HeldOutRows:
    """Uniform random sample of the rows, on which lam is chosen: the rows with the smallest keys.

    Attributes
    ----------
    size : int
        Number of rows to keep.
    X, Y, weights : arrays of shape (n, n_features), (n, targets) and (n,)
        The rows; None before the first block.
    keys : array of shape (n,)
        As returned by :func:`sampling_keys`.
    """

    size: int
    X: Any = None
    Y: Any = None
    weights: Any = None
    keys: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))

    def merge(self, other: HeldOutRows) -> HeldOutRows:
        """Return the sample of the rows of both samples."""
        if self.X is None or other.X is None:
            return other if self.X is None else self
        keys = np.concatenate([self.keys, other.keys])
        kept = smallest_keys(keys, self.size)
        X, Y, weights = (
            np.concatenate([a, b])[kept]
            for a, b in ((self.X, other.X), (self.Y, other.Y), (self.weights, other.weights))
        )
        return HeldOutRows(self.size, X, Y, weights, keys[kept])


@dataclass
class NormalEquations:
    """Weighted sums over rows, from which least squares is solved.

    Parameters
    ----------
    origin : array of shape (n_features,)
        A point near the mean of the rows. It is subtracted from the rows x_i below, because the
        sums of rows far from zero lose digits.
    n_targets : int
    held_out : HeldOutRows
        Random sample of the rows, on which lam is chosen.
    seed : int
        Seed of the sample.
    first : int
        Position of the first row among all rows.

    Attributes
    ----------
    gram : array of shape (n_features, n_features)
        ``sum_i w_i x_i x_i'``
    cross : array of shape (n_features, n_targets)
        ``sum_i w_i x_i y_i'``
    sum_x, sum_y : arrays of shape (n_features,) and (n_targets,)
        ``sum_i w_i x_i`` and ``sum_i w_i y_i``
    weight : float
        ``sum_i w_i``
    n_rows : int
    """

    origin: NDArray
    n_targets: int
    held_out: HeldOutRows
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
        """Add rows in place; return self.

        Parameters
        ----------
        X : array or sparse array of shape (n, n_features)
        Y : array of shape (n, n_targets)
        weights : array of shape (n,)
        """
        keys = sampling_keys(self.seed, self.first + self.n_rows, X.shape[0], weights)
        kept = smallest_keys(keys, self.held_out.size)
        rows = X[kept].toarray() if issparse(X) else np.array(X[kept])
        sample = HeldOutRows(self.held_out.size, rows, Y[kept], weights[kept], keys[kept])
        self.held_out = self.held_out.merge(sample)
        for block in slices(X.shape[0], BLOCK_ROWS):
            self._add_block(X[block], Y[block], weights[block])
        return self

    def _add_block(self, X: Any, Y: Matrix, weights: Matrix) -> None:
        if issparse(X):
            X = X.astype(float)
            weighted = diags_array(weights) @ X
            self.gram += (X.T @ weighted).toarray()
            if self.origin.any():
                # the origin comes from an earlier dense block: subtract it here too
                sum_x = np.asarray(weighted.sum(axis=0)).ravel()
                total = weights.sum()
                self.gram -= np.outer(self.origin, sum_x) + np.outer(sum_x, self.origin)
                self.gram += total * np.outer(self.origin, self.origin)
                self.cross -= np.outer(self.origin, weights @ Y)
                self.sum_x -= total * self.origin
        else:
            # in double precision, because small eigenvalues matter if lam is small
            X = X.astype(float) - self.origin
            self.gram += scatter(X * np.sqrt(weights)[:, None])
            weighted = X * weights[:, None]
        self.cross += weighted.T @ Y
        self.sum_x += np.asarray(weighted.sum(axis=0, dtype=float)).ravel()
        self.sum_y += weights @ Y
        self.weight += float(weights.sum())
        self.n_rows += X.shape[0]

    def copy(self) -> NormalEquations:
        """Return a copy that does not share its sums."""
        sums = {name: getattr(self, name).copy() for name in ("gram", "cross", "sum_x", "sum_y")}
        return replace(self, **sums)

    def merge(self, other: NormalEquations) -> NormalEquations:
        """Add the sums over other rows, with the same origin, in place; return self."""
        self.gram += other.gram
        self.cross += other.cross
        self.sum_x += other.sum_x
        self.sum_y += other.sum_y
        self.weight += other.weight
        self.n_rows += other.n_rows
        self.held_out = self.held_out.merge(other.held_out)
        return self

    def moments(self) -> CentredMoments:
        """Return the weighted means and covariances of features and targets."""
        mean, target = self.sum_x / self.weight, self.sum_y / self.weight
        gram = self.gram / self.weight - np.outer(mean, mean)
        cross = self.cross / self.weight - np.outer(mean, target)
        return CentredMoments(gram, cross, mean + self.origin, target, self.weight)


def row_origin(X: Any) -> NDArray[np.float64]:
    """Return a point near the mean of dense rows, or zero for sparse ones: (n_features,)."""
    if not isinstance(X, np.ndarray):
        return np.zeros(X.shape[1])
    return X[:1024].mean(axis=0, dtype=float)


def scatter(X: NDArray) -> NDArray:
    """Return ``X' X`` for X of shape (n, d): (d, d)."""
    X = np.ascontiguousarray(X)
    # syrk computes one triangle only
    upper = get_blas_funcs("syrk", (X,))(1.0, X.T)
    return np.triu(upper) + np.triu(upper, 1).T
