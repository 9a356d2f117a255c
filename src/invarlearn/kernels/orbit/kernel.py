"""Kernels on orbits: the best fit, the average fit, and softmax pooling between both."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike

from invarlearn._utils.parallel import slices
from invarlearn._utils.validation import check_choice, check_memory, check_number
from invarlearn.kernels.base import Kernel, Rows, check_finite, check_pair, is_kernel
from invarlearn.kernels.dot import Linear
from invarlearn.kernels.orbit.engine import Engine, OrbitCache, OrbitSettings
from invarlearn.kernels.orbit.listed import BLOCK_BYTES, ListedEngine
from invarlearn.kernels.orbit.spectral import spectral_engine
from invarlearn.kernels.pooling import POOLINGS
from invarlearn.transforms import Family, Identity

# Blocks are sent to joblib up to this many times if workers are lost.
ATTEMPTS = 4


class OrbitKernel(Kernel):
    """A base kernel, pooled over the orbit of a family of transformations.

    The best fit is ``k(x, y) = max_T base(x, Ty)``, over all elements T of the family. The average
    fit is the mean over T, or over the elements applied to both rows.

    Parameters
    ----------
    base : Kernel, default=Linear()
    family : Family, default=Identity()
        A family whose elements can be listed.
    pooling : {"max", "mean", "softmax"}, default="max"
        - "max": the best fit (Liu et al., 2022, equation 1). For polynomial kernels it is the
          polynomial of the largest inner product, so that large negative inner products are not
          chosen, even if the degree is even.
        - "mean": the average fit, which is the Haar-integration kernel of Mroueh et al. (2015).
          Both rows are transformed, unless the family is a group that preserves norms, so that the
          kernel is positive semidefinite.
        - "softmax": a weighted mean, between the two.
    normalize : bool, default=False
        Whether x and every transformed y are divided by their norms. Use it with families that
        change norms, such as scaling. Rows of zeros stay zero.
    sharpness : float, default=10.0
        Sharpness of "softmax", whose weights are
        ``exp(sharpness * value / largest absolute value)``. With 0 it is the mean over the orbit of
        one row; with large numbers it approaches the maximum.
    features : transformer, optional
        Transformer that is applied after the transformations and before the base kernel, such as
        :class:`invarlearn.features.OrientedGradients`. It must be fitted, unless its ``transform``
        works without a fit.
    norm_floor : float, default=0.01
        With ``normalize``, a transformed row whose norm is at most this fraction of the norm of y
        is treated as zero, such as after a shift that moves nearly all bright pixels out of the
        image.

    Notes
    -----
    Unless the family is a group of permutations, the pooled similarity depends on which of the two
    rows is transformed. The kernel is then the mean of both similarities, so that it is symmetric.
    Best-fit kernels are in general not positive semidefinite.

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
        norm_floor: float = 0.01,
    ):
        self.base = base
        self.family = family
        self.pooling = pooling
        self.normalize = normalize
        self.sharpness = sharpness
        self.features = features
        self.norm_floor = norm_floor

    @property
    def is_definite(self) -> bool:  # type: ignore[override]
        settings = self.settings()
        return settings.pooler.averages_both_orbits and settings.base.is_definite

    def settings(self) -> OrbitSettings:
        """Validate the parameters and return them with their defaults."""
        base = Linear() if self.base is None else self.base
        family = Identity() if self.family is None else self.family
        if not is_kernel(base):
            raise TypeError(f"base={base!r} is not a Kernel: pass one from invarlearn.kernels")
        if not isinstance(family, Family):
            raise TypeError(
                f"family={family!r} is not a Family: pass one from invarlearn.transforms"
            )
        if self.features is not None and not hasattr(self.features, "transform"):
            raise TypeError(f"features={self.features!r} has no transform: pass a transformer")
        check_choice(self.pooling, list(POOLINGS), "pooling")
        return OrbitSettings(
            base,
            family,
            self.pooling,
            bool(self.normalize),
            check_number(self.sharpness, "sharpness", low=0),
            self.features,
            check_number(self.norm_floor, "norm_floor", low=0, high=1),
        )

    def values(self, X: ArrayLike, Y: ArrayLike | None) -> Rows:
        settings = self.settings()
        X, Y = check_pair(X, Y)
        same = X is Y
        if one_orbit_is_enough(settings, X.shape[1]):
            values = pooled(settings, X, Y)
        elif settings.pooler.averages_both_orbits:
            values = averaged(settings, X, Y)
        else:
            to_orbits_of_y = pooled(settings, X, Y)
            to_orbits_of_x = to_orbits_of_y if same else pooled(settings, Y, X)
            values = (to_orbits_of_y + to_orbits_of_x.T) / 2
        check_finite(values)
        # remove the asymmetry of a Gram matrix due to rounding errors
        return (values + values.T) / 2 if same else values

    def to_orbits(self, X: ArrayLike, Y: ArrayLike, cache: OrbitCache | None = None) -> Rows:
        """Compute the similarity of rows X to the orbits of rows Y; only Y is transformed.

        For the best fit and softmax, a call of the kernel returns the mean of both directions, this
        method one direction. For the average fit, both are the same. Estimators use this method in
        predictions.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        Y : array-like of shape (m, n_features)
        cache : OrbitCache, optional
            Cache of the orbits of Y, which is read and extended.

        Returns
        -------
        array of shape (n, m)
        """
        settings = self.settings()
        X, Y = check_pair(X, Y)
        averages_both = settings.pooler.averages_both_orbits
        if averages_both and not one_orbit_is_enough(settings, X.shape[1]):
            return check_finite(averaged(settings, X, Y, cache))
        return check_finite(pooled(settings, X, Y, cache))

    def diag(self, X: ArrayLike) -> Rows:
        X, _ = check_pair(X, None)
        return np.array([self(row[None])[0, 0] for row in X], dtype=X.dtype)


