"""Columns, bundle and Pegasos against a generic QP and each other; the errata of the paper."""

import numpy as np
import pytest
from scipy.optimize import minimize

from invarlearn.estimators.structured import Chain
from invarlearn.kernels import RBF, Linear
from invarlearn.oracles import Costs, ListedRisk, OrbitColumns, ScaledRisk, StructuredRisk
from invarlearn.solvers import Bundle, ColumnGeneration, Pegasos, WorstCaseProblem, regret_bound
from invarlearn.solvers.bundle import Planes
from invarlearn.solvers.columns import RestrictedDual
from invarlearn.solvers.pegasos import Walk
from invarlearn.transforms import CyclicShift, FeatureScaling, Identity


def small_problem(n_classes=3, seed=0, n=8, d=3):
    rng = np.random.RandomState(seed)
    X, y = rng.randn(n, d), np.arange(n) % n_classes
    cost = 0.5 + rng.rand(n_classes, n_classes, d)
    cost[np.arange(n_classes), np.arange(n_classes)] = 0
    scale = 0.5 + rng.rand(n_classes, n_classes)
    return X, y, Costs.check(cost, scale, n_classes, d)


def orbit_problem(X, y, kernel, costs, mass, cache_bytes=1e8):
    """Return the problem of all cyclic shifts; ``mass`` is the weight of each loss."""
    source = OrbitColumns(X, y, kernel, costs, CyclicShift(), cache_bytes, mass)
    return WorstCaseProblem(source, 1 / mass.sum())


def all_columns(X, y, costs, kernel):
    """Return the Gram matrix, costs and examples of ALL columns, the null columns included."""
    orbit = CyclicShift().orbit(X)
    rows, patterns, deltas, examples = [], [], [], []
    for i in range(len(X)):
        for s in range(orbit.shape[1]):
            for rival in range(costs.n_classes):
                if rival == y[i]:
                    continue
                pattern = np.zeros(costs.n_functions)
                if costs.n_functions == 1:
                    pattern[0] = -1 if y[i] == 1 else 1
                else:
                    pattern[[rival, y[i]]] = 1, -1
                rows.append(orbit[i, s])
                patterns.append(costs.scale[y[i], rival] * pattern)
                deltas.append(costs.cost[y[i], rival, s])
                examples.append(i)
        rows.append(X[i])
        patterns.append(np.zeros(costs.n_functions))
        deltas.append(0.0)
        examples.append(i)
    gram = kernel(np.array(rows), np.array(rows)) * (np.array(patterns) @ np.array(patterns).T)
    return gram, np.array(deltas), np.array(examples)


