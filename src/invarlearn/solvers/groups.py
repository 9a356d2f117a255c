"""Kernel least squares whose rows come in groups, such as copies of one sample.

Leaving out a row while its copies stay says nothing of new samples: groups are left out whole, and
exactly, from one inverse.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, get_lapack_funcs

Matrix = NDArray[np.floating]


class Ridge:
    """Weights of rows that minimise ``|Y - K a|^2 + lam a'K a``, for one lam.

    Rows may count ``w`` times: their lam is ``lam / w``.

    Parameters
    ----------
    K : array of shape (n, n)
        Kernel values between rows, positive semi-definite; not changed. Only its lower triangle is
        looked at. Fastest in Fortran's order.
    Y : array of shape (n, targets)
    lam : float, or array of shape (n,)

    Attributes
    ----------
    alpha : array of shape (n, targets)
    """

    def __init__(self, K: Matrix, Y: Matrix, lam: float | Matrix):
        system = np.array(K, order="F")
        self.Y = np.asarray(Y, dtype=system.dtype)
        system[np.diag_indices(len(system))] += np.asarray(lam, dtype=system.dtype)
        try:
            self._factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            raise ValueError(
                f"lam={np.max(lam):g} is too small for kernel values of {system.dtype}: raise it"
            ) from None
        self.alpha = cho_solve(self._factor, self.Y, check_finite=False)

    def left_out(self, groups: Sequence[NDArray[np.intp]]) -> list[Matrix]:
        """Give what is predicted at the rows of each group by all rows but those of the group.

        Parameters
        ----------
        groups : sequence of arrays of row numbers

        Returns
        -------
        list of arrays of shape (rows of the group, targets)
        """
        factor = self._factor[0]
        (potri,) = get_lapack_funcs(("potri",), (factor,))
        inverse, info = potri(factor, lower=True)
        if info:
            raise ValueError("the kernel matrix is singular: raise lam")
        out: list[Matrix] = [self.Y[:0]] * len(groups)
        sizes = np.array([len(rows) for rows in groups])
        for size in np.unique(sizes):
            # all groups of one size at once
            which = np.flatnonzero(sizes == size)
            rows = np.stack([groups[int(i)] for i in which])
            one, other = rows[:, :, None], rows[:, None, :]
            # only the lower triangle of the inverse is there
            blocks = inverse[np.maximum(one, other), np.minimum(one, other)]
            predicted = self.Y[rows] - np.linalg.solve(blocks, self.alpha[rows])
            for i, values in zip(which, predicted, strict=True):
                out[i] = values
        return out


def ridge(K: Matrix, Y: Matrix, lam: float | Matrix) -> Ridge:
    """Solve in the precision of K, or in double if that does not do."""
    try:
        return Ridge(K, Y, lam)
    except ValueError:
        return Ridge(K.astype(float), Y, lam)
