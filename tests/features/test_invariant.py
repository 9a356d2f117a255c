"""Invariant features against loops over rows, templates and elements."""

import itertools
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin

from invarlearn import InvariantFeatures
from invarlearn._utils.parallel import single_threaded
from invarlearn.datasets import load_mnist_sample, make_xperm
from invarlearn.features import PatchFeatures
from invarlearn.features.projections import TemplateOrbits
from invarlearn.features.templates import (
    TEMPLATES_OF_DOMAIN,
    data_templates,
    gaussian_templates,
    local_templates,
    sphere_templates,
)
from invarlearn.features.thresholds import separating_quantiles
from invarlearn.transforms import (
    CyclicShift,
    FeatureScaling,
    Identity,
    Permutation,
    PitchShift,
    Rotation,
    Translation,
)
from invarlearn.transforms.domains import IMAGE, SPECTROGRAM, Domain


@pytest.fixture(scope="module")
def digits():
    return load_mnist_sample()


def brute_force(features, X):
    """Loop over rows, templates, elements and thresholds."""
    family = features.family or Identity()
    orbits = family.orbit(features.templates_.astype(float))
    out = []
    for x in X.astype(float):
        if features.normalize:
            x = x / np.linalg.norm(x)
        row = []
        for orbit, thresholds in zip(orbits, features.thresholds_.astype(float), strict=True):
            fits = np.array([x @ moved for moved in orbit])
            if features.pooling == "cdf":
                row += [np.mean(fits <= tau) for tau in thresholds]
            elif features.pooling == "histogram":
                edges = [-np.inf, *thresholds, np.inf]
                row += [np.mean((a < fits) & (fits <= b)) for a, b in itertools.pairwise(edges)]
            elif features.pooling == "max":
                row.append(fits.max())
            else:
                row.append(fits.mean())
                for power in range(2, features.n_bins + 1):
                    powers = (fits - fits.mean()) ** power
                    size = np.abs(powers).mean()
                    row.append(powers.mean() / size * size ** (1 / power) if size > 0 else 0)
        out.append(row)
    return np.array(out) * features.scale_


@pytest.mark.parametrize("pooling", ["cdf", "histogram", "moments", "max"])
@pytest.mark.parametrize("thresholds", ["quantile", "uniform", "midpoint"])
@pytest.mark.parametrize("family", [None, CyclicShift(shape=36), Translation(1) * Rotation(20)])
def test_features_equal_the_loop(pooling, thresholds, family):
    X = np.random.RandomState(0).rand(9, 36)
    features = InvariantFeatures(
        family,
        7,
        4,
        pooling=pooling,
        thresholds=thresholds,
        normalize=family is None,
        dtype="float64",
        random_state=0,
    ).fit(X)
    np.testing.assert_allclose(features.transform(X), brute_force(features, X), atol=1e-12)


