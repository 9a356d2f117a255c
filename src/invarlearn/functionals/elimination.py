"""Functionals under a squared penalty, eliminated: what remains is another kernel.

The squared norm of f plus ``2 nu`` times the sum of its squared functionals is again the squared
norm of a space of functions, with the kernel ``k - k_z (K_zz + 1 / (2 nu))^-1 k_z'``. K_zz, the
Gram matrix of the representers, is factored if it is small, else used through products only.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh_tridiagonal
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from invarlearn.functionals.base import Functional, Representers, Value, check_functionals
from invarlearn.kernels.base import Kernel, Rows
from invarlearn.transforms._checks import check_number
from invarlearn.transforms._threads import slices

# Gram matrices of up to so many representers are factored.
DENSE = 4000

# Values of representers are computed for blocks of rows of about so many numbers.
BLOCK = 2**24

_TOO_LARGE = "nu={nu:g} is too large for these functionals: lower nu, or scale rows or gamma down"


class Elimination:
    """Solves with ``K_zz + 1 / (2 nu)``, for any number of nu.

    Parameters
    ----------
    z : Representers
        Of the functionals.
    tol : float
        Relative residual at which iterations stop.
    max_iter : int
        Of iterations for one right-hand side.

    Attributes
    ----------
    n_iter : int
        The most iterations that a right-hand side took; 0 with a factorisation.
    residual : float
        The largest relative residual that was left.
    """

    def __init__(self, z: Representers, tol: float = 1e-8, max_iter: int = 1000):
        self.kernel = z.kernel
        self.z = z
        self.tol = tol
        self.max_iter = max_iter
        self.n_iter = 0
        self.residual = 0.0
        self.is_dense = len(self.z) <= DENSE
        self._gram = self.z.gram() if self.is_dense else None

    def solve(self, B: NDArray, nu: float) -> NDArray:
        """Give ``(K_zz + 1 / (2 nu))^-1 B`` for columns B, (m, k)."""
        if self._gram is not None:
            return cho_solve(self._factor(nu), B)
        columns = [conjugate_gradients(self.z.dot, b, 1 / (2 * nu), self) for b in B.T]
        return np.column_stack(columns) if columns else np.empty_like(B)

    def _factor(self, nu: float) -> tuple[NDArray, bool]:
        assert self._gram is not None
        shifted = self._gram.copy()
        shifted[np.diag_indices_from(shifted)] += 1 / (2 * nu)
        try:
            return cho_factor(shifted, overwrite_a=True)
        except LinAlgError as error:
            raise ValueError(_TOO_LARGE.format(nu=nu)) from error

    def kernels(self, Z: Rows, Y: Rows, nus: Sequence[float]) -> NDArray:
        """Give the kernels of all nu between rows Z and rows Y: (len(nus), n, m).

        With products, all nu together cost as much as the largest one alone, and each row of Y some
        tens of products.
        """
        plain = self.kernel(Z, Y).astype(float)
        out = np.repeat(plain[None], len(nus), axis=0)
        wanted = [i for i, nu in enumerate(nus) if nu > 0]
        if not wanted or not len(self.z):
            return out
        if self._gram is not None:
            right = self.z.at(Y).T
            solved = [cho_solve(self._factor(nus[i]), right) for i in wanted]
            limit = int(get_config()["working_memory"] * 2**20 / 8)
            for some in slices(len(Z), min(BLOCK, limit) // len(self.z)):
                left = self.z.at(Z[some])
                for i, columns in zip(wanted, solved, strict=True):
                    out[i, some] -= left @ columns
            return out
        shifts = [1 / (2 * nus[i]) for i in wanted]
        both = Representers(self.kernel, [Value()], Z).joined(self.z)
        values = Representers(self.kernel, [Value()], Y)
        unit = np.zeros(len(Y))
        for j in range(len(Y)):
            unit[j] = 1.0
            b = self.z.dot(unit, values)
            unit[j] = 0.0
            out[wanted, :, j] -= self._lanczos(both, b, shifts, len(Z))
        self.check_residual()
        return out

    def check_residual(self) -> None:
        """Warn if solutions are far from what was asked for."""
        if self.residual > 10 * self.tol:
            warnings.warn(
                f"functionals were eliminated to a relative residual of {self.residual:.1e} only, "
                f"after {self.n_iter} iterations: lower nu, or scale rows or gamma down",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _lanczos(self, both: Representers, b: NDArray, shifts: Sequence[float], n: int) -> NDArray:
        """Give the values at n rows of the sums with coefficients ``(K_zz + shift)^-1 b``.

        One Krylov space serves all shifts, and of its vectors only the values are kept.
        """
        norm = float(np.linalg.norm(b))
        if norm == 0:
            return np.zeros((len(shifts), n))
        v, before, beta = b / norm, np.zeros_like(b), 0.0
        seen: list[NDArray] = []
        diagonal: list[float] = []
        beside: list[float] = []
        weights = np.zeros((len(shifts), 0))
        for step in range(self.max_iter):
            found = both.dot(v, self.z)
            # a copy, so that the rest of the vector can go
            seen.append(found[:n].copy())
            w = found[n:]
            diagonal.append(float(v @ w))
            w -= diagonal[-1] * v + beta * before
            beta = float(np.linalg.norm(w))
            exhausted = beta <= 1e-14 * max(diagonal)
            if exhausted or step % 4 == 3 or step == self.max_iter - 1:
                weights, left = _tridiagonal_solve(diagonal, beside, shifts)
                residual = 0.0 if exhausted else beta * left
                if residual <= self.tol or exhausted:
                    break
            beside.append(beta)
            before, v = v, w / beta
        self.n_iter = max(self.n_iter, len(seen))
        self.residual = max(self.residual, residual)
        return norm * weights @ np.array(seen)


def _tridiagonal_solve(
    diagonal: list[float], beside: list[float], shifts: Sequence[float]
) -> tuple[NDArray, float]:
    """Give ``(T + shift)^-1 e_1`` for all shifts, and the largest last entry."""
    try:
        values, vectors = eigh_tridiagonal(diagonal, beside)
    except LinAlgError as error:
        raise ValueError(_TOO_LARGE.format(nu=1 / (2 * min(shifts)))) from error
    weights = np.array([vectors @ (vectors[0] / (values + shift)) for shift in shifts])
    return weights, float(np.abs(weights[:, -1]).max())


def conjugate_gradients(
    product: Callable[[NDArray], NDArray], b: NDArray, shift: float, told: Elimination
) -> NDArray:
    """Solve ``(A + shift) x = b``, and note iterations and residual."""
    x, r = np.zeros_like(b), b.astype(float)
    p, square = r.copy(), float(r @ r)
    target = told.tol**2 * square
    steps = 0
    while square > target and steps < told.max_iter:
        q = product(p) + shift * p
        step = square / float(p @ q)
        x += step * p
        r -= step * q
        square, last = float(r @ r), square
        p = r + square / last * p
        steps += 1
    told.n_iter = max(told.n_iter, steps)
    if target > 0:
        told.residual = max(told.residual, told.tol * float(np.sqrt(square / target)))
    return x


class RepresenterKernel(Kernel):
    """A kernel that knows invariances: its functions have small functionals at given rows.

    With it, any kernel machine minimises its own loss plus half the squared norm of f under
    ``base`` plus ``nu`` times the sum of squared functionals (paper 002, objective 2). Its values
    are smaller than those of ``base``: C must be larger, as with a kernel times a small number. A
    Gaussian process fits none of its parameters.

    Parameters
    ----------
    base : RBF, Polynomial or Linear
    functionals : Functional or sequence of Functional
    nu : float, default=0.1
    at : array-like of shape (n, n_features)
        Rows at which the functionals are taken, labelled or not.
    tol : float, default=1e-8
        Relative residual of solutions where there are too many functionals for a factorisation.

    Examples
    --------
    >>> from invarlearn.datasets import make_two_moons
    >>> from invarlearn.functionals import Derivative
    >>> from invarlearn.kernels import RBF
    >>> from sklearn.svm import SVC
    >>> moons = make_two_moons(noise=0.05, random_state=0)
    >>> kernel = RepresenterKernel(RBF(8.0), [Derivative()], 1.0, at=moons.X)
    >>> X, y = moons.X[moons.labeled], moons.y[moons.labeled]
    >>> float(SVC(kernel=kernel).fit(X, y).score(moons.X, moons.y))
    1.0
    """

    def __init__(
        self,
        base: Kernel,
        functionals: Functional | Sequence[Functional],
        nu: float = 0.1,
        at: ArrayLike | None = None,
        tol: float = 1e-8,
    ):
        self.base = base
        self.functionals = functionals
        self.nu = nu
        self.at = at
        self.tol = tol

    def _values(self, X: ArrayLike, Y: ArrayLike | None) -> Rows:
        X = check_array(X, dtype=float, input_name="X")
        Y = X if Y is None else check_array(Y, dtype=float, input_name="Y")
        nu = check_number(self.nu, "nu", low=0)
        solver = self._solver()
        checked = (X.shape[1], solver.z.parts[0][0].points.shape[1]) if solver.z.parts else (0, 0)
        if checked[0] != checked[1]:
            raise ValueError(f"X has {checked[0]} features, and at has {checked[1]}")
        # the work is done once for each row of the second argument
        if len(X) < len(Y):
            return solver.kernels(Y, X, [nu])[0].T
        values = solver.kernels(X, Y, [nu])[0]
        return (values + values.T) / 2 if X is Y else values

    def diag(self, X: ArrayLike) -> Rows:
        X = check_array(X, dtype=float, input_name="X")
        nu = check_number(self.nu, "nu", low=0)
        solver = self._solver()
        plain = np.array(self.base.diag(X), dtype=float)
        if nu == 0:
            return plain
        if solver.is_dense:
            right = solver.z.at(X).T
            return plain - np.einsum("mn,mn->n", right, solver.solve(right, nu))
        return np.array([solver.kernels(x[None], x[None], [nu])[0, 0, 0] for x in X])

    def _solver(self) -> Elimination:
        if self.at is None:
            raise ValueError("at=None: say at which rows the functionals are to be small, at=X")
        # all parameters, also those of kernel, functionals and their families
        parts: list[Any] = [self.base, *check_functionals(self.functionals)]
        now: list[Any] = [self.at, self.tol]
        for part in parts:
            now += [part, *part.get_params(deep=True).values()]
        before, solver = self.__dict__.get("_kept", ([], None))
        same = len(before) == len(now) and all(a is b for a, b in zip(before, now, strict=True))
        if solver is None or not same:
            rows = check_array(self.at, dtype=float, input_name="at")
            solver = Elimination(Representers(self.base, parts[1:], rows), self.tol)
            self._kept = now, solver
        return solver

    def __getstate__(self) -> dict[str, Any]:
        # the factorisation can be had again
        return {name: value for name, value in super().__getstate__().items() if name != "_kept"}
