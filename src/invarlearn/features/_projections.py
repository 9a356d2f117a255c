"""Projections of rows on the orbits of templates, pooled block by block."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import get_config

from invarlearn.transforms._actions import Action
from invarlearn.transforms._checks import check_memory
from invarlearn.transforms._threads import in_threads, slices

# Projections exist in blocks of about this size, a block for each thread.
BLOCK_BYTES = 4 * 2**20

# Orbits of templates are made for so many rows at a time, where they cannot be kept.
ROWS = 8192


class TemplateOrbits:
    """Templates and what the family makes of them: (m * k, d), in blocks of whole orbits.

    Orbits are kept if they fit into a quarter of scikit-learn's ``working_memory``; they are not
    pickled.

    Parameters
    ----------
    templates : array of shape (m, d)
    action : Action of k elements
    """

    def __init__(self, templates: NDArray, action: Action):
        self.templates = templates
        self.action = action
        self._kept: dict[tuple[Any, ...], NDArray] = {}
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"templates": self.templates, "action": self.action}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def blocks(self, dtype: Any) -> Iterator[tuple[slice, NDArray]]:
        """Give some templates and their orbits at a time."""
        (m, d), k = self.templates.shape, len(self.action)
        one = k * d * np.dtype(dtype).itemsize
        limit = get_config()["working_memory"] * 2**20 / 4
        check_memory((k, d), dtype, "the orbit of one template", "use a smaller family")
        for some in slices(m, min(16 * BLOCK_BYTES, limit) // one):
            yield some, self._orbits(some, dtype, keep=m * one <= limit)

    def _orbits(self, some: slice, dtype: Any, keep: bool) -> NDArray:
        key = (some.start, some.stop, np.dtype(dtype).str)
        with self._lock:
            if key not in self._kept:
                templates = self.templates[some].astype(dtype)
                orbits = self.action.act(templates, 0, len(self.action))
                orbits = np.ascontiguousarray(orbits.reshape(-1, templates.shape[1]))
                if not keep:
                    return orbits
                self._kept[key] = orbits
            return self._kept[key]


def pooled(
    X: Any,
    orbits: TemplateOrbits,
    thresholds: NDArray,
    pool: Callable[..., None],
    out: NDArray,
    scale: NDArray | float,
    prepare: Callable[[NDArray], NDArray],
) -> None:
    """Fill ``out``, (n, m, width), with pooled projections times ``scale``.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    orbits : TemplateOrbits
    thresholds : array of shape (m, bins)
    pool : function of projections, k, thresholds and a block to fill
    out : array of shape (n, m, width)
    scale : float or array of shape (width,)
    prepare : function of rows, such as a normalisation
    """
    dtype = thresholds.dtype
    k, width = len(orbits.action), out.shape[2]
    # sparse rows become dense here: no more of them at a time than a few blocks hold
    most = min(ROWS, max(1, 16 * BLOCK_BYTES // (X.shape[1] * dtype.itemsize)))
    for rows in slices(X.shape[0], most):
        x = X[rows].toarray() if issparse(X) else X[rows]
        x = prepare(np.ascontiguousarray(x, dtype=dtype))
        for some, known in orbits.blocks(dtype):
            _pool_block(x, known, k, thresholds[some], pool, out[rows, some], scale, width)


def _pool_block(
    x: NDArray,
    orbits: NDArray,
    k: int,
    thresholds: NDArray,
    pool: Callable[..., None],
    out: NDArray,
    scale: NDArray | float,
    width: int,
) -> None:
    """Pool the projections of some rows on the orbits of some templates, in threads."""
    m = len(thresholds)
    # many rows by few orbits: what BLAS rearranges of the orbits serves all rows at once
    tall = min(len(x), 1024)
    most = max(k, width) * x.itemsize
    wide = min(m, max(1, BLOCK_BYTES // (tall * most)))
    tall = min(tall, max(1, BLOCK_BYTES // (wide * most)))
    buffers = threading.local()

    def some(columns: slice) -> None:
        if not hasattr(buffers, "fits"):
            buffers.fits = np.empty((tall, wide * k), dtype=x.dtype)
            buffers.shares = np.empty((tall, wide, width), dtype=x.dtype)
        known = orbits[columns.start * k : columns.stop * k]
        for rows in slices(len(x), tall):
            n, n_columns = rows.stop - rows.start, columns.stop - columns.start
            fits = buffers.fits[:n, : len(known)]
            np.matmul(x[rows], known.T, out=fits)
            shares = buffers.shares[:n, :n_columns]
            pool(fits, k, thresholds[columns], shares)
            shares *= scale
            out[rows, columns] = shares

    in_threads(some, slices(m, wide))
