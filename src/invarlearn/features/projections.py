"""Projections of rows on the orbits of templates, pooled block by block."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import get_config

from invarlearn._utils.parallel import in_threads, slices
from invarlearn._utils.validation import check_memory
from invarlearn.features.pooling import PROJECTION_POOLINGS
from invarlearn.features.templates import unit_norm_rows
from invarlearn.transforms.actions import Action

# Projections are computed in blocks of about this size, one block for each thread.
BLOCK_BYTES = 4 * 2**20


class TemplateOrbits:
    """The orbits of templates: g_i t_j for all elements i and templates j.

    Orbits are cached if they fit into a quarter of scikit-learn's ``working_memory``; the cache is
    not pickled.

    Parameters
    ----------
    templates : array of shape (m, n_features)
    action : Action
        Action of the k elements.
    """

    def __init__(self, templates: NDArray, action: Action):
        self.templates = templates
        self.action = action
        self._cache: dict[tuple[Any, ...], NDArray] = {}
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"templates": self.templates, "action": self.action}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @property
    def is_cached(self) -> bool:
        """Whether any block of orbits is cached."""
        return bool(self._cache)

    def blocks(self, dtype: Any) -> Iterator[tuple[slice, NDArray]]:
        """Yield blocks of templates with their orbits.

        Parameters
        ----------
        dtype : dtype
            Precision of the orbits.

        Yields
        ------
        templates : slice
            Slice of the templates in the block.
        orbits : array of shape (n_templates * k, n_features)
            Orbits of these templates, one after the other.
        """
        (m, d), k = self.templates.shape, len(self.action)
        orbit_bytes = k * d * np.dtype(dtype).itemsize
        limit = get_config()["working_memory"] * 2**20 / 4
        check_memory((k, d), dtype, "the orbit of one template", "use a smaller family")
        for block in slices(m, min(16 * BLOCK_BYTES, limit) // orbit_bytes):
            yield block, self._orbits(block, dtype, cache=m * orbit_bytes <= limit)

    def _orbits(self, block: slice, dtype: Any, cache: bool) -> NDArray:
        key = (block.start, block.stop, np.dtype(dtype).str)
        with self._lock:
            if key not in self._cache:
                templates = self.templates[block].astype(dtype)
                orbits = self.action.act(templates, 0, len(self.action))
                orbits = np.ascontiguousarray(orbits.reshape(-1, templates.shape[1]))
                if not cache:
                    return orbits
                self._cache[key] = orbits
            return self._cache[key]


@dataclass(frozen=True)
class PooledProjections:
    """The map from rows to pooled projections on the orbits of templates.

    Feature b of template j is ``scale * pool_b(<x, g_1 t_j>, ..., <x, g_k t_j>)``. With
    ``normalize``, x is divided by its norm first.

    Attributes
    ----------
    orbits : TemplateOrbits
        Orbits of m templates under k elements.
    thresholds : array of shape (m, n_thresholds)
        Thresholds, whose precision is that of the computation. The poolings "moments" and "max"
        have none.
    placement : {"quantile", "uniform", "midpoint"}
        Placement of the thresholds.
    pooling : str
        Key of :data:`invarlearn.features.pooling.PROJECTION_POOLINGS`.
    n_values : int
        Number of features of a template.
    scale : float
        Factor of all features.
    normalize : bool
        Whether rows are divided by their norms.
    """

    orbits: TemplateOrbits
    thresholds: NDArray
    placement: str
    pooling: str
    n_values: int
    scale: float
    normalize: bool

    @property
    def n_features_out(self) -> int:
        """Number of features of all templates."""
        return len(self.thresholds) * self.n_values

    def prepare(self, rows: NDArray) -> NDArray:
        """Return rows before the projection: finite, and of norm one with ``normalize``."""
        return prepare_rows(rows, self.normalize)

    def transform(self, X: Any, out: NDArray, max_rows: int = 8192) -> None:
        """Write the features of rows to ``out``.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, n_features)
        out : contiguous array of shape (n, n_features_out)
        max_rows : int, default=8192
            Largest number of rows of a block. Orbits that are too large for the cache are computed
            again for each block.
        """
        dtype = self.thresholds.dtype
        features = out.reshape(len(out), len(self.thresholds), self.n_values)
        # sparse rows are converted to dense rows in blocks of limited size
        n_rows = min(max_rows, max(1, 16 * BLOCK_BYTES // (X.shape[1] * dtype.itemsize)))
        for rows in slices(X.shape[0], n_rows):
            x = X[rows].toarray() if issparse(X) else X[rows]
            x = self.prepare(np.ascontiguousarray(x, dtype=dtype))
            for block, orbits in self.orbits.blocks(dtype):
                self._pool_block(x, orbits, self.thresholds[block], features[rows, block])

    def _pool_block(self, x: NDArray, orbits: NDArray, thresholds: NDArray, out: NDArray) -> None:
        """Pool the projections of a block of rows on the orbits of a block of templates."""
        m, k = len(thresholds), len(self.orbits.action)
        pool: Callable[..., None] = PROJECTION_POOLINGS[self.pooling].function()
        scale = thresholds.dtype.type(self.scale)
        # many rows by few orbits, since BLAS packs the orbits once for all rows
        n_block_rows = min(len(x), 1024)
        template_bytes = max(k, self.n_values) * x.itemsize
        n_block_templates = min(m, max(1, BLOCK_BYTES // (n_block_rows * template_bytes)))
        n_block_rows = min(
            n_block_rows, max(1, BLOCK_BYTES // (n_block_templates * template_bytes))
        )
        buffers = threading.local()

        def pool_templates(templates: slice) -> None:
            if not hasattr(buffers, "projections"):
                buffers.projections = np.empty((n_block_rows, n_block_templates * k), dtype=x.dtype)
                buffers.pooled = np.empty(
                    (n_block_rows, n_block_templates, self.n_values), dtype=x.dtype
                )
            elements = orbits[templates.start * k : templates.stop * k]
            for rows in slices(len(x), n_block_rows):
                n, n_templates = rows.stop - rows.start, templates.stop - templates.start
                projections = buffers.projections[:n, : len(elements)]
                np.matmul(x[rows], elements.T, out=projections)
                pooled = buffers.pooled[:n, :n_templates]
                pool(projections, k, thresholds[templates], pooled)
                pooled *= scale
                out[rows, templates] = pooled

        in_threads(pool_templates, slices(m, n_block_templates))


def prepare_rows(rows: NDArray, normalize: bool) -> NDArray:
    """Return rows, divided by their norms if ``normalize``; raise ValueError unless finite."""
    if not np.isfinite(rows).all():
        raise ValueError(
            f"rows are too large for {rows.dtype}: scale them down, or choose dtype='float64'"
        )
    return unit_norm_rows(rows) if normalize else rows
