"""Oriented gradients: maps of the edges of an image by orientation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import validate_data

from invarlearn._utils.dask import is_dask, sampled, transformed
from invarlearn._utils.parallel import in_threads, slices
from invarlearn._utils.validation import Shape, check_number
from invarlearn.transforms.grid import image_grid, whole_shape


class OrientedGradients(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Maps of the gradients of an image, by orientation.

    Let :math:`r_u` and :math:`\theta_u` be the length and the angle of the gradient at pixel u.
    With Gaussian blurs G of width ``blur`` and C of width ``contrast``, the map of orientation k is

    .. math:: z_k = \sqrt{G * (\tilde r \, s_k(\theta))}, \qquad
       \tilde r = \frac{r}{\sqrt{C * r^2} + \varphi \max_u r_u},

    sampled at every ``step``-th pixel, where :math:`\varphi` is ``floor``, and :math:`s_k`
    interpolates linearly between the two nearest orientations. The maps together are divided by
    their norm.

    An image and its negative, -X, have the same maps with opposite orientations. Pixels outside the
    image are zero, so that a bright background has edges at the border.

    Parameters
    ----------
    n_orientations : int, default=8
        Orientations, evenly spaced on the full circle.
    blur : float, default=1.0
        Standard deviation, in pixels, of the Gaussian blur of the maps.
    step : int, default=2
        Distance between samples of a map, in pixels.
    margin : int, default=2
        Number of pixels by which the maps extend beyond the image on each side.
    contrast : float, default=3.0
        Standard deviation, in pixels, of the neighbourhood that normalises the gradient.
    floor : float, default=0.1
        Constant added to the local contrast, as a fraction of the largest gradient after
        ``threshold``. It keeps noise in empty regions small.
    smooth : float, default=0.0
        Standard deviation, in pixels, of a Gaussian blur of the image, which reduces noise.
    threshold : float, default=0.0
        Soft threshold of the lengths of gradients, as a fraction of the largest gradient of the
        image, which reduces noise. The edges at the border of a bright background count as well.
    despike : bool, default=False
        Whether to clip each pixel to the range of its eight neighbours first (conservative
        smoothing). This removes single hot or dead pixels, and preserves strokes.
    shape : tuple, optional
        Shape of a row: (height, width) or (height, width, channels). None: a square image. One of
        the sides may be -1, and is inferred: (1, -1) is a signal of any length.

    Attributes
    ----------
    shape_ : tuple (rows, columns, n_orientations)
        Shape of a transformed row.
    n_features_in_ : int

    References
    ----------
    Dalal and Triggs, Histograms of oriented gradients for human detection (2005). Here, Gaussian
    windows replace cells and blocks.

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
        """Store the shape of a row; nothing is learned from the data.

        :meth:`transform` may be called without a fit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
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
        self._grid = image_grid(shape, X.shape[1], type(self).__name__)
        sides, step, margin = self._grid[:2], int(self.step), int(self.margin)
        # axes of one pixel are not filtered
        identity = np.ones(1)
        self._contrast_weights = tuple(
            gaussian_weights(self.contrast, 1, 0) if n > 1 else identity for n in sides
        )
        self._blur_weights = tuple(
            gaussian_weights(self.blur, step, margin) if n > 1 else identity for n in sides
        )
        self._steps = tuple(step if n > 1 else 1 for n in sides)
        rows, columns = (1 if n == 1 else -(-(n + 2 * margin) // step) for n in sides)
        self.shape_ = (rows, columns, int(self.n_orientations))
        self._floor, self._smooth = float(self.floor), float(self.smooth)
        self._threshold, self._despike = float(self.threshold), bool(self.despike)
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Return the maps of each row.

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
        images = np.ascontiguousarray(X).reshape(-1, *self._grid)
        out = np.empty((len(X), *self.shape_), dtype=X.dtype)
        in_threads(
            lambda rows: oriented_gradients(
                self._denoise(images[rows]),
                self.shape_[2],
                self._threshold,
                self._contrast_weights,
                self._floor,
                self._blur_weights,
                self._steps,
                out[rows],
            ),
            slices(len(X), 256),
        )
        return out.reshape(len(X), -1)

    def _denoise(self, images: NDArray) -> NDArray:
        """Return images after ``despike`` and ``smooth``."""
        if self._despike:
            images = despike(images)
        if self._smooth == 0:
            return images
        sigmas = [self._smooth if side > 1 else 0.0 for side in self._grid[:2]]
        return gaussian_filter(images, [0, *sigmas, *[0] * (images.ndim - 3)], mode="constant")

    @property
    def _n_features_out(self) -> int:
        return int(np.prod(self.shape_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def gaussian_weights(sigma: float, step: int, margin: int) -> NDArray[np.float64]:
    """Return the weights of a Gaussian filter that is sampled at every ``step``-th pixel.

    Sample i is the sum of weights times pixels, from pixel ``step * i - len(weights) // 2`` on. Its
    position is the middle of ``step`` pixels; those of the first sample begin ``margin`` pixels
    outside the image. With ``sigma=0`` the filter is a box of width ``step``.
    """
    offset = (step - 1) / 2 - margin
    reach = int(np.ceil(3 * sigma + abs(offset)))
    distances = np.arange(-reach, reach + 1) - offset
    if sigma == 0:
        weights = (np.abs(distances) <= step / 2).astype(float)
    else:
        # relative to the nearest pixel, since weights of narrow filters would underflow; the filter
        # is cut off at equal distances on both sides
        squared = distances**2 - (distances**2).min()
        weights = np.exp(-0.5 * squared / sigma**2) * (np.abs(distances) <= 3 * sigma + 0.5)
    return weights / weights.sum()


def despike(images: NDArray) -> NDArray:
    """Return images with each pixel clipped to the range of its eight neighbours.

    ``images`` and the result have the shape (n, height, width, channels). The result is that of
    :func:`scipy.ndimage.minimum_filter` and ``maximum_filter``, in less time
    (``python benchmarks/run.py libraries``).
    """
    height, width = images.shape[1:3]
    # images are reflected at the border; axes of one pixel have no neighbours
    reach = [int(side > 1) for side in (height, width)]
    margins = ((0, 0), *((pixels, pixels) for pixels in reach), (0, 0))
    padded = np.pad(images, margins, mode="reflect")
    low = high = None
    for down in range(2 * reach[0] + 1):
        for right in range(2 * reach[1] + 1):
            if (down, right) != tuple(reach):
                neighbours = padded[:, down : down + height, right : right + width]
                low = neighbours.copy() if low is None else np.minimum(low, neighbours, out=low)
                high = neighbours.copy() if high is None else np.maximum(high, neighbours, out=high)
    return images if low is None else np.clip(images, low, high)


def noise_level(X: NDArray, shape: tuple[int, ...]) -> float:
    """Estimate the noise of images, relative to the largest difference of neighbouring pixels.

    For Gaussian noise, the estimate is its standard deviation divided by that difference. It is
    computed from the median of the absolute values of diagonal second differences (of four pixels),
    which are small in strokes and in smooth regions. Coarse images have large second differences,
    and cannot be distinguished from noisy images. Single hot or dead pixels are ignored.

    Parameters
    ----------
    X : array of shape (n, n_features)
    shape : tuple
        Shape of a row: (height, width) or (height, width, channels).

    Returns
    -------
    float
    """
    images = despike(X.reshape(len(X), *shape[:2], -1))
    down, across = np.diff(images, axis=1), np.diff(images, axis=2)
    diagonal = np.diff(down, axis=2)
    # the median over images ignores outliers
    largest = [np.abs(difference).max(axis=(1, 2, 3)) for difference in (down, across)]
    scale = float(np.median(np.maximum(*largest)))
    # 0.6745 is the median of the absolute value of a standard normal variable
    return float(np.median(np.abs(diagonal))) / 2 / 0.6745 / scale if scale > 0 else 0.0
