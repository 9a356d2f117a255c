"""The engine for all listed families: matrix products with orbits, then a compiled pooling."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn import get_config

from invarlearn._utils.parallel import in_threads, slices
from invarlearn._utils.validation import check_memory
from invarlearn.kernels.base import Rows
from invarlearn.kernels.orbit.engine import OrbitSettings, normalize_orbits, squared_norms

# Similarities are computed in blocks of about this size, orbits in blocks of up to 16 times it.
BLOCK_BYTES = 4 * 2**20


@dataclass(frozen=True)
class PreparedOrbits:
    """Orbits of rows, as features for the base kernel.

    Attributes
    ----------
    rows : array of shape (m * size, d)
        Features t of the transformed rows.
    size : int
        Number of elements of an orbit.
    halves : array of shape (m * size,), optional
        ``|t|^2 / 2`` of each row, for kernels whose best fit has the largest
        ``<x, t> - |t|^2 / 2``. None for other kernels, or if all norms are one.
    origin : array of shape (d,), optional
        Point that is subtracted from the rows, so that distances are precise.
    """

    rows: Rows
    size: int
    halves: Rows | None = None
    origin: Rows | None = None

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes

    def __getitem__(self, block: slice) -> PreparedOrbits:
        """Return the orbits of a block of the m rows."""
        part = slice(block.start * self.size, block.stop * self.size)
        halves = None if self.halves is None else self.halves[part]
        return PreparedOrbits(self.rows[part], self.size, halves, self.origin)


class ListedEngine:
    """Engine that applies every element of the family: an :class:`~.engine.Engine`.

    Parameters
    ----------
    settings : OrbitSettings
    example : array of shape (1, n_features)
        One of the rows whose orbits are compared.
    """

    # with this number of rows, most of the time is for comparisons, not for computing orbits
    row_chunk = 8192

    def __init__(self, settings: OrbitSettings, example: Rows):
        self.settings = settings
        self.base: Any = settings.base
        self.example = example
        self.n_features = example.shape[1]
        self.action = settings.family.elements(self.n_features)
        # whether the best fit is chosen by inner products or distances, before the profile
        self.by_fits = settings.pooler.takes_best and self.base.best_at_largest_inner_product

    @cached_property
    def width(self) -> int:
        """Number of features of a transformed row, before or after ``represent``."""
        return max(self.n_features, self.settings.represent(self.example).shape[1])

    def column_chunk(self, itemsize: int) -> int:
        """Return the number of orbits to prepare at a time."""
        size = len(self.action)
        orbit_shape = (1, size, self.width)
        check_memory(orbit_shape, f"f{itemsize}", "the orbit of one row", "use a smaller family")
        limit = min(16 * BLOCK_BYTES, get_config()["working_memory"] * 2**20 / 4)
        return max(1, int(limit // (size * self.width * itemsize)))

    def prepare(self, Y: Rows) -> PreparedOrbits:
        """Compute the orbits of rows, of shape (m, n_features)."""
        size = len(self.action)
        orbit = self.action.act(Y, 0, size).reshape(-1, self.n_features)
        rows = self.settings.represent(orbit)
        if self.settings.normalize:
            squares = normalize_orbits(rows, size, self.settings.norm_floor)
        if not (self.by_fits and self.base.uses_norms):
            return PreparedOrbits(rows, size)
        if self.settings.normalize:
            all_norms_one = squares.min() > 0
            return PreparedOrbits(rows, size, None if all_norms_one else squares / 2)
        origin = rows.mean(axis=0, dtype=float).astype(rows.dtype)
        rows -= origin
        return PreparedOrbits(rows, size, squared_norms(rows) / 2, origin)

    def pool(self, X: Rows, prepared: PreparedOrbits) -> Rows:
        """Compute the pooled similarities of rows to prepared orbits: (n, m)."""
        x = self.settings.represent(X, copy=self.settings.normalize)
        if self.settings.normalize:
            normalize_orbits(x, 1, self.settings.norm_floor)
        if prepared.origin is not None:
            x = x - prepared.origin
        k, m = prepared.size, len(prepared.rows) // prepared.size
        out = np.empty((len(x), m), dtype=X.dtype)
        # many rows by few orbits, since BLAS packs the orbits once for all rows
        n_block_rows = min(len(x), 1024)
        n_block_orbits = min(m, max(1, BLOCK_BYTES // (n_block_rows * k * X.itemsize)))
        n_block_rows = min(n_block_rows, max(1, BLOCK_BYTES // (n_block_orbits * k * X.itemsize)))
        # one buffer per thread, since allocating memory takes about as long as filling it
        buffers = threading.local()

        def pool_columns(columns: slice) -> None:
            if not hasattr(buffers, "fits"):
                buffers.fits = np.empty((n_block_rows, n_block_orbits * k), dtype=X.dtype)
            for rows in slices(len(x), n_block_rows):
                part = prepared[columns]
                fits = buffers.fits[: rows.stop - rows.start, : len(part.rows)]
                self._pool_block(x[rows], part, fits, out[rows, columns])

        in_threads(pool_columns, slices(m, n_block_orbits))
        return out

    def _pool_block(self, x: Rows, orbits: PreparedOrbits, fits: Rows, out: Rows) -> None:
        pool, sharpness = self.settings.pooler.pool, self.settings.sharpness
        if not self.by_fits:
            fits[:] = self.base(x, orbits.rows)
            pool(fits, orbits.size, sharpness, out)
            return
        np.matmul(x, orbits.rows.T, out=fits)
        if orbits.halves is not None:
            fits -= orbits.halves
        pool(fits, orbits.size, sharpness, out)
        if self.base.uses_norms and orbits.halves is None:
            out -= out.dtype.type(0.5)
        squares = np.einsum("nd,nd->n", x, x)[:, None]
        out[:] = self.base.from_fits(out, squares)
