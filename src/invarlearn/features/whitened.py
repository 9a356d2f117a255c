"""Whitened patches: learned colour and texture filters, rectified and pooled."""

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
from invarlearn.features.local import pooling_windows
from invarlearn.features.templates import unit_norm_rows
from invarlearn.transforms.grid import image_grid, whole_shape

# Patches and their responses are computed in blocks of about this size.
BLOCK_BYTES = 8 * 2**20


class WhitenedPatches(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Responses of learned filters to whitened patches of an image, pooled over windows.

    A patch p of L numbers, all channels together, is normalised and whitened,

    .. math::
        q = \frac{p - \bar p}{\sqrt{\operatorname{var}(p) + c^2}}, \qquad
        r = (\Sigma + \epsilon \lambda_1 I)^{-1/2} (q - \mu),

    where :math:`\mu`, :math:`\Sigma` and :math:`\lambda_1` are the mean, the covariance and its
    largest eigenvalue of normalised training patches. Filters :math:`w_1, \dots, w_m` of norm one
    are cluster centres of the directions of whitened patches. The features of an image are

    .. math::
        z_{aj} = \Bigl(\sum_u h_a(u) \, \max(\pm \langle w_j, r_u \rangle / \sqrt L - b, 0)
        \Bigr)^{1/2}

    for Gaussian windows h_a on a regular grid and the patches at all pixels u, divided by the norm
    of z. They describe colours and textures, which gradients do not.

    Parameters
    ----------
    n_filters : int, default=384
        Number m of filters. There are fewer if there are fewer training patches.
    width : int, optional
        Side of a patch, in pixels; no larger than the side of the image. None: 6, or 4 if the
        shorter side of the image has at most 16 pixels.
    n_windows : int, default=5
        Largest number of windows along each side.
    blur : float, default=0.6
        Standard deviation of the windows, divided by the distance between them. 0: boxes.
    threshold : float, default=0.1
        Responses up to this number b are taken to be zero.
    contrast : float, default=0.15
        The number c, divided by the standard deviation of the pixels of all training patches.
        Patches with less contrast are not magnified to full contrast.
    whitening : float, default=0.01
        The number epsilon: smaller numbers amplify fine details, and their noise.
    shape : tuple, optional
        Shape of a row: (height, width) or (height, width, channels). None: a square image. One of
        the sides may be -1, and is inferred.
    sample_patches : int, default=20000
        Largest number of training patches that are used.
    sample_rows : int, default=1000
        Largest number of training rows from which these patches are drawn. Unlabelled rows may be
        among them.
    random_state : int, RandomState or None
        Seed of the sample and of the clusters.

    Attributes
    ----------
    filters_ : array of shape (n_filters, L)
        Filters for normalised patches: cluster centres after whitening.
    offsets_ : array of shape (n_filters,)
        Responses to the mean patch, which are subtracted.
    shape_ : tuple (rows, columns, 2 * n_filters)
        Shape of a transformed row: windows along both axes, positive and negative responses.
    n_features_in_ : int

    References
    ----------
    Coates and Ng, The importance of encoding versus training with sparse coding and vector
    quantization (2011).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.RandomState(0).rand(20, 16 * 16 * 3)
    >>> patches = WhitenedPatches(32, shape=(16, 16, 3), random_state=0)
    >>> patches.fit_transform(X).shape
    (20, 1600)
    """

    def __init__(
        self,
        n_filters: int = 384,
        width: int | None = None,
        n_windows: int = 5,
        blur: float = 0.6,
        threshold: float = 0.1,
        contrast: float = 0.15,
        whitening: float = 0.01,
        shape: Shape = None,
        sample_patches: int = 20_000,
        sample_rows: int = 1000,
        random_state: Any = None,
    ):
        self.n_filters = n_filters
        self.width = width
        self.n_windows = n_windows
        self.blur = blur
        self.threshold = threshold
        self.contrast = contrast
        self.whitening = whitening
        self.shape = shape
        self.sample_patches = sample_patches
        self.sample_rows = sample_rows
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> WhitenedPatches:
        """Learn the whitening and the filters from patches of training rows.

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
        n_rows = int(check_number(self.sample_rows, "sample_rows", low=1, whole=True))
        check_number(self.sample_patches, "sample_patches", low=1, whole=True)
        check_number(self.n_filters, "n_filters", low=1, whole=True)
        check_number(self.whitening, "whitening", low=np.finfo(float).tiny)
        contrast = check_number(self.contrast, "contrast", low=np.finfo(float).tiny)
        n_windows = int(check_number(self.n_windows, "n_windows", low=1, whole=True))
        blur = check_number(self.blur, "blur", low=0)
        self._threshold = check_number(self.threshold, "threshold", low=0)
        if is_dask(X):
            X = sampled(X, n_rows)
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        self._grid = image_grid(
            whole_shape(self.shape, X.shape[1]), X.shape[1], type(self).__name__
        )
        self._window = self._resolve_window()
        counts = [side - size + 1 for side, size in zip(self._grid[:2], self._window, strict=True)]
        distances = [-(-count // n_windows) for count in counts]
        self._pools = [
            pooling_windows(count, distance, blur * distance)
            for count, distance in zip(counts, distances, strict=True)
        ]
        rng = check_generator(self.random_state)
        rows = np.sort(rng.permutation(len(X))[:n_rows])
        patches = self._sample(X, rows, rng)
        self._floor = float(contrast * patches.std())
        if self._floor == 0:
            raise ValueError("all training rows are constant: pass images with different pixels")
        deviations = patches - patches.mean(axis=1, keepdims=True)
        scales = np.sqrt(patches.var(axis=1, keepdims=True) + self._floor**2)
        self._learn(deviations / scales, rng)
        self.shape_ = (*(len(pool) for pool in self._pools), 2 * len(self.filters_))
        return self

    def _resolve_window(self) -> tuple[int, int]:
        """Return the height and the width of a patch; patches are no larger than the image."""
        sides = [side for side in self._grid[:2] if side > 1] or [1]
        default = 6 if min(sides) > 16 else 4
        width = default if self.width is None else self.width
        width = int(check_number(width, "width", low=1, whole=True))
        return min(width, self._grid[0]), min(width, self._grid[1])

    def _sample(self, X: NDArray, rows: NDArray, rng: np.random.RandomState) -> NDArray:
        """Draw patches, the same number from each of some rows: (n_patches, L)."""
        windows = self._windows(X)
        n, (down, right) = len(rows), windows.shape[1:3]
        per_row = max(1, min(int(self.sample_patches) // n, down * right))
        places = np.array([rng.permutation(down * right)[:per_row] for _ in rows])
        chosen = windows[rows[:, None], places // right, places % right]
        patches: NDArray = chosen.reshape(n * per_row, -1)[: int(self.sample_patches)]
        return patches.astype(float)

    def _learn(self, patches: NDArray, rng: np.random.RandomState) -> None:
        """Set the filters and offsets from normalised patches."""
        length = patches.shape[1]
        mean = patches.mean(axis=0)
        values, vectors = np.linalg.eigh((patches - mean).T @ (patches - mean) / len(patches))
        values = np.maximum(values, 0) + self.whitening * values[-1]
        whiten = (vectors / np.sqrt(values)) @ vectors.T
        directions = unit_norm_rows((patches - mean) @ whiten)
        directions = directions[directions.any(axis=1)]
        if len(directions) > self.n_filters:
            clusters = MiniBatchKMeans(
                int(self.n_filters),
                init="random",
                n_init=1,
                max_iter=10,
                random_state=rng.randint(2**31 - 1),
            )
            with limit_openmp_threads():
                directions = unit_norm_rows(clusters.fit(directions).cluster_centers_)
        self.filters_ = directions @ whiten / np.sqrt(length)
        self.offsets_ = self.filters_ @ mean

    def _windows(self, X: NDArray) -> NDArray:
        """Return views of the patches at all pixels: (n, down, right, channels, height, width)."""
        images = X.reshape(-1, *self._grid)
        return np.lib.stride_tricks.sliding_window_view(images, self._window, axis=(1, 2))

    def transform(self, X: ArrayLike) -> NDArray:
        """Return the pooled responses of the patches of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, rows * columns * 2 * n_filters)
            Features of norm one, at least zero; zeros for rows without any response.
        """
        check_is_fitted(self)
        if is_dask(X):
            return transformed(X, self, self._n_features_out)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        out = np.empty((len(X), self._n_features_out), dtype=X.dtype)
        # the mean of a patch is subtracted by the filters
        filters = (self.filters_ - self.filters_.mean(axis=1, keepdims=True)).astype(X.dtype)
        offsets = self.offsets_.astype(X.dtype)
        pools = [pool.astype(X.dtype) for pool in self._pools]

        def fill(rows: slice) -> None:
            out[rows] = self._pool_patches(X[rows], filters, offsets, pools)

        n_patches = int(np.prod([pool.shape[1] for pool in pools]))
        row_bytes = n_patches * (3 * len(filters) + filters.shape[1]) * X.itemsize
        in_threads(fill, slices(len(X), max(1, BLOCK_BYTES // row_bytes)))
        return out

    def _pool_patches(
        self, X: NDArray, filters: NDArray, offsets: NDArray, pools: list[NDArray]
    ) -> NDArray:
        from invarlearn.features._rectify import rectify

        windows = self._windows(X)
        patches = np.ascontiguousarray(windows).reshape(-1, filters.shape[1])
        scales = 1 / np.sqrt(patches.var(axis=1) + X.dtype.type(self._floor**2))
        maps = np.empty((len(patches), 2 * len(filters)), dtype=X.dtype)
        threshold = X.dtype.type(self._threshold)
        rectify(patches @ filters.T, scales, offsets, threshold, maps)
        down, right = pools
        maps = np.matmul(right, maps.reshape(len(X), down.shape[1], right.shape[1], -1))
        maps = np.matmul(down, maps.reshape(len(X), down.shape[1], -1))
        return unit_norm_rows(np.sqrt(maps.reshape(len(X), -1)))

    @property
    def _n_features_out(self) -> int:
        return int(np.prod(self.shape_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
