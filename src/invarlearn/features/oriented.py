"""Oriented gradients: where strokes and edges are, and which way they run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import validate_data

from invarlearn._dask import is_dask, sampled, transformed
from invarlearn.transforms._checks import Shape, check_number
from invarlearn.transforms._threads import in_threads, slices
from invarlearn.transforms.grid import image_grid, whole_shape


class OrientedGradients(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Maps of the gradient of an image in several orientations.

    The gradient at each pixel, of the image or of the blurred image, is divided by the contrast
    around it, shared between the two orientations nearest to its own, blurred and sampled at every
    other pixel; the square root of these maps is divided by its norm. Faint gradients may be left
    out. An image and its negative, -X, have the same maps with
    opposite orientations. Outside the image there is zero: a bright background has an edge there.

    Parameters
    ----------
    n_orientations : int, default=8
        Evenly spaced on the full circle.
    blur : float, default=1.0
        Standard deviation, in pixels, of the Gaussian that blurs the maps.
    step : int, default=2
        Pixels between two samples of a map.
    margin : int, default=2
        Pixels of a map around the image.
    contrast : float, default=3.0
        Standard deviation, in pixels, of the neighbourhood whose contrast counts.
    floor : float, default=0.1
        Added to the contrast, as a share of the largest gradient that is left by ``threshold``:
        nothing is made of noise in empty regions.
    smooth : float, default=0.0
        Standard deviation, in pixels, of the Gaussian that blurs the image before: against noise.
    threshold : float, default=0.0
        This share of the largest gradient of the image is subtracted from all, and those that are
        smaller are set to zero (soft thresholding): against noise. The edge at the border of a
        bright background counts as well.
    despike : bool, default=False
        Whether pixels are first brought into the range of their eight neighbours (conservative
        smoothing): single pixels that are hot or dead vanish, strokes stay.
    shape : tuple, optional
        Shape of a row: (height, width) or (height, width, channels). None: a square image; -1 for
        one of the numbers: what is left for it, so (1, -1) is a signal of any length.

    Attributes
    ----------
    shape_ : tuple (rows, columns, n_orientations)
        Shape of a transformed row.
    n_features_in_ : int

    Examples
    --------
    >>> from invarlearn.datasets import load_mnist_sample
    >>> gradients = OrientedGradients().fit(load_mnist_sample().X_train)
    >>> gradients.shape_
    (16, 16, 8)
    """

    def __init__(
        self,
        n_orientations: int = 8,
        blur: float = 1.0,
        step: int = 2,
        margin: int = 2,
        contrast: float = 3.0,
        floor: float = 0.1,
        smooth: float = 0.0,
        threshold: float = 0.0,
        despike: bool = False,
        shape: Shape = None,
    ):
        self.n_orientations = n_orientations
        self.blur = blur
        self.step = step
        self.margin = margin
        self.contrast = contrast
        self.floor = floor
        self.smooth = smooth
        self.threshold = threshold
        self.despike = despike
        self.shape = shape

    def fit(self, X: ArrayLike, y: Any = None) -> OrientedGradients:
        """Learn the shape of a row; nothing else depends on data, so transform needs no fit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        check_number(self.n_orientations, "n_orientations", low=2, whole=True)
        check_number(self.blur, "blur", low=0)
        check_number(self.step, "step", low=1, whole=True)
        check_number(self.margin, "margin", low=0, whole=True)
        check_number(self.contrast, "contrast", low=0)
        check_number(self.floor, "floor", low=0)
        check_number(self.smooth, "smooth", low=0)
        check_number(self.threshold, "threshold", low=0, high=1)
        shape = whole_shape(self.shape, X.shape[1])
        self._images = image_grid(shape, X.shape[1], type(self).__name__)
        sides, step, margin = self._images[:2], int(self.step), int(self.margin)
        none = np.ones(1)
        # along an axis of one pixel nothing happens
        self._near = tuple(gaussian(self.contrast, 1, 0) if n > 1 else none for n in sides)
        self._cell = tuple(gaussian(self.blur, step, margin) if n > 1 else none for n in sides)
        self._steps = tuple(step if n > 1 else 1 for n in sides)
        rows, columns = (1 if n == 1 else -(-(n + 2 * margin) // step) for n in sides)
        self.shape_ = (rows, columns, int(self.n_orientations))
        self._floor, self._smooth = float(self.floor), float(self.smooth)
        self._threshold, self._despike = float(self.threshold), bool(self.despike)
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Give the maps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, rows * columns * n_orientations)
        """
        from invarlearn.features._oriented import oriented_gradients

        if is_dask(X):
            if not hasattr(self, "shape_"):
                return clone(self).fit(sampled(X, 1)).transform(X)
            return transformed(X, self, self._n_features_out)
        if not hasattr(self, "shape_"):
            return clone(self).fit_transform(X)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        images = np.ascontiguousarray(X).reshape(-1, *self._images)
        out = np.empty((len(X), *self.shape_), dtype=X.dtype)
        in_threads(
            lambda rows: oriented_gradients(
                self._smoothed(images[rows]),
                self.shape_[2],
                self._threshold,
                self._near,
                self._floor,
                self._cell,
                self._steps,
                out[rows],
            ),
            slices(len(X), 256),
        )
        return out.reshape(len(X), -1)

    def _smoothed(self, images: NDArray) -> NDArray:
        if self._despike:
            images = despiked(images)
        if self._smooth == 0:
            return images
        along = [self._smooth if side > 1 else 0.0 for side in self._images[:2]]
        return gaussian_filter(images, [0, *along, *[0] * (images.ndim - 3)], mode="constant")

    def __setstate__(self, state: dict[str, Any]) -> None:
        # those that were saved earlier have none
        new = {"smooth": 0.0, "threshold": 0.0, "despike": False}
        fitted = {f"_{name}": value for name, value in new.items()}
        super().__setstate__({**new, **fitted, **state})

    @property
    def _n_features_out(self) -> int:
        return int(np.prod(self.shape_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def gaussian(sigma: float, step: int, margin: int) -> NDArray[np.float64]:
    """Give the weights of a Gaussian filter, read from ``first sample - len // 2`` on.

    With a step the samples lie in the middle of the pixels that they stand for, and the first of
    them ``margin`` pixels outside.
    """
    offset = (step - 1) / 2 - margin
    reach = int(np.ceil(3 * sigma + abs(offset)))
    places = np.arange(-reach, reach + 1) - offset
    if sigma == 0:
        weights = (np.abs(places) <= step / 2).astype(float)
    else:
        # from the nearest pixel on, so that narrow filters keep it; no further to one side
        squared = places**2 - (places**2).min()
        weights = np.exp(-0.5 * squared / sigma**2) * (np.abs(places) <= 3 * sigma + 0.5)
    return weights / weights.sum()


def despiked(images: NDArray) -> NDArray:
    """Bring pixels into the range of their neighbours, of images (n, height, width, channels)."""
    height, width = images.shape[1:3]
    # beyond the border the pixels before it once more; along an axis of one pixel nothing
    reach = [int(side > 1) for side in (height, width)]
    around = ((0, 0), *((one, one) for one in reach), (0, 0))
    padded = np.pad(images, around, mode="reflect")
    low = high = None
    for down in range(2 * reach[0] + 1):
        for right in range(2 * reach[1] + 1):
            if (down, right) != tuple(reach):
                near = padded[:, down : down + height, right : right + width]
                low = near.copy() if low is None else np.minimum(low, near, out=low)
                high = near.copy() if high is None else np.maximum(high, near, out=high)
    return images if low is None else np.clip(images, low, high)


def noise_of(X: NDArray, shape: tuple[int, ...]) -> float:
    """Say how strong noise is in images, as a part of the largest difference of neighbours.

    The median of the diagonal differences of four pixels, which strokes and shades have little of;
    so have images that are coarse, which this cannot tell from noisy ones. Single pixels that are
    hot or dead do not count.
    """
    images = despiked(X.reshape(len(X), *shape[:2], -1))
    down, across = np.diff(images, axis=1), np.diff(images, axis=2)
    diagonal = np.diff(down, axis=2)
    # of most images, whatever is wrong with some
    each = [np.abs(change).max(axis=(1, 2, 3)) for change in (down, across)]
    largest = float(np.median(np.maximum(*each)))
    # the median of the size of a standard normal number
    return float(np.median(np.abs(diagonal))) / 2 / 0.6745 / largest if largest > 0 else 0.0
