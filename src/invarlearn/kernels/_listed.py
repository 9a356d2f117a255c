"""The engine for any listed family: matrix products with whole orbits, then a compiled pooling."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import get_config

from invarlearn.kernels.base import RBF, DotKernel, Rows
from invarlearn.transforms._checks import check_memory
from invarlearn.transforms._threads import in_threads, slices

if TYPE_CHECKING:
    from invarlearn.kernels.orbit import OrbitKernel

# A transformation that leaves less than this share of the norm of a row leaves nothing, where rows
# are normalised: its direction is mostly rounding.
NORM_FLOOR = 0.01

# Similarities are computed in blocks of about this size, orbits in larger ones.
BLOCK_BYTES = 4 * 2**20


@dataclass(frozen=True)
class PreparedOrbits:
    """Orbits of some rows as the base kernel sees them: (rows * size, features).

    For RBF kernels, which look for the largest ``x.t - |t|^2 / 2``, ``halves`` has half the
    squared norm of each, None if all of them are one half; and rows are measured from an origin
    near them, for precision.
    """

    rows: Rows
    size: int
    halves: Rows | None = None
    origin: Rows | None = None

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes

    def __getitem__(self, which: slice) -> PreparedOrbits:
        """Give the orbits of some of the rows."""
        part = slice(which.start * self.size, which.stop * self.size)
        halves = None if self.halves is None else self.halves[part]
        return PreparedOrbits(self.rows[part], self.size, halves, self.origin)


class Listed:
    """Pools similarities to the orbits of rows, all elements of the family one by one.

    Parameters
    ----------
    kernel : OrbitKernel
    n_features : int
    """

    # orbits are worth their cost from so many rows on the other side
    row_chunk = 8192

    def __init__(self, kernel: OrbitKernel, n_features: int):
        self.kernel = kernel
        self.base: Any = kernel._base()
        self.action = kernel._family()._listed(n_features)
        self.n_features = n_features
        # what the features make of a row, if they tell
        self.width = max(n_features, getattr(kernel.features, "_n_features_out", 0))

    def column_chunk(self, itemsize: int) -> int:
        """Say how many orbits to hold at a time."""
        size = len(self.action)
        one = (1, size, self.width)
        check_memory(one, f"f{itemsize}", "the orbit of one row", "use a smaller family")
        limit = min(16 * BLOCK_BYTES, get_config()["working_memory"] * 2**20 / 4)
        return max(1, int(limit // (size * self.width * itemsize)))

    def prepare(self, Y: Rows) -> PreparedOrbits:
        """Give the orbits of rows, to be compared with others."""
        size = len(self.action)
        orbit = self.action.act(Y, 0, size).reshape(-1, self.n_features)
        rows = self.kernel._represented(orbit)
        if self.kernel.normalize:
            squares = normalized(rows, size)
        if self.kernel.pooling != "max" or not isinstance(self.base, RBF):
            return PreparedOrbits(rows, size)
        if self.kernel.normalize:
            whole = squares.min() > 0  # then all have norm one
            return PreparedOrbits(rows, size, None if whole else squares / 2)
        origin = rows.mean(axis=0, dtype=float).astype(rows.dtype)
        rows -= origin
        return PreparedOrbits(rows, size, squares_of(rows) / 2, origin)

    def pool(self, X: Rows, orbits: PreparedOrbits) -> Rows:
        """Pool k(x, Ty) over T, for the rows y whose orbits these are: (n, m)."""
        x = self.kernel._represented(X, copied=self.kernel.normalize)
        if self.kernel.normalize:
            normalized(x, 1)
        if orbits.origin is not None:
            x = x - orbits.origin
        k, m = orbits.size, len(orbits.rows) // orbits.size
        out = np.empty((len(x), m), dtype=X.dtype)
        # many rows by few orbits: what BLAS rearranges of the orbits serves all rows at once
        tall = min(len(x), 1024)
        wide = min(m, max(1, BLOCK_BYTES // (tall * k * X.itemsize)))
        tall = min(tall, max(1, BLOCK_BYTES // (wide * k * X.itemsize)))
        # one buffer a thread: fresh memory costs about as much as filling it
        buffers = threading.local()

        def some(columns: slice) -> None:
            if not hasattr(buffers, "fits"):
                buffers.fits = np.empty((tall, wide * k), dtype=X.dtype)
            for rows in slices(len(x), tall):
                part = orbits[columns]
                fits = buffers.fits[: rows.stop - rows.start, : len(part.rows)]
                self._pool_block(x[rows], part, fits, out[rows, columns])

        in_threads(some, slices(m, wide))
        return out

    def _pool_block(self, x: Rows, orbits: PreparedOrbits, fits: Rows, out: Rows) -> None:
        from invarlearn.kernels._pooling import pool_max, pool_mean, pool_softmax

        base, pooling, k = self.base, self.kernel.pooling, orbits.size
        if pooling == "max" and isinstance(base, DotKernel):
            np.matmul(x, orbits.rows.T, out=fits)
            pool_max(fits, k, out)
            out[:] = base.profile(out, 0)
        elif pooling == "max" and isinstance(base, RBF):
            self._nearest(x, orbits, fits, out)
        else:
            fits[:] = base(x, orbits.rows)
            if pooling == "max":
                pool_max(fits, k, out)
            elif pooling == "mean":
                pool_mean(fits, k, out)
            else:
                pool_softmax(fits, k, self.kernel._sharpness(), out)

    def _nearest(self, x: Rows, orbits: PreparedOrbits, fits: Rows, out: Rows) -> None:
        """Give the Gaussian of the distance to the nearest element of each orbit."""
        from invarlearn.kernels._pooling import pool_max

        squared = np.einsum("nd,nd->n", x, x)[:, None]
        np.matmul(x, orbits.rows.T, out=fits)
        half = 0.5
        if orbits.halves is not None:
            fits -= orbits.halves
            half = 0.0
        pool_max(fits, orbits.size, out)
        out[:] = self.base.profile(np.maximum(squared + 2 * (half - out), 0), 0)


def squares_of(rows: Rows) -> Rows:
    """Give the squared norms of rows: (n,)."""
    from invarlearn.kernels._pooling import square_norms

    out = np.empty(len(rows), dtype=rows.dtype)
    in_threads(lambda part: square_norms(rows[part], out[part]), slices(len(rows), 2048))
    return out


def normalized(rows: Rows, size: int) -> Rows:
    """Divide the rows of orbits by their norms, in place; give their squared norms, zero or one.

    Rows with less than ``NORM_FLOOR`` of the norm of the first of their orbit become zero.
    """
    from invarlearn.kernels._pooling import normalize_rows

    squares = squares_of(rows)
    least = np.repeat(squares[::size], size) * squares.dtype.type(NORM_FLOOR**2)
    in_threads(
        lambda part: normalize_rows(rows[part], squares[part], least[part]),
        slices(len(rows), 2048),
    )
    return squares
