"""Nearest neighbours by tangent distance."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._utils.repr import ReprMixin
from invarlearn._utils.validation import check_number
from invarlearn.estimators._validation import check_training
from invarlearn.kernels.tangent_planes import (
    TangentPlanes,
    check_sides,
    default_deformations,
    plane_blocks,
)
from invarlearn.transforms import Family


class TangentDistanceClassifier(ClassifierMixin, ReprMixin):
    """Nearest-neighbour classifier with tangent distance.

    The orbit of a row under a family of transformations is replaced by its tangent plane. The
    two-sided tangent distance is the distance between the tangent planes of two rows. The one-sided
    tangent distance is the distance between a row and the tangent plane of a training row.

    Parameters
    ----------
    family : Family or None
        The family whose tangents are used. Its ranges (``radius``, ``degrees``, ...) have no
        influence. With a family without tangents, the distance is Euclidean. None: the seven
        deformations of square images by Simard et al. (shifts in both directions, rotation,
        scaling, two hyperbolic deformations, thickness).
    sides : {1, 2}, default=2
        1: one-sided; 2: two-sided distance. Choose 1 if a row can be its own tangent, as for
        changes of brightness, because all planes then contain the origin.
    n_neighbors : int, default=1
        Number of neighbours that vote.
    smoothing : float, optional
        Standard deviation, in pixels, of the Gaussian that smooths rows and tangents. None: the
        default of the family.
    n_jobs : int, optional
        Number of threads for the comparison of rows.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    family_ : Family
        The family whose tangents are used.
    planes_ : TangentPlanes
        Tangent planes of the training rows.
    n_features_in_ : int

    References
    ----------
    Simard, LeCun, Denker and Victorri, Transformation invariance in pattern recognition (1998).

    Examples
    --------
    >>> from invarlearn import TangentDistanceClassifier
    >>> from invarlearn.datasets import load_mnist_sample
    >>> digits = load_mnist_sample()
    >>> knn = TangentDistanceClassifier().fit(digits.X_train[:100], digits.y_train[:100])
    >>> knn.predict(digits.X_test[:3]).shape
    (3,)
    """

    def __init__(
        self,
        family: Family | None = None,
        sides: int = 2,
        n_neighbors: int = 1,
        smoothing: float | None = None,
        n_jobs: int | None = None,
    ):
        self.family = family
        self.sides = sides
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike) -> TangentDistanceClassifier:
        """Compute the tangent planes of the training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        """
        X, y = check_training(self, X, y, self.family)
        check_sides(self.sides)
        check_n_neighbors(self.n_neighbors, len(X))
        family = default_deformations(X.shape[1]) if self.family is None else clone(self.family)
        origin = X.mean(axis=0, dtype=float)
        planes = TangentPlanes.of(family, X, self.smoothing, origin)
        classes, labels = np.unique(y, return_inverse=True)
        return self._publish(classes, labels, family, origin, planes)

    def _publish(
        self,
        classes: NDArray,
        labels: NDArray[np.intp],
        family: Family,
        origin: NDArray,
        planes: TangentPlanes,
    ) -> TangentDistanceClassifier:
        """Set the fitted attributes; return self."""
        self.classes_, self._labels = classes, labels
        self.family_, self._smoothing = family, self.smoothing
        self._origin, self.planes_ = origin, planes
        return self

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the most frequent class of the nearest training rows: (n_samples,).

        Of classes with equal votes, the one with the nearest row wins.
        """
        _, neighbors = self.kneighbors(X)
        labels = self._labels[neighbors]
        votes = np.zeros((len(labels), len(self.classes_)), dtype=int)
        np.add.at(votes, (np.arange(len(labels))[:, None], labels), 1)
        # argmax returns the first of equal votes, and the nearest neighbour comes first
        nearest = np.take_along_axis(votes, labels, axis=1).argmax(axis=1)
        return self.classes_[labels[np.arange(len(labels)), nearest]]

    def kneighbors(
        self, X: ArrayLike, n_neighbors: int | None = None
    ) -> tuple[NDArray, NDArray[np.intp]]:
        """Return the tangent distances to the nearest training rows, and their indices.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        n_neighbors : int, optional
            None: ``n_neighbors`` of the estimator.

        Returns
        -------
        distances, indices : arrays of shape (n_samples, n_neighbors)
            Nearest first.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        check_n_neighbors(k, len(self.planes_))
        blocks = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._nearest)(X[block], k)
            for block in plane_blocks(self.family_, X, self.sides, len(self.planes_))
        )
        return np.concatenate([d for d, _ in blocks]), np.concatenate([i for _, i in blocks])

    def _nearest(self, X: NDArray, k: int) -> tuple[NDArray, NDArray[np.intp]]:
        squared = self._squared_distances(X)
        order = np.argsort(squared, axis=1, kind="stable")[:, :k]
        return np.sqrt(np.take_along_axis(squared, order, axis=1)), order

    def _squared_distances(self, X: NDArray) -> NDArray:
        if self.sides == 1:
            rows = (self.family_.smooth(X, self._smoothing) - self._origin).astype(X.dtype)
            return self.planes_.squared_distances_from(rows)
        planes = TangentPlanes.of(self.family_, X, self._smoothing, self._origin)
        return planes.squared_distances(self.planes_)


def check_n_neighbors(k: int, n: int) -> None:
    """Raise an error unless the number of neighbours is between 1 and n."""
    check_number(k, "n_neighbors", low=1, whole=True)
    if k > n:
        raise ValueError(
            f"n_neighbors={k} must lie between 1 and the number of training rows, n_samples = {n}"
        )
