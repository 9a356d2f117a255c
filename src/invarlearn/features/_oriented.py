"""Oriented gradients of one image after the other, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

_compiled = njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})


@_compiled
def _gradients(image, size, angle):  # type: ignore[no-untyped-def]
    """Give size and angle (0 to 1) of the gradient, of the channel where it is largest."""
    height, width, channels = image.shape
    for r in range(height):
        for c in range(width):
            best, down, right = -1.0, 0.0, 0.0
            for k in range(channels):
                above = image[r - 1, c, k] if r > 0 else 0.0
                below = image[r + 1, c, k] if r + 1 < height else 0.0
                before = image[r, c - 1, k] if c > 0 else 0.0
                after = image[r, c + 1, k] if c + 1 < width else 0.0
                dr = 0.5 * (below - above) if height > 1 else 0.0
                dc = 0.5 * (after - before) if width > 1 else 0.0
                squared = dr * dr + dc * dc
                if squared > best:
                    best, down, right = squared, dr, dc
            size[r, c] = np.sqrt(best)
            angle[r, c] = np.arctan2(down, right) / (2 * np.pi) % 1.0


@_compiled
def _blur(plane, weights, step, line, out):  # type: ignore[no-untyped-def]
    """Filter a plane along both axes, zeros around it, at every ``step``-th pixel.

    ``weights`` are of rows and of columns, each centred between the pixels of a step.
    """
    rows, columns = weights
    height, width = plane.shape
    tall, wide = out.shape
    half = len(rows) // 2
    row_step, column_step = step
    for r in range(tall):
        first = r * row_step - half
        for c in range(width):
            line[c] = 0
        for k in range(len(rows)):
            source = first + k
            if 0 <= source < height:
                for c in range(width):
                    line[c] += rows[k] * plane[source, c]
        for c in range(wide):
            total = 0.0
            start = c * column_step - len(columns) // 2
            for k in range(len(columns)):
                source = start + k
                if 0 <= source < width:
                    total += columns[k] * line[source]
            out[r, c] = total


@_compiled
def oriented_gradients(images, n_orientations, threshold, contrast, floor, cell, steps, out):  # type: ignore[no-untyped-def]
    """Fill ``out``, (n, rows, columns, orientations), for images of shape (n, h, w, channels).

    Parameters
    ----------
    threshold : float
        What is taken off every gradient, as a share of the largest.
    contrast, cell : weights of rows and of columns
        Of the filter for the local contrast, and of the one that blurs.
    floor : float
        What is added to the local contrast, as a share of the largest gradient that is left.
    steps : (int, int)
        Pixels between two outputs.
    """
    n, height, width, _ = images.shape
    size, angle = np.empty((height, width)), np.empty((height, width))
    local = np.empty((height, width))
    plane = np.empty((height, width))
    line = np.empty(width)
    small = np.empty(out.shape[1:3])
    for i in range(n):
        _gradients(images[i], size, angle)
        if threshold > 0:
            size[:] = np.maximum(size - threshold * size.max(), 0.0)
        plane[:] = size * size
        largest = np.sqrt(plane.max())
        _blur(plane, contrast, (1, 1), line, local)
        for r in range(height):
            for c in range(width):
                around = np.sqrt(max(local[r, c], 0.0)) + floor * largest
                if around > 0:
                    size[r, c] /= around
        total = 0.0
        for k in range(n_orientations):
            for r in range(height):
                for c in range(width):
                    # shared between the two nearest orientations
                    away = abs(angle[r, c] * n_orientations - k)
                    away = min(away, n_orientations - away)
                    plane[r, c] = size[r, c] * max(0.0, 1.0 - away)
            _blur(plane, cell, steps, line, small)
            for r in range(small.shape[0]):
                for c in range(small.shape[1]):
                    out[i, r, c, k] = np.sqrt(max(small[r, c], 0.0))
                    total += max(small[r, c], 0.0)
        if total > 0:
            out[i] *= 1 / np.sqrt(total)
