"""Solvers against a generic solver and each other, and the bound of the duality gap."""

import numpy as np
import pytest
from scipy.optimize import minimize

from invarlearn.functionals import Constant, Coordinates, Derivative, Representers, Value
from invarlearn.kernels import RBF
from invarlearn.losses import Absolute, EpsilonInsensitive, Hinge, Logistic, Squared
from invarlearn.solvers import (
    LBFGS,
    LibSVM,
    Newton,
    RandomGrowth,
    RepresenterProblem,
    SteepestGrowth,
)
from invarlearn.solvers.representer import Term

LABELS = [
    Hinge(),
    Hinge(0.4),
    Logistic(),
    Squared(),
    Absolute(),
    EpsilonInsensitive(epsilon=0.1),
]
PENALTIES = [Squared(), Absolute(), EpsilonInsensitive(epsilon=0.05)]
N_LABELS = 6


def make_problem(loss, penalty, bases=None, lam=1.3, nu=0.3):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((9, 2))
    y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    at = [X[:N_LABELS], X]
    representers = Representers(RBF(0.3), [Value(), Derivative()], at)
    basis = np.column_stack([representers.of_basis(b) for b in bases or [Constant()]])
    n = len(representers)
    terms = [
        Term(slice(0, N_LABELS), loss, y, lam * np.linspace(0.5, 2, N_LABELS)),
        Term(slice(N_LABELS, n), penalty, 0.0, nu),
    ]
    return RepresenterProblem.dense(representers.gram(), basis, terms)


def epigraph(problem):
    """Minimise with SLSQP: sharp losses are bounds of extra variables above linear functions."""
    n, p = problem.basis.shape
    values, vectors = np.linalg.eigh(problem.gram.matrix())
    features = vectors * np.sqrt(np.maximum(values, 0))
    sharp = [t for t in problem.terms if not t.loss.is_smooth]
    counts = [t.where.stop - t.where.start for t in sharp]
    starts = n + p + np.cumsum([0, *counts])

    def u_of(x):
        return features @ x[:n] + problem.basis @ x[n : n + p]

    both = np.column_stack([features, problem.basis])

    def objective(x):
        u, out = u_of(x), 0.5 * x[:n] @ x[:n]
        down = np.zeros_like(x)
        down[:n] = x[:n]
        for t in problem.terms:
            if t.loss.is_smooth:
                out += (t.weight * t.loss.value(u[t.where], t.target)).sum()
                slopes = t.weight * t.loss.slope(u[t.where], t.target)
                down[: n + p] += both[t.where].T @ slopes
        for t, a, k in zip(sharp, starts, counts, strict=False):
            weight = np.broadcast_to(t.weight, k)
            out += weight @ x[a : a + k]
            down[a : a + k] += weight
        return out, down

    rows, bounds = [], []
    for t, a, k in zip(sharp, starts, counts, strict=False):
        cut = np.zeros((k, starts[-1]))
        cut[:, a : a + k] = np.eye(k)
        rows.append(cut.copy())
        bounds.append(np.zeros(k))
        linear = np.zeros((k, starts[-1]))
        linear[:, : n + p] = both[t.where]
        if isinstance(t.loss, Hinge):
            rows.append(cut + t.target[:, None] * linear)
            bounds.append(np.ones(k))
        else:
            width = getattr(t.loss, "epsilon", 0.0)
            for sign in (-1, 1):
                rows.append(cut - sign * linear)
                bounds.append(-sign * np.broadcast_to(t.target, k) - width)
    constraints = []
    if rows:
        A, b = np.concatenate(rows), np.concatenate(bounds)
        constraints = [{"type": "ineq", "fun": lambda x: A @ x - b, "jac": lambda x: A}]
    x = np.zeros(starts[-1])
    x[n + p :] = 2.0
    options = {"maxiter": 2000, "ftol": 1e-12}
    return minimize(
        objective, x, jac=True, method="SLSQP", constraints=constraints, options=options
    )


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("loss", LABELS, ids=repr)
def test_the_optimum_is_that_of_a_generic_solver(loss, penalty):
    problem = make_problem(loss, penalty)
    truth = epigraph(problem)
    # 8: the line search finds no lower point, which holds at the optimum too
    assert truth.status in (0, 8)
    for solution in (
        Newton().solve(problem, 1e-7),
        LBFGS().solve(problem, 1e-6, 20_000),
        SteepestGrowth().solve(problem, 1e-6),
    ):
        assert solution.objective == pytest.approx(truth.fun, rel=1e-5)
        assert solution.objective - solution.gap <= truth.fun * (1 + 1e-7)
        assert solution.converged


