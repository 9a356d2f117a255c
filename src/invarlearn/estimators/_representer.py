"""Fitting of functions under penalised functionals (Zhang et al., 2013).

An estimator describes its objective as an :class:`Objective`. :func:`fit_expansion` builds and
solves one problem for each column of targets, and returns the functions as an :class:`Expansion`.
The estimator sets its fitted attributes from the expansion.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._utils.progress import Progress, progress_callback
from invarlearn._utils.repr import ReprMixin
from invarlearn._utils.validation import check_generator, check_number
from invarlearn.functionals import (
    Basis,
    Constant,
    Derivative,
    Functional,
    Representers,
    Value,
)
from invarlearn.functionals.base import check_functionals
from invarlearn.kernels import Kernel, resolve_kernel
from invarlearn.losses import REGRESSION_LOSSES, Loss, make_loss
from invarlearn.solvers import RepresenterProblem, Solution, Solver, resolve_solver
from invarlearn.solvers.representer import RepresenterGram, Term


@dataclass(frozen=True)
class Objective:
    """The objective ``|f|^2 / 2 + lam * sum of losses + nu * sum of penalties``.

    Attributes
    ----------
    kernel : Kernel
    functionals : list of Functional
        The penalised functionals; not used if ``nu`` is 0.
    bases : list of Basis
        Basis functions without penalty, other than the constant.
    intercept : bool
        Whether the constant is a basis function without penalty.
    loss : Loss
        The loss at labels.
    penalty : Loss
        The loss of functionals, with the target 0.
    lam, nu : float
    penalises_basis : bool
        Whether functionals are applied to the sum of f and the basis functions, or to f only.
    """

    kernel: Kernel
    functionals: list[Functional]
    bases: list[Basis]
    intercept: bool
    loss: Loss
    penalty: Loss
    lam: float
    nu: float
    penalises_basis: bool = True

    def __post_init__(self) -> None:
        if check_number(self.lam, "lam", low=0) == 0:
            raise ValueError("lam=0 must be above 0: labels have no influence otherwise")
        check_number(self.nu, "nu", low=0)

    @property
    def all_bases(self) -> list[Basis]:
        """The basis functions, the constant first if there is an intercept."""
        return ([Constant()] if self.intercept else []) + self.bases


@dataclass(frozen=True)
class Targets:
    """Targets and weights of the labelled rows.

    Attributes
    ----------
    labelled : array of shape (n_labelled,)
        Indices of the labelled rows in X.
    values : array of shape (n_labelled, n_functions)
    weights : array of shape (n_labelled,)
    """

    labelled: NDArray
    values: NDArray
    weights: NDArray


@dataclass(frozen=True)
class SolverSettings:
    """A solver, and the settings of its runs as in :class:`invarlearn.solvers.Run`."""

    solver: Solver[RepresenterProblem]
    tol: float
    max_iter: int
    rng: np.random.RandomState
    progress: Progress | None = None


@dataclass(frozen=True)
class Expansion:
    """Fitted functions: coefficients of representers, and weights of basis functions.

    Attributes
    ----------
    representers : Representers
    coef : array of shape (n_functions, n_representers)
    offsets : array of shape (n_functions, n_basis)
    solver : str
        Name of the solver.
    solutions : list of Solution
        One solution for each function, with its duality gap.
    """

    representers: Representers
    coef: NDArray[np.float64]
    offsets: NDArray[np.float64]
    solver: str
    solutions: list[Solution]

    def at(self, objective: Objective, X: NDArray) -> NDArray[np.float64]:
        """Return the functions at rows X, (n_samples, n_features): (n_samples, n_functions)."""
        return evaluate(self.representers, self.coef, objective.all_bases, self.offsets, X)


def objective_of(estimator: Any, X: NDArray, loss: Loss, lam: float, nu: float) -> Objective:
    """Return the objective from the parameters of an InvSVC, InvSVR or InvSVCCV.

    Parameters
    ----------
    estimator : InvSVC, InvSVR or InvSVCCV
    X : array of shape (n_samples, n_features)
        All rows, from which gamma may be computed.
    loss : Loss
    lam, nu : float
    """
    functionals = Derivative() if estimator.functionals is None else estimator.functionals
    return Objective(
        resolve_kernel(
            estimator.kernel,
            X,
            gamma=estimator.gamma,
            degree=estimator.degree,
            coef0=estimator.coef0,
        ),
        [clone(functional) for functional in check_functionals(functionals)],
        check_bases(estimator.basis),
        bool(estimator.fit_intercept),
        loss,
        make_loss(
            estimator.penalty, REGRESSION_LOSSES, "penalty", estimator.smoothing, estimator.epsilon
        ),
        lam,
        nu,
    )


def settings_of(estimator: Any) -> SolverSettings:
    """Return the solver of an estimator, and the settings of its runs."""
    return SolverSettings(
        resolve_solver(estimator.solver, RepresenterProblem),
        estimator.tol,
        estimator.max_iter,
        check_generator(estimator.random_state),
        progress_callback(estimator.verbose),
    )


def check_bases(given: Any) -> list[Basis]:
    """Return a list of unfitted copies of basis functions, from one, several, or None."""
    bases = [given] if isinstance(given, Basis) else [] if given is None else given
    if not isinstance(bases, (list, tuple)) or not all(isinstance(b, Basis) for b in bases):
        raise TypeError(
            f"basis={given!r} must be a Basis or a list of them: subclass "
            "invarlearn.functionals.Basis"
        )
    return [clone(basis) for basis in bases]


def pose_problems(
    objective: Objective, X: NDArray, targets: Targets
) -> tuple[list[RepresenterProblem], NDArray[np.float64]]:
    """Build one problem for each column of targets.

    Parameters
    ----------
    objective : Objective
    X : array of shape (n_samples, n_features)
    targets : Targets

    Returns
    -------
    problems : list of RepresenterProblem
    sizes : array of shape (n_basis,)
        The basis functions are divided by these numbers in the problems.
    """
    rows = X[targets.labelled]
    values = Representers(objective.kernel, [Value()], rows)
    functionals = objective.functionals if objective.nu > 0 else []
    gram = RepresenterGram(values, Representers(objective.kernel, functionals, X), rows)
    n_labelled, n = len(rows), len(gram)
    basis = _basis_table(objective, gram.representers, n_labelled)
    # normalise basis functions, whose units may differ
    sizes = np.sqrt((basis[:n_labelled] ** 2).mean(axis=0))
    sizes[sizes == 0] = 1.0
    weights = objective.lam * targets.weights
    penalty = [Term(slice(n_labelled, n), objective.penalty, 0.0, float(objective.nu))]
    problems = [
        RepresenterProblem(
            gram,
            basis / sizes,
            [Term(slice(0, n_labelled), objective.loss, column, weights)]
            + (penalty if n > n_labelled else []),
        )
        for column in targets.values.T
    ]
    return problems, sizes


def fit_expansion(
    objective: Objective,
    X: NDArray,
    targets: Targets,
    settings: SolverSettings,
    start: tuple[NDArray, NDArray] | None = None,
) -> Expansion:
    """Fit one function for each column of targets.

    Parameters
    ----------
    objective : Objective
    X : array of shape (n_samples, n_features)
        All rows, labelled or not; functionals are taken at each.
    targets : Targets
    settings : SolverSettings
    start : pair of arrays, optional
        Coefficients, (n_functions, n_representers), and offsets, (n_functions, n_basis), of an
        earlier fit. Ignored if their shapes do not match.

    Returns
    -------
    Expansion
    """
    problems, sizes = pose_problems(objective, X, targets)
    gram = problems[0].gram
    assert isinstance(gram, RepresenterGram)
    shapes = (len(problems), len(gram)), (len(problems), len(sizes))
    if start is None or tuple(array.shape for array in start) != shapes:
        starts: list[tuple[NDArray, NDArray] | None] = [None] * len(problems)
    else:
        starts = list(zip(start[0], start[1] * sizes, strict=True))
    solutions = [
        settings.solver.solve(
            problem, settings.tol, settings.max_iter, initial, settings.rng, settings.progress
        )
        for problem, initial in zip(problems, starts, strict=True)
    ]
    solutions = [replace(solution, offset=solution.offset / sizes) for solution in solutions]
    return Expansion(
        gram.representers,
        np.array([solution.coef for solution in solutions]),
        np.array([solution.offset for solution in solutions]).reshape(len(solutions), -1),
        settings.solver.choose(problems[0]).name,
        solutions,
    )


def _basis_table(
    objective: Objective, representers: Representers, n_labelled: int
) -> NDArray[np.float64]:
    """Return the functionals of basis functions, (n_representers, n_basis).

    Penalised functionals are set to zero if they do not apply to basis functions, or if they are
    zero up to rounding errors.
    """
    basis = of_bases(representers, objective.all_bases)
    largest = np.abs(basis[n_labelled:]).max(initial=0.0)
    if not objective.penalises_basis or largest <= 1e-10 * np.abs(basis).max(initial=0.0):
        basis[n_labelled:] = 0.0
    return basis


class RepresenterMachine(ReprMixin):
    """Base class of estimators whose functions are expansions in representers."""

    def _start(self) -> tuple[NDArray, NDArray] | None:
        """Return the coefficients and offsets of the last fit; None without a warm start."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        constant = self.intercept_[:, None][:, : int(self._has_intercept)]
        return self.coef_, np.column_stack([constant, self.basis_coef_])

    def _publish(self, objective: Objective, fitted: Expansion) -> None:
        """Set the fitted attributes, and warn if a solver stopped early."""
        solutions = fitted.solutions
        self.kernel_ = objective.kernel
        self.functionals_ = objective.functionals if objective.nu > 0 else []
        self.representers_ = fitted.representers
        self.coef_ = fitted.coef
        self.bases_, self._has_intercept = objective.bases, objective.intercept
        n_constants = int(objective.intercept)
        self.intercept_ = fitted.offsets[:, 0] if n_constants else np.zeros(len(solutions))
        self.basis_coef_ = fitted.offsets[:, n_constants:]
        self.objective_ = np.array([solution.objective for solution in solutions])
        self.gap_ = np.array([solution.gap for solution in solutions])
        self.n_iter_ = max(1, *(solution.n_iter for solution in solutions), 1)
        self.solver_ = fitted.solver
        stopped_early = [solution for solution in solutions if not solution.converged]
        if stopped_early:
            worst = max(stopped_early, key=lambda solution: solution.gap)
            warnings.warn(
                f"solver {self.solver_!r} stopped after {worst.n_iter} iterations with a duality "
                f"gap of {worst.gap:.1e} at an objective of {worst.objective:.4g}, above "
                f"tol={self.tol:g}: {worst.reason}",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _evaluate(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the fitted functions at rows: (n_samples, n_functions)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=float, reset=False)
        values = evaluate(self.representers_, self.coef_, self.bases_, self.basis_coef_, X)
        return values + self.intercept_


def evaluate(
    representers: Representers, coef: NDArray, bases: Sequence[Basis], offsets: NDArray, X: NDArray
) -> NDArray[np.float64]:
    """Evaluate functions at rows: (n_samples, n_functions).

    Parameters
    ----------
    representers : Representers
    coef : array of shape (n_functions, n_representers)
        Coefficients of the representers.
    bases : sequence of Basis
    offsets : array of shape (n_functions, n_basis)
        Weights of the basis functions.
    X : array of shape (n_samples, n_features)
    """
    point_values = Representers(representers.kernel, [Value()], X)
    values = np.column_stack([point_values.dot(c, representers) for c in coef])
    return values + of_bases(point_values, bases) @ offsets.T


def of_bases(representers: Representers, bases: Sequence[Basis]) -> NDArray[np.float64]:
    """Apply functionals to basis functions, one column for each: (n_representers, n_basis)."""
    columns = []
    for basis in bases:
        values = representers.of_basis(basis)
        if values.ndim != 2 or len(values) != len(representers):
            raise ValueError(
                f"{basis!r} must return values of shape (n, p) and gradients of shape (n, p, d)"
            )
        columns.append(values)
    return np.column_stack(columns) if columns else np.empty((len(representers), 0))


def with_unlabeled(estimator: Any, X: NDArray, X_unlabeled: ArrayLike | None) -> NDArray:
    """Return rows followed by unlabelled rows.

    Parameters
    ----------
    estimator : estimator
        Fitted to the number of features of X.
    X : array of shape (n_samples, n_features)
    X_unlabeled : array-like of shape (m, n_features), optional
    """
    if X_unlabeled is None:
        return X
    try:
        rows = validate_data(estimator, X_unlabeled, dtype=float, reset=False)
    except ValueError as error:
        raise ValueError(f"X_unlabeled does not fit: {error}") from error
    return np.concatenate([X, rows])
