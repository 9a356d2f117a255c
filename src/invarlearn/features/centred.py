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
# A thread works on images of about this size; what it makes of them takes eight times as much.
BLOCK_BYTES = 2 * 2**20


class Centred(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Move images so that the centre of their edges is in the middle.

    The centre of the squared gradients of the blurred image, without what is as faint as noise.
    Images are moved by whole pixels. Around them, and in what comes in, there is the median of the
    pixels at the border; nothing comes back on the other side. Against large shifts this does more
    than copies, as long as there is one thing in each image, and all of it.

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
            return transformed(X, self, self.n_features_in_)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        images = np.ascontiguousarray(X).reshape(len(X), *self._images)
        out = np.empty_like(images)
        middle = (np.array(self._images[:2]) - 1) / 2

        def move(rows: slice) -> None:
            around = border_median(images[rows])
            # halves are always rounded up, whatever errors of rounding they have
            away = middle - centres(images[rows], around, self._blur)
            shifts = np.floor(away + 0.5 + 1e-6).astype(int)
            out[rows] = around[:, None, None]
            for image, moved, shift in zip(images[rows], out[rows], shifts, strict=True):
                _paste(image, moved, shift)

        in_threads(move, slices(len(X), max(1, BLOCK_BYTES // images[:1].nbytes)))
        return out.reshape(X.shape)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def border_median(images: NDArray) -> NDArray:
    """Give the median of the pixels at the border, of each channel: (n, channels)."""
    _, height, width, channels = images.shape
    lines = [images[:, (0, -1)]] * (height > 1) + [images[:, :, (0, -1)]] * (width > 1)
    border = [line.reshape(len(images), -1, channels) for line in lines or [images]]
    return np.median(np.concatenate(border, axis=1), axis=1)


def centres(images: NDArray, around: NDArray, blur: float) -> NDArray[np.float64]:
    """Find the centres of edges, in pixels from the first: (n, 2).

    Images have shape (n, height, width, channels), and such values around them. Without any edges
    the middle is the centre.
    """
    n, *sides, channels = images.shape
    # so that things at the border have all of their edges
    margins = [int(np.ceil(4 * blur)) + 2 if side > 1 else 0 for side in sides]
    padded = np.empty((n, *(a + 2 * b for a, b in zip(sides, margins, strict=True)), channels))
    padded[:] = around[:, None, None]
    inner = [slice(b, b + a) for a, b in zip(sides, margins, strict=True)]
    padded[:, inner[0], inner[1]] = images
    padded /= np.maximum(np.abs(padded).max(axis=(1, 2, 3), keepdims=True), np.finfo(float).tiny)
    along = [blur if side > 1 else 0.0 for side in sides]
    blurred = gaussian_filter(padded, [0, *along, 0], mode="nearest")
    squares = np.zeros(padded.shape[:3])
    for axis, side in enumerate(sides, start=1):
        if side > 1:
            squares += (np.gradient(blurred, axis=axis) ** 2).sum(axis=3)
    # of what is flat but for errors of rounding, nothing is left
    noise = np.median(squares[:, inner[0], inner[1]], axis=(1, 2), keepdims=True)
    squares = np.maximum(squares - NOISE_MEDIANS * noise - 1e-20, 0)
    total = squares.sum(axis=(1, 2))
    found = np.empty((n, 2))
    for i, (side, margin) in enumerate(zip(sides, margins, strict=True)):
        places = np.arange(squares.shape[1 + i]) - margin - (side - 1) / 2
        moments = squares.sum(axis=2 - i) @ places
        found[:, i] = (side - 1) / 2 + moments / np.where(total > 0, total, 1)
    return found


def _paste(image: NDArray, out: NDArray, shift: NDArray[np.intp]) -> None:
    """Write an image into another one, so many pixels further down and right."""
    to, of = [], []
    for side, by in zip(image.shape[:2], shift, strict=True):
        to.append(slice(max(0, by), side + min(0, by)))
        of.append(slice(max(0, -by), side - max(0, by)))
    out[to[0], to[1]] = image[of[0], of[1]]
