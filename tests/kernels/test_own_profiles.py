"""User-defined kernels with a profile only: products and fits agree with dense algebra."""

import numpy as np
import pytest

from invarlearn import InvSVC, InvSVR, OrbitSVC
from invarlearn.functionals import Derivative, LocalAverage, Representers, Tangent, Value
from invarlearn.kernels import (
    RBF,
    DotKernel,
    Exponential,
    Matern,
    OrbitKernel,
    Polynomial,
    RadialKernel,
    RationalQuadratic,
)
from invarlearn.testing import check_functional, check_kernel
from invarlearn.transforms import Custom, Rotation, Translation


def inverse_profile(kernel, s, order):
    """Return 1 / (1 + gamma s) or a derivative."""
    base = 1 + kernel.gamma * s
    return [base**-1, -kernel.gamma * base**-2, 2 * kernel.gamma**2 * base**-3][order]


class OfRBF(RBF):
    """1 / (1 + gamma |x - y|^2), as a subclass of a kernel with another profile."""

    profile = inverse_profile


class OfRadial(RadialKernel):
    """The same, as a subclass of the base class."""

    def __init__(self, gamma=1.0):
        self.gamma = gamma

    profile = inverse_profile


class Inverse:
    """The profile alone."""

    profile = inverse_profile


class OfMixin(Inverse, RBF):
    """The same, with a profile that comes from another base."""


class Tilted(RBF):
    """A Gaussian with shortcuts of its own."""

    def gradient(self, X, Y, V):
        return super().gradient(X, Y, V)

    def channel_products(self, grid):
        products = super().channel_products(grid)
        gamma = self.gamma
        products.finish = lambda fits, squares: np.exp(gamma * (2 * fits - squares))
        return products


class OfTilted(Tilted):
    """The same, below shortcuts that hold for the Gaussian only."""

    profile = inverse_profile


class Cosine(DotKernel):
    """cosh <x, y>."""

    def profile(self, s, order):
        return [np.cosh, np.sinh, np.cosh][order](s)


INVERSE = [OfRBF(0.5), OfRadial(0.5), OfMixin(0.5), OfTilted(0.5)]
KERNELS = [*INVERSE, RationalQuadratic(0.5, 2.0), Matern(0.3, 1.5), Matern(0.3, 2.5)]
KERNELS += [Cosine(), Exponential(0.3), Polynomial(3, 0.3), RBF(0.5)]


def rows(n=30, d=3, seed=0):
    return np.random.RandomState(seed).standard_normal((n, d))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_with_own_profiles_keep_the_contract(kernel):
    check_kernel(kernel, rows(6), rows(4, seed=1))
    if not isinstance(kernel, Matern):
        check_functional(Derivative(), kernel, rows(5))


def test_a_method_that_a_base_class_adds_is_not_inherited_from_another_profile():
    class Based(RadialKernel):
        """A base class for every profile, with a further method."""

        def at_zero(self):
            return self.profile(np.zeros(1), 0)[0]

    class Shifted(Based):
        def profile(self, s, order):
            return np.exp(-s) + 1 if order == 0 else (-1) ** order * np.exp(-s)

        def at_zero(self):
            return 2.0

    class Gaussian(Shifted):
        def profile(self, s, order):
            return (-1) ** order * np.exp(-s)

    assert Shifted().at_zero() == 2.0
    assert Gaussian().at_zero() == 1.0


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_predictions_agree_with_the_dense_gram_matrix(kernel):
    X, Z = rows(), rows(8, seed=1)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    svc = InvSVC([Derivative()], kernel=kernel, lam=5.0, nu=0.1).fit(X, y)
    dense = Representers(kernel, [Value()], Z).gram(svc.representers_)
    truth = dense @ svc.coef_[0] + svc.intercept_[0]
    np.testing.assert_allclose(svc.decision_function(Z), truth, atol=1e-9 * np.abs(truth).max())


@pytest.mark.parametrize("kernel", INVERSE, ids=repr)
def test_fits_do_not_depend_on_how_a_profile_is_defined(kernel):
    """All are the rational quadratic kernel with alpha = 1, which the library has too."""
    X, Z = rows(), rows(8, seed=1)
    y = X[:, 0] * X[:, 1]
    options = {"lam": 5.0, "nu": 0.1, "penalty": "squared"}
    ours = InvSVR([Derivative()], kernel=kernel, **options).fit(X, y)
    built_in = InvSVR([Derivative()], kernel=RationalQuadratic(0.5), **options).fit(X, y)
    np.testing.assert_allclose(ours.predict(Z), built_in.predict(Z), atol=1e-8)
    np.testing.assert_allclose(ours.coef_, built_in.coef_, atol=1e-8)


