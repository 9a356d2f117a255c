"""The Gaussian kernel plus one, computed in the precision of the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.parallel import in_threads, slices
from invarlearn.kernels.radial import squared_distances

# Number of rows computed at a time, so that their values stay in the processor's cache.
BLOCK_ROWS = 512


def rbf_plus_one(X: NDArray, Y: NDArray, gamma: float) -> NDArray:
    """Return ``exp(-gamma |x - y|^2) + 1`` for all pairs, in the precision of the rows.

    Adding one to the kernel adds a constant to its functions, so that they do not tend to zero far
    from all samples. No memory is used beyond the result. :class:`invarlearn.kernels.RBF` computes
    in double precision, and is slower for many rows. :func:`sklearn.metrics.pairwise.rbf_kernel`
    is slower too (``python benchmarks/run.py libraries``).

    Parameters
    ----------
    X : array of shape (n, d)
    Y : array of shape (m, d)
    gamma : float

    Returns
    -------
    array of shape (n, m)
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


def lower_rbf_plus_one(X: NDArray, gamma: float, block_rows: int = BLOCK_ROWS) -> NDArray:
    """Return the lower triangle of ``rbf_plus_one(X, X, gamma)``, in Fortran order.

    Values above the diagonal are arbitrary. The triangle takes half of the time, and a Cholesky
    factorisation reads no more.

    Parameters
    ----------
    X : array of shape (n, d)
    gamma : float
    block_rows : int
        Number of rows computed at a time.

    Returns
    -------
    array of shape (n, n)
    """
    out = np.empty((len(X), len(X)), dtype=X.dtype, order="F")

    def fill(rows: slice) -> None:
        out.T[rows, rows.start :] = rbf_plus_one(X[rows], X[rows.start :], gamma)

    in_threads(fill, slices(len(X), block_rows))
    return out


def median_square(F: NDArray, max_rows: int = 1000) -> float:
    """Return the median squared distance of two rows.

    If the median is zero, since most rows are equal, the mean is returned. If all rows are equal,
    1 is returned.

    Parameters
    ----------
    F : array of shape (n, d)
    max_rows : int
        Only the first ``max_rows`` rows are used.
    """
    F = F[:max_rows].astype(float)
    distances = squared_distances(F, F)[np.triu_indices(len(F), 1)]
    middle = float(np.median(distances)) if len(distances) else 0.0
    middle = middle or float(distances.mean()) if len(distances) else 0.0
    return middle if middle > 0 else 1.0
