"""The tangent-distance kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from invarlearn._utils.validation import check_number
from invarlearn.kernels.base import Kernel, Rows, check_pair
from invarlearn.kernels.tangent_planes import (
    TangentPlanes,
    check_sides,
    default_deformations,
    plane_blocks,
)
from invarlearn.transforms import Family


class TangentDistance(Kernel):
    """The Gaussian of the tangent distance, ``k(x, y) = exp(-gamma TD(x, y)^2)``.

    The orbit of a row under a family of transformations is replaced by its tangent plane. TD is the
    distance between the tangent planes of both rows, or between a row and a tangent plane (Haasdonk
    and Keysers, 2002). Gram matrices are in general not positive semidefinite.

    Parameters
    ----------
    family : Family or None
        The family whose tangents are used. With a family without tangents, the distance is
        Euclidean. None: the seven deformations of :class:`~invarlearn.TangentDistanceClassifier`.
    gamma : float, optional
        None: 1 / n_features, as in Liu et al. (2022). For images with pixels from 0 to 1 this is
        usually too small: try 0.02 to 0.1.
    sides : {1, 2}, default=2
        2: between the planes of both rows. 1: between a row and a plane, and the mean of the
        squared distances in both directions.
    smoothing : float, optional
        Standard deviation, in pixels, of the Gaussian that smooths rows and tangents. None: the
        default of the family.

    Notes
    -----
    In :class:`~invarlearn.OrbitSVC`, pass ``normalize=False``.

    References
    ----------
    Haasdonk and Keysers, Tangent distance kernels for support vector machines (2002).

    Examples
    --------
    >>> from invarlearn.datasets import load_mnist_sample
    >>> X = load_mnist_sample().X_train[:3]
    >>> TangentDistance()(X).shape
    (3, 3)
    """

    is_definite = False

    def __init__(
        self,
        family: Family | None = None,
        gamma: float | None = None,
        sides: int = 2,
        smoothing: float | None = None,
    ):
        self.family = family
        self.gamma = gamma
        self.sides = sides
        self.smoothing = smoothing

    def values(self, X: ArrayLike, Y: ArrayLike | None) -> Rows:
        if self.family is not None and not isinstance(self.family, Family):
            raise TypeError(
                f"family={self.family!r} is not a Family: build one from invarlearn.transforms"
            )
        X, Y = check_pair(X, Y)
        check_sides(self.sides)
        n_features = X.shape[1]
        gamma = 1 / n_features if self.gamma is None else check_number(self.gamma, "gamma", low=0)
        family = default_deformations(n_features) if self.family is None else self.family
        # distances do not depend on the origin, but their rounding errors do
        origin = Y.mean(axis=0, dtype=float)
        planes = TangentPlanes.of(family, Y, self.smoothing, origin)
        squared = np.empty((len(X), len(Y)), dtype=X.dtype)
        for block in plane_blocks(family, X, self.sides, len(Y)):
            squared[block] = self._squared(
                TangentPlanes.of(family, X[block], self.smoothing, origin), planes
            )
        if X is Y:
            squared = (squared + squared.T) / 2
            np.fill_diagonal(squared, 0)
        return np.exp(-squared.dtype.type(gamma) * squared)

    def _squared(self, left: TangentPlanes, right: TangentPlanes) -> NDArray:
        """Return the squared tangent distances between two sets of rows: (n, m)."""
        if self.sides == 2:
            # the ridge makes distances asymmetric by a fraction of about its size
            ridge = 1e-6 if left.rows.dtype == np.float32 else 1e-11
            return left.squared_distances(right, ridge)
        to_right = right.squared_distances_from(left.rows)
        to_left = left.squared_distances_from(right.rows)
        return (to_right + to_left.T) / 2

    def diag(self, X: ArrayLike) -> Rows:
        X, _ = check_pair(X, None)
        return np.ones(len(X), dtype=X.dtype)
