"""Integrals over thresholds of products of empirical distributions, compiled."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def add_integrals(of_x, of_z, s, total, squares):  # type: ignore[no-untyped-def]
    """Add the integral over [-s, s] of F_x(t, tau) F_z(t, tau) dtau for each template t.

    The sum over templates is added to ``total``, and the sum of squares to ``squares``.

    Parameters
    ----------
    of_x : array of shape (n, m, k)
        Projections of n rows on the orbits of m templates, sorted along the last axis.
    of_z : array of shape (l, m, k)
        Projections of l rows, sorted along the last axis.
    s : float
    total, squares : arrays of shape (n, l)
    """
    n, m, k = of_x.shape
    for i in range(n):
        for j in range(of_z.shape[0]):
            for t in range(m):
                a, b = of_x[i, t], of_z[j, t]
                # both distributions are constant between two neighbouring projections
                p, q, position, area = 0, 0, -s, 0.0
                while p < k or q < k:
                    if q == k or (p < k and a[p] <= b[q]):
                        next_position = a[p]
                        left, right = p, q
                        p += 1
                    else:
                        next_position = b[q]
                        left, right = p, q
                        q += 1
                    next_position = min(max(next_position, -s), s)
                    area += (next_position - position) * left * right
                    position = next_position
                area += (s - position) * k * k
                area /= k * k
                total[i, j] += area
                squares[i, j] += area * area
