"""Features whose inner products approximate a kernel of patches, pooled over places."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._dask import is_dask, sampled, transformed
from invarlearn.features.templates import normalized
from invarlearn.transforms._checks import Shape, check_generator, check_number
from invarlearn.transforms._threads import in_threads, one_thread_of_openmp, slices
from invarlearn.transforms.grid import image_grid, whole_shape

# Landmarks are found among about so many patches, of so many rows at most, and of fewer if all
# patches of these take more than so many bytes.
SAMPLE, ROWS, PATCH_BYTES = 20_000, 500, 2**29

# A thread works on patches and their similarities of about this size.
BLOCK_BYTES = 8 * 2**20


class LocalKernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Which patches a map has, and roughly where.

    Two patches p and q of the same map are compared by ``|p| |q| exp(beta (cos(p, q) - 1))``. Every
    patch becomes a vector whose inner products approximate that (Nyström's method with landmarks
    from the data); these vectors are averaged under Gaussian windows, so that a patch may lie a
    little off, and the result is divided by its norm. Over the maps of
    :class:`OrientedGradients` this tells corners, ends and crossings of strokes apart.

    Parameters
    ----------
    n_landmarks : int, default=256
        Patches that others are compared with: centres of clusters of training patches.
    width : int, default=3
        Side of a patch, in pixels of the map.
    beta : float, default=6.0
        How quickly the similarity of patches falls with their angle.
    step : int, default=3
        Pixels between two windows.
    blur : float, default=1.5
        Standard deviation of a window, in pixels.
    shape : tuple, optional
        Shape of a row: (height, width) or (height, width, channels). None: a square image. Along an
        axis of one pixel patches are one pixel wide; -1 for one of the numbers: what is left for
        it, so (1, -1) is a signal of any length.
    random_state : int, RandomState or None
        Of the landmarks.

    Attributes
    ----------
    landmarks_ : array of shape (n_landmarks, pixels of a patch)
        Of norm one.
    shape_ : tuple (rows, columns, n_landmarks)
        Shape of a transformed row.
    n_features_in_ : int

    References
    ----------
    Mairal, End-to-end kernel learning with supervised convolutional kernel networks (2016), whose
    unsupervised layer this is; the locality of Liu et al. (paper 003) with another kernel.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from invarlearn.datasets import load_mnist_sample
    >>> from invarlearn.features import OrientedGradients
    >>> digits = load_mnist_sample().X_train[:50]
    >>> local = LocalKernelFeatures(32, shape=(16, 16, 8), random_state=0)
    >>> make_pipeline(OrientedGradients(), local).fit_transform(digits).shape
    (50, 800)
    """

    def __init__(
        self,
        n_landmarks: int = 256,
        width: int = 3,
        beta: float = 6.0,
        step: int = 3,
        blur: float = 1.5,
        shape: Shape = None,
        random_state: Any = None,
    ):
        self.n_landmarks = n_landmarks
        self.width = width
        self.beta = beta
        self.step = step
        self.blur = blur
        self.shape = shape
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> LocalKernelFeatures:
        """Find the landmarks.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A sample of the rows is enough; of a Dask array one is drawn.
        y : ignored
        """
        if is_dask(X):
            X = sampled(X, ROWS)
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        most = int(check_number(self.n_landmarks, "n_landmarks", low=1, whole=True))
        width = int(check_number(self.width, "width", low=1, whole=True))
        step = int(check_number(self.step, "step", low=1, whole=True))
        self._beta = float(check_number(self.beta, "beta", low=np.finfo(float).tiny))
        blur = check_number(self.blur, "blur", low=0)
        self._grid = image_grid(
            whole_shape(self.shape, X.shape[1]), X.shape[1], type(self).__name__
        )
        # a patch is no larger than the map
        self._window = tuple(min(width, side) for side in self._grid[:2])
        places = [side - size + 1 for side, size in zip(self._grid[:2], self._window, strict=True)]
        self._pools = [window_weights(n, step, blur) for n in places]
        rng = check_generator(self.random_state)
        self.landmarks_ = self._found_landmarks(X, most, rng)
        similar = np.exp(self._beta * (self.landmarks_ @ self.landmarks_.T - 1))
        values, vectors = np.linalg.eigh(similar)
        # directions that landmarks hardly have would be noise
        values = np.maximum(values, 1e-4 * values[-1])
        self._whiten = (vectors / np.sqrt(values)) @ vectors.T
        self.shape_ = (*(len(pool) for pool in self._pools), len(self.landmarks_))
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Give the pooled vectors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, rows * columns * n_landmarks)
            Of norm one; zero for rows without any patch.
        """
        check_is_fitted(self)
        if is_dask(X):
            return transformed(X, self, self._n_features_out)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        out = np.empty((len(X), self._n_features_out), dtype=X.dtype)
        landmarks, whiten = (
            np.asarray(one, dtype=X.dtype) for one in (self.landmarks_, self._whiten)
        )
        pools = [pool.astype(X.dtype) for pool in self._pools]

        def some(rows: slice) -> None:
            out[rows] = self._pooled(X[rows], landmarks, whiten, pools)

        places = int(np.prod([pool.shape[1] for pool in pools]))
        one = places * (landmarks.shape[0] + landmarks.shape[1]) * X.itemsize
        in_threads(some, slices(len(X), max(1, BLOCK_BYTES // one)))
        return out

    def _pooled(
        self, X: NDArray, landmarks: NDArray, whiten: NDArray, pools: list[NDArray]
    ) -> NDArray:
        patches = self._patches(X)
        norms = np.sqrt(np.einsum("pd,pd->p", patches, patches))[:, None]
        similar = patches @ landmarks.T
        # of a patch without anything in it, nothing is left
        similar /= np.where(norms > 0, norms, 1)
        similar -= 1
        similar *= self._beta
        np.exp(similar, out=similar)
        similar *= norms
        down, right = pools
        maps = similar.reshape(len(X), down.shape[1], right.shape[1], -1)
        maps = np.matmul(right, maps)
        maps = np.matmul(down, maps.reshape(len(X), down.shape[1], -1))
        # pooling and whitening are both linear: the fewer vectors are whitened
        maps = maps.reshape(-1, len(landmarks)) @ whiten
        return normalized(maps.reshape(len(X), -1))

    def _patches(self, X: NDArray) -> NDArray:
        """Cut rows into patches at every place: (n * places, pixels of a patch)."""
        images = X.reshape(-1, *self._grid)
        windows = np.lib.stride_tricks.sliding_window_view(images, self._window, axis=(1, 2))
        return np.ascontiguousarray(windows).reshape(-1, windows[0, 0, 0].size)

    def _found_landmarks(self, X: NDArray, most: int, rng: np.random.RandomState) -> NDArray:
        one = self._patches(X[:1]).size * np.dtype(float).itemsize
        rows = np.sort(rng.permutation(len(X))[: min(ROWS, max(1, PATCH_BYTES // one))])
        patches = self._patches(X[rows].astype(float))
        norms = np.linalg.norm(patches, axis=1)
        # nearly empty patches hardly count, and are much alike
        full = np.flatnonzero(norms > 0.1 * norms.max(initial=0.0))
        if not len(full):
            raise ValueError("all rows are zero: there are no patches to compare with")
        chosen = normalized(patches[np.sort(rng.permutation(full)[:SAMPLE])])
        chosen = np.unique(chosen, axis=0) if len(chosen) <= most else chosen
        if len(chosen) <= most:
            return chosen
        clusters = MiniBatchKMeans(
            most, init="random", n_init=1, max_iter=10, random_state=rng.randint(2**31 - 1)
        )
        with one_thread_of_openmp():
            return normalized(clusters.fit(chosen).cluster_centers_)

    @property
    def _n_features_out(self) -> int:
        return int(np.prod(self.shape_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def window_weights(n: int, step: int, blur: float) -> NDArray[np.float64]:
    """Give the weights of n places in Gaussian windows ``step`` apart: (windows, n)."""
    count = max(1, -(-n // step))
    # as far from one end as from the other
    centres = (n - 1) / 2 + step * (np.arange(count) - (count - 1) / 2)
    away = np.arange(n) - centres[:, None]
    if blur == 0:
        weights = (np.abs(away) <= step / 2).astype(float)
    else:
        weights = np.exp(-0.5 * (away / blur) ** 2)
    return weights / weights.sum(axis=1, keepdims=True)
