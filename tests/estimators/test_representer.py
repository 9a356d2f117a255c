"""InvSVC and its kin: limiting cases, unlabelled rows, cross-validation, errors."""

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
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC, SVR

from invarlearn import InvSVC, InvSVCCV, InvSVR, LaplacianSVC
from invarlearn.datasets import load_mnist_sample, make_two_moons
from invarlearn.functionals import (
    Basis,
    Change,
    Coordinates,
    Derivative,
    Difference,
    Functional,
    Gradients,
    Laplacian,
    LocalAverage,
    Slopes,
    Tangent,
)
from invarlearn.kernels import RBF, LocalPolynomial, Polynomial
from invarlearn.transforms import Rotation, Translation


@pytest.fixture(scope="module")
def two():
    X, y = make_blobs(60, 3, centers=2, cluster_std=4.0, random_state=0)
    return X / 4, y, np.random.RandomState(1).standard_normal((20, 3))


def test_without_functionals_the_hinge_is_svc(two):
    X, y, Z = two
    truth = SVC(gamma=0.5, C=2.0, tol=1e-8).fit(X, y).decision_function(Z)
    for solver in ("auto", "newton", "lbfgs"):
        ours = InvSVC(gamma=0.5, loss="hinge", lam=2.0, nu=0, solver=solver, tol=1e-6).fit(X, y)
        np.testing.assert_allclose(ours.decision_function(Z), truth, atol=2e-3)


def test_without_functionals_it_is_logistic_regression_in_the_space(two):
    X, y, Z = two
    kernel = RBF(0.5)
    factor = np.linalg.cholesky(kernel(X) + 1e-10 * np.eye(len(X)))
    features = np.linalg.solve(factor, kernel(X, Z)).T
    truth = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000).fit(factor, y)
    ours = InvSVC(gamma=0.5, lam=2.0, nu=0, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(Z), truth.decision_function(features), atol=1e-4
    )
    np.testing.assert_allclose(ours.predict_proba(Z), truth.predict_proba(features), atol=1e-4)


def test_without_functionals_it_is_ridge_regression(two):
    X, y, Z = two
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
        found = model.fit(moons.X, moons.y_partial)
        assert found.solver_ == solver
        assert (found.gap_ <= 2e-5 * np.maximum(found.objective_, 1)).all()
        # up to the constant, of which the hinge has a range that is as good
        values = found.decision_function(moons.X)
        values -= values.mean()
        truth = values if truth is None else truth
        np.testing.assert_allclose(values, truth, atol=1e-2)


def test_two_moons_are_told_apart_by_two_labels():
    """Figure 1: with enough weight on derivatives the boundary goes between the moons."""
    wrong = {0.0: [], 10.0: []}
    for seed in range(5):
        moons = make_two_moons(200, 2, noise=0.05, random_state=seed)
        for nu, errors in wrong.items():
            found = InvSVC(gamma=8.0, nu=nu).fit(moons.X, moons.y_partial)
            errors.append(int((found.predict(moons.X) != moons.y).sum()))
    assert min(wrong[0.0]) > 10
    assert max(wrong[10.0]) == 0


def test_unlabelled_rows_come_either_way():
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


