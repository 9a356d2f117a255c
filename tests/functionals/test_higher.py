"""Derivatives of any order, weights of rows and secants, against finite differences and sums."""

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.model_selection import GridSearchCV, cross_val_score

from invarlearn import InvSVC, InvSVR
from invarlearn.functionals import (
    Change,
    Constant,
    Coordinates,
    Derivative,
    Difference,
    Functional,
    Gradients,
    HigherDerivative,
    LocalAverage,
    Representers,
    Secant,
    Slopes,
    Tangent,
    Value,
    Weighted,
)
from invarlearn.kernels import RBF, Exponential, Linear, Matern, Polynomial, RBFMixture
from invarlearn.testing import check_functional
from invarlearn.transforms import Reflection, Rotation, Translation

SMOOTH = [RBF(0.5), Polynomial(4, 0.5), Exponential(0.2), RBFMixture([0.2, 0.5]), Linear(2.0)]


def rows(n=4, d=2, seed=0):
    return np.random.RandomState(seed).standard_normal((n, d))


@pytest.mark.parametrize("kernel", SMOOTH, ids=repr)
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("mixed", [True, False])
def test_higher_derivatives_keep_the_contract(kernel, order, mixed):
    check_functional(HigherDerivative(order, mixed), kernel, rows(), tol=1e-4)


def test_second_derivatives_of_a_polynomial_are_exact():
    X = rows(3, 2)
    z = Representers(Polynomial(2, coef0=0.0), [HigherDerivative()], X)
    # k(x, y) = <x, y>^2 has the second derivatives 2 y_i y_j with respect to x
    Z = rows(5, 2, 1)
    truth = 2 * np.column_stack([Z[:, 0] ** 2, np.sqrt(2) * Z[:, 0] * Z[:, 1], Z[:, 1] ** 2])
    np.testing.assert_allclose(z.at(Z), np.tile(truth, 3), atol=1e-12)
    plain = Representers(Polynomial(2, coef0=0.0), [HigherDerivative(isotropic=False)], X)
    truth[:, 1] /= np.sqrt(2)
    np.testing.assert_allclose(plain.at(Z), np.tile(truth, 3), atol=1e-12)


def random_rotation(d, seed=0):
    return np.linalg.qr(np.random.RandomState(seed).standard_normal((d, d)))[0]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("d", [2, 3])
def test_squares_of_derivatives_do_not_depend_on_the_axes(order, d):
    X, Z, rotation = rows(3, d), rows(5, d, 1), random_rotation(d)
    derivatives, turned = (
        Representers(RBF(0.5), [HigherDerivative(order)], X @ axes).at(Z @ axes)
        for axes in (np.eye(d), rotation)
    )
    squares, turned_squares = (
        (at.reshape(len(Z), len(X), -1) ** 2).sum(axis=2) for at in (derivatives, turned)
    )
    np.testing.assert_allclose(turned_squares, squares, rtol=1e-9)


def test_penalties_on_second_derivatives_do_not_depend_on_the_axes():
    X, rotation = rows(20, 2), random_rotation(2)
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    objectives = [
        InvSVR(HigherDerivative(), gamma=0.5, loss="squared", lam=3.0, nu=0.7, tol=1e-9)
        .fit(X @ axes, y)
        .objective_[0]
        for axes in (np.eye(2), rotation)
    ]
    assert objectives[1] == pytest.approx(objectives[0], rel=1e-6)


def test_norms_of_derivatives_are_those_of_a_gaussian():
    """The functionals are bounded: d^r at a point has the norm sqrt((2 r - 1)!!) / sigma^r."""
    sigma = 1.3
    for order, double_factorial in ((1, 1), (2, 3), (3, 15)):
        z = Representers(RBF(1 / (2 * sigma**2)), [HigherDerivative(order)], np.zeros((1, 1)))
        assert z.gram()[0, 0] == pytest.approx(double_factorial / sigma ** (2 * order))


@pytest.mark.parametrize("kernel", SMOOTH[:3], ids=repr)
def test_all_orders_share_one_gram_matrix(kernel):
    X = rows(5, 3)
    kinds = [Value(), Derivative(), HigherDerivative(2), HigherDerivative(3, mixed=False)]
    z = Representers(kernel, kinds, X)
    gram = z.gram()
    scale = np.abs(gram).max()
    np.testing.assert_allclose(gram, gram.T, atol=1e-12 * scale)
    assert np.linalg.eigvalsh(gram)[0] > -1e-10 * scale
    c = np.random.RandomState(1).standard_normal(len(z))
    np.testing.assert_allclose(z.dot(c), gram @ c, atol=1e-11 * scale)
    np.testing.assert_allclose(z.columns([0, len(z) - 1]), gram[:, [0, -1]], atol=1e-12 * scale)


