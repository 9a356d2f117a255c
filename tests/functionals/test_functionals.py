"""Representers of functionals against differences, quadrature and dense matrices."""

import numpy as np
import pytest

from invarlearn.functionals import (
    Derivative,
    Difference,
    Functional,
    Gradients,
    LocalAverage,
    Representers,
    Slopes,
    Tangent,
    Value,
    Values,
)
from invarlearn.functionals.gram_blocks import gram_block
from invarlearn.kernels import (
    RBF,
    Exponential,
    Linear,
    LocalPolynomial,
    Matern,
    Polynomial,
    RationalQuadratic,
)
from invarlearn.testing import check_functional
from invarlearn.transforms import Identity, Rotation, Scaling, Translation

KERNELS = [
    RBF(0.7),
    RationalQuadratic(0.7, 1.5),
    Matern(0.3, 1.5),
    Matern(0.3, 2.5),
    Polynomial(3, 0.5),
    Polynomial(2, 1.0, 0.0),
    Polynomial(1),
    Linear(2.0),
    Exponential(0.3),
]


class SlopeAcross(Functional):
    """A user-defined functional: the slope at a row towards the next one, less half its value."""

    def terms(self, X):
        n = len(X)
        return [
            Slopes(X, np.arange(n), np.roll(X, -1, axis=0) - X),
            Values(X, -0.5 * np.eye(n)),
        ]


