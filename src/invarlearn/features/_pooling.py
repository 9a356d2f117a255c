"""Pooling of projections over an orbit, compiled.

Each function takes projections of shape (n, m * k), with the k projections on the orbit of a
template side by side, and thresholds of shape (m, n_thresholds). It writes the result to ``out``,
of shape (n, m, n_values).
"""

from __future__ import annotations

import numpy as np
from numba import njit

_FAST = {"nnan", "nsz", "reassoc", "contract"}


@njit(cache=True, nogil=True, fastmath=_FAST)
def pool_cdf(projections, k, thresholds, out):  # type: ignore[no-untyped-def]
    """Write the proportion of projections up to each threshold of the template."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            orbit = projections[i, j * k : (j + 1) * k]
            for b in range(out.shape[2]):
                threshold = thresholds[j, b]
                # 32 bits, so that counts are vectorised like comparisons in single precision
                count = np.int32(0)
                for t in range(k):
                    count = np.int32(count + np.int32(orbit[t] <= threshold))
                out[i, j, b] = count / k


@njit(cache=True, nogil=True)
def pool_histogram(projections, k, thresholds, out):  # type: ignore[no-untyped-def]
    """Write the proportions between neighbouring thresholds, and beyond both ends."""
    pool_cdf(projections, k, thresholds, out[:, :, :-1])
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            below = projections.dtype.type(0)
            for b in range(out.shape[2] - 1):
                cumulative = out[i, j, b]
                out[i, j, b] = cumulative - below
                below = cumulative
            out[i, j, -1] = 1 - below


@njit(cache=True, nogil=True, fastmath=_FAST)
def pool_largest(projections, k, thresholds, out):  # type: ignore[no-untyped-def]
    """Write the largest projection."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            orbit = projections[i, j * k : (j + 1) * k]
            largest = orbit[0]
            for t in range(1, k):
                largest = max(largest, orbit[t])
            out[i, j, 0] = largest


@njit(cache=True, nogil=True, fastmath=_FAST)
def pool_moments(projections, k, thresholds, out):  # type: ignore[no-untyped-def]
    """Write the mean, and roots of the central moments from the second on.

    With p_t the projections and c_b = mean_t |p_t - mean|^b, feature b is
    ``(sum_t (p_t - mean)^b / sum_t |p_t - mean|^b) * c_b^(1/b)``. The first factor is one for even
    b; for odd b, where terms cancel, it keeps the root from magnifying rounding errors.
    """
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            orbit = projections[i, j * k : (j + 1) * k]
            mean = 0.0
            for t in range(k):
                mean += orbit[t]
            mean /= k
            out[i, j, 0] = mean
            for b in range(1, out.shape[2]):
                moment, size = 0.0, 0.0
                for t in range(k):
                    power = (orbit[t] - mean) ** (b + 1)
                    moment += power
                    size += abs(power)
                uncancelled = moment / size if size > 0 else 0.0
                out[i, j, b] = uncancelled * (size / k) ** (1 / (b + 1))
