"""Covered rectangles: their form, size, place and value."""

import numpy as np
import pytest
from scipy.stats import chisquare

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
    # sides and places are evenly distributed
    assert chisquare(np.bincount(heights, minlength=5)[1:]).pvalue > 0.001
    assert chisquare(np.bincount(widths, minlength=9)[1:]).pvalue > 0.001
    tops = rows[heights == 3].argmax(axis=1)
    assert chisquare(np.bincount(tops, minlength=8)).pvalue > 0.001
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
    assert covered.any(axis=1).all()
    assert covered.sum(axis=1).max() <= 20
    assert (np.abs(np.diff(covered.astype(int), axis=1)).sum(axis=1) <= 2).all()


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (Occlusion(-0.1), "part=-0.1"),
        (Occlusion(1.5), "part=1.5"),
        (Occlusion(value=np.nan), "value=nan"),
    ],
)
def test_bad_parameters_get_clear_errors(family, message):
    with pytest.raises(ValueError, match=message):
        family.sample(1, random_state=0)(np.ones((1, 64)))


def test_wider_ranges_end_at_the_whole_image():
    assert repr(Occlusion(0.5).scaled(4)) == "Occlusion(part=1.0)"
    X = np.random.RandomState(0).rand(2, 64)
    np.testing.assert_array_equal(Occlusion(0).sample(1, random_state=0)(X)[:, 0], X)
