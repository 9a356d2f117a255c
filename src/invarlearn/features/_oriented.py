"""Oriented gradients of images, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

_compiled = njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})


@_compiled
def _gradients(image, size, angle):  # type: ignore[no-untyped-def]
    """Write the length and the angle (0 to 1) of the largest gradient over the channels."""
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
    """Filter a zero-padded plane along both axes, and sample every ``step``-th pixel into ``out``.

    ``weights`` are two arrays of :func:`invarlearn.features.oriented.gaussian_weights`, one for the
    rows and one for the columns.
    """
    rows, columns = weights
    height, width = plane.shape
    n_rows, n_columns = out.shape
    half = len(rows) // 2
    row_step, column_step = step
    for r in range(n_rows):
        first = r * row_step - half
        for c in range(width):
            line[c] = 0
        for k in range(len(rows)):
            source = first + k
            if 0 <= source < height:
                for c in range(width):
                    line[c] += rows[k] * plane[source, c]
        for c in range(n_columns):
            total = 0.0
            start = c * column_step - len(columns) // 2
            for k in range(len(columns)):
                source = start + k
                if 0 <= source < width:
                    total += columns[k] * line[source]
            out[r, c] = total


@_compiled
def oriented_gradients(images, n_orientations, threshold, contrast, floor, cell, steps, out):  # type: ignore[no-untyped-def]
    """Write the maps of images to ``out``, of shape (n, n_rows, n_columns, n_orientations).

    Parameters
    ----------
    images : array of shape (n, height, width, channels)
    n_orientations : int
    threshold : float
        Soft threshold of the gradients, as a fraction of the largest.
    contrast, cell : pairs of arrays
        Weights along both axes, of the filter for the local contrast and of that for the maps.
    floor : float
        Constant added to the local contrast, as a fraction of the largest remaining gradient.
    steps : pair of int
        Distance between samples of a map along both axes, in pixels.
    """
    n, height, width, _ = images.shape
    size, angle = np.empty((height, width)), np.empty((height, width))
    contrast_map = np.empty((height, width))
    plane = np.empty((height, width))
    line = np.empty(width)
    sampled = np.empty(out.shape[1:3])
    for i in range(n):
        _gradients(images[i], size, angle)
        if threshold > 0:
            size[:] = np.maximum(size - threshold * size.max(), 0.0)
        plane[:] = size * size
        largest = np.sqrt(plane.max())
        _blur(plane, contrast, (1, 1), line, contrast_map)
        for r in range(height):
            for c in range(width):
                divisor = np.sqrt(max(contrast_map[r, c], 0.0)) + floor * largest
                if divisor > 0:
                    size[r, c] /= divisor
        total = 0.0
        for k in range(n_orientations):
            for r in range(height):
                for c in range(width):
                    # linear interpolation between the two nearest orientations
                    distance = abs(angle[r, c] * n_orientations - k)
                    distance = min(distance, n_orientations - distance)
                    plane[r, c] = size[r, c] * max(0.0, 1.0 - distance)
            _blur(plane, cell, steps, line, sampled)
            for r in range(sampled.shape[0]):
                for c in range(sampled.shape[1]):
                    out[i, r, c, k] = np.sqrt(max(sampled[r, c], 0.0))
                    total += max(sampled[r, c], 0.0)
        if total > 0:
            out[i] *= 1 / np.sqrt(total)
