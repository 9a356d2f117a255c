"""Bilinear interpolation of images, compiled."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def read_four(x, index, weight, channels, out):  # type: ignore[no-untyped-def]
    """Write the weighted sums of four pixels at each point to ``out``: (points * channels,)."""
    for p in range(len(index)):
        a, b, c, d = index[p, 0], index[p, 1], index[p, 2], index[p, 3]
        for k in range(channels):
            out[p * channels + k] = (
                weight[p, 0] * x[a + k]
                + weight[p, 1] * x[b + k]
                + weight[p, 2] * x[c + k]
                + weight[p, 3] * x[d + k]
            )


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def read_four_grey(x, index, weight, out):  # type: ignore[no-untyped-def]
    """Write the weighted sums of four pixels at each point, for images of one channel."""
    for p in range(len(index)):
        out[p] = (
            weight[p, 0] * x[index[p, 0]]
            + weight[p, 1] * x[index[p, 1]]
            + weight[p, 2] * x[index[p, 2]]
            + weight[p, 3] * x[index[p, 3]]
        )
