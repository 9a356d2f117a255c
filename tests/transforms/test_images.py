"""Image families against scipy.ndimage, numpy and closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from invarlearn.transforms import (
    Hyperbolic,
    Reflection,
    Rotation,
    Scaling,
    Shear,
    Thickness,
    Translation,
)
from invarlearn.transforms.actions import Affine
from invarlearn.transforms.interpolation import ReadingCache, readings


def ndimage_affine(image, matrix, fill):
    """Return the affine map of scipy about the centre, with linear interpolation."""
    mode = {"zero": "grid-constant", "edge": "nearest", "wrap": "grid-wrap"}[fill]
    inverse = np.linalg.inv(matrix)
    centre = (np.array(image.shape) - 1) / 2
    offset = centre - inverse[:2, :2] @ centre + inverse[:2, 2]
    return ndimage.affine_transform(image, inverse[:2, :2], offset, order=1, mode=mode)


@pytest.mark.parametrize("fill", ["zero", "edge", "wrap"])
@pytest.mark.parametrize(
    "family",
    [
        Rotation(40, n_steps=5),
        Scaling(1.3),
        Shear(0.4, axis=0),
        Shear(0.4, axis=1),
        Hyperbolic(0.2),
        Hyperbolic(0.2, diagonal=True),
        Translation(1.5, step=0.5),
    ],
    ids=repr,
)
def test_affine_families_agree_with_scipy(family, fill, images):
    family.set_params(fill=fill)
    rows = images.reshape(3, -1)
    orbit = family.orbit(rows).reshape(3, -1, 9, 9)
    matrices = family.elements(81).matrices
    for k, matrix in enumerate(matrices):
        for image, moved in zip(images, orbit[:, k], strict=True):
            np.testing.assert_allclose(moved, ndimage_affine(image, matrix, fill), atol=1e-7)


def test_shifts_move_pixels_and_bring_in_zeros(images):
    orbit = Translation(1).orbit(images.reshape(3, -1)).reshape(3, 9, 9, 9)
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    shifted = {moved.tobytes() for moved in orbit[0]}
    steps = (-1, 0, 1)
    expected = {padded[0, 1 - r : 10 - r, 1 - c : 10 - c].tobytes() for r in steps for c in steps}
    assert shifted == expected


def test_cyclic_shifts_are_exact_rolls(images):
    orbit = Translation(None, wrap=True).orbit(images.reshape(3, -1)).reshape(3, 81, 9, 9)
    rolled = [np.roll(images, (r, c), axis=(1, 2)) for r in range(9) for c in range(9)]
    assert np.array_equal(orbit, np.stack(rolled, axis=1))


def test_quarter_rotations_are_exact_and_counterclockwise(images):
    orbit = Rotation(180, n_steps=4).orbit(images.reshape(3, -1)).reshape(3, 4, 9, 9)
    for k in range(4):
        assert np.array_equal(orbit[:, k], np.rot90(images, k, axes=(1, 2)))


def test_reflections_are_numpy_flips(images):
    for axis in (0, 1):
        orbit = Reflection(axis).orbit(images.reshape(3, -1)).reshape(3, 2, 9, 9)
        assert np.array_equal(orbit[:, 1], np.flip(images, axis=1 + axis))


def test_scaling_magnifies_and_shear_displaces_rows():
    image = np.zeros((1, 21, 21))
    image[0, 7:14, 7:14] = 1
    rows = image.reshape(1, -1)
    small, large = Scaling(1.5).orbit(rows)[0, 1:].sum(axis=1)
    assert small < 0.6 * image.sum() < 1.8 * image.sum() < large
    leaning = Shear(0.5, axis=1).orbit(rows)[0, 2].reshape(21, 21)
    centres = (leaning @ np.arange(21)) / leaning.sum(axis=1).clip(1e-9)
    assert centres[13] - centres[7] == pytest.approx(3, abs=0.2)
    assert np.allclose(leaning.sum(axis=1), image[0].sum(axis=1))


def test_channels_move_together(images):
    colour = np.stack([images, images**2, 1 - images], axis=-1)
    family = Translation(1) * Rotation(20)
    orbit = family.with_shape((9, 9, 3)).orbit(colour.reshape(3, -1)).reshape(3, 27, 9, 9, 3)
    for c in range(3):
        grey = family.orbit(np.ascontiguousarray(colour[..., c]).reshape(3, -1))
        np.testing.assert_allclose(orbit[..., c], grey.reshape(3, 27, 9, 9), atol=1e-12)


def test_products_interpolate_once(blobs):
    rows = blobs().reshape(4, -1)
    there_and_back = (Rotation(30) * Rotation(30)).orbit(rows).reshape(4, 3, 3, -1)
    # 30 degrees one way and back is exactly the identity, without blur
    assert np.array_equal(there_and_back[:, 1, 2], rows)
    twice = Rotation(30).orbit(Rotation(30).orbit(rows)[:, 1])[:, 2]
    assert np.abs(twice - rows).max() > 1e-3


def test_products_apply_the_last_part_first():
    point = np.zeros((1, 9, 9))
    point[0, 4, 6] = 1.0
    family = Translation(1, wrap=True) * Rotation(180, n_steps=4)
    orbit = family.orbit(point.reshape(1, -1)).reshape(9, 4, 9, 9)
    shifts = [(r, c) for r in (0, -1, 1) for c in (0, -1, 1)]
    rotated = np.rot90(point[0])
    for moved, shift in zip(orbit[:, 1], shifts, strict=True):
        assert np.array_equal(moved, np.roll(rotated, shift, axis=(0, 1)))


@pytest.mark.parametrize("fill", ["zero", "wrap"])
def test_products_of_different_kinds_equal_stepwise_transformations(fill, images):
    rows = images.reshape(3, -1)
    first, second = Rotation(25, fill=fill), Thickness(0.5)
    orbit = (second * first).orbit(rows).reshape(3, 3, 3, 81)
    for j in range(3):
        stepwise = second.orbit(first.orbit(rows)[:, j])
        np.testing.assert_allclose(orbit[:, :, j], stepwise, atol=1e-12)


def test_three_parts_merge_the_affine_neighbours():
    family = Thickness(0.5) * Rotation(10) * Shear(0.1)
    action = family.elements(81)
    assert isinstance(action.inner, Affine)
    assert len(action.inner) == 9


def test_readings_are_built_once_for_a_shape(images):
    family = Rotation(17, n_steps=3)
    family.orbit(images.reshape(3, -1))
    before = readings.built
    Rotation(17, n_steps=3).orbit(images.reshape(3, -1) ** 2)
    assert readings.built == before
    family.orbit(images.reshape(3, -1).astype(np.float32))
    assert readings.built == before + 1


def test_readings_of_a_large_family_are_built_once_a_pass():
    family = Translation(6, wrap=True, shape=(32, 32)) * Rotation(10, n_steps=9, fill="wrap")
    X = np.random.RandomState(0).rand(4, 1024)
    pieces = -(-family.n_elements // family.elements(1024).piece(1024))
    before = readings.built
    rows_seen = sum(len(block) for _, _, block in family.iter_orbit(X, max_bytes=2**22))
    assert rows_seen > 4
    assert 4 < pieces <= readings.built - before <= 2 * pieces


def test_the_reading_cache_is_bounded():
    cache = ReadingCache(max_bytes=20_000)
    for degrees in range(1, 20):
        matrices = Rotation(degrees).elements(81).matrices
        key = (matrices.tobytes(), (9, 9), "zero", "<f8")
        first = cache.get(key)
        assert cache.get(key) is first
        assert first.nbytes <= cache.nbytes <= 20_000
    assert cache.built == 19


def test_tangents_are_directions_of_the_orbit(blobs):
    """On smooth images a small rotation is the tangent times the angle."""
    rows = blobs().reshape(4, -1)
    family = Rotation(1, n_steps=3) | Scaling(1.02) | Shear(0.02) | Translation(0.1, step=0.1)
    tangents = family.tangents(rows, smoothing=0)
    small = [np.radians(1), np.log(1.02), 0.02]
    orbit = family.orbit(rows)
    for j, t in enumerate(small):
        move = (orbit[:, 2 + 2 * j] - orbit[:, 1 + 2 * j]) / (2 * t)
        cosine = (move * tangents[:, j]).sum(1) / np.linalg.norm(move, axis=1)
        assert (cosine / np.linalg.norm(tangents[:, j], axis=1) > 0.98).all()


def test_the_seven_tangents_of_tangent_distance():
    """Against closed forms on a Gaussian blob: gradient g = -p x / s^2 at position p."""
    side, s = 31, 5.0
    p = np.indices((side, side)) - 15.0
    x = np.exp(-(p**2).sum(0) / (2 * s**2))
    row, column = p
    fields = {
        Translation(1): [(np.ones_like(row), 0 * row), (0 * row, np.ones_like(row))],
        Rotation(5): [(-column, row)],
        Scaling(1.1): [(row, column)],
        Hyperbolic(0.1): [(-row, column)],
        Hyperbolic(0.1, diagonal=True): [(column, row)],
    }
    for family, expected in fields.items():
        tangents = family.tangents(x.reshape(1, -1), smoothing=0)[0]
        for tangent, (down, right) in zip(tangents, expected, strict=True):
            truth = (down * row + right * column) * x / s**2
            # the blob is cut off at the border, and does not change under rotation
            error = (tangent.reshape(side, side) - truth)[1:-1, 1:-1]
            assert np.abs(error).max() < 0.02 * max(np.abs(truth).max(), 0.2)
    thick = Thickness(1).tangents(x.reshape(1, -1), smoothing=0)[0, 0].reshape(side, side)
    truth = ((p / s**2) ** 2).sum(0) * x**2
    assert np.abs(thick - truth)[1:-1, 1:-1].max() < 0.06 * truth.max()


@settings(max_examples=40, deadline=None)
@given(
    height=st.integers(2, 9),
    width=st.integers(2, 9),
    channels=st.integers(1, 3),
    seed=st.integers(0, 2**16),
)
def test_wrapped_shifts_form_a_unitary_group(height, width, channels, seed):
    rng = np.random.RandomState(seed)
    rows = rng.rand(2, height * width * channels)
    family = Translation(None, wrap=True, shape=(height, width, channels))
    orbit = family.orbit(rows)
    assert orbit.shape[1] == family.n_elements == height * width
    i, j = rng.randint(orbit.shape[1], size=2)
    # closure: shift i after shift j is a listed shift, and some shift undoes j
    twice = family.orbit(orbit[:, j])
    assert (np.abs(orbit - twice[:, i : i + 1]).max(axis=(0, 2)) == 0).any()
    assert (np.abs(twice - rows[:, None]).max(axis=(0, 2)) == 0).any()
    norms = np.linalg.norm(orbit, axis=2)
    np.testing.assert_allclose(norms, np.linalg.norm(rows, axis=1)[:, None] + 0 * norms)


@settings(max_examples=40, deadline=None)
@given(
    angle=st.floats(0, 180),
    factor=st.floats(1, 2),
    seed=st.integers(0, 2**16),
    fill=st.sampled_from(["zero", "edge", "wrap"]),
)
def test_affine_families_are_linear_and_never_exceed_the_range(angle, factor, seed, fill):
    rng = np.random.RandomState(seed)
    a, b = rng.rand(2, 1, 49)
    family = Rotation(angle, n_steps=3, fill=fill) * Scaling(factor, fill=fill)
    orbit = family.orbit(a)
    combined = 2 * orbit - 3 * family.orbit(b)
    np.testing.assert_allclose(family.orbit(2 * a - 3 * b), combined, atol=1e-9)
    assert orbit.min() >= -1e-12
    assert orbit.max() <= a.max() + 1e-9


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (Translation(-1), "radius=-1"),
        (Translation(None), "needs wrap=True"),
        (Translation(3, step=0), "step=0"),
        (Translation(5, wrap=True), "covers more than all 9"),
        (Translation(1, step=0.5, wrap=True), "step=0.5 must be a whole number"),
        (Translation(1, fill="mirror"), "fill='mirror' is unknown"),
        (Rotation(200), "between 0 and 180"),
        (Rotation(20, n_steps=4), "n_steps=4 must be odd"),
        (Scaling(0.9), "at least 1"),
        (Shear(0.1, axis=2), "axis=2"),
        (Reflection(axis=2), "axis=2"),
        (Shear(np.nan), "amount=nan must be a number, at least 0"),
        (Rotation(10, shape=(9, 8)), "72 features, but X has 81"),
        (Rotation(10, shape=81), r"shape=\(height, width\)"),
    ],
)
def test_wrong_parameters_get_clear_errors(family, message, images):
    with pytest.raises(ValueError, match=message):
        family.orbit(images.reshape(3, -1))


def test_a_row_that_is_not_square_asks_for_a_shape():
    with pytest.raises(ValueError, match=r"80 features are not a square one: pass shape="):
        Rotation(10).orbit(np.ones((2, 80)))


def test_reflections_merge_with_any_fill():
    family = Rotation(10, fill="edge") * Reflection(1) * Shear(0.1, fill="edge")
    action = family.elements(81)
    assert isinstance(action, Affine)
    assert action.fill == "edge"


def test_a_line_of_pixels_shifts_along_itself_only():
    signal = np.arange(1.0, 6.0)[None]
    orbit = Translation(1, shape=(1, 5)).orbit(signal)[0]
    assert np.array_equal(orbit, [[1, 2, 3, 4, 5], [2, 3, 4, 5, 0], [0, 1, 2, 3, 4]])
