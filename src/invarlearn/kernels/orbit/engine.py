"""The settings, the interface and the cache of engines of orbit kernels."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.exceptions import NotFittedError

from invarlearn._utils.parallel import in_threads, slices
from invarlearn.kernels.base import Kernel, Rows
from invarlearn.kernels.pooling import POOLINGS, OrbitPooling
from invarlearn.transforms import Family


@dataclass(frozen=True)
class OrbitSettings:
    """The validated parameters of an :class:`~invarlearn.kernels.OrbitKernel`.

    Attributes
    ----------
    base : Kernel
    family : Family
    pooling : str
        A key of ``POOLINGS``.
    normalize : bool
    sharpness : float
    features : transformer or None
    norm_floor : float
        With ``normalize``, transformed rows whose norm is at most this fraction of the norm of the
        untransformed row become zero, since their direction is mostly rounding errors.
    """

    base: Kernel
    family: Family
    pooling: str = "max"
    normalize: bool = False
    sharpness: float = 10.0
    features: Any = None
    norm_floor: float = 0.01

    @property
    def pooler(self) -> OrbitPooling:
        """The entry of ``POOLINGS``, looked up by name so that settings can be pickled."""
        return POOLINGS[self.pooling]

    def represent(self, X: Rows, copy: bool = False) -> Rows:
        """Return the features of rows: (n, n_features_out).

        Without ``features`` these are the rows themselves, copied with ``copy=True``. Features are
        always a new array.
        """
        if self.features is None:
            return X.copy() if copy else X
        try:
            represented = self.features.transform(X)
        except NotFittedError as error:
            raise NotFittedError(
                f"features={self.features!r} of the kernel is not fitted: fit it first, or pass it "
                "as features of OrbitSVC, which fits it. If scikit-learn clones the kernel, wrap "
                "the fitted features in sklearn.frozen.FrozenEstimator"
            ) from error
        if issparse(represented):
            raise TypeError(
                f"features={self.features!r} returns a sparse matrix: it must return a dense array"
            )
        return np.array(represented, dtype=X.dtype, order="C")


class Prepared(Protocol):
    """The orbits of rows, in the form in which an engine compares other rows with them."""

    @property
    def nbytes(self) -> int:
        """Size of the arrays in bytes."""


class Engine(Protocol):
    """Interface of engines, which pool ``k(x, Ty)`` over all elements T of a family.

    Attributes
    ----------
    row_chunk : int
        Largest number of rows x to pass to one call of ``pool``.
    """

    row_chunk: int

    def column_chunk(self, itemsize: int) -> int:
        """Return the number of rows y to prepare at a time, for numbers of ``itemsize`` bytes."""

    def prepare(self, Y: Rows) -> Any:
        """Prepare the orbits of rows Y, of shape (m, n_features), for :meth:`pool`."""

    def pool(self, X: Rows, prepared: Any) -> Rows:
        """Compute the pooled similarities of rows X to prepared orbits: (n, m)."""


class OrbitCache:
    """A cache of the prepared orbits of blocks of rows, of up to a quarter of ``working_memory``.

    Blocks are identified by their row numbers, so that a cache serves one array of rows only.
    """

    def __init__(self) -> None:
        self._prepared: dict[tuple[Any, ...], Prepared] = {}
        self._lock = Lock()
        self._first = 0

    def __len__(self) -> int:
        return len(self._prepared)

    def part(self, first: int) -> OrbitCache:
        """Return a view of the cache whose row 0 is row ``first`` of this cache."""
        view = copy(self)
        view._first = first
        return view

    def get(self, rows: slice, dtype: Any) -> Prepared | None:
        """Return the prepared orbits of a block of rows, or None if they are not cached."""
        return self._prepared.get(self._key(rows, dtype))

    def put(self, rows: slice, dtype: Any, prepared: Prepared) -> None:
        """Cache the prepared orbits of a block of rows if they fit."""
        limit = get_config()["working_memory"] * 2**20 / 4
        with self._lock:
            if sum(cached.nbytes for cached in self._prepared.values()) + prepared.nbytes <= limit:
                self._prepared[self._key(rows, dtype)] = prepared

    def _key(self, rows: slice, dtype: Any) -> tuple[Any, ...]:
        return (self._first + rows.start, self._first + rows.stop, np.dtype(dtype).str)


def squared_norms(rows: Rows) -> Rows:
    """Compute the squared norms of rows: (n,)."""
    from invarlearn.kernels._pooling import square_norms

    out = np.empty(len(rows), dtype=rows.dtype)
    in_threads(lambda part: square_norms(rows[part], out[part]), slices(len(rows), 2048))
    return out


def normalize_orbits(rows: Rows, size: int, norm_floor: float) -> Rows:
    """Divide the rows of orbits by their norms, in place; return their new squared norms, 0 or 1.

    Parameters
    ----------
    rows : array of shape (m * size, d)
        Orbits of m rows, each with the untransformed row first.
    size : int
        Number of rows of an orbit.
    norm_floor : float
        Rows whose norm is at most this fraction of the norm of the untransformed row become zero.

    Returns
    -------
    array of shape (m * size,)
    """
    from invarlearn.kernels._pooling import normalize_rows

    squares = squared_norms(rows)
    least = np.repeat(squares[::size], size) * squares.dtype.type(norm_floor**2)
    in_threads(
        lambda part: normalize_rows(rows[part], squares[part], least[part]),
        slices(len(rows), 2048),
    )
    return squares