@pytest.mark.parametrize("penalty", [Squared(), EpsilonInsensitive(epsilon=0.05)], ids=repr)
def test_the_optimum_with_penalised_basis_functions_is_that_of_a_generic_solver(penalty):
    problem = make_problem(Logistic(), penalty, (Constant(), Coordinates()))
    truth = epigraph(problem)
    for solver in (Newton(), LBFGS()):
        assert solver.solve(problem, 1e-7).objective == pytest.approx(truth.fun, rel=1e-5)


def test_squared_losses_are_solved_in_one_step():
    problem = make_problem(Squared(), Squared())
    newton = Newton().solve(problem)
    assert newton.n_iter == 1
    # the normal equations of the whole problem, with the constant unpenalised
    gram, n = problem.gram.matrix(), len(problem)
    weight = np.concatenate([problem.terms[0].weight, np.full(n - N_LABELS, 0.3)])
    target = np.concatenate([problem.terms[0].target, np.zeros(n - N_LABELS)])
    one = problem.basis
    system = np.block([[gram + np.diag(1 / (2 * weight)), one], [one.T, np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(target, 0.0))
    np.testing.assert_allclose(newton.coef, solution[:-1], atol=1e-9)
    np.testing.assert_allclose(newton.offset, solution[-1:], atol=1e-9)


@pytest.mark.parametrize("solver", [SteepestGrowth(), RandomGrowth()], ids=repr)
def test_growing_finds_the_same_function(solver):
    problem = make_problem(Logistic(), EpsilonInsensitive(epsilon=0.05))
    grown = solver.solve(problem, 1e-6)
    whole = Newton().solve(problem, 1e-8)
    apart = problem.gram.dot(grown.coef - whole.coef)
    apart += problem.basis @ (grown.offset - whole.offset)
    assert np.abs(apart).max() < 1e-2
    assert grown.objective == pytest.approx(whole.objective, rel=1e-6)


def test_warm_starts_save_steps():
    first = LBFGS().solve(make_problem(Logistic(), Squared()))
    near = make_problem(Logistic(), Squared(), lam=1.31)
    cold = LBFGS().solve(near)
    warm = LBFGS().solve(near, start=(first.coef, first.offset))
    assert warm.n_iter < cold.n_iter
    assert warm.objective == pytest.approx(cold.objective, rel=1e-6)


def test_libsvm_solves_the_hinge_loss_with_a_valid_gap():
    whole = make_problem(Hinge(), Squared())
    gram = whole.gram.matrix()[:N_LABELS, :N_LABELS]
    problem = RepresenterProblem.dense(gram, np.ones((N_LABELS, 1)), whole.terms[:1])
    ours, theirs = Newton().solve(problem, 1e-8), LibSVM().solve(problem, 1e-6)
    assert theirs.objective == pytest.approx(ours.objective, rel=1e-6)
    assert theirs.objective - theirs.gap <= ours.objective + 1e-9


def test_early_stopping_is_reported():
    solution = LBFGS().solve(make_problem(Hinge(), Absolute()), 1e-8, max_iter=5)
    assert not solution.converged
    assert solution.gap > 1e-8
