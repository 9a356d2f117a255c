import numpy as np
import pytest

from invarlearn.features import Centred
from invarlearn.features.centred import border_median, centres


def blob(height=41, width=37, top=7, left=8):
    """Give an image of something in a corner."""
    image = np.zeros((height, width))
    image[top : top + 6, left : left + 4] = np.random.RandomState(0).uniform(0.5, 1, (6, 4))
    return image


def centre_of(images, blur=1.4):
    images = np.asarray(images)[..., None]
    return centres(images, border_median(images), blur)


def test_centre_is_the_mean_place_of_squared_gradients():
    image = blob()
    down, right = np.gradient(image)
    weights = down**2 + right**2
    rows, columns = np.indices(image.shape)
    expected = [np.average(rows, weights=weights), np.average(columns, weights=weights)]
    np.testing.assert_allclose(centre_of([image], 0.0)[0], expected)


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
    assert np.abs(centre_of([moved])[0] - (20, 18)).max() <= 0.51


def test_noise_hardly_draws_it_to_the_middle():
    rng = np.random.RandomState(0)
    images = np.stack([blob(40, 40, 5, 28)] * 50)
    found = centre_of(images + 0.05 * rng.randn(50, 40, 40))
    assert np.abs(found - centre_of(images)).max() < 0.3


@pytest.mark.parametrize("side", [40, 41])
@pytest.mark.parametrize("size", [5, 6])
def test_squares_come_to_the_same_place(side, size):
    images = np.zeros((side - size + 1, side, side))
    for i, image in enumerate(images):
        # from corner to corner, along the border too
        image[i : i + size, i : i + size] = 1
    moved = Centred().fit_transform(images.reshape(len(images), -1))
    assert (moved == moved[0]).all()
    rows, columns = np.nonzero(moved[0].reshape(side, side))
    assert np.abs((rows.mean(), columns.mean()) - np.array((side - 1) / 2)).max() <= 0.5


def test_channels_move_together_by_what_is_in_all_of_them():
    first, second = blob(left=5), blob(left=30)
    colour = np.stack([first, second, np.full((41, 37), 2.0)], axis=-1)
    moved = Centred(shape=(41, 37, 3)).fit_transform(colour.reshape(1, -1)).reshape(41, 37, 3)
    np.testing.assert_array_equal(moved[..., 0], blob(top=17, left=4))
    np.testing.assert_array_equal(moved[..., 1], blob(top=17, left=29))
    assert (moved[..., 2] == 2).all()


@pytest.mark.parametrize("shape", [(1, -1), (-1, 1)])
def test_signals_move_along_their_axis(shape):
    X = np.zeros((3, 31))
    X[0, 4:7], X[1, 2:20] = 1, 1
    narrow, wide, _ = Centred(shape=shape).fit_transform(X)
    np.testing.assert_array_equal(np.flatnonzero(narrow), [14, 15, 16])
    # zero comes in, whatever most of the signal is
    np.testing.assert_array_equal(np.flatnonzero(wide), np.arange(7, 25))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1e-23, 1.0, 1e20])
def test_scale_does_not_matter(dtype, scale):
    image = blob().reshape(1, -1)
    centred = Centred(shape=(41, 37)).fit(image)
    moved = centred.transform((scale * image).astype(dtype))
    assert moved.dtype == dtype
    np.testing.assert_allclose(moved / scale, centred.transform(image), rtol=1e-6)


def test_without_edges_the_middle_is_the_centre():
    np.testing.assert_array_equal(centre_of(np.full((2, 8, 5), 0.7)), [[3.5, 2.0]] * 2)
    np.testing.assert_array_equal(centre_of(np.zeros((1, 8, 5))), [[3.5, 2.0]])


def test_rows_are_moved_alone_and_inputs_stay(monkeypatch):
    rng = np.random.RandomState(0)
    X = np.stack([blob(top=t, left=8).ravel() for t in rng.randint(35, size=20)])
    before = X.copy()
    centred = Centred(shape=(41, 37)).fit(X)
    together = centred.transform(X)
    monkeypatch.setattr("invarlearn.features.centred.BLOCK_BYTES", 3 * X[0].nbytes)
    np.testing.assert_array_equal(centred.transform(X), together)
    np.testing.assert_array_equal(X, before)


def test_wrong_parameters_are_told():
    with pytest.raises(ValueError, match="blur"):
        Centred(blur=-1).fit(np.zeros((2, 16)))
    with pytest.raises(ValueError, match="shape"):
        Centred(shape=(3, 5)).fit(np.zeros((2, 16)))
