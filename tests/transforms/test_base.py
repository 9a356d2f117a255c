"""What all families share: blocks, memory, parameters, combinations."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from invarlearn import VirtualSVC
from invarlearn.transforms import (
    Custom,
    CyclicShift,
    FeatureScaling,
    Identity,
    Permutation,
    Reflection,
    Rotation,
    Shear,
    Translation,
)


def test_an_orbit_beyond_working_memory_is_refused():
    X = np.zeros((100, 784), dtype=np.float32)
    with (
        config_context(working_memory=1),
        pytest.raises(MemoryError, match="with iter_orbit"),
    ):
        Translation(2).orbit(X)
    with config_context(working_memory=8):
        assert Translation(2).orbit(X).nbytes < 8 * 2**20


def test_streaming_needs_memory_for_a_block_only():
    import tracemalloc

    X = np.random.RandomState(0).rand(400, 784).astype(np.float32)
    family = Translation(3) * Rotation(15, n_steps=5)
    whole = 400 * family.n_elements * 784 * 4
    family.orbit(X[:1])
    tracemalloc.start()
    total = 0.0
    for _, _, block in family.iter_orbit(X, max_bytes=2**22):
        total += float(block.sum())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total > 0
    assert peak < 2**26 < whole / 4


def test_repr_reads_back_however_long():
    family = Identity() * Translation(2, shape=(28, 28))
    for degrees in range(1, 80):
        family = family * Rotation(degrees, n_steps=5) | Shear(0.1, axis=0)
    assert len(repr(family)) > 1500
    assert repr(eval(repr(family))) == repr(family)


def test_identity_is_neutral():
    family = Translation(1)
    assert Identity() * family is family
    assert (family | Identity()) is family
    assert repr(Identity() * Identity()) == "Identity()"


def test_parts_are_named_as_in_a_pipeline():
    family = Rotation(10) * Translation(1) * Rotation(20)
    assert list(family.named_parts()) == ["rotation-1", "translation", "rotation-2"]
    family.set_params(translation__radius=3, **{"rotation-2": Shear(0.1)})
    assert repr(family) == "Rotation(degrees=10) * Translation(radius=3) * Shear(amount=0.1)"
    copy = clone(family).set_params(translation__radius=1)
    assert family.named_parts()["translation"].radius == 3
    assert copy.named_parts()["translation"].radius == 1
    with pytest.raises(ValueError, match="Invalid parameter"):
        family.set_params(colour=3)


def test_grid_search_reaches_into_families():
    rng = np.random.RandomState(0)
    X, y = rng.rand(30, 16), np.arange(30) % 2
    single = GridSearchCV(VirtualSVC(Translation(1)), {"family__radius": [0, 1]}, cv=2).fit(X, y)
    assert single.best_params_["family__radius"] in (0, 1)
    product = Translation(1) * Rotation(10)
    grid = {"family__translation__radius": [0, 1], "family__rotation__degrees": [0, 10]}
    search = GridSearchCV(VirtualSVC(product), grid, cv=2).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert repr(product) == "Translation() * Rotation(degrees=10)"


def test_a_part_without_a_shape_takes_its_siblings():
    family = Translation(1, shape=(4, 6)) * Reflection(1)
    X = np.arange(24.0).reshape(1, 24)
    orbit = family.orbit(X)
    assert family.shape == (4, 6)
    assert np.array_equal(orbit[0, 1].reshape(4, 6), X.reshape(4, 6)[:, ::-1])
    with pytest.raises(ValueError, match="different shapes"):
        (Translation(1, shape=(4, 6)) * Rotation(10, shape=(5, 5))).orbit(X)


def test_what_depends_on_the_shape_says_so():
    with pytest.raises(ValueError, match="pass shape="):
        _ = Permutation(8).n_elements
    with pytest.raises(ValueError, match="pass shape="):
        _ = CyclicShift().n_elements
    assert Permutation(8).with_shape(40).n_elements == 120
    assert Permutation(8, shape=40).is_group
    assert CyclicShift(shape=(5, 2)).n_elements == 5
    assert not CyclicShift(step=2, shape=5).is_group
    assert CyclicShift(step=2, shape=6).is_group


def test_random_elements_lie_in_the_range():
    point = np.zeros((1, 21 * 21))
    point[0, 10 * 21 + 14] = 1  # four pixels right of the centre
    moved = Rotation(30).sample(200, random_state=0)(point)[0].reshape(200, 21, 21)
    row = (moved.sum(axis=2) @ np.arange(21)) / moved.sum(axis=(1, 2)) - 10
    column = (moved.sum(axis=1) @ np.arange(21)) / moved.sum(axis=(1, 2)) - 10
    angles = np.degrees(np.arctan2(-row, column))
    assert -31 < angles.min() < -20
    assert 20 < angles.max() < 31


def test_worst_case_by_enumeration_agrees_with_brute_force():
    rng = np.random.RandomState(1)
    X, w, sign = rng.randn(20, 36), rng.randn(36), rng.choice([-1, 1], 20)
    family = Translation(1) * Reflection(0)
    rows, scores = family.worst_case(X, w, sign)
    orbit = family.orbit(X)
    brute = (sign[:, None] * (orbit @ w)).min(axis=1)
    np.testing.assert_allclose(scores, brute)
    np.testing.assert_allclose(sign * (rows @ w), brute)


def test_functions_that_change_the_shape_are_named():
    def halve(X):
        return X[:, ::2]

    with pytest.raises(ValueError, match=r"transformation 1 \(halve\)"):
        Custom([halve]).orbit(np.ones((2, 4)))
    with pytest.raises(TypeError, match="callables"):
        Custom([3]).orbit(np.ones((2, 4)))


def test_random_elements_make_a_family():
    X = np.random.RandomState(0).rand(3, 16)
    elements = Rotation(30).sample(4, random_state=1)
    orbit = Custom(elements).orbit(X)
    np.testing.assert_allclose(orbit[:, 1:], elements(X))


def test_unlistable_families_say_what_to_use():
    with pytest.raises(ValueError, match="use worst_case"):
        FeatureScaling().orbit(np.ones((1, 3)))
    assert (FeatureScaling(shape=16) * Translation(1)).n_elements == np.inf
    with pytest.raises(ValueError, match="k=0"):
        Translation(1).sample(0)


def test_families_combine_with_families_only():
    with pytest.raises(TypeError):
        Translation(1) * 3
