"""Ridge regression with exact leave-one-out and leave-one-group-out predictions.

:class:`Ridge` is kernel ridge regression for one value of lam. It predicts held-out groups of rows,
such as the augmented copies of one sample.

:class:`PrimalPath` and :class:`DualPath` solve for many values of lam with one eigendecomposition,
of the covariance of the features or of the Gram matrix of the rows. They predict held-out rows, one
at a time. Their weights beta and intercept b minimise

    sum_i w_i |y_i - beta' x_i - b|^2 / sum_i w_i + lam |beta|^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, get_lapack_funcs, solve

from invarlearn._utils.parallel import slices

Matrix = NDArray[np.floating]


class Ridge:
    """Kernel ridge regression: weights a of rows that minimise ``|Y - K a|^2 + lam a'K a``.

    Parameters
    ----------
    K : array of shape (n, n)
        Kernel values between rows, positive semi-definite; not modified. Only its lower triangle
        is read. Fortran order is fastest.
    Y : array of shape (n, n_targets)
    lam : float, or array of shape (n,)
        Regularisation, above 0. A row of weight w has ``lam / w``.

    Attributes
    ----------
    alpha : array of shape (n, n_targets)
        The weights of the rows.
    """

    def __init__(self, K: Matrix, Y: Matrix, lam: float | Matrix):
        system = np.array(K, order="F")
        self.Y = np.asarray(Y, dtype=system.dtype)
        system[np.diag_indices(len(system))] += np.asarray(lam, dtype=system.dtype)
        try:
            self._factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            raise ValueError(
                f"lam={np.max(lam):g} is too small for kernel values of {system.dtype}: raise lam"
            ) from None
        self.alpha = cho_solve(self._factor, self.Y, check_finite=False)

    def left_out(self, groups: Sequence[NDArray[np.intp]]) -> list[Matrix]:
        """Return leave-one-group-out predictions at the rows of each group.

        For the rows g of a group, and the inverse G of ``K + lam I``, these are ``Y_g - (G_gg)^-1
        a_g``. The system is not solved again for each group.

        Parameters
        ----------
        groups : sequence of arrays
            The indices of the rows of each group.

        Returns
        -------
        list of arrays of shape (n_rows_of_the_group, n_targets)
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
            same_size = np.flatnonzero(sizes == size)
            rows = np.stack([groups[int(i)] for i in same_size])
            i, j = rows[:, :, None], rows[:, None, :]
            # potri computes the lower triangle of the inverse only
            blocks = inverse[np.maximum(i, j), np.minimum(i, j)]
            predicted = self.Y[rows] - np.linalg.solve(blocks, self.alpha[rows])
            for group, values in zip(same_size, predicted, strict=True):
                out[group] = values
        return out


def ridge(K: Matrix, Y: Matrix, lam: float | Matrix) -> Ridge:
    """Return :class:`Ridge` in the precision of K, or in double precision if that fails."""
    try:
        return Ridge(K, Y, lam)
    except ValueError:
        return Ridge(K.astype(float), Y, lam)


@dataclass(frozen=True)
class CentredMoments:
    """Weighted means and covariances of features and targets.

    Attributes
    ----------
    gram : array of shape (n_features, n_features)
        Covariance of the features.
    cross : array of shape (n_features, n_targets)
        Covariance of features and targets.
    mean : array of shape (n_features,)
        Mean of the features.
    target : array of shape (n_targets,)
        Mean of the targets.
    weight : float
        Sum of the weights of the rows.
    """

    gram: Matrix
    cross: Matrix
    mean: Matrix
    target: Matrix
    weight: float

    def coefficients(self, lam: float) -> tuple[Matrix, Matrix]:
        """Return the weights of features, (n_features, n_targets), and intercepts, (n_targets,)."""
        system = self.gram.copy()
        system[np.diag_indices(len(system))] += lam
        try:
            beta = solve(system, self.cross, assume_a="pos", overwrite_a=True, check_finite=False)
        except LinAlgError:
            # rounding errors made the system indefinite
            return PrimalPath.of(self).coefficients(lam)
        return beta, self.target - self.mean @ beta