def generic_qp(gram, deltas, examples, mass):
    """Solve the whole dual with a general-purpose solver."""
    members = (examples == np.unique(examples)[:, None]).astype(float)
    start = members.T @ (mass / members.sum(axis=1))
    solution = minimize(
        lambda a: a @ gram @ a / 2 - deltas @ a,
        start,
        jac=lambda a: gram @ a - deltas,
        bounds=[(0, None)] * len(deltas),
        constraints={"type": "eq", "fun": lambda a: members @ a - mass, "jac": lambda a: members},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    return solution.x, -solution.fun


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()], ids=repr)
@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
def test_columns_agree_with_a_generic_qp_over_all_columns(n_classes, kernel, C):
    X, y, costs = small_problem(n_classes)
    mass = np.full(len(X), C)
    problem = orbit_problem(X, y, kernel, costs, mass)
    solution = ColumnGeneration().solve(problem, tol=1e-9)
    gram, deltas, examples = all_columns(X, y, costs, kernel)
    alpha, dual = generic_qp(gram, deltas, examples, mass)
    scores = deltas - gram @ alpha
    losses = np.array([scores[examples == i].max() for i in range(len(X))])
    primal = alpha @ gram @ alpha / 2 + mass @ losses
    assert primal == pytest.approx(dual, rel=1e-5)
    assert solution.converged
    # not negative, up to rounding
    assert -1e-12 <= solution.gap / max(problem.lam, solution.objective) <= 1e-9
    assert solution.objective == pytest.approx(problem.lam * dual, rel=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_of_examples_are_used(n_classes):
    X, y, costs = small_problem(n_classes)
    mass = np.random.RandomState(3).rand(len(X)) * 3
    problem = orbit_problem(X, y, RBF(0.5), costs, mass)
    solution = ColumnGeneration().solve(problem, tol=1e-9)
    _, dual = generic_qp(*all_columns(X, y, costs, RBF(0.5)), mass)
    assert solution.objective == pytest.approx(problem.lam * dual, rel=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_sliding_raises_the_dual_and_keeps_masses(n_classes):
    X, y, costs = small_problem(n_classes, n=20)
    mass = np.random.RandomState(3).rand(20) * 30
    source = OrbitColumns(X, y, Linear(), costs, CyclicShift(), 1e8)
    work = RestrictedDual(source, mass, ColumnGeneration(), np.random.RandomState(0))
    for _ in range(5):
        work.add(work.price(0.0, 2)[0])
        work.solve(1e-3, 1e-6)

    def dual():
        return work.columns.delta @ work.columns.alpha - work.squared_norm / 2

    # from weights that are not optimal
    share = np.random.RandomState(1).rand(len(work.columns))
    work.set_weights(
        share * (mass / np.bincount(work.columns.example, share))[work.columns.example]
    )
    before = dual()
    work.slide()
    assert dual() > before + 1e-3 * abs(before)
    assert (work.columns.alpha >= 0).all()
    sums = np.bincount(work.columns.example, work.columns.alpha)
    np.testing.assert_allclose(sums, mass, rtol=1e-9)
    A, F = work.A.copy(), work.F.copy()
    work.set_weights(work.columns.alpha)
    np.testing.assert_allclose(A, work.A, atol=1e-9 * np.abs(A).max())
    np.testing.assert_allclose(F, work.F, atol=1e-9 * np.abs(F).max())


@pytest.mark.parametrize("cache_bytes", [0, 3000])
def test_columns_do_not_depend_on_the_cache(cache_bytes):
    X, y, costs = small_problem(3, n=30, d=5)
    mass = np.full(30, 2.0)
    large = ColumnGeneration().solve(orbit_problem(X, y, RBF(0.5), costs, mass), 1e-7)
    problem = orbit_problem(X, y, RBF(0.5), costs, mass, cache_bytes)
    small = ColumnGeneration(cache_bytes=cache_bytes).solve(problem, 1e-7)
    assert small.converged
    assert small.objective == pytest.approx(large.objective, rel=1e-6)


def test_only_generated_columns_are_stored():
    X, y, costs = small_problem(3, n=60, d=6)
    problem = orbit_problem(X, y, RBF(0.1), costs, np.full(60, 0.05))
    solution = ColumnGeneration().solve(problem, 1e-6)
    assert solution.coef.shape == (3, problem.oracle.n_rows)
    assert problem.oracle.n_rows < 60 * 6
    assert solution.history[-1][1] <= solution.history[1][1]


def corrected_and_printed(lam):
    """Solve the small problem; return its optimum and values of the paper's printed equations."""
    X, y, costs = small_problem(3)
    gram, deltas, examples = all_columns(X, y, costs, RBF(0.5))
    mass = np.full(len(X), 1 / (lam * len(X)))
    alpha, dual = generic_qp(gram, deltas, examples, mass)

    def risk(sign):
        scores = deltas - sign * gram @ alpha
        losses = [scores[examples == i].max() for i in range(len(X))]
        return lam * alpha @ gram @ alpha / 2 + np.mean(losses)

    return risk(1), lam * dual, risk(-1), gram, deltas, examples, mass


def test_the_dual_of_the_paper_needs_its_signs_corrected():
    """E4 and E5: with (6a) and (8) as printed the optimum is missed by far."""
    primal, dual, opposite, gram, deltas, examples, mass = corrected_and_printed(0.1)
    assert primal == pytest.approx(dual, rel=1e-6)
    assert opposite > 1.5 * primal  # f with the sign of (8)
    # (6a) as printed is smallest at the null columns: f = 0
    printed, _ = generic_qp(2 * gram, -deltas, examples, mass)
    assert printed @ deltas == pytest.approx(0, abs=1e-6)


def test_null_columns_belong_to_every_working_set():
    """E6: without them an unclipped problem is solved, whose value is not that of the loss."""
    primal, _, _, gram, deltas, examples, mass = corrected_and_printed(0.001)
    real = gram.diagonal() > 0
    alpha, dual = generic_qp(gram[np.ix_(real, real)], deltas[real], examples[real], mass)
    scores = deltas[real] - gram[np.ix_(real, real)] @ alpha
    losses = np.array([scores[examples[real] == i].max() for i in range(8)])
    assert (losses < -1e-3).any()
    norm = 0.001 * alpha @ gram[np.ix_(real, real)] @ alpha / 2
    assert norm + np.maximum(losses, 0).mean() > primal + 1e-4
    assert 0.001 * dual < primal - 1e-4


def linear_problem(n_classes, seed=0, n=40, d=6):
    rng = np.random.RandomState(seed)
    X = rng.poisson(1.0, (n, d)) + 0.1 * rng.rand(n, d)
    y = (X @ rng.randn(d, n_classes)).argmax(axis=1) if n_classes > 2 else (X[:, 0] > 1) * 1
    return X, y


RISKS = {
    "scaled": lambda X, y, k: ScaledRisk(
        X, y, FeatureScaling(0.5, 3, 2), Costs.check(None, None, k, np.inf), bias=1.0
    ),
    "listed": lambda X, y, k: ListedRisk(
        X, y, CyclicShift(), Costs.check(None, None, k, X.shape[1]), bias=1.0
    ),
}


@pytest.mark.parametrize("kind", RISKS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("lam", [1.0, 0.01])
def test_bundle_columns_and_pegasos_agree(kind, n_classes, lam):
    risk = RISKS[kind](*linear_problem(n_classes), n_classes)
    problem = WorstCaseProblem(risk, lam)
    planes = Bundle().solve(problem, 1e-7, 3000)
    columns = ColumnGeneration().solve(problem, 1e-7)
    assert planes.converged
    assert planes.objective == pytest.approx(columns.objective, rel=1e-5)
    # both bound the same optimum from below
    assert planes.objective - planes.gap <= columns.objective + 1e-9
    assert columns.objective - columns.gap <= planes.objective + 1e-9
    np.testing.assert_allclose(columns.coef, planes.coef, atol=0.02 / np.sqrt(lam))
    walked = Pegasos().solve(problem, 1e-4, 60)
    w = walked.coef
    value = lam * w @ w / 2 + risk.shares @ risk.subgradient(w)[0]
    assert value == pytest.approx(walked.objective)
    assert walked.objective >= planes.objective - planes.gap - 1e-12
    assert walked.objective <= (1.02 if lam == 1 else 2.0) * planes.objective
    assert walked.objective - walked.gap <= planes.objective + 1e-12


@pytest.mark.parametrize("kind", RISKS)
def test_dual_weights_of_a_sample_sum_to_its_mass(kind):
    risk = RISKS[kind](*linear_problem(2), 2)
    mass = risk.shares / 0.01
    work = RestrictedDual(risk.columns(), mass, ColumnGeneration(), np.random.RandomState(0))
    for _ in range(40):
        priced, objective, gap = work.price(0.0, 2)
        assert gap >= -1e-12 * objective
        sums = np.bincount(work.columns.example, work.columns.alpha, len(mass))
        np.testing.assert_allclose(sums, mass, rtol=1e-12)
        work.add(priced)
        work.solve(max(0.1 * gap, 1e-8 * objective), 1e-9 * objective / mass.sum())
        work.refresh()
        work.prune()
    assert gap <= 1e-6 * objective


def test_warm_starts_of_bundles_save_iterations():
    problem = WorstCaseProblem(RISKS["scaled"](*linear_problem(3), 3), 0.01)
    cold = Bundle().solve(problem, 1e-6, 3000)
    warm = Bundle().solve(problem, 1e-6, 3000, start=(cold.coef, cold.offset))
    assert warm.n_iter < cold.n_iter
    assert warm.objective == pytest.approx(cold.objective, rel=1e-5)


def test_planes_solve_their_quadratic_program():
    rng = np.random.RandomState(0)
    planes = Planes(4, 0.3)
    slopes, offsets = rng.randn(12, 4), rng.rand(12)
    for slope, offset in zip(slopes, offsets, strict=True):
        planes.add(slope, offset)
    w, bound = planes.solve(1e-12)
    gram = np.zeros((13, 13))
    gram[1:, 1:] = slopes @ slopes.T / 0.3
    _, truth = generic_qp(gram, np.append(0, offsets), np.zeros(13), np.ones(1))
    assert bound == pytest.approx(truth, abs=1e-8)
    assert 0.3 * w @ w / 2 + max(0, (slopes @ w + offsets).max()) == pytest.approx(truth, abs=1e-6)


def plain_pegasos(risk, lam, order):
    """Algorithm 2 with its index corrected, and everything recomputed at each step."""
    radius = np.sqrt(risk.at_zero / lam)
    f = np.zeros(risk.n_weights)
    total, weight = np.zeros(risk.n_weights), 0.0
    for t, i in enumerate(order, 1):
        total, weight = total + t * f, weight + t
        f = (1 - 1 / t) * f - risk.worst(f, i).psi / (lam * t)
        f *= min(1.0, radius / max(np.linalg.norm(f), 1e-300))
    t = len(order) + 1
    return f, (total + t * f) / (weight + t)


@pytest.mark.parametrize("kind", RISKS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("lam", [2.0, 0.05])
def test_pegasos_keeps_norm_and_average_up_to_date(kind, n_classes, lam):
    risk = RISKS[kind](*linear_problem(n_classes), n_classes)
    order = np.random.RandomState(0).randint(risk.n_examples, size=150)
    walk = Walk(risk.n_weights, lam, risk.at_zero)
    walk.along(risk, order[:70])
    walk.along(risk, order[70:])
    last, average = plain_pegasos(risk, lam, order)
    _, c, n2, *_ = walk.state
    np.testing.assert_allclose(c * walk.v, last, atol=1e-9)
    np.testing.assert_allclose(walk.average, average, atol=1e-9)
    assert n2 == pytest.approx(last @ last, rel=1e-9)


def test_averages_weighted_by_time_beat_plain_ones_and_the_last():
    risk = RISKS["scaled"](*linear_problem(2, n=100), 2)
    lam = 0.05
    best = Bundle().solve(WorstCaseProblem(risk, lam), 1e-8, 5000).objective
    rng = np.random.RandomState(0)
    f, plain = np.zeros(risk.n_weights), np.zeros(risk.n_weights)
    walk = Walk(risk.n_weights, lam, risk.at_zero)
    for t in range(1, 4001):
        i = rng.randint(100)
        plain += (f - plain) / t
        walk.along(risk, np.array([i]))
        f = walk.state[1] * walk.v

    def excess(w):
        return lam * w @ w / 2 + risk.shares @ risk.subgradient(w)[0] - best

    assert excess(walk.average) < excess(plain)
    assert excess(walk.average) < excess(f)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_kernel_pegasos_approaches_the_optimum(n_classes):
    X, y, costs = small_problem(n_classes, n=20)
    lam, mass = 0.05, np.full(20, 1.0)
    best = ColumnGeneration().solve(
        WorstCaseProblem(orbit_problem(X, y, RBF(0.5), costs, mass).oracle, lam), 1e-8
    )
    source = orbit_problem(X, y, RBF(0.5), costs, mass).oracle
    walked = Pegasos().solve(WorstCaseProblem(source, lam), 1e-9, 100)
    A = walked.coef
    norm = (A * (A @ RBF(0.5)(source.rows, source.rows))).sum()
    losses = source.losses_of(A)[0]
    assert walked.objective == pytest.approx(lam * norm / 2 + source.shares @ losses)
    assert best.objective - 1e-9 <= walked.objective <= 1.02 * best.objective
    assert walked.objective - walked.gap <= best.objective + 1e-9


def test_kernel_and_linear_pegasos_agree():
    X, y = linear_problem(3)
    costs = Costs.check(None, None, 3, 6)
    risk = ListedRisk(X, y, CyclicShift(), costs)
    source = OrbitColumns(X, y, Linear(), costs, CyclicShift(), 1e8)
    linear, kernel = (
        Pegasos().solve(WorstCaseProblem(oracle, 0.1), 1e-9, 3) for oracle in (risk, source)
    )
    np.testing.assert_allclose(linear.objective, kernel.objective, rtol=1e-9)
    np.testing.assert_allclose(linear.gap, kernel.gap, rtol=1e-9)
    np.testing.assert_allclose(linear.coef.reshape(-1, 3), source.rows.T @ kernel.coef.T, atol=1e-9)


def test_the_bound_of_theorem_3_needs_the_regularised_gradient():
    """E7: with R = max |psi| the regret bound fails; with min(2 rho, rho + sqrt(2 lam R0)) not."""
    lam, T, rho = 2.25, 2, 1.0
    f, radius = 0.0, np.sqrt(2 / lam)  # R[0] = 1: one dimension, psi = 1 and -1 in turn, cost 1
    psi = [1.0, -1.0]
    risks = []
    for t in range(1, T + 1):
        risks.append(max(0.0, f * psi[t - 1] + 1) + lam * f * f / 2)
        f = (1 - 1 / t) * f - psi[t - 1] / (lam * t)
        f = np.clip(f, -radius, radius)
    grid = np.linspace(-radius, radius, 20001)
    mean = sum(np.maximum(0, grid * p + 1) for p in psi) / T + lam * grid**2 / 2
    regret = np.mean(risks) - mean.min()
    printed = rho**2 * (1 + np.log(T)) / (2 * lam * T)
    assert regret > printed
    assert regret <= regret_bound(T, lam, rho, at_zero=1.0)


def test_the_smaller_radius_holds_the_optimum():
    """E8: lam |f|^2 <= R[0] at the optimum, half of what the paper allows."""
    for lam in (10.0, 1.0, 0.1, 1e-3):
        risk = RISKS["scaled"](*linear_problem(3), 3)
        solution = Bundle().solve(WorstCaseProblem(risk, lam), 1e-6, 3000)
        assert lam * solution.coef @ solution.coef <= risk.at_zero + 1e-6


def test_structured_outputs_have_the_same_optimum_with_every_solver():
    rng = np.random.RandomState(0)
    chain = Chain(3, 4, CyclicShift())
    X = [rng.randn(length, 4) for length in (2, 3, 4, 2, 3)]
    Y = [rng.randint(3, size=len(x)) for x in X]
    risk = StructuredRisk(chain, X, Y)
    problem = WorstCaseProblem(risk, 0.1)
    planes = Bundle().solve(problem, 1e-6, 3000)
    columns = ColumnGeneration().solve(problem, 1e-6)
    assert columns.objective == pytest.approx(planes.objective, rel=1e-5)
    walked = Pegasos().solve(problem, 1e-3, 100)
    assert walked.objective <= 1.2 * planes.objective
    assert walked.coef.shape == (chain.n_features,)


def test_a_risk_without_transformations_is_the_hinge():
    X, y = linear_problem(2)
    risk = ScaledRisk(X, y, Identity(), Costs.check(None, None, 2, 1))
    w = np.random.RandomState(0).randn(6)
    np.testing.assert_allclose(
        risk.subgradient(w)[0], np.maximum(0, 1 - np.where(y == 1, 1, -1) * (X @ w))
    )
