"""Permutations and cyclic shifts of sequences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invarlearn.transforms import CyclicShift, Permutation


def test_permutations_are_all_orders_of_blocks():
    word = np.eye(8)[[0, 3, 3, 5, 7]].reshape(1, 40)
    family = Permutation(block=8)
    orbit = family.orbit(word)
    assert orbit.shape == (1, 120, 40)
    letters = orbit.reshape(120, 5, 8).argmax(axis=2)
    assert len({tuple(row) for row in letters}) == 60  # 5! / 2!, since one letter comes twice
    assert (np.sort(letters, axis=1) == [0, 3, 3, 5, 7]).all()


def test_too_many_orders_are_sampled():
    family = Permutation(max_elements=200, shape=12)
    assert family.n_elements == 200
    assert not family.is_group
    orbit = family.orbit(np.arange(12.0)[None])[0]
    assert len({tuple(row) for row in orbit}) == 200
    assert np.array_equal(orbit[0], np.arange(12))
    again = Permutation(max_elements=200).orbit(np.arange(12.0)[None])[0]
    assert np.array_equal(orbit, again)
    other = Permutation(max_elements=200, random_state=1).orbit(np.arange(12.0)[None])[0]
    assert not np.array_equal(orbit, other)


def test_uneven_blocks_are_refused():
    with pytest.raises(ValueError, match="block=3 does not divide the 8 features"):
        Permutation(block=3).orbit(np.ones((1, 8)))


@settings(max_examples=30, deadline=None)
@given(length=st.integers(1, 12), channels=st.integers(1, 3), seed=st.integers(0, 999))
def test_cyclic_shifts_are_rolls(length, channels, seed):
    X = np.random.RandomState(seed).rand(2, length * channels)
    orbit = CyclicShift(shape=(length, channels)).orbit(X)
    series = X.reshape(2, length, channels)
    rolled = np.stack([np.roll(series, s, axis=1) for s in range(length)], axis=1)
    assert np.array_equal(orbit.reshape(2, length, length, channels), rolled)


def test_tangents_of_cyclic_shifts_are_central_differences():
    X = np.random.RandomState(0).rand(2, 10)
    expected = (np.roll(X, 1, axis=1) - np.roll(X, -1, axis=1)) / 2
    np.testing.assert_allclose(CyclicShift().tangents(X)[:, 0], expected)
