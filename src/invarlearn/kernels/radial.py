"""Kernels of the distance of two rows, and the Gaussian kernel."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from invarlearn._utils.validation import check_number
from invarlearn.kernels.base import Rows, check_pair
from invarlearn.kernels.profile import ProfileKernel, check_directions, check_moving

# Squared distances below this fraction of the squared norms lose digits if computed by a matrix
# product. They are computed from differences instead.
NEAR = 1e-8


class RadialKernel(ProfileKernel):
    """Base class of kernels ``k(x, y) = f(|x - y|^2)``.

    Subclasses implement ``profile(s, order)``: f, its first or its second derivative at squared
    distances s. With ``s = |x - y|^2`` the derivatives are

    - along v at x: ``2 f'(s) <v, x - y>``;
    - along v at x and w at y: ``-4 f''(s) <v, x - y> <w, x - y> - 2 f'(s) <v, w>``.

    f must not increase; otherwise set ``best_at_largest_inner_product = False``. If f'' is infinite
    at 0 but ``s f''(s)`` tends to 0, return 0 for f'' at 0.

    Examples
    --------
    >>> import numpy as np
    >>> class Cauchy(RadialKernel):
    ...     def profile(self, s, order):
    ...         return [1 / (1 + s), -1 / (1 + s) ** 2, 2 / (1 + s) ** 3][order]
    >>> Cauchy()([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3333]])
    >>> Cauchy().gradient([[0.0, 0.0]], [[1.0, 1.0]], [[1.0, 0.0]]).round(4)
    array([[0.2222]])
    """

    uses_norms = True

    def values(self, X: ArrayLike, Y: ArrayLike | None) -> Rows:
        X, Y = check_pair(X, Y)
        return self.profile(squared_distances(X, Y), 0)

    def diag(self, X: ArrayLike) -> Rows:
        X, _ = check_pair(X, None)
        return self.profile(np.zeros(len(X), dtype=X.dtype), 0)

    def pair_numbers(self, X: Rows, Y: Rows) -> Rows:
        return squared_distances(X, Y)

    def gradient(self, X: ArrayLike, Y: ArrayLike, V: ArrayLike) -> Rows:
        X, Y, V = check_moving(X, Y, V)
        return 2 * self.profile(squared_distances(X, Y), 1) * differences_along(V, X, Y)

    def mixed(self, X: ArrayLike, Y: ArrayLike, V: ArrayLike, W: ArrayLike) -> Rows:
        X, Y, V = check_moving(X, Y, V)
        W = check_directions(W, Y)
        s = squared_distances(X, Y)
        # <w, y - x>, so that the product has the sign of the second derivative
        products = differences_along(V, X, Y) * differences_along(W, Y, X).T
        return 4 * self.profile(s, 2) * products - 2 * self.profile(s, 1) * (V @ W.T)

    def partials(self, X: Rows, Y: Rows) -> Rows:
        differences = X[:, None] - Y
        first = 2 * self.profile((differences**2).sum(axis=2), 1)
        return (first[..., None] * differences).transpose(0, 2, 1).reshape(-1, len(Y))

    def mixed_partials(self, X: Rows, Y: Rows, W: Rows) -> Rows:
        differences = X[:, None] - Y
        squared = (differences**2).sum(axis=2)
        first, second = self.profile(squared, 1), self.profile(squared, 2)
        along = np.einsum("nmd,md->nm", differences, W)
        out = -4 * (second * along)[..., None] * differences - 2 * first[..., None] * W
        return out.transpose(0, 2, 1).reshape(-1, len(Y))

    def expand_block(
        self, pairs: Rows, Z: Rows, X: Rows, c: Rows | None, a: Rows | None, gradients: bool
    ) -> tuple[Rows, Rows | None]:
        first = self.profile(pairs, 1)
        along = None
        values = np.zeros(len(Z)) if c is None else self.profile(pairs, 0) @ c
        if a is not None:
            # <a, z - x>
            along = Z @ a.T
            along -= np.einsum("xd,xd->x", X, a)
            values = values - 2 * np.einsum("zx,zx->z", first, along)
        if not gradients:
            return values, None
        # the gradient is the sum of weight * (z - x), and of -2 f' a
        weight = np.zeros_like(first) if c is None else 2 * first * c
        if along is not None:
            along *= self.profile(pairs, 2)
            weight -= 4 * along
        slopes = Z * weight.sum(axis=1)[:, None]
        slopes -= weight @ X
        if a is not None:
            slopes -= 2 * (first @ a)
        return values, slopes

    def pair_changes(self, X: Rows, Y: Rows, V: Rows, W: Rows) -> dict[tuple[int, int], Rows]:
        return {
            (1, 0): 2 * differences_along(V, X, Y),
            (0, 1): 2 * differences_along(W, Y, X).T,
            (2, 0): np.einsum("nd,nd->n", V, V)[:, None],
            (1, 1): -2 * (V @ W.T),
            (0, 2): np.einsum("md,md->m", W, W)[None],
        }

    def from_fits(self, fits: Rows, squares: Rows) -> Rows:
        return self.profile(np.maximum(squares - 2 * fits, 0), 0)


class RBF(RadialKernel):
    """The Gaussian kernel ``k(x, y) = exp(-gamma |x - y|^2)``.

    Parameters
    ----------
    gamma : float, default=1.0
        ``1 / (2 sigma^2)``.

    Examples
    --------
    >>> RBF(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    name = "rbf"
    profile_orders = math.inf
    supports_blur = True

    def __init__(self, gamma: float = 1.0):
        self.gamma = gamma

    def profile(self, s: Rows, order: int) -> Rows:
        gamma = check_number(self.gamma, "gamma", low=0)
        return s.dtype.type((-gamma) ** order) * np.exp(s.dtype.type(-gamma) * s)

    # A shortcut: derivatives of the profile are multiples of its values, so that exponentials are
    # computed once.

    def precompute(self, Z: Rows, X: Rows) -> Rows:
        return self.profile(squared_distances(Z, X), 0)

    def expand_block(
        self, pairs: Rows, Z: Rows, X: Rows, c: Rows | None, a: Rows | None, gradients: bool
    ) -> tuple[Rows, Rows | None]:
        two_gamma = 2 * float(self.gamma)
        if a is None:
            weight = np.zeros_like(pairs) if c is None else pairs * c
        else:
            weight = Z @ (two_gamma * a).T
            weight -= two_gamma * np.einsum("xd,xd->x", X, a)
            if c is not None:
                weight += c
            weight *= pairs
        # the weights of a row sum to the value of f
        values = weight.sum(axis=1)
        if not gradients:
            return values, None
        slopes = weight @ X
        slopes -= Z * values[:, None]
        if a is not None:
            slopes += pairs @ a
        return values, two_gamma * slopes

    def blurred(self, variance: float, n_features: int) -> tuple[float, RBF]:
        """Return the kernel averaged over a Gaussian, as a factor and another kernel.

        Variances add up: for ``sigma^2 = 1 / (2 gamma)`` the other kernel has the variance
        ``sigma^2 + variance``, and the factor is
        ``(sigma^2 / (sigma^2 + variance)) ** (n_features / 2)``.
        """
        own_variance = 1 / (2 * self.gamma)
        total = own_variance + variance
        return float((own_variance / total) ** (n_features / 2)), RBF(1 / (2 * total))


def squared_distances(X: Rows, Y: Rows) -> Rows:
    """Compute |x - y|^2 for all pairs of rows, of shape (n, m).

    Distances are computed in double precision, after subtracting the mean of Y. Those of nearly
    equal rows are computed from differences, so that they are exactly 0 for equal rows.
    """
    origin = Y.mean(axis=0, dtype=float)
    x, y = X - origin, Y - origin
    squares_x, squares_y = (x**2).sum(axis=1), (y**2).sum(axis=1)
    squared = squares_x[:, None] + squares_y - 2 * (x @ y.T)
    threshold = NEAR * (squares_x.max(initial=0.0) + squares_y.max(initial=0.0))
    rows, columns = np.nonzero(squared <= threshold)
    step = max(1, 2**20 // max(1, X.shape[1]))
    for start in range(0, len(rows), step):
        i, j = rows[start : start + step], columns[start : start + step]
        squared[i, j] = ((x[i] - y[j]) ** 2).sum(axis=1)
    return squared.astype(X.dtype, copy=False)


def differences_along(V: Rows, X: Rows, Y: Rows) -> Rows:
    """Compute <v, x - y> for all pairs, where v is the direction of x: (n, m)."""
    return np.einsum("nd,nd->n", V, X)[:, None] - V @ Y.T
