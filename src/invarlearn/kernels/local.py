"""Local polynomial kernels: locality at several scales (Liu et al., 2022)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from invarlearn._utils.parallel import in_threads, slices
from invarlearn._utils.validation import Shape, as_tuple, check_choice, check_number
from invarlearn.kernels.base import Kernel, Rows, check_finite, check_pair
from invarlearn.kernels.channels import SquaredWindows
from invarlearn.transforms.grid import image_grid

# With more channels, sums over windows are faster than matrix products of channels.
MOST_CHANNELS = 14

# Products of pixels are computed in blocks of about this size.
BLOCK_BYTES = 64 * 2**20

_PADDINGS = {"zero": 0, "valid": 1, "wrap": 2}


class LocalPolynomial(Kernel):
    """The local polynomial kernel: polynomials of neighbouring pixels, in one or more layers.

    The products of the pixels of two images are summed over windows and raised to a power, in each
    layer, and finally summed over the whole image (Liu et al., 2022, equations 5 and 6):
    ``z = x * y``, then ``z = (window sum of z + 1) ** degree`` for each layer, then
    ``(sum of z + 1) ** last degree``.

    Parameters
    ----------
    widths : sequence of int, default=(7,)
        Side of the windows of each layer, in pixels.
    degrees : sequence of int, default=(2, 4)
        Degree of each layer, followed by the degree of the whole image.
    padding : {"zero", "valid", "wrap"}, default="zero"
        Windows at the border of the image. "zero": padded with zeros, so that there are as many
        windows as pixels; widths must be odd. "valid": omitted. "wrap": continued on the opposite
        side.
    average : bool, default=True
        Whether sums are divided by the number of pixels or windows. Undivided values may overflow
        single precision.
    shape : int or tuple, optional
        Shape of a row: length, (height, width) or (height, width, channels). None: a square
        image. Channels are summed before the first layer. Along an axis of one pixel, windows are
        one pixel wide, so that (1, length, channels) is a signal.
    image_scale : float, optional
        Factor of the sum over the whole image. None: 1 / number of windows if ``average`` is True,
        and 1 otherwise. The authors' code divides window sums by the number of pixels, but the sum
        over the 784 windows of an image of 28 x 28 pixels by 28 only: ``image_scale=1 / 28``.

    Examples
    --------
    >>> LocalPolynomial(widths=(3,), degrees=(2, 1), average=False)(
    ...     [[1.0, 0, 0, 0, 0, 0, 0, 0, 0]], [[2.0, 0, 0, 0, 0, 0, 0, 0, 0]]
    ... )
    array([[42.]])
    """

    def __init__(
        self,
        widths: Sequence[int] = (7,),
        degrees: Sequence[int] = (2, 4),
        padding: str = "zero",
        average: bool = True,
        shape: Shape = None,
        image_scale: float | None = None,
    ):
        self.widths = widths
        self.degrees = degrees
        self.padding = padding
        self.average = average
        self.shape = shape
        self.image_scale = image_scale

    def values(self, X: ArrayLike, Y: ArrayLike | None) -> Rows:
        X, Y = check_pair(X, Y)
        same = X is Y
        grid = self._grid(X.shape[1])
        images, others = (np.ascontiguousarray(Z).reshape(-1, *grid) for Z in (X, Y))
        terms = self._squared_windows(grid)
        if terms is not None and terms.n_channels <= MOST_CHANNELS:
            values = terms.finish(_inner_products(terms, images, others), np.empty(0))
            return check_finite((values + values.T) / 2 if same else values)
        if len(self.widths) == 1:
            return check_finite(self._by_windows(images, others, same))
        return check_finite(self._by_box_filters(images, others, same))

    def _by_windows(self, images: Rows, others: Rows, same: bool) -> Rows:
        """Compute values of a kernel of one layer."""
        from invarlearn.kernels._windows import CACHED_ROWS, padded_images, window_gram

        windows, degrees = self._layers(images.shape[1:])
        number = images.dtype.type
        window = (int(windows[0, 0]), int(windows[0, 1]))
        window_scale = number(1 / (window[0] * window[1]) if self.average else 1)
        image_scale = number(self._image_scale(images.shape[1:], windows))
        left = padded_images(images, window, self.padding)
        right = left if same else padded_images(others, window, self.padding)
        sums = np.empty((len(images), len(others)), dtype=images.dtype)
        in_threads(
            lambda rows: window_gram(
                left[rows],
                right,
                window,
                window_scale,
                int(degrees[0]),
                rows.start if same else -1,
                sums[rows],
            ),
            slices(len(images), CACHED_ROWS),
        )
        if same:
            sums = _symmetric(sums)
        return (image_scale * sums + 1) ** int(degrees[1])

    def _by_box_filters(self, images: Rows, others: Rows, same: bool) -> Rows:
        from invarlearn.kernels._local import local_gram

        windows, degrees = self._layers(images.shape[1:])
        padding = _PADDINGS[self.padding]
        image_scale = self._image_scale(images.shape[1:], windows)
        out = np.empty((len(images), len(others)), dtype=images.dtype)
        in_threads(
            lambda rows: local_gram(
                images[rows],
                others,
                windows,
                degrees,
                padding,
                bool(self.average),
                image_scale,
                rows.start if same else -1,
                out[rows],
            ),
            slices(len(images), 8),
        )
        return _symmetric(out) if same else out

    def diag(self, X: ArrayLike) -> Rows:
        X, _ = check_pair(X, None)
        return np.array([self(row[None])[0, 0] for row in X], dtype=X.dtype)

    def channel_products(self, grid: tuple[int, int, int]) -> SquaredWindows | None:
        """Return the expansion of one layer of squares into products of pixels.

        None for other degrees or several layers, or if the kernel has another shape.
        """
        height, width, channels = grid
        same_shape = self._grid(height * width * channels) == grid
        return self._squared_windows(grid) if same_shape else None

    def _squared_windows(self, grid: tuple[int, int, int]) -> SquaredWindows | None:
        windows, degrees = self._layers(grid)
        # in windows that wrap around, two pixels must not have two displacements
        is_wide = any(2 * k - 1 > side for k, side in zip(windows[0], grid[:2], strict=True))
        if len(windows) > 1 or degrees[0] != 2 or (self.padding == "wrap" and is_wide):
            return None
        down, right = (int(width) for width in windows[0])
        degree = int(degrees[-1])
        image_scale = self._image_scale(grid, windows)
        average = bool(self.average)
        return SquaredWindows(grid, (down, right), degree, self.padding, average, image_scale)

    def _image_scale(self, grid: tuple[int, ...], windows: Rows) -> float:
        """Return the factor of the sum over the windows of the last layer."""
        if self.image_scale is not None:
            return check_number(self.image_scale, "image_scale", low=np.finfo(float).tiny)
        n_lost = (windows - 1).sum(axis=0) if self.padding == "valid" else np.zeros(2, dtype=int)
        n_windows = int(np.prod(np.array(grid[:2]) - n_lost))
        return 1.0 / n_windows if self.average else 1.0

    def _grid(self, n_features: int) -> tuple[int, int, int]:
        shape = None if self.shape is None else as_tuple(self.shape)
        if shape is not None and len(shape) == 1:
            shape = (1, *shape)
        return image_grid(shape, n_features, type(self).__name__)

    def _layers(self, grid: tuple[int, ...]) -> tuple[Rows, Rows]:
        """Return the validated windows, (n_layers, 2), and degrees, (n_layers + 1,)."""
        check_choice(self.padding, list(_PADDINGS), "padding")
        widths, degrees = (
            [int(check_number(value, name, low=1, whole=True)) for value in as_list(values, name)]
            for values, name in ((self.widths, "widths"), (self.degrees, "degrees"))
        )
        if not widths or len(degrees) != len(widths) + 1:
            raise ValueError(
                f"widths={self.widths!r} and degrees={self.degrees!r}: there must be one degree "
                "for each width, and one for the whole image"
            )
        if self.padding == "zero" and any(width % 2 == 0 for width in widths):
            raise ValueError(
                f"widths={self.widths!r} must be odd, so that windows are centred on pixels; "
                "with padding='valid' or 'wrap' they may be even"
            )
        windows = np.array([[w if side > 1 else 1 for side in grid[:2]] for w in widths])
        n_lost = (windows - 1).sum(axis=0) if self.padding == "valid" else (windows - 1).max(axis=0)
        if (n_lost >= np.array(grid[:2])).any():
            raise ValueError(
                f"widths={self.widths!r} do not fit in images of {grid[0]} x {grid[1]} pixels: "
                "choose smaller widths"
            )
        return windows, np.array(degrees)


def as_list(values: Sequence[int], name: str) -> list[int]:
    """Return a sequence of numbers as a list; raise ValueError for a number or a string."""
    if np.ndim(values) != 1 or isinstance(values, str):
        raise ValueError(f"{name}={values!r} must be a sequence of numbers, one for each layer")
    return list(values)


def _symmetric(gram: Rows) -> Rows:
    """Return a symmetric matrix with the upper triangle of a matrix."""
    return np.triu(gram) + np.triu(gram, 1).T


def _inner_products(terms: SquaredWindows, images: Rows, others: Rows) -> Rows:
    """Return the inner products of the channels of all pairs of images, in blocks: (n, m)."""
    out = np.empty((len(images), len(others)), dtype=images.dtype)
    image_bytes = terms.n_channels * images[0].nbytes
    for columns in slices(len(others), 4 * BLOCK_BYTES // image_bytes):
        right = terms.right(others[columns]).reshape(columns.stop - columns.start, -1)
        for rows in slices(len(images), BLOCK_BYTES // image_bytes):
            left = terms.left(images[rows]).reshape(rows.stop - rows.start, -1)
            out[rows, columns] = left @ right.T
    return out
