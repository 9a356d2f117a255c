"""Squares of window sums, multiplied out into products of pixels."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from invarlearn.kernels.base import Rows

if TYPE_CHECKING:
    from invarlearn.kernels.local import LocalPolynomial


class SquaredWindows:
    """Sums over windows of squares, (gamma * window sum + 1) ** 2, multiplied out.

    Channel 0 has the products of single pixels; the others have products of two pixels at a
    distance, the left ones weighted by the number of windows that hold both.
    """

    def __init__(self, base: LocalPolynomial, grid: tuple[int, int, int]):
        height, width, channels = grid
        windows, degrees = base._layers(grid)
        down, right = (int(w) for w in windows[0])
        self.gamma = 1.0 / (down * right) if base.average else 1.0
        rows, n_rows = _windows_with(height, down, base.padding)
        columns, n_columns = _windows_with(width, right, base.padding)
        self.n_windows = n_rows * n_columns
        self.scale = 1.0 / self.n_windows if base.average else 1.0
        self.degree = int(degrees[-1])
        self.single = np.outer(rows(0), columns(0))
        self.pairs = []
        for dr, dc in product(range(down), range(1 - right, right)):
            if dr == 0 and dc < 0:
                continue
            weight = np.outer(rows(dr), columns(dc))
            for a, b in product(range(channels), repeat=2):
                if (dr, dc) == (0, 0) and b < a:
                    continue
                twice = (dr, dc) != (0, 0) or a != b
                self.pairs.append((dr, dc, a, b, weight * (2.0 if twice else 1.0)))
        self.channels = channels
        self.n_channels = channels + len(self.pairs)

    def finish(self, fits: Rows) -> Rows:
        """Turn sums of products, left times right, into values of the kernel."""
        windows = fits + fits.dtype.type(self.n_windows)
        return (windows * fits.dtype.type(self.scale) + 1) ** self.degree

    def left(self, images: Rows) -> Rows:
        n, height, width, channels = images.shape
        out = np.zeros((n, self.n_channels, height, width), dtype=images.dtype)
        number = images.dtype.type
        for a in range(channels):
            out[:, a] = images[..., a] * number(2 * self.gamma) * self.single.astype(images.dtype)
        for i, (dr, dc, a, b, weight) in enumerate(self.pairs):
            # weights are zero where the other pixel is outside, unless windows go around
            other = np.roll(images[..., b], (-dr, -dc), axis=(1, 2))
            scaled = (weight * self.gamma**2).astype(images.dtype)
            out[:, channels + i] = images[..., a] * other * scaled
        return out

    def right(self, canvases: Rows) -> Rows:
        channels = self.channels
        shape = (len(canvases), self.n_channels, *canvases.shape[1:3])
        out = np.empty(shape, dtype=canvases.dtype)
        out[:, :channels] = canvases.transpose(0, 3, 1, 2)
        for i, (dr, dc, a, b, _) in enumerate(self.pairs):
            other = np.roll(canvases[..., b], (-dr, -dc), axis=(1, 2))
            out[:, channels + i] = canvases[..., a] * other
        return out


def _windows_with(side: int, width: int, padding: str) -> tuple[Any, int]:
    """Give a function that counts the windows with pixels a and a + distance, and their number."""
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
