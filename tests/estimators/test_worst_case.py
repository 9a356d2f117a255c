"""WorstCaseSVC against scikit-learn and brute force: optima, solvers, oracles and errors."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from invarlearn import WorstCaseLinearSVC, WorstCaseSVC
from invarlearn.audit import worst_case_accuracy
from invarlearn.datasets import load_mnist_sample
from invarlearn.kernels import RBF
from invarlearn.solvers import ColumnGeneration, Newton, Pegasos
from invarlearn.transforms import (
    Custom,
    CyclicShift,
    FeatureScaling,
    Rotation,
    Translation,
)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("C", [1e3, 1e5])
def test_large_C_converges(kernel, C):
    # features that are not scaled: block updates alone converge slowly
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svc = WorstCaseSVC(kernel=kernel, C=C, tol=1e-3, random_state=0).fit(X, y)
    assert svc.gap_ <= 1e-3 * svc.objective_


@pytest.mark.parametrize("C", [0.05, 1.0])
def test_without_a_family_it_is_scikit_learns_multiclass_svm(iris, C, crammer_singer):
    X, y = iris
    theirs = crammer_singer(X, y, C=C, fit_intercept=False).decision_function(X)
    kernel = WorstCaseSVC(kernel="linear", C=C, tol=1e-9).fit(X, y)
    linear = WorstCaseLinearSVC(C=C, fit_intercept=False, tol=1e-9, max_iter=500).fit(X, y)
    np.testing.assert_allclose(kernel.decision_function(X), theirs, atol=1e-4)
    np.testing.assert_allclose(linear.decision_function(X), theirs, atol=1e-4)


def test_with_an_rbf_it_is_the_multiclass_svm_of_its_feature_map(iris, crammer_singer):
    X, y = iris
    values, vectors = np.linalg.eigh(RBF(0.5)(X))
    features = vectors * np.sqrt(np.maximum(values, 0))
    theirs = crammer_singer(features, y, C=1.0, fit_intercept=False).decision_function(features)
    ours = WorstCaseSVC(gamma=0.5, C=1.0, tol=1e-9).fit(X, y).decision_function(X)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_two_classes_are_scikit_learns_svm(iris):
    X, y = iris
    y = np.where(y == 1, "b", "a")
    theirs = LinearSVC(loss="hinge", tol=1e-10, max_iter=2_000_000, random_state=0).fit(X, y)
    ours = WorstCaseLinearSVC(tol=1e-9, max_iter=500).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    kernel = WorstCaseSVC(gamma=0.5, C=1.0, tol=1e-9).fit(X, y)
    # libsvm has an intercept: compare optima of the problem without one by its dual
    gram = RBF(0.5)(X)
    signs = np.where(y == "b", 1.0, -1.0)
    alpha = kernel.dual_coef_[0] * signs[kernel.support_]
    assert (alpha >= -1e-12).all()
    assert (alpha <= 1.0 + 1e-12).all()
    margins = signs * kernel.decision_function(X)
    assert (margins[kernel.support_[(alpha > 1e-6) & (alpha < 1 - 1e-6)]] - 1 < 1e-4).all()
    assert kernel.objective_ == pytest.approx(
        kernel.lam_
        * kernel.dual_coef_[0]
        @ gram[np.ix_(*[kernel.support_] * 2)]
        @ kernel.dual_coef_[0]
        / 2
        + np.maximum(0, 1 - margins).mean()
    )
    assert (kernel.predict(X) == SVC(gamma=0.5, C=1.0).fit(X, y).predict(X)).mean() > 0.97


def objective(estimator, family, X, y):
    """Return lam |f|^2 / 2 + mean worst loss by brute force over the whole orbit."""
    orbit = family.orbit(X)
    scores = estimator.decision_function(orbit.reshape(-1, X.shape[1]))
    scores = scores.reshape(*orbit.shape[:2], -1)
    own = np.take_along_axis(scores, y[:, None, None], axis=2)
    losses = scores - own + 1.0
    np.put_along_axis(losses, np.broadcast_to(y[:, None, None], own.shape), 0.0, axis=2)
    gram = estimator.kernel_(estimator.support_vectors_)
    norm = (estimator.dual_coef_ * (estimator.dual_coef_ @ gram)).sum()
    return estimator.lam_ * norm / 2 + losses.max(axis=(1, 2)).mean()


def test_the_objective_equals_brute_force(sixty_digits):
    X, y = sixty_digits
    family = Translation(1)
    svc = WorstCaseSVC(family, C=1.0, random_state=0).fit(X, y)
    assert svc.objective_ == pytest.approx(objective(svc, family, X, y), rel=1e-9)
    assert 0 <= svc.gap_ <= 1e-3 * svc.objective_
    orbit = family.orbit(X)
    np.testing.assert_allclose(
        svc.support_vectors_, orbit[svc.support_, svc.support_elements_], atol=1e-12
    )
    # fits without the family, and to all augmented copies, have a larger worst-case objective
    plain = WorstCaseSVC(C=1.0).fit(X, y)
    assert objective(plain, family, X, y) > svc.objective_
    copies = WorstCaseSVC(gamma=svc.kernel_.gamma, lam=svc.lam_)
    copies.fit(orbit.reshape(-1, X.shape[1]), np.repeat(y, 9))
    assert objective(copies, family, X, y) > svc.objective_


def test_worst_case_accuracy_exceeds_that_of_a_plain_svm(sixty_digits):
    X, y = sixty_digits
    data = load_mnist_sample()
    family = Translation(1)
    svc = WorstCaseSVC(family).fit(X, y)
    plain = WorstCaseSVC().fit(X, y)
    worst = [
        worst_case_accuracy(model, data.X_test[:200], data.y_test[:200], family).worst_case_accuracy
        for model in (svc, plain)
    ]
    assert worst[0] > worst[1] + 0.1


def test_half_of_the_support_vectors_can_be_dropped(sixty_digits):
    X, y = sixty_digits
    family = Translation(1) | Rotation(10)
    whole = WorstCaseSVC(family, random_state=0).fit(X, y)
    half = WorstCaseSVC(family, keep_support=0.5, random_state=0).fit(X, y)
    assert len(half.support_) <= len(whole.support_) / 2 + 1
    assert half.objective_ == pytest.approx(objective(half, family, X, y), rel=1e-9)
    # the optimum lies below the objective by at most the gap
    assert half.objective_ - half.gap_ <= whole.objective_
    assert half.gap_ > whole.gap_


def test_costs_may_fall_with_the_size_of_a_transformation(sixty_digits):
    X, y = sixty_digits
    classes = len(np.unique(y))
    cost = np.repeat((1.0 - np.eye(classes))[:, :, None], 9, axis=2)
    never = cost.copy()
    never[:, :, 1:] = -np.inf
    plain = WorstCaseSVC(gamma=0.02, tol=1e-6).fit(X, y)
    same = WorstCaseSVC(Translation(1), gamma=0.02, cost=never, tol=1e-6).fit(X, y)
    assert same.objective_ == pytest.approx(plain.objective_, rel=1e-5)
    assert set(same.support_elements_) == {0}
    falling = cost.copy()
    falling[:, :, 1:] *= 0.5
    between = WorstCaseSVC(Translation(1), gamma=0.02, cost=falling).fit(X, y)
    full = WorstCaseSVC(Translation(1), gamma=0.02).fit(X, y)
    assert plain.objective_ < between.objective_ < full.objective_
    assert len(between.support_) < len(full.support_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_user_defined_oracle_can_replace_a_family(iris):
    X, y = iris[0][::4], iris[1][::4]
    shifts = CyclicShift()

    def oracle(x, number, decide):
        shifted = shifts.orbit(x[None])[0]
        scores = decide(shifted)
        assert scores.shape == (4, 3)
        margins = scores[:, number] - np.delete(scores, number, axis=1).max(axis=1)
        return shifted[[margins.argmin()]]

    listed = WorstCaseSVC(shifts, gamma=0.1, tol=1e-3).fit(X, y)
    by_oracle = WorstCaseSVC(oracle=oracle, gamma=0.1, tol=1e-3).fit(X, y)
    assert by_oracle.objective_ == pytest.approx(listed.objective_, rel=2e-3)
    assert by_oracle.support_elements_ is None
    pegasos = WorstCaseSVC(oracle=oracle, gamma=0.1, solver="pegasos", max_iter=20)
    pegasos.set_params(random_state=0).fit(X, y)
    assert listed.objective_ - listed.gap_ <= pegasos.objective_ <= 2 * listed.objective_


def test_pegasos_approaches_the_optimum_of_columns(sixty_digits):
    X, y = sixty_digits
    best = WorstCaseSVC(Translation(1), C=1.0, tol=1e-4).fit(X, y)
    near = WorstCaseSVC(Translation(1), C=1.0, solver="pegasos", tol=0.05, random_state=0)
    near.fit(X, y)
    assert best.objective_ - best.gap_ <= near.objective_ <= 1.05 * best.objective_
    assert near.objective_ - near.gap_ <= best.objective_


@pytest.mark.parametrize("solver", ["columns", "pegasos"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_same_seed_fits_the_same_model(sixty_digits, solver):
    X, y = sixty_digits
    models = [
        WorstCaseSVC(Translation(1), solver=solver, tol=0.1, max_iter=4, random_state=3)
        for _ in range(2)
    ]
    a, b = (model.fit(X, y).decision_function(X) for model in models)
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "svc",
    [
        WorstCaseSVC(CyclicShift(), gamma=0.1, tol=1e-6, random_state=0),
        WorstCaseLinearSVC(CyclicShift(), tol=1e-6, max_iter=500),
    ],
    ids=["kernel", "linear"],
)
def test_a_weight_of_two_equals_a_repeated_sample(svc, iris):
    X, y = iris[0][::4], iris[1][::4]
    rng = np.random.RandomState(0)
    weights = rng.randint(0, 3, len(X)).astype(float)
    twice = np.repeat(np.arange(len(X)), weights.astype(int))
    a = svc.fit(X, y, sample_weight=weights).decision_function(X)
    b = svc.fit(X[twice], y[twice]).decision_function(X)
    np.testing.assert_allclose(a, b, atol=5e-3)
    # the weight of a class is that of its samples
    c = svc.set_params(class_weight={0: 3.0}).fit(X, y).decision_function(X)
    svc.set_params(class_weight=None)
    d = svc.fit(X, y, sample_weight=np.where(y == 0, 3.0, 1.0)).decision_function(X)
    np.testing.assert_allclose(c, d, atol=1e-9)


def test_a_solver_object_keeps_its_own_settings(iris):
    X, y = iris[0][::3], iris[1][::3]
    named = WorstCaseSVC(keep_support=0.5, random_state=0).fit(X, y)
    given = WorstCaseSVC(solver=ColumnGeneration(keep=0.5), random_state=0).fit(X, y)
    np.testing.assert_array_equal(named.dual_coef_, given.dual_coef_)
    # the memory for kernel values is a setting with every solver
    WorstCaseSVC(solver="pegasos", cache_size=10, max_iter=5, tol=10).fit(X, y)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"family": "shift"}, TypeError, "is not a Family"),
        ({"family": FeatureScaling()}, ValueError, "cannot be listed: use WorstCaseLinearSVC"),
        (
            {"solver": "smo"},
            ValueError,
            "choose one of bundle, columns, pegasos",
        ),
        ({"solver": "bundle"}, ValueError, "requires functions that are linear in the features"),
        ({"solver": "bundle"}, ValueError, "choose one of columns, pegasos$"),
        ({"keep_support": 0.5, "solver": "pegasos"}, ValueError, "needs solver='columns'"),
        (
            {"keep_support": 0.3, "solver": ColumnGeneration()},
            ValueError,
            "keep_support=0.3 has no effect .* at its default, and pass keep to the solver",
        ),
        (
            {"cache_size": 10, "solver": ColumnGeneration()},
            ValueError,
            "cache_size=10 has no effect .* and pass cache_bytes to the solver",
        ),
        (
            {"keep_support": 0.3, "solver": Pegasos()},
            ValueError,
            "leave keep_support at its default$",
        ),
        ({"C": 0}, ValueError, "C=0 must be above 0"),
        ({"lam": -1.0}, ValueError, "lam=-1.0"),
        ({"kernel": "tanh"}, ValueError, "kernel='tanh' is unknown"),
        ({"cost": np.ones((2, 2))}, ValueError, r"cost has shape \(2, 2, 1\); for 3 classes"),
        ({"cost": np.ones((3, 3))}, ValueError, "no mistake costs more than the correct class"),
        ({"oracle": 3}, TypeError, "must be a function"),
        ({"oracle": print, "family": CyclicShift()}, ValueError, "one of the two"),
        ({"keep_support": 0.0}, ValueError, "keep_support=0.0 must be above 0"),
        ({"max_iter": 0}, ValueError, "max_iter=0"),
        ({"oracle": lambda x, y, f: x}, ValueError, r"finite rows of shape \(k, 4\)"),
        ({"oracle": lambda x, y, f: np.ones((2, 5))}, ValueError, r"has shape \(2, 5\)"),
    ],
)
def test_bad_parameters_get_clear_errors(iris, params, error, message):
    with pytest.raises(error, match=message):
        WorstCaseSVC(**params).fit(*iris)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_gap_is_not_negative_with_a_random_oracle(iris):
    X, y = iris[0][::5], iris[1][::5]
    rng = np.random.RandomState(0)
    svc = WorstCaseSVC(
        oracle=lambda x, number, decide: x + 3 * rng.randn(1, 4),
        kernel="linear",
        lam=0.1,
        solver="pegasos",
        max_iter=10,
        random_state=0,
    )
    assert svc.fit(X, y).gap_ >= 0


def test_an_open_duality_gap_warns(sixty_digits):
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        WorstCaseSVC(Translation(1), max_iter=3).fit(*sixty_digits)
    with pytest.warns(ConvergenceWarning, match="duality gap of"):
        WorstCaseLinearSVC(Translation(1), max_iter=2).fit(*sixty_digits)


def test_progress_is_printed_or_passed_to_a_callback(iris, capsys):
    WorstCaseSVC(verbose=True).fit(*iris)
    assert "1 of 200: objective 1, gap 1" in capsys.readouterr().out
    for solver in ("bundle", "pegasos"):
        calls = []

        def note(done, total, seconds_left=None, message="", calls=calls):
            calls.append((done, total, message))

        svc = WorstCaseLinearSVC(solver=solver, tol=0.1, verbose=note).fit(*iris)
        assert [done for done, *_ in calls] == list(range(1, svc.n_iter_ + 1))
        assert calls[-1][1] == 1000
        assert calls[-1][2] == f"objective {svc.objective_:.6g}, gap {svc.gap_:.2g}"
    assert not capsys.readouterr().out


def test_a_solver_object_can_be_passed(iris):
    X, y = iris
    names = WorstCaseSVC(C=1.0, tol=1e-4, random_state=0).fit(X, y)
    given = WorstCaseSVC(
        C=1.0, tol=1e-4, random_state=0, solver=ColumnGeneration(at_most=1, slide_after=3)
    )
    assert given.fit(X, y).objective_ == pytest.approx(names.objective_, rel=2e-4)
    with pytest.raises(ValueError, match="or pass a Solver object for a WorstCaseProblem"):
        WorstCaseSVC(solver=Newton()).fit(X, y)


def test_random_elements_of_an_unlistable_family_can_be_used(iris):
    X, y = np.abs(iris[0]), iris[1]
    family = Custom(FeatureScaling(0.5, 2, 1).sample(5, random_state=0))
    assert WorstCaseSVC(family).fit(X, y).score(X, y) > 0.9
