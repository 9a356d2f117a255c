"""Local kernel features: a kernel of patches, approximated by landmarks and pooled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._utils.dask import is_dask, sampled, transformed
from invarlearn._utils.parallel import in_threads, limit_openmp_threads, slices
from invarlearn._utils.validation import Shape, check_generator, check_number
from invarlearn.features.templates import unit_norm_rows
from invarlearn.transforms.grid import image_grid, whole_shape

# Patches and their similarities to landmarks are computed in blocks of about this size.
BLOCK_BYTES = 8 * 2**20


class LocalKernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Similarities of the patches of an image to landmarks, pooled over windows.

    Patches p and q are compared by the kernel

    .. math:: \kappa(p, q) = |p| \, |q| \, e^{\beta (\cos(p, q) - 1)}.

    With landmarks :math:`w_1, \dots, w_m` of norm one, the feature vector of a patch is Nyström's
    approximation :math:`\psi(p) = K_{ww}^{-1/2} \kappa(w, p)`. The features of an image are

    .. math:: z_a = \sum_u h_a(u) \, \psi(p_u)

    for Gaussian windows h_a on a regular grid and the patches p_u at all pixels u, divided by the
    norm of z. The windows tolerate small displacements. Applied to the maps of
    :class:`OrientedGradients`, patches distinguish corners, ends and crossings of strokes.

    Parameters
    ----------
    n_landmarks : int, default=256
        Number m of landmarks, which are cluster centres of training patches. If there are no more
        than m training patches, all distinct patches are landmarks.
    width : int, default=3
        Side of a patch, in pixels; no larger than the side of the image.
    beta : float, default=6.0
        Decay of the kernel with the angle between patches.
    step : int, default=3
        Distance between neighbouring windows, in pixels.
    blur : float, default=1.5
        Standard deviation of the windows, in pixels.
    shape : tuple, optional
        Shape of a row: (height, width) or (height, width, channels). None: a square image. One of
        the sides may be -1, and is inferred: (1, -1) is a signal of any length.
    sample_patches : int, default=20000
        Largest number of training patches that are clustered.
    sample_rows : int, default=500
        Largest number of training rows from which these patches are drawn.
    sample_bytes : int, default=2**29
        Largest size, in bytes, of all patches of these rows: fewer rows of large images are used.
    random_state : int, RandomState or None
        Seed of the sample and of the clusters.

    Attributes
    ----------
    landmarks_ : array of shape (n_landmarks, pixels of a patch)
        Landmarks of norm one.
    shape_ : tuple (rows, columns, n_landmarks)
        Shape of a transformed row: windows along both axes, and landmarks.
    n_features_in_ : int

    References
    ----------
    Mairal, End-to-end kernel learning with supervised convolutional kernel networks (2016). This
    transformer is one layer, with unsupervised landmarks and normalised output.

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
        sample_patches: int = 20_000,
        sample_rows: int = 500,
        sample_bytes: int = 2**29,
        random_state: Any = None,
    ):
        self.n_landmarks = n_landmarks
        self.width = width
        self.beta = beta
        self.step = step
        self.blur = blur
        self.shape = shape
        self.sample_patches = sample_patches
        self.sample_rows = sample_rows
        self.sample_bytes = sample_bytes
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> LocalKernelFeatures:
        """Choose the landmarks among the patches of training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, of which up to ``sample_rows`` are used. From a Dask array, only these
            are loaded.
        y : ignored

        Returns
        -------
        self
        """
        sample_rows = int(check_number(self.sample_rows, "sample_rows", low=1, whole=True))
        check_number(self.sample_patches, "sample_patches", low=1, whole=True)
        check_number(self.sample_bytes, "sample_bytes", low=1, whole=True)
        if is_dask(X):
            X = sampled(X, sample_rows)
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        check_number(self.n_landmarks, "n_landmarks", low=1, whole=True)
        width = int(check_number(self.width, "width", low=1, whole=True))
        step = int(check_number(self.step, "step", low=1, whole=True))
        self._beta = float(check_number(self.beta, "beta", low=np.finfo(float).tiny))
        blur = check_number(self.blur, "blur", low=0)
        self._grid = image_grid(
            whole_shape(self.shape, X.shape[1]), X.shape[1], type(self).__name__
        )
        # patches are no larger than the image
        self._window = tuple(min(width, side) for side in self._grid[:2])
        counts = [side - size + 1 for side, size in zip(self._grid[:2], self._window, strict=True)]
        self._pools = [pooling_windows(n, step, blur) for n in counts]
        self.landmarks_ = self._choose_landmarks(X, check_generator(self.random_state))
        gram = np.exp(self._beta * (self.landmarks_ @ self.landmarks_.T - 1))
        values, vectors = np.linalg.eigh(gram)
        # directions of small eigenvalues would magnify noise
        values = np.maximum(values, 1e-4 * values[-1])
        self._whiten = (vectors / np.sqrt(values)) @ vectors.T
        self.shape_ = (*(len(pool) for pool in self._pools), len(self.landmarks_))
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Return the pooled features of the patches of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, rows * columns * n_landmarks)
            Features of norm one; zeros for rows of zeros.
        """
        check_is_fitted(self)
        if is_dask(X):
            return transformed(X, self, self._n_features_out)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        out = np.empty((len(X), self._n_features_out), dtype=X.dtype)
        landmarks = np.asarray(self.landmarks_, dtype=X.dtype)
        whiten = np.asarray(self._whiten, dtype=X.dtype)
        pools = [pool.astype(X.dtype) for pool in self._pools]

        def fill(rows: slice) -> None:
            out[rows] = self._pool_patches(X[rows], landmarks, whiten, pools)

        n_patches = int(np.prod([pool.shape[1] for pool in pools]))
        row_bytes = n_patches * (landmarks.shape[0] + landmarks.shape[1]) * X.itemsize
        in_threads(fill, slices(len(X), max(1, BLOCK_BYTES // row_bytes)))
        return out

    def _pool_patches(
        self, X: NDArray, landmarks: NDArray, whiten: NDArray, pools: list[NDArray]
    ) -> NDArray:
        patches = self._patches(X)
        norms = np.sqrt(np.einsum("pd,pd->p", patches, patches))[:, None]
        similarities = patches @ landmarks.T
        # patches of zeros have no direction; their kernel is zero
        similarities /= np.where(norms > 0, norms, 1)
        similarities -= 1
        similarities *= self._beta
        np.exp(similarities, out=similarities)
        similarities *= norms
        down, right = pools
        maps = similarities.reshape(len(X), down.shape[1], right.shape[1], -1)
        maps = np.matmul(right, maps)
        maps = np.matmul(down, maps.reshape(len(X), down.shape[1], -1))
        # whitening commutes with pooling, and there are fewer vectors after pooling
        maps = maps.reshape(-1, len(landmarks)) @ whiten
        return unit_norm_rows(maps.reshape(len(X), -1))

    def _patches(self, X: NDArray) -> NDArray:
        """Return the patches at all pixels of rows: (n * n_patches, n_pixels of a patch)."""
        images = X.reshape(-1, *self._grid)
        windows = np.lib.stride_tricks.sliding_window_view(images, self._window, axis=(1, 2))
        return np.ascontiguousarray(windows).reshape(-1, windows[0, 0, 0].size)

    def _choose_landmarks(self, X: NDArray, rng: np.random.RandomState) -> NDArray:
        n_landmarks = int(self.n_landmarks)
        row_bytes = self._patches(X[:1]).size * np.dtype(float).itemsize
        n_rows = min(int(self.sample_rows), max(1, int(self.sample_bytes) // row_bytes))
        rows = np.sort(rng.permutation(len(X))[:n_rows])
        patches = self._patches(X[rows].astype(float))
        norms = np.linalg.norm(patches, axis=1)
        # nearly empty patches have little weight in the kernel, and resemble each other
        candidates = np.flatnonzero(norms > 0.1 * norms.max(initial=0.0))
        if not len(candidates):
            raise ValueError("all rows are zero: pass training rows with nonzero values")
        chosen = np.sort(rng.permutation(candidates)[: int(self.sample_patches)])
        sample = unit_norm_rows(patches[chosen])
        if len(sample) <= n_landmarks:
            return np.unique(sample, axis=0)
        clusters = MiniBatchKMeans(
            n_landmarks, init="random", n_init=1, max_iter=10, random_state=rng.randint(2**31 - 1)
        )
        with limit_openmp_threads():
            return unit_norm_rows(clusters.fit(sample).cluster_centers_)

    @property
    def _n_features_out(self) -> int:
        return int(np.prod(self.shape_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def pooling_windows(n: int, step: int, blur: float) -> NDArray[np.float64]:
    """Return the weights of n positions in Gaussian windows ``step`` apart: (n_windows, n).

    The weights of a window sum to one. With ``blur=0`` the windows are boxes of width ``step``.
    """
    count = max(1, -(-n // step))
    # the first and the last window are equally far from both ends
    centres = (n - 1) / 2 + step * (np.arange(count) - (count - 1) / 2)
    offsets = np.arange(n) - centres[:, None]
    if blur == 0:
        weights = (np.abs(offsets) <= step / 2).astype(float)
    else:
        weights = np.exp(-0.5 * (offsets / blur) ** 2)
    return weights / weights.sum(axis=1, keepdims=True)
