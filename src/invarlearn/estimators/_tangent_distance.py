"""Squared tangent distances between many rows: matrix products, then a small compiled solve."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

# Keeps the solve well-posed where two planes share a direction; planes have unit bases.
RIDGE = 1e-6


def one_sided(X: NDArray, Y: NDArray, basis: NDArray) -> NDArray:
    """Give squared distances from rows X to the planes ``Y + span(basis)``: (n, m).

    Parameters
    ----------
    X : array of shape (n, d)
    Y : array of shape (m, d)
    basis : array of shape (m, k, d), orthonormal
    """
    m, k, d = basis.shape
    along = (X @ basis.reshape(m * k, d).T).reshape(len(X), m, k)
    along -= np.einsum("mkd,md->mk", basis, Y)
    return np.maximum(_squared(X, Y) - (along**2).sum(axis=2), 0)


def two_sided(X: NDArray, basis_x: NDArray, Y: NDArray, basis_y: NDArray) -> NDArray:
    """Give squared distances between planes: (n, m).

    Parameters
    ----------
    X, Y : arrays of shape (n, d) and (m, d)
    basis_x, basis_y : arrays of shape (n, k, d) and (m, k, d), orthonormal
    """
    (n, k, d), m = basis_x.shape, len(Y)
    flat_x, flat_y = basis_x.reshape(n * k, d), basis_y.reshape(m * k, d)
    # differences x - y, along the directions of x and along those of y
    along_x = np.einsum("nkd,nd->nk", basis_x, X)[:, :, None] - (flat_x @ Y.T).reshape(n, k, m)
    along_y = (X @ flat_y.T).reshape(n, m, k) - np.einsum("mkd,md->mk", basis_y, Y)
    between = (flat_x @ flat_y.T).reshape(n, k, m, k)
    return _subtract_planes(_squared(X, Y), along_x, along_y, between)


def _squared(X: NDArray, Y: NDArray) -> NDArray:
    # in double precision: near rows have small differences of large squares
    x, y = X.astype(float), Y.astype(float)
    squared = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1) - 2 * (x @ y.T)
    return squared.astype(X.dtype)


@njit(cache=True, nogil=True)
def _subtract_planes(squared, along_x, along_y, between):  # type: ignore[no-untyped-def]
    """Take off the part of each difference that lies in the span of both planes.

    With u and v the difference along either basis and G their products, that part is
    u'u + w'(I - G'G)^-1 w, where w = v - G'u.
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
                    S[b, c] = (1.0 + RIDGE if b == c else 0.0) - product
            # Cholesky in place, with the forward substitution of w on the way
            for b in range(k):
                for c in range(b):
                    total = S[b, c]
                    for a in range(c):
                        total -= S[b, a] * S[c, a]
                    S[b, c] = total / S[c, c]
                pivot = S[b, b]
                for a in range(b):
                    pivot -= S[b, a] * S[b, a]
                S[b, b] = np.sqrt(max(pivot, RIDGE))
                total = w[b]
                for a in range(b):
                    total -= S[b, a] * w[a]
                w[b] = total / S[b, b]
                part += w[b] * w[b]
            out[i, j] = max(squared[i, j] - part, 0.0)
    return out
