"""What estimators with functionals under a penalty share (paper 002)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist
from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._readable import Readable
from invarlearn.functionals import (
    Basis,
    Constant,
    Derivative,
    Functional,
    Representers,
    Value,
)
from invarlearn.functionals.base import check_functionals
from invarlearn.functionals.elimination import DENSE, Elimination
from invarlearn.kernels import RBF, Kernel, Linear, Polynomial
from invarlearn.losses import OF_NUMBERS, Loss, Squared, make_loss
from invarlearn.solvers.growing import grow
from invarlearn.solvers.representer import (
    FACTORED,
    Problem,
    Solution,
    Term,
    lbfgs,
    newton,
    small,
)
from invarlearn.transforms._checks import check_generator, check_memory, check_number

SOLVERS = ("auto", "eliminate", "newton", "lbfgs", "steepest", "random")


class RepresenterMachine(Readable):
    """What learning with functionals shares: the expansion, the choice of a solver, predictions."""

    # whether functionals are those of the whole function, or without its basis functions
    _penalises_basis = True

    def _fit(
        self,
        X: NDArray,
        labelled: NDArray,
        targets: NDArray,
        weights: NDArray,
        loss: Loss,
        lam: float,
        nu: float,
    ) -> None:
        """Fit one function for each column of targets, (n_labelled, k), at labelled rows of X."""
        if check_number(lam, "lam", low=0) == 0:
            raise ValueError("lam=0 must be above 0: labels would not count")
        nu = check_number(nu, "nu", low=0)
        penalty = self._penalty()
        if self.solver not in SOLVERS:
            raise ValueError(
                f"solver={self.solver!r} is unknown: choose one of {', '.join(SOLVERS)}"
            )
        self.kernel_ = make_kernel(self.kernel, self.gamma, self.degree, self.coef0, X)
        functionals = self._functionals() if nu > 0 else []
        self.functionals_ = functionals
        rows = X[labelled]
        z = Representers(self.kernel_, functionals, X)
        self.representers_ = Representers(self.kernel_, [Value()], rows).joined(z)
        self._bases = self._all_bases()
        basis = self._of_bases(self.representers_, len(rows))
        # basis functions of size one, whatever their units
        sizes = np.sqrt((basis[: len(rows)] ** 2).mean(axis=0))
        sizes[sizes == 0] = 1.0
        solutions = self._solutions(
            z, rows, targets, lam * weights, loss, nu, penalty, basis / sizes, sizes
        )
        for one in solutions:
            one.w = one.w / sizes
        self._tell(solutions)

    def _all_bases(self) -> list[Basis]:
        return ([Constant()] if self.fit_intercept else []) + self._basis()

    def _of_bases(self, representers: Representers, n_labelled: int) -> NDArray[np.float64]:
        """Give the functionals of basis functions, (m, p): zero where they do not see them."""
        basis = of_bases(representers, self._all_bases())
        seen = np.abs(basis[n_labelled:]).max(initial=0.0)
        if not self._penalises_basis or seen <= 1e-10 * np.abs(basis).max(initial=0.0):
            basis[n_labelled:] = 0.0
        return basis

    def _penalty(self) -> Loss:
        return make_loss(self.penalty, OF_NUMBERS, "penalty", self.smoothing, self.epsilon)

    def _functionals(self) -> list[Functional]:
        given = Derivative() if self.functionals is None else self.functionals
        return [clone(one) for one in check_functionals(given)]

    def _basis(self) -> list[Basis]:
        given = [] if self.basis is None else self.basis
        bases = [given] if isinstance(given, Basis) else given
        known = isinstance(bases, (list, tuple)) and all(isinstance(one, Basis) for one in bases)
        if not known:
            raise TypeError(f"basis={given!r} must be Basis objects: subclass functionals.Basis")
        return [clone(one) for one in bases]

    def _solutions(
        self,
        z: Representers,
        rows: NDArray,
        targets: NDArray,
        weights: NDArray,
        loss: Loss,
        nu: float,
        penalty: Loss,
        basis: NDArray,
        sizes: NDArray,
    ) -> list[Solution]:
        n_labelled, n = len(rows), len(self.representers_)
        can_eliminate = isinstance(penalty, Squared) and not basis[n_labelled:].any()
        self.solver_ = self._choose(n - n_labelled, n, can_eliminate, loss)
        starts = self._starts(n, sizes, targets.shape[1])
        many = range(targets.shape[1])

        def terms(k: int) -> list[Term]:
            return [Term(slice(0, n_labelled), loss, targets[:, k], weights)]

        if self.solver_ == "eliminate":
            return self._eliminate(z, rows, nu, basis[:n_labelled], [terms(k) for k in many])
        invariance = [Term(slice(n_labelled, n), penalty, 0.0, nu)] if n > n_labelled else []
        fits = 8.0 * n * n <= get_config()["working_memory"] * 2**20
        if self.solver_ == "newton" or (n <= DENSE and fits):
            gram = self.representers_.gram()
            problems = [Problem.dense(gram, basis, terms(k) + invariance) for k in many]
        else:
            product = self.representers_.dot
            problems = [Problem(product, basis, terms(k) + invariance) for k in many]
        if self.solver_ in ("steepest", "random"):
            rng = check_generator(self.random_state)
            columns = self.representers_.columns
            growing = (columns, n_labelled, self.solver_, rng, self.tol, self.max_iter)
            return [grow(p, *growing) for p in problems]
        solve = {"newton": newton, "lbfgs": lbfgs}[self.solver_]
        return [
            solve(p, self.tol, self.max_iter, start)
            for p, start in zip(problems, starts, strict=True)
        ]

    def _choose(self, m: int, n: int, can_eliminate: bool, loss: Loss) -> str:
        """Give the solver: the one asked for, or the fastest."""
        if self.solver == "eliminate" and not can_eliminate:
            raise ValueError(
                "solver='eliminate' needs penalty='squared', and basis functions that the "
                "functionals do not see: choose another solver"
            )
        if self.solver != "auto":
            return str(self.solver)
        if m and can_eliminate and (m <= FACTORED or not loss.is_smooth):
            return "eliminate"
        return "newton" if n <= FACTORED else "lbfgs"

    def _starts(self, n: int, sizes: NDArray, k: int) -> list[Any]:
        """Give where to begin: with ``warm_start`` at the last solution, if it has this size."""
        last = self.__dict__.get("_last")
        shapes = (k, n), (k, len(sizes))
        if self.warm_start and last is not None and tuple(a.shape for a in last) == shapes:
            return list(zip(last[0], last[1] * sizes, strict=True))
        return [None] * k

    def _eliminate(
        self, z: Representers, rows: NDArray, nu: float, basis: NDArray, terms: list[list[Term]]
    ) -> list[Solution]:
        """Solve on labelled rows only, with a kernel that has the functionals in it."""
        shape = (len(rows), len(rows))
        check_memory(shape, float, "the kernel of labelled rows", "choose solver='lbfgs'")
        elimination = Elimination(z, min(1e-8, self.tol))
        gram = elimination.kernels(rows, rows, [nu])[0]
        gram = (gram + gram.T) / 2
        found = [small(Problem.dense(gram, basis, t), self.tol, self.max_iter) for t in terms]
        # the coefficients of the functionals follow from those of the labelled rows
        if not len(z):
            return found
        labelled = Representers(self.kernel_, [Value()], rows)
        seen = np.column_stack([z.dot(one.c, labelled) for one in found])
        rest = elimination.solve(seen, nu)
        for one, column in zip(found, rest.T, strict=True):
            one.c = np.concatenate([one.c, -column])
        return found

    def _tell(self, solutions: list[Solution]) -> None:
        self.coef_ = np.array([one.c for one in solutions])
        weights = np.array([one.w for one in solutions]).reshape(len(solutions), -1)
        self._last = self.coef_, weights
        one = int(bool(self.fit_intercept))
        self.intercept_ = weights[:, 0] if one else np.zeros(len(solutions))
        self.basis_coef_ = weights[:, one:]
        self.objective_ = np.array([one.objective for one in solutions])
        self.gap_ = np.array([one.gap for one in solutions])
        self.n_iter_ = max(1, *(one.n_iter for one in solutions), 1)
        short = [one for one in solutions if not one.converged]
        if short:
            worst = max(short, key=lambda one: one.gap)
            warnings.warn(
                f"solver {self.solver_!r} stopped after {worst.n_iter} iterations with a duality "
                f"gap of {worst.gap:.1e} at an objective of {worst.objective:.4g}, above "
                f"tol={self.tol:g}: {worst.why}",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _functions(self, X: ArrayLike) -> NDArray[np.float64]:
        """Give the fitted functions at rows: (n_samples, k)."""
        check_is_fitted(self)
        return self._at(validate_data(self, X, dtype=float, reset=False))

    def _at(self, X: NDArray) -> NDArray[np.float64]:
        at = Representers(self.kernel_, [Value()], X)
        values = np.column_stack([at.dot(c, self.representers_) for c in self.coef_])
        one = int(bool(self.fit_intercept))
        basis = of_bases(at, self._bases[one:]) @ self.basis_coef_.T
        return values + basis + self.intercept_


def of_bases(representers: Representers, bases: Sequence[Basis]) -> NDArray[np.float64]:
    """Give the functionals of all basis functions: (m, p)."""
    columns = []
    for basis in bases:
        values = representers.of_basis(basis)
        if values.ndim != 2 or len(values) != len(representers):
            raise ValueError(
                f"{basis!r} must give values of shape (n, p) and gradients of shape (n, p, d)"
            )
        columns.append(values)
    return np.column_stack(columns) if columns else np.empty((len(representers), 0))


def make_kernel(kernel: Any, gamma: Any, degree: int, coef0: float, X: NDArray) -> Kernel:
    """Give the kernel of this name with gamma as a number, or a copy of the one that is given."""
    if isinstance(kernel, Kernel):
        return clone(kernel)
    known = ("rbf", "poly", "linear")
    if kernel not in known:
        raise ValueError(f"kernel={kernel!r} is unknown: pass a Kernel, or {', '.join(known)}")
    if kernel == "linear":
        return Linear()
    if gamma == "scale":
        variance = float(X.var())
        gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    elif gamma == "median":
        gamma = median_gamma(X)
    elif isinstance(gamma, str):
        raise ValueError(f"gamma={gamma!r} is unknown: pass a number, 'scale' or 'median'")
    return RBF(gamma) if kernel == "rbf" else Polynomial(degree, gamma, coef0)


def median_gamma(X: NDArray, at_most: int = 5000) -> float:
    """Give gamma for an RBF whose sigma is the median distance of rows (of at most so many)."""
    few = X if len(X) <= at_most else X[np.linspace(0, len(X) - 1, at_most).astype(int)]
    median = float(np.median(pdist(few))) if len(few) > 1 else 0.0
    return 1 / (2 * median**2) if median > 0 else 1.0


def with_unlabeled(estimator: Any, X: NDArray, more: ArrayLike | None) -> NDArray:
    """Append rows without labels."""
    if more is None:
        return X
    try:
        more = validate_data(estimator, more, dtype=float, reset=False)
    except ValueError as error:
        raise ValueError(f"X_unlabeled does not fit: {error}") from error
    return np.concatenate([X, more])
