"""Worst-case machines against scikit-learn's, brute force, and what they promise."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from invarlearn import WorstCaseLinearSVC, WorstCaseSVC
from invarlearn.audit import worst_case_accuracy
from invarlearn.datasets import fetch_spam, load_mnist_sample
from invarlearn.kernels import RBF
from invarlearn.transforms import (
    Custom,
    CyclicShift,
    FeatureDropping,
    FeatureScaling,
    Rotation,
    Translation,
)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.fixture(scope="module")
def digits():
    data = load_mnist_sample()
    return data.X_train[:60].astype(float), data.y_train[:60]


@contextmanager
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def crammer_singer(X, y, **kwargs):
    with quiet():
        svc = LinearSVC(multi_class="crammer_singer", tol=1e-10, max_iter=200_000, **kwargs)
        return svc.fit(X, y)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("C", [1e3, 1e5])
def test_a_large_C_is_solved_too(kernel, C):
    # raw features: a dual in which blocks alone crawl
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svc = WorstCaseSVC(kernel=kernel, C=C, tol=1e-3, random_state=0).fit(X, y)
    assert svc.gap_ <= 1e-3 * svc.objective_


@pytest.mark.parametrize("C", [0.05, 1.0])
def test_without_a_family_it_is_scikit_learns_multiclass_svm(iris, C):
    X, y = iris
    theirs = crammer_singer(X, y, C=C, fit_intercept=False).decision_function(X)
    kernel = WorstCaseSVC(kernel="linear", C=C, tol=1e-9).fit(X, y)
    linear = WorstCaseLinearSVC(C=C, fit_intercept=False, tol=1e-9, max_iter=500).fit(X, y)
    np.testing.assert_allclose(kernel.decision_function(X), theirs, atol=1e-4)
    np.testing.assert_allclose(linear.decision_function(X), theirs, atol=1e-4)


def test_with_an_rbf_it_is_the_multiclass_svm_of_its_feature_map(iris):
    X, y = iris
    values, vectors = np.linalg.eigh(RBF(0.5)(X))
    features = vectors * np.sqrt(np.maximum(values, 0))
    theirs = crammer_singer(features, y, C=1.0, fit_intercept=False).decision_function(features)
    ours = WorstCaseSVC(gamma=0.5, C=1.0, tol=1e-9).fit(X, y).decision_function(X)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_the_intercept_is_that_of_linear_svc(iris):
    X, y = iris
    theirs = crammer_singer(X + 1, y, C=1.0, intercept_scaling=2.0)
    ours = WorstCaseLinearSVC(intercept_scaling=2.0, tol=1e-9, max_iter=500).fit(X + 1, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


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
    """Give lam |f|^2 / 2 + mean worst loss by brute force over the whole orbit."""
    orbit = family.orbit(X)
    scores = estimator.decision_function(orbit.reshape(-1, X.shape[1]))
    scores = scores.reshape(*orbit.shape[:2], -1)
    own = np.take_along_axis(scores, y[:, None, None], axis=2)
    losses = scores - own + 1.0
    np.put_along_axis(losses, np.broadcast_to(y[:, None, None], own.shape), 0.0, axis=2)
    gram = estimator.kernel_(estimator.support_vectors_)
    norm = (estimator.dual_coef_ * (estimator.dual_coef_ @ gram)).sum()
    return estimator.lam_ * norm / 2 + losses.max(axis=(1, 2)).mean()


def test_the_objective_is_what_brute_force_says(digits):
    X, y = digits
    family = Translation(1)
    svc = WorstCaseSVC(family, C=1.0, random_state=0).fit(X, y)
    assert svc.objective_ == pytest.approx(objective(svc, family, X, y), rel=1e-9)
    assert 0 <= svc.gap_ <= 1e-3 * svc.objective_
    orbit = family.orbit(X)
    np.testing.assert_allclose(
        svc.support_vectors_, orbit[svc.support_, svc.support_elements_], atol=1e-12
    )
    # copies alone, with an all-copies mean, have a larger worst case
    plain = WorstCaseSVC(C=1.0).fit(X, y)
    assert objective(plain, family, X, y) > svc.objective_
    copies = WorstCaseSVC(gamma=svc.kernel_.gamma, lam=svc.lam_)
    copies.fit(orbit.reshape(-1, X.shape[1]), np.repeat(y, 9))
    assert objective(copies, family, X, y) > svc.objective_


def test_it_is_right_under_more_transformations_than_a_plain_machine(digits):
    X, y = digits
    data = load_mnist_sample()
    family = Translation(1)
    svc = WorstCaseSVC(family).fit(X, y)
    plain = WorstCaseSVC().fit(X, y)
    worst = [
        worst_case_accuracy(one, data.X_test[:200], data.y_test[:200], family).accuracy
        for one in (svc, plain)
    ]
    assert worst[0] > worst[1] + 0.1


def test_half_of_the_support_vectors_can_be_dropped(digits):
    X, y = digits
    family = Translation(1) | Rotation(10)
    whole = WorstCaseSVC(family, random_state=0).fit(X, y)
    half = WorstCaseSVC(family, keep_support=0.5, random_state=0).fit(X, y)
    assert len(half.support_) <= len(whole.support_) / 2 + 1
    assert half.objective_ == pytest.approx(objective(half, family, X, y), rel=1e-9)
    # the gap is honest: the optimum lies below, by no more than it
    assert half.objective_ - half.gap_ <= whole.objective_
    assert half.gap_ > whole.gap_


def test_costs_may_fall_with_the_size_of_a_transformation(digits):
    X, y = digits
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


def test_a_users_oracle_can_stand_for_a_family(iris):
    X, y = iris[0][::4], iris[1][::4]
    shifts = CyclicShift()

    def oracle(x, number, decide):
        moved = shifts.orbit(x[None])[0]
        scores = decide(moved)
        assert scores.shape == (4, 3)
        margins = scores[:, number] - np.delete(scores, number, axis=1).max(axis=1)
        return moved[[margins.argmin()]]

    listed = WorstCaseSVC(shifts, gamma=0.1, tol=1e-3).fit(X, y)
    asked = WorstCaseSVC(oracle=oracle, gamma=0.1, tol=1e-3).fit(X, y)
    assert asked.objective_ == pytest.approx(listed.objective_, rel=2e-3)
    assert asked.support_elements_ is None
    walked = WorstCaseSVC(oracle=oracle, gamma=0.1, solver="pegasos", max_iter=20)
    with quiet():
        walked.set_params(random_state=0).fit(X, y)
    assert listed.objective_ - listed.gap_ <= walked.objective_ <= 2 * listed.objective_


def test_pegasos_comes_near_what_columns_find(digits):
    X, y = digits
    best = WorstCaseSVC(Translation(1), C=1.0, tol=1e-4).fit(X, y)
    near = WorstCaseSVC(Translation(1), C=1.0, solver="pegasos", tol=0.05, random_state=0)
    near.fit(X, y)
    assert best.objective_ - best.gap_ <= near.objective_ <= 1.05 * best.objective_
    assert near.objective_ - near.gap_ <= best.objective_


@pytest.mark.parametrize("solver", ["columns", "pegasos"])
def test_the_same_seed_gives_the_same_machine(digits, solver):
    X, y = digits
    fits = [
        WorstCaseSVC(Translation(1), solver=solver, tol=0.1, max_iter=4, random_state=3)
        for _ in range(2)
    ]
    with quiet():
        a, b = (one.fit(X, y).decision_function(X) for one in fits)
    np.testing.assert_array_equal(a, b)


def text(n=120, d=60, n_classes=2, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.poisson(0.4, (n, d)).astype(float)
    y = (X @ rng.randn(d, n_classes)).argmax(axis=1)
    return X, y


@pytest.mark.parametrize("family", [None, FeatureScaling(0.5, 2, 2), FeatureDropping(1)])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("solver", ["bundle", "pegasos"])
def test_sparse_rows_give_what_dense_rows_give(family, n_classes, solver):
    X, y = text(n_classes=n_classes)
    # dense rows without a family go another way to the same optimum
    tol, max_iter = (1e-6, 300) if solver == "bundle" else (1e-3, 50)
    svc = WorstCaseLinearSVC(family, lam=0.02, solver=solver, tol=tol, max_iter=max_iter)
    svc.set_params(random_state=0)
    wide = sparse.hstack([sparse.csr_matrix(X), sparse.csr_matrix((len(X), 5000))]).tocsr()
    with quiet():
        dense = svc.fit(X, y)
        coef, intercept = dense.coef_, dense.intercept_
        wider = svc.fit(wide, y)
    np.testing.assert_allclose(wider.coef_[:, :60], coef, atol=2e-4)
    np.testing.assert_allclose(wider.intercept_, intercept, atol=2e-4)
    assert not wider.coef_[:, 60:].any()
    assert wider.n_features_in_ == 5060


def test_linear_machines_reach_the_worst_case_optimum():
    X, y = text()
    family = FeatureScaling(0.5, 4, 3)
    svc = WorstCaseLinearSVC(family, lam=0.05, tol=1e-5, max_iter=500).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    _, scores = family.worst_case(X, svc.coef_[0], signs)
    losses = np.maximum(0, 1 - scores - signs * svc.intercept_[0])
    norm = svc.coef_[0] @ svc.coef_[0] + svc.intercept_[0] ** 2
    assert svc.objective_ == pytest.approx(0.05 * norm / 2 + losses.mean())
    # no other weights are better by more than the gap
    rng = np.random.RandomState(0)
    for size in (1e-3, 1e-2, 0.1):
        w = svc.coef_[0] + size * rng.randn(60)
        _, scores = family.worst_case(X, w, signs)
        other = np.maximum(0, 1 - scores - signs * svc.intercept_[0]).mean()
        norm = w @ w + svc.intercept_[0] ** 2
        assert 0.05 * norm / 2 + other >= svc.objective_ - svc.gap_
    audited = worst_case_accuracy(svc, sparse.csr_matrix(X), y, family)
    plain = WorstCaseLinearSVC(lam=0.05).fit(X, y)
    assert audited.accuracy >= worst_case_accuracy(plain, sparse.csr_matrix(X), y, family).accuracy


def test_listed_families_of_dense_rows_work_too(digits):
    X, y = digits
    family = Translation(1)
    kernel = WorstCaseSVC(family, kernel="linear", lam=1.0).fit(X, y)
    svc = WorstCaseLinearSVC(family, lam=1.0, fit_intercept=False).fit(X, y)
    assert svc.objective_ == pytest.approx(kernel.objective_, rel=2e-3)
    assert svc.coef_.shape == (10, 784)
    with pytest.raises(TypeError, match="transforms dense rows only"):
        svc.fit(sparse.csr_matrix(X), y)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_partial_fit_goes_on_where_it_was(as_sparse, n_classes):
    X, y = text(n_classes=n_classes)
    rows = sparse.csr_matrix(X) if as_sparse else X
    whole, parts = (
        WorstCaseLinearSVC(FeatureDropping(1), lam=0.1, random_state=0) for _ in range(2)
    )
    whole.partial_fit(rows, y, classes=np.unique(y))
    for few in (slice(0, 50), slice(50, 51), slice(51, 120)):
        parts.partial_fit(rows[few], y[few], classes=np.unique(y))
    np.testing.assert_allclose(whole.coef_, parts.coef_, atol=1e-10)
    assert np.isnan(parts.gap_)
    for _ in range(30):
        whole.partial_fit(rows, y)
    best = WorstCaseLinearSVC(FeatureDropping(1), lam=0.1).fit(rows, y)
    assert np.abs(whole.coef_ - best.coef_).max() < 0.4 * np.abs(best.coef_).max()
    # and after fit, from there
    before = best.coef_.copy()
    best.partial_fit(rows[:1], y[:1])
    assert 0 < np.abs(best.coef_ - before).max() < 0.5 * np.abs(before).max()


@pytest.mark.parametrize(
    "svc",
    [
        WorstCaseSVC(CyclicShift(), gamma=0.1, tol=1e-6, random_state=0),
        WorstCaseLinearSVC(CyclicShift(), tol=1e-6, max_iter=500),
    ],
    ids=["kernel", "linear"],
)
def test_a_weight_of_two_is_a_sample_twice(svc, iris):
    X, y = iris[0][::4], iris[1][::4]
    rng = np.random.RandomState(0)
    weights = rng.randint(0, 3, len(X)).astype(float)
    twice = np.repeat(np.arange(len(X)), weights.astype(int))
    a = svc.fit(X, y, sample_weight=weights).decision_function(X)
    b = svc.fit(X[twice], y[twice]).decision_function(X)
    np.testing.assert_allclose(a, b, atol=5e-3)
    # and of a class, that of its samples
    c = svc.set_params(class_weight={0: 3.0}).fit(X, y).decision_function(X)
    svc.set_params(class_weight=None)
    d = svc.fit(X, y, sample_weight=np.where(y == 0, 3.0, 1.0)).decision_function(X)
    np.testing.assert_allclose(c, d, atol=1e-9)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"family": "shift"}, TypeError, "is not a Family"),
        ({"family": FeatureScaling()}, ValueError, "cannot be listed: use WorstCaseLinearSVC"),
        ({"solver": "smo"}, ValueError, "solver='smo' is unknown: choose one of columns, pegasos"),
        ({"C": 0}, ValueError, "C=0 must be above 0"),
        ({"lam": -1.0}, ValueError, "lam=-1.0"),
        ({"kernel": "tanh"}, ValueError, "kernel='tanh' is unknown"),
        ({"cost": np.ones((2, 2))}, ValueError, r"cost has shape \(2, 2, 1\)|cost has shape"),
        ({"cost": np.ones((3, 3))}, ValueError, "no mistake costs more than the right answer"),
        ({"oracle": 3}, TypeError, "must be a function"),
        ({"oracle": print, "family": CyclicShift()}, ValueError, "one of the two"),
        ({"keep_support": 0.0}, ValueError, "keep_support=0.0 must be above 0"),
        ({"max_iter": 0}, ValueError, "max_iter=0"),
        ({"oracle": lambda x, y, f: x}, ValueError, r"finite rows of shape \(k, 4\)"),
        ({"oracle": lambda x, y, f: np.ones((2, 5))}, ValueError, r"it gave \(2, 5\)"),
    ],
)
def test_wrong_parameters_of_kernel_machines_get_clear_errors(iris, params, error, message):
    with pytest.raises(error, match=message):
        WorstCaseSVC(**params).fit(*iris)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"solver": "sgd"}, "choose one of bundle, pegasos"),
        ({"intercept_scaling": 0}, "intercept_scaling=0 must be above 0"),
        ({"family": FeatureScaling(), "cost": np.ones((3, 3, 2))}, r"must be \(3, 3\)"),
        ({"lam": 0}, "lam=0 must be above 0"),
    ],
)
def test_wrong_parameters_of_linear_machines_get_clear_errors(iris, params, message):
    with pytest.raises(ValueError, match=message):
        WorstCaseLinearSVC(**params).fit(*iris)


def test_other_mistakes_get_clear_errors(iris):
    X, y = iris
    svc = WorstCaseLinearSVC()
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        svc.partial_fit(X, y)
    with pytest.raises(ValueError, match="classes that are not in classes: \\[2\\]"):
        svc.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="balanced"):
        WorstCaseLinearSVC(class_weight="balanced").partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="one class only"):
        WorstCaseSVC().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="all samples of class 2 have weight 0"):
        WorstCaseSVC().fit(X, y, sample_weight=(y < 2).astype(float))


class OnlyNine(FeatureScaling):
    """A user's family that knows features by their number: only the ninth may go."""

    def worst_case(self, X, w, sign=None):
        rows = np.array(X.todense() if sparse.issparse(X) else X)
        rows[:, 9] = np.where(rows[:, 9] * w[9] > 0, 0.0, rows[:, 9])
        return (sparse.csr_matrix(rows) if sparse.issparse(X) else rows), rows @ w