def test_features_equal_the_map_of_the_paper():
    """Phi(x)_jk = sqrt(s) / (sqrt(nm) |G|) #{i: <g_i t_j, x> <= s k / n}, k = -n .. n."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((6, 12))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    n, m, epsilon = 5, 8, 0.1
    features = InvariantFeatures(
        CyclicShift(), m, n, templates="gaussian", thresholds="uniform", dtype="float64"
    ).fit(X)
    s = 1 + epsilon
    assert features.s_ == pytest.approx(s)
    phi = np.empty((6, m, 2 * n + 1))
    for j, t in enumerate(features.templates_):
        fits = np.stack([X @ np.roll(t, g) for g in range(12)], axis=1)
        for k in range(-n, n + 1):
            phi[:, j, k + n] = np.sqrt(s) / (np.sqrt(n * m) * 12) * (fits <= s * k / n).sum(axis=1)
    np.testing.assert_allclose(features.transform(X), phi.reshape(6, -1), atol=1e-12)
    assert (np.linalg.norm(features.templates_, axis=1) ** 2 < 1 + epsilon).all()


@pytest.mark.parametrize("pooling", ["cdf", "histogram", "moments", "max"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_features_are_invariant_under_groups(pooling, dtype):
    rng = np.random.RandomState(1)
    X = rng.rand(40, 20)
    cyclic = InvariantFeatures(CyclicShift(), 30, 6, pooling=pooling, dtype=dtype, random_state=0)
    shifted = np.roll(X, 7, axis=1)
    atol = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(cyclic.fit_transform(X), cyclic.transform(shifted), atol=atol)
    sequences = make_xperm(random_state=0).X[::301]
    permuted = sequences.reshape(-1, 5, 8)[:, rng.permutation(5)].reshape(sequences.shape)
    letters = InvariantFeatures(
        Permutation(block=8, shape=40), 30, 6, pooling=pooling, dtype=dtype, random_state=0
    )
    np.testing.assert_allclose(
        letters.fit_transform(sequences), letters.transform(permuted), atol=atol
    )


def test_features_without_a_family_change_under_shifts():
    X = np.random.RandomState(1).rand(40, 20)
    features = InvariantFeatures(None, 30, 6, random_state=0)
    there = np.abs(features.fit_transform(X) - features.transform(np.roll(X, 7, axis=1)))
    assert there.max() > 1e-3


def test_templates_have_their_distributions():
    rng = np.random.RandomState(0)
    gauss = gaussian_templates(4000, 50, 0.1, rng)
    squares = (gauss**2).sum(axis=1)
    assert squares.max() < 1.1
    assert abs(gauss.mean()) < 1e-3
    unlimited = gaussian_templates(4000, 50, 100.0, rng)
    assert (unlimited**2).sum(axis=1).mean() == pytest.approx(1, abs=0.02)
    sphere = sphere_templates(4000, 50, rng)
    np.testing.assert_allclose(np.linalg.norm(sphere, axis=1), 1)
    assert (sphere**2).mean() == pytest.approx(1 / 50)
    local = local_templates(500, (28, 28, 2), (3, 3), 0.8, rng).reshape(-1, 28, 28, 2)
    np.testing.assert_allclose((local**2).sum(axis=(1, 2, 3)), 1)
    # each template has nearly all of its energy in a window, and windows cover the image
    energy = (local**2).sum(axis=3)
    places = np.arange(28)
    down = (energy.sum(axis=2) * places).sum(axis=1)
    spread = (energy.sum(axis=2) * (places - down[:, None]) ** 2).sum(axis=1)
    assert np.sqrt(spread).max() < 4
    assert down.min() < 4
    assert down.max() > 23
    X = rng.rand(30, 784)
    rows = data_templates(10, X, None, None, rng)
    cosines = rows @ (X - X.mean(axis=0)).T
    norms = np.linalg.norm(X - X.mean(axis=0), axis=1)
    np.testing.assert_allclose((cosines / norms).max(axis=1), 1)
    assert data_templates(50, X, (28, 28, 1), (2, 2), rng).shape == (50, 784)


def test_narrow_templates_have_no_subnormal_numbers():
    narrow = local_templates(50, (28, 28, 1), (0.8, 0.8), 0.8, np.random.RandomState(0))
    single = narrow.astype(np.float32)
    assert np.abs(single[single != 0]).min() > np.finfo(np.float32).tiny
    assert (single == 0).mean() > 0.5
    # a window between pixels is narrow, not empty
    needle = local_templates(50, (28, 28, 1), (0.05, 0.05), 0.8, np.random.RandomState(0))
    np.testing.assert_allclose(np.linalg.norm(needle, axis=1), 1)


def test_auto_selects_templates_by_domain():
    X = np.random.RandomState(0).rand(10, 64)
    images = InvariantFeatures(Translation(1), 20, random_state=0).fit(X)
    local = InvariantFeatures(Translation(1), 20, templates="local", random_state=0).fit(X)
    np.testing.assert_array_equal(images.templates_, local.templates_)
    sound = PitchShift(100, shape=(16, 4))
    assert InvariantFeatures(sound, 20, random_state=0).fit(X).templates_.shape == (20, 64)
    rows = InvariantFeatures(CyclicShift(), 20, random_state=0).fit(X)
    white = InvariantFeatures(CyclicShift(), 20, templates="gaussian", random_state=0).fit(X)
    np.testing.assert_array_equal(rows.templates_, white.templates_)


def test_a_domain_without_default_templates_warns():
    class Volumes(Identity):
        domain = Domain("volume", ("height", "width", "depth"), "zero")

    X = np.random.RandomState(0).rand(10, 64)
    with pytest.warns(UserWarning, match="'volume'.*Gaussian templates are used") as caught:
        features = InvariantFeatures(Volumes(), 20, random_state=0).fit(X)
    assert caught[0].filename == __file__
    white = InvariantFeatures(None, 20, templates="gaussian", random_state=0).fit(X)
    np.testing.assert_array_equal(features.templates_, white.templates_)
    assert {IMAGE, SPECTROGRAM} == {
        key for key, kind in TEMPLATES_OF_DOMAIN.items() if kind == "local"
    }


def test_quantile_thresholds_use_n_projections():
    X = np.random.RandomState(0).rand(500, 16)
    few, many = (
        InvariantFeatures(None, 5, 9, n_projections=n, random_state=0).fit(X) for n in (60, 500)
    )
    np.testing.assert_array_equal(few.templates_, many.templates_)
    levels = np.arange(1, 10) / 10
    shares = (X @ many.templates_[0] <= many.thresholds_[0][:, None]).mean(axis=1)
    np.testing.assert_allclose(shares, levels, atol=2e-3)
    assert (
        np.abs((X @ few.templates_[0] <= few.thresholds_[0][:, None]).mean(axis=1) - levels).max()
        > 5e-3
    )
    with pytest.raises(ValueError, match="n_projections=0"):
        InvariantFeatures(n_projections=0).fit(X)


def test_quantiles_lie_between_values():
    values = np.repeat([1.0, 2.0, 3.0], 10)
    levels = np.array([0.1, 0.5, 0.9])
    quantiles = separating_quantiles(values, levels)
    np.testing.assert_allclose(quantiles[:2], [1.5, 2.5])
    assert quantiles[2] > 3
    spread = np.random.RandomState(0).standard_normal(1000)
    shares = (spread <= separating_quantiles(spread, levels)[:, None]).mean(axis=1)
    np.testing.assert_allclose(shares, levels, atol=2e-3)
    assert np.isfinite(separating_quantiles(np.zeros(5), levels)).all()


def test_blocks_and_threads_do_not_change_the_features(digits):
    X = digits.X_train[:70]
    features = InvariantFeatures(Translation(1) * Rotation(10), 40, 5, random_state=0).fit(X)
    whole = features.transform(X)
    assert features.projections_.orbits.is_cached
    with config_context(working_memory=1):
        small = pickle.loads(pickle.dumps(features))
        assert not small.projections_.orbits.is_cached
        np.testing.assert_allclose(small.transform(X), whole, atol=1e-6)
        assert not small.projections_.orbits.is_cached
    blocks = np.empty_like(whole)
    features.projections_.transform(X, blocks, max_rows=17)
    np.testing.assert_allclose(blocks, whole, atol=1e-6)
    with single_threaded():
        np.testing.assert_array_equal(features.transform(X), whole)


def test_memory_does_not_grow_with_rows_times_orbits(digits):
    import tracemalloc

    family = Translation(2) * Rotation(15, n_steps=5)
    features = InvariantFeatures(family, 60, 5, random_state=0).fit(digits.X_train[:50])
    features.transform(digits.X_train[:50])
    X = digits.X_train
    tracemalloc.start()
    features.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # the projections alone would take 2000 x 60 x 125 x 4 bytes = 60 MB for each buffer of a block
    assert peak < 40e6


def test_sparse_rows_and_other_outputs(digits, tmp_path):
    X = digits.X_train[:50]
    features = InvariantFeatures(Translation(1), 20, 5, random_state=0).fit(X)
    whole = features.transform(X)
    np.testing.assert_allclose(features.transform(csr_array(X)), whole, atol=1e-6)
    sparse = InvariantFeatures(Translation(1), 20, 5, random_state=0).fit(csr_array(X))
    np.testing.assert_allclose(sparse.thresholds_, features.thresholds_, rtol=1e-4, atol=1e-6)
    disk = np.lib.format.open_memmap(
        tmp_path / "features.npy", mode="w+", dtype=np.float16, shape=whole.shape
    )
    assert features.transform(X, out=disk) is disk
    np.testing.assert_allclose(np.load(tmp_path / "features.npy"), whole, atol=1e-3)
    half = InvariantFeatures(Translation(1), 20, 5, dtype="float16", random_state=0).fit(X)
    assert half.transform(X).dtype == np.float16
    with pytest.raises(ValueError, match="contiguous array of shape"):
        features.transform(X, out=np.empty((50, 3)))
    names = features.get_feature_names_out()
    assert len(names) == whole.shape[1]
    pytest.importorskip("pandas")
    frame = features.set_output(transform="pandas").transform(X)
    assert list(frame.columns) == list(names)


def test_sampled_elements_and_given_templates():
    X = np.random.RandomState(0).rand(20, 16)
    sampled = InvariantFeatures(CyclicShift(), 10, 5, n_elements=6, random_state=0).fit(X)
    assert len(sampled.projections_.orbits.action) == 6
    shares = sampled.transform(X) / sampled.scale_
    np.testing.assert_allclose(shares * 6, np.round(shares * 6), atol=1e-4)
    given = InvariantFeatures(CyclicShift(), templates=np.eye(16)[:3], n_bins=4).fit(X)
    assert given.transform(X).shape == (20, 12)
    again = InvariantFeatures(CyclicShift(), 10, 5, n_elements=6, random_state=0).fit(X)
    np.testing.assert_array_equal(again.transform(X), sampled.transform(X))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"family": "shift"}, "is not a Family"),
        ({"n_templates": 0}, "n_templates=0"),
        ({"n_bins": 2.5}, "n_bins=2.5"),
        ({"templates": "white"}, "templates='white' is unknown"),
        ({"templates": np.eye(3)}, "3 features, but X has 16"),
        ({"thresholds": "even"}, "thresholds='even' is unknown"),
        ({"pooling": "median"}, "pooling='median' is unknown"),
        ({"n_elements": 0}, "n_elements=0"),
        ({"s": -1, "thresholds": "uniform"}, "s=-1"),
        ({"dtype": "int8"}, "must be one of float16"),
        ({"family": Translation(1, shape=(5, 5))}, "25 features, but X has 16"),
        ({"family": FeatureScaling()}, "cannot be listed"),
        ({"pooling": "histogram", "n_bins": 1}, "one bin"),
        ({"family": Translation(1), "envelope": 0.0}, "envelope=0.0"),
    ],
)
def test_bad_parameters_get_clear_errors(wrong, message):
    X = np.random.RandomState(0).rand(10, 16)
    with pytest.raises((TypeError, ValueError), match=message):
        InvariantFeatures(**{"n_templates": 5, **wrong}).fit(X)


def test_an_orbit_that_does_not_fit_is_refused():
    X = np.random.RandomState(0).rand(10, 784)
    with config_context(working_memory=1), pytest.raises(MemoryError, match="one template"):
        InvariantFeatures(Translation(13), 5).fit(X)


def test_orbits_are_computed_once(digits):
    features = InvariantFeatures(Translation(1), 10, 4, random_state=0).fit(digits.X_train[:20])
    calls = []
    act = features.projections_.orbits.action.act
    fresh = TemplateOrbits(features.templates_, features.projections_.orbits.action)
    fresh.action = type("Counting", (), {"__len__": lambda self: 9})()
    fresh.action.act = lambda *args: (calls.append(1), act(*args))[1]
    for _ in range(3):
        list(fresh.blocks(np.float32))
    assert len(calls) == 1


def test_patch_features_are_the_inner_features_of_patches():
    rng = np.random.RandomState(0)
    X = rng.rand(4, 8 * 10 * 2)
    inner = InvariantFeatures(None, 5, 3, random_state=0)
    patches = PatchFeatures(inner, width=3, step=2, margin=1, shape=(8, 10, 2), random_state=0)
    maps = patches.fit_transform(X).reshape(4, *patches.shape_)
    assert patches.shape_ == (4, 5, 15)
    padded = np.pad(X.reshape(4, 8, 10, 2), ((0, 0), (1, 1), (1, 1), (0, 0)))
    for i, r, c in [(0, 0, 0), (3, 3, 4), (2, 1, 2)]:
        patch = padded[i, 2 * r : 2 * r + 3, 2 * c : 2 * c + 3].reshape(1, -1)
        np.testing.assert_allclose(maps[i, r, c], patches.features_.transform(patch)[0], atol=1e-6)
    with pytest.raises(ValueError, match="does not fit"):
        PatchFeatures(inner, width=30, shape=(8, 10, 2)).fit(X)
    with pytest.raises(TypeError, match="no method transform"):
        PatchFeatures("pixels", shape=(8, 10, 2)).fit(X)


def test_patch_features_are_fitted_on_sample_patches():
    seen = []

    class Recorder(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            seen.append(X.shape)
            return self

        def transform(self, X):
            return X

    X = np.random.RandomState(0).rand(30, 64)
    for size in (1, 100, 5000):
        PatchFeatures(Recorder(), width=3, step=1, margin=0, sample_patches=size).fit(X)
    # 36 patches a row; rows are used completely
    assert seen == [(36, 9), (3 * 36, 9), (30 * 36, 9)]
    with pytest.raises(ValueError, match="sample_patches=0"):
        PatchFeatures(Recorder(), sample_patches=0).fit(X)


def test_moments_of_symmetric_projections_do_not_magnify_rounding():
    tones = np.stack([np.sin(2 * np.pi * f * np.arange(32) / 32) for f in (1, 2, 3)])
    features = InvariantFeatures(CyclicShift(), 20, 9, pooling="moments", random_state=0).fit(tones)
    here, there = features.transform(tones), features.transform(np.roll(tones, 5, axis=1))
    np.testing.assert_allclose(here, there, atol=1e-4 * np.abs(here).max())


def test_parameters_changed_after_fit_have_no_effect():
    X = np.random.RandomState(0).rand(10, 16)
    features = InvariantFeatures(CyclicShift(), 5, 4, random_state=0).fit(X)
    before = features.transform(X)
    features.set_params(pooling="max", normalize=True, thresholds="uniform", n_bins=9)
    np.testing.assert_array_equal(features.transform(X), before)
    inner = InvariantFeatures(None, 3, 2, random_state=0)
    patches = PatchFeatures(inner, width=2, step=1, random_state=0).fit(X)
    before = patches.transform(X)
    np.testing.assert_array_equal(patches.set_params(step=2, margin=0).transform(X), before)


def test_given_templates_are_copied_and_numbers_out_of_range_refused():
    X = np.random.RandomState(0).rand(10, 16)
    templates = np.eye(16, dtype=np.float32)[:3]
    features = InvariantFeatures(templates=templates, n_bins=3).fit(X)
    before = features.transform(X)
    templates *= -1
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(features)).transform(X), before)
    with pytest.raises(ValueError, match="too large for float32"), np.errstate(over="ignore"):
        features.transform(1e300 * X)
    with pytest.raises(ValueError, match="a floating-point dtype"):
        features.transform(X, out=np.empty(before.shape, dtype=int))
    with pytest.raises(ValueError, match="all templates are zero"):
        InvariantFeatures(templates="data", n_templates=3).fit(np.ones((4, 16)))


def test_patch_features_support_pandas_output():
    pytest.importorskip("pandas")
    X = np.random.RandomState(0).rand(6, 36)
    inner = InvariantFeatures(None, 3, 2, dtype="float64", random_state=0)
    patches = PatchFeatures(inner, width=3, random_state=0)
    plain = patches.fit_transform(X)
    assert plain.dtype == np.float64
    with config_context(transform_output="pandas"):
        frame = patches.fit_transform(X)
    np.testing.assert_allclose(frame.to_numpy(), plain)