def test_order_one_is_the_derivative():
    first = Representers(RBF(0.5), [HigherDerivative(1)], rows()).gram()
    np.testing.assert_allclose(first, Representers(RBF(0.5), [Derivative()], rows()).gram())


def test_affine_functions_have_no_second_derivative():
    z = Representers(RBF(), [HigherDerivative()], rows())
    assert not z.of_basis(Constant()).any()
    assert not z.of_basis(Coordinates()).any()
    first = Representers(RBF(), [HigherDerivative(1)], rows())
    np.testing.assert_array_equal(first.of_basis(Coordinates()), np.tile(np.eye(2), (4, 1)))


def test_a_penalty_on_second_derivatives_is_that_of_a_generic_solver():
    rng = np.random.RandomState(0)
    X = np.sort(rng.uniform(-2, 2, (6, 1)), axis=0)
    y = np.sin(X[:, 0])
    model = InvSVR(
        HigherDerivative(), gamma=0.5, loss="squared", lam=3.0, nu=0.7, basis=Coordinates()
    ).fit(X, y)
    z = Representers(RBF(0.5), [Value(), HigherDerivative()], X)
    gram = z.gram()

    def objective(theta):
        u = gram @ theta[:12]
        residual = u[:6] + theta[12] + theta[13] * X[:, 0] - y
        return theta[:12] @ gram @ theta[:12] / 2 + 3 * residual @ residual + 0.7 * u[6:] @ u[6:]

    best = minimize(objective, np.zeros(14), method="BFGS", options={"gtol": 1e-9})
    assert model.objective_[0] == pytest.approx(best.fun, rel=1e-6)


