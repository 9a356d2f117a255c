"""Similarity over an orbit: the best fit, the average fit, and what lies between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config

from invarlearn.kernels.base import RBF, DotKernel, Kernel, Linear, Rows, check_pair
from invarlearn.transforms import Family, Identity
from invarlearn.transforms._checks import check_memory, check_number

# Similarities are computed in blocks of about this size.
BLOCK_BYTES = 16 * 2**20

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
        Whether x and every transformed y are divided by their norms; zero rows stay zero.
        Families that change norms, such as scaling, want this.
    sharpness : float, default=10.0
        Of "softmax": 0 is the mean over the orbit of one row, large numbers the maximum.
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

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Rows:
        self._check_parameters()
        same = Y is None
        X, Y = check_pair(X, Y)
        if self._one_side_is_enough(X.shape[1]):
            values = self._pooled(X, Y)
        elif self.pooling == "mean":
            values = self._averaged(X, Y)
        else:
            there = self._pooled(X, Y)
            values = (there + (there.T if same else self._pooled(Y, X).T)) / 2
        # rounding alone is left to break the symmetry of a Gram matrix
        return (values + values.T) / 2 if same else values

    def diag(self, X: ArrayLike) -> Rows:
        X, _ = check_pair(X, None)
        return np.array([self(row[None])[0, 0] for row in X], dtype=X.dtype)

    def _one_side_is_enough(self, n_features: int) -> bool:
        """Tell whether k(x, Ty) = k(T^-1 x, y) with T^-1 listed: then one orbit tells all."""
        bound = self._family().with_shape_of(n_features)
        moves_along = isinstance(self._base(), (DotKernel, RBF)) and self.features is None
        return bound.is_group and bound.is_unitary and moves_along

    def _pooled(self, X: Rows, Y: Rows) -> Rows:
        """Pool k(x, Ty) over T: (n, m)."""
        x = self._represented(X)
        out = np.empty((len(X), len(Y)), dtype=X.dtype)
        size = self._family()._orbit_shape(Y)[1]
        for columns, orbit in self._orbits(Y, size):
            for rows in _slices(len(x), len(orbit), X.itemsize):
                out[rows, columns] = self._pool(x[rows], orbit, size)
        return out

    def _averaged(self, X: Rows, Y: Rows) -> Rows:
        """Average k(Sx, Ty) over S and T: (n, m)."""
        out = np.empty((len(X), len(Y)), dtype=X.dtype)
        size = self._family()._orbit_shape(Y)[1]
        for rows, left in self._orbits(X, size):
            n = rows.stop - rows.start
            for columns, right in self._orbits(Y, size):
                total = np.zeros((n, columns.stop - columns.start))
                for part in _slices(len(left), len(right), X.itemsize):
                    pooled = self._pool(left[part], right, size)
                    owner = np.arange(part.start, part.stop) // size
                    np.add.at(total, owner, pooled)
                out[rows, columns] = total / size
        return out

    def _orbits(self, Y: Rows, size: int) -> Iterator[tuple[slice, Rows]]:
        """Stream whole orbits of some rows at a time, as rows: (rows * size, features)."""
        advice = "use a smaller family"
        check_memory((1, size, Y.shape[1]), Y.dtype, "the orbit of one row", advice)
        action = self._family()._listed(Y.shape[1])
        limit = min(BLOCK_BYTES, get_config()["working_memory"] * 2**20 / 4)
        step = max(1, int(limit // (size * Y.shape[1] * Y.itemsize)))
        for start in range(0, len(Y), step):
            rows = slice(start, min(start + step, len(Y)))
            orbit = action.act(Y[rows], 0, size)
            yield rows, self._represented(orbit.reshape(-1, Y.shape[1]))

    def _represented(self, X: Rows) -> Rows:
        """Give the features of rows, divided by their norms if asked."""
        if self.features is not None:
            X = np.asarray(self.features.transform(X), dtype=X.dtype)
        if not self.normalize:
            return X
        norms = np.sqrt(np.einsum("nd,nd->n", X, X))
        return X * (1 / np.where(norms > 0, norms, 1))[:, None]

    def _pool(self, x: Rows, orbit: Rows, k: int) -> Rows:
        """Pool the similarity of rows x to orbits of k rows each: (n, len(orbit) / k)."""
        from invarlearn.kernels._pooling import pool_max, pool_mean, pool_softmax

        base = self._base()
        out = np.empty((len(x), len(orbit) // k), dtype=x.dtype)
        if self.pooling == "max" and isinstance(base, DotKernel):
            pool_max(x @ orbit.T, k, out)
            return base.profile(out, 0)
        if self.pooling == "max" and isinstance(base, RBF):
            # the nearest is the one with the largest x.t - |t|^2 / 2, about any origin
            if not self.normalize:
                origin = orbit.mean(axis=0)
                x, orbit = x - origin, orbit - origin
            fits = x @ orbit.T
            halves = np.einsum("td,td->t", orbit, orbit) / 2
            if not self.normalize or halves.min() < 0.25:
                fits -= halves  # else all have norm one
                halves = np.zeros(1, dtype=x.dtype)
            pool_max(fits, k, out)
            squared = np.einsum("nd,nd->n", x, x)[:, None] + 2 * (halves[0] - out)
            return base.profile(np.maximum(squared, 0), 0)
        values = base(x, orbit)
        if self.pooling == "max":
            pool_max(values, k, out)
        elif self.pooling == "mean":
            pool_mean(values, k, out)
        else:
            pool_softmax(values, k, check_number(self.sharpness, "sharpness", low=0), out)
        return out

    def _base(self) -> Kernel:
        return Linear() if self.base is None else self.base

    def _family(self) -> Family:
        return Identity() if self.family is None else self.family

    def _check_parameters(self) -> None:
        if not isinstance(self._base(), Kernel):
            raise TypeError(f"base={self.base!r} is not a Kernel: see invarlearn.kernels")
        if not isinstance(self._family(), Family):
            raise TypeError(f"family={self.family!r} is not a Family: see invarlearn.transforms")
        if self.features is not None and not hasattr(self.features, "transform"):
            raise TypeError(f"features={self.features!r} has no transform: pass a transformer")
        if self.pooling not in _POOLINGS:
            raise ValueError(
                f"pooling={self.pooling!r} is unknown: choose one of {', '.join(_POOLINGS)}"
            )


def _slices(n: int, m: int, itemsize: int) -> Iterator[slice]:
    """Cut n rows so that their similarities to m others fit in a block."""
    step = max(1, BLOCK_BYTES // (m * itemsize))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))
