"""Nearest neighbours under tangent distance."""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._readable import Readable
from invarlearn.estimators._targets import check_training
from invarlearn.transforms import (
    Family,
    Hyperbolic,
    Rotation,
    Scaling,
    Thickness,
    Translation,
)
from invarlearn.transforms._checks import check_number

# Products of bases are formed in blocks of about this size.
BLOCK_BYTES = 64 * 2**20


class TangentDistanceClassifier(ClassifierMixin, Readable):
    """Nearest neighbours under the distance between tangent planes of orbits.

    The orbit of a row under a family is replaced by its tangent plane, and rows are compared by
    the distance between the planes (two-sided) or between a row and the other's plane
    (one-sided).

    Parameters
    ----------
    family : Family or None
        Whose tangents to use; how far it goes (``radius``, ``degrees``...) plays no part, and a
        family without tangents gives ordinary nearest neighbours. None: the seven of the original
        method for images (shifts in both directions, rotation, scaling, two hyperbolic
        deformations, thickness).
    sides : {1, 2}, default=2
        1: tangents at the training rows only; 2: at both rows. Use 1 if a tangent can be the
        row itself (such as brightness), since all such planes meet in the origin.
    n_neighbors : int, default=1
    smoothing : float, optional
        Gaussian smoothing, in pixels, of rows and tangents. None: the family's own choice.
    n_jobs : int, optional
        Threads that compare rows.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    family_ : Family
        The family whose tangents are used.
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
        X, y = check_training(self, X, y, self.family)
        if self.sides not in (1, 2):
            raise ValueError(f"sides={self.sides!r} must be 1 or 2")
        _check_neighbors(self.n_neighbors, len(X))
        self.family_ = self._default() if self.family is None else clone(self.family)
        self.smoothing_ = self.smoothing
        self.classes_, self._labels = np.unique(y, return_inverse=True)
        # distances do not change with the origin, but rounding does
        self._origin = X.mean(axis=0, dtype=float)
        rows, bases = zip(*map(self._plane, self._batches(X)), strict=True)
        self._rows, self._basis = np.concatenate(rows), np.concatenate(bases)
        return self

    def predict(self, X: ArrayLike) -> NDArray:
        """Give the commonest class among the nearest training rows; ties go to the nearest."""
        _, neighbors = self.kneighbors(X)
        labels = self._labels[neighbors]
        votes = np.zeros((len(labels), len(self.classes_)), dtype=int)
        np.add.at(votes, (np.arange(len(labels))[:, None], labels), 1)
        # argmax takes the first of equals, and the nearest neighbour comes first
        nearest = np.take_along_axis(votes, labels, axis=1).argmax(axis=1)
        return self.classes_[labels[np.arange(len(labels)), nearest]]

    def kneighbors(
        self, X: ArrayLike, n_neighbors: int | None = None
    ) -> tuple[NDArray, NDArray[np.intp]]:
        """Give the tangent distances to the nearest training rows, and their numbers.

        Returns
        -------
        distances, indices : arrays of shape (n_samples, n_neighbors), nearest first
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        _check_neighbors(k, len(self._rows))
        blocks = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._nearest)(batch, k) for batch in self._batches(X)
        )
        return np.concatenate([d for d, _ in blocks]), np.concatenate([i for _, i in blocks])

    def _nearest(self, X: NDArray, k: int) -> tuple[NDArray, NDArray[np.intp]]:
        squared = self._squared_distances(X)
        order = np.argsort(squared, axis=1, kind="stable")[:, :k]
        return np.sqrt(np.take_along_axis(squared, order, axis=1)), order

    def _squared_distances(self, X: NDArray) -> NDArray:
        from invarlearn.estimators._tangent_distance import one_sided, two_sided

        if self.sides == 1:
            return one_sided(self._smooth(X), self._rows, self._basis)
        return two_sided(*self._plane(X), self._rows, self._basis)

    def _batches(self, X: NDArray) -> Iterator[NDArray]:
        """Cut the rows so that tangents, and products with the training rows, fit in a block."""
        k = self.family_.with_shape_of(X.shape[1]).n_directions
        pairs = (k**self.sides + 4) * len(getattr(self, "_rows", ()))
        size = max(1, BLOCK_BYTES // (8 * (pairs + 4 * max(k, 1) * X.shape[1])))
        return (X[start : start + size] for start in range(0, len(X), size))

    def _default(self) -> Family:
        """Give the seven deformations of the original method."""
        if isqrt(self.n_features_in_) ** 2 != self.n_features_in_:
            raise ValueError(
                f"family=None means square images, and {self.n_features_in_} features are not a "
                "square one: pass a family with its shape, such as Translation(1, shape=...)"
            )
        return (
            Translation(1)
            * Rotation(15)
            * Scaling(1.1)
            * Hyperbolic(0.1)
            * Hyperbolic(0.1, diagonal=True)
            * Thickness(1.0)
        )

    def _smooth(self, X: NDArray) -> NDArray:
        smooth = self.family_.smooth(X, self.smoothing_)
        return (smooth - self._origin).astype(X.dtype)

    def _plane(self, X: NDArray) -> tuple[NDArray, NDArray]:
        """Give the smooth rows and an orthonormal basis of their tangents, (n, k, d)."""
        return self._smooth(X), orthonormal(self.family_.tangents(X, self.smoothing_))


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
    # of unit length first: what counts as no direction must not depend on units
    norms = np.linalg.norm(exact, axis=2, keepdims=True)
    exact /= np.where(norms > 0, norms, 1.0)
    gram = exact @ exact.transpose(0, 2, 1)
    values, vectors = np.linalg.eigh(gram)
    largest = values.max(axis=1, keepdims=True, initial=0)
    kept = values > 1e-10 * np.maximum(largest, np.finfo(float).tiny)
    scale = np.where(kept, 1 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
    basis = (vectors * scale[:, None, :]).transpose(0, 2, 1) @ exact
    return basis.astype(tangents.dtype)


def _check_neighbors(k: int, n: int) -> None:
    check_number(k, "n_neighbors", low=1, whole=True)
    if k > n:
        raise ValueError(
            f"n_neighbors={k} must lie between 1 and the number of training rows, n_samples = {n}"
        )
