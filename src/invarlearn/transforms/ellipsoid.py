"""Ellipsoids around rows: data with errors of known covariance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from invarlearn._utils.validation import Shape, check_number, check_score
from invarlearn.transforms.actions import Action, Functions, Rows
from invarlearn.transforms.base import Family

Covariance = float | ArrayLike | Callable[[Rows], Rows]


class RandomOffset:
    """A function of rows that adds a random point of an ellipsoid.

    Parameters
    ----------
    covariance : float, array or callable
        As in :class:`Ellipsoid`.
    radius : float
    seed : int
        Determines the point u of the unit ball; the row x becomes x + radius S^(1/2) u.
    """

    def __init__(self, covariance: Any, radius: float, seed: int):
        self.covariance = covariance
        self.radius = radius
        self.seed = seed

    def __call__(self, X: Rows) -> Rows:
        rng = np.random.RandomState(self.seed)
        n_features = X.shape[1]
        u = rng.standard_normal(n_features)
        # uniform in the unit ball
        u *= rng.uniform() ** (1 / n_features) / np.linalg.norm(u)
        covariances = covariances_of(self.covariance, X)
        if covariances.ndim < 3:
            offsets = np.sqrt(covariances) * u
        else:
            eigenvalues, axes = np.linalg.eigh(covariances)
            roots = axes * np.sqrt(np.maximum(eigenvalues, 0))[:, None]
            offsets = roots @ (np.swapaxes(axes, 1, 2) @ u)[..., None]
            offsets = offsets[..., 0]
        return np.asarray(X + self.radius * offsets, dtype=X.dtype)


class Ellipsoid(Family):
    r"""Additive errors in an ellipsoid around each row (Bhattacharyya et al., 2005).

    The elements map x to :math:`x + r \Sigma^{1/2} u` with :math:`\|u\| \le 1`. They cannot be
    listed. For a linear score, the worst case is :math:`x - r \Sigma w / \|\Sigma^{1/2} w\|`, and
    lowers the score by :math:`r \|\Sigma^{1/2} w\|`. :class:`~invarlearn.WorstCaseLinearSVC` with
    this family is therefore a second-order cone program, a special case of Teo et al. (2007,
    section 4). With the covariance of a Gaussian error, the radius
    :math:`\Phi^{-1}(p)` makes the margin hold with probability p. There are no tangents. The family
    is neither unitary nor a group.

    Parameters
    ----------
    covariance : float, array of shape (n_features,) or (n_features, n_features), or callable
        :math:`\Sigma`: a multiple of the identity, variances of the features, or a matrix, which
        must be positive semidefinite. A callable returns one for each row: ``covariance(X)`` of
        shape (n_samples, n_features) or (n_samples, n_features, n_features). Such are the
        conditional covariances of missing values that were imputed by their conditional means.
    radius : float, default=1.0
        Half-axes of the ellipsoid in standard deviations.
    shape : int or tuple, optional
        Shape of a row.

    References
    ----------
    Bhattacharyya, Pannagadatta and Smola, A second order cone programming formulation for
    classifying missing data (2005).

    Examples
    --------
    >>> family = Ellipsoid([4.0, 0.0], radius=0.5)
    >>> rows, scores = family.worst_case([[3.0, 1.0]], w=[1.0, 1.0])
    >>> rows, scores
    (array([[2., 1.]]), array([3.]))
    """

    # without a name in specifications, which cannot contain arrays
    spec_name = ""
    ranges_about_zero = ("radius",)

    def __init__(self, covariance: Covariance = 1.0, radius: float = 1.0, shape: Shape = None):
        self.covariance = covariance
        self.radius = radius
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(0.04), cls(np.linspace(0.0, 0.1, 64), radius=2.0)]

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        radius = check_number(self.radius, "radius", low=0)
        seeds = rng.randint(2**31 - 1, size=k)
        return Functions([RandomOffset(self.covariance, radius, seed) for seed in seeds])

    def worst_case(
        self, X: ArrayLike, w: ArrayLike, sign: ArrayLike | None = None
    ) -> tuple[Any, Rows]:
        """Return, for each row, the row of its ellipsoid with the least linear score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        w : array-like of shape (n_features,)
            The score of a row is ``row @ w``.
        sign : array-like of shape (n_samples,), optional
            The score is multiplied by it: labels in {-1, 1} make it a margin.

        Returns
        -------
        rows : array of shape (n_samples, n_features)
        scores : array of shape (n_samples,)
            ``sign * (rows @ w)``.
        """
        X = self.validate_rows(X)
        w, signs = check_score(X, w, sign)
        radius = check_number(self.radius, "radius", low=0)
        covariances = covariances_of(self.covariance, X)
        products = covariances * w if covariances.ndim < 3 else covariances @ w
        squares = products @ w
        if (squares < -1e-9 * np.abs(products).max(initial=0.0) * np.abs(w).sum()).any():
            raise ValueError("covariance must be positive semidefinite; w @ covariance @ w < 0")
        lengths = np.sqrt(np.maximum(squares, 0))
        # no error changes the score if the length is zero
        steps = radius * np.sign(signs) / np.where(lengths > 0, lengths, np.inf)
        rows = np.asarray(X - steps[:, None] * products, dtype=X.dtype)
        return rows, signs * (rows @ w)


def covariances_of(covariance: Covariance, X: Rows) -> Rows:
    """Return the covariances of rows: (n or 1, d) for variances, (n or 1, d, d) for matrices.

    Parameters
    ----------
    covariance : float, array or callable
        As in :class:`Ellipsoid`.
    X : array of shape (n, d)
    """
    n, d = X.shape
    is_given_by_row = callable(covariance)
    values = np.asarray(covariance(X) if callable(covariance) else covariance, dtype=float)
    shape = values.shape
    if not is_given_by_row:
        values = np.full((1, d), values) if values.ndim == 0 else values[None]
    rows = n if is_given_by_row else 1
    if values.shape not in {(rows, d), (rows, d, d)} or not np.isfinite(values).all():
        raise ValueError(
            f"covariance has shape {shape}; it must be finite numbers: one, {d} variances, a "
            f"matrix ({d}, {d}), or a function that returns variances or a matrix for each row"
        )
    if values.ndim == 2:
        is_valid = bool((values >= 0).all())
    else:
        is_valid = np.allclose(values, np.swapaxes(values, 1, 2))
    if not is_valid:
        raise ValueError("covariance must be variances of at least 0, or symmetric matrices")
    return values.astype(X.dtype, copy=False)
