"""All shifts at once: against the loop over elements, which is tested against brute force."""

import tracemalloc

import numpy as np
import pytest
from scipy.fft import irfft2, rfft2
from sklearn import config_context
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

from invarlearn.kernels import RBF, Linear, LocalPolynomial, OrbitKernel, Polynomial
from invarlearn.kernels.orbit._fft import LANES, correlations, factors_of, roots_of
from invarlearn.kernels.orbit.kernel import choose_engine
from invarlearn.kernels.orbit.listed import ListedEngine
from invarlearn.kernels.orbit.spectral import (
    SpectralEngine,
    shift_terms,
    smooth_length,
    spectral_engine,
)
from invarlearn.transforms import CyclicShift, Reflection, Rotation, Shear, Translation
from invarlearn.transforms.shifts import factor_shifts

SHAPE = (7, 9)
FAMILIES = [
    Translation(2, shape=SHAPE),
    Translation(2, fill="edge", shape=SHAPE),
    Translation(None, wrap=True, shape=SHAPE),
    Translation(None, step=3, wrap=True, shape=SHAPE),
    Translation(2, wrap=True, shape=SHAPE) * Rotation(20, shape=SHAPE),
    Translation(2) * Rotation(30, shape=SHAPE) * Shear(0.3),
    Translation(1, wrap=True) * Reflection(shape=SHAPE),
]
BASES = [
    Linear(1 / 63),
    Polynomial(3, 0.1),
    RBF(0.05),
    LocalPolynomial((3,), (2, 3), shape=SHAPE),
    LocalPolynomial((4,), (2, 3), padding="valid", shape=SHAPE),
    LocalPolynomial((3,), (2, 2), padding="wrap", average=False, shape=SHAPE),
]


def both(kernel, X, Y):
    settings, shifts = kernel.settings(), factor_shifts(kernel.family.elements(X.shape[1]))
    spectral = SpectralEngine(settings, shifts, shift_terms(settings, shifts))
    listed = ListedEngine(settings, Y[:1])
    return spectral.pool(X, spectral.prepare(Y)), listed.pool(X, listed.prepare(Y))


@pytest.mark.parametrize(("dtype", "close"), [(float, 1e-10), (np.float32, 1e-5)])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("base", BASES, ids=repr)
@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_equals_the_loop_over_elements(family, base, normalize, dtype, close):
    """For images that are not square, nonzero at the border, more rows than lanes, zero rows."""
    rng = np.random.RandomState(0)
    X, Y = rng.randn(5, 63).astype(dtype), rng.randn(LANES + 6, 63).astype(dtype)
    X[1], Y[3] = 0, 0
    for pooling in ("max", "mean", "softmax"):
        kernel = OrbitKernel(base, family, pooling, normalize)
        if shift_terms(kernel.settings(), factor_shifts(family.elements(63))) is None:
            assert isinstance(base, LocalPolynomial)
            assert normalize or base.padding == "wrap"
            return
        ours, truth = both(kernel, X, Y)
        assert ours.dtype == dtype
        assert np.abs(ours - truth).max() < close * np.abs(truth).max()


@pytest.mark.parametrize(
    ("step", "shape", "size"),
    [(4, (12, 20), (3, 5)), (3, (9, 18), (3, 6)), (2, (8, 7), (4, 7)), (2, (1, 14), (1, 7))],
)
@pytest.mark.parametrize("base", BASES, ids=repr)
def test_cyclic_shifts_with_a_step_need_smaller_transforms(base, step, shape, size):
    if isinstance(base, LocalPolynomial):
        if shape[0] == 1 or (base.padding == "wrap" and min(shape) < 5):
            pytest.skip("windows do not fit")
        base = clone(base).set_params(shape=shape)
    family = Translation(None, step=step, wrap=True, shape=shape)
    rng = np.random.RandomState(0)
    X, Y = (rng.rand(n, shape[0] * shape[1]) for n in (3, LANES + 2))
    kernel = OrbitKernel(base, family)
    settings, shifts = kernel.settings(), factor_shifts(family.elements(X.shape[1]))
    assert SpectralEngine(settings, shifts, shift_terms(settings, shifts)).size == size
    np.testing.assert_allclose(*both(kernel, X, Y), rtol=1e-10)


def test_channels_and_signals():
    rng = np.random.RandomState(0)
    X, Y = rng.rand(4, 54), rng.rand(5, 54)
    shape = (6, 3, 3)
    for base in (RBF(0.1), LocalPolynomial((3,), (2, 2), shape=shape)):
        kernel = OrbitKernel(base, Translation(1, wrap=True, shape=shape))
        np.testing.assert_allclose(*both(kernel, X, Y), rtol=1e-10)
    kernel = OrbitKernel(Polynomial(2), CyclicShift())
    np.testing.assert_allclose(*both(kernel, X, Y), rtol=1e-10)


