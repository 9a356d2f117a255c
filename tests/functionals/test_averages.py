"""Local averages of kernels that are not Gaussian, against quadrature and Monte Carlo."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import ncx2

from invarlearn import InvSVC
from invarlearn.datasets import make_two_moons
from invarlearn.functionals import Derivative, LocalAverage, Representers, Value
from invarlearn.kernels import (
    RBF,
    AbsoluteExponential,
    Exponential,
    Linear,
    Matern,
    Polynomial,
    RBFMixture,
)
from invarlearn.kernels.dot import product_moments
from invarlearn.testing import check_functional, check_kernel


def rows(n=4, d=3, seed=0):
    return np.random.RandomState(seed).standard_normal((n, d))


@pytest.mark.parametrize(
    "kernel",
    [
        Polynomial(1, 0.5),
        Polynomial(2, 0.5, 0.0),
        Polynomial(5, 0.3),
        Exponential(0.2),
        Linear(2.0),
        RBFMixture([0.2, 1.5], [0.3, 0.7]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("d", [1, 3])
def test_averages_keep_the_contract(kernel, d):
    check_functional(LocalAverage(0.4), kernel, rows(4, d))


def test_moments_of_inner_products_are_those_of_samples():
    rng = np.random.RandomState(0)
    x, y, n = np.array([0.5, -1.0]), np.array([1.0, 0.3]), 400_000
    e, other = 0.7 * rng.randn(n, 2), 0.4 * rng.randn(n, 2)
    samples = np.einsum("nd,nd->n", x + e, y + other)
    moments = product_moments(x[None], y[None], 0.49, 0.16, 4)
    for power, moment in enumerate(moments):
        error = (samples**power).std() / np.sqrt(n)
        assert abs(moment[0, 0] - (samples**power).mean()) <= 4 * error


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("variance", [0.1, 3.0])
def test_averages_of_the_exponential_of_the_distance_are_exact(d, variance):
    kernel, x, y = AbsoluteExponential(0.4), np.zeros((1, d)), np.full((1, d), 0.3)
    factor, blurred = kernel.blurred(variance, d)
    # the squared distance of x + e and y has a non-central chi-squared distribution
    truth, _ = quad(
        lambda q: np.exp(-np.sqrt(0.8 * variance * q)) * ncx2.pdf(q, d, 0.09 * d / variance),
        *(0, np.inf),
        epsabs=1e-12,
        limit=500,
    )
    assert factor * blurred(x, y)[0, 0] == pytest.approx(truth, abs=1e-9)


def test_averages_of_the_exponential_of_the_distance_are_functionals():
    z = Representers(AbsoluteExponential(0.4), [Value(), LocalAverage(0.3)], rows(6))
    gram = z.gram()
    np.testing.assert_allclose(gram, gram.T, atol=1e-12)
    assert np.linalg.eigvalsh(gram)[0] > 0
    # Theorem 6: the norm is at most 2 C, with k(x, x) <= C^2 = 1
    assert np.sqrt(np.diag(gram)[6:].max()) <= 2
    c = np.random.RandomState(1).standard_normal(len(z))
    np.testing.assert_allclose(z.dot(c), gram @ c, atol=1e-12)


@pytest.mark.parametrize(
    "kernel", [AbsoluteExponential(0.4), RBFMixture([0.2, 1.5], [0.3, 0.7])], ids=repr
)
def test_kernels_keep_the_contract(kernel):
    check_kernel(kernel, rows(6), rows(4, seed=1))


def test_the_exponential_of_the_distance_is_scikit_learn_s():
    from sklearn.gaussian_process import kernels

    X, Y = rows(5), rows(3, seed=1)
    truth = kernels.Matern(length_scale=0.7, nu=0.5)(X, Y)
    gamma = 1 / (2 * 0.7**2)
    np.testing.assert_allclose(AbsoluteExponential(gamma)(X, Y), truth, rtol=1e-12)
    s = np.linspace(0.1, 3, 7)
    for order in (1, 2):
        profile = AbsoluteExponential(gamma).profile
        slope = (profile(s + 1e-6, order - 1) - profile(s - 1e-6, order - 1)) / 2e-6
        np.testing.assert_allclose(profile(s, order), slope, rtol=1e-6)


@pytest.mark.parametrize(
    "kernel", [AbsoluteExponential(2.0), Polynomial(5), Exponential(0.5)], ids=repr
)
def test_averages_can_be_penalised(kernel):
    moons = make_two_moons(60, 6, noise=0.05, random_state=0)
    sizes = []
    for nu in (0.0, 1.0, 100.0):
        svc = InvSVC(LocalAverage(0.2), kernel=kernel, lam=10.0, nu=nu).fit(
            moons.X, moons.y_partial
        )
        z = Representers(kernel, [LocalAverage(0.2)], moons.X)
        sizes.append(np.abs(z.dot(svc.coef_[0], svc.representers_)).max())
    assert sizes[0] > sizes[1] > sizes[2]


@pytest.mark.parametrize(
    ("kernel", "functionals", "message"),
    [
        (Matern(), [LocalAverage()], "supports_blur or supports_averages"),
        (Polynomial(), [LocalAverage(), Derivative()], "cannot be combined"),
        (AbsoluteExponential(), [Derivative()], "have no derivatives"),
    ],
)
def test_bad_input_gets_clear_errors(kernel, functionals, message):
    with pytest.raises(TypeError, match=message):
        Representers(kernel, functionals, rows())


def test_averages_and_derivatives_of_two_representers_get_a_clear_error():
    averages = Representers(Polynomial(), [LocalAverage()], rows())
    derivatives = Representers(Polynomial(), [Derivative()], rows())
    for use in (
        lambda: averages.gram(derivatives),
        lambda: derivatives.gram(averages),
        lambda: derivatives.dot(np.ones(len(averages)), averages),
    ):
        with pytest.raises(TypeError, match="local averages and derivatives cannot be combined"):
            use()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBFMixture([1.0, 2.0], [1.0])(rows()), "of equal length"),
        (lambda: RBFMixture([-1.0])(rows()), "must not be negative"),
        (
            lambda: Representers(Exponential(3.0), [LocalAverage(1.0)], rows()).gram(),
            "is infinite: lower theta or gamma",
        ),
    ],
)
def test_bad_numbers_get_clear_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_blurs_of_a_mixture_are_those_of_its_parts():
    factor, blurred = RBFMixture([0.5], [1.0]).blurred(0.3, 3)
    other_factor, other = RBF(0.5).blurred(0.3, 3)
    X = rows()
    np.testing.assert_allclose(factor * blurred(X), other_factor * other(X), rtol=1e-12)
