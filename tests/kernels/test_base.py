"""Base kernels against scikit-learn, derivatives against differences and closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import pairwise
from sklearn.svm import SVC

from invarlearn.kernels import RBF, Linear, Polynomial
from invarlearn.testing import check_kernel

KERNELS = [
    Linear(),
    Linear(gamma=0.1),
    Polynomial(),
    Polynomial(degree=1, gamma=0.5),
    Polynomial(degree=2, coef0=0.0),
    Polynomial(degree=8, gamma=0.1),
    RBF(),
    RBF(gamma=0.05),
]


@pytest.fixture
def rows():
    rng = np.random.RandomState(0)
    return rng.randn(7, 4), rng.randn(5, 4)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_kernel_keeps_the_contract(kernel, rows):
    check_kernel(kernel, *rows)


def test_values_are_those_of_scikit_learn(rows):
    X, Y = rows
    np.testing.assert_allclose(Linear()(X, Y), pairwise.linear_kernel(X, Y))
    ours = Polynomial(degree=4, gamma=0.3, coef0=2.0)(X, Y)
    np.testing.assert_allclose(ours, pairwise.polynomial_kernel(X, Y, 4, 0.3, 2.0))
    np.testing.assert_allclose(RBF(0.3)(X, Y), pairwise.rbf_kernel(X, Y, 0.3))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    d=st.integers(1, 6),
    kernel=st.sampled_from(KERNELS),
)
def test_derivatives_agree_with_complex_steps(seed, d, kernel):
    """Differences have no cancellation with a complex step: exact to rounding."""
    rng = np.random.RandomState(seed)
    x, y, v, w = rng.randn(4, 1, d)
    h = 1e-20

    def value(a, b):
        if isinstance(kernel, RBF):
            return np.exp(-kernel.gamma * ((a - b) ** 2).sum())
        return kernel.profile((a * b).sum(keepdims=True), 0)[0, 0]

    slope = np.imag(value(x + 1j * h * v, y)) / h
    assert kernel.gradient(x, y, v)[0, 0] == pytest.approx(slope, rel=1e-9, abs=1e-12)
    t = 1e-5
    second = (kernel.gradient(x, y + t * w, v)[0, 0] - kernel.gradient(x, y - t * w, v)[0, 0]) / (
        2 * t
    )
    scale = 1 + abs(second) + abs(kernel.gradient(x, y, v)[0, 0])
    assert kernel.mixed(x, y, v, w)[0, 0] == pytest.approx(second, rel=1e-5, abs=1e-6 * scale)


def test_tangent_products_have_their_closed_forms():
    """K/sigma^4 [sigma^2 v.w + h h'] and -K h / sigma^2, with h = v.(x - y), h' = w.(y - x)."""
    rng = np.random.RandomState(1)
    X, Y, V, W = rng.randn(4, 6, 5)
    sigma = 1.7
    kernel = RBF(gamma=1 / (2 * sigma**2))
    K = kernel(X, Y)
    h = (V[:, None] * (X[:, None] - Y[None])).sum(2)
    h_back = (W[None] * (Y[None] - X[:, None])).sum(2)
    np.testing.assert_allclose(kernel.gradient(X, Y, V), -K * h / sigma**2)
    expected = K / sigma**4 * (sigma**2 * (V @ W.T) + h * h_back)
    np.testing.assert_allclose(kernel.mixed(X, Y, V, W), expected, atol=1e-12)
    r = 3
    S = X @ Y.T + 1
    polynomial = r * (r - 1) * S ** (r - 2) * (V @ Y.T) * (X @ W.T) + r * S ** (r - 1) * (V @ W.T)
    np.testing.assert_allclose(Polynomial(r).mixed(X, Y, V, W), polynomial)


def test_joint_gram_of_values_and_derivatives_is_semidefinite():
    rng = np.random.RandomState(2)
    X, V = rng.randn(2, 12, 4)
    for kernel in KERNELS:
        cross = kernel.gradient(X, X, V)
        joint = np.block([[kernel(X), cross.T], [cross, kernel.mixed(X, X, V, V)]])
        values = np.linalg.eigvalsh(joint)
        assert values[0] > -1e-9 * values[-1]


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_single_precision_survives_an_offset(offset):
    X = np.random.RandomState(0).rand(20, 50).astype(np.float32) + np.float32(offset)
    exact = RBF(0.1)(X.astype(float))
    single = RBF(0.1)(X)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, exact, rtol=1e-4)


def test_scikit_learn_takes_them_as_kernels(rows):
    X = np.random.RandomState(0).randn(60, 3)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    for kernel, named in ((RBF(0.5), {"kernel": "rbf", "gamma": 0.5}), (Polynomial(3), None)):
        named = named or {"kernel": "poly", "degree": 3, "gamma": 1.0, "coef0": 1.0}
        ours, theirs = SVC(kernel=kernel).fit(X, y), SVC(**named).fit(X, y)
        np.testing.assert_allclose(
            ours.decision_function(X), theirs.decision_function(X), atol=1e-4
        )
    gram = RBF(0.5)(X)
    ridge = KernelRidge(kernel="precomputed").fit(gram, y).predict(gram)
    np.testing.assert_allclose(ridge, KernelRidge(kernel="rbf", gamma=0.5).fit(X, y).predict(X))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RBF(gamma=-1)([[1.0]]), "gamma=-1 must be a number, at least 0"),
        (lambda: RBF(gamma="scale")([[1.0]]), "gamma='scale' must be a number"),
        (lambda: Polynomial(degree=0)([[1.0]]), "degree=0"),
        (lambda: Polynomial(coef0=-1.0)([[1.0]]), "coef0=-1.0"),
        (lambda: Linear()([[1.0]], [[1.0, 2.0]]), "X has 1 features and Y has 2"),
        (lambda: Linear()([[np.nan]]), "X contains NaN"),
        (lambda: RBF().gradient([[1.0]], [[1.0]], [[1.0, 2.0]]), "directions have shape"),
    ],
)
def test_bad_input_gets_clear_errors(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


class _Lopsided(RBF):
    def __call__(self, X, Y=None):
        values = super().__call__(X, Y)
        return values + 0.01 * np.arange(values.shape[1])


class _Indefinite(Linear):
    def __call__(self, X, Y=None):
        return -super().__call__(X, Y)

    def diag(self, X):
        return -super().diag(X)


class _WrongSlope(RBF):
    def gradient(self, X, Y, V):
        return 2 * super().gradient(X, Y, V)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (_Lopsided(), "not symmetric"),
        (_Indefinite(), "negative eigenvalue"),
        (_WrongSlope(), "gradient differs"),
        ("rbf", "is not a Kernel"),
    ],
)
def test_the_suite_finds_what_is_broken(kernel, message, rows):
    with pytest.raises(AssertionError, match=message):
        check_kernel(kernel, *rows)
