"""The local polynomial kernel of one layer, compiled, in the precision of the images.

Only the sum over the lines of an image is always in double precision.

Images are padded before, so that all steps are loops over the pixels of one array, which compilers
vectorise for any padding and width. The sum over a window is a sum of few sums over windows whose
widths are powers of two: of 1 and 4 for a width of 5. Every window sum is a sum of a few products,
without running sums, which accumulate rounding errors.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

# Rows that are compared with each other row while this one is in the cache.
CACHED_ROWS = 8

_compiled = njit(cache=True, nogil=True, fastmath={"nsz", "contract", "reassoc"})


def padded_images(images: NDArray, window: tuple[int, int], padding: str) -> NDArray:
    """Return images with a border for windows: (n, height, width, c) to (n, c, new h, new w).

    Parameters
    ----------
    images : array of shape (n, height, width, c)
    window : tuple (height, width)
    padding : {"zero", "valid", "wrap"}
    """
    by_channel = images.transpose(0, 3, 1, 2)
    if padding == "valid":
        return np.ascontiguousarray(by_channel)
    # zero: windows are centred at pixels; wrap: they begin at pixels
    before = [size // 2 if padding == "zero" else 0 for size in window]
    border = [(first, size - 1 - first) for size, first in zip(window, before, strict=True)]
    mode = "constant" if padding == "zero" else "wrap"
    return np.ascontiguousarray(np.pad(by_channel, [(0, 0), (0, 0), *border], mode=mode))  # type: ignore[call-overload]


@_compiled
def _multiply(a, b, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] = a[i] * b[i]


@_compiled
def _add_product(a, b, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] += a[i] * b[i]


@_compiled
def _sum(a, b, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] = a[i] + b[i]


@_compiled
def _add(a, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] += a[i]


@_compiled
def _sum_windows(z, width, step, buffers):  # type: ignore[no-untyped-def]
    """Return the sums of ``width`` numbers of z that are ``step`` apart.

    Parameters
    ----------
    z : array of shape (n,)
    width, step : int
    buffers : three arrays of shape (n,)
        Overwritten.

    Returns
    -------
    array of shape (n - (width - 1) * step,)
        z, or a part of the buffers.
    """
    n = len(z) - (width - 1) * step
    # powers[i] is the sum of ``length`` numbers from i, total[i] that of the first ``covered``
    powers, total = z, buffers[2, :n]
    length, covered, spare = 1, 0, 0
    while True:
        if width & length:
            part = powers[covered * step : covered * step + n]
            if covered == 0 and length == 1:
                total = part
            elif covered == 0:
                buffers[2, :n] = part
            elif covered == 1:
                _sum(total, part, buffers[2, :n])
                total = buffers[2, :n]
            else:
                _add(part, total)
            covered += length
        if covered == width:
            return total
        m = len(powers) - length * step
        doubled = buffers[spare, :m]
        _sum(powers[:m], powers[length * step :], doubled)
        powers = doubled
        length, spare = 2 * length, 1 - spare


@_compiled
def _sum_of_powers(sums, n_rows, n_columns, stride, scale, degree):  # type: ignore[no-untyped-def]
    """Return the sum of (scale * s + 1) ** degree over the sums s of all windows."""
    one = sums.dtype.type(1)
    total = 0.0
    for r in range(n_rows):
        line = sums[r * stride : r * stride + n_columns]
        of_line = sums.dtype.type(0)
        if degree == 2:
            for c in range(n_columns):
                t = scale * line[c] + one
                of_line += t * t
        else:
            for c in range(n_columns):
                t = scale * line[c] + one
                power = one
                for _ in range(degree):
                    power *= t
                of_line += power
        total += of_line
    return total


@_compiled
def window_gram(X, Y, window, scale, degree, first, out):  # type: ignore[no-untyped-def]
    """Write the sums over all windows, of (scale * window sum + 1) ** degree, to ``out``: (n, m).

    X and Y are padded images, of shapes (n, c, height, width) and (m, c, height, width). With
    ``first >= 0``, row i is row ``first + i`` of a Gram matrix, of which only the upper triangle is
    computed.
    """
    n, channels, height, width = X.shape
    n_rows, n_columns = height - window[0] + 1, width - window[1] + 1
    x, y = X.reshape(n, channels, -1), Y.reshape(len(Y), channels, -1)
    z, buffers = np.empty(height * width, X.dtype), np.empty((6, height * width), X.dtype)
    for j in range(len(Y)):
        for i in range(n if first < 0 else min(n, j - first + 1)):
            _multiply(x[i, 0], y[j, 0], z)
            for c in range(1, channels):
                _add_product(x[i, c], y[j, c], z)
            # sums that reach into the next row are not used
            along_rows = _sum_windows(z, window[1], 1, buffers[:3])
            sums = _sum_windows(along_rows, window[0], width, buffers[3:])
            out[i, j] = _sum_of_powers(sums, n_rows, n_columns, width, scale, degree)
