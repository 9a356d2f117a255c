"""Checks and warnings of estimators with a worst-case loss (Teo et al., 2007)."""

from __future__ import annotations

import warnings
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from invarlearn._utils.progress import progress_callback
from invarlearn._utils.validation import check_generator, check_number
from invarlearn.estimators._validation import validate_family
from invarlearn.estimators._weights import (
    check_classes_have_weight,
    check_sample_weight,
    training_weights,
)
from invarlearn.oracles import Costs
from invarlearn.oracles.base import Oracle
from invarlearn.solvers import Solution, Solver, SolverSetting, WorstCaseProblem
from invarlearn.transforms import Family, Identity


def resolve_family(estimator: Any) -> Family:
    """Return the family of an estimator; None stands for the identity."""
    validate_family(estimator.family)
    return Identity() if estimator.family is None else estimator.family


def resolve_costs(estimator: Any, n_classes: int, n_elements: float) -> Costs:
    """Return the validated costs of an estimator for a family of ``n_elements`` elements."""
    return Costs.check(estimator.cost, estimator.margin_scale, n_classes, n_elements)


def resolve_weights(
    estimator: Any, X: Any, y: NDArray, classes: NDArray, sample_weight: ArrayLike | None
) -> NDArray[np.float64]:
    """Return the weights of samples times those of their classes: (n_samples,).

    Parameters
    ----------
    estimator : estimator
    X : array or sparse array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    classes : array of shape (n_classes,), sorted
    sample_weight : array-like of shape (n_samples,), optional
    """
    given = check_sample_weight(sample_weight, X)
    weights = training_weights(estimator.class_weight, y, classes, given)
    return check_classes_have_weight(weights, y)


def resolve_lam(estimator: Any, total_weight: float) -> float:
    """Return the regularisation: ``lam``, or ``1 / (C * total_weight)`` if it is None."""
    if estimator.lam is None:
        C = check_number(estimator.C, "C", low=0)
        if C == 0:
            raise ValueError("C=0 must be above 0: samples have no influence otherwise")
        return 1.0 / (C * total_weight)
    lam = check_number(estimator.lam, "lam", low=0)
    if lam == 0:
        raise ValueError("lam=0 must be above 0: pass a positive value, or lam=None and C")
    return lam


def solve_worst_case(
    estimator: Any, solver: Solver[WorstCaseProblem], oracle: Oracle, lam: float
) -> Solution:
    """Solve the problem of an estimator with its tolerance, and return the solution."""
    return solver.solve(
        WorstCaseProblem(oracle, lam),
        estimator.tol,
        estimator.max_iter,
        rng=check_generator(estimator.random_state),
        progress=progress_callback(estimator.verbose),
    )


def setting_of(
    estimator: Any, parameter: str, value: Any, is_shared: bool = False
) -> SolverSetting:
    """Return a parameter of an estimator as a setting of its solver, with the value of a field."""
    default = signature(type(estimator)).parameters[parameter].default
    return SolverSetting(parameter, getattr(estimator, parameter), default, value, is_shared)


def warn_of_gap(solver: Any, solution: Solution, tol: float) -> None:
    """Warn if a solver stopped early."""
    if not solution.converged:
        # stacklevel 3 is the caller of fit, which calls this function
        warnings.warn(
            f"solver {solver!r} stopped after {solution.n_iter} rounds with a duality gap of "
            f"{solution.gap:.1e} at an objective of {solution.objective:.4g}, above tol={tol:g}: "
            f"{solution.reason}",
            ConvergenceWarning,
            stacklevel=3,
        )
