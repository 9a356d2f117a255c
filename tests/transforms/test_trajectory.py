"""Polynomial trajectories against dense grids, and against a semidefinite program."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn import config_context

from invarlearn import WorstCaseLinearSVC
from invarlearn.transforms import (
    Family,
    FeatureDropping,
    PolynomialTrajectory,
    Rotation,
    Translation,
)
from invarlearn.transforms.trajectory import least_on_interval


class Turn(Family):
    """Rotation of points of the plane, with a second direction that moves them to the right."""

    def __init__(self, shape=None):
        self.shape = shape

    n_directions = 2

    def flow(self, X, t, smoothing=None):
        X = np.asarray(X)
        rotation = np.array([[np.cos(t), np.sin(t)], [-np.sin(t), np.cos(t)]])
        return np.stack([X @ rotation, X + np.array([t, 0.0])], axis=1)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
def test_trajectories_follow_the_flow(degree):
    X = np.random.RandomState(0).randn(5, 2)
    family = PolynomialTrajectory(Turn(), degree, extent=0.6)
    errors = [
        np.abs(family.flow(X, t) - Turn().flow(X, t)).max() for t in np.linspace(-0.6, 0.6, 41)
    ]
    # the remainder of a Taylor series of the same degree, at twice the extent
    assert max(errors) < np.abs(X).max() * 1.2 * 1.2 ** (degree + 1) / np.prod(
        np.arange(1, degree + 2)
    )
    # trajectories of even degree pass through the ends
    if degree % 2 == 0:
        np.testing.assert_allclose(family.flow(X, -0.6), Turn().flow(X, -0.6))
    np.testing.assert_allclose(family.flow(X, 0.0), np.stack([X, X], axis=1))


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 6])
def test_minima_agree_with_a_dense_grid(degree):
    coefficients = np.random.RandomState(degree).randn(60, degree)
    # polynomials without their highest powers, and one that is zero
    coefficients[:10, -1] = 0
    coefficients[0] = 0
    t = least_on_interval(coefficients)
    assert (np.abs(t) <= 1).all()
    powers = np.arange(1, degree + 1)
    grid = np.linspace(-1, 1, 20001)
    values = coefficients @ (grid ** powers[:, None])
    ours = (coefficients * t[:, None] ** powers).sum(axis=1)
    assert (ours <= values.min(axis=1) + 1e-12).all()
    np.testing.assert_allclose(ours, values.min(axis=1), atol=1e-6)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_the_worst_case_is_that_of_all_points_of_all_trajectories(degree):
    rng = np.random.RandomState(0)
    X, w, sign = rng.rand(6, 64), rng.randn(64), np.array([1.0, -1, 1, 1, -1, -1])
    family = PolynomialTrajectory(Rotation(15) | Translation(1), degree, extent=0.5)
    rows, scores = family.worst_case(X, w, sign)
    points = np.stack([family.flow(X, t) for t in np.linspace(-0.5, 0.5, 401)], axis=1)
    least = (points @ w * sign[:, None, None]).min(axis=(1, 2))
    np.testing.assert_allclose(scores, sign * (rows @ w))
    assert (scores <= least + 1e-12).all()
    np.testing.assert_allclose(scores, least, atol=1e-3)


def test_training_is_the_semidefinite_program_of_graepel_and_herbrich():
    """A quadratic is at least 1 - slack on [-1, 1] iff a 2 x 2 matrix is positive semidefinite."""
    rng = np.random.RandomState(3)
    X = rng.randn(12, 2)
    y = np.where(X[:, 0] + 0.4 * rng.randn(12) > 0, 1, -1)
    lam, extent = 0.05, 0.5
    family = PolynomialTrajectory(_OnlyTurn(), 2, extent)
    svc = WorstCaseLinearSVC(family, lam=lam, fit_intercept=False, tol=1e-7, max_iter=3000)
    svc.fit(X, y)
    c = family.coefficients(X)[:, 0]
    scaled = c * (extent ** np.array([1, 2]))[:, None]

    # y w x(t) - 1 + slack = a t^2 + b t + c0 = (1, t) M (1, t)' + multiplier (1 - t^2)
    def split(v):
        w, slack, multiplier = v[:2], v[2:14], v[14:]
        b, a = (y[:, None] * (scaled @ w)).T
        c0 = y * (X @ w) - 1 + slack
        return c0 - multiplier, b / 2, a + multiplier

    def is_psd(v):
        first, off, last = split(v)
        return np.concatenate([first, last, first * last - off**2])

    solution = minimize(
        lambda v: lam * v[:2] @ v[:2] / 2 + v[2:14].mean(),
        np.concatenate([svc.coef_[0] + 0.1, np.full(12, 6.0), np.full(12, 2.0)]),
        bounds=[(None, None)] * 2 + [(0, None)] * 24,
        constraints={"type": "ineq", "fun": is_psd},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 2000},
    )
    assert solution.success
    assert svc.objective_ == pytest.approx(solution.fun, rel=1e-4)
    plain = WorstCaseLinearSVC(lam=lam, fit_intercept=False, tol=1e-7, max_iter=3000).fit(X, y)
    assert plain.objective_ < 0.95 * svc.objective_


class _OnlyTurn(Turn):
    n_directions = 1

    def flow(self, X, t, smoothing=None):
        return super().flow(X, t)[:, :1]


class CountedTurn(_OnlyTurn):
    n_calls = 0

    def flow(self, X, t, smoothing=None):
        CountedTurn.n_calls += 1
        return super().flow(X, t)


def test_coefficients_are_computed_once_in_a_fit():
    rng = np.random.RandomState(0)
    X, y = rng.randn(30, 2), np.arange(30) % 3
    family = PolynomialTrajectory(CountedTurn(), 2, 0.5)
    CountedTurn.n_calls = 0
    svc = WorstCaseLinearSVC(family, lam=0.01, solver="bundle").fit(X, y)
    assert svc.n_iter_ > 2
    # one call for each of the two nodes, for the rows of the fit; predictions need none
    assert CountedTurn.n_calls == 2
    # the trajectories of all rows do not fit into 1 MB, those of one class do
    many = rng.randn(40_000, 2)
    with config_context(working_memory=1):
        search = PolynomialTrajectory(CountedTurn(), 2, 0.5).prepare_worst_case(many)
        rows, scores = search(np.arange(3), [1.0, 2.0], [1, -1, 1])
    expected = family.worst_case(many[:3], [1.0, 2.0], [1, -1, 1])
    np.testing.assert_array_equal(rows, expected[0])
    np.testing.assert_array_equal(scores, expected[1])


@pytest.mark.parametrize("degree", [2, 4])
def test_smoothing_is_that_of_the_family(degree):
    X = np.random.RandomState(0).rand(3, 64)
    inner = Rotation(15) | Translation(1)
    family = PolynomialTrajectory(inner, degree, extent=0.3)
    np.testing.assert_allclose(family.smooth(X, 1.2), inner.smooth(X, 1.2))
    for smoothing in (0.0, 1.2):
        ends = inner.flow(X, 0.3, smoothing)
        np.testing.assert_allclose(family.flow(X, 0.3, smoothing), ends, atol=1e-10)
        moved = (family.flow(X, 1e-6, smoothing) - family.flow(X, -1e-6, smoothing)) / 2e-6
        np.testing.assert_allclose(family.tangents(X, smoothing), moved, atol=1e-6)
    np.testing.assert_array_equal(family.flow(X, 0.3), family.flow(X, 0.3, 0.0))
    with pytest.raises(ValueError, match="smoothing=-1"):
        family.tangents(X, -1.0)


def test_families_without_directions_get_a_clear_error():
    family = PolynomialTrajectory(FeatureDropping(2))
    with pytest.raises(ValueError, match="has no tangent directions to follow"):
        family.worst_case(np.ones((2, 4)), np.ones(4))
    with pytest.raises(ValueError, match="degree=0"):
        PolynomialTrajectory(Rotation(10), degree=0).worst_case(np.ones((2, 64)), np.ones(64))


@pytest.mark.parametrize(
    "use",
    [
        lambda family: family.worst_case(np.ones((2, 64)), np.ones(64)),
        lambda family: family.tangents(np.ones((2, 64))),
        lambda family: family.sample(3)(np.ones((2, 64))),
        lambda family: family.n_directions,
        lambda family: WorstCaseLinearSVC(family).fit(np.eye(64), [0, 1] * 32),
    ],
)
def test_a_family_that_is_text_gets_a_clear_error(use):
    with pytest.raises(TypeError, match="family='rot' is not a Family: build one from"):
        use(PolynomialTrajectory("rot"))
