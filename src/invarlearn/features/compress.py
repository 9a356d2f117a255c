"""Fewer numbers that keep what differs between rows, and not between copies of a row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh


def principal_directions(F: NDArray, n_components: int) -> tuple[NDArray, NDArray]:
    """Give the mean of rows and their directions of largest variance.

    From the smaller of the two matrices of inner products, of rows or of features, in the
    precision of the rows: directions whose variance is lost in rounding are left out.

    Parameters
    ----------
    F : array of shape (n, d)
    n_components : int
        At most; no more than there are rows or features.

    Returns
    -------
    mean : array of shape (d,)
    directions : array of shape (d, n_components)
        Orthonormal columns, the largest variance first.
    """
    mean = F.mean(axis=0)
    centred = F - mean
    few_rows = F.shape[0] < F.shape[1]
    values, vectors = eigh(centred @ centred.T if few_rows else centred.T @ centred, driver="evd")
    order = np.argsort(values)[::-1][:n_components]
    least = 100 * np.finfo(F.dtype).eps * max(values[-1], np.finfo(F.dtype).tiny)
    order = order[values[order] > least]
    if not few_rows:
        return mean, vectors[:, order]
    return mean, centred.T @ (vectors[:, order] / np.sqrt(values[order]))


def orbit_whitening(F: NDArray, n_copies: int, strength: float, floor: float) -> NDArray:
    """Give the matrix that shrinks directions in which copies of one sample differ.

    With S the covariance of copies about the mean of their sample, divided by the mean of its
    eigenvalues, this is ``(S + floor) ** (-strength / 2)``. With strength one, what a family does
    to a sample counts no more in one direction than in another, and what it cannot do counts most.

    Parameters
    ----------
    F : array of shape (n_copies * n, d)
        All samples, then one copy of all of them after the other.
    n_copies : int
    strength : float
    floor : float

    Returns
    -------
    array of shape (d, d)
        Symmetric; the identity where copies do not differ.
    """
    if not F.size:
        return np.eye(F.shape[1], dtype=F.dtype)
    copies = F.reshape(n_copies, len(F) // n_copies, F.shape[1])
    away = (copies - copies.mean(axis=0)).reshape(F.shape)
    values, vectors = np.linalg.eigh((away.T @ away / len(away)).astype(float))
    values = np.maximum(values, 0)
    mean = values.mean()
    # copies that differ by rounding only do not differ
    if mean <= 1e-9 * F.var():
        return np.eye(F.shape[1], dtype=F.dtype)
    powers = (values / mean + floor) ** (-strength / 2)
    return ((vectors * powers) @ vectors.T).astype(F.dtype)