@pytest.mark.parametrize("sides", [(8, 12), (9, 10), (7, 49), (11, 13), (1, 22), (2, 3), (64, 5)])
def test_the_transform_equals_that_of_scipy(sides):
    height, width = sides
    rng = np.random.RandomState(0)
    X, Y = rng.randn(3, 2, height, width), rng.randn(LANES, 2, height, width)
    left, right = (rfft2(Z).transpose(0, 1, 3, 2) for Z in (X, Y))
    left = np.ascontiguousarray(left / (height * width)).view(float).reshape(3, 2, -1, 2)
    parts = np.stack([right.real, right.imag], axis=-2).reshape(LANES, 2, -1, 2, height)
    places = parts.transpose(1, 2, 4, 3, 0).reshape(1, 2, -1, 2 * LANES)
    every = np.empty((3, height * width, LANES))
    plan = (factors_of(height), roots_of(height, float), factors_of(width), roots_of(width, float))
    lags = (np.arange(height), np.arange(width))
    none = np.empty((0, 0))
    correlations(
        left,
        np.ascontiguousarray(places),
        np.empty((0, 0, 0)),
        lags,
        plan,
        (none, none),
        none,
        every,
    )
    products = (rfft2(X)[:, None] * rfft2(Y).conj()).sum(axis=2)
    truth = irfft2(products, s=sides).reshape(3, LANES, -1).transpose(0, 2, 1)
    np.testing.assert_allclose(every, truth, atol=1e-10)


def test_lengths_split_into_radices():
    for n in range(1, 200):
        assert np.prod(factors_of(n)) == n
        smooth = smooth_length(n)
        assert smooth >= n
        assert set(factors_of(smooth).tolist()) <= {2, 3, 4, 5, 7}


def engine_of(base, family, n_features=784, **options):
    kernel = OrbitKernel(base, family, **options)
    return type(choose_engine(kernel.settings(), np.zeros((1, n_features)))).__name__


def test_the_kernel_chooses_its_engine():
    everywhere = Translation(None, wrap=True)
    assert engine_of(RBF(), everywhere) == "SpectralEngine"
    assert engine_of(LocalPolynomial(), Translation(7)) == "SpectralEngine"
    assert engine_of(LocalPolynomial(), Translation(7) * Rotation(5)) == "SpectralEngine"
    # few shifts, no shifts, other degrees, features in between
    assert engine_of(RBF(), Translation(1)) == "ListedEngine"
    assert engine_of(RBF(), Rotation(15)) == "ListedEngine"
    assert engine_of(LocalPolynomial(degrees=(3, 2)), everywhere) == "ListedEngine"
    assert engine_of(LocalPolynomial((3, 3), (2, 2, 2)), everywhere) == "ListedEngine"
    assert engine_of(RBF(), everywhere, features=FunctionTransformer()) == "ListedEngine"
    # a sequence of prime length 997 has no fast transform
    assert engine_of(RBF(), CyclicShift(), 1000) == "SpectralEngine"
    assert engine_of(RBF(), CyclicShift(), 997) == "ListedEngine"
    # windows that wrap do not match shifts with zero fill
    wrapped = LocalPolynomial(padding="wrap")
    assert engine_of(wrapped, Translation(7)) == "ListedEngine"
    assert engine_of(wrapped, Translation(7, wrap=True)) == "SpectralEngine"


def test_a_wide_orbit_needs_no_list_of_transformed_rows():
    """All shifts of 100 x 100 pixels: 400 MB a row, if they were listed."""
    X = np.random.RandomState(0).rand(3, 10000).astype(np.float32)
    kernel = OrbitKernel(Linear(), Translation(None, wrap=True))
    assert spectral_engine(kernel.settings(), 10000) is not None
    shifted = np.roll(X.reshape(-1, 100, 100), (31, 77), axis=(1, 2)).reshape(3, -1)
    kernel(X[:1])
    tracemalloc.start()
    gram = kernel(X, shifted)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(gram, kernel(X), rtol=1e-5)
    assert peak < 200 * 2**20


def test_spectra_beyond_working_memory_fall_back_on_the_list():
    """Spectra of many canvases and distances, of 64 rows at a time, are large."""
    kernel = OrbitKernel(LocalPolynomial(), Translation(7) * Rotation(5, n_steps=5))
    assert type(choose_engine(kernel.settings(), np.zeros((1, 784)))).__name__ == "SpectralEngine"
    with config_context(working_memory=64):
        assert type(choose_engine(kernel.settings(), np.zeros((1, 784)))).__name__ == "ListedEngine"