@pytest.mark.parametrize(
    "functional",
    [Derivative(), HigherDerivative(), LocalAverage(0.3), Change(Reflection(shape=(1, 2)))],
    ids=repr,
)
def test_weights_multiply_the_functionals_of_a_row(functional):
    X, weights = rows(), np.array([1.0, 0.0, -0.5, 3.0])
    weighted = Weighted(functional, weights)
    check_functional(weighted, RBF(0.5), X, tol=1e-4)
    plain = Representers(RBF(0.5), [functional], X).gram()
    each = np.repeat(weights, len(plain) // 4)
    gram = Representers(RBF(0.5), [weighted], X).gram()
    np.testing.assert_allclose(gram, each[:, None] * plain * each, atol=1e-12)


class WeightedSlopes(Functional):
    """Weighted(Derivative(), weights) with a dense matrix of directions."""

    def __init__(self, weights):
        self.weights = weights

    def terms(self, X):
        n, d = X.shape
        directions = np.repeat(self.weights, d)[:, None] * np.tile(np.eye(d), (n, 1))
        return [Slopes(X, np.repeat(np.arange(n), d), directions)]


@pytest.mark.parametrize("kernel", [RBF(0.5), Polynomial(3, 0.5)], ids=repr)
def test_weighted_gradients_are_weighted_slopes(kernel):
    X, weights = rows(), np.array([1.0, 0.0, -0.5, 3.0])
    (term,) = Weighted(Weighted(Derivative(), weights), weights).terms(X)
    term.check()
    assert isinstance(term, Gradients)
    shift = Translation(1, shape=(1, 2))
    others = [Value(), Derivative(), Tangent(shift, smoothing=0.0), HigherDerivative()]
    gradients = Representers(kernel, [Weighted(Derivative(), weights), *others], X)
    slopes = Representers(kernel, [WeightedSlopes(weights), *others], X)
    gram = slopes.gram()
    np.testing.assert_allclose(gradients.gram(), gram, atol=1e-12)
    np.testing.assert_allclose(gradients.columns([1, 3, 7]), gram[:, [1, 3, 7]], atol=1e-12)
    c = np.random.RandomState(0).standard_normal(len(gram))
    np.testing.assert_allclose(gradients.dot(c), gram @ c, atol=1e-12)
    np.testing.assert_allclose(
        gradients.of_basis(Coordinates()), slopes.of_basis(Coordinates()), atol=1e-12
    )


def test_weighted_derivatives_need_no_more_memory_than_derivatives():
    # directions would have 200 * 300 * 300 numbers, 144 MB
    X = np.random.RandomState(0).rand(200, 300)
    tracemalloc.start()
    z = Representers(RBF(0.1), [Weighted(Derivative(), np.ones(200))], X)
    z.dot(np.ones(len(z)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10e6


def weight_of_rows(X):
    return 1 + np.abs(X[:, 0])


def test_weights_that_are_a_function_of_the_rows_can_be_cross_validated():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((30, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    given = Representers(RBF(0.5), [Weighted(Derivative(), weight_of_rows(X))], X)
    computed = Representers(RBF(0.5), [Weighted(Derivative(), weight_of_rows)], X)
    np.testing.assert_array_equal(computed.gram(), given.gram())
    svc = InvSVC(Weighted(Derivative(), weight_of_rows), gamma=0.5, lam=10.0, nu=0.1)
    assert cross_val_score(svc, X, y, cv=3, error_score="raise").min() > 0.7
    search = GridSearchCV(svc, {"nu": [0.01, 0.1]}, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.7
    svc.set_params(functionals=Weighted(Derivative(), weight_of_rows(X)))
    with pytest.raises(ValueError, match="cross-validation needs one"):
        cross_val_score(svc, X, y, cv=3, error_score="raise")


def test_functions_that_return_too_few_weights_get_a_clear_error():
    with pytest.raises(ValueError, match=r"weights have shape \(2,\): pass one finite number"):
        Weighted(Derivative(), lambda X: X[0]).terms(rows())


def test_weights_of_gradients_of_another_shape_get_a_clear_error():
    with pytest.raises(ValueError, match=r"weights of Gradients have shape \(4,\)"):
        Gradients(rows(), weights=np.ones(4)).check()


def test_secants_are_derivatives_along_differences():
    images = np.random.RandomState(0).rand(3, 25) / 5
    family = Translation(1) | Rotation(10)
    check_functional(Secant(family), RBF(0.7), images)
    # a linear function changes by its derivative
    kernel = Linear()
    secant = Representers(kernel, [Secant(family)], images)
    change = Representers(kernel, [Change(family)], images)
    np.testing.assert_allclose(secant.at(images), change.at(images), atol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "functional", "message"),
    [
        (Matern(), HigherDerivative(), "choose a kernel with more profile_orders"),
        (RBF(), HigherDerivative(0), "order=0"),
        (RBF(), Weighted(Derivative(), [1.0]), "one finite number for each of the 4 rows"),
        (RBF(), Weighted(Difference(2), np.ones(4)), "the same number at each row"),
        (RBF(), Secant("shift"), "is not a Family"),
    ],
)
def test_bad_input_gets_clear_errors(kernel, functional, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Representers(kernel, [functional], rows(4, 2, 3))


def test_a_basis_without_higher_derivatives_is_named():
    class Squares(Coordinates):
        def directional(self, X, V, order):
            return super(Coordinates, self).directional(X, V, order)

    z = Representers(RBF(), [HigherDerivative()], rows())
    with pytest.raises(TypeError, match="has no directional"):
        z.of_basis(Squares())


def test_differentiation_is_not_a_bounded_operator():
    """E2: the derivative of the representer of d^j has a norm that grows with j."""
    sigma = 1.3
    orders = [HigherDerivative(j) for j in range(1, 6)]
    z = Representers(RBF(1 / (2 * sigma**2)), orders, np.zeros((1, 1)))
    squares = np.diag(z.gram())
    ratios = squares[1:] / squares[:-1]
    np.testing.assert_allclose(ratios, [(2 * j + 1) / sigma**2 for j in range(1, 5)])


def test_a_tangent_replaces_several_virtual_samples():
    X, family = np.random.RandomState(0).rand(2, 25), Translation(2)
    n_tangents = len(Representers(RBF(), [Tangent(family)], X))
    n_samples = len(Representers(RBF(), [Change(family)], X))
    assert (n_tangents, n_samples) == (2 * 2, 2 * 24)


def test_local_averages_are_fewer_than_derivatives():
    X = rows(5, 7)
    assert len(Representers(RBF(), [LocalAverage(0.1)], X)) == 5
    assert len(Representers(RBF(), [Derivative()], X)) == 5 * 7


def test_derivatives_that_do_not_fit_are_refused():
    with pytest.raises(MemoryError, match="use mixed=False, a smaller order"):
        HigherDerivative(20).terms(np.zeros((100, 2)))
