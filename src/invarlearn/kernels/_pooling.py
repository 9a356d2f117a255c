"""Pooling of similarities over an orbit, compiled: (n, m * k) to (n, m)."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def pool_max(fits, k, out):  # type: ignore[no-untyped-def]
    """Give the largest of each k numbers in a row."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            best = fits[i, j * k]
            for t in range(1, k):
                best = max(best, fits[i, j * k + t])
            out[i, j] = best


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def pool_mean(fits, k, out):  # type: ignore[no-untyped-def]
    """Give the mean of each k numbers in a row."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for t in range(k):
                total += fits[i, j * k + t]
            out[i, j] = total / k


@njit(cache=True, nogil=True)
def pool_softmax(fits, k, sharpness, out):  # type: ignore[no-untyped-def]
    """Give the mean of each k numbers in a row, weighted by exp(sharpness * number / largest)."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            best, size = -np.inf, 0.0
            for t in range(k):
                best = max(best, fits[i, j * k + t])
                size = max(size, abs(fits[i, j * k + t]))
            scale = sharpness / size if size > 0 else 0.0
            total, weights = 0.0, 0.0
            for t in range(k):
                weight = np.exp(scale * (fits[i, j * k + t] - best))
                total += weight * fits[i, j * k + t]
                weights += weight
            out[i, j] = total / weights
