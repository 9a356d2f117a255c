"""Covered rectangles: their form, size, place and value."""

import numpy as np
import pytest

from invarlearn.transforms import Occlusion


def test_a_rectangle_is_covered():
    X = 1 + np.random.RandomState(0).rand(3, 10 * 20)
    elements = Occlusion(0.4, value=0.0, shape=(10, 20)).sample(4000, random_state=0)
    covered = elements(X).reshape(3, 4000, 10, 20) == 0
    assert (covered == covered[:1]).all(), "the rectangle depends on the row"
    masks = covered[0]
    rows, columns = masks.any(axis=2), masks.any(axis=1)
    assert (masks == rows[:, :, None] & columns[:, None, :]).all(), "it is not a rectangle"
    heights, widths = rows.sum(axis=1), columns.sum(axis=1)
    assert set(heights[heights > 0]) == {1, 2, 3, 4}
    assert set(widths[widths > 0]) == set(range(1, 9))
    # every pixel is covered now and then, and those outside of the rectangle are as before
    assert masks.any(axis=0).all()
    unchanged = elements(X)[1][~masks.reshape(4000, -1)]
    np.testing.assert_array_equal(unchanged, np.tile(X[1], (4000, 1))[~masks.reshape(4000, -1)])


def test_the_value_is_the_mean_of_each_channel():
    X = np.random.RandomState(0).rand(2, 8 * 8 * 3)
    covered = Occlusion(1.0, shape=(8, 8, 3)).sample(50, random_state=0)(X)
    images = X.reshape(2, 1, 8, 8, 3)
    changed = covered.reshape(2, 50, 8, 8, 3) != images
    means = np.broadcast_to(images.mean(axis=(2, 3), keepdims=True), changed.shape)
    np.testing.assert_allclose(covered.reshape(means.shape)[changed], means[changed])
    assert changed.any()


def test_signals_lose_an_interval():
    X = np.ones((1, 40))
    covered = Occlusion(0.5, value=0.0, shape=(1, 40)).sample(30, random_state=0)(X)[0] == 0
    assert covered.any(axis=1).sum() > 25
    assert covered.sum(axis=1).max() <= 20
    assert (np.abs(np.diff(covered.astype(int), axis=1)).sum(axis=1) <= 2).all()


@pytest.mark.parametrize(
    ("family", "message"), [(Occlusion(-0.1), "part=-0.1"), (Occlusion(value=np.nan), "value=nan")]
)
def test_bad_parameters_get_clear_errors(family, message):
    with pytest.raises(ValueError, match=message):
        family.sample(1, random_state=0)(np.ones((1, 64)))
