"""Integrals over thresholds of products of empirical distributions, compiled."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def integrals(ours, theirs, s, total, squares):  # type: ignore[no-untyped-def]
    """Add the integral over [-s, s] of F(x, t, tau) F(z, t, tau) for each template.

    ``ours``, (n, m, k), and ``theirs``, (l, m, k), are sorted projections; ``total`` and
    ``squares``, (n, l), get the sum over templates, and the sum of squares.
    """
    n, m, k = ours.shape
    for i in range(n):
        for j in range(theirs.shape[0]):
            for t in range(m):
                a, b = ours[i, t], theirs[j, t]
                # between two projections both distributions are constant
                p, q, here, area = 0, 0, -s, 0.0
                while p < k or q < k:
                    if q == k or (p < k and a[p] <= b[q]):
                        place = a[p]
                        left, right = p, q
                        p += 1
                    else:
                        place = b[q]
                        left, right = p, q
                        q += 1
                    place = min(max(place, -s), s)
                    area += (place - here) * left * right
                    here = place
                area += (s - here) * k * k
                area /= k * k
                total[i, j] += area
                squares[i, j] += area * area
