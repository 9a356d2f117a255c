"""Ellipsoids against random points of them, and against a second-order cone program."""

import numpy as np
import pytest
from scipy.optimize import minimize

from invarlearn import WorstCaseLinearSVC
from invarlearn.transforms import Ellipsoid


def random_covariance(d, seed=0):
    factor = np.random.RandomState(seed).randn(d, d)
    return factor @ factor.T / d


def per_row(X):
    """Return variances that grow with the values."""
    return 0.1 + X**2


def matrix_per_row(X):
    return X[:, :, None] * X[:, None, :] + 0.1 * np.eye(X.shape[1])


COVARIANCES = {
    "ball": 0.3,
    "variances": np.array([0.0, 0.5, 2.0, 0.1]),
    "matrix": random_covariance(4),
    "singular": np.outer([1.0, 2, 0, -1], [1.0, 2, 0, -1]),
    "by row": per_row,
    "matrix by row": matrix_per_row,
}


def as_matrix(covariance, x):
    value = covariance(x[None])[0] if callable(covariance) else np.asarray(covariance)
    return value * np.eye(4) if value.ndim == 0 else np.diag(value) if value.ndim == 1 else value


@pytest.mark.parametrize("name", COVARIANCES)
def test_the_worst_case_is_the_closed_form_and_on_the_boundary(name):
    rng = np.random.RandomState(1)
    X, w, sign = rng.randn(5, 4), rng.randn(4), np.array([1.0, -1, 1, -1, 1])
    family = Ellipsoid(COVARIANCES[name], radius=0.7)
    rows, scores = family.worst_case(X, w, sign)
    np.testing.assert_allclose(scores, sign * (rows @ w))
    for x, row, score, one in zip(X, rows, scores, sign, strict=True):
        matrix = as_matrix(COVARIANCES[name], x)
        assert score == pytest.approx(one * (x @ w) - 0.7 * np.sqrt(w @ matrix @ w))
        # in the ellipsoid: (row - x)' matrix^+ (row - x) = radius^2
        change = row - x
        assert change @ np.linalg.pinv(matrix) @ change == pytest.approx(0.49)
    # no random element is worse, and some come near
    drawn = family.sample(3000, random_state=0)(X)
    margins = sign[:, None] * (drawn @ w)
    assert (margins >= scores[:, None] - 1e-12).all()
    span = sign * (X @ w) - scores
    assert (margins.min(axis=1) <= scores + 0.35 * span).all()


def test_the_size_of_a_sign_scales_the_score_but_not_the_step():
    X, w = np.array([[3.0, 1.0]] * 4), np.array([3.0, 4.0])
    sign = np.array([2.0, -0.5, 0.0, 1.0])
    rows, scores = Ellipsoid(radius=1.0).worst_case(X, w, sign)
    steps = [[-0.6, -0.8], [0.6, 0.8], [0.0, 0.0], [-0.6, -0.8]]
    np.testing.assert_allclose(rows - X, steps, atol=1e-12)
    np.testing.assert_allclose(scores, sign * (rows @ w))


def test_random_elements_are_uniform_in_the_ellipsoid():
    matrix = random_covariance(3)
    drawn = Ellipsoid(matrix, radius=2.0).sample(20000, random_state=0)(np.ones((1, 3)))[0] - 1
    # the covariance of a uniform point of the unit ball in d dimensions is I / (d + 2)
    np.testing.assert_allclose(np.cov(drawn.T), 4 * matrix / 5, atol=0.03 * np.abs(matrix).max())
    lengths = np.einsum("ni,ij,nj->n", drawn, np.linalg.inv(matrix), drawn) / 4
    assert lengths.max() <= 1 + 1e-9
    assert lengths.max() > 0.99


def test_zero_weights_leave_rows_unchanged():
    X = np.ones((2, 4))
    rows, scores = Ellipsoid(0.3).worst_case(X, np.zeros(4))
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(scores, 0)


@pytest.mark.parametrize("name", ["ball", "matrix", "by row"])
def test_training_is_a_second_order_cone_program(name):
    """Teo et al., section 4: the formulation of Bhattacharyya et al. is a special case."""
    rng = np.random.RandomState(2)
    X = rng.randn(14, 4)
    y = np.where(X @ [1.0, -1, 0.5, 0] + 0.3 * rng.randn(14) > 0, 1, -1)
    covariance, radius, lam = COVARIANCES[name], 0.3, 0.05
    matrices = np.array([as_matrix(covariance, x) for x in X])
    svc = WorstCaseLinearSVC(
        Ellipsoid(covariance, radius), lam=lam, fit_intercept=False, tol=1e-7, max_iter=3000
    ).fit(X, y)

    def cones(v):
        w, slack = v[:4], v[4:]
        lengths = np.sqrt(np.einsum("i,nij,j->n", w, matrices, w) + 1e-18)
        return slack - 1 + y * (X @ w) - radius * lengths

    solution = minimize(
        lambda v: lam * v[:4] @ v[:4] / 2 + v[4:].mean(),
        np.append(svc.coef_[0] + 0.1, np.full(14, 3.0)),
        bounds=[(None, None)] * 4 + [(0, None)] * 14,
        constraints={"type": "ineq", "fun": cones},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    assert solution.success
    assert svc.objective_ == pytest.approx(solution.fun, rel=1e-5)
    # without the ellipsoids the objective is another one
    plain = WorstCaseLinearSVC(lam=lam, fit_intercept=False, tol=1e-7, max_iter=3000).fit(X, y)
    assert plain.objective_ < 0.95 * svc.objective_


def test_invalid_covariances_get_clear_errors():
    X = np.ones((2, 3))
    with pytest.raises(ValueError, match=r"covariance has shape \(2,\)"):
        Ellipsoid([1.0, 2.0]).worst_case(X, np.ones(3))
    with pytest.raises(ValueError, match="variances of at least 0, or symmetric"):
        Ellipsoid([1.0, -2.0, 0.0]).worst_case(X, np.ones(3))
    with pytest.raises(ValueError, match="variances of at least 0, or symmetric"):
        Ellipsoid(np.triu(np.ones((3, 3)))).worst_case(X, np.ones(3))
    with pytest.raises(ValueError, match="positive semidefinite"):
        Ellipsoid(-np.eye(3)).worst_case(X, np.ones(3))
    with pytest.raises(ValueError, match=r"covariance has shape \(3,\)"):
        Ellipsoid(lambda X: X[0]).worst_case(X, np.ones(3))
    with pytest.raises(ValueError, match="radius"):
        Ellipsoid(radius=-1.0).worst_case(X, np.ones(3))
