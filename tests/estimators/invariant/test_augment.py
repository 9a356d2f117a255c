"""Augmented copies: which element transforms which row."""

import numpy as np
import pytest

from invarlearn.estimators.invariant.augment import Augmentation, CopyMaker, copy_unchanged
from invarlearn.transforms import Rotation


def test_every_row_is_transformed_by_one_element_and_every_element_is_used():
    X = np.random.RandomState(0).rand(50, 64)
    family = Rotation(30, shape=(8, 8))
    make_copy, elements = CopyMaker(family, 6, 3), family.sample(6, 3)
    copies = make_copy(X)
    matches = np.array([np.abs(g(X) - copies).max(axis=1) < 1e-12 for g in elements])
    np.testing.assert_array_equal(matches.sum(axis=0), 1)
    assert set(matches.sum(axis=1)) == {8, 9}
    # a sample gets the same copy whichever samples are passed with it
    np.testing.assert_allclose(make_copy(X[:2]), copies[:2])
    np.testing.assert_allclose(make_copy(X[20:], 20), copies[20:])


def test_the_first_copy_is_the_sample_and_the_first_copies_do_not_depend_on_their_number():
    X = np.random.RandomState(0).rand(20, 64)
    augmentation = Augmentation(Rotation(30, shape=(8, 8)), 5, 16, 7, 0.5)
    two, five = augmentation.copy_makers(2), augmentation.copy_makers(5)
    assert five[0] is copy_unchanged
    np.testing.assert_array_equal(five[0](X), X)
    np.testing.assert_array_equal(two[1](X), five[1](X))
    copies = np.stack([make_copy(X) for make_copy in five])
    # copies of a sample differ from each other
    assert np.ptp(copies, axis=0).max(axis=1).min() > 0


def test_test_time_augmentation_uses_part_of_the_range():
    augmentation = Augmentation(Rotation(30, shape=(8, 8)), 5, 16, 7, 0.5)
    elements = augmentation.averaging_elements(9)
    assert len(elements) == 8
    X = np.random.RandomState(0).rand(1, 64)
    expected = Rotation(15, shape=(8, 8)).sample(8, 7)
    for ours, theirs in zip(elements, expected, strict=True):
        np.testing.assert_array_equal(ours(X), theirs(X))


@pytest.mark.parametrize(("n_copies", "n_average"), [(5, 1), (1, 4)])
def test_without_averaging_or_augmentation_there_are_no_elements(n_copies, n_average):
    augmentation = Augmentation(Rotation(30), n_copies, 16, 0, 0.5)
    assert augmentation.averaging_elements(n_average) == []