def test_tangent_slopes_shrink_with_their_penalty():
    """Slopes by the Gram matrix, for kernels other than the Gaussian."""
    X = np.random.RandomState(0).rand(12, 25)
    y = np.arange(12) % 2
    tangent = Tangent(Translation(1) * Rotation(10))
    for kernel in (RationalQuadratic(0.3), Matern(0.3), Exponential(0.1)):
        sizes = []
        for nu in (1e-3, 10.0):
            svc = InvSVC([tangent], kernel=kernel, lam=10.0, nu=nu).fit(X, y)
            slopes = Representers(kernel, [tangent], X).dot(svc.coef_[0], svc.representers_)
            sizes.append(float((slopes**2).mean()))
        assert sizes[1] < 0.2 * sizes[0]


class OfPolynomial(Polynomial):
    """A user-defined profile that subclasses a kernel with averages in closed form."""

    def profile(self, s, order):
        return 2 * super().profile(s, order)


@pytest.mark.parametrize("kernel", [OfRBF(0.5), Matern(), OfPolynomial()], ids=repr)
def test_only_kernels_with_a_closed_form_are_averaged(kernel):
    """A user-defined profile does not inherit the closed form of the Gaussian."""
    assert not kernel.supports_blur
    assert not kernel.supports_averages
    assert kernel.profile_orders == 2
    with pytest.raises(TypeError, match="supports_blur or supports_averages, such as RBF"):
        Representers(kernel, [LocalAverage(0.3)], rows(4))
    with pytest.raises(TypeError, match="no closed form"):
        kernel.blurred(0.1, 3)


@pytest.mark.parametrize("family", [Translation(1), Translation(None, wrap=True)], ids=repr)
def test_orbits_are_pooled_for_any_profile(family):
    X = np.random.RandomState(0).rand(6, 25)
    for base in (OfRBF(0.5), OfRadial(0.5), RationalQuadratic(0.5), Cosine(), Matern(0.5)):
        ours = OrbitKernel(base, family, normalize=True).to_orbits(X[:3], X[3:])
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        orbits = family.orbit(X[3:])
        orbits /= np.linalg.norm(orbits, axis=2, keepdims=True)
        truth = np.array([[base(x[None], orbit).max() for orbit in orbits] for x in unit[:3]])
        np.testing.assert_allclose(ours, truth, atol=1e-10)


@pytest.mark.parametrize("base", [Cosine(), Polynomial(2, coef0=0.0)], ids=repr)
def test_the_best_fit_of_an_even_profile_is_at_the_largest_inner_product(base):
    """Not at the largest value, which is at the negative inner product -2."""
    kernel = OrbitKernel(base, Custom([np.negative]))
    np.testing.assert_allclose(kernel.to_orbits([[1.0]], [[-2.0]]), base([[1.0]], [[2.0]]))
    kernel = OrbitKernel(base, Custom([lambda X: -X / 2]))
    np.testing.assert_allclose(kernel.to_orbits([[1.0]], [[-2.0]]), base([[1.0]], [[1.0]]))


class Wave(RadialKernel):
    """A kernel that declares that it is not monotone in the distance."""

    is_definite = False
    best_at_largest_inner_product = False

    def profile(self, s, order):
        return [np.cos(s), -np.sin(s), -np.cos(s)][order]


@pytest.mark.parametrize("pooling", ["max", "mean", "softmax"])
def test_a_kernel_that_is_not_monotone_is_pooled_by_its_values(pooling):
    X = 2 * np.random.RandomState(0).rand(6, 16)
    family = Translation(None, wrap=True)
    check_kernel(Wave(), X, X[:4])
    values = Wave()(X[:3], family.orbit(X[3:]).reshape(-1, 16)).reshape(3, 3, -1)
    ours = OrbitKernel(Wave(), family, pooling, sharpness=0.0).to_orbits(X[:3], X[3:])
    truth = values.max(axis=2) if pooling == "max" else values.mean(axis=2)
    np.testing.assert_allclose(ours, truth, atol=1e-10)


def test_estimators_accept_kernels_by_name_and_as_objects():
    X, y = rows(40), (rows(40)[:, 0] > 0).astype(int)
    for name, kernel in (("matern", Matern(0.2)), ("rational_quadratic", RationalQuadratic(0.2))):
        named = InvSVC([Derivative()], kernel=name, gamma=0.2).fit(X, y)
        same = InvSVC([Derivative()], kernel=kernel).fit(X, y)
        np.testing.assert_allclose(named.decision_function(X), same.decision_function(X))
        assert OrbitSVC(kernel=name, gamma=0.2).fit(X, y).score(X, y) > 0.9


def test_a_named_kernel_declares_parameters_that_estimators_have():
    with pytest.raises(
        ValueError, match=r"Bent has \['alpha'\]: it may contain \['coef0', 'degree'"
    ):

        class Bent(RadialKernel):
            name = "bent"
            name_parameters = ("alpha",)
