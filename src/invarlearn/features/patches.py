"""Features of the patches of an image, as the first of two layers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._utils.dask import is_dask, transformed
from invarlearn._utils.parallel import slices
from invarlearn._utils.validation import Shape, check_generator, check_number
from invarlearn.transforms.grid import Grid, image_grid

# Patches are extracted in blocks of about this size.
BLOCK_BYTES = 64 * 2**20


class PatchFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Apply a transformer to each patch of an image.

    With p_u the patch of image x at grid position u, and :math:`\phi` the transformer,

    .. math:: z_u(x) = \phi(p_u),

    a map with as many channels as :math:`\phi` has features. With :class:`InvariantFeatures` as the
    transformer, followed by another one on the maps, this composes two layers: the first is
    invariant to transformations of patches, the second to transformations of the whole image.

    Parameters
    ----------
    features : transformer
        Transformer of patches, which are rows of ``width * width * channels`` numbers. A clone is
        fitted on a sample of patches.
    width : int, default=9
        Side of a patch, in pixels.
    step : int, default=2
        Distance between neighbouring patches, in pixels.
    margin : int, default=2
        Pixels of zero padding around the image.
    shape : tuple, optional
        Shape of a row: (height, width) or (height, width, channels). None: a square image.
    sample_patches : int, default=5000
        Approximate number of patches on which the transformer is fitted: all patches of randomly
        chosen rows.
    random_state : int, RandomState or None
        Seed of the sample of rows.

    Attributes
    ----------
    features_ : transformer
        The fitted transformer.
    shape_ : tuple (rows, columns, n_features of a patch)
        Shape of a transformed row; pass it as ``shape`` to families that act on the maps.
    n_features_in_ : int

    References
    ----------
    Mroueh, Voinea and Poggio, Learning with group invariant features: a kernel perspective (2015),
    whose invariant features this composes.

    Examples
    --------
    >>> from invarlearn.features import InvariantFeatures
    >>> from invarlearn.transforms import Rotation
    >>> inner = InvariantFeatures(Rotation(20), n_templates=10, n_bins=3, random_state=0)
    >>> X = np.random.RandomState(0).rand(5, 784)
    >>> PatchFeatures(inner, width=8, step=4).fit(X).shape_
    (7, 7, 30)
    """

    def __init__(
        self,
        features: Any,
        width: int = 9,
        step: int = 2,
        margin: int = 2,
        shape: Shape = None,
        sample_patches: int = 5000,
        random_state: Any = None,
    ):
        self.features = features
        self.width = width
        self.step = step
        self.margin = margin
        self.shape = shape
        self.sample_patches = sample_patches
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> PatchFeatures:
        """Fit the transformer on a sample of patches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        width = int(check_number(self.width, "width", low=1, whole=True))
        step = int(check_number(self.step, "step", low=1, whole=True))
        margin = int(check_number(self.margin, "margin", low=0, whole=True))
        n_sampled = int(check_number(self.sample_patches, "sample_patches", low=1, whole=True))
        if not hasattr(self.features, "transform"):
            raise TypeError(
                f"features={self.features!r} has no method transform: pass a transformer"
            )
        self._width, self._step, self._margin = width, step, margin
        self._grid: Grid = image_grid(self.shape, X.shape[1], type(self).__name__)
        sides = [side + 2 * margin - width for side in self._grid[:2]]
        if min(sides) < 0:
            raise ValueError(
                f"width={self.width} does not fit in images of {self._grid[0]} x {self._grid[1]} "
                f"pixels with a margin of {margin}: choose a smaller width or a larger margin"
            )
        positions = [side // step + 1 for side in sides]
        rng = check_generator(self.random_state)
        rows = rng.permutation(len(X))[: max(1, n_sampled // int(np.prod(positions)) + 1)]
        self.features_ = clone(self.features).fit(self._patches(X[np.sort(rows)]))
        first = np.asarray(self.features_.transform(self._patches(X[:1])))
        self.shape_ = (*positions, first.shape[1])
        self._dtype = first.dtype
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Return the maps of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, rows * columns * n_features of a patch)
        """
        check_is_fitted(self)
        if is_dask(X):
            return transformed(X, self, self._n_features_out, self._dtype)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        rows, columns, channels = self.shape_
        row_bytes = rows * columns * max(self._length(), channels) * X.itemsize
        out = np.empty((len(X), rows * columns * channels), dtype=self._dtype)
        for block in slices(len(X), BLOCK_BYTES // row_bytes):
            maps = np.asarray(self.features_.transform(self._patches(X[block])))
            out[block] = maps.reshape(block.stop - block.start, -1)
        return out

    def _patches(self, X: NDArray) -> NDArray:
        """Return the patches of rows: (n * n_positions, width * width * channels)."""
        margin, step, width = self._margin, self._step, self._width
        images = X.reshape(-1, *self._grid)
        margins = ((0, 0), (margin, margin), (margin, margin), (0, 0))
        windows = np.lib.stride_tricks.sliding_window_view(
            np.pad(images, margins), (width, width), axis=(1, 2)
        )
        # height, width and channels of a patch come last
        patches = windows[:, ::step, ::step].transpose(0, 1, 2, 4, 5, 3)
        return np.ascontiguousarray(patches).reshape(-1, self._length())

    def _length(self) -> int:
        return self._width**2 * self._grid[2]

    @property
    def _n_features_out(self) -> int:
        return int(np.prod(self.shape_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