def test_a_users_oracle_sees_all_features_of_sparse_rows():
    rng = np.random.RandomState(0)
    X = np.zeros((40, 30))
    X[:, [5, 9, 20]] = rng.rand(40, 3) + 0.1
    y = (X[:, 9] + 0.2 * X[:, 5] > 0.7).astype(int)
    svc = WorstCaseLinearSVC(OnlyNine(), lam=0.01, tol=1e-5)
    dense = svc.fit(X, y).coef_
    np.testing.assert_allclose(svc.fit(sparse.csr_matrix(X), y).coef_, dense, atol=1e-3)


class OwnShift(CyclicShift):
    def worst_case(self, X, w, sign=None):
        return super().worst_case(X, w, sign)


def test_costs_of_elements_count_with_a_worst_case_of_ones_own(iris):
    cost = np.repeat((1.0 - np.eye(3))[:, :, None], 4, axis=2)
    cost[:, :, 1:] = -np.inf
    plain = WorstCaseLinearSVC(lam=0.05).fit(*iris).objective_
    own = WorstCaseLinearSVC(OwnShift(), lam=0.05, cost=cost).fit(*iris).objective_
    assert own == pytest.approx(plain, rel=2e-3)


def test_an_oracle_that_forgets_does_not_fool_the_gap(iris):
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
    with quiet():
        assert svc.fit(X, y).gap_ >= 0


