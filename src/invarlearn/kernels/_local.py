"""The local polynomial kernel by box filters, one pair of images at a time, compiled.

Window sums are running sums along one axis, then along the other, which cost a few operations per
pixel for any width. They are in double precision, since running sums accumulate rounding errors.
"""

from __future__ import annotations

import numpy as np
from numba import njit

ZERO, VALID, WRAP = 0, 1, 2


@njit(cache=True, nogil=True)
def _power(value, degree):  # type: ignore[no-untyped-def]
    out = 1.0
    for _ in range(degree):
        out *= value
    return out


@njit(cache=True, nogil=True)
def _running_sums(line, size, width, padding, out):  # type: ignore[no-untyped-def]
    """Write the sums of a line over all windows of a width to ``out``; return their number."""
    if padding == VALID:
        total = 0.0
        for i in range(width):
            total += line[i]
        out[0] = total
        for i in range(1, size - width + 1):
            total += line[i + width - 1] - line[i - 1]
            out[i] = total
        return size - width + 1
    before = width // 2 if padding == ZERO else 0
    after = width - 1 - before
    total = 0.0
    for i in range(-before, after + 1):
        if padding == WRAP:
            total += line[i % size]
        elif 0 <= i < size:
            total += line[i]
    out[0] = total
    for i in range(1, size):
        enters, leaves = i + after, i - before - 1
        if padding == WRAP:
            total += line[enters % size] - line[leaves % size]
        else:
            if enters < size:
                total += line[enters]
            if leaves >= 0:
                total -= line[leaves]
        out[i] = total
    return size


@njit(cache=True, nogil=True)
def _window_sums(z, height, width, window, padding, line, sums):  # type: ignore[no-untyped-def]
    """Replace the first (height, width) entries of z by window sums; return their new size."""
    new_width = width
    if window[1] > 1:
        for r in range(height):
            for c in range(width):
                line[c] = z[r, c]
            new_width = _running_sums(line, width, window[1], padding, sums)
            for c in range(new_width):
                z[r, c] = sums[c]
    new_height = height
    if window[0] > 1:
        for c in range(new_width):
            for r in range(height):
                line[r] = z[r, c]
            new_height = _running_sums(line, height, window[0], padding, sums)
            for r in range(new_height):
                z[r, c] = sums[r]
    return new_height, new_width


@njit(cache=True, nogil=True)
def _local_value(x, y, windows, degrees, padding, average, image_scale, z, line, sums):  # type: ignore[no-untyped-def]
    height, width, channels = x.shape
    for r in range(height):
        for c in range(width):
            total = 0.0
            for k in range(channels):
                total += float(x[r, c, k]) * float(y[r, c, k])
            z[r, c] = total
    for layer in range(len(windows)):
        window = windows[layer]
        height, width = _window_sums(z, height, width, window, padding, line, sums)
        scale = 1.0 / (window[0] * window[1]) if average else 1.0
        for r in range(height):
            for c in range(width):
                z[r, c] = _power(scale * z[r, c] + 1.0, degrees[layer])
    total = 0.0
    for r in range(height):
        for c in range(width):
            total += z[r, c]
    return _power(image_scale * total + 1.0, degrees[len(windows)])


@njit(cache=True, nogil=True)
def local_gram(X, Y, windows, degrees, padding, average, image_scale, first, out):  # type: ignore[no-untyped-def]
    """Write the local polynomial kernel of all pairs of images to ``out``, of shape (n, m).

    X and Y have the shapes (n, height, width, channels) and (m, height, width, channels). With
    ``first >= 0``, row i is row ``first + i`` of a Gram matrix, of which only the upper triangle is
    computed.
    """
    height, width = X.shape[1], X.shape[2]
    z = np.empty((height, width))
    line, sums = np.empty(max(height, width)), np.empty(max(height, width))
    for i in range(len(X)):
        for j in range(first + i if first >= 0 else 0, len(Y)):
            out[i, j] = _local_value(
                X[i], Y[j], windows, degrees, padding, average, image_scale, z, line, sums
            )
