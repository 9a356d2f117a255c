"""Kernels with eliminated functionals against dense algebra and other kernel machines."""

import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

from invarlearn import InvSVC, RLSClassifier
from invarlearn.functionals import (
    Change,
    Derivative,
    Difference,
    Laplacian,
    RepresenterKernel,
    Representers,
    Value,
)
from invarlearn.functionals.elimination import Elimination
from invarlearn.kernels import RBF, Polynomial
from invarlearn.testing import check_functional
from invarlearn.transforms import Identity, Reflection, Translation


def rows(n=12, d=3, seed=0):
    return np.random.RandomState(seed).standard_normal((n, d))


def dense(base, functionals, nu, at, X, Y):
    z = Representers(base, functionals, at)
    inner = np.linalg.inv(z.gram() + np.eye(len(z)) / (2 * nu))
    return base(X, Y) - z.at(X) @ inner @ z.at(Y).T


@pytest.mark.parametrize("base", [RBF(0.4), Polynomial(2)], ids=repr)
@pytest.mark.parametrize("limit", [4000, 0], ids=["factored", "products"])
def test_the_kernel_equals_its_formula(base, limit):
    at, X, Y = rows(), rows(5, 3, 1), rows(4, 3, 2)
    functionals = [Derivative(), Difference(2)]
    kernel = RepresenterKernel(base, functionals, 0.3, at=at, max_factored=limit)
    truth = dense(base, functionals, 0.3, at, X, Y)
    scale = np.abs(base(X, Y)).max()
    np.testing.assert_allclose(kernel(X, Y), truth, atol=1e-7 * scale)
    np.testing.assert_allclose(kernel(Y, X), truth.T, atol=1e-7 * scale)
    own = dense(base, functionals, 0.3, at, X, X)
    np.testing.assert_allclose(kernel(X), own, atol=1e-7 * scale)
    np.testing.assert_allclose(kernel.diag(X), np.diag(own), atol=1e-7 * scale)
    assert np.linalg.eigvalsh(kernel(X))[0] > -1e-7 * scale


@pytest.mark.parametrize("limit", [4000, 0], ids=["factored", "products"])
def test_kernels_of_several_nu_are_computed_at_once(limit):
    at, X = rows(), rows(5, 3, 1)
    nus = [0.0, 1e-3, 0.1, 2.0]
    solver = Elimination(Representers(RBF(0.4), [Derivative()], at), max_factored=limit)
    kernels = solver.kernels(X, at[:3], nus)
    np.testing.assert_allclose(kernels[0], RBF(0.4)(X, at[:3]))
    for nu, kernel in zip(nus[1:], kernels[1:], strict=True):
        truth = dense(RBF(0.4), [Derivative()], nu, at, X, at[:3])
        np.testing.assert_allclose(kernel, truth, atol=1e-7)
    assert solver.residual <= 1e-7


def test_systems_are_solved_with_products_as_with_a_factorisation():
    z = Representers(RBF(0.4), [Derivative()], rows())
    B = np.random.RandomState(0).randn(len(z), 3)
    B[:, 1] = 0
    factored, iterative = Elimination(z), Elimination(z, max_factored=0)
    expected = np.linalg.solve(z.gram() + np.eye(len(z)) / 0.2, B)
    np.testing.assert_allclose(factored.solve(B, 0.1), expected, atol=1e-8)
    np.testing.assert_allclose(iterative.solve(B, 0.1), expected, atol=1e-6)
    assert iterative.residual <= 2e-8
    assert factored.n_iter == 0 < iterative.n_iter < 1000


def test_too_few_iterations_are_visible_in_the_residual():
    z = Representers(RBF(0.4), [Derivative()], rows())
    solver = Elimination(z, max_iter=2, max_factored=0)
    solver.solve(np.ones((len(z), 1)), 100.0)
    assert solver.n_iter == 2
    assert solver.residual > 1e-6


