"""Fewer numbers that keep what differs between rows, and not between copies of a row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array


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
    precision = np.finfo(centred.dtype)
    least = 100 * precision.eps * max(values[-1], precision.tiny)
    order = order[values[order] > least]
    if not few_rows:
        return mean, vectors[:, order]
    return mean, centred.T @ (vectors[:, order] / np.sqrt(values[order]))


def whitening(F: NDArray, groups: NDArray, strength: float, floor: float) -> NDArray:
    """Give the matrix that shrinks directions in which rows of one group differ.

    With S the covariance of rows about the mean of their group, divided by the mean of its
    eigenvalues, this is ``(S + floor) ** (-strength / 2)``. With strength one, rows of a group
    differ no more in one direction than in another, and what they never differ in counts most.
    Groups are a sample and its copies, or the samples of a class.

    Parameters
    ----------
    F : array of shape (n, d)
    groups : array of shape (n,) of integers
        The group of each row.
    strength : float
    floor : float

    Returns
    -------
    array of shape (d, d)
        Symmetric; the identity where rows of a group do not differ.
    """
    if not F.size:
        return np.eye(F.shape[1], dtype=F.dtype)
    _, index, counts = np.unique(groups, return_inverse=True, return_counts=True)
    members = csr_array((np.ones(len(F), dtype=F.dtype), (index, np.arange(len(F)))))
    means = (members @ F) / counts[:, None].astype(F.dtype)
    away = F - means[index]
    values, vectors = np.linalg.eigh((away.T @ away / len(away)).astype(float))
    values = np.maximum(values, 0)
    mean = values.mean()
    # rows that differ by rounding only do not differ
    if mean <= 1e-9 * F.var():
        return np.eye(F.shape[1], dtype=F.dtype)
    powers = (values / mean + floor) ** (-strength / 2)
    return ((vectors * powers) @ vectors.T).astype(F.dtype)
