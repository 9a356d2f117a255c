import numpy as np
import pytest

from invarlearn.features import Centred
from invarlearn.features.centred import centres


def blob(height=41, width=37, top=7, left=8):
    """Give an image of something in a corner."""
    image = np.zeros((height, width))
    image[top : top + 6, left : left + 4] = np.random.RandomState(0).uniform(0.5, 1, (6, 4))
    return image


def test_centre_is_the_mean_place_of_squared_gradients():
    image = blob()
    down, right = np.gradient(image)
    weights = down**2 + right**2
    rows, columns = np.indices(image.shape)
    expected = [np.average(rows, weights=weights), np.average(columns, weights=weights)]
    np.testing.assert_allclose(centres(image[None], 0.0)[0], expected)


@pytest.mark.parametrize("background", [0.0, 3.0])
@pytest.mark.parametrize(("down", "right"), [(0, 0), (9, 0), (3, 7), (20, 16)])
def test_place_does_not_matter(background, down, right):
    centred = Centred(shape=(41, 37)).fit(np.zeros((1, 41 * 37)))
    images = np.stack([blob(), blob(top=7 + down, left=8 + right)]).reshape(2, -1)
    first, second = centred.transform(images + background)
    np.testing.assert_array_equal(first, second)
    # all of it is there, and in the middle
    moved = first.reshape(41, 37) - background
    assert moved.sum() == pytest.approx(blob().sum())
    assert np.abs(centres(moved[None], 1.4)[0] - (20, 18)).max() <= 0.51


def test_noise_hardly_draws_it_to_the_middle():
    rng = np.random.RandomState(0)
    images = np.stack([blob(40, 40, 5, 28)] * 50)
    found = centres(images + 0.05 * rng.randn(50, 40, 40), 1.4)
    assert np.abs(found - centres(images, 1.4)).max() < 0.7


def test_channels_move_together():
    grey = blob()
    colour = np.stack([grey, 0 * grey, 2 * grey + 1], axis=-1)
    moved = Centred(shape=(41, 37, 3)).fit_transform(colour.reshape(1, -1)).reshape(41, 37, 3)
    alone = Centred(shape=(41, 37)).fit_transform(grey.reshape(1, -1)).reshape(41, 37)
    np.testing.assert_array_equal(moved[..., 0], alone)
    np.testing.assert_allclose(moved[..., 2], 2 * alone + 1)


def test_signals_move_along_their_axis():
    X = np.zeros((3, 31))
    X[0, 4:7], X[1, 20:23] = 1, 1
    first, second, empty = Centred(shape=(1, -1)).fit_transform(X)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(np.flatnonzero(first), [14, 15, 16])
    # nothing to be seen: nothing is moved
    assert not empty.any()


def test_flat_images_and_inputs_stay():
    X = np.full((2, 25), 0.7)
    X[1, 3] = 1
    before = X.copy()
    np.testing.assert_array_equal(Centred().fit_transform(X)[0], X[0])
    np.testing.assert_array_equal(X, before)


def test_wrong_parameters_are_told():
    with pytest.raises(ValueError, match="blur"):
        Centred(blur=-1).fit(np.zeros((2, 16)))
    with pytest.raises(ValueError, match="shape"):
        Centred(shape=(3, 5)).fit(np.zeros((2, 16)))
