"""WorstCaseLinearSVC: optima, sparse rows, partial_fit and errors."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from invarlearn import WorstCaseLinearSVC, WorstCaseSVC
from invarlearn.audit import worst_case_accuracy
from invarlearn.datasets import fetch_spam
from invarlearn.transforms import (
    CyclicShift,
    FeatureDropping,
    FeatureScaling,
    Translation,
)


def test_the_intercept_is_that_of_linear_svc(iris, crammer_singer):
    X, y = iris
    theirs = crammer_singer(X + 1, y, C=1.0, intercept_scaling=2.0)
    ours = WorstCaseLinearSVC(intercept_scaling=2.0, tol=1e-9, max_iter=500).fit(X + 1, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


def text(n=120, d=60, n_classes=2, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.poisson(0.4, (n, d)).astype(float)
    y = (X @ rng.randn(d, n_classes)).argmax(axis=1)
    return X, y


@pytest.mark.parametrize("family", [None, FeatureScaling(0.5, 2, 2), FeatureDropping(1)])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("solver", ["bundle", "pegasos"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_sparse_and_dense_rows_agree(family, n_classes, solver):
    X, y = text(n_classes=n_classes)
    # dense rows without a family are solved by another algorithm
    tol, max_iter = (1e-6, 300) if solver == "bundle" else (1e-3, 50)
    svc = WorstCaseLinearSVC(family, lam=0.02, solver=solver, tol=tol, max_iter=max_iter)
    svc.set_params(random_state=0)
    wide = sparse.hstack([sparse.csr_matrix(X), sparse.csr_matrix((len(X), 5000))]).tocsr()
    dense = svc.fit(X, y)
    coef, intercept = dense.coef_, dense.intercept_
    wider = svc.fit(wide, y)
    np.testing.assert_allclose(wider.coef_[:, :60], coef, atol=2e-4)
    np.testing.assert_allclose(wider.intercept_, intercept, atol=2e-4)
    assert not wider.coef_[:, 60:].any()
    assert wider.n_features_in_ == 5060


def test_the_worst_case_optimum_is_reached():
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
    assert (
        audited.worst_case_accuracy
        >= worst_case_accuracy(plain, sparse.csr_matrix(X), y, family).worst_case_accuracy
    )


def test_listed_families_of_dense_rows_agree_with_the_kernel_estimator(sixty_digits):
    X, y = sixty_digits
    family = Translation(1)
    kernel = WorstCaseSVC(family, kernel="linear", lam=1.0).fit(X, y)
    svc = WorstCaseLinearSVC(family, lam=1.0, fit_intercept=False).fit(X, y)
    assert svc.objective_ == pytest.approx(kernel.objective_, rel=2e-3)
    assert svc.coef_.shape == (10, 784)
    with pytest.raises(TypeError, match="transforms dense rows only"):
        svc.fit(sparse.csr_matrix(X), y)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_partial_fit_continues_from_the_current_weights(as_sparse, n_classes):
    X, y = text(n_classes=n_classes)
    rows = sparse.csr_matrix(X) if as_sparse else X
    whole, parts = (
        WorstCaseLinearSVC(FeatureDropping(1), lam=0.1, random_state=0) for _ in range(2)
    )
    whole.partial_fit(rows, y, classes=np.unique(y))
    for batch in (slice(0, 50), slice(50, 51), slice(51, 120)):
        parts.partial_fit(rows[batch], y[batch], classes=np.unique(y))
    np.testing.assert_allclose(whole.coef_, parts.coef_, atol=1e-10)
    assert np.isnan(parts.gap_)
    for _ in range(30):
        whole.partial_fit(rows, y)
    best = WorstCaseLinearSVC(FeatureDropping(1), lam=0.1).fit(rows, y)
    assert np.abs(whole.coef_ - best.coef_).max() < 0.4 * np.abs(best.coef_).max()
    # after fit, partial_fit continues from its weights
    before = best.coef_.copy()
    best.partial_fit(rows[:1], y[:1])
    assert 0 < np.abs(best.coef_ - before).max() < 0.5 * np.abs(before).max()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"solver": "sgd"}, "choose one of bundle, columns, pegasos"),
        ({"intercept_scaling": 0}, "intercept_scaling=0 must be above 0"),
        ({"family": FeatureScaling(), "cost": np.ones((3, 3, 2))}, r"must be \(3, 3\)"),
        ({"lam": 0}, "lam=0 must be above 0"),
    ],
)
def test_bad_parameters_get_clear_errors(iris, params, message):
    with pytest.raises(ValueError, match=message):
        WorstCaseLinearSVC(**params).fit(*iris)


def test_bad_classes_and_weights_get_clear_errors(iris):
    X, y = iris
    svc = WorstCaseLinearSVC()
    with pytest.raises(ValueError, match="classes must be given"):
        svc.partial_fit(X, y)
    with pytest.raises(ValueError, match=r"y has classes \[2\]"):
        svc.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="balanced"):
        WorstCaseLinearSVC(class_weight="balanced").partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="one class only"):
        WorstCaseSVC().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="all samples of class 2 have weight 0"):
        WorstCaseSVC().fit(X, y, sample_weight=(y < 2).astype(float))


class OnlyNine(FeatureScaling):
    """A user-defined family that can set feature 9 to zero."""

    def worst_case(self, X, w, sign=None):
        rows = np.array(X.todense() if sparse.issparse(X) else X)
        rows[:, 9] = np.where(rows[:, 9] * w[9] > 0, 0.0, rows[:, 9])
        return (sparse.csr_matrix(rows) if sparse.issparse(X) else rows), rows @ w


def test_a_user_defined_worst_case_sees_all_features_of_sparse_rows():
    rng = np.random.RandomState(0)
    X = np.zeros((40, 30))
    X[:, [5, 9, 20]] = rng.rand(40, 3) + 0.1
    y = (X[:, 9] + 0.2 * X[:, 5] > 0.7).astype(int)
    svc = WorstCaseLinearSVC(OnlyNine(), lam=0.01, tol=1e-5)
    dense = svc.fit(X, y).coef_
    np.testing.assert_allclose(svc.fit(sparse.csr_matrix(X), y).coef_, dense, atol=1e-3)


class OwnShift(CyclicShift):
    """Shifts with a user-defined worst case."""

    def worst_case(self, X, w, sign=None):
        return super().worst_case(X, w, sign)


def test_costs_of_elements_are_used_with_a_user_defined_worst_case(iris):
    cost = np.repeat((1.0 - np.eye(3))[:, :, None], 4, axis=2)
    cost[:, :, 1:] = -np.inf
    plain = WorstCaseLinearSVC(lam=0.05).fit(*iris).objective_
    own = WorstCaseLinearSVC(OwnShift(), lam=0.05, cost=cost).fit(*iris).objective_
    assert own == pytest.approx(plain, rel=2e-3)


def test_batches_may_lack_classes_and_first_calls_may_fail(iris):
    X, y = iris
    svc = WorstCaseLinearSVC(class_weight={0: 2.0}, lam=0.1)
    with pytest.raises(ValueError, match=r"y has classes \[2\]"):
        svc.partial_fit(X, y, classes=[0, 1])
    svc.partial_fit(X[50:], y[50:], classes=[0, 1, 2])
    svc.partial_fit(X[:60], y[:60], sample_weight=(y[:60] == 0).astype(float))
    with pytest.raises(ValueError, match="are not those of the first call"):
        svc.partial_fit(X, y, classes=[0, 1])


def test_columns_and_bundle_find_the_same_optimum(iris):
    X, y = iris
    bundle = WorstCaseLinearSVC(lam=0.1, tol=1e-6).fit(X, y)
    columns = WorstCaseLinearSVC(lam=0.1, tol=1e-6, solver="columns").fit(X, y)
    assert columns.objective_ == pytest.approx(bundle.objective_, rel=1e-5)
    np.testing.assert_allclose(columns.coef_, bundle.coef_, atol=1e-2)


def test_worst_case_training_ranks_spam_of_other_users_better(real_data):
    """Table 1 in small: trained on e-mail of one user, tested on that of another."""
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


def test_dropping_is_the_quadratic_program_of_globerson_and_roweis():
    """Teo et al., section 4: z_i and v_ij are the dual of the choice of K dropped features."""
    rng = np.random.RandomState(0)
    n, d, K, lam = 8, 4, 2, 0.05
    X, y = rng.randn(n, d) + 0.5, np.arange(n) % 2
    X[y == 1, :2] += 1.5
    signs = np.where(y == 1, 1.0, -1.0)
    svc = WorstCaseLinearSVC(
        FeatureDropping(K), lam=lam, fit_intercept=False, tol=1e-7, max_iter=3000
    ).fit(X, y)

    def constraints(u):
        w, slack, z, v = u[:d], u[d : d + n], u[d + n : d + 2 * n], u[d + 2 * n :].reshape(n, d)
        products = signs[:, None] * X * w
        margins = products.sum(axis=1) - K * z - v.sum(axis=1) - 1 + slack
        return np.concatenate([margins, (v - products + z[:, None]).ravel()])

    # linear, so that its columns are differences from the value at zero
    at_zero = constraints(np.zeros(d + 2 * n + n * d))
    jacobian = np.array([constraints(u) - at_zero for u in np.eye(d + 2 * n + n * d)]).T
    solution = minimize(
        lambda u: lam * u[:d] @ u[:d] / 2 + u[d : d + n].mean(),
        np.concatenate([np.zeros(d), np.ones(n), np.zeros(n + n * d)]),
        bounds=[(None, None)] * d + [(0, None)] * (2 * n + n * d),
        constraints={"type": "ineq", "fun": constraints, "jac": lambda u: jacobian},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    assert solution.success
    assert svc.objective_ == pytest.approx(solution.fun, rel=1e-5)
    plain = WorstCaseLinearSVC(lam=lam, fit_intercept=False, tol=1e-7).fit(X, y)
    assert plain.objective_ < 0.95 * svc.objective_
