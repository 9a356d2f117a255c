"""Features of the patches of an image, over a grid of places: a first layer for a second one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._dask import is_dask, transformed
from invarlearn.transforms._checks import Shape, check_generator, check_number
from invarlearn.transforms._threads import slices
from invarlearn.transforms.grid import Grid, image_grid

# Patches are cut out in blocks of about this size.
BLOCK_BYTES = 64 * 2**20

# The inner features are fitted on so many patches.
SAMPLE = 5000


class PatchFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What a transformer makes of each patch of an image, as a map with many channels.

    With :class:`InvariantFeatures` inside, and another one over the maps, this composes two layers:
    the first is invariant to what happens within a patch, the second to where patches are.

    Parameters
    ----------
    features : transformer
        Of patches, rows of ``width * width * channels`` numbers; fitted on a sample of them.
    width : int, default=9
        Side of a patch, in pixels.
    step : int, default=2
        Pixels between neighbouring patches.
    margin : int, default=2
        Pixels around the image, of zeros, that patches may cover.
    shape : tuple, optional
        Shape of a row: (height, width) or (height, width, channels). None: a square image.
    random_state : int, RandomState or None
        Of the sample.

    Attributes
    ----------
    features_ : transformer
    shape_ : tuple (rows, columns, n_features of a patch)
        Shape of a transformed row; the ``shape`` of families that act on it.
    n_features_in_ : int

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
        random_state: Any = None,
    ):
        self.features = features
        self.width = width
        self.step = step
        self.margin = margin
        self.shape = shape
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> PatchFeatures:
        """Fit the inner features on a sample of patches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        width = int(check_number(self.width, "width", low=1, whole=True))
        step = int(check_number(self.step, "step", low=1, whole=True))
        margin = int(check_number(self.margin, "margin", low=0, whole=True))
        if not hasattr(self.features, "transform"):
            raise TypeError(f"features={self.features!r} has no transform: pass a transformer")
        self._width, self._step, self._margin = width, step, margin
        self._grid: Grid = image_grid(self.shape, X.shape[1], type(self).__name__)
        sides = [side + 2 * margin - width for side in self._grid[:2]]
        if min(sides) < 0:
            raise ValueError(
                f"width={self.width} does not fit in images of {self._grid[0]} x {self._grid[1]} "
                f"pixels with a margin of {margin}"
            )
        places = [side // step + 1 for side in sides]
        rng = check_generator(self.random_state)
        some = rng.permutation(len(X))[: max(1, SAMPLE // int(np.prod(places)) + 1)]
        self.features_ = clone(self.features).fit(self._patches(X[np.sort(some)]))
        one = np.asarray(self.features_.transform(self._patches(X[:1])))
        self.shape_ = (*places, one.shape[1])
        self._dtype = one.dtype
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Give the maps.

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
        one = rows * columns * max(self._length(), channels) * X.itemsize
        out = np.empty((len(X), rows * columns * channels), dtype=self._dtype)
        for some in slices(len(X), BLOCK_BYTES // one):
            found = np.asarray(self.features_.transform(self._patches(X[some])))
            out[some] = found.reshape(some.stop - some.start, -1)
        return out

    def _patches(self, X: NDArray) -> NDArray:
        """Cut rows into patches: (n * places, width * width * channels)."""
        margin, step, width = self._margin, self._step, self._width
        images = X.reshape(-1, *self._grid)
        around = ((0, 0), (margin, margin), (margin, margin), (0, 0))
        windows = np.lib.stride_tricks.sliding_window_view(
            np.pad(images, around), (width, width), axis=(1, 2)
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