def test_single_precision_is_nearly_as_accurate():
    at, X = rows(30), rows(5, 3, 1)
    z = Representers(RBF(0.4), [Derivative()], at)
    exact = Elimination(z, max_factored=0).kernels(X, at[:3], [0.1])
    z = Representers(RBF(0.4), [Derivative()], at.astype(np.float32))
    single = Elimination(z, tol=1e-5, max_factored=0)
    kernels = single.kernels(X.astype(np.float32), at[:3].astype(np.float32), [0.1])
    np.testing.assert_allclose(kernels, exact, atol=1e-4)


def test_kernel_machines_of_scikit_learn_agree():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((40, 3))
    y = (X[:, 0] + 0.3 * rng.standard_normal(40) > 0).astype(int)
    kernel = RepresenterKernel(RBF(0.4), [Derivative()], 0.2, at=X)
    Z = rows(20, 3, 5)
    # the SVM on the kernel is the one with functionals
    ours = InvSVC([Derivative()], gamma=0.4, loss="hinge", nu=0.2, lam=2.0, solver="newton")
    ours = ours.fit(X, y).decision_function(Z)
    theirs = SVC(kernel=kernel, C=2.0, tol=1e-8).fit(X, y).decision_function(Z)
    np.testing.assert_allclose(ours, theirs, atol=2e-3)
    # ridge regression is the squared loss, without a constant
    sign = 2.0 * y - 1
    ridge = KernelRidge(alpha=1 / (2 * 2.0), kernel=kernel).fit(X, sign)
    ours = InvSVC(
        [Derivative()], gamma=0.4, loss="squared", nu=0.2, lam=2.0, fit_intercept=False
    ).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(Z), ridge.predict(Z), atol=1e-7)
    process = GaussianProcessRegressor(clone(kernel), alpha=0.25, optimizer=None).fit(X, sign)
    np.testing.assert_allclose(process.predict(Z), ridge.predict(Z), atol=1e-6)
    gram = kernel(X)
    rls = RLSClassifier(kernel="precomputed").fit(gram, y)
    assert rls.score(gram, y) > 0.8


def test_bad_parameters_get_clear_errors():
    X = rows()
    with pytest.raises(ValueError, match="at=X"):
        RepresenterKernel(RBF(), [Derivative()], 0.1)(X)
    with pytest.raises(ValueError, match="nu=-1"):
        RepresenterKernel(RBF(), [Derivative()], -1, at=X)(X)


class Counted(Derivative):
    """Derivatives that count how often they are computed."""

    n_calls = 0

    def terms(self, X):
        Counted.n_calls += 1
        return super().terms(X)


def test_functionals_are_eliminated_once_and_not_pickled():
    X = rows()
    kernel = RepresenterKernel(RBF(0.4), [Counted()], 0.2, at=X)
    unused = len(pickle.dumps(kernel))
    Counted.n_calls = 0
    kernel(X)
    kernel(X[:4], X)
    kernel.diag(X)
    assert Counted.n_calls == 1
    assert len(pickle.dumps(kernel)) == unused


@pytest.mark.parametrize("kind", [list, tuple])
def test_changing_a_parameter_changes_the_kernel(kind):
    X = rows()
    kernel = RepresenterKernel(RBF(0.4), kind([Derivative()]), 0.2, at=X)
    before = kernel(X)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(kernel))(X), before)
    kernel.set_params(base__gamma=0.6)
    assert np.abs(kernel(X) - before).max() > 1e-3
    kernel.set_params(base__gamma=0.4)
    np.testing.assert_allclose(kernel(X), before)
    kernel.set_params(nu=2.0)
    assert np.abs(kernel(X) - before).max() > 1e-3
    kernel.set_params(nu=0.2, base=RBF(0.8))
    assert np.abs(kernel(X) - before).max() > 1e-3
    kernel.set_params(base=RBF(0.4), at=X[:4])
    assert np.abs(kernel(X) - before).max() > 1e-3


@pytest.mark.parametrize("kernel", [RBF(0.7), Polynomial(2)], ids=repr)
def test_changes_keep_the_contract(kernel):
    images = np.random.RandomState(0).rand(3, 9)
    check_functional(Change(Translation(1)), kernel, images)
    check_functional(Laplacian(2), kernel, rows(6))


