"""Kernels that are a function of one number per pair of rows, and their derivatives."""

from __future__ import annotations

from abc import abstractmethod
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from invarlearn._utils.parallel import slices
from invarlearn.kernels.base import Kernel, Rows, check_pair
from invarlearn.kernels.channels import PixelProducts

# Sums of representers are evaluated in blocks of about this many pairs of rows.
PAIRS = 2**21

# Attributes of the base classes that hold for every profile. All others depend on the profile, also
# those that are added later. best_at_largest_inner_product is among them because the value that a
# class sets, False, is only slower where True would hold.
_ANY_PROFILE = {
    "best_at_largest_inner_product",
    "has_derivatives",
    "has_expansion",
    "is_orthogonally_invariant",
    "pair_numbers",
    "profile",
    "uses_norms",
}


class ProfileKernel(Kernel):
    """Base class of kernels ``k(x, y) = f(s)``, with one number s for each pair of rows.

    Subclass :class:`~invarlearn.kernels.DotKernel`, where s is the inner product, or
    :class:`~invarlearn.kernels.RadialKernel`, where s is the squared distance, and implement
    ``profile``. Values, first and mixed derivatives and sums of representers follow from it. Some
    kernels, such as :class:`~invarlearn.kernels.RBF`, have shortcuts for their own profile; a
    subclass that overrides ``profile`` does not inherit the shortcuts.

    Attributes
    ----------
    uses_norms : bool
        Whether s depends on the norms of the rows in addition to their inner product.
    """

    has_derivatives = True
    has_expansion = True
    profile_orders: float = 2
    is_orthogonally_invariant = True
    best_at_largest_inner_product = True
    supports_averages = False
    supports_blur = False
    uses_norms: bool = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        mro = cls.__mro__
        profile = next(i for i, parent in enumerate(mro) if "profile" in vars(parent))
        # the methods of RadialKernel, DotKernel and this class hold for every profile
        generic = [
            parent
            for parent in mro
            if getattr(getattr(parent, "profile", None), "__isabstractmethod__", False)
        ]
        # a shortcut that a parent class has written for another profile would be wrong
        for name in _dependent_names(generic):
            defined = next(i for i, parent in enumerate(mro) if name in vars(parent))
            if defined > profile and mro[defined] not in generic:
                owner = next(parent for parent in generic if name in vars(parent))
                setattr(cls, name, vars(owner)[name])

    @abstractmethod
    def profile(self, s: Rows, order: int) -> Rows:
        """Compute the profile f or its derivative.

        Parameters
        ----------
        s : array of any shape
            Inner products or squared distances.
        order : int
            Order of the derivative, from 0, which is f, to ``profile_orders``.

        Returns
        -------
        array of the shape and dtype of s
        """
        raise NotImplementedError

    @abstractmethod
    def pair_numbers(self, X: Rows, Y: Rows) -> Rows:
        """Compute the argument s of the profile for all pairs of rows, (n, m)."""
        raise NotImplementedError

    @abstractmethod
    def gradient(self, X: ArrayLike, Y: ArrayLike, V: ArrayLike) -> Rows:
        """Compute ``<v, d k(x, y) / dx>``, the derivative along the direction v of x.

        Parameters
        ----------
        X, V : arrays of shape (n, d)
            Rows, and a direction for each.
        Y : array of shape (m, d)

        Returns
        -------
        array of shape (n, m)
            The value of the derivative functional of (x, v) on ``k(y, .)``.
        """
        raise NotImplementedError

    @abstractmethod
    def mixed(self, X: ArrayLike, Y: ArrayLike, V: ArrayLike, W: ArrayLike) -> Rows:
        """Compute the mixed second derivative of k(x, y), along v at x and along w at y.

        Parameters
        ----------
        X, V : arrays of shape (n, d)
            Rows, and a direction for each.
        Y, W : arrays of shape (m, d)
            Rows, and a direction for each.

        Returns
        -------
        array of shape (n, m)
            The inner product of the representers of both derivative functionals.
        """
        raise NotImplementedError

    @abstractmethod
    def partials(self, X: Rows, Y: Rows) -> Rows:
        """Compute the partial derivatives of k(x, y) with respect to x: (n * d, m)."""
        raise NotImplementedError

    @abstractmethod
    def mixed_partials(self, X: Rows, Y: Rows, W: Rows) -> Rows:
        """Compute the partials, with respect to x, of the derivative along w at y: (n * d, m)."""
        raise NotImplementedError

    def precompute(self, Z: Rows, X: Rows) -> Rows:
        """Return numbers that calls of :meth:`expansion` for the same rows can share: (n, p)."""
        return self.pair_numbers(Z, X)

    def expansion(
        self,
        Z: Rows,
        X: Rows,
        coefficients: Rows | None = None,
        directions: Rows | None = None,
        gradients: bool = False,
        precomputed: Rows | None = None,
    ) -> tuple[Rows, Rows | None]:
        """Evaluate a sum of representers, and its gradient, without the Gram matrix.

        The sum is ``f(z) = sum_i c_i k(x_i, z) + <a_i, d k(x_i, z) / dx_i>``. It costs as much as a
        few matrix products of Z with X, although the Gram matrix of all partial derivatives has
        d * d times as many entries (Zhang et al., 2013, equation 11, for any profile).

        Parameters
        ----------
        Z : array of shape (n, d)
            Rows at which f is evaluated.
        X : array of shape (p, d)
            Rows x_i of the representers.
        coefficients : array of shape (p,), optional
            Coefficients c. None: zero.
        directions : array of shape (p, d), optional
            Directions a. None: zero.
        gradients : bool, default=False
            Whether to compute gradients of f as well.
        precomputed : array of shape (n, p), optional
            Result of ``precompute(Z, X)``. None: it is computed.

        Returns
        -------
        values : array of shape (n,)
            Values of f.
        gradients : array of shape (n, d), or None
            Gradients of f; None with ``gradients=False``.
        """
        c, a = (
            None if part is None else part.astype(X.dtype, copy=False)
            for part in (coefficients, directions)
        )
        values = np.empty(len(Z))
        slopes = np.empty(Z.shape) if gradients else None
        for block in slices(len(Z), PAIRS // max(1, len(X))):
            pairs = self.precompute(Z[block], X) if precomputed is None else precomputed[block]
            values[block], block_slopes = self.expand_block(pairs, Z[block], X, c, a, gradients)
            if slopes is not None:
                slopes[block] = block_slopes
        return values, slopes

    @abstractmethod
    def expand_block(
        self, pairs: Rows, Z: Rows, X: Rows, c: Rows | None, a: Rows | None, gradients: bool
    ) -> tuple[Rows, Rows | None]:
        """Evaluate :meth:`expansion` for a block of rows Z and their :meth:`precompute` numbers."""
        raise NotImplementedError

    @abstractmethod
    def pair_changes(self, X: Rows, Y: Rows, V: Rows, W: Rows) -> dict[tuple[int, int], Rows]:
        """Return how the argument s of the profile changes along directions.

        ``s(x + a v, y + b w) - s(x, y)`` is a polynomial in a and b.

        Parameters
        ----------
        X, V : arrays of shape (n, d)
        Y, W : arrays of shape (m, d)

        Returns
        -------
        dict from tuple to array
            The coefficients that are not zero, by the powers of a and b; they broadcast to (n, m).
        """
        raise NotImplementedError

    def directional(self, X: Rows, Y: Rows, V: Rows, W: Rows, p: int, q: int) -> Rows:
        """Compute derivatives of any order, p along v at x and q along w at y.

        It is the inner product of the representers of both derivatives (Zhang et al., 2013, text
        after Theorem 4). By Taylor's theorem, it is ``p! q!`` times the coefficient of ``a^p b^q``
        in the sum over k of ``f^(k)(s) / k!`` times the power k of :meth:`pair_changes`.

        Parameters
        ----------
        X, V : arrays of shape (n, d)
            Rows, and a direction for each.
        Y, W : arrays of shape (m, d)
            Rows, and a direction for each.
        p, q : int
            Orders, whose sum is at most ``profile_orders``.

        Returns
        -------
        array of shape (n, m)
        """
        changes = self.pair_changes(X, Y, V, W)
        s = self.pair_numbers(X, Y)
        out = np.zeros_like(s)
        for counts in _power_counts(list(changes), p, q):
            product = self.profile(s, sum(counts)) * (factorial(p) * factorial(q))
            for count, coefficient in zip(counts, changes.values(), strict=True):
                product = product * (coefficient**count / factorial(count))
            out += product
        return out

    def averages(self, X: Rows, Y: Rows, variance: float, other_variance: float) -> Rows:
        """Compute averages of the kernel over Gaussians around rows: (n, m).

        ``E k(x + e, y + e')``, where e and e' are independent and normal, with one variance in each
        direction for e and another one for e'.

        Parameters
        ----------
        X : array of shape (n, d)
        Y : array of shape (m, d)
        variance, other_variance : float
            Variances of e and e'.
        """
        factor, kernel = self.blurred(variance + other_variance, X.shape[1])
        return factor * kernel(X, Y)

    def blurred(self, variance: float, n_features: int) -> tuple[float, ProfileKernel]:
        """Return the kernel averaged over a Gaussian, as a factor and another kernel.

        ``E k(x + e, y) = factor * other(x, y)``, where e is normal with this variance in each of
        ``n_features`` directions. The functionals that are local averages use it.
        """
        raise TypeError(
            f"{type(self).__name__} has no closed form of averages over a Gaussian: choose a "
            "kernel with supports_blur, such as RBF"
        )

    @abstractmethod
    def from_fits(self, fits: Rows, squares: Rows) -> Rows:
        """Compute k(x, y) from fits, which are largest for the most similar y.

        Parameters
        ----------
        fits : array of any shape
            ``<x, y>``, minus ``|y|^2 / 2`` if the kernel has ``uses_norms=True``.
        squares : array that broadcasts with fits
            ``|x|^2``.

        Returns
        -------
        array of the shape of fits
        """
        raise NotImplementedError

    def channel_products(self, grid: tuple[int, int, int]) -> PixelProducts:
        return PixelProducts(grid, self)


def _dependent_names(generic: list[type]) -> list[str]:
    """Return the names that depend on the profile, of the classes that hold for every profile."""
    names = {name for parent in generic for name in vars(parent)} - _ANY_PROFILE
    return sorted(name for name in names if not name.startswith(("__", "_abc_")))


def _power_counts(powers: list[tuple[int, int]], p: int, q: int) -> list[tuple[int, ...]]:
    """Return all counts of monomials ``a^i b^j`` whose product is ``a^p b^q``.

    Parameters
    ----------
    powers : list of (i, j)
    p, q : int
    """
    if not powers:
        return [()] if p == q == 0 else []
    (i, j), *others = powers
    largest = min(total // power for total, power in ((p, i), (q, j)) if power)
    return [
        (count, *counts)
        for count in range(largest + 1)
        for counts in _power_counts(others, p - count * i, q - count * j)
    ]


def check_directions(V: ArrayLike, X: Rows) -> Any:
    """Return validated directions V, one for each row of X."""
    V = check_array(V, dtype=X.dtype, input_name="directions")
    if V.shape != X.shape:
        raise ValueError(f"directions have shape {V.shape}; for these rows it must be {X.shape}")
    return V


def check_moving(X: ArrayLike, Y: ArrayLike, V: ArrayLike) -> tuple[Any, Any, Any]:
    """Return validated rows X, rows Y and directions V of X."""
    X, Y = check_pair(X, Y)
    return X, Y, check_directions(V, X)
