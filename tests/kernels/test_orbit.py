"""Orbit kernels against loops over pairs and transformations."""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.decomposition import PCA, KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_info

from invarlearn._utils.parallel import single_threaded
from invarlearn.features import OrientedGradients
from invarlearn.kernels import RBF, Linear, LocalPolynomial, OrbitKernel, Polynomial
from invarlearn.kernels.orbit.kernel import choose_engine
from invarlearn.kernels.orbit.listed import ListedEngine
from invarlearn.testing import check_kernel
from invarlearn.transforms import (
    Custom,
    CyclicShift,
    FeatureScaling,
    Identity,
    Permutation,
    Reflection,
    Rotation,
    Scaling,
    Translation,
)

BASES = [Linear(), Polynomial(3, gamma=0.5), RBF(0.7), LocalPolynomial((3,), (2, 2))]
FAMILIES = [
    Identity(),
    Translation(None, wrap=True),
    Translation(1),
    Rotation(20) * Scaling(1.2),
    Reflection(1) | Translation(1, wrap=True),
]


def unit(v):
    norm = np.linalg.norm(v)
    return v / norm if norm > 0 else v


def brute_force(kernel, X, Y):
    """Loop over pairs and transformations, in double precision."""
    base, family = kernel.base, kernel.family
    tidy = unit if kernel.normalize else (lambda v: v)

    def pooled(x, orbit):
        k = np.array([base(tidy(x)[None], tidy(t)[None])[0, 0] for t in orbit])
        if kernel.pooling == "max":
            return k.max()
        weight = np.exp(kernel.sharpness * (k - k.max()) / (np.abs(k).max() or 1.0))
        return (weight * k).sum() / weight.sum()

    orbit_x, orbit_y = family.orbit(X), family.orbit(Y)
    out = np.empty((len(X), len(Y)))
    for i in range(len(X)):
        for j in range(len(Y)):
            if kernel.pooling == "mean":
                left = np.array([tidy(s) for s in orbit_x[i]])
                right = np.array([tidy(t) for t in orbit_y[j]])
                out[i, j] = base(left, right).mean()
            else:
                out[i, j] = (pooled(X[i], orbit_y[j]) + pooled(Y[j], orbit_x[i])) / 2
    return out


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("pooling", ["max", "mean", "softmax"])
@pytest.mark.parametrize("family", FAMILIES, ids=repr)
@pytest.mark.parametrize("base", BASES, ids=repr)
def test_equals_brute_force(base, family, pooling, normalize):
    rng = np.random.RandomState(0)
    X, Y = rng.rand(3, 25), rng.rand(4, 25)
    Y[0] = 0
    kernel = OrbitKernel(base, family, pooling, normalize)
    truth = brute_force(kernel, X, Y)
    np.testing.assert_allclose(kernel(X, Y), truth, rtol=1e-10, atol=1e-10)
    single = kernel(X.astype(np.float32), Y.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, truth, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "kernel",
    [
        OrbitKernel(RBF(2.0), Translation(1) * Rotation(15), "max", True),
        OrbitKernel(Polynomial(8, gamma=1 / 36), Translation(2, wrap=True)),
        OrbitKernel(Linear(), Translation(1), "mean"),
        OrbitKernel(RBF(0.5), Rotation(20) * Scaling(1.1), "mean", True),
        OrbitKernel(RBF(0.5), Translation(None, wrap=True), "softmax"),
        OrbitKernel(LocalPolynomial((3,), (2, 2)), Translation(1), "max"),
    ],
    ids=repr,
)
def test_keeps_the_contract(kernel):
    rng = np.random.RandomState(0)
    check_kernel(kernel, rng.rand(8, 36), rng.rand(5, 36))


def test_blocks_do_not_change_the_values():
    rng = np.random.RandomState(0)
    X, Y = rng.rand(20, 64), rng.rand(1100, 64)
    for pooling in ("max", "mean", "softmax"):
        kernel = OrbitKernel(RBF(0.5), Translation(1) * Rotation(10), pooling, True)
        whole = kernel(X, Y)
        for parts in (slice(0, 7), slice(7, 20)):
            np.testing.assert_allclose(kernel(X[parts], Y), whole[parts], rtol=1e-12)
        with config_context(working_memory=1):
            np.testing.assert_allclose(kernel(X, Y), whole, rtol=1e-12)


