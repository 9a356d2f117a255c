"""Base kernels against scikit-learn, derivatives against differences and closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels as gaussian_process
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import pairwise
from sklearn.svm import SVC

from invarlearn.kernels import (
    RBF,
    DotKernel,
    Exponential,
    Linear,
    LocalPolynomial,
    Matern,
    Polynomial,
    RadialKernel,
    RationalQuadratic,
    resolve_kernel,
)
from invarlearn.kernels.radial import squared_distances
from invarlearn.testing import check_kernel

KERNELS = [
    Linear(),
    Linear(gamma=0.1),
    Polynomial(),
    Polynomial(degree=1, gamma=0.5),
    Polynomial(degree=2, coef0=0.0),
    Polynomial(degree=8, gamma=0.1),
    Exponential(gamma=0.2),
    RBF(),
    RBF(gamma=0.05),
    RationalQuadratic(),
    RationalQuadratic(gamma=0.3, alpha=2.5),
    Matern(gamma=0.3, nu=1.5),
    Matern(gamma=0.3),
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
    length = 1.3
    gamma = 1 / (2 * length**2)
    for alpha in (0.4, 1.0, 7.0):
        theirs = gaussian_process.RationalQuadratic(length, alpha)
        np.testing.assert_allclose(RationalQuadratic(gamma, alpha)(X, Y), theirs(X, Y))
    for nu in (1.5, 2.5):
        theirs = gaussian_process.Matern(length, nu=nu)
        np.testing.assert_allclose(Matern(gamma, nu)(X, Y), theirs(X, Y))
        np.testing.assert_allclose(Matern(gamma, nu)(X), theirs(X))
    np.testing.assert_allclose(Exponential(0.3)(X, Y), np.exp(0.3 * X @ Y.T))
    # normalised to one, it is the Gaussian of half the gamma
    roots = np.sqrt(Exponential(0.3).diag(X))[:, None] * np.sqrt(Exponential(0.3).diag(Y))
    np.testing.assert_allclose(Exponential(0.3)(X, Y) / roots, RBF(0.15)(X, Y))


def test_rational_quadratic_and_matern_tend_to_the_gaussian(rows):
    X, Y = rows
    np.testing.assert_allclose(RationalQuadratic(0.3, 1e7)(X, Y), RBF(0.3)(X, Y), atol=1e-6)
    apart = [np.abs(Matern(0.3, nu)(X, Y) - RBF(0.3)(X, Y)).max() for nu in (1.5, 2.5)]
    assert apart[1] < apart[0] < 0.2


@pytest.mark.parametrize("nu", [1.5, 2.5])
def test_matern_kernels_have_their_derivatives_at_distance_zero(nu):
    """The mixed derivative there is 2 gamma nu / (nu - 1) <v, w>; slopes are 0."""
    X, V, W = np.random.RandomState(0).randn(3, 5, 4)
    kernel = Matern(0.3, nu)
    assert np.isfinite(kernel.profile(np.zeros(3), 2)).all()
    for Y in (X, X + 1e-9):
        mixed = np.diag(kernel.mixed(X, Y, V, W))
        limit = 0.6 * nu / (nu - 1) * (V * W).sum(axis=1)
        np.testing.assert_allclose(mixed, limit, rtol=1e-6)
        assert np.abs(np.diag(kernel.gradient(X, Y, V))).max() < 1e-7


def test_distances_of_equal_rows_are_zero_and_of_near_ones_exact():
    X = 1e3 + np.random.RandomState(0).randn(20, 30)
    Y = np.vstack([X[:10], X[10:] + 1e-6])
    squared = squared_distances(X, Y)
    assert (np.diag(squared)[:10] == 0).all()
    exact = ((X[10:] - Y[10:]) ** 2).sum(axis=1)
    np.testing.assert_allclose(np.diag(squared)[10:], exact, rtol=1e-6)
    truth = ((X[:, None] - Y) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared, truth, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "kernel"),
    [
        ({"kernel": "rbf", "gamma": 0.3}, "RBF(gamma=0.3)"),
        ({"kernel": "linear", "gamma": 0.3}, "Linear()"),
        ({"kernel": "linear", "gamma": "unknown"}, "Linear()"),
        ({"kernel": "poly", "gamma": 0.3, "degree": 2}, "Polynomial(degree=2, gamma=0.3)"),
        ({"kernel": "matern", "gamma": 0.3}, "Matern(gamma=0.3)"),
        ({"kernel": Matern(nu=1.5)}, "Matern(nu=1.5)"),
    ],
)
def test_estimators_resolve_their_kernel(options, kernel):
    assert repr(resolve_kernel(X=np.eye(2), **options)) == kernel


def test_gamma_follows_from_the_rows():
    X = np.random.RandomState(0).randn(9, 3)
    assert resolve_kernel("rbf", X, gamma="scale").gamma == pytest.approx(1 / (3 * X.var()))
    median = np.median(np.sqrt(squared_distances(X, X)[np.triu_indices(9, 1)]))
    assert resolve_kernel("matern", X, gamma="median").gamma == pytest.approx(1 / (2 * median**2))
    assert resolve_kernel("rbf", np.ones((3, 2)), gamma="scale").gamma == 1


def test_kernels_that_cannot_be_resolved_get_clear_errors():
    with pytest.raises(ValueError, match=r"kernel='gauss' is unknown.*rbf.*matern"):
        resolve_kernel("gauss", np.eye(2))
    with pytest.raises(ValueError, match="gamma='wide' is unknown"):
        resolve_kernel("rbf", np.eye(2), gamma="wide")
    with pytest.raises(ValueError, match="has the name 'rbf' of RBF"):

        class Other(RadialKernel):
            name = "rbf"


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    d=st.integers(1, 6),
    kernel=st.sampled_from(KERNELS),
)
def test_derivatives_agree_with_complex_steps(seed, d, kernel):
    """Complex steps have no cancellation: they are exact to rounding."""
    rng = np.random.RandomState(seed)
    x, y, v, w = rng.randn(4, 1, d)
    h = 1e-20

    def value(a, b):
        s = ((a - b) ** 2 if kernel.uses_norms else a * b).sum(keepdims=True)
        return kernel.profile(s, 0)[0, 0]

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


def test_scikit_learn_accepts_kernels():
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
        (lambda: Matern(nu=0.5)([[1.0]]), "nu=0.5 is not supported"),
        (lambda: RationalQuadratic(alpha=0)([[1.0]]), "alpha=0"),
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


class _WrongGradient(RBF):
    def gradient(self, X, Y, V):
        return 2 * super().gradient(X, Y, V)


class _WrongFirst(RadialKernel):
    def profile(self, s, order):
        return [1 / (1 + s), -1 / (1 + s), 2 / (1 + s) ** 3][order]


class _WrongSecond(DotKernel):
    def profile(self, s, order):
        return np.exp(s) if order < 2 else 2 * np.exp(s)


class _WrongProduct(RBF):
    def expand_block(self, *args):
        values, gradients = super().expand_block(*args)
        return 1.5 * values, gradients


class _WrongBlur(RBF):
    def blurred(self, variance, n_features):
        return 1.0, RBF(self.gamma)


class _OtherValues(RBF):
    def values(self, X, Y):
        return 1 / (1 + squared_distances(X, X if Y is None else Y))

    def diag(self, X):
        return np.ones(len(X), dtype=X.dtype)


class _Rising(RadialKernel):
    is_definite = False

    def profile(self, s, order):
        return [np.cos(s), -np.sin(s), -np.cos(s)][order]


class _Falling(DotKernel):
    is_definite = False

    def profile(self, s, order):
        return (-1) ** order * np.exp(-s)


class _NoFits(RBF):
    def from_fits(self, fits, squares):
        return np.zeros_like(fits)


class _ClaimsFits(LocalPolynomial):
    best_at_largest_inner_product = True
    uses_norms = False


class _RemembersNorms(RBF):
    """``from_fits`` takes the norms of the last rows, so that it holds for these rows only."""

    def values(self, X, Y):
        self.squares = (np.asarray(X) ** 2).sum(axis=1)[:, None]
        return super().values(X, Y)

    def from_fits(self, fits, squares):
        return super().from_fits(fits, self.squares[: len(fits)])


class _HalfChannels(Linear):
    def channel_products(self, grid):
        products = super().channel_products(grid)
        products.left = lambda images: images.transpose(0, 3, 1, 2) / 2
        return products


class _ClippedChannels(Linear):
    """The channels of y are linear for these rows only."""

    def channel_products(self, grid):
        products = super().channel_products(grid)
        products.right = lambda images: np.minimum(images.transpose(0, 3, 1, 2), 2.5)
        return products


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (_Falling(), "decreases with positive inner products: set best_at_largest_inner_product"),
        (_NoFits(), r"from_fits differs from k\(x, y\)"),
        (_ClaimsFits((1,), (2, 1), shape=(1, 4)), "there is no from_fits"),
        (_RemembersNorms(), "differs from the value at the largest inner product of the orbit"),
        (_HalfChannels(), r"channel_products\(.*\) differs from k\(x, y\)"),
        (_ClippedChannels(), "right is not linear"),
        (_Lopsided(), "not symmetric"),
        (_Indefinite(), "negative eigenvalue"),
        (_WrongGradient(), "gradient differs"),
        (_WrongFirst(), r"profile\(s, 1\) is not the derivative of profile\(s, 0\): at s="),
        (_WrongSecond(), r"profile\(s, 2\) is not the derivative of profile\(s, 1\): at s="),
        (_WrongProduct(), "expansion of coefficients.*values differ from the Gram matrix"),
        (_WrongBlur(), "blurred differs from quadrature"),
        (_OtherValues(), "values differ from profile"),
        (_Rising(), "set best_at_largest_inner_product = False"),
        ("rbf", "is not a Kernel"),
    ],
)
def test_the_contract_check_finds_broken_kernels(kernel, message, rows):
    with pytest.raises(AssertionError, match=message):
        check_kernel(kernel, *rows)
