"""InvSVC and InvSVR: limiting cases, unlabelled rows, solvers, basis functions and errors."""

import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC, SVR

from invarlearn import InvSVC, InvSVCCV, InvSVR
from invarlearn.datasets import load_mnist_sample, make_two_moons
from invarlearn.functionals import (
    Basis,
    Change,
    Coordinates,
    Derivative,
    Difference,
    Functional,
    Gradients,
    LocalAverage,
    Slopes,
    Tangent,
    elimination,
)
from invarlearn.kernels import RBF, LocalPolynomial, Polynomial
from invarlearn.solvers import Auto, Eliminate
from invarlearn.transforms import Rotation, Translation


def test_without_functionals_the_hinge_is_svc(two_blobs):
    X, y, Z = two_blobs
    truth = SVC(gamma=0.5, C=2.0, tol=1e-8).fit(X, y).decision_function(Z)
    for solver in ("auto", "newton", "lbfgs"):
        ours = InvSVC(gamma=0.5, loss="hinge", lam=2.0, nu=0, solver=solver, tol=1e-6).fit(X, y)
        np.testing.assert_allclose(ours.decision_function(Z), truth, atol=2e-3)


def test_without_functionals_it_is_logistic_regression_in_feature_space(two_blobs):
    X, y, Z = two_blobs
    kernel = RBF(0.5)
    factor = np.linalg.cholesky(kernel(X) + 1e-10 * np.eye(len(X)))
    features = np.linalg.solve(factor, kernel(X, Z)).T
    truth = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000).fit(factor, y)
    ours = InvSVC(gamma=0.5, lam=2.0, nu=0, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(Z), truth.decision_function(features), atol=1e-4
    )
    np.testing.assert_allclose(ours.predict_proba(Z), truth.predict_proba(features), atol=1e-4)


