"""Similarity over an orbit: the best fit, the average fit, and what lies between."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from itertools import product
from threading import Lock
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.exceptions import NotFittedError

from invarlearn.kernels._listed import BLOCK_BYTES, Listed
from invarlearn.kernels.base import RBF, DotKernel, Kernel, Linear, Rows, check_finite, check_pair
from invarlearn.kernels.spectral import Spectral, spectral_engine
from invarlearn.transforms import Family, Identity
from invarlearn.transforms._checks import check_memory, check_number
from invarlearn.transforms._threads import slices

# How often blocks are sent out, if workers get lost.
ATTEMPTS = 4

_POOLINGS = ("max", "mean", "softmax")


class OrbitKernel(Kernel):
    """A base kernel between x and the best, or average, transformation of y.

    Parameters
    ----------
    base : Kernel, default=Linear()
    family : Family, default=Identity()
        Listed; what it makes of a row should not matter.
    pooling : {"max", "mean", "softmax"}, default="max"
        "max": the best fit over the orbit (paper 003, equation 1). Polynomials are taken of the
        largest inner product, so negative ones never win through an even degree.
        "mean": the average fit, the Haar-integration kernel of paper 001; both rows are
        transformed unless the family is a group that keeps norms, so that it is positive
        semidefinite. "softmax": a weighted mean that goes from one to the other.
    normalize : bool, default=False
        Whether x and every transformed y are divided by their norms; zero rows stay zero, and
        so does what has less than a hundredth of the norm of y left, such as a shift that moves
        nearly all ink away. Families that change norms, such as scaling, want this.
    sharpness : float, default=10.0
        Of "softmax", whose weights are exp(sharpness * value / largest size of a value): 0 is the
        mean over the orbit of one row, large numbers the maximum.
    features : transformer, optional
        Applied between transformation and base kernel, such as oriented gradients; fitted, or
        with a ``transform`` that needs no fit.

    Notes
    -----
    A family that is not a group of permutations makes the pooled similarity depend on which of
    the two rows is transformed; the kernel is then the mean of both ways, so that it is symmetric
    by construction. Best-fit kernels are not positive semidefinite in general.

    Examples
    --------
    >>> from invarlearn.transforms import CyclicShift
    >>> kernel = OrbitKernel(Linear(), CyclicShift())
    >>> kernel([[1.0, 0.0, 0.0]], [[0.0, 0.0, 2.0]])
    array([[2.]])
    """

    def __init__(
        self,
        base: Kernel | None = None,
        family: Family | None = None,
        pooling: str = "max",
        normalize: bool = False,
        sharpness: float = 10.0,
        features: Any = None,
    ):
        self.base = base
        self.family = family
        self.pooling = pooling
        self.normalize = normalize
        self.sharpness = sharpness
        self.features = features

    @property
    def is_definite(self) -> bool:  # type: ignore[override]
        return self.pooling == "mean" and self._base().is_definite

    def _values(self, X: ArrayLike, Y: ArrayLike | None) -> Rows:
        self._check_parameters()
        X, Y = check_pair(X, Y)
        same = X is Y
        if self._one_side_is_enough(X.shape[1]):
            values = self._pooled(X, Y)
        elif self.pooling == "mean":
            values = self._averaged(X, Y)
        else:
            there = self._pooled(X, Y)
            values = (there + (there.T if same else self._pooled(Y, X).T)) / 2
        check_finite(values)
        # rounding alone is left to break the symmetry of a Gram matrix
        return (values + values.T) / 2 if same else values

    def to_orbits(self, X: ArrayLike, Y: ArrayLike) -> Rows:
        """Give the similarity of new rows to the orbits of known ones: only these are transformed.

        The best fit (or softmax) of one way, where calling the kernel takes the mean of both; what
        predictions use. An average fit is the same either way.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        Y : array-like of shape (m, n_features)

        Returns
        -------
        array of shape (n, m)
        """
        self._check_parameters()
        X, Y = check_pair(X, Y)
        return check_finite(self._to_orbits(X, Y))

    def _to_orbits(self, X: Rows, Y: Rows, kept: Kept | None = None) -> Rows:
        if self.pooling == "mean" and not self._one_side_is_enough(X.shape[1]):
            return self._averaged(X, Y, kept)
        return self._pooled(X, Y, kept)

    def diag(self, X: ArrayLike) -> Rows:
        X, _ = check_pair(X, None)
        return np.array([self(row[None])[0, 0] for row in X], dtype=X.dtype)

    def _one_side_is_enough(self, n_features: int) -> bool:
        """Tell whether k(x, Ty) = k(T^-1 x, y) with T^-1 listed: then one orbit tells all."""
        bound = self._family().with_shape_of(n_features)
        moves_along = isinstance(self._base(), (DotKernel, RBF)) and self.features is None
        return bound.is_group and bound.is_unitary and moves_along

    def _engine(self, n_features: int) -> Listed | Spectral:
        """Choose how to compare rows with orbits."""
        return spectral_engine(self, n_features) or Listed(self, n_features)

    def _pooled(self, X: Rows, Y: Rows, kept: Kept | None = None) -> Rows:
        """Pool k(x, Ty) over T: (n, m). Blocks go through joblib, and to its backend.

        ``kept`` has what is known of blocks of Y from earlier calls, and is filled.
        """
        _, size, _ = self._family()._orbit_shape(Y)
        check_memory((size, 9), float, "the list of elements", "use a smaller family")
        engine: Any = self._engine(X.shape[1])
        out = np.empty((len(X), len(Y)), dtype=X.dtype)
        column_blocks = slices(len(Y), engine.column_chunk(X.itemsize))
        row_blocks = slices(len(X), engine.row_chunk)
        if effective_n_jobs(None) == 1:
            for columns in column_blocks:
                known = None if kept is None else kept.get(columns, X.dtype)
                if known is None:
                    known = engine.prepare(Y[columns])
                    if kept is not None:
                        kept.put(columns, X.dtype, known)
                for rows in row_blocks:
                    out[rows, columns] = engine.pool(X[rows], known)
            return out
        for rows, columns, block in self._elsewhere(X, Y, list(product(row_blocks, column_blocks))):
            out[rows, columns] = block
        return out

    def _elsewhere(
        self, X: Rows, Y: Rows, blocks: list[tuple[slice, slice]]
    ) -> Iterator[tuple[slice, slice, Rows]]:
        """Compute blocks with joblib; those that a lost worker takes along, once more."""
        for attempt in range(ATTEMPTS):
            done = 0
            values = Parallel(prefer="threads", return_as="generator")(
                delayed(_pool)(self, X[rows], Y[columns]) for rows, columns in blocks
            )
            try:
                for (rows, columns), block in zip(blocks, values, strict=True):
                    yield rows, columns, block
                    done += 1
                return
            except Exception as error:
                lost = type(error).__module__.startswith(("distributed", "joblib.externals.loky"))
                if not lost or attempt + 1 == ATTEMPTS:
                    raise
            blocks = blocks[done:]

    def _averaged(self, X: Rows, Y: Rows, kept: Kept | None = None) -> Rows:
        """Average k(Sx, Ty) over S and T: (n, m)."""
        out = np.empty((len(X), len(Y)), dtype=X.dtype)
        _, size, d = self._family()._orbit_shape(X)
        check_memory((1, size, d), X.dtype, "the orbit of one row", "use a smaller family")
        action = self._family()._listed(d)
        kept = Kept() if kept is None else kept
        for columns in slices(len(Y), 1024):
            m = columns.stop - columns.start
            step = 4 * BLOCK_BYTES // (size * max(d, m) * X.itemsize)
            part = kept.part(columns.start)
            for rows in slices(len(X), step):
                moved = action.act(X[rows], 0, size).reshape(-1, d)
                pooled = self._pooled(moved, Y[columns], part)
                out[rows, columns] = pooled.reshape(-1, size, m).mean(axis=1)
        return out

    def _represented(self, X: Rows, copied: bool = False) -> Rows:
        """Give the features of rows, as an array that may be changed; X itself only if not."""
        if self.features is None:
            return X.copy() if copied else X
        try:
            found = self.features.transform(X)
        except NotFittedError as error:
            raise NotFittedError(
                f"features={self.features!r} of the kernel is not fitted: fit it first, or let "
                "OrbitSVC fit it; sklearn.frozen.FrozenEstimator(features) stays fitted where "
                "scikit-learn clones kernels"
            ) from error
        if issparse(found):
            raise TypeError(f"features={self.features!r} gives a sparse matrix: it must be dense")
        return np.array(found, dtype=X.dtype, order="C")

    def _base(self) -> Kernel:
        return Linear() if self.base is None else self.base

    def _family(self) -> Family:
        return Identity() if self.family is None else self.family

    def _sharpness(self) -> float:
        return check_number(self.sharpness, "sharpness", low=0)

    def _check_parameters(self) -> None:
        if not isinstance(self._base(), Kernel):
            raise TypeError(f"base={self.base!r} is not a Kernel: see invarlearn.kernels")
        if not isinstance(self._family(), Family):
            raise TypeError(f"family={self.family!r} is not a Family: see invarlearn.transforms")
        if self.features is not None and not hasattr(self.features, "transform"):
            raise TypeError(f"features={self.features!r} has no transform: pass a transformer")
        self._sharpness()
        if self.pooling not in _POOLINGS:
            raise ValueError(
                f"pooling={self.pooling!r} is unknown: choose one of {', '.join(_POOLINGS)}"
            )


class HaarKernel(OrbitKernel):
    """A base kernel averaged over the orbits of both rows (Haar integration, paper 001).

    :class:`OrbitKernel` with ``pooling="mean"``: positive semidefinite, and invariant if the
    family is a group.

    Parameters
    ----------
    base : Kernel, default=Linear()
    family : Family, default=Identity()
    normalize, features
        As in :class:`OrbitKernel`.

    Examples
    --------
    >>> from invarlearn.transforms import CyclicShift
    >>> HaarKernel(Linear(), CyclicShift())([[1.0, 0.0, 0.0]], [[0.0, 0.0, 3.0]])
    array([[1.]])
    """

    def __init__(
        self,
        base: Kernel | None = None,
        family: Family | None = None,
        normalize: bool = False,
        features: Any = None,
    ):
        super().__init__(base, family, "mean", normalize, features=features)


def _pool(kernel: OrbitKernel, X: Rows, Y: Rows) -> Rows:
    """Compute one block; a function of its own, so that workers elsewhere can import it."""
    engine: Any = kernel._engine(X.shape[1])
    return engine.pool(X, engine.prepare(Y))


class Kept:
    """What was computed of rows, as long as it fits into a quarter of ``working_memory``."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Any] = {}
        self._lock = Lock()
        self._first = 0

    def __len__(self) -> int:
        return len(self._known)

    def part(self, first: int) -> Kept:
        """Give a view for rows that are counted from ``first``."""
        view = copy(self)
        view._first = first
        return view

    def get(self, rows: slice, dtype: Any) -> Any:
        """Give what is known of rows, or None."""
        return self._known.get(self._key(rows, dtype))

    def put(self, rows: slice, dtype: Any, known: Any) -> None:
        """Keep this if there is room."""
        limit = get_config()["working_memory"] * 2**20 / 4
        with self._lock:
            if sum(one.nbytes for one in self._known.values()) + known.nbytes <= limit:
                self._known[self._key(rows, dtype)] = known

    def _key(self, rows: slice, dtype: Any) -> tuple[Any, ...]:
        return (self._first + rows.start, self._first + rows.stop, np.dtype(dtype).str)


class Orbits:
    """Rows with whose orbits others are compared again and again.

    What is computed of the orbits is kept as long as it fits into a quarter of scikit-learn's
    ``working_memory``; it is not pickled.

    Parameters
    ----------
    kernel : OrbitKernel
    Y : array of shape (m, n_features)
    """

    def __init__(self, kernel: OrbitKernel, Y: Rows):
        self.kernel = kernel
        self.Y = Y
        self._kept = Kept()

    def __call__(self, X: Rows) -> Rows:
        """Give the similarity of rows to these orbits, in the precision of Y."""
        X = X.astype(self.Y.dtype, copy=False)
        return check_finite(self.kernel._to_orbits(X, self.Y, self._kept))

    def __getstate__(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "Y": self.Y}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]