def test_batches_may_lack_classes_and_first_calls_may_fail(iris):
    X, y = iris
    svc = WorstCaseLinearSVC(class_weight={0: 2.0}, lam=0.1)
    with pytest.raises(ValueError, match="not in classes"):
        svc.partial_fit(X, y, classes=[0, 1])
    svc.partial_fit(X[50:], y[50:], classes=[0, 1, 2])
    svc.partial_fit(X[:60], y[:60], sample_weight=(y[:60] == 0).astype(float))
    with pytest.raises(ValueError, match="are not those of the first call"):
        svc.partial_fit(X, y, classes=[0, 1])


def test_a_gap_that_is_not_closed_is_told(digits):
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        WorstCaseSVC(Translation(1), max_iter=3).fit(*digits)
    with pytest.warns(ConvergenceWarning, match="duality gap of"):
        WorstCaseLinearSVC(Translation(1), max_iter=2).fit(*digits)


def test_progress_is_printed_when_asked_for(iris, capsys):
    WorstCaseSVC(verbose=True).fit(*iris)
    assert "round 1: objective 1, gap 1" in capsys.readouterr().out


def test_samples_of_a_family_without_a_list_can_be_used(iris):
    X, y = np.abs(iris[0]), iris[1]
    family = Custom(FeatureScaling(0.5, 2, 1).sample(5, random_state=0))
    assert WorstCaseSVC(family).fit(X, y).score(X, y) > 0.9


def test_spam_of_other_users_is_ranked_better(real_data):
    """Table 1 in small: e-mail of one user, tested on another's, one setting for both."""
    from sklearn.metrics import roc_auc_score
    from sklearn.preprocessing import normalize

    users = fetch_spam("task_a").users
    (X, y), (X_test, y_test) = (
        (normalize(users[name].X.log1p()), users[name].y) for name in ("u02", "u00")
    )
    ranks = [
        roc_auc_score(
            y_test,
            WorstCaseLinearSVC(family, lam=1e-3, tol=0.03)
            .fit(X[::3], y[::3])
            .decision_function(X_test),
        )
        for family in (FeatureScaling(0.5, 8, 10), None)
    ]
    assert ranks[0] > ranks[1] + 0.002