def test_minus_one_is_a_class_only_beside_one():
    X = np.random.RandomState(0).standard_normal((12, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    np.testing.assert_array_equal(InvSVC(lam=10.0).fit(X, y).classes_, [-1, 1])
    y = np.where(X[:, 0] > 0, 1, 0)
    y[:3] = -1
    found = InvSVC(lam=10.0).fit(X, y)
    np.testing.assert_array_equal(found.classes_, [0, 1])
    assert found.coef_.shape == (1, 9 + 12 * 2)
    with pytest.raises(ValueError, match="one class only"):
        InvSVC().fit(X, np.where(X[:, 0] > 0, 0, -1))
    with pytest.raises(ValueError, match="no class at all"):
        InvSVC().fit(X, np.full(12, -1))


def test_several_classes():
    X, y = make_blobs(60, 2, centers=3, cluster_std=0.5, random_state=3)
    found = InvSVC(nu=0.01, lam=10.0).fit(X, y)
    assert found.decision_function(X).shape == (60, 3)
    assert found.score(X, y) > 0.95
    np.testing.assert_allclose(found.predict_proba(X).sum(axis=1), 1)
    partial = y.copy()
    partial[20:] = -1
    assert InvSVC(nu=0.01, lam=10.0).fit(X, partial).score(X, y) > 0.9


def test_functionals_do_get_small():
    digits = load_mnist_sample()
    X, y = digits.X_train[:60].astype(float), (digits.y_train[:60] > 4).astype(int)
    family = Translation(1) * Rotation(10)
    sizes = {}
    for nu in (0.001, 1000.0):
        found = InvSVC([Tangent(family)], gamma=0.01, lam=10.0, nu=nu).fit(X, y)
        slopes = found.representers_.dot(found.coef_[0])[len(X) :]
        sizes[nu] = np.abs(slopes).mean()
    assert sizes[1000.0] < 0.1 * sizes[0.001]
    moved = np.roll(X.reshape(-1, 28, 28), 1, axis=2).reshape(X.shape)
    jumps = {}
    for nu in (0.001, 100.0):
        found = InvSVC([Change(Translation(1))], gamma=0.01, lam=10.0, nu=nu, tol=1e-4).fit(X, y)
        jumps[nu] = np.abs(found.decision_function(moved) - found.decision_function(X)).mean()
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
def test_kernels_and_functionals(two, kernel, functional, penalty):
    X, y, Z = two
    model = InvSVC(functional, kernel, penalty=penalty, nu=0.01, tol=1e-4)
    assert model.fit(X, y).score(X, y) > 0.7
    np.testing.assert_array_equal(model.predict(Z), clone(model).fit(X, y).predict(Z))


class Square(Basis):
    """What a user may write."""

    def values(self, X):
        return X[:, :1] ** 2

    def gradients(self, X):
        out = np.zeros((len(X), 1, X.shape[1]))
        out[:, 0, 0] = 2 * X[:, 0]
        return out


def test_basis_functions_go_unpenalised():
    X = np.random.RandomState(0).standard_normal((50, 2))
    y = 100 * X[:, 0] ** 2 - 30 * X[:, 1] + 5
    model = InvSVR(gamma=0.5, basis=[Square(), Coordinates()], nu=0, lam=1e-3, loss="squared")
    found = model.fit(X, y)
    np.testing.assert_allclose(found.predict(X), y, atol=1e-6)
    np.testing.assert_allclose(found.basis_coef_, [[100, 0, -30]], atol=1e-5)
    np.testing.assert_allclose(found.intercept_, [5], atol=1e-5)
    # derivatives see the basis functions too: flat functions only
    flat = clone(model).set_params(nu=1e4, lam=1e-3).fit(X, y)
    assert np.ptp(flat.predict(X)) < 0.1 * np.ptp(y)
    with pytest.raises(ValueError, match="choose another solver"):
        clone(model).set_params(nu=1.0, solver="eliminate").fit(X, y)
    with pytest.raises(TypeError, match="averages"):
        clone(model).set_params(nu=1.0, functionals=[LocalAverage()]).fit(X, y)
    with pytest.raises(TypeError, match="subclass"):
        clone(model).set_params(basis=[np.sin]).fit(X, y)


def test_classes_may_weigh_the_same():
    X, y = make_blobs([50, 10], 2, centers=[[0, 0], [1.5, 0]], random_state=0)
    plain, balanced = InvSVC(nu=0.01), InvSVC(nu=0.01, class_weight="balanced")
    few = y == 1
    assert balanced.fit(X, y).predict(X)[few].mean() > plain.fit(X, y).predict(X)[few].mean()


def test_warm_starts_follow_a_path():
    moons = make_two_moons(60, 6, random_state=0)
    model = InvSVC(gamma=4.0, penalty="absolute", solver="lbfgs", warm_start=True, tol=1e-4)
    model.fit(moons.X, moons.y_partial)
    again = model.n_iter_
    model.fit(moons.X, moons.y_partial)
    assert model.n_iter_ < again / 2
    cold = clone(model).set_params(warm_start=False).fit(moons.X, moons.y_partial)
    np.testing.assert_allclose(model.objective_, cold.objective_, rtol=3e-4)


def test_not_converging_is_told():
    moons = make_two_moons(60, 6, random_state=0)
    model = InvSVC(gamma=4.0, penalty="absolute", solver="lbfgs", max_iter=3)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        model.fit(moons.X, moons.y_partial)


def test_the_laplacian_machine_is_its_formula():
    """Against the kernel of Sindhwani et al.: k - k_X' (1 / (2 nu) + L K)^-1 L k_X."""
    moons = make_two_moons(60, 6, random_state=0)
    X, labelled = moons.X, moons.labeled
    nu, kernel = 3.0, RBF(4.0)
    K, L = kernel(X), Laplacian(4).matrix(X)
    inner = np.linalg.solve(np.eye(60) / (2 * nu) + L @ K, L @ K)
    deformed = K - K @ inner
    order = np.sort(labelled)
    truth = SVC(kernel="precomputed", C=2.0, tol=1e-8)
    truth.fit(deformed[np.ix_(order, order)], moons.y[order])
    ours = LaplacianSVC(4, gamma=4.0, lam=2.0, nu=nu).fit(X, moons.y_partial)
    np.testing.assert_allclose(
        ours.decision_function(X), truth.decision_function(deformed[:, order]), atol=1e-3
    )


def test_cross_validation_holds_out_labels_only():
    moons = make_two_moons(80, 20, random_state=2)
    lams, nus = (1.0, 100.0), (0.001, 0.1)
    found = InvSVCCV(gamma=4.0, lams=lams, nus=nus, random_state=0).fit(moons.X, moons.y_partial)
    labelled = np.flatnonzero(moons.y_partial >= 0)
    y = moons.y_partial[labelled]
    scores = np.zeros((2, 2))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for train, test in folds.split(np.zeros((len(y), 1)), y):
        partial = np.full(80, -1)
        partial[labelled[train]] = y[train]
        for i, nu in enumerate(nus):
            for j, lam in enumerate(lams):
                one = InvSVC(gamma=4.0, lam=lam, nu=nu).fit(moons.X, partial)
                scores[i, j] += (one.predict(moons.X[labelled[test]]) == y[test]).sum()
    np.testing.assert_allclose(found.scores_, scores / len(labelled))
    whole = InvSVC(gamma=4.0, lam=found.lam_, nu=found.nu_).fit(moons.X, moons.y_partial)
    np.testing.assert_allclose(
        found.decision_function(moons.X), whole.decision_function(moons.X), atol=1e-4
    )
    # without elimination, along a path of warm starts
    path = InvSVCCV(gamma=4.0, lams=lams, nus=nus, random_state=0, solver="newton")
    path.fit(moons.X, moons.y_partial)
    np.testing.assert_allclose(path.scores_, found.scores_, atol=1e-9)


def test_cross_validation_refuses_what_it_cannot_do():
    moons = make_two_moons(40, 2, random_state=2)
    with pytest.raises(ValueError, match="two labels of each class"):
        InvSVCCV().fit(moons.X, moons.y_partial)
    moons = make_two_moons(40, 8, random_state=2)
    with pytest.raises(ValueError, match="lists of numbers"):
        InvSVCCV(lams=()).fit(moons.X, moons.y_partial)
    with pytest.raises(ValueError, match="negative"):
        InvSVCCV(nus=(-1.0,)).fit(moons.X, moons.y_partial)


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
        ({"kernel": "poly", "functionals": LocalAverage()}, TypeError, "RBF kernels only"),
    ],
)
def test_bad_parameters(two, options, error, match):
    X, y, _ = two
    with pytest.raises(error, match=match):
        InvSVC(**options).fit(X, y)


