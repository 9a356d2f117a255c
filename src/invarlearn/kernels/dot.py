"""Kernels of the inner product of two rows: linear and polynomial."""

from __future__ import annotations

import math
from math import factorial

import numpy as np
from numpy.typing import ArrayLike

from invarlearn._utils.validation import check_number
from invarlearn.kernels.base import Rows, check_finite, check_pair
from invarlearn.kernels.profile import ProfileKernel, check_directions, check_moving


class DotKernel(ProfileKernel):
    """Base class of kernels ``k(x, y) = f(<x, y>)``.

    Subclasses implement ``profile(s, order)``: f, its first or its second derivative at inner
    products s. With ``s = <x, y>`` the derivatives are

    - along v at x: ``f'(s) <v, y>``;
    - along v at x and w at y: ``f''(s) <v, y> <w, x> + f'(s) <v, w>``.

    Over an orbit, the best fit is f of the largest inner product. Large negative inner products are
    therefore not chosen, even if f is a polynomial of even degree. f must not decrease for positive
    s; otherwise set ``best_at_largest_inner_product = False``.

    Examples
    --------
    >>> import numpy as np
    >>> class Cosine(DotKernel):
    ...     def profile(self, s, order):
    ...         return [np.cosh, np.sinh, np.cosh][order](s)
    >>> Cosine()([[1.0, 0.0]], [[0.5, 1.0]]).round(4)
    array([[1.1276]])
    """

    uses_norms = False

    def values(self, X: ArrayLike, Y: ArrayLike | None) -> Rows:
        X, Y = check_pair(X, Y)
        return check_finite(self.profile(X @ Y.T, 0))

    def diag(self, X: ArrayLike) -> Rows:
        X, _ = check_pair(X, None)
        return self.profile(np.einsum("nd,nd->n", X, X), 0)

    def pair_numbers(self, X: Rows, Y: Rows) -> Rows:
        return X @ Y.T

    def gradient(self, X: ArrayLike, Y: ArrayLike, V: ArrayLike) -> Rows:
        X, Y, V = check_moving(X, Y, V)
        return self.profile(X @ Y.T, 1) * (V @ Y.T)

    def mixed(self, X: ArrayLike, Y: ArrayLike, V: ArrayLike, W: ArrayLike) -> Rows:
        X, Y, V = check_moving(X, Y, V)
        W = check_directions(W, Y)
        s = X @ Y.T
        return self.profile(s, 2) * (V @ Y.T) * (X @ W.T) + self.profile(s, 1) * (V @ W.T)

    def partials(self, X: Rows, Y: Rows) -> Rows:
        first = self.profile(X @ Y.T, 1)
        return np.einsum("nm,md->ndm", first, Y).reshape(-1, len(Y))

    def mixed_partials(self, X: Rows, Y: Rows, W: Rows) -> Rows:
        s = X @ Y.T
        first, second = self.profile(s, 1), self.profile(s, 2)
        out = np.einsum("nm,md->ndm", second * (X @ W.T), Y) + np.einsum("nm,md->ndm", first, W)
        return out.reshape(-1, len(Y))

    def expand_block(
        self, pairs: Rows, Z: Rows, X: Rows, c: Rows | None, a: Rows | None, gradients: bool
    ) -> tuple[Rows, Rows | None]:
        first = self.profile(pairs, 1)
        along = None if a is None else Z @ a.T
        values = np.zeros(len(Z)) if c is None else self.profile(pairs, 0) @ c
        if along is not None:
            values = values + np.einsum("zx,zx->z", first, along)
        if not gradients:
            return values, None
        weight = np.zeros_like(first) if c is None else first * c
        if a is None or along is None:
            return values, weight @ X
        along *= self.profile(pairs, 2)
        along += weight
        return values, along @ X + first @ a

    def pair_changes(self, X: Rows, Y: Rows, V: Rows, W: Rows) -> dict[tuple[int, int], Rows]:
        return {(1, 0): V @ Y.T, (0, 1): X @ W.T, (1, 1): V @ W.T}

    def from_fits(self, fits: Rows, squares: Rows) -> Rows:
        return self.profile(fits, 0)


