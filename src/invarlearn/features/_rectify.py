"""Rectified responses of filters to patches, compiled."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True, fastmath={"nsz", "contract"})
def rectify(responses, scales, offsets, threshold, out):  # type: ignore[no-untyped-def]
    """Write both rectified parts of normalised responses to ``out``.

    With ``s = scales[p] * responses[p, j] - offsets[j]``, these are ``max(s - threshold, 0)`` and
    ``max(-s - threshold, 0)``.

    Parameters
    ----------
    responses : array of shape (n_patches, m)
    scales : array of shape (n_patches,)
    offsets : array of shape (m,)
    threshold : float
    out : array of shape (n_patches, 2 * m)
    """
    m = responses.shape[1]
    zero = responses.dtype.type(0)
    for p in range(len(responses)):
        row, scale = responses[p], scales[p]
        positive, negative = out[p, :m], out[p, m:]
        for j in range(m):
            s = scale * row[j] - offsets[j]
            a, b = s - threshold, -s - threshold
            positive[j] = a if a > zero else zero
            negative[j] = b if b > zero else zero
