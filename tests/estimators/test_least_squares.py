"""Regularised least squares against direct solutions, explicit leave-one-out, scikit-learn."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.svm import SVC

from invarlearn import RLSClassifier, RLSRegressor
from invarlearn.kernels import RBF, HaarKernel, OrbitKernel
from invarlearn.solvers.least_squares import LamSearch
from invarlearn.solvers.normal_equations import (
    HeldOutRows,
    NormalEquations,
    sampling_keys,
    scatter,
    smallest_keys,
)
from invarlearn.solvers.ridge import DualPath, PrimalPath
from invarlearn.transforms import CyclicShift


def data(n, d, targets=2, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, d)) + 3
    return X, rng.standard_normal((n, targets)), rng.uniform(0.5, 2, n)


def direct(X, Y, weights, lam, total=None):
    """Solve the normal equations with an intercept that is not penalised."""
    total = weights.sum() if total is None else total
    A = np.column_stack([X, np.ones(len(X))])
    penalty = lam * total * np.eye(A.shape[1])
    penalty[-1, -1] = 0
    W = weights[:, None]
    solution = np.linalg.solve(A.T @ (W * A) + penalty, A.T @ (W * Y))
    return solution[:-1], solution[-1]


def leave_one_out(X, Y, weights, lam):
    """Return predictions of each row by a model fitted without it, with the same penalty."""
    out = np.empty_like(Y)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        beta, b = direct(X[rest], Y[rest], weights[rest], lam, weights.sum())
        out[i] = X[i] @ beta + b
    return out


@pytest.mark.parametrize("shape", [(30, 6), (12, 20)])
@pytest.mark.parametrize("lam", [1e-3, 0.1, 5.0])
def test_solutions_and_leave_one_out_predictions_are_exact(shape, lam):
    X, Y, weights = data(*shape)
    beta, b = direct(X, Y, weights, lam)
    equations = NormalEquations(X[:5].mean(axis=0), 2, HeldOutRows(100))
    equations.add(X[:7], Y[:7], weights[:7]).add(X[7:], Y[7:], weights[7:])
    primal, dual = PrimalPath.of(equations.moments()), DualPath.of(X @ X.T, Y, weights)
    alpha, b_dual = dual.coefficients(lam)
    for coef, intercept in (
        equations.moments().coefficients(lam),
        primal.coefficients(lam),
        (X.T @ alpha, b_dual),
    ):
        np.testing.assert_allclose(coef, beta, atol=1e-7)
        np.testing.assert_allclose(intercept, b, atol=1e-6)
    truth = leave_one_out(X, Y, weights, lam)
    lams = np.array([lam])
    np.testing.assert_allclose(primal.left_out(X, Y, weights, lams)[0], truth, atol=1e-7)
    np.testing.assert_allclose(dual.left_out(lams)[0], truth, atol=1e-7)


def test_scatter_fills_both_triangles():
    X = np.random.RandomState(0).standard_normal((9, 4)).astype(np.float32)
    np.testing.assert_allclose(scatter(X), X.T @ X, rtol=1e-5)
    np.testing.assert_allclose(scatter(np.asfortranarray(X)), X.T @ X, rtol=1e-5)


@pytest.mark.parametrize("shape", [(40, 5), (15, 30)])
def test_agrees_with_ridge(shape):
    X, Y, weights = data(*shape)
    n = len(X)
    ours = RLSRegressor(lam=0.3).fit(X, Y)
    theirs = Ridge(alpha=0.3 * n).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-7)
    weighted = RLSRegressor(lam=0.3).fit(X, Y[:, 0], sample_weight=weights)
    same = Ridge(alpha=0.3 * weights.sum()).fit(X, Y[:, 0], sample_weight=weights)
    np.testing.assert_allclose(weighted.coef_, same.coef_, atol=1e-8)
    assert isinstance(weighted.intercept_, float)


def test_lam_minimises_the_leave_one_out_error():
    X, Y, weights = data(25, 10)
    y = (X[:, 0] + 0.3 * Y[:, 0]).round(6)
    rls = RLSRegressor().fit(X, y, sample_weight=weights)
    errors = [
        np.average((leave_one_out(X, y[:, None], weights, lam)[:, 0] - y) ** 2, weights=weights)
        for lam in rls.lams_
    ]
    np.testing.assert_allclose(rls.cv_errors_, errors, rtol=1e-6)
    assert rls.lam_ == rls.lams_[np.argmin(errors)]
    assert 0 < np.argmin(errors) < len(errors) - 1


def test_the_grid_of_lam_follows_its_parameters():
    X, Y, weights = data(25, 10)
    rls = RLSRegressor(n_lams=4, lam_range=(1e-3, 1.0)).fit(X, Y)
    largest = np.linalg.eigvalsh(np.cov(X.T, bias=True))[-1]
    np.testing.assert_allclose(rls.lams_, largest * np.array([1, 0.1, 0.01, 0.001]))
    default = RLSRegressor().fit(X, Y)
    np.testing.assert_allclose(default.lams_[[0, -1]], largest * np.array([10, 1e-7]))
    assert len(default.lams_) == len(default.cv_errors_) == 25
    search = LamSearch(lambda predicted, Y, weights: float(predicted[0, 0] > 0.5))
    ties = search.choose(1.0, lambda lams: np.zeros((25, 2, 1)), np.zeros((2, 1)), weights[:2])
    assert ties.lam == ties.lams[0]


def test_a_failed_fit_leaves_the_earlier_one():
    X, Y, _ = data(25, 10)
    rls = RLSRegressor(lam=0.1).fit(X, Y)
    before = rls.predict(X)
    with pytest.raises(ValueError, match="lam=0"):
        rls.set_params(lam=0).fit(X[:5], Y[:5])
    np.testing.assert_array_equal(rls.predict(X), before)


@pytest.mark.parametrize("criterion", ["squared", "accuracy"])
def test_classes_are_coded_one_vs_rest(criterion):
    X, _, _ = data(60, 4)
    y = np.array(["a", "b", "c"])[np.argmax(X[:, :3], axis=1)]
    rls = RLSClassifier(criterion=criterion).fit(X, y)
    codes = np.where(y[:, None] == rls.classes_, 1.0, -1.0)
    np.testing.assert_allclose(
        rls.decision_function(X), Ridge(60 * rls.lam_).fit(X, codes).predict(X), atol=1e-7
    )
    assert rls.score(X, y) > 0.8
    two = RLSClassifier(lam=0.1).fit(X, y == "a")
    assert two.decision_function(X).shape == (60,)
    assert two.coef_.shape == (1, 4)


def test_class_weights_equal_sample_weights():
    X, _, _ = data(50, 4)
    y = (X[:, 0] > 3.8).astype(int)
    balanced = RLSClassifier(lam=0.1, class_weight="balanced").fit(X, y)
    counts = np.bincount(y)
    weights = (len(y) / (2 * counts))[y]
    same = RLSClassifier(lam=0.1).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(balanced.coef_, same.coef_)
    given = RLSClassifier(lam=0.1, class_weight={0: 1, 1: 5}).fit(X, y)
    assert given.predict(X).sum() > RLSClassifier(lam=0.1).fit(X, y).predict(X).sum()


@pytest.mark.parametrize("shape", [(200, 8), (30, 60)])
@pytest.mark.parametrize("lam", [None, 0.05])
def test_partial_fit_ends_where_fit_does(shape, lam):
    X, _, _ = data(*shape)
    y = np.argmax(X[:, :3], axis=1)
    whole = RLSClassifier(lam, n_held_out=25).fit(X, y)
    stream = RLSClassifier(lam, n_held_out=25)
    for batch in np.array_split(np.arange(len(X)), 7):
        stream.partial_fit(X[batch], y[batch], classes=[0, 1, 2])
    assert stream.predict(X).shape == y.shape
    assert stream.lam_ == pytest.approx(whole.lam_, rel=1e-6)
    np.testing.assert_allclose(stream.coef_, whole.coef_, atol=1e-6)
    np.testing.assert_allclose(stream.intercept_, whole.intercept_, atol=1e-5)
    regress = RLSRegressor(lam)
    for batch in np.array_split(np.arange(len(X)), 3):
        regress.partial_fit(X[batch], X[batch, 0])
    np.testing.assert_allclose(
        regress.predict(X), RLSRegressor(lam).fit(X, X[:, 0]).predict(X), atol=1e-5
    )


def test_held_out_rows_are_a_uniform_sample_for_any_blocks():
    keys = sampling_keys(7, 0, 1000)
    np.testing.assert_array_equal(
        keys, np.concatenate([sampling_keys(7, 0, 333), sampling_keys(7, 333, 667)])
    )
    assert len(np.unique(keys)) == 1000
    assert (sampling_keys(8, 0, 1000) != keys).all()
    chosen = np.zeros(200)
    for seed in range(400):
        chosen[smallest_keys(sampling_keys(seed, 0, 200), 20)] += 1
    # each row is held out in a tenth of the samples
    assert chosen.mean() == 40
    assert chosen.std() == pytest.approx(6, abs=1.2)


def test_single_precision_is_enough_far_from_zero():
    X, _, _ = data(500, 20)
    X = X + 100
    y = X[:, 0] - X[:, 1]
    double = RLSRegressor(lam=1e-4).fit(X, y)
    single = RLSRegressor(lam=1e-4).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.coef_, double.coef_, atol=2e-4)


@pytest.mark.parametrize("shape", [(60, 10), (20, 40)])
def test_sparse_and_dense_rows_agree(shape):
    X, _, _ = data(*shape)
    X = np.where(np.random.RandomState(1).rand(*shape) < 0.6, 0, X)
    y = np.argmax(X[:, :3], axis=1)
    dense, sparse = RLSClassifier().fit(X, y), RLSClassifier().fit(csr_array(X), y)
    assert sparse.lam_ == pytest.approx(dense.lam_)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-7)
    np.testing.assert_allclose(sparse.decision_function(csr_array(X)), dense.decision_function(X))
    stream = RLSClassifier(lam=0.1).partial_fit(csr_array(X), y, classes=[0, 1, 2])
    np.testing.assert_allclose(stream.coef_, RLSClassifier(lam=0.1).fit(X, y).coef_, atol=1e-7)


def test_kernels_agree_with_precomputed_matrices_and_kernel_ridge():
    X, _, _ = data(40, 6)
    y = np.argmax(X[:, :3], axis=1)
    kernel = HaarKernel(RBF(0.2), CyclicShift(step=3))
    np.testing.assert_array_equal(kernel(X), OrbitKernel(RBF(0.2), CyclicShift(step=3), "mean")(X))
    rls = RLSClassifier(kernel=kernel).fit(X, y)
    assert rls.score(X, y) > 0.8
    np.testing.assert_allclose(
        rls.decision_function(X), rls.decision_function(np.roll(X, 3, axis=1)), atol=1e-6
    )
    precomputed = RLSClassifier(kernel="precomputed").fit(kernel(X), y)
    np.testing.assert_allclose(precomputed.decision_function(kernel(X)), rls.decision_function(X))
    # centred targets and kernel: the intercept is not penalised
    codes = np.where(y[:, None] == rls.classes_, 1.0, -1.0)
    H = np.eye(40) - 1 / 40
    ridge = KernelRidge(alpha=40 * rls.lam_, kernel="precomputed").fit(H @ kernel(X) @ H, H @ codes)
    expected = ridge.predict(H @ kernel(X) @ H) + codes.mean(axis=0)
    np.testing.assert_allclose(rls.decision_function(X), expected, atol=1e-6)
    assert KernelRidge(kernel=kernel).fit(X, y).predict(X).shape == (40,)
    assert SVC(kernel=kernel).fit(X, y).score(X, y) > 0.5


def test_fit_discards_earlier_batches():
    X, _, _ = data(40, 6)
    y = np.argmax(X[:, :3], axis=1)
    rls = RLSClassifier(lam=0.1).partial_fit(X[:20], y[:20], classes=[0, 1, 2]).fit(X, y)
    np.testing.assert_allclose(rls.coef_, RLSClassifier(lam=0.1).fit(X, y).coef_)
    with pytest.warns(UserWarning, match="discards the result of fit"):
        rls.partial_fit(X[:20], y[:20])
    fresh = RLSClassifier(lam=0.1).partial_fit(X[:20], y[:20], classes=[0, 1, 2])
    np.testing.assert_allclose(rls.coef_, fresh.coef_)


def test_bad_input_gets_clear_errors():
    X, Y, _ = data(20, 4)
    y = (X[:, 0] > 3).astype(int)
    cases = [
        (lambda: RLSClassifier().fit(X, np.zeros(20)), "one class only"),
        (lambda: RLSClassifier(lam=-1).fit(X, y), "lam=-1"),
        (lambda: RLSClassifier(criterion="auc").fit(X, y), "criterion='auc'"),
        (lambda: RLSClassifier(kernel="rbf").fit(X, y), "kernel='rbf' is unknown"),
        (lambda: RLSClassifier(kernel="precomputed").fit(X, y), "square Gram matrix"),
        (lambda: RLSClassifier().partial_fit(X, y), "classes must be given"),
        (lambda: RLSClassifier().partial_fit(X, y, classes=[0, 2]), r"classes \[1\]"),
        (lambda: RLSClassifier(kernel=RBF()).partial_fit(X, y, [0, 1]), "kernel=None"),
        (lambda: RLSClassifier(class_weight="balanced").partial_fit(X, y, [0, 1]), "dict of"),
        (lambda: RLSClassifier(n_held_out=0).fit(X, y), "n_held_out=0"),
        (lambda: RLSClassifier(n_lams=0).fit(X, y), "n_lams=0"),
        (lambda: RLSClassifier(lam_range=(1, 0.1)).fit(X, y), "the smaller number first"),
        (lambda: RLSClassifier(lam_range=0.1).fit(X, y), "must be two numbers"),
        (lambda: RLSRegressor().fit(X, np.full((20, 2), np.nan)), "NaN"),
        (lambda: RLSRegressor().fit(X, Y, sample_weight=np.zeros(20)), "at least one non-zero"),
        (lambda: RLSRegressor(kernel=RBF()).partial_fit(X, Y), "kernel=None"),
    ]
    for run, message in cases:
        with pytest.raises((TypeError, ValueError), match=message):
            run()
    with pytest.raises(AttributeError, match="kernel=None only"):
        _ = RLSClassifier(kernel=RBF()).fit(X, y).coef_
    with pytest.raises(AttributeError, match="lam=None only"):
        _ = RLSClassifier(lam=0.1).fit(X, y).cv_errors_
    with pytest.raises(NotFittedError):
        RLSClassifier(lam=-1).predict(X)


@pytest.mark.parametrize("shape", [(3, 6), (50, 4)])
@pytest.mark.parametrize("value", [0.1, 0.37, 1e6])
def test_equal_rows_predict_the_mean(shape, value):
    X = np.full(shape, value)
    y = np.random.RandomState(0).standard_normal(shape[0])
    weights = np.random.RandomState(1).rand(shape[0])
    rls = RLSRegressor().fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(rls.predict(X), np.average(y, weights=weights), atol=1e-6)
    single = RLSRegressor().fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.predict(X), y.mean(), atol=1e-6)


def test_dense_and_sparse_batches_mix():
    X, Y, _ = data(200, 5)
    whole = RLSRegressor(lam=1e-3).fit(X, Y)
    for first, second in ((np.asarray, csr_array), (csr_array, np.asarray)):
        mixed = RLSRegressor(lam=1e-3).partial_fit(first(X[:80]), Y[:80])
        mixed.partial_fit(second(X[80:]), Y[80:])
        np.testing.assert_allclose(mixed.coef_, whole.coef_, atol=1e-8)
        np.testing.assert_allclose(mixed.intercept_, whole.intercept_, atol=1e-7)


@pytest.mark.parametrize("shape", [(60, 100), (300, 20)])
def test_single_and_half_precision_far_from_zero(shape):
    rng = np.random.RandomState(0)
    X = (rng.standard_normal(shape) + 1000).astype(np.float32)
    y = X[:, 0] - 1000.0
    single, double = RLSRegressor().fit(X, y), RLSRegressor().fit(X.astype(float), y)
    np.testing.assert_allclose(single.predict(X), double.predict(X.astype(float)), atol=1e-5)
    half = (X - 1000).astype(np.float16)
    np.testing.assert_allclose(
        RLSRegressor(lam=0.1).fit(half, y).predict(half),
        RLSRegressor(lam=0.1).fit(half.astype(float), y).predict(half.astype(float)),
        atol=1e-8,
    )


def test_rows_of_weight_zero_are_never_held_out():
    rng = np.random.RandomState(0)
    X = rng.rand(400, 8)
    y = X @ rng.standard_normal(8)
    weights = np.zeros(400)
    weights[:20] = 1
    for rls in (
        RLSRegressor(n_held_out=5).fit(X, y, sample_weight=weights),
        RLSRegressor(n_held_out=5, kernel=RBF(0.5)).fit(X, y, sample_weight=weights),
    ):
        assert np.isfinite(rls.cv_errors_).all()
    classes = (y > y.mean()).astype(int)
    with pytest.raises(ValueError, match="0 for every sample"):
        RLSClassifier(class_weight={0: 0, 1: 0}).fit(X, classes)


def test_fitted_attributes_follow_partial_fit():
    X, Y, _ = data(60, 5)
    stream = RLSRegressor(n_held_out=1000).partial_fit(X[:20], Y[:20])
    assert stream.lam_ == RLSRegressor().fit(X[:20], Y[:20]).lam_
    stream.partial_fit(X[20:], Y[20:])
    np.testing.assert_allclose(stream.cv_errors_, RLSRegressor().fit(X, Y).cv_errors_)
    with pytest.raises(ValueError, match="lam=-1"):
        RLSRegressor(lam=-1).partial_fit(X, Y)
    with pytest.raises(ValueError, match="1 targets, but 2"):
        stream.partial_fit(X, Y[:, 0])
    assert stream.predict(X).shape == (60, 2)


def test_later_changes_of_kernel_and_rows_have_no_effect():
    X, Y, _ = data(30, 5)
    X = X - 3
    kernel = RBF(0.2)
    rls = RLSRegressor(kernel=kernel).fit(X, Y)
    new = X[:5] + 0.1
    before = rls.predict(new)
    kernel.set_params(gamma=9.0)
    X[:] = 0
    np.testing.assert_array_equal(rls.predict(new), before)
