"""Pooling of projections over an orbit, compiled.

Each function takes projections, (n, m * k), the k of a template side by side, and fills
``out``, (n, m, width).
"""

from __future__ import annotations

import numpy as np
from numba import njit

_FAST = {"nnan", "nsz", "reassoc", "contract"}


@njit(cache=True, nogil=True, fastmath=_FAST)
def pool_cdf(fits, k, thresholds, out):  # type: ignore[no-untyped-def]
    """Give the share of projections up to each threshold of the template."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            some = fits[i, j * k : (j + 1) * k]
            for b in range(out.shape[2]):
                threshold = thresholds[j, b]
                # 32 bits, so that as many are counted at a time as there are projections
                count = np.int32(0)
                for t in range(k):
                    count = np.int32(count + np.int32(some[t] <= threshold))
                out[i, j, b] = count / k


@njit(cache=True, nogil=True)
def pool_histogram(fits, k, thresholds, out):  # type: ignore[no-untyped-def]
    """Give the share of projections between neighbouring thresholds, and beyond both ends."""
    pool_cdf(fits, k, thresholds, out[:, :, :-1])
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            below = fits.dtype.type(0)
            for b in range(out.shape[2] - 1):
                share = out[i, j, b]
                out[i, j, b] = share - below
                below = share
            out[i, j, -1] = 1 - below


@njit(cache=True, nogil=True, fastmath=_FAST)
def pool_max(fits, k, thresholds, out):  # type: ignore[no-untyped-def]
    """Give the largest projection."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            some = fits[i, j * k : (j + 1) * k]
            best = some[0]
            for t in range(1, k):
                best = max(best, some[t])
            out[i, j, 0] = best


@njit(cache=True, nogil=True, fastmath=_FAST)
def pool_moments(fits, k, thresholds, out):  # type: ignore[no-untyped-def]
    """Give the mean, and the roots of absolute central moments from the second on.

    Each is multiplied by the share of the moment that does not cancel: one for even moments, how
    lopsided the projections are for odd ones.
    """
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            some = fits[i, j * k : (j + 1) * k]
            mean = 0.0
            for t in range(k):
                mean += some[t]
            mean /= k
            out[i, j, 0] = mean
            for b in range(1, out.shape[2]):
                moment, size = 0.0, 0.0
                for t in range(k):
                    power = (some[t] - mean) ** (b + 1)
                    moment += power
                    size += abs(power)
                share = moment / size if size > 0 else 0.0
                out[i, j, b] = share * (size / k) ** (1 / (b + 1))
