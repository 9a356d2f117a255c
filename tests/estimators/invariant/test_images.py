"""What images need before their edges are compared."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from invarlearn import Budget
from invarlearn.estimators.invariant.augment import CopyMaker
from invarlearn.estimators.invariant.images import (
    moves_far,
    seems_noisy,
    subtract_background,
    unlike_images_message,
)
from invarlearn.features.defaults import default_family
from invarlearn.transforms import Rotation, Translation


@pytest.mark.parametrize(
    ("family", "side", "far"),
    [
        (None, 8, False),
        (None, 28, False),
        (Rotation(180), 28, False),
        (Translation(3), 40, False),
        (Translation(6), 40, True),
        (Translation(2), 8, True),
        (Rotation(30) * Translation(8), 64, True),
    ],
)
def test_families_that_move_images_far_are_distinguished(family, side, far):
    shape = (side, side)
    family = default_family(shape, side * side, "images") if family is None else family
    copy_maker = CopyMaker(family.with_shape(shape), 30, 0)
    assert moves_far([copy_maker], shape, Budget()) == far
    # for three channels as for one
    copy_maker = CopyMaker(family.with_shape((*shape, 3)), 30, 0)
    assert moves_far([copy_maker], (*shape, 3), Budget()) == far


def test_what_is_far_is_a_field_of_the_budget():
    copy_maker = CopyMaker(Translation(3, shape=(40, 40)), 30, 0)
    assert moves_far([copy_maker], (40, 40), Budget(far_shift=0.02))


def test_the_width_of_the_spot_is_a_field_of_the_budget():
    """A wide spot is cut off at the border when it is shifted, so that its centre moves less."""
    copy_maker = CopyMaker(Translation(12, shape=(40, 40)), 30, 0)
    assert moves_far([copy_maker], (40, 40), Budget(far_shift=0.16))
    assert not moves_far([copy_maker], (40, 40), Budget(far_shift=0.16, spot_width=0.5))


@pytest.mark.parametrize(
    ("kind", "changes", "warns"),
    [
        ("noise", {}, True),
        ("noise", {"least_similarity": 0.01}, False),
        ("noise", {"smallest_image": 15}, False),
        ("lines", {}, True),
        ("lines", {"most_uneven": 20.0}, False),
        ("channels", {}, True),
        ("channels", {"channel_factor": 4.0}, False),
    ],
)
def test_what_looks_like_an_image_is_a_matter_of_the_budget(kind, changes, warns):
    rng = np.random.RandomState(0)
    images = gaussian_filter(rng.randn(300, 14, 14), (0, 1, 1))
    images /= images.std()
    rows = {
        # similarities of 0.05 in both directions
        "noise": images + 4.0 * rng.randn(*images.shape),
        # similarities of 0.14 and 0.94
        "lines": gaussian_filter(rng.randn(300, 14, 14), (0, 0.45, 2)),
        # dissimilarities of 0.87 for neighbours, and of 0.49 three pixels apart
        "channels": images + np.resize([0.0, 2.0, 0.0], 196).reshape(14, 14),
    }[kind]
    message = unlike_images_message(rows.reshape(300, -1), (14, 14), Budget(**changes))
    assert (message is not None) == warns


def test_as_many_pixels_are_compared_as_the_budget_allows():
    rng = np.random.RandomState(0)
    smooth = gaussian_filter(rng.randn(4, 14, 14), (0, 1, 1)).reshape(4, -1)
    rows = np.concatenate([smooth, rng.randn(40, 196)])
    assert unlike_images_message(rows, (14, 14), Budget(similarity_pixels=4 * 196)) is None
    assert unlike_images_message(rows, (14, 14), Budget()) is not None


def test_noisy_images_are_distinguished_from_others(digits):
    X = digits.X_train[:100]
    noisy = (X + 0.2 * np.random.RandomState(0).randn(*X.shape)).astype(np.float32)
    assert seems_noisy(noisy, (28, 28), Budget())
    assert not seems_noisy(X, (28, 28), Budget())
    assert not seems_noisy(noisy, (28, 28), Budget(noise_level=1.0))


@pytest.mark.parametrize("channels", [1, 3])
def test_the_median_of_the_border_of_each_channel_is_subtracted(channels):
    rng = np.random.RandomState(0)
    images = np.zeros((5, 8, 9, channels))
    images[:, 3:5, 3:6] = 1 + rng.rand(5, 2, 3, channels)
    background = rng.randn(5, 1, 1, channels)
    X = (images + background).reshape(5, -1)
    # a hot pixel on the border does not matter
    X[:, 0] += 50
    rows = subtract_background(X.copy(), (8, 9, channels))
    X[:, 0] -= 50
    np.testing.assert_allclose(rows[:, channels:], images.reshape(5, -1)[:, channels:], atol=1e-12)
