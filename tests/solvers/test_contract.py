"""Every solver passes the contract suite, and the suite finds faults."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from invarlearn.functionals import Constant, Derivative, Representers, Value
from invarlearn.kernels import RBF
from invarlearn.losses import Absolute, Hinge, Logistic, Squared
from invarlearn.oracles import Costs, OrbitColumns, ScaledRisk
from invarlearn.solvers import (
    LBFGS,
    Bundle,
    ColumnGeneration,
    Newton,
    RepresenterProblem,
    Requirement,
    Solver,
    WorstCaseProblem,
    register,
    resolve_solver,
    solver_names,
)
from invarlearn.solvers.representer import RepresenterGram, Term
from invarlearn.testing import check_solver
from invarlearn.transforms import CyclicShift, FeatureScaling


def representer_problem(loss, penalty):
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((12, 2)), np.tile([1.0, -1.0], 4)
    blocks = [Value(), Derivative()] if penalty else [Value()]
    representers = Representers(RBF(0.3), blocks, [X[:8], X][: len(blocks)])
    terms = [Term(slice(0, 8), loss, y, 1.5)]
    if penalty:
        terms.append(Term(slice(8, len(representers)), penalty, 0.0, 0.3))
    basis = np.column_stack([representers.of_basis(Constant())])
    return RepresenterProblem.dense(representers.gram(), basis, terms)


def shifted_problem():
    rng = np.random.RandomState(0)
    X, y = rng.randn(12, 4), np.arange(12) % 3
    costs = Costs.check(None, None, 3, 4)
    mass = np.full(12, 2.0)
    columns = OrbitColumns(X, y, RBF(0.5), costs, CyclicShift(), 1e8, mass)
    return WorstCaseProblem(columns, 1 / mass.sum())


def scaled_problem():
    rng = np.random.RandomState(0)
    X, y = rng.rand(20, 5), np.arange(20) % 2
    X[:, 0] += y
    costs = Costs.check(None, None, 2, np.inf)
    risk = ScaledRisk(X, y, FeatureScaling(0.5, 2, budget=2), costs)
    return WorstCaseProblem(risk, 0.1)


def problem_with_rows(n_labelled=6):
    """Return a problem whose Gram matrix is computed from rows, with a squared penalty."""
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((12, 3)), np.tile([1.0, -1.0], 3)
    values = Representers(RBF(0.3), [Value()], [X[:n_labelled]])
    derivatives = Representers(RBF(0.3), [Derivative()], [X])
    gram = RepresenterGram(values, derivatives, X[:n_labelled])
    terms = [
        Term(slice(0, n_labelled), Hinge(), y, np.full(n_labelled, 1.5)),
        Term(slice(n_labelled, len(gram)), Squared(), 0.0, 0.3),
    ]
    basis = np.column_stack([gram.representers.of_basis(Constant())])
    return RepresenterProblem(gram, basis, terms)


PROBLEMS = {
    "rows": problem_with_rows(),
    "logistic, squared": representer_problem(Logistic(), Squared()),
    "hinge, absolute": representer_problem(Hinge(), Absolute()),
    "hinge": representer_problem(Hinge(), None),
    "shifts": shifted_problem(),
    "feature scalings": scaled_problem(),
}


@pytest.mark.parametrize("kind", [RepresenterProblem, WorstCaseProblem])
def test_every_solver_passes(kind):
    names = solver_names(kind)
    assert len(names) >= 3
    for name in names:
        solver = resolve_solver(name, kind)
        usable = [p for p in PROBLEMS.values() if isinstance(p, kind) and not solver.missing(p)]
        assert usable, f"no problem meets the requirements of {name}"
        for problem in usable:
            # the certificate of Pegasos is loose
            check_solver(solver, problem, tol=0.05 if name == "pegasos" else 1e-3)


@dataclass(frozen=True)
class Faulty(Solver[RepresenterProblem]):
    """Newton's method with a fault."""

    name: ClassVar[str] = "faulty"
    solves: ClassVar[type] = RepresenterProblem
    fault: str = ""

    def run(self, problem, run):
        if self.fault == "interruption":
            run = replace(run, progress=self.swallow(run.progress))
        solution = Newton().run(problem, run)
        if self.fault == "objective":
            return replace(solution, objective=0.99 * solution.objective)
        if self.fault == "gap":
            # half of the coefficients, with the certificate of a solution
            coef = 0.5 * solution.coef
            objective = problem.objective(coef, solution.offset)
            return replace(solution, coef=coef, objective=objective)
        if self.fault == "converged":
            return replace(solution, gap=1.0)
        if self.fault == "seed":
            return replace(solution, coef=solution.coef + 1e-12 * np.random.rand())
        if self.fault == "slow":
            return replace(solution, gap=1.0, converged=False, reason="raise max_iter")
        return solution

    @staticmethod
    def swallow(progress):
        def report(*arguments):
            with suppress(KeyboardInterrupt):
                progress(*arguments)

        return progress and report


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("objective", "but the solution says"),
        ("gap", "the duality gap is too small"),
        ("converged", "has converged with a gap of 1.00e"),
        ("seed", "the same seed gives another solution"),
        ("slow", "does not reach tol"),
        ("interruption", "does not reach the caller"),
    ],
)
def test_faults_are_found(fault, message):
    with pytest.raises(AssertionError, match=message):
        check_solver(Faulty(fault), PROBLEMS["logistic, squared"], tol=1e-6)


def test_a_solver_without_a_fault_passes():
    check_solver(Faulty(), PROBLEMS["logistic, squared"], tol=1e-6)


def test_problems_of_another_kind_are_refused():
    with pytest.raises(AssertionError, match="solves a WorstCaseProblem, but the problem is a Rep"):
        check_solver(ColumnGeneration(), PROBLEMS["hinge"])
    with pytest.raises(ValueError, match="solver='bundle' requires functions that are linear"):
        check_solver(Bundle(), PROBLEMS["shifts"])
    with pytest.raises(AssertionError, match="is not a Solver"):
        check_solver(LBFGS, PROBLEMS["hinge"])


def test_names_of_solvers_are_unique():
    with pytest.raises(ValueError, match=r"Other has the name 'newton' of Newton: choose another"):

        @register
        class Other(Newton):
            pass


def test_a_problem_that_no_solver_fits_gets_a_clear_error():
    @dataclass(frozen=True)
    class Impossible(Faulty):
        solves = dict
        requires = (Requirement("a unicorn", lambda problem: False),)

    with pytest.raises(ValueError, match=r"requires a unicorn.*: no registered solver fits it"):
        Impossible().solve({})
