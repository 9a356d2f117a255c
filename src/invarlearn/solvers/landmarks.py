"""Kernel least squares whose solution is carried by some rows, for more rows than fit in memory."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import get_blas_funcs


def landmark_weights(
    blocks: Iterable[tuple[NDArray, NDArray]], K: NDArray, lam: float
) -> NDArray[np.float64]:
    """Give weights a of landmarks that minimise ``sum |y - k(x)'a|^2 + lam a'K a``.

    Where every row is a landmark, this is the kernel machine itself. Memory is that of one matrix
    of landmarks by landmarks, twice, and of one block.

    Parameters
    ----------
    blocks : iterable of pairs of arrays (rows, landmarks), (rows, targets)
        Kernel values between some rows and the landmarks, and the targets of these rows.
    K : array of shape (landmarks, landmarks)
        Kernel values between landmarks.
    lam : float

    Returns
    -------
    array of shape (landmarks, targets)
    """
    system = np.zeros(K.shape, order="F")
    right: NDArray[np.float64] | float = 0.0
    (rank_k,) = get_blas_funcs(("syrk",), (system,))
    for values, targets in blocks:
        values = values.astype(float)
        system = rank_k(1.0, values, beta=1.0, c=system, trans=1, lower=1, overwrite_c=1)
        right = right + values.T @ targets
    # nearly equal landmarks would leave the system singular
    jitter = 1e-10 * np.trace(K) / len(K)
    for _ in range(5):
        whole = system + lam * K
        whole[np.diag_indices(len(K))] += jitter * max(1.0, np.trace(system) / len(K))
        try:
            factor = cho_factor(whole, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            jitter *= 100
            continue
        return cho_solve(factor, right, check_finite=False)
    raise ValueError(f"lam={lam:g} is too small for so many landmarks: raise it")