def test_changes_vanish_for_invariant_functions():
    X = np.random.RandomState(0).rand(5, 4)
    flip = Reflection(shape=(1, 4))
    change = Representers(RBF(0.5), [Change(flip)], X)
    pair = Representers(RBF(0.5), [Value()], [X[0], flip.orbit(X[:1])[0, 1]])
    np.testing.assert_allclose(change.dot([1.0, 1.0], pair)[0], 0, atol=1e-12)
    assert abs(change.dot([1.0, -1.0], pair)[0]) > 0.01
    with pytest.raises(ValueError, match="changes nothing"):
        Change(Identity()).terms(X)
    with pytest.raises(TypeError, match="not a Family"):
        Change("flip").terms(X)


def test_the_squared_root_of_the_laplacian_is_the_laplacian():
    X = rows(10, 2)
    for options in ({}, {"weights": "binary", "normalize": False}, {"power": 2}):
        laplacian = Laplacian(3, **options)
        root = laplacian.terms(X)[0].weights
        power = options.get("power", 1)
        truth = np.linalg.matrix_power(laplacian.matrix(X), power)
        np.testing.assert_allclose(root.T @ root, truth, atol=1e-10)
    plain = Laplacian(3, weights="binary", normalize=False).matrix(X)
    edges = Representers(RBF(), [Difference(3)], X).parts[0][0].weights
    np.testing.assert_allclose(plain, (edges.T @ edges).toarray(), atol=1e-12)
    with pytest.raises(ValueError, match="choose one of heat, binary"):
        Laplacian(3, weights="cosine").matrix(X)
    with pytest.raises(ValueError, match="n_neighbors=10"):
        Laplacian(10).matrix(X)


def test_columns_are_those_of_the_gram_matrix():
    X = rows(5)
    for kernel in (RBF(0.3), Polynomial(3)):
        representers = Representers(kernel, [Value(), Derivative(), Difference(2)], X)
        indices = np.array([0, 7, 3, 19, len(representers) - 1])
        np.testing.assert_allclose(
            representers.columns(indices), representers.gram()[:, indices], atol=1e-10
        )


def test_a_row_far_from_all_others_has_no_edges():
    X = np.vstack([rows(300, 2), [[1e6, 0.0]]])
    matrix = Laplacian(3).matrix(X)
    assert np.isfinite(matrix).all()
    assert not matrix[-1].any()


def test_rows_may_be_lists():
    one = Representers(RBF(), [Value()], [[1.0, 3.0]])
    assert len(one) == 1
    assert one.at([[1.0, 3.0]]) == pytest.approx(1)
    assert one.function([2.0], [[1.0, 3.0]]) == pytest.approx(2)


def test_a_large_nu_that_cannot_be_solved_is_reported():
    X = 10 * rows(30)
    with pytest.raises(ValueError, match="lower nu"):
        RepresenterKernel(Polynomial(3), [Derivative()], 1e15, at=X)(X)
    z = Representers(RBF(0.4), [Derivative()], rows(30))
    solver = Elimination(z, max_iter=3, max_factored=0)
    with pytest.warns(ConvergenceWarning, match="residual"):
        solver.kernels(rows(4), rows(4), [1e3])


def test_blocks_respect_the_working_memory():
    """A difference needs its two rows only; many rows are processed in blocks."""
    X = rows(3000, 2)
    z = Representers(RBF(), [Value()], X)
    tracemalloc.start()
    column = z.columns([7])
    pair = Representers(RBF(), [Difference(edges=[[0, 1]])], X).gram()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6
    np.testing.assert_allclose(column[:, 0], RBF()(X, X[7:8])[:, 0])
    assert pair[0, 0] == pytest.approx(2 - 2 * RBF()(X[:1], X[1:2])[0, 0])
    kernel = RepresenterKernel(RBF(), [Derivative()], 0.1, at=X[:200])
    with config_context(working_memory=2):
        assert kernel(X, X[:3]).shape == (3000, 3)