def test_without_functionals_it_is_ridge_regression(two_blobs):
    X, y, Z = two_blobs
    truth = KernelRidge(alpha=1 / 4, kernel="rbf", gamma=0.5).fit(X, 2 * y - 1).predict(Z)
    ours = InvSVC(gamma=0.5, loss="squared", lam=2.0, nu=0, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(Z), truth, atol=1e-8)
    X, y = make_regression(40, 3, noise=5.0, random_state=0)
    y /= y.std()
    truth = KernelRidge(alpha=1 / 4, kernel="rbf", gamma=0.5).fit(X, y).predict(Z)
    ours = InvSVR(gamma=0.5, loss="squared", lam=2.0, nu=0, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(ours.predict(Z), truth, atol=1e-8)
    truth = SVR(gamma=0.5, C=2.0, epsilon=0.05, tol=1e-8).fit(X, y).predict(Z)
    ours = InvSVR(gamma=0.5, lam=2.0, nu=0, epsilon=0.05).fit(X, y)
    np.testing.assert_allclose(ours.predict(Z), truth, atol=5e-3)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared"])
def test_all_solvers_find_the_same_function(loss):
    moons = make_two_moons(60, 6, random_state=1)
    truth = None
    for solver in ("newton", "eliminate", "lbfgs", "steepest", "random"):
        model = InvSVC(gamma=4.0, loss=loss, nu=0.1, solver=solver, random_state=0)
        fitted = model.fit(moons.X, moons.y_partial)
        assert fitted.solver_ == solver
        assert (fitted.gap_ <= 2e-5 * np.maximum(fitted.objective_, 1)).all()
        # up to the intercept, which is not unique for the hinge
        values = fitted.decision_function(moons.X)
        values -= values.mean()
        truth = values if truth is None else truth
        np.testing.assert_allclose(values, truth, atol=1e-2)


def test_two_labels_separate_two_moons():
    """Figure 1: with a large penalty on derivatives the boundary lies between the moons."""
    wrong = {0.0: [], 10.0: []}
    for seed in range(5):
        moons = make_two_moons(200, 2, noise=0.05, random_state=seed)
        for nu, errors in wrong.items():
            model = InvSVC(gamma=8.0, nu=nu).fit(moons.X, moons.y_partial)
            errors.append(int((model.predict(moons.X) != moons.y).sum()))
    assert min(wrong[0.0]) > 10
    assert max(wrong[10.0]) == 0


def test_unlabelled_rows_may_be_marked_or_passed_separately():
    moons = make_two_moons(80, 4, noise=0.05, random_state=0)
    rest = moons.y_partial == -1
    one = InvSVC(gamma=8.0).fit(moons.X, moons.y_partial)
    other = InvSVC(gamma=8.0).fit(moons.X[~rest], moons.y[~rest], X_unlabeled=moons.X[rest])
    np.testing.assert_allclose(
        one.decision_function(moons.X), other.decision_function(moons.X), atol=1e-6
    )
    alone = InvSVC(gamma=8.0).fit(moons.X[~rest], moons.y[~rest])
    apart = one.decision_function(moons.X) - alone.decision_function(moons.X)
    assert np.abs(apart).max() > 0.1


def test_minus_one_is_a_class_only_if_the_other_class_is_one():
    X = np.random.RandomState(0).standard_normal((12, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    np.testing.assert_array_equal(InvSVC(lam=10.0).fit(X, y).classes_, [-1, 1])
    y = np.where(X[:, 0] > 0, 1, 0)
    y[:3] = -1
    model = InvSVC(lam=10.0).fit(X, y)
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert model.coef_.shape == (1, 9 + 12 * 2)
    with pytest.raises(ValueError, match="one class only"):
        InvSVC().fit(X, np.where(X[:, 0] > 0, 0, -1))
    with pytest.raises(ValueError, match="no class at all"):
        InvSVC().fit(X, np.full(12, -1))


def test_several_classes():
    X, y = make_blobs(60, 2, centers=3, cluster_std=0.5, random_state=3)
    model = InvSVC(nu=0.01, lam=10.0).fit(X, y)
    assert model.decision_function(X).shape == (60, 3)
    assert model.score(X, y) > 0.95
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    partial = y.copy()
    partial[20:] = -1
    assert InvSVC(nu=0.01, lam=10.0).fit(X, partial).score(X, y) > 0.9


def test_the_penalty_shrinks_functionals():
    digits = load_mnist_sample()
    X, y = digits.X_train[:60].astype(float), (digits.y_train[:60] > 4).astype(int)
    family = Translation(1) * Rotation(10)
    sizes = {}
    for nu in (0.001, 1000.0):
        model = InvSVC([Tangent(family)], gamma=0.01, lam=10.0, nu=nu).fit(X, y)
        slopes = model.representers_.dot(model.coef_[0])[len(X) :]
        sizes[nu] = np.abs(slopes).mean()
    assert sizes[1000.0] < 0.1 * sizes[0.001]
    shifted = np.roll(X.reshape(-1, 28, 28), 1, axis=2).reshape(X.shape)
    jumps = {}
    for nu in (0.001, 100.0):
        model = InvSVC([Change(Translation(1))], gamma=0.01, lam=10.0, nu=nu, tol=1e-4).fit(X, y)
        jumps[nu] = np.abs(model.decision_function(shifted) - model.decision_function(X)).mean()
    assert jumps[100.0] < 0.2 * jumps[0.001]


@pytest.mark.parametrize(
    ("kernel", "functional"),
    [
        (Polynomial(2), Derivative()),
        ("poly", Difference(2)),
        ("linear", Derivative()),
        (RBF(0.5), LocalAverage(0.2)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("penalty", ["squared", "epsilon_insensitive"])
def test_kernels_and_functionals_combine(two_blobs, kernel, functional, penalty):
    X, y, Z = two_blobs
    model = InvSVC(functional, kernel, penalty=penalty, nu=0.01, tol=1e-4)
    assert model.fit(X, y).score(X, y) > 0.7
    np.testing.assert_array_equal(model.predict(Z), clone(model).fit(X, y).predict(Z))


class Square(Basis):
    """A basis function that a user may write."""

    def values(self, X):
        return X[:, :1] ** 2

    def gradients(self, X):
        out = np.zeros((len(X), 1, X.shape[1]))
        out[:, 0, 0] = 2 * X[:, 0]
        return out


def test_basis_functions_are_not_penalised():
    X = np.random.RandomState(0).standard_normal((50, 2))
    y = 100 * X[:, 0] ** 2 - 30 * X[:, 1] + 5
    model = InvSVR(gamma=0.5, basis=[Square(), Coordinates()], nu=0, lam=1e-3, loss="squared")
    fitted = model.fit(X, y)
    np.testing.assert_allclose(fitted.predict(X), y, atol=1e-6)
    np.testing.assert_allclose(fitted.basis_coef_, [[100, 0, -30]], atol=1e-5)
    np.testing.assert_allclose(fitted.intercept_, [5], atol=1e-5)
    # derivatives of basis functions are penalised too, so that the function is flat
    flat = clone(model).set_params(nu=1e4, lam=1e-3).fit(X, y)
    assert np.ptp(flat.predict(X)) < 0.1 * np.ptp(y)
    with pytest.raises(ValueError, match=r"requires basis.*: choose one of auto, lbfgs"):
        clone(model).set_params(nu=1.0, solver="eliminate").fit(X, y)
    with pytest.raises(TypeError, match="averages"):
        clone(model).set_params(nu=1.0, functionals=[LocalAverage()]).fit(X, y)
    with pytest.raises(TypeError, match="subclass"):
        clone(model).set_params(basis=[np.sin]).fit(X, y)


def test_balanced_weights_favour_the_rare_class():
    X, y = make_blobs([50, 10], 2, centers=[[0, 0], [1.5, 0]], random_state=0)
    plain, balanced = InvSVC(nu=0.01), InvSVC(nu=0.01, class_weight="balanced")
    rare = y == 1
    assert balanced.fit(X, y).predict(X)[rare].mean() > plain.fit(X, y).predict(X)[rare].mean()


def test_warm_starts_save_iterations():
    moons = make_two_moons(60, 6, random_state=0)
    model = InvSVC(gamma=4.0, penalty="absolute", solver="lbfgs", warm_start=True, tol=1e-4)
    model.fit(moons.X, moons.y_partial)
    first_n_iter = model.n_iter_
    model.fit(moons.X, moons.y_partial)
    assert model.n_iter_ < first_n_iter / 2
    cold = clone(model).set_params(warm_start=False).fit(moons.X, moons.y_partial)
    np.testing.assert_allclose(model.objective_, cold.objective_, rtol=3e-4)


def test_failure_to_converge_warns():
    moons = make_two_moons(60, 6, random_state=0)
    model = InvSVC(gamma=4.0, penalty="absolute", solver="lbfgs", max_iter=3)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        model.fit(moons.X, moons.y_partial)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"loss": "cubic"}, ValueError, "loss='cubic' is unknown"),
        ({"penalty": "hinge"}, ValueError, "penalty='hinge' is unknown"),
        ({"solver": "cg"}, ValueError, "solver='cg' is unknown"),
        ({"kernel": "sigmoid"}, ValueError, "kernel='sigmoid' is unknown"),
        ({"gamma": "auto"}, ValueError, "gamma='auto' is unknown"),
        ({"lam": 0}, ValueError, "lam=0"),
        ({"nu": -0.1}, ValueError, "nu=-0.1"),
        ({"functionals": ["slope"]}, TypeError, "must be Functional objects"),
        ({"kernel": LocalPolynomial((1,), (2, 2))}, TypeError, "has no derivatives"),
        ({"kernel": "matern", "functionals": LocalAverage()}, TypeError, "no closed form"),
    ],
)
def test_bad_parameters_get_clear_errors(two_blobs, options, error, match):
    X, y, _ = two_blobs
    with pytest.raises(error, match=match):
        InvSVC(**options).fit(X, y)


def test_unlabelled_rows_must_have_the_same_features(two_blobs):
    X, y, _ = two_blobs
    with pytest.raises(ValueError, match=r"X_unlabeled does not fit: .*2 features"):
        InvSVC().fit(X, y, X_unlabeled=X[:, :2])


def test_many_functionals_take_little_memory():
    """All derivatives of 600 rows with 60 features: 36,000 functionals, a Gram matrix of 10 GB."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((600, 60))
    y = np.full(600, -1)
    y[:20] = np.arange(20) % 2
    X[:, 0] += 2 * (y == 1) - 2 * (y == 0)
    model = InvSVC(gamma="median", nu=0.01, tol=1e-4)
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.solver_ == "lbfgs"
    assert peak < 150e6
    assert (model.predict(X[:20]) == y[:20]).mean() > 0.9


def test_labels_may_be_strings():
    moons = make_two_moons(60, 6, noise=0.05, random_state=0)
    names = np.array(["lower", "upper"])[moons.y]
    partial = [-1 if row not in moons.labeled else names[row] for row in range(60)]
    for y in (partial, np.array(partial, dtype=object), [None if v == -1 else v for v in partial]):
        model = InvSVC(gamma=8.0, nu=1.0).fit(moons.X, y)
        assert model.classes_.tolist() == ["lower", "upper"]
        assert model.score(moons.X, names) == 1.0


def test_rows_without_labels_do_not_count_in_scores():
    moons = make_two_moons(60, 6, noise=0.05, random_state=0)
    model = InvSVC(gamma=8.0, nu=1.0).fit(moons.X, moons.y_partial)
    assert model.score(moons.X, moons.y_partial) == 1.0
    further = make_two_moons(60, 12, noise=0.05, random_state=0)
    scores = cross_val_score(
        InvSVC(gamma=8.0, nu=0.1, lam=100.0), further.X, further.y_partial, cv=3
    )
    assert scores.min() > 0.5
    with pytest.raises(ValueError, match="nothing to score"):
        model.score(moons.X, np.full(60, -1))


def test_a_constant_prediction_warns():
    X, y = make_blobs([30, 5], 2, centers=[[0, 0], [0.5, 0]], random_state=0)
    with pytest.warns(UserWarning, match="every labelled row gets the class 0"):
        InvSVC(nu=10.0).fit(X, y)


class NotAList(Functional):
    def terms(self, X):
        return Gradients(X)


class FlatDirections(Functional):
    def terms(self, X):
        return [Slopes(X, np.arange(len(X)), np.ones(len(X)))]


class Unequal(Functional):
    def terms(self, X):
        return [Gradients(X), Gradients(X[:3])]


@pytest.mark.parametrize(
    ("functional", "match"),
    [
        (NotAList(), "must be a list of terms"),
        (FlatDirections(), "directions of Slopes have shape"),
        (Unequal(), "each must have the same number of functionals"),
    ],
)
def test_malformed_functionals_get_clear_errors(two_blobs, functional, match):
    X, y, _ = two_blobs
    with pytest.raises((TypeError, ValueError), match=match):
        InvSVC(functional).fit(X, y)


@pytest.mark.parametrize("kind", [Eliminate, Auto])
def test_the_size_of_an_exact_elimination_is_a_setting_of_the_solver(kind, monkeypatch):
    moons = make_two_moons(40, 10, random_state=2)
    exact = InvSVC(gamma=4.0, nu=0.1, solver=kind()).fit(moons.X, moons.y_partial)
    iterations = []
    solve = elimination.Elimination.kernels

    def spy(self, *arguments):
        values = solve(self, *arguments)
        iterations.append(self.n_iter)
        return values

    monkeypatch.setattr(elimination.Elimination, "kernels", spy)
    iterative = InvSVC(gamma=4.0, nu=0.1, solver=kind(max_factored=79))
    iterative.fit(moons.X, moons.y_partial)
    assert exact.solver_ == iterative.solver_ == "eliminate"
    assert iterations[0] > 0
    ours, theirs = (model.decision_function(moons.X) for model in (iterative, exact))
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
    InvSVC(gamma=4.0, nu=0.1, solver=kind(max_factored=80)).fit(moons.X, moons.y_partial)
    assert iterations[1] == 0


def test_elimination_without_functionals_equals_newton():
    moons = make_two_moons(40, 8, random_state=2)
    one = InvSVC(gamma=4.0, nu=0, solver="eliminate").fit(moons.X, moons.y_partial)
    other = InvSVC(gamma=4.0, nu=0, solver="newton").fit(moons.X, moons.y_partial)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6)
    model = InvSVCCV(gamma=4.0, nus=(0,), solver="eliminate").fit(moons.X, moons.y_partial)
    assert model.nu_ == 0


def test_warm_start_with_other_basis_functions(two_blobs):
    X, y, _ = two_blobs
    model = InvSVC(warm_start=True, solver="lbfgs").fit(X, y)
    model.set_params(fit_intercept=False).fit(X, y)
    assert not model.intercept_.any()


def test_basis_functions_may_have_any_units():
    X = np.random.RandomState(0).standard_normal((50, 2))
    y = 3 * X[:, 0]
    for scale in (1e-9, 1.0, 1e9):
        for solver in ("newton", "lbfgs"):
            model = InvSVR(basis=Coordinates(), nu=0, loss="squared", solver=solver)
            assert model.fit(scale * X, y).score(scale * X, y) > 0.999


def test_hinge_reaches_its_tolerance():
    X, y = make_blobs(60, 3, centers=2, cluster_std=4.0, random_state=0)
    for tol in (1e-2, 1e-4, 1e-6):
        model = InvSVC(loss="hinge", lam=1e3, nu=0.01, tol=tol).fit(X / 4, y)
        assert model.gap_[0] <= tol * max(1, model.objective_[0])


def test_growth_that_working_memory_ends_warns():
    moons = make_two_moons(200, 20, random_state=2)
    model = InvSVC(gamma=4.0, penalty="absolute", solver="steepest", tol=1e-6)
    with (
        config_context(working_memory=0.3),
        pytest.warns(ConvergenceWarning, match="working_memory"),
    ):
        model.fit(moons.X, moons.y_partial)