def test_memory_is_bounded():
    rng = np.random.RandomState(0)
    X = rng.rand(300, 784).astype(np.float32)
    kernel = OrbitKernel(RBF(2.0), Translation(3) * Rotation(15, n_steps=5), normalize=True)
    orbit_bytes = 300 * 245 * 784 * 4
    kernel(X[:3])
    tracemalloc.start()
    with config_context(working_memory=64):
        kernel(X[:50], X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6 < orbit_bytes


@pytest.mark.parametrize("pooling", ["max", "mean", "softmax"])
def test_group_orbits_make_the_kernel_invariant(pooling):
    rng = np.random.RandomState(0)
    X, Y = rng.rand(4, 12), rng.rand(5, 12)
    for family in (CyclicShift(), Permutation(block=4)):
        kernel = OrbitKernel(RBF(0.5), family, pooling)
        moved = family.sample(1, random_state=3)(X)[:, 0]
        np.testing.assert_allclose(kernel(moved, Y), kernel(X, Y), rtol=1e-10)
        np.testing.assert_allclose(kernel(Y, moved), kernel(Y, X), rtol=1e-10)


def test_softmax_goes_from_the_mean_to_the_maximum():
    rng = np.random.RandomState(0)
    X = rng.rand(5, 12)
    pooled = {
        name: OrbitKernel(RBF(0.5), CyclicShift(), name, sharpness=s)(X)
        for name, s in (("max", 1.0), ("mean", 1.0))
    }
    flat = OrbitKernel(RBF(0.5), CyclicShift(), "softmax", sharpness=0.0)(X)
    sharp = OrbitKernel(RBF(0.5), CyclicShift(), "softmax", sharpness=1e5)(X)
    np.testing.assert_allclose(flat, pooled["mean"])
    np.testing.assert_allclose(sharp, pooled["max"], rtol=1e-6)


def test_negative_products_do_not_win_through_an_even_degree():
    """The polynomial of the best fit, not the best of the polynomials."""
    x, y = np.array([[3.0, -1.0]]), np.array([[-2.0, -1.0]])
    kernel = OrbitKernel(Polynomial(2), CyclicShift())
    best = max(x[0] @ y[0], x[0] @ y[0][::-1])
    assert best == -1
    assert kernel(x, y)[0, 0] == (1 + best) ** 2 == 0
    assert max((1 + x[0] @ y[0]) ** 2, (1 + x[0] @ y[0][::-1]) ** 2) == 16


def test_average_fit_of_the_linear_kernel_is_the_product_of_means():
    """With x'y / m it is the product of the mean pixels, and no factor m."""
    rng = np.random.RandomState(0)
    X = rng.rand(4, 36)
    kernel = OrbitKernel(Linear(gamma=1 / 36), Translation(None, wrap=True), "mean")
    np.testing.assert_allclose(kernel(X), np.outer(X.mean(1), X.mean(1)))


def test_features_come_between_transformation_and_kernel():
    rng = np.random.RandomState(0)
    X, Y = rng.rand(3, 16), rng.rand(2, 16)
    root = FunctionTransformer(np.sqrt)
    kernel = OrbitKernel(RBF(0.5), Translation(1), features=root)
    orbit_x, orbit_y = np.sqrt(Translation(1).orbit(X)), np.sqrt(Translation(1).orbit(Y))
    for i in range(3):
        for j in range(2):
            there = RBF(0.5)(np.sqrt(X[i : i + 1]), orbit_y[j]).max()
            back = RBF(0.5)(np.sqrt(Y[j : j + 1]), orbit_x[i]).max()
            assert kernel(X, Y)[i, j] == pytest.approx((there + back) / 2)


def test_an_orbit_that_does_not_fit_is_refused():
    with pytest.raises(MemoryError, match="use a smaller family"):
        OrbitKernel(RBF(), Translation(3, step=0.001))(np.ones((2, 16)))
    # 9 elements of 16,000 features, of a transformer that does not say how many it returns
    wide = FunctionTransformer(lambda X: np.tile(X, 1000))
    kernel = OrbitKernel(RBF(), Translation(1), features=wide)
    assert kernel(np.ones((2, 16))).shape == (2, 2)
    with config_context(working_memory=1), pytest.raises(MemoryError, match="the orbit of one row"):
        kernel(np.ones((2, 16)))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (OrbitKernel(RBF(), Translation(1), features=3), "has no transform"),
        (OrbitKernel("rbf", Translation(1)), "is not a Kernel"),
        (OrbitKernel(RBF(), "translation"), "is not a Family"),
        (OrbitKernel(RBF(), Translation(1), "median"), "pooling='median' is unknown"),
        (OrbitKernel(RBF(), Translation(1), "softmax", sharpness=-1), "sharpness=-1"),
        (OrbitKernel(RBF(), Translation(1, shape=(4, 5))), "20 features, but X has 16"),
        (OrbitKernel(RBF(), FeatureScaling()), "cannot be listed"),
    ],
)
def test_bad_settings_get_clear_errors(kernel, message):
    with pytest.raises((TypeError, ValueError), match=message):
        kernel(np.ones((2, 16)))