class HaarKernel(OrbitKernel):
    """A base kernel averaged over the orbits of both rows.

    ``k(x, y) = mean over S and T of base(Sx, Ty)`` (Haar integration, Mroueh et al., 2015).
    It is :class:`OrbitKernel` with ``pooling="mean"``: positive semidefinite, and invariant if the
    family is a group.

    Parameters
    ----------
    base : Kernel, default=Linear()
    family : Family, default=Identity()
        A family whose elements can be listed.
    normalize : bool, default=False
        As in :class:`OrbitKernel`.
    features : transformer, optional
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


def one_orbit_is_enough(settings: OrbitSettings, n_features: int) -> bool:
    """Return whether pooling over the orbit of one row equals pooling over both orbits.

    This holds if k(x, Ty) = k(T^-1 x, y) and the family contains T^-1.
    """
    family = settings.family.with_shape_of(n_features)
    is_invariant = settings.base.is_orthogonally_invariant and settings.features is None
    return family.is_group and family.is_unitary and is_invariant


def choose_engine(settings: OrbitSettings, Y: Rows) -> Engine:
    """Return the faster engine for the orbits of rows Y, (m, n_features)."""
    return spectral_engine(settings, Y.shape[1]) or ListedEngine(settings, Y[:1])


def pooled(settings: OrbitSettings, X: Rows, Y: Rows, cache: OrbitCache | None = None) -> Rows:
    """Pool k(x, Ty) over T: (n, m).

    If joblib has several workers, they compute blocks in parallel; the cache is then not used.
    """
    _, size, _ = settings.family.orbit_shape(Y)
    check_memory((size, 9), float, "the list of elements", "use a smaller family")
    engine = choose_engine(settings, Y)
    out = np.empty((len(X), len(Y)), dtype=X.dtype)
    column_blocks = slices(len(Y), engine.column_chunk(X.itemsize))
    row_blocks = slices(len(X), engine.row_chunk)
    if effective_n_jobs(None) == 1:
        for columns in column_blocks:
            prepared = None if cache is None else cache.get(columns, X.dtype)
            if prepared is None:
                prepared = engine.prepare(Y[columns])
                if cache is not None:
                    cache.put(columns, X.dtype, prepared)
            for rows in row_blocks:
                out[rows, columns] = engine.pool(X[rows], prepared)
        return out
    blocks = list(product(row_blocks, column_blocks))
    for rows, columns, values in _pooled_by_joblib(settings, X, Y, blocks):
        out[rows, columns] = values
    return out


def averaged(settings: OrbitSettings, X: Rows, Y: Rows, cache: OrbitCache | None = None) -> Rows:
    """Average k(Sx, Ty) over all S and T: (n, m)."""
    out = np.empty((len(X), len(Y)), dtype=X.dtype)
    _, size, d = settings.family.orbit_shape(X)
    check_memory((1, size, d), X.dtype, "the orbit of one row", "use a smaller family")
    action = settings.family.elements(d)
    cache = OrbitCache() if cache is None else cache
    for columns in slices(len(Y), 1024):
        m = columns.stop - columns.start
        step = 4 * BLOCK_BYTES // (size * max(d, m) * X.itemsize)
        block_cache = cache.part(columns.start)
        for rows in slices(len(X), step):
            orbits = action.act(X[rows], 0, size).reshape(-1, d)
            values = pooled(settings, orbits, Y[columns], block_cache)
            out[rows, columns] = values.reshape(-1, size, m).mean(axis=1)
    return out


def _pooled_by_joblib(
    settings: OrbitSettings, X: Rows, Y: Rows, blocks: list[tuple[slice, slice]]
) -> Iterator[tuple[slice, slice, Rows]]:
    """Compute blocks with joblib; blocks that are lost with a worker are computed again."""
    for attempt in range(ATTEMPTS):
        n_done = 0
        results = Parallel(prefer="threads", return_as="generator")(
            delayed(_pool_block)(settings, X[rows], Y[columns]) for rows, columns in blocks
        )
        try:
            for (rows, columns), values in zip(blocks, results, strict=True):
                yield rows, columns, values
                n_done += 1
            return
        except Exception as error:
            is_worker_lost = type(error).__module__.startswith(
                ("distributed", "joblib.externals.loky")
            )
            if not is_worker_lost or attempt + 1 == ATTEMPTS:
                raise
        blocks = blocks[n_done:]


def _pool_block(settings: OrbitSettings, X: Rows, Y: Rows) -> Rows:
    """Compute one block. This is a module-level function, so that workers can import it."""
    engine = choose_engine(settings, Y)
    return engine.pool(X, engine.prepare(Y))
