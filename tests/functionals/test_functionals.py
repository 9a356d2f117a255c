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
from invarlearn.functionals.base import block
from invarlearn.kernels import RBF, Linear, LocalPolynomial, Polynomial
from invarlearn.testing import check_functional
from invarlearn.transforms import Identity, Rotation, Scaling, Translation

KERNELS = [RBF(0.7), Polynomial(3, 0.5), Polynomial(2, 1.0, 0.0), Polynomial(1), Linear(2.0)]


class SlopeAcross(Functional):
    """What a user may write: the derivative at a row towards the next one, less its value."""

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
    check_functional(functional, kernel, rows())


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("normalize", [True, False])
def test_tangents_keep_the_contract(kernel, normalize):
    images = np.random.RandomState(0).rand(3, 25) / 5
    family = Translation(1) * Rotation(10) * Scaling(1.1)
    check_functional(Tangent(family, normalize=normalize), kernel, images)


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
def test_all_kinds_meet_in_one_gram_matrix(kernel):
    X, Z = rows(5, 4), rows(4, 4, 1)
    kinds = [Value(), Derivative(), Difference(2), SlopeAcross()]
    if isinstance(kernel, RBF):
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
    found = Representers(RBF(1 / (2 * sigma**2)), [Derivative()], X).gram().reshape(4, 3, 4, 3)
    for i, j in [(0, 0), (0, 3), (2, 1)]:
        apart = X[i] - X[j]
        k = np.exp(-(apart**2).sum() / (2 * sigma**2))
        truth = k / sigma**4 * (sigma**2 * np.eye(3) - np.outer(apart, apart))
        np.testing.assert_allclose(found[i, :, j], truth, atol=1e-12)
    r = 4
    found = Representers(Polynomial(r), [Derivative()], X).gram().reshape(4, 3, 4, 3)
    for i, j in [(0, 0), (0, 3), (2, 1)]:
        s = X[i] @ X[j] + 1
        truth = r * s ** (r - 2) * ((r - 1) * np.outer(X[j], X[i]) + s * np.eye(3))
        np.testing.assert_allclose(found[i, :, j], truth, rtol=1e-10, atol=1e-10)


def test_differences_make_the_graph_laplacian():
    X = rows(8, 2)
    edges = np.array([[0, 1], [1, 2], [5, 7]])
    weights = np.array([1.0, 2.0, 0.5])
    found = Representers(RBF(0.5), [Difference(edges=edges, weights=weights)], X)
    a = np.random.RandomState(0).standard_normal(8)
    f = RBF(0.5)(X) @ a
    values = Representers(RBF(0.5), [Value()], X)
    squared = (found.dot(a, values) ** 2).sum()
    truth = weights @ (f[edges[:, 0]] - f[edges[:, 1]]) ** 2
    assert squared == pytest.approx(truth)
    joined = Difference(3).terms(X)[0].weights
    assert (np.abs(joined).sum(axis=1) == 2).all()
    assert (joined.sum(axis=1) == 0).all()


def test_products_need_no_dense_matrix():
    import tracemalloc

    X = rows(400, 60)
    found = Representers(RBF(0.01), [Derivative()], X)
    c = np.random.RandomState(0).standard_normal(len(found))
    tracemalloc.start()
    found.dot(c)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # the Gram matrix would take 24,000 x 24,000 x 8 bytes = 4.6 GB
    assert peak < 50e6
    with pytest.raises(MemoryError, match="dot"):
        found.gram()


def test_functionals_at_rows_of_their_own():
    X, Z = rows(5, 3), rows(7, 3, 1)
    both = Representers(RBF(), [Value(), Derivative()], [X, Z])
    assert len(both) == 5 + 7 * 3
    direct = block(RBF(), Values(X, np.eye(5)), Gradients(Z))
    np.testing.assert_allclose(both.gram()[:5, 5:], direct)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X: Representers(LocalPolynomial(), [Value()], X), "has no derivatives"),
        (lambda X: Representers(Linear(), [LocalAverage()], X), "RBF kernels only"),
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


def test_the_contract_can_fail():
    class Wrong(Functional):
        """A derivative that claims to be twice as large when it is combined."""

        def terms(self, X):
            return [Doubled(X, np.arange(len(X)), np.ones_like(X))]

    class Doubled(Slopes):
        def spread(self, coefficients):
            return None, 2 * super().spread(coefficients)[1]

    with pytest.raises((AssertionError, ValueError)):
        check_functional(Wrong(), RBF(), rows(4, 2))
