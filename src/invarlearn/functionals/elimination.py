"""Elimination of functionals under a squared penalty: the result is another kernel.

``|f|^2 / 2 + nu * sum_j (L_j f)^2`` is half the squared norm of f in another space of functions,
with the kernel ``k(x, y) - k_z(x) (K_zz + I / (2 nu))^-1 k_z(y)'``. K_zz, the Gram matrix of the
representers z_j, is factored if it is small, and otherwise used through products only.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh_tridiagonal
from scipy.sparse.linalg import LinearOperator, cg
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from invarlearn._utils.parallel import slices
from invarlearn._utils.validation import check_number
from invarlearn.functionals.base import Functional, Value, check_functionals
from invarlearn.functionals.representers import Representers
from invarlearn.kernels.base import Kernel, Rows

# The default of ``max_factored``.
MAX_FACTORED = 4000

# Values of representers are computed in blocks of about this many numbers.
BLOCK = 2**24

_TOO_LARGE = "nu={nu:g} is too large for these functionals: lower nu, or scale rows or gamma down"


class Elimination:
    """Solver of linear systems with ``K_zz + I / (2 nu)``, for several values of nu.

    Parameters
    ----------
    z : Representers
        The m representers of the functionals.
    tol : float, default=1e-8
        Relative residual at which iterative solutions stop.
    max_iter : int, default=1000
        Largest number of iterations for one right-hand side.
    max_factored : int, default=4000
        Largest number of functionals for which K_zz is computed and factored.

    Attributes
    ----------
    is_dense : bool
        Whether K_zz is factored. If not, it is used through products.
    n_iter : int
        Largest number of iterations for a right-hand side so far; 0 with a factorisation.
    residual : float
        Largest relative residual of a solution so far; 0 with a factorisation.
    """

    def __init__(
        self,
        z: Representers,
        tol: float = 1e-8,
        max_iter: int = 1000,
        max_factored: int = MAX_FACTORED,
    ):
        self.kernel = z.kernel
        self.z = z
        self.tol = tol
        self.max_iter = max_iter
        self.n_iter = 0
        self.residual = 0.0
        self.is_dense = len(self.z) <= max_factored
        self._gram = self.z.gram() if self.is_dense else None

    def solve(self, B: NDArray, nu: float) -> NDArray:
        """Compute ``(K_zz + I / (2 nu))^-1 B`` for right-hand sides B: (m, k)."""
        if self._gram is not None:
            return cho_solve(self._factor(nu), B)
        solution = np.empty(B.shape)
        for j, b in enumerate(B.T):
            solution[:, j], n_iter, residual = conjugate_gradients(
                self.z.dot, b, 1 / (2 * nu), self.tol, self.max_iter
            )
            self.n_iter = max(self.n_iter, n_iter)
            self.residual = max(self.residual, residual)
        return solution

    def _factor(self, nu: float) -> tuple[NDArray, bool]:
        assert self._gram is not None
        shifted = self._gram.copy()
        shifted[np.diag_indices_from(shifted)] += 1 / (2 * nu)
        try:
            return cho_factor(shifted, overwrite_a=True)
        except LinAlgError as error:
            raise ValueError(_TOO_LARGE.format(nu=nu)) from error

    def kernels(self, Z: Rows, Y: Rows, nus: Sequence[float]) -> NDArray:
        """Compute the kernel of each nu between rows Z and rows Y.

        Without a factorisation, all values of nu share one Krylov space for each row of Y, so that
        together they cost as much as the largest one alone.

        Parameters
        ----------
        Z : array of shape (n_Z, n_features)
        Y : array of shape (n_Y, n_features)
        nus : sequence of float

        Returns
        -------
        array of shape (n_nus, n_Z, n_Y)
        """
        base_values = self.kernel(Z, Y).astype(float)
        out = np.repeat(base_values[None], len(nus), axis=0)
        positive = [i for i, nu in enumerate(nus) if nu > 0]
        if not positive or not len(self.z):
            return out
        if self._gram is not None:
            z_at_Y = self.z.at(Y).T
            solved = [cho_solve(self._factor(nus[i]), z_at_Y) for i in positive]
            limit = int(get_config()["working_memory"] * 2**20 / 8)
            for rows in slices(len(Z), min(BLOCK, limit) // len(self.z)):
                z_at_rows = self.z.at(Z[rows])
                for i, columns in zip(positive, solved, strict=True):
                    out[i, rows] -= z_at_rows @ columns
            return out
        shifts = [1 / (2 * nus[i]) for i in positive]
        values_and_z = Representers(self.kernel, [Value()], Z).joined(self.z)
        values = Representers(self.kernel, [Value()], Y)
        unit = np.zeros(len(Y))
        for j in range(len(Y)):
            unit[j] = 1.0
            b = self.z.dot(unit, values)
            unit[j] = 0.0
            out[positive, :, j] -= self._lanczos(values_and_z, b, shifts, len(Z))
        self.check_residual()
        return out

    def check_residual(self) -> None:
        """Warn if the largest residual is more than ten times ``tol``."""
        if self.residual > 10 * self.tol:
            warnings.warn(
                f"eliminating the functionals stopped after {self.n_iter} iterations at a relative "
                f"residual of {self.residual:.1e}, above tol={self.tol:g}: lower nu, or scale rows "
                "or gamma down",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _lanczos(
        self, values_and_z: Representers, b: NDArray, shifts: Sequence[float], n: int
    ) -> NDArray:
        """Evaluate the expansions with coefficients ``(K_zz + shift)^-1 b`` at n rows.

        All shifts share one Krylov space. Of its vectors, only the values at the rows are stored.

        Parameters
        ----------
        values_and_z : Representers
            Of the values at the n rows, followed by the m functionals.
        b : array of shape (m,)
        shifts : sequence of float
        n : int

        Returns
        -------
        array of shape (n_shifts, n)
        """
        norm = float(np.linalg.norm(b))
        if norm == 0:
            return np.zeros((len(shifts), n))
        v, previous, beta = b / norm, np.zeros_like(b), 0.0
        values: list[NDArray] = []
        diagonal: list[float] = []
        off_diagonal: list[float] = []
        weights = np.zeros((len(shifts), 0))
        for step in range(self.max_iter):
            product = values_and_z.dot(v, self.z)
            # a copy, so that the rest of the vector can be freed
            values.append(product[:n].copy())
            w = product[n:]
            diagonal.append(float(v @ w))
            w -= diagonal[-1] * v + beta * previous
            beta = float(np.linalg.norm(w))
            exhausted = beta <= 1e-14 * max(diagonal)
            if exhausted or step % 4 == 3 or step == self.max_iter - 1:
                weights, last_entry = _tridiagonal_solve(diagonal, off_diagonal, shifts)
                residual = 0.0 if exhausted else beta * last_entry
                if residual <= self.tol or exhausted:
                    break
            off_diagonal.append(beta)
            previous, v = v, w / beta
        self.n_iter = max(self.n_iter, len(values))
        self.residual = max(self.residual, residual)
        return norm * weights @ np.array(values)


def _tridiagonal_solve(
    diagonal: list[float], off_diagonal: list[float], shifts: Sequence[float]
) -> tuple[NDArray, float]:
    """Compute ``(T + shift)^-1 e_1`` for a tridiagonal matrix T and each shift.

    Returns
    -------
    weights : array of shape (n_shifts, len(diagonal))
    last_entry : float
        Largest absolute value in the last column.
    """
    try:
        values, vectors = eigh_tridiagonal(diagonal, off_diagonal)
    except LinAlgError as error:
        raise ValueError(_TOO_LARGE.format(nu=1 / (2 * min(shifts)))) from error
    weights = np.array([vectors @ (vectors[0] / (values + shift)) for shift in shifts])
    return weights, float(np.abs(weights[:, -1]).max())


def conjugate_gradients(
    product: Callable[[NDArray], NDArray], b: NDArray, shift: float, tol: float, max_iter: int
) -> tuple[NDArray, int, float]:
    """Solve ``(A + shift I) x = b`` by :func:`scipy.sparse.linalg.cg`.

    Parameters
    ----------
    product : callable
        ``product(x)`` returns ``A x``, for a positive semi-definite matrix A of shape (m, m).
    b : array of shape (m,)
    shift : float
    tol : float
        Relative residual at which iterations stop.
    max_iter : int

    Returns
    -------
    x : array of shape (m,)
    n_iter : int
    residual : float
        Norm of the residual, relative to that of b.
    """
    n_iter = 0

    def count(x: NDArray) -> None:
        nonlocal n_iter
        n_iter += 1

    norm = float(np.linalg.norm(b))
    if norm == 0:
        return np.zeros(b.shape), 0, 0.0
    system = LinearOperator((len(b), len(b)), lambda x: product(x) + shift * x, dtype=float)
    x, _ = cg(system, b, rtol=tol, maxiter=max_iter, callback=count)
    return x, n_iter, float(np.linalg.norm(b - system @ x)) / norm


class RepresenterKernel(Kernel):
    """Kernel with built-in invariances: it penalises functionals of f at given rows.

    ``k(x, y) = base(x, y) - k_z(x) (K_zz + I / (2 nu))^-1 k_z(y)'``, where z are the representers
    of the functionals. Any kernel machine with this kernel minimises its own loss plus half the
    squared norm of f under ``base`` plus ``nu`` times the sum of squared functionals (Zhang et al.,
    2013, objective 2). The values of the kernel are smaller than those of ``base``, so C must be
    larger.

    Parameters
    ----------
    base : Kernel
        A kernel with derivatives: a RadialKernel or a DotKernel, such as RBF or Polynomial.
    functionals : Functional or sequence of Functional
        Functionals that should be small.
    nu : float, default=0.1
        Weight of the squared functionals.
    at : array-like of shape (n, n_features)
        Rows at which the functionals are taken, labelled or not.
    tol : float, default=1e-8
        Relative residual of iterative solutions, which are used for more than ``max_factored``
        functionals.
    max_factored : int, default=4000
        Largest number of functionals for which their Gram matrix is factored.

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
        max_factored: int = MAX_FACTORED,
    ):
        self.base = base
        self.functionals = functionals
        self.nu = nu
        self.at = at
        self.tol = tol
        self.max_factored = max_factored

    def values(self, X: ArrayLike, Y: ArrayLike | None) -> Rows:
        X = check_array(X, dtype=float, input_name="X")
        Y = X if Y is None else check_array(Y, dtype=float, input_name="Y")
        nu = check_number(self.nu, "nu", low=0)
        solver = self._solver()
        n_features = solver.z.parts[0][0].points.shape[1] if solver.z.parts else X.shape[1]
        if X.shape[1] != n_features:
            raise ValueError(f"X has {X.shape[1]} features, but at has {n_features}")
        # the cost grows with the number of rows of the second argument
        if len(X) < len(Y):
            return solver.kernels(Y, X, [nu])[0].T
        values = solver.kernels(X, Y, [nu])[0]
        return (values + values.T) / 2 if X is Y else values

    def diag(self, X: ArrayLike) -> Rows:
        X = check_array(X, dtype=float, input_name="X")
        nu = check_number(self.nu, "nu", low=0)
        solver = self._solver()
        base_values = np.array(self.base.diag(X), dtype=float)
        if nu == 0:
            return base_values
        if solver.is_dense:
            z_at_X = solver.z.at(X).T
            return base_values - np.einsum("mn,mn->n", z_at_X, solver.solve(z_at_X, nu))
        return np.array([solver.kernels(x[None], x[None], [nu])[0, 0, 0] for x in X])

    def _solver(self) -> Elimination:
        if self.at is None:
            raise ValueError("at=None: pass the rows at which the functionals are taken, at=X")
        # the cache is valid while no parameter changes, also of functionals and their families
        components: list[Any] = [self.base, *check_functionals(self.functionals)]
        params: list[Any] = [self.at, self.tol, self.max_factored]
        for component in components:
            params += [component, *component.get_params(deep=True).values()]
        cached_params, solver = self.__dict__.get("_kept", ([], None))
        is_valid = len(cached_params) == len(params) and all(
            a is b for a, b in zip(cached_params, params, strict=True)
        )
        if solver is None or not is_valid:
            rows = check_array(self.at, dtype=float, input_name="at")
            z = Representers(self.base, components[1:], rows)
            solver = Elimination(z, self.tol, max_factored=self.max_factored)
            self._kept = params, solver
        return solver

    def __getstate__(self) -> dict[str, Any]:
        # the factorisation is computed again when it is needed
        return {name: value for name, value in super().__getstate__().items() if name != "_kept"}
