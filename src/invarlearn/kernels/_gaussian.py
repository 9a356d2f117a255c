"""A Gaussian kernel for many rows: in their own precision, and with little memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from invarlearn.transforms._threads import in_threads, slices

# Rows whose similarities to all others fit into a cache.
SIMILARITY_ROWS = 512


def similarity(X: NDArray, Y: NDArray, gamma: float) -> NDArray:
    """Give ``exp(-gamma |x - y|^2) + 1`` for all pairs.

    The one lets functions have a constant at next to no cost, so that far from all samples any
    class may win. In the precision of the rows, and with no more memory than the result: where rows
    are many, faster than :class:`invarlearn.kernels.RBF`, which works in double precision.
    """
    values = X @ Y.T
    values *= 2
    values -= (X**2).sum(axis=1)[:, None]
    values -= (Y**2).sum(axis=1)
    np.minimum(values, 0, out=values)
    values *= values.dtype.type(gamma)
    np.exp(values, out=values)
    values += 1
    return values


def lower_similarity(X: NDArray, gamma: float) -> NDArray:
    """Give the lower triangle of ``similarity(X, X, gamma)``, in Fortran's order.

    Above the diagonal there is anything: half the work, and what a Cholesky factorisation reads.
    """
    out = np.empty((len(X), len(X)), dtype=X.dtype, order="F")

    def fill(some: slice) -> None:
        out.T[some, some.start :] = similarity(X[some], X[some.start :], gamma)

    in_threads(fill, slices(len(X), SIMILARITY_ROWS))
    return out


def median_square(F: NDArray, most: int = 1000) -> float:
    """Give the median squared distance of rows; one if they are all alike."""
    F = F[:most].astype(float)
    squares = (F**2).sum(axis=1)
    away = np.maximum(squares[:, None] + squares - 2 * F @ F.T, 0)[np.triu_indices(len(F), 1)]
    middle = float(np.median(away)) if len(away) else 0.0
    middle = middle or float(away.mean()) if len(away) else 0.0
    return middle if middle > 0 else 1.0
