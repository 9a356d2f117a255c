"""Centred images against the centre of squared gradients."""

import numpy as np
import pytest

from invarlearn.features import Centred
from invarlearn.features.centred import border_median, edge_centres


def blob(height=41, width=37, top=7, left=8):
    """Return an image with a random patch in a corner."""
    image = np.zeros((height, width))
    image[top : top + 6, left : left + 4] = np.random.RandomState(0).uniform(0.5, 1, (6, 4))
    return image


def centre_of(images, blur=1.4):
    images = np.asarray(images)[..., None]
    return edge_centres(images, border_median(images), blur)


def test_centre_is_the_mean_position_of_squared_gradients():
    image = blob()
    down, right = np.gradient(image)
    weights = down**2 + right**2
    rows, columns = np.indices(image.shape)
    expected = [np.average(rows, weights=weights), np.average(columns, weights=weights)]
    np.testing.assert_allclose(centre_of([image], 0.0)[0], expected)


@pytest.mark.parametrize("background", [0.0, 3.0])
@pytest.mark.parametrize(("down", "right"), [(0, 0), (9, 0), (3, 7), (20, 16)])
def test_centred_images_do_not_depend_on_position(background, down, right):
    centred = Centred(shape=(41, 37)).fit(np.zeros((1, 41 * 37)))
    images = np.stack([blob(), blob(top=7 + down, left=8 + right)]).reshape(2, -1)
    first, second = centred.transform(images + background)
    np.testing.assert_array_equal(first, second)
    # the patch is complete, and in the middle
    moved = first.reshape(41, 37) - background
    assert moved.sum() == pytest.approx(blob().sum())
    assert np.abs(centre_of([moved])[0] - (20, 18)).max() <= 0.51


def test_noise_hardly_moves_the_centre():
    rng = np.random.RandomState(0)
    images = np.stack([blob(40, 40, 5, 28)] * 50)
    centres = centre_of(images + 0.05 * rng.randn(50, 40, 40))
    assert np.abs(centres - centre_of(images)).max() < 0.3


@pytest.mark.parametrize("side", [40, 41])
@pytest.mark.parametrize("size", [5, 6])
def test_squares_are_moved_to_the_same_position(side, size):
    images = np.zeros((side - size + 1, side, side))
    for i, image in enumerate(images):
        # from corner to corner, including the border
        image[i : i + size, i : i + size] = 1
    moved = Centred().fit_transform(images.reshape(len(images), -1))
    assert (moved == moved[0]).all()
    rows, columns = np.nonzero(moved[0].reshape(side, side))
    assert np.abs((rows.mean(), columns.mean()) - np.array((side - 1) / 2)).max() <= 0.5


def test_channels_move_together_by_their_common_centre():
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
    # zeros come in, also if most of the signal is one
    np.testing.assert_array_equal(np.flatnonzero(wide), np.arange(7, 25))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1e-23, 1.0, 1e20])
def test_the_scale_of_pixels_does_not_matter(dtype, scale):
    image = blob().reshape(1, -1)
    centred = Centred(shape=(41, 37)).fit(image)
    moved = centred.transform((scale * image).astype(dtype))
    assert moved.dtype == dtype
    np.testing.assert_allclose(moved / scale, centred.transform(image), rtol=1e-6)


def test_without_edges_the_middle_is_the_centre():
    np.testing.assert_array_equal(centre_of(np.full((2, 8, 5), 0.7)), [[3.5, 2.0]] * 2)
    np.testing.assert_array_equal(centre_of(np.zeros((1, 8, 5))), [[3.5, 2.0]])


def test_rows_are_independent_and_inputs_do_not_change():
    rng = np.random.RandomState(0)
    # images of this size are processed one a block; the small ones below share a block
    X = np.stack([blob(600, 600, top=t, left=8).ravel() for t in rng.randint(590, size=3)])
    before = X.copy()
    centred = Centred().fit(X)
    together = centred.transform(X)
    np.testing.assert_array_equal(np.stack([centred.transform(x[None])[0] for x in X]), together)
    np.testing.assert_array_equal(X, before)
    small = np.stack([blob(top=t, left=8).ravel() for t in rng.randint(35, size=20)])
    centred = Centred(shape=(41, 37)).fit(small)
    together = centred.transform(small)
    np.testing.assert_array_equal(
        np.stack([centred.transform(x[None])[0] for x in small]), together
    )


def test_noise_factor_ignores_faint_edges():
    rows = (blob(40, 40, 5, 28) + 0.15 * np.random.RandomState(0).randn(20, 40, 40)).reshape(20, -1)
    errors = []
    for factor in (0.0, 3.0):
        moved = Centred(noise_factor=factor).fit_transform(rows).reshape(20, 40, 40)
        # pixels that come in have the median of the border
        background = np.median(moved, axis=(1, 2), keepdims=True)
        rows_of, columns_of = np.indices((40, 40))
        weights = np.clip(moved - background - 0.45, 0, None)
        places = [
            (weights * at).sum(axis=(1, 2)) / weights.sum(axis=(1, 2))
            for at in (rows_of, columns_of)
        ]
        errors.append(np.abs(np.transpose(places) - 19.5).mean())
    assert errors[1] < 1 < 2 < errors[0]
    with pytest.raises(ValueError, match="noise_factor=-1"):
        Centred(noise_factor=-1).fit(np.zeros((2, 16)))


def test_bad_parameters_get_clear_errors():
    with pytest.raises(ValueError, match="blur"):
        Centred(blur=-1).fit(np.zeros((2, 16)))
    with pytest.raises(ValueError, match="shape"):
        Centred(shape=(3, 5)).fit(np.zeros((2, 16)))
