"""Kernel ridge regression on landmarks (Nyström), if the Gram matrix does not fit into memory."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import get_blas_funcs


def nystroem_weights(
    blocks: Iterable[tuple[NDArray, NDArray]], K: NDArray, lam: float, jitter: float = 1e-10
) -> NDArray[np.float64]:
    """Return weights a of landmarks that minimise ``sum_i |y_i - k(x_i)'a|^2 + lam a'K a``.

    If every row is a landmark, this is kernel ridge regression. The function needs memory for two
    matrices of shape (n_landmarks, n_landmarks) and for one block.

    Parameters
    ----------
    blocks : iterable of (values, targets)
        Kernel values between a block of rows and the landmarks, (n_rows, n_landmarks), and the
        targets of these rows, (n_rows, n_targets).
    K : array of shape (n_landmarks, n_landmarks)
        Kernel values between landmarks.
    lam : float
        Regularisation.
    jitter : float, default=1e-10
        Added to the diagonal of the system, relative to the mean diagonal of K, because equal
        landmarks make the system singular. Multiplied by 100, up to four times, while the system is
        not positive definite.

    Returns
    -------
    array of shape (n_landmarks, n_targets)
    """
    system = np.zeros(K.shape, order="F")
    right: NDArray[np.float64] | float = 0.0
    (rank_k,) = get_blas_funcs(("syrk",), (system,))
    for values, targets in blocks:
        values = values.astype(float)
        system = rank_k(1.0, values, beta=1.0, c=system, trans=1, lower=1, overwrite_c=1)
        right = right + values.T @ targets
    added = jitter * np.trace(K) / len(K)
    for _ in range(5):
        regularised = system + lam * K
        regularised[np.diag_indices(len(K))] += added * max(1.0, np.trace(system) / len(K))
        try:
            factor = cho_factor(regularised, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            added *= 100
            continue
        return cho_solve(factor, right, check_finite=False)
    raise ValueError(
        f"lam={lam:g} is too small for {len(K)} landmarks: raise lam, or use fewer landmarks"
    )
