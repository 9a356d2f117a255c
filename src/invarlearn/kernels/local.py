"""Locality at several scales: polynomials of windows of polynomials of windows (paper 003)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from invarlearn.kernels._windows import SquaredWindows
from invarlearn.kernels.base import Kernel, Rows, check_finite, check_pair
from invarlearn.transforms._checks import Shape, as_tuple, check_number
from invarlearn.transforms._threads import in_threads, slices
from invarlearn.transforms.grid import image_grid

# With so many products of two pixels a pixel, running sums over windows are faster.
MANY_CHANNELS = 200

# Products of pixels are held in blocks of about this size.
BLOCK_BYTES = 64 * 2**20

_PADDINGS = {"zero": 0, "valid": 1, "wrap": 2}


class LocalPolynomial(Kernel):
    """Polynomials of neighbouring pixels, layer upon layer.

    The products of the pixels of two images are summed over windows and raised to a power, once
    for each width, and at last over the whole image (paper 003, equations 5 and 6):
    ``z = x * y``, then ``z = (window sum of z + 1) ** degree`` for each layer, then
    ``(sum of z + 1) ** last degree``.

    Parameters
    ----------
    widths : sequence of int, default=(7,)
        Side of the windows of each layer, in pixels.
    degrees : sequence of int, default=(2, 4)
        Degree of each layer, and the last one for the whole image: one more than widths.
    padding : {"zero", "valid", "wrap"}, default="zero"
        Windows at the border: filled up with zeros (odd widths; as many windows as pixels), left
        out, or continued on the other side.
    average : bool, default=True
        Whether sums are divided by the number of pixels or windows, as in the authors' code.
        Without it values grow beyond what single precision holds.
    shape : int or tuple, optional
        Shape of a row: length, (height, width) or (height, width, channels). None: a square
        image. Channels are summed before the first layer; along an axis of one pixel a window is
        one pixel wide, so (1, length, channels) is a signal.

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
    ):
        self.widths = widths
        self.degrees = degrees
        self.padding = padding
        self.average = average
        self.shape = shape

    def _values(self, X: ArrayLike, Y: ArrayLike | None) -> Rows:
        X, Y = check_pair(X, Y)
        same = X is Y
        grid = self._grid(X.shape[1])
        images, others = (np.ascontiguousarray(Z).reshape(-1, *grid) for Z in (X, Y))
        if self._is_squared(grid):
            terms = SquaredWindows(self, grid)
            if terms.n_channels < MANY_CHANNELS:
                values = terms.finish(_inner_products(terms, images, others))
                return check_finite((values + values.T) / 2 if same else values)
        return check_finite(self._by_box_filters(images, others, same))

    def _by_box_filters(self, images: Rows, others: Rows, same: bool) -> Rows:
        from invarlearn.kernels._local import local_gram

        windows, degrees = self._layers(images.shape[1:])
        padding = _PADDINGS[self.padding]
        out = np.empty((len(images), len(others)), dtype=images.dtype)
        in_threads(
            lambda rows: local_gram(
                images[rows],
                others,
                windows,
                degrees,
                padding,
                bool(self.average),
                rows.start if same else -1,
                out[rows],
            ),
            slices(len(images), 8),
        )
        if same:
            lower = np.tril_indices(len(out), -1)
            out[lower] = out.T[lower]
        return out

    def diag(self, X: ArrayLike) -> Rows:
        X, _ = check_pair(X, None)
        return np.array([self(row[None])[0, 0] for row in X], dtype=X.dtype)

    def _is_squared(self, grid: tuple[int, int, int]) -> bool:
        """Tell whether this is one layer of squares, which can be multiplied out."""
        windows, degrees = self._layers(grid)
        # around the border, two pixels must not meet twice in a window
        meets = any(2 * k - 1 > side for k, side in zip(windows[0], grid[:2], strict=True))
        once = self.padding != "wrap" or not meets
        return len(windows) == 1 and degrees[0] == 2 and once

    def _grid(self, n_features: int) -> tuple[int, int, int]:
        shape = None if self.shape is None else as_tuple(self.shape)
        if shape is not None and len(shape) == 1:
            shape = (1, *shape)
        return image_grid(shape, n_features, type(self).__name__)

    def _layers(self, grid: tuple[int, ...]) -> tuple[Rows, Rows]:
        """Give the windows, (layers, 2), and the degrees, (layers + 1,), once they make sense."""
        if self.padding not in _PADDINGS:
            raise ValueError(
                f"padding={self.padding!r} is unknown: choose one of {', '.join(_PADDINGS)}"
            )
        widths, degrees = (
            [int(check_number(value, name, low=1, whole=True)) for value in as_list(given, name)]
            for given, name in ((self.widths, "widths"), (self.degrees, "degrees"))
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
        lost = (windows - 1).sum(axis=0) if self.padding == "valid" else (windows - 1).max(axis=0)
        if (lost >= np.array(grid[:2])).any():
            raise ValueError(
                f"widths={self.widths!r} do not fit in images of {grid[0]} x {grid[1]} pixels"
            )
        return windows, np.array(degrees)


def as_list(given: Sequence[int], name: str) -> list[int]:
    """Take a sequence of numbers apart; one number gets the advice to make a sequence of it."""
    if np.ndim(given) != 1 or isinstance(given, str):
        raise ValueError(f"{name}={given!r} must be a sequence of numbers, one for each layer")
    return list(given)


def _inner_products(terms: SquaredWindows, images: Rows, others: Rows) -> Rows:
    """Give the inner products of all products of two pixels, in blocks: (n, m)."""
    out = np.empty((len(images), len(others)), dtype=images.dtype)
    one = terms.n_channels * images[0].nbytes
    for columns in slices(len(others), 4 * BLOCK_BYTES // one):
        right = terms.right(others[columns]).reshape(columns.stop - columns.start, -1)
        for rows in slices(len(images), BLOCK_BYTES // one):
            left = terms.left(images[rows]).reshape(rows.stop - rows.start, -1)
            out[rows, columns] = left @ right.T
    return out