@dataclass(frozen=True)
class PrimalPath:
    """Solutions for all lam from the eigenvectors of the covariance of the features.

    Attributes
    ----------
    values, vectors : arrays of shape (n_features,) and (n_features, n_features)
        Eigenvalues, in ascending order, and eigenvectors.
    cross : array of shape (n_features, n_targets)
        Covariance of the features along the eigenvectors and the targets.
    mean, target : arrays of shape (n_features,) and (n_targets,)
        Means of features and targets.
    weight : float
        Sum of the weights of the rows.
    """

    values: Matrix
    vectors: Matrix
    cross: Matrix
    mean: Matrix
    target: Matrix
    weight: float

    @classmethod
    def of(cls, moments: CentredMoments) -> PrimalPath:
        """Compute the eigenvectors of the covariance of the features."""
        gram, mean = moments.gram, moments.mean
        # size of eigenvalues that are rounding errors, as of equal features
        noise = np.finfo(float).eps * len(gram) * (np.trace(gram) + mean @ mean)
        values, vectors = eigh(gram, driver="evd", check_finite=False)
        values = np.where(values > noise, values, 0.0)
        cross = vectors.T @ moments.cross
        return cls(values, vectors, cross, mean, moments.target, moments.weight)

    @property
    def largest(self) -> float:
        """The largest eigenvalue."""
        return float(self.values[-1])

    def coefficients(self, lam: float) -> tuple[Matrix, Matrix]:
        """Return the weights of features, (n_features, n_targets), and intercepts, (n_targets,)."""
        beta = self.vectors @ (self.cross / (self.values + lam)[:, None])
        return beta, self.target - self.mean @ beta

    def left_out(self, X: Any, Y: Matrix, weights: Matrix, lams: Matrix) -> Matrix:
        """Return leave-one-out predictions for each lam: (n_lams, n, n_targets).

        Parameters
        ----------
        X, Y, weights : arrays of shape (n, n_features), (n, n_targets) and (n,)
            Training rows, all or some of them.
        lams : array of shape (n_lams,)
        """
        out = np.empty((len(lams), *Y.shape))
        filters = 1 / (self.values[:, None] + lams)
        solutions = np.einsum("dl,dt->dlt", filters, self.cross).reshape(len(self.values), -1)
        for block in slices(X.shape[0], 1024):
            coordinates = X[block] @ self.vectors - self.mean @ self.vectors
            shares = weights[block] / self.weight
            leverage = shares[:, None] * (1 + coordinates**2 @ filters)
            fitted = (coordinates @ solutions).reshape(len(coordinates), len(lams), -1)
            fitted = fitted + self.target
            residuals = (Y[block, None] - fitted) / _positive(1 - leverage)[..., None]
            out[:, block] = (Y[block, None] - residuals).transpose(1, 0, 2)
        return out


@dataclass(frozen=True)
class DualPath:
    """Solutions for all lam from the eigenvectors of the Gram matrix of the rows.

    Attributes
    ----------
    values, vectors : arrays of shape (n,) and (n, n)
        Eigenvalues, in ascending order, and eigenvectors of the weighted, centred Gram matrix.
    along : array of shape (n, n_targets)
        Weighted, centred targets along the eigenvectors.
    gram, Y, weights : arrays of shape (n, n), (n, n_targets) and (n,)
        As passed to :meth:`of`.
    """

    values: Matrix
    vectors: Matrix
    along: Matrix
    gram: Matrix
    Y: Matrix
    weights: Matrix

    @classmethod
    def of(cls, gram: Matrix, Y: Matrix, weights: Matrix) -> DualPath:
        """Compute the eigenvectors of the centred Gram matrix of weighted rows."""
        gram, roots = np.asarray(gram, dtype=float), np.sqrt(weights)
        unit = roots / np.linalg.norm(roots)
        weighted = gram * np.outer(roots, roots)
        centred = weighted - np.outer(unit, unit @ weighted)
        centred -= np.outer(centred @ unit, unit)
        centred = (centred + centred.T) / (2 * weights.sum())
        noise = np.finfo(float).eps * len(gram) * abs(np.trace(weighted)) / weights.sum()
        values, vectors = eigh(centred, driver="evd", overwrite_a=True, check_finite=False)
        values = np.where(values > noise, values, 0.0)
        targets = Y * roots[:, None]
        targets = targets - np.outer(unit, unit @ targets)
        return cls(values, vectors, vectors.T @ targets, gram, Y, weights)

    @property
    def largest(self) -> float:
        """The largest eigenvalue."""
        return float(self.values[-1])

    def coefficients(self, lam: float) -> tuple[Matrix, Matrix]:
        """Return the weights of rows, (n, n_targets), and intercepts, (n_targets,)."""
        total = self.weights.sum()
        scaled = self.vectors @ (self.along / (self.values + lam)[:, None]) / total
        alpha = np.sqrt(self.weights)[:, None] * scaled
        return alpha, self.weights @ (self.Y - self.gram @ alpha) / total

    def left_out(self, lams: Matrix) -> Matrix:
        """Return leave-one-out predictions at all rows for each lam: (n_lams, n, n_targets)."""
        roots = np.sqrt(self.weights)
        unit = roots / np.linalg.norm(roots)
        present = roots > 0
        out = np.empty((len(lams), *self.Y.shape))
        squared = self.vectors**2
        for i, lam in enumerate(lams):
            shrunk = lam / (self.values + lam)
            residuals = self.vectors @ (shrunk[:, None] * self.along)
            residuals /= _positive(squared @ shrunk - unit**2)[:, None]
            residuals[present] /= roots[present, None]
            out[i] = self.Y - residuals
        return out


def _positive(values: Matrix) -> Matrix:
    """Return one minus leverages, bounded away from zero."""
    return np.maximum(values, 1e-10)
