"""Fewer numbers that keep what differs most between rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Directions beyond those asked for, and rounds of refinement, of the randomised search.
MORE, ROUNDS = 50, 1


def principal_directions(
    F: NDArray, n_components: int, rng: np.random.RandomState
) -> tuple[NDArray, NDArray]:
    """Give the mean of rows and their directions of largest variance, nearly.

    A randomised search (Halko, Martinsson and Tropp, 2011): products of matrices, and a
    decomposition of a small one.

    Parameters
    ----------
    F : array of shape (n, d)
    n_components : int
        At most; no more than there are rows or features.
    rng : RandomState

    Returns
    -------
    mean : array of shape (d,)
    directions : array of shape (d, n_components)
        Orthonormal columns, the largest variance first.
    """
    mean = F.mean(axis=0)
    centred = F - mean
    width = min(n_components + MORE, *F.shape)
    found = centred @ rng.standard_normal((F.shape[1], width)).astype(F.dtype)
    for _ in range(ROUNDS):
        found = centred @ (centred.T @ np.linalg.qr(found)[0])
    small = np.linalg.qr(found)[0].T @ centred
    # small = U s V': from its Gram matrix, which is smaller still, in double precision
    values, vectors = np.linalg.eigh((small @ small.T).astype(float))
    order = np.argsort(values)[::-1][:n_components]
    order = order[values[order] > 1e-10 * max(values[-1], np.finfo(float).tiny)]
    directions = small.T @ (vectors[:, order] / np.sqrt(values[order])).astype(F.dtype)
    return mean, directions
