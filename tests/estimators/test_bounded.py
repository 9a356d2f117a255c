"""Bounded weights against a linear program, a generic solver and the class of Theorem 3."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from sklearn.exceptions import ConvergenceWarning

from invarlearn import BoundedClassifier, InvariantFeatures
from invarlearn.transforms import CyclicShift


def rows(n=60, d=12, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, d)) * np.linspace(0.1, 3, d)
    return X, np.where(X[:, 0] * 10 + X[:, -1] + rng.standard_normal(n) > 0.5, 1, -1)


def hinge_program(X, y, bound, shares, has_intercept=True):
    """Return the minimum of the mean hinge loss, by scipy's linear programs."""
    n, d = X.shape
    free = (None, None) if has_intercept else (0, 0)
    solution = linprog(
        np.concatenate([np.zeros(d + 1), shares]),
        np.hstack([-y[:, None] * X, -y[:, None], -np.eye(n)]),
        -np.ones(n),
        bounds=[(-bound, bound)] * d + [free] + [(0, None)] * n,
    )
    return solution.fun


@pytest.mark.parametrize("bound", [0.01, 0.2, 5.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_hinge_loss_is_that_of_a_linear_program(bound, fit_intercept):
    X, y = rows()
    model = BoundedClassifier(bound, "hinge", fit_intercept, tol=1e-4).fit(X, y)
    truth = hinge_program(X, y, bound, np.full(len(y), 1 / len(y)), fit_intercept)
    assert np.abs(model.coef_).max() <= bound
    assert truth - 1e-9 <= model.objectives_[0] <= truth + 1e-4
    # the gap certifies the distance to the minimum
    assert model.objectives_[0] - model.gaps_[0] <= truth + 1e-9
    margins = y * model.decision_function(X)
    assert np.maximum(0, 1 - margins).mean() == pytest.approx(model.objectives_[0])


@pytest.mark.parametrize("bound", [0.05, 0.5])
def test_the_logistic_loss_is_that_of_a_generic_solver(bound):
    X, y = rows(40, 5, seed=1)
    weights = np.random.RandomState(2).uniform(0.5, 2, len(y))
    model = BoundedClassifier(bound, tol=1e-8).fit(X, y, weights)

    def objective(v):
        return np.average(np.logaddexp(0, -y * (X @ v[:-1] + v[-1])), weights=weights)

    box = [(-bound, bound)] * 5 + [(None, None)]
    truth = minimize(objective, np.zeros(6), bounds=box, method="SLSQP", tol=1e-12)
    assert model.objectives_[0] == pytest.approx(truth.fun, abs=1e-8)
    np.testing.assert_allclose(model.coef_[0], truth.x[:-1], atol=1e-3)


def test_a_bound_that_is_not_reached_does_not_matter():
    X, y = rows(200, 3)
    y = np.where(np.random.RandomState(0).uniform(size=200) < 0.2, -y, y)
    free = BoundedClassifier(50.0, tol=1e-8).fit(X, y)
    freer = BoundedClassifier(100.0, tol=1e-8).fit(X, y)
    assert np.abs(free.coef_).max() < 25
    np.testing.assert_allclose(free.coef_, freer.coef_, rtol=1e-3)


def test_classes_are_fitted_one_against_the_rest():
    X, _ = rows(90, 6)
    y = np.array(["a", "b", "c"])[np.argmax(X[:, -3:], axis=1)]
    model = BoundedClassifier(0.5, tol=1e-7).fit(X, y)
    for index, label in enumerate(model.classes_):
        alone = BoundedClassifier(0.5, tol=1e-7).fit(X, y == label)
        np.testing.assert_allclose(model.coef_[index], alone.coef_[0], atol=1e-6)
    values = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), model.classes_[values.argmax(axis=1)])
    assert model.score(X, y) > 0.8


def test_the_class_of_theorem_3_in_the_paper_s_normalisation():
    """f(x) = s / n sum w psi with |w| <= C / m is a weight of at most C * scale_ of a feature."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((40, 8))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(np.ptp(X, axis=1) > np.median(np.ptp(X, axis=1)), 1, -1)
    m, n_bins, size = 10, 5, 30.0
    features = InvariantFeatures(
        CyclicShift(), m, n_bins, templates="gaussian", thresholds="uniform", random_state=0
    ).fit(X)
    Z = features.transform(X).astype(float)
    model = BoundedClassifier(size * features.scale_, "hinge", fit_intercept=False).fit(Z, y)
    psi = Z / features.scale_
    assert psi.max() == pytest.approx(1)
    w = model.coef_[0] * features.scale_ / (features.s_ / n_bins)
    np.testing.assert_allclose(features.s_ / n_bins * psi @ w, Z @ model.coef_[0])
    assert np.abs(w).max() == pytest.approx(size / m)
    # the linear program over w has the same minimum
    truth = hinge_program(
        features.s_ / n_bins * psi, y, size / m, np.full(len(y), 1 / len(y)), False
    )
    assert model.objectives_[0] == pytest.approx(truth, abs=1e-4)


def test_an_early_stop_is_told():
    X, y = rows()
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        BoundedClassifier(5.0, "hinge", tol=1e-6, max_iter=3).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bound": 0}, "bound=0"),
        ({"loss": "squared"}, "loss='squared'"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": -1}, "tol=-1"),
    ],
)
def test_wrong_parameters_are_refused(settings, message):
    X, y = rows()
    with pytest.raises(ValueError, match=message):
        BoundedClassifier(**settings).fit(X, y)
    with pytest.raises(ValueError, match="one class only"):
        BoundedClassifier().fit(X, np.ones(len(X)))
