"""Compression of features: principal directions, and whitening within groups of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array


def principal_directions(F: NDArray, n_components: int) -> tuple[NDArray, NDArray]:
    """Return the mean of rows and their principal directions.

    They are computed from the eigenvectors of the smaller matrix of inner products, of rows or of
    features, in the precision of the rows. Directions whose variance is below rounding errors are
    omitted. For fewer rows than features this is faster than each solver of
    :class:`sklearn.decomposition.PCA` (``python benchmarks/run.py libraries``).

    Parameters
    ----------
    F : array of shape (n, d)
    n_components : int
        Largest number of directions.

    Returns
    -------
    mean : array of shape (d,)
    directions : array of shape (d, n_directions)
        Orthonormal columns, sorted by decreasing variance.
    """
    mean = F.mean(axis=0)
    centred = F - mean
    has_few_rows = F.shape[0] < F.shape[1]
    values, vectors = eigh(
        centred @ centred.T if has_few_rows else centred.T @ centred, driver="evd"
    )
    order = np.argsort(values)[::-1][:n_components]
    precision = np.finfo(centred.dtype)
    smallest = 100 * precision.eps * max(values[-1], precision.tiny)
    order = order[values[order] > smallest]
    if not has_few_rows:
        return mean, vectors[:, order]
    return mean, centred.T @ (vectors[:, order] / np.sqrt(values[order]))


def whitening(F: NDArray, groups: NDArray, strength: float, floor: float) -> NDArray:
    """Return the matrix that whitens rows within groups.

    Let S be the covariance of rows about the mean of their group, divided by the mean of its
    eigenvalues. The matrix is ``(S + floor) ** (-strength / 2)``: it shrinks directions in which
    rows of one group differ. With strength 1 and a small floor, the rows of a group then have equal
    variance in all directions. A group is a sample with its augmented copies, or the samples of a
    class.

    Parameters
    ----------
    F : array of shape (n, d)
    groups : array of int of shape (n,)
        Group of each row.
    strength : float
        Strength of the whitening: 0 is none, 1 is complete.
    floor : float
        Number that is added to all eigenvalues of S.

    Returns
    -------
    array of shape (d, d)
        Symmetric matrix; the identity if the rows of each group are equal.
    """
    if not F.size:
        return np.eye(F.shape[1], dtype=F.dtype)
    _, index, counts = np.unique(groups, return_inverse=True, return_counts=True)
    members = csr_array((np.ones(len(F), dtype=F.dtype), (index, np.arange(len(F)))))
    means = (members @ F) / counts[:, None].astype(F.dtype)
    residuals = F - means[index]
    values, vectors = np.linalg.eigh((residuals.T @ residuals / len(residuals)).astype(float))
    values = np.maximum(values, 0)
    mean = values.mean()
    # differences within groups that are below rounding errors are ignored
    if mean <= 1e-9 * F.var():
        return np.eye(F.shape[1], dtype=F.dtype)
    powers = (values / mean + floor) ** (-strength / 2)
    return ((vectors * powers) @ vectors.T).astype(F.dtype)