def test_to_orbits_transforms_only_the_second_rows():
    rng = np.random.RandomState(0)
    X, Y = rng.rand(4, 25), rng.rand(3, 25)
    family = Rotation(20) * Translation(1)
    kernel = OrbitKernel(RBF(0.5), family, normalize=False)
    orbit = family.orbit(Y)
    distances = ((X[:, None, None] - orbit[None]) ** 2).sum(axis=3)
    np.testing.assert_allclose(kernel.to_orbits(X, Y), np.exp(-0.5 * distances.min(axis=2)))
    both = (kernel.to_orbits(X, Y) + kernel.to_orbits(Y, X).T) / 2
    np.testing.assert_allclose(kernel(X, Y), both)
    average = OrbitKernel(RBF(0.5), family, "mean")
    np.testing.assert_allclose(average.to_orbits(X, Y), average(X, Y))


def test_threads_do_not_change_the_values():
    X = np.random.RandomState(0).rand(70, 784).astype(np.float32)
    kernels = [
        OrbitKernel(RBF(3.0), Translation(1) * Rotation(15), normalize=True),
        OrbitKernel(Linear(), Translation(None, wrap=True)),
        OrbitKernel(LocalPolynomial(), Translation(3, wrap=True)),
    ]
    with single_threaded():
        expected = [kernel(X) for kernel in kernels]
    for kernel, values in zip(kernels, expected, strict=True):
        np.testing.assert_array_equal(kernel(X), values)


def test_single_precision_survives_an_offset():
    """Distances of rows far from zero, in single precision, in both engines."""
    rng = np.random.RandomState(0)
    X = 100 + rng.rand(6, 100)
    for family in (Translation(None, wrap=True, shape=(10, 10)), Rotation(20, shape=(10, 10))):
        kernel = OrbitKernel(RBF(0.1), family)
        if family.n_elements == 100:
            assert type(choose_engine(kernel.settings(), X)).__name__ == "SpectralEngine"
        close = 1e-3 if family.n_elements == 100 else 5e-3
        np.testing.assert_allclose(kernel(X.astype(np.float32)), kernel(X), atol=close)


def test_identity_features_do_not_let_rows_change():
    X = np.random.RandomState(0).rand(5, 25)
    before = X.copy()
    same = FunctionTransformer()
    kernel = OrbitKernel(RBF(), Translation(1), normalize=True, features=same)
    np.testing.assert_allclose(kernel(X), OrbitKernel(RBF(), Translation(1), "max", True)(X))
    np.testing.assert_array_equal(X, before)


def test_cached_output_of_features_is_not_changed():
    X = np.random.RandomState(0).rand(5, 25)
    kept = {}

    def remembered(rows):
        return kept.setdefault(rows.tobytes(), rows + 1.0)

    for normalize in (False, True):
        kernel = OrbitKernel(
            RBF(), Translation(1), normalize=normalize, features=FunctionTransformer(remembered)
        )
        np.testing.assert_array_equal(kernel(X), kernel(X))
    sparse = OrbitKernel(features=FunctionTransformer(csr_array))
    with pytest.raises(TypeError, match="it must return a dense array"):
        sparse(X)


