"""Images moved so that what is in them is in the middle."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._dask import is_dask, sampled, transformed
from invarlearn.transforms._checks import Shape, check_number
from invarlearn.transforms._threads import in_threads, slices
from invarlearn.transforms.grid import image_grid, whole_shape

# Squared gradients of up to so many times the median are taken for noise.
NOISE_MEDIANS = 3


class Centred(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Move images so that the centre of their edges is in the middle.

    The centre of the squared gradients of the blurred image, without what is as faint as noise.
    Images are moved by whole pixels; what comes in has the median of the pixels at the border.
    Against large shifts this does more than copies, as long as there is one thing in each image,
    and all of it.

    Parameters
    ----------
    blur : float, default=1.4
        Standard deviation, in pixels, of the Gaussian that blurs the image before its gradient is
        taken; what is moved is not blurred.
    shape : tuple, optional
        Shape of a row: (height, width) or (height, width, channels). None: a square image; -1 for
        one of the numbers: what is left for it, so (1, -1) is a signal of any length.

    Attributes
    ----------
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((9, 9))
    >>> image[1:4, 5:8] = 1
    >>> moved = Centred().fit_transform(image.reshape(1, -1)).reshape(9, 9)
    >>> bool(moved[3:6, 3:6].all()), float(moved.sum())
    (True, 9.0)
    """

    def __init__(self, blur: float = 1.4, shape: Shape = None):
        self.blur = blur
        self.shape = shape

    def fit(self, X: ArrayLike, y: Any = None) -> Centred:
        """Learn the shape of a row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        """
        if is_dask(X):
            X = sampled(X, 1)
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        self._blur = float(check_number(self.blur, "blur", low=0))
        shape = whole_shape(self.shape, X.shape[1])
        self._images = image_grid(shape, X.shape[1], type(self).__name__)
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Move the images.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        if is_dask(X):
            return transformed(X, self, self.n_features_in_, np.float32)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        images = np.ascontiguousarray(X).reshape(len(X), *self._images)
        out = np.empty_like(images)

        def move(rows: slice) -> None:
            some = images[rows]
            middle = (np.array(self._images[:2]) - 1) / 2
            shifts = np.rint(middle - centres(some, self._blur)).astype(int)
            out[rows] = _shifted(some, shifts)

        in_threads(move, slices(len(X), 256))
        return out.reshape(X.shape)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def centres(images: NDArray, blur: float) -> NDArray[np.float64]:
    """Find the centres of edges, in pixels from the first: (n, 2).

    Images have shape (n, height, width, ...); without any edges the middle is the centre.
    """
    n, *sides = images.shape[:3]
    along = [blur if side > 1 else 0.0 for side in sides]
    blurred = gaussian_filter(images, [0, *along, *[0] * (images.ndim - 3)], mode="nearest")
    squares = np.zeros(images.shape[:3])
    for axis, side in enumerate(sides, start=1):
        if side > 1:
            slope = np.gradient(blurred, axis=axis) ** 2
            squares += slope.reshape(n, *sides, -1).sum(axis=-1)
    squares -= NOISE_MEDIANS * np.median(squares, axis=(1, 2), keepdims=True)
    np.maximum(squares, 0, out=squares)
    found = np.empty((n, 2))
    total = squares.sum(axis=(1, 2))
    for i, side in enumerate(sides):
        places = np.arange(side) - (side - 1) / 2
        moments = squares.sum(axis=2 - i) @ places
        found[:, i] = (side - 1) / 2 + moments / np.where(total > 0, total, 1)
    return found


def _shifted(images: NDArray, shifts: NDArray[np.intp]) -> NDArray:
    """Shift each image by whole pixels, down and right."""
    height, width = images.shape[1:3]
    border = np.concatenate(
        [images[:, 0], images[:, -1], images[:, :, 0], images[:, :, -1]], axis=1
    )
    rows = np.arange(height) - shifts[:, :1]
    columns = np.arange(width) - shifts[:, 1:]
    inside = (
        ((rows >= 0) & (rows < height))[:, :, None]
        & ((columns >= 0) & (columns < width))[:, None, :]
    ).reshape(len(images), height, width, *[1] * (images.ndim - 3))
    taken = images[
        np.arange(len(images))[:, None, None],
        rows.clip(0, height - 1)[:, :, None],
        columns.clip(0, width - 1)[:, None, :],
    ]
    outside = np.median(border, axis=1)[:, None, None]
    return np.where(inside, taken, outside)