def rows(n=6, d=3, seed=0):
    return np.random.RandomState(seed).standard_normal((n, d))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize(
    "functional", [Value(), Derivative(), Difference(2), SlopeAcross()], ids=repr
)
def test_functionals_keep_the_contract(functional, kernel):
    # differences converge slowly where second derivatives have a kink, as those of nu=1.5
    kink = getattr(kernel, "nu", None) == 1.5
    check_functional(functional, kernel, rows(), tol=5e-3 if kink else 1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("normalize", [True, False])
def test_tangents_keep_the_contract(kernel, normalize):
    images = np.random.RandomState(0).rand(3, 25) / 5
    family = Translation(1) * Rotation(10) * Scaling(1.1)
    kink = getattr(kernel, "nu", None) == 1.5
    tangent = Tangent(family, normalize=normalize)
    check_functional(tangent, kernel, images, tol=5e-3 if kink else 1e-6)


@pytest.mark.parametrize("theta", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("d", [1, 3])
def test_local_averages_keep_the_contract(theta, d):
    check_functional(LocalAverage(theta), RBF(0.5), rows(4, d))


def test_the_paper_s_local_average_does_not():
    """E1: the printed inner products are not those of the functional, nor semidefinite."""
    X, sigma, theta = rows(5, 3), 1.0, 0.5
    right = Representers(RBF(0.5), [LocalAverage(theta)], X).gram()

    def gauss(s):
        squares = ((X[:, None] - X) ** 2).sum(axis=2)
        return np.exp(-squares / (2 * s**2))

    s1, s2 = np.sqrt(sigma**2 + theta**2), np.sqrt(sigma**2 + 2 * theta**2)
    corrected = gauss(sigma) + (sigma / s2) ** 3 * gauss(s2) - 2 * (sigma / s1) ** 3 * gauss(s1)
    np.testing.assert_allclose(right, corrected, atol=1e-12)
    # standard deviations added instead of variances
    wrong = gauss(sigma) + (sigma / (sigma + 2 * theta)) ** 3 * gauss(sigma + 2 * theta)
    wrong -= 2 * (sigma / (sigma + theta)) ** 3 * gauss(sigma + theta)
    assert np.abs(wrong - right).max() > 0.1


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_different_functionals_share_one_gram_matrix(kernel):
    X, Z = rows(5, 4), rows(4, 4, 1)
    kinds = [Value(), Derivative(), Difference(2), SlopeAcross()]
    if kernel.supports_blur:
        kinds.append(LocalAverage(0.3))
    ours, theirs = Representers(kernel, kinds, X), Representers(kernel, kinds, Z)
    gram = ours.gram()
    np.testing.assert_allclose(gram, gram.T, atol=1e-10)
    assert np.linalg.eigvalsh(gram)[0] > -1e-8 * np.abs(gram).max()
    c = np.random.RandomState(2).standard_normal(len(theirs))
    cross = ours.gram(theirs)
    scale = np.abs(cross).max()
    np.testing.assert_allclose(ours.dot(c, theirs), cross @ c, atol=1e-10 * scale)
    np.testing.assert_allclose(theirs.gram(ours), cross.T, atol=1e-12 * scale)


def test_partial_derivatives_are_equations_7_and_8():
    X = rows(4, 3)
    sigma = 1.3
    gram = Representers(RBF(1 / (2 * sigma**2)), [Derivative()], X).gram().reshape(4, 3, 4, 3)
    for i, j in [(0, 0), (0, 3), (2, 1)]:
        apart = X[i] - X[j]
        k = np.exp(-(apart**2).sum() / (2 * sigma**2))
        truth = k / sigma**4 * (sigma**2 * np.eye(3) - np.outer(apart, apart))
        np.testing.assert_allclose(gram[i, :, j], truth, atol=1e-12)
    r = 4
    gram = Representers(Polynomial(r), [Derivative()], X).gram().reshape(4, 3, 4, 3)
    for i, j in [(0, 0), (0, 3), (2, 1)]:
        s = X[i] @ X[j] + 1
        truth = r * s ** (r - 2) * ((r - 1) * np.outer(X[j], X[i]) + s * np.eye(3))
        np.testing.assert_allclose(gram[i, :, j], truth, rtol=1e-10, atol=1e-10)


def test_squared_differences_are_the_graph_laplacian():
    X = rows(8, 2)
    edges = np.array([[0, 1], [1, 2], [5, 7]])
    weights = np.array([1.0, 2.0, 0.5])
    differences = Representers(RBF(0.5), [Difference(edges=edges, weights=weights)], X)
    a = np.random.RandomState(0).standard_normal(8)
    f = RBF(0.5)(X) @ a
    values = Representers(RBF(0.5), [Value()], X)
    squared = (differences.dot(a, values) ** 2).sum()
    truth = weights @ (f[edges[:, 0]] - f[edges[:, 1]]) ** 2
    assert squared == pytest.approx(truth)
    joined = Difference(3).terms(X)[0].weights
    assert (np.abs(joined).sum(axis=1) == 2).all()
    assert (joined.sum(axis=1) == 0).all()


def test_products_need_no_dense_matrix():
    import tracemalloc

    X = rows(400, 60)
    representers = Representers(RBF(0.01), [Derivative()], X)
    c = np.random.RandomState(0).standard_normal(len(representers))
    tracemalloc.start()
    representers.dot(c)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # the Gram matrix would take 24,000 x 24,000 x 8 bytes = 4.6 GB
    assert peak < 50e6
    with pytest.raises(MemoryError, match="dot"):
        representers.gram()


def test_products_take_time_linear_in_the_features():
    from time import perf_counter

    def seconds(d):
        representers = Representers(RBF(0.01), [Derivative()], rows(200, d))
        c = np.ones(len(representers))
        times = []
        for _ in range(7):
            start = perf_counter()
            representers.dot(c)
            times.append(perf_counter() - start)
        return min(times)

    # 16 times the features: the dense matrix would take 256 times the time
    assert seconds(1600) < 64 * seconds(100)


@pytest.mark.parametrize(
    ("kernel", "dimension"), [(Linear(), 2), (Polynomial(1), 3), (Polynomial(3), 10)]
)
def test_spaces_of_polynomial_kernels_have_finite_dimension(kernel, dimension):
    """Theorem 3: the Gram matrix of any number of rows has a bounded rank."""
    X = rows(60, 2)
    assert np.linalg.matrix_rank(kernel(X), tol=1e-8) == dimension
    # so functionals at any rows are combinations of finitely many values
    functionals = Representers(kernel, [Value(), Derivative(), SlopeAcross()], [X, X, X])
    assert np.linalg.matrix_rank(functionals.gram(), tol=1e-6) == dimension


def test_functionals_may_have_different_rows():
    X, Z = rows(5, 3), rows(7, 3, 1)
    both = Representers(RBF(), [Value(), Derivative()], [X, Z])
    assert len(both) == 5 + 7 * 3
    direct = gram_block(RBF(), Values(X, np.eye(5)), Gradients(Z))
    np.testing.assert_allclose(both.gram()[:5, 5:], direct)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X: Representers(LocalPolynomial(), [Value()], X), "has no derivatives"),
        (lambda X: Representers(Matern(), [LocalAverage()], X), "no closed form"),
        (lambda X: Representers(RBF(), [LocalAverage(0)], X), "theta=0"),
        (lambda X: Representers(RBF(), [Tangent("shift")], X), "is not a Family"),
        (lambda X: Representers(RBF(), [Tangent(Identity())], X), "has no tangents"),
        (lambda X: Representers(RBF(), [Difference(9)], X), "below the number of rows"),
        (lambda X: Representers(RBF(), [Difference(edges=[[0, 9]])], X), "pairs of rows"),
        (
            lambda X: Representers(RBF(), [Difference(edges=[[0, 1]], weights=[-1.0])], X),
            "none negative",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_bad_input_gets_clear_errors(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make(rows(5, 4))


def test_the_contract_check_finds_a_wrong_functional():
    class Wrong(Functional):
        """A derivative that claims to be twice as large when it is combined."""

        def terms(self, X):
            return [Doubled(X, np.arange(len(X)), np.ones_like(X))]

    class Doubled(Slopes):
        def spread(self, coefficients):
            return None, 2 * super().spread(coefficients)[1]

    with pytest.raises(AssertionError, match="dot"):
        check_functional(Wrong(), RBF(), rows(4, 2))


@pytest.mark.parametrize("kind", ["values", "slopes", "gradients"])
def test_terms_apply_to_functions_as_they_read_values_and_gradients(kind):
    """The function is f(x) = x' A x."""
    X, A = rows(4, 3), rows(3, 3)
    terms = {
        "values": Values(X, rows(5, 4)),
        "slopes": Slopes(X, np.array([0, 2, 2, 3, 1]), rows(5, 3)),
        "gradients": Gradients(X),
    }
    applied = terms[kind].apply(
        lambda Z: np.einsum("nd,de,ne->n", Z, A, Z)[:, None],
        lambda Z, V, order: np.einsum("nd,nd->n", Z @ (A + A.T), V)[:, None],
    )
    values, gradients = np.einsum("nd,de,ne->n", X, A, X), X @ (A + A.T)
    np.testing.assert_allclose(applied[:, 0], terms[kind].read(values, gradients))


def test_terms_check_themselves():
    class Weighted(Values):
        kind = "weighted"

        def check(self):
            super().check()
            if (self.weights < 0).any():
                raise ValueError("weights must not be negative")

    class Own(Functional):
        def __init__(self, term):
            self.term = term

        def terms(self, X):
            return [self.term]

    X = rows(4, 3)
    for term, message in (
        (Values(X, np.ones((2, 3))), r"weights of Values have shape \(2, 3\)"),
        (Slopes(X, np.arange(4), np.ones((3, 3))), r"directions of Slopes have shape \(3, 3\)"),
        (Weighted(X, -np.ones((2, 4))), "must not be negative"),
    ):
        with pytest.raises(ValueError, match=message):
            Representers(RBF(), [Own(term)], X)
    with pytest.raises(TypeError, match="must be Values, Slopes, Gradients or HigherSlopes"):
        Representers(RBF(), [Own(X)], X)
    with pytest.raises(TypeError, match="inner products of Weighted and Weighted are not"):
        Representers(RBF(), [Own(Weighted(X, np.ones((2, 4))))], X).gram()
