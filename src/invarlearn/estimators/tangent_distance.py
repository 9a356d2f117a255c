"""Nearest neighbours under tangent distance."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn.transforms import (
    Family,
    Hyperbolic,
    Rotation,
    Scaling,
    Thickness,
    Translation,
)

# Products of bases are formed in blocks of about this size.
BLOCK_BYTES = 64 * 2**20


class TangentDistanceClassifier(ClassifierMixin, BaseEstimator):
    """Nearest neighbours under the distance between tangent planes of orbits.

    The orbit of a row under a family is replaced by its tangent plane, and rows are compared by
    the distance between the planes (two-sided) or between a row and the other's plane
    (one-sided).

    Parameters
    ----------
    family : Family or None
        Whose tangents to use. None: the seven of the original method for images (shifts in both
        directions, rotation, scaling, two hyperbolic deformations, thickness).
    sides : {1, 2}, default=2
        1: tangents at the training rows only; 2: at both rows.
    n_neighbors : int, default=1
    smoothing : float, optional
        Gaussian smoothing, in pixels, of rows and tangents. None: the family's own choice.
    n_jobs : int, optional
        Threads that compare rows.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
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
        """Keep the rows and their tangent planes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        """
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        if self.sides not in (1, 2):
            raise ValueError(f"sides={self.sides!r} must be 1 or 2")
        _check_neighbors(self.n_neighbors, len(X))
        if self.family is not None and not isinstance(self.family, Family):
            raise TypeError(
                f"family={self.family!r} is not a Family: build one from invarlearn.transforms"
            )
        self.classes_, self._labels = np.unique(y, return_inverse=True)
        self._rows, self._basis = self._planes(X)
        return self

    def predict(self, X: ArrayLike) -> NDArray:
        """Give the commonest class among the nearest training rows; ties go to the nearest."""
        _, neighbors = self.kneighbors(X)
        labels = self._labels[neighbors]
        votes = (labels[:, :, None] == labels[:, None, :]).sum(axis=2)
        # argmax takes the first of equals, and the nearest neighbour comes first
        return self.classes_[labels[np.arange(len(labels)), votes.argmax(axis=1)]]

    def kneighbors(
        self, X: ArrayLike, n_neighbors: int | None = None
    ) -> tuple[NDArray, NDArray[np.intp]]:
        """Give squared tangent distances to, and numbers of, the nearest training rows.

        Returns
        -------
        distances, indices : arrays of shape (n_samples, n_neighbors), nearest first
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        _check_neighbors(k, len(self._rows))
        rows_each = max(1, BLOCK_BYTES // (8 * max(1, self._pair_size() * len(self._rows))))
        starts = range(0, len(X), rows_each)
        blocks = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._nearest)(X[start : start + rows_each], k) for start in starts
        )
        return np.concatenate([d for d, _ in blocks]), np.concatenate([i for _, i in blocks])

    def _nearest(self, X: NDArray, k: int) -> tuple[NDArray, NDArray[np.intp]]:
        distances = self._distances(X)
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(distances, order, axis=1), order

    def _distances(self, X: NDArray) -> NDArray:
        from invarlearn.estimators._tangent_distance import one_sided, two_sided

        if self.sides == 1:
            smooth = self._family().smooth(X, self.smoothing)
            return one_sided(smooth, self._rows, self._basis)
        return two_sided(*self._planes(X), self._rows, self._basis)

    def _pair_size(self) -> int:
        """Give how many numbers a pair of rows needs while they are compared."""
        return self._basis.shape[1] ** self.sides + 4

    def _family(self) -> Family:
        if self.family is not None:
            return self.family
        return (
            Translation(1)
            * Rotation(15)
            * Scaling(1.1)
            * Hyperbolic(0.1)
            * Hyperbolic(0.1, diagonal=True)
            * Thickness(1.0)
        )

    def _planes(self, X: NDArray) -> tuple[NDArray, NDArray]:
        """Give the smooth rows and an orthonormal basis of their tangents, (n, k, d)."""
        family = self._family()
        tangents = family.tangents(X, self.smoothing)
        return family.smooth(X, self.smoothing), orthonormal(tangents)


def orthonormal(tangents: NDArray) -> NDArray:
    """Orthonormalise the tangents of each row; directions that add nothing become zero.

    Parameters
    ----------
    tangents : array of shape (n, k, d)

    Returns
    -------
    array of shape (n, k, d)
    """
    exact = tangents.astype(float)
    gram = exact @ exact.transpose(0, 2, 1)
    values, vectors = np.linalg.eigh(gram)
    largest = values.max(axis=1, keepdims=True, initial=0)
    kept = values > 1e-10 * np.maximum(largest, np.finfo(float).tiny)
    scale = np.where(kept, 1 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
    basis = (vectors * scale[:, None, :]).transpose(0, 2, 1) @ exact
    return basis.astype(tangents.dtype)


def _check_neighbors(k: int, n: int) -> None:
    if not 1 <= k <= n:
        raise ValueError(
            f"n_neighbors={k} must lie between 1 and the number of training rows, n_samples = {n}"
        )