def test_nearly_blank_shifted_images_count_as_blank():
    """A faint remainder does not count once everything else is shifted out, in any engine."""
    X = np.zeros((1, 784))
    X[0, 300:400] = 1
    X[0, -1] = -1e-4
    other = np.zeros((1, 784))
    other[0, 0] = -1
    family = Translation(27)
    kernel = OrbitKernel(Linear(), family, normalize=True)
    listed = ListedEngine(kernel.settings(), X)
    assert type(choose_engine(kernel.settings(), X)).__name__ == "SpectralEngine"
    pooled = listed.pool(other, listed.prepare(X))
    np.testing.assert_allclose(kernel.to_orbits(other, X), pooled, atol=1e-10)
    assert abs(pooled) < 1e-10


def test_memory_of_averages_is_bounded():
    X = np.random.RandomState(0).rand(1500, 16).astype(np.float32)
    kernel = OrbitKernel(RBF(), Translation(1), "mean")
    kernel(X[:20])
    tracemalloc.start()
    kernel(X, X[::-1])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * X.shape[0] ** 2 * 4 + 100 * 2**20


def test_blas_threads_are_restored():
    X = np.random.RandomState(0).rand(80, 64)
    kernel = OrbitKernel(RBF(), Translation(1) * Rotation(15), normalize=True)

    def threads():
        return [i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"]

    before = threads()
    with ThreadPoolExecutor(4) as pool:
        grams = list(pool.map(lambda _: kernel(X), range(12)))
    assert threads() == before
    for gram in grams:
        np.testing.assert_allclose(gram, grams[0], rtol=1e-12)


def test_functions_that_return_nan_are_named():
    kernel = OrbitKernel(RBF(), Custom([lambda X: X * np.nan]), normalize=True)
    with pytest.raises(ValueError, match=r"transformation 1 \(<lambda>\) returns numbers"):
        kernel(np.ones((2, 9)))


def small_images(n=24, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.rand(n, 36)
    return X, (X[:, :18].sum(axis=1) > X[:, 18:].sum(axis=1)).astype(int)


@pytest.mark.filterwarnings("ignore:The optimal value found")
@pytest.mark.parametrize("pooling", ["max", "mean"])
def test_scikit_learn_estimators_accept_orbit_kernels(pooling):
    X, y = small_images()
    rows, other = X[:16], X[16:]
    kernel = OrbitKernel(RBF(0.3), Translation(1), pooling)
    gram, cross = kernel(rows), kernel(other, rows)
    ridge = KernelRidge(kernel=kernel).fit(rows, y[:16]).predict(other)
    precomputed = KernelRidge(kernel="precomputed").fit(gram, y[:16]).predict(cross)
    np.testing.assert_allclose(ridge, precomputed, atol=1e-8)
    process = GaussianProcessRegressor(kernel, alpha=1.0).fit(rows, y[:16])
    np.testing.assert_allclose(process.predict(other), ridge, atol=1e-8)
    assert KernelPCA(2, kernel=kernel).fit_transform(X).shape == (24, 2)
    noisy = GaussianProcessRegressor(2.0 * kernel + WhiteKernel()).fit(rows, y[:16])
    assert np.isfinite(noisy.predict(other)).all()
    np.testing.assert_allclose((kernel**2)(rows), gram**2, atol=1e-9)
    classifier = GaussianProcessClassifier(kernel).fit(X, y)
    assert classifier.score(X, y) > 0.6


def test_features_survive_cross_validation():
    X, y = small_images()
    stateless = OrbitKernel(RBF(), Translation(1), features=OrientedGradients(shape=(6, 6)))
    scores = cross_val_score(SVC(kernel=stateless), X, y, cv=2, error_score="raise")
    assert np.isfinite(scores).all()
    frozen = OrbitKernel(RBF(), Translation(1), features=FrozenEstimator(PCA(3).fit(X)))
    assert np.isfinite(cross_val_score(SVC(kernel=frozen), X, y, cv=2, error_score="raise")).all()
    with pytest.raises(NotFittedError, match="FrozenEstimator"):
        OrbitKernel(RBF(), Translation(1), features=StandardScaler())(X)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("base", [Polynomial(60), LocalPolynomial((3,), (2, 60), average=False)])
def test_values_beyond_the_precision_are_refused(base):
    X = small_images()[0].astype(np.float32)
    for kernel in (base, OrbitKernel(base, Translation(1))):
        with pytest.raises(ValueError, match="too large for float32"):
            kernel(X)
        assert np.isfinite(kernel(X.astype(float))).all()
    with pytest.raises(ValueError, match="too large for float32"):
        OrbitKernel(base, Translation(1)).to_orbits(X, X)