def product_moments(
    X: Rows, Y: Rows, variance: float, other_variance: float, power: int
) -> list[Rows]:
    """Compute the moments of ``<x + e, y + e'>`` with normal e and e': a list of (n, m).

    The moment generating function is, with v and w the variances of e and e' and q = v w,

    ``E exp(t <x + e, y + e'>) = (1 - t^2 q)^(-d/2)
    exp((t <x, y> + t^2 (w |x|^2 + v |y|^2) / 2) / (1 - t^2 q))``.

    Moments are the coefficients of its Taylor series times factorials.

    Parameters
    ----------
    X : array of shape (n, d)
    Y : array of shape (m, d)
    variance, other_variance : float
        Variances, in each direction, of e and e'.
    power : int
        The highest moment.
    """
    q, d = variance * other_variance, X.shape[1]
    s, squares = X @ Y.T, _squares(X, Y, variance, other_variance)
    # coefficients of the logarithm, from the first on
    logarithm = [
        s * q ** (j // 2) if j % 2 else d * q ** (j // 2) / j + squares * q ** (j // 2 - 1)
        for j in range(1, power + 1)
    ]
    series = [np.ones_like(s)]
    for p in range(1, power + 1):
        products = [j * logarithm[j - 1] * series[p - j] for j in range(1, p + 1)]
        series.append(np.sum(products, axis=0) / p)
    return [factorial(p) * coefficient for p, coefficient in enumerate(series)]


def exponential_average(X: Rows, Y: Rows, variance: float, other_variance: float, t: float) -> Rows:
    """Compute ``E exp(t <x + e, y + e'>)`` with normal e and e': (n, m).

    Parameters
    ----------
    X, Y, variance, other_variance :
        As in :func:`product_moments`.
    t : float
        The average is infinite if ``t^2`` times the product of both variances is 1 or more.
    """
    shrinkage = 1 - t**2 * variance * other_variance
    if shrinkage <= 0:
        raise ValueError(
            f"the average of exp({t:g} <x, y>) over Gaussians of variances {variance:g} and "
            f"{other_variance:g} is infinite: lower theta or gamma"
        )
    squares = _squares(X, Y, variance, other_variance)
    exponent = (t * (X @ Y.T) + t**2 * squares) / shrinkage
    return np.exp(exponent) / shrinkage ** (X.shape[1] / 2)


def _squares(X: Rows, Y: Rows, variance: float, other_variance: float) -> Rows:
    """Return ``(w |x|^2 + v |y|^2) / 2`` for all pairs."""
    of_x, of_y = np.einsum("nd,nd->n", X, X), np.einsum("md,md->m", Y, Y)
    return (other_variance * of_x[:, None] + variance * of_y) / 2


class Linear(DotKernel):
    """The linear kernel ``k(x, y) = gamma <x, y>``.

    Parameters
    ----------
    gamma : float, default=1.0
        With ``1 / n_features`` this is the normalised linear kernel of Liu et al. (2022).
        Estimators with ``kernel="linear"`` use 1.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    name = "linear"
    name_parameters = ()
    profile_orders = math.inf
    supports_averages = True

    def __init__(self, gamma: float = 1.0):
        self.gamma = gamma

    def profile(self, s: Rows, order: int) -> Rows:
        gamma = s.dtype.type(check_number(self.gamma, "gamma", low=0))
        return gamma * s if order == 0 else np.full_like(s, gamma if order == 1 else 0.0)

    def averages(self, X: Rows, Y: Rows, variance: float, other_variance: float) -> Rows:
        return np.asarray(self(X, Y))


class Polynomial(DotKernel):
    """The polynomial kernel ``k(x, y) = (gamma <x, y> + coef0) ** degree``.

    Parameters
    ----------
    degree : int, default=3
    gamma : float, default=1.0
    coef0 : float, default=1.0
        At least 0, so that the kernel is positive semidefinite.

    Examples
    --------
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    name = "poly"
    name_parameters = ("gamma", "degree", "coef0")
    profile_orders = math.inf
    supports_averages = True

    def __init__(self, degree: int = 3, gamma: float = 1.0, coef0: float = 1.0):
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def profile(self, s: Rows, order: int) -> Rows:
        degree = int(check_number(self.degree, "degree", low=1, whole=True))
        gamma = check_number(self.gamma, "gamma", low=0)
        coef0 = check_number(self.coef0, "coef0", low=0)
        if order > degree:
            return np.zeros_like(s)
        base = s * s.dtype.type(gamma) + s.dtype.type(coef0)
        factor = np.prod([degree - i for i in range(order)]) * gamma**order
        return s.dtype.type(factor) * base ** (degree - order)

    def averages(self, X: Rows, Y: Rows, variance: float, other_variance: float) -> Rows:
        degree, gamma, coef0 = int(self.degree), float(self.gamma), float(self.coef0)
        moments = product_moments(X, Y, variance, other_variance, degree)
        return np.asarray(
            sum(
                math.comb(degree, p) * coef0 ** (degree - p) * gamma**p * moment
                for p, moment in enumerate(moments)
            )
        )