def test_other_rows_must_have_the_same_features(two):
    X, y, _ = two
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


def test_cross_validation_scores_what_is_fitted():
    """Basis functions that functionals see cannot be eliminated: then every pair is fitted."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((60, 2))
    y = np.where(np.arange(60) < 30, (X[:, 0] + 0.5 * rng.standard_normal(60) > 0).astype(int), -1)
    options = {"gamma": 1.0, "lams": (0.1, 10.0), "nus": (0.1, 10.0), "random_state": 0}
    for more in ({"basis": [Coordinates()]}, {"functionals": [Laplacian(4)]}):
        auto = InvSVCCV(**options, **more).fit(X, y)
        direct = InvSVCCV(**options, **more, solver="newton").fit(X, y)
        np.testing.assert_allclose(auto.scores_, direct.scores_)
    with pytest.raises(ValueError, match="choose another solver"):
        InvSVCCV(**options, basis=[Coordinates()], solver="eliminate").fit(X, y)
    plain = InvSVC(Laplacian(4, normalize=False), nu=0.1, solver="eliminate").fit(X, y)
    assert plain.solver_ == "eliminate"


def test_labels_may_be_names():
    moons = make_two_moons(60, 6, noise=0.05, random_state=0)
    names = np.array(["lower", "upper"])[moons.y]
    partial = [-1 if row not in moons.labeled else names[row] for row in range(60)]
    for y in (partial, np.array(partial, dtype=object), [None if v == -1 else v for v in partial]):
        found = InvSVC(gamma=8.0, nu=1.0).fit(moons.X, y)
        assert found.classes_.tolist() == ["lower", "upper"]
        assert found.score(moons.X, names) == 1.0


def test_rows_without_labels_do_not_count_in_scores():
    moons = make_two_moons(60, 6, noise=0.05, random_state=0)
    found = InvSVC(gamma=8.0, nu=1.0).fit(moons.X, moons.y_partial)
    assert found.score(moons.X, moons.y_partial) == 1.0
    more = make_two_moons(60, 12, noise=0.05, random_state=0)
    scores = cross_val_score(InvSVC(gamma=8.0, nu=0.1, lam=100.0), more.X, more.y_partial, cv=3)
    assert scores.min() > 0.5
    with pytest.raises(ValueError, match="nothing to score"):
        found.score(moons.X, np.full(60, -1))


def test_a_constant_is_told():
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
        (NotAList(), "must give a list of terms"),
        (FlatDirections(), "directions of Slopes have shape"),
        (Unequal(), "all must have as many functionals"),
    ],
)
def test_functionals_that_are_written_wrongly(two, functional, match):
    X, y, _ = two
    with pytest.raises((TypeError, ValueError), match=match):
        InvSVC(functional).fit(X, y)


def test_no_functionals_to_eliminate():
    moons = make_two_moons(40, 8, random_state=2)
    one = InvSVC(gamma=4.0, nu=0, solver="eliminate").fit(moons.X, moons.y_partial)
    other = InvSVC(gamma=4.0, nu=0, solver="newton").fit(moons.X, moons.y_partial)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6)
    found = InvSVCCV(gamma=4.0, nus=(0,), solver="eliminate").fit(moons.X, moons.y_partial)
    assert found.nu_ == 0


def test_warm_start_with_other_basis_functions(two):
    X, y, _ = two
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
        found = InvSVC(loss="hinge", lam=1e3, nu=0.01, tol=tol).fit(X / 4, y)
        assert found.gap_[0] <= tol * max(1, found.objective_[0])


def test_the_global_generator_stays_where_it_is():
    moons = make_two_moons(40, 8, random_state=2)
    before = np.random.get_state()[1].copy()
    InvSVCCV(gamma=4.0).fit(moons.X, moons.y_partial)
    np.testing.assert_array_equal(np.random.get_state()[1], before)


def test_memory_that_ends_growth_is_named():
    moons = make_two_moons(200, 20, random_state=2)
    model = InvSVC(gamma=4.0, penalty="absolute", solver="steepest", tol=1e-6)
    with (
        config_context(working_memory=0.3),
        pytest.warns(ConvergenceWarning, match="working_memory"),
    ):
        model.fit(moons.X, moons.y_partial)
