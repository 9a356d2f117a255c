"""Centring of images on their edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._utils.dask import is_dask, sampled, transformed
from invarlearn._utils.parallel import in_threads, slices
from invarlearn._utils.validation import Shape, check_number
from invarlearn.transforms.grid import image_grid, whole_shape

# Size of a block of images; intermediate arrays take eight times as much memory.
BLOCK_BYTES = 2 * 2**20


class Centred(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Translate images so that the centre of their edges is in the middle.

    With :math:`|\nabla x_u|^2` the squared gradient of the blurred image at pixel u, and M its
    median over the image, the centre is

    .. math:: c = \frac{\sum_u w_u u}{\sum_u w_u},
       \qquad w_u = \max(0, |\nabla x_u|^2 - \kappa M),

    where kappa is ``noise_factor``. Images are translated by whole pixels. Pixels that enter from
    outside have the median value of the border; pixels that leave are lost. Where each image shows
    one whole object, this compensates larger translations than augmentation does.

    Parameters
    ----------
    blur : float, default=1.4
        Standard deviation, in pixels, of the Gaussian blur before the gradient. The result is not
        blurred.
    shape : tuple, optional
        Shape of a row: (height, width) or (height, width, channels). None: a square image. One of
        the sides may be -1, and is inferred: (1, -1) is a signal of any length.
    noise_factor : float, default=3.0
        Squared gradients up to this multiple of their median are treated as noise.

    Attributes
    ----------
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((9, 9))
    >>> image[1:4, 5:8] = 1
    >>> centred = Centred().fit_transform(image.reshape(1, -1)).reshape(9, 9)
    >>> bool(centred[3:6, 3:6].all()), float(centred.sum())
    (True, 9.0)
    """

    def __init__(self, blur: float = 1.4, shape: Shape = None, noise_factor: float = 3.0):
        self.blur = blur
        self.shape = shape
        self.noise_factor = noise_factor

    def fit(self, X: ArrayLike, y: Any = None) -> Centred:
        """Store the shape of a row; nothing is learned from the data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        if is_dask(X):
            X = sampled(X, 1)
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        self._blur = float(check_number(self.blur, "blur", low=0))
        self._noise_factor = float(check_number(self.noise_factor, "noise_factor", low=0))
        shape = whole_shape(self.shape, X.shape[1])
        self._grid = image_grid(shape, X.shape[1], type(self).__name__)
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Return the centred images.

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
        images = np.ascontiguousarray(X).reshape(len(X), *self._grid)
        out = np.empty_like(images)
        middle = (np.array(self._grid[:2]) - 1) / 2

        def translate(rows: slice) -> None:
            background = border_median(images[rows])
            centres = edge_centres(images[rows], background, self._blur, self._noise_factor)
            # halves are rounded up, even after rounding errors
            shifts = np.floor(middle - centres + 0.5 + 1e-6).astype(int)
            out[rows] = background[:, None, None]
            for image, target, shift in zip(images[rows], out[rows], shifts, strict=True):
                _copy_shifted(image, target, shift)

        in_threads(translate, slices(len(X), max(1, BLOCK_BYTES // images[:1].nbytes)))
        return out.reshape(X.shape)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def border_median(images: NDArray) -> NDArray:
    """Return the median of the pixels at the border, of each channel: (n, channels)."""
    _, height, width, channels = images.shape
    lines = [images[:, (0, -1)]] * (height > 1) + [images[:, :, (0, -1)]] * (width > 1)
    border = [line.reshape(len(images), -1, channels) for line in lines or [images]]
    return np.median(np.concatenate(border, axis=1), axis=1)


def edge_centres(
    images: NDArray, background: NDArray, blur: float, noise_factor: float = 3.0
) -> NDArray[np.float64]:
    """Return the centres of edges, in pixels from the first pixel.

    Parameters
    ----------
    images : array of shape (n, height, width, channels)
    background : array of shape (n, channels)
        Values outside each image.
    blur, noise_factor : float
        As in :class:`Centred`.

    Returns
    -------
    array of shape (n, 2)
        Row and column of each centre; the middle of the image if it has no edges.
    """
    n, *sides, channels = images.shape
    # with a margin, so that objects at the border have edges on all sides
    margins = [int(np.ceil(4 * blur)) + 2 if side > 1 else 0 for side in sides]
    padded = np.empty((n, *(a + 2 * b for a, b in zip(sides, margins, strict=True)), channels))
    padded[:] = background[:, None, None]
    inner = [slice(b, b + a) for a, b in zip(sides, margins, strict=True)]
    padded[:, inner[0], inner[1]] = images
    padded /= np.maximum(np.abs(padded).max(axis=(1, 2, 3), keepdims=True), np.finfo(float).tiny)
    sigmas = [blur if side > 1 else 0.0 for side in sides]
    blurred = gaussian_filter(padded, [0, *sigmas, 0], mode="nearest")
    weights = np.zeros(padded.shape[:3])
    for axis, side in enumerate(sides, start=1):
        if side > 1:
            weights += (np.gradient(blurred, axis=axis) ** 2).sum(axis=3)
    noise = np.median(weights[:, inner[0], inner[1]], axis=(1, 2), keepdims=True)
    # the last term removes rounding errors in flat images
    weights = np.maximum(weights - noise_factor * noise - 1e-20, 0)
    total = weights.sum(axis=(1, 2))
    centres = np.empty((n, 2))
    for i, (side, margin) in enumerate(zip(sides, margins, strict=True)):
        positions = np.arange(weights.shape[1 + i]) - margin - (side - 1) / 2
        moments = weights.sum(axis=2 - i) @ positions
        centres[:, i] = (side - 1) / 2 + moments / np.where(total > 0, total, 1)
    return centres


def _copy_shifted(image: NDArray, target: NDArray, shift: NDArray[np.intp]) -> None:
    """Copy an image to ``target``, shifted down and to the right; pixels that leave are lost."""
    target_slices, source_slices = [], []
    for side, offset in zip(image.shape[:2], shift, strict=True):
        target_slices.append(slice(max(0, offset), side + min(0, offset)))
        source_slices.append(slice(max(0, -offset), side - max(0, offset)))
    target[tuple(target_slices)] = image[tuple(source_slices)]
