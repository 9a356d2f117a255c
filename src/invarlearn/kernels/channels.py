"""Kernels of images as functions of one inner product of channels, for all shifts at once.

The inner products of x with all shifts of y are a correlation. So are the sums over windows in a
local polynomial kernel of inner degree two: the expanded square of a window sum is a sum over pairs
of pixels, of the product of both pixels of x and both pixels of y. There is one channel for each
displacement between the pixels of a pair.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from invarlearn.kernels.profile import ProfileKernel

Rows = NDArray[np.floating]


class ChannelProducts(Protocol):
    """A kernel of images as ``finish(<left(x), right(y)>, |x|^2)``.

    Attributes
    ----------
    n_channels : int
        Number of channels of ``left`` and ``right``, each of the size of the image.
    uses_norms : bool
        Whether ``|y|^2 / 2`` must be subtracted from the inner product first.
    is_linear : bool
        Whether ``right`` is linear, so that y can be normalised after the products.
    best_at_largest_inner_product : bool
        As in :class:`~invarlearn.kernels.Kernel`.
    is_cyclic : bool
        Whether windows wrap around the image. Only cyclic shifts preserve such windows.
    """

    n_channels: int
    uses_norms: bool
    is_linear: bool
    best_at_largest_inner_product: bool
    is_cyclic: bool

    def left(self, images: Rows) -> Rows:
        """Return the channels of x: (n, height, width, c) to (n, n_channels, height, width)."""

    def right(self, images: Rows) -> Rows:
        """Return the channels of y: (n, height, width, c) to (n, n_channels, height, width)."""

    def finish(self, fits: Rows, squares: Rows) -> Rows:
        """Compute values of the kernel from inner products and squared norms of x."""


class PixelProducts:
    """Inner products of pixels, for kernels that are functions of them.

    Parameters
    ----------
    grid : tuple (height, width, channels)
    kernel : ProfileKernel
    """

    is_linear = True
    is_cyclic = False

    def __init__(self, grid: tuple[int, int, int], kernel: ProfileKernel):
        self.n_channels = grid[2]
        self.uses_norms = kernel.uses_norms
        self.best_at_largest_inner_product = kernel.best_at_largest_inner_product
        self.finish = kernel.from_fits

    def left(self, images: Rows) -> Rows:
        """Move the channels of images to the second axis."""
        return images.transpose(0, 3, 1, 2)

    right = left


class SquaredWindows:
    """Expanded sums over windows of ``(gamma * window sum of x * y + 1) ** 2``.

    The first channels have single pixels; the others have products of two pixels at a fixed
    displacement. Those of x are weighted by the number of windows that contain both pixels.

    Parameters
    ----------
    grid : tuple (height, width, channels)
    window : tuple (height, width)
    degree : int
        Degree of the polynomial of the whole image.
    padding : {"zero", "valid", "wrap"}
    average : bool
        Whether window sums are divided by the number of pixels.
    image_scale : float
        Factor of the sum over all windows.
    """

    uses_norms = False
    is_linear = False
    # sums of squares are nonnegative, and their powers are increasing
    best_at_largest_inner_product = True

    def __init__(
        self,
        grid: tuple[int, int, int],
        window: tuple[int, int],
        degree: int,
        padding: str,
        average: bool,
        image_scale: float,
    ):
        height, width, channels = grid
        down, right = window
        self.is_cyclic = padding == "wrap"
        self.gamma = 1.0 / (down * right) if average else 1.0
        rows, n_rows = _windows_with(height, down, padding)
        columns, n_columns = _windows_with(width, right, padding)
        self.n_windows = n_rows * n_columns
        self.scale = image_scale
        self.degree = degree
        self.single = np.outer(rows(0), columns(0))
        self.pairs = []
        for dr, dc in product(range(down), range(1 - right, right)):
            if dr == 0 and dc < 0:
                continue
            weight = np.outer(rows(dr), columns(dc))
            for a, b in product(range(channels), repeat=2):
                if (dr, dc) == (0, 0) and b < a:
                    continue
                is_pair = (dr, dc) != (0, 0) or a != b
                self.pairs.append((dr, dc, a, b, weight * (2.0 if is_pair else 1.0)))
        self.channels = channels
        self.n_channels = channels + len(self.pairs)

    def finish(self, fits: Rows, squares: Rows) -> Rows:
        """Compute values of the kernel from inner products; ``squares`` is ignored."""
        windows = fits + fits.dtype.type(self.n_windows)
        return (windows * fits.dtype.type(self.scale) + 1) ** self.degree

    def left(self, images: Rows) -> Rows:
        """Return the weighted pixels, and products of pixels, of x."""
        n, height, width, channels = images.shape
        out = np.zeros((n, self.n_channels, height, width), dtype=images.dtype)
        number = images.dtype.type
        for a in range(channels):
            out[:, a] = images[..., a] * number(2 * self.gamma) * self.single.astype(images.dtype)
        for i, (dr, dc, a, b, weight) in enumerate(self.pairs):
            # the weight is zero where the other pixel is outside, unless windows wrap around
            other = np.roll(images[..., b], (-dr, -dc), axis=(1, 2))
            scaled = (weight * self.gamma**2).astype(images.dtype)
            out[:, channels + i] = images[..., a] * other * scaled
        return out

    def right(self, canvases: Rows) -> Rows:
        """Return the pixels, and products of pixels, of y."""
        channels = self.channels
        shape = (len(canvases), self.n_channels, *canvases.shape[1:3])
        out = np.empty(shape, dtype=canvases.dtype)
        out[:, :channels] = canvases.transpose(0, 3, 1, 2)
        for i, (dr, dc, a, b, _) in enumerate(self.pairs):
            other = np.roll(canvases[..., b], (-dr, -dc), axis=(1, 2))
            out[:, channels + i] = canvases[..., a] * other
        return out


def _windows_with(side: int, width: int, padding: str) -> tuple[Any, int]:
    """Return a function that counts the windows with two pixels, and the number of all windows.

    ``count(distance)`` has one number for each pixel a along the side: that of the windows which
    contain a and a + distance.
    """
    a = np.arange(side)
    before = width // 2 if padding == "zero" else width - 1
    n_windows = side - width + 1 if padding == "valid" else side

    def count(distance: int) -> NDArray[np.float64]:
        if padding == "wrap":
            return np.full(side, float(width - abs(distance)))
        low, high = np.minimum(a, a + distance), np.maximum(a, a + distance)
        first = np.maximum(high - before, 0)
        last = np.minimum(low - before + width - 1, n_windows - 1)
        inside = (a + distance >= 0) & (a + distance < side)
        return np.where(inside, np.maximum(last - first + 1, 0), 0).astype(float)

    return count, n_windows
