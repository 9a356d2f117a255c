"""Squared tangent distances, by matrix products and a compiled solve for each pair of rows."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


def one_sided(X: NDArray, Y: NDArray, basis: NDArray) -> NDArray:
    """Return squared distances from rows X to the planes ``Y + span(basis)``: (n, m).

    Parameters
    ----------
    X : array of shape (n, d)
    Y : array of shape (m, d)
    basis : array of shape (m, k, d)
        Orthonormal basis of each plane.
    """
    m, k, d = basis.shape
    coordinates = (X @ basis.reshape(m * k, d).T).reshape(len(X), m, k)
    coordinates -= np.einsum("mkd,md->mk", basis, Y)
    return np.maximum(_squared_distances(X, Y) - (coordinates**2).sum(axis=2), 0)


def two_sided(
    X: NDArray, basis_x: NDArray, Y: NDArray, basis_y: NDArray, ridge: float = 1e-6
) -> NDArray:
    """Return squared distances between the planes ``X + span(basis_x)``, ``Y + span(basis_y)``.

    Parameters
    ----------
    X, Y : arrays of shape (n, d) and (m, d)
    basis_x, basis_y : arrays of shape (n, k, d) and (m, k, d)
        Orthonormal basis of each plane.
    ridge : float, default=1e-6
        Added to the diagonal of the system of a pair, which is singular for planes that share a
        direction.

    Returns
    -------
    array of shape (n, m)
    """
    (n, k, d), m = basis_x.shape, len(Y)
    flat_x, flat_y = basis_x.reshape(n * k, d), basis_y.reshape(m * k, d)
    # coordinates of the differences x - y in the bases of x and of y
    along_x = np.einsum("nkd,nd->nk", basis_x, X)[:, :, None] - (flat_x @ Y.T).reshape(n, k, m)
    along_y = (X @ flat_y.T).reshape(n, m, k) - np.einsum("mkd,md->mk", basis_y, Y)
    between = (flat_x @ flat_y.T).reshape(n, k, m, k)
    return _subtract_planes(_squared_distances(X, Y), along_x, along_y, between, ridge)


def _squared_distances(X: NDArray, Y: NDArray) -> NDArray:
    """Return the squared Euclidean distances between rows: (n, m)."""
    # in double precision: for close rows the result is a small difference of large numbers
    x, y = X.astype(float), Y.astype(float)
    squared = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1) - 2 * (x @ y.T)
    return squared.astype(X.dtype)


@njit(cache=True, nogil=True)
def _subtract_planes(squared, along_x, along_y, between, ridge):  # type: ignore[no-untyped-def]
    """Subtract the squared norm of the part of each difference in the span of both planes.

    With the coordinates u and v of the difference in the two bases, and the inner products G of the
    bases, this is u'u + w'(I - G'G)^-1 w, where w = v - G'u.

    Parameters
    ----------
    squared : array of shape (n, m)
        Squared distances of the rows.
    along_x : array of shape (n, k, m)
        The coordinates u.
    along_y : array of shape (n, m, k)
        The coordinates v.
    between : array of shape (n, k, m, k)
        The inner products G.
    ridge : float

    Returns
    -------
    array of shape (n, m)
    """
    n, m, k = along_y.shape
    out = np.empty((n, m), dtype=squared.dtype)
    u = np.empty(k)
    w = np.empty(k)
    G = np.empty((k, k))
    S = np.empty((k, k))
    for i in range(n):
        for j in range(m):
            part = 0.0
            for a in range(k):
                u[a] = along_x[i, a, j]
                part += u[a] * u[a]
                for b in range(k):
                    G[a, b] = between[i, a, j, b]
            for b in range(k):
                w[b] = along_y[i, j, b]
                for a in range(k):
                    w[b] -= G[a, b] * u[a]
            for b in range(k):
                for c in range(b + 1):
                    product = 0.0
                    for a in range(k):
                        product += G[a, b] * G[a, c]
                    S[b, c] = (1.0 + ridge if b == c else 0.0) - product
            # Cholesky factorisation in place, and forward substitution of w
            for b in range(k):
                for c in range(b):
                    total = S[b, c]
                    for a in range(c):
                        total -= S[b, a] * S[c, a]
                    S[b, c] = total / S[c, c]
                pivot = S[b, b]
                for a in range(b):
                    pivot -= S[b, a] * S[b, a]
                S[b, b] = np.sqrt(max(pivot, ridge))
                total = w[b]
                for a in range(b):
                    total -= S[b, a] * w[a]
                w[b] = total / S[b, b]
                part += w[b] * w[b]
            out[i, j] = max(squared[i, j] - part, 0.0)
    return out
