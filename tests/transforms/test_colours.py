"""Changes of colours against scipy's rotations and their formulas."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Rotation3D

from invarlearn.transforms import Brightness, ColourJitter, Contrast, Hue, Saturation

SHAPE = (4, 5, 3)


def rows(n=6):
    return np.random.RandomState(0).rand(n, 60)


def test_hue_rotates_colours_about_grey():
    X = rows()
    orbit = Hue(40, n_steps=5, shape=SHAPE).orbit(X).reshape(6, 5, 20, 3)
    for j, degrees in enumerate([0, -40, -20, 20, 40]):
        axis = np.ones(3) / np.sqrt(3)
        rotation = Rotation3D.from_rotvec(np.deg2rad(degrees) * axis)
        expected = rotation.apply(X.reshape(-1, 3)).reshape(6, 20, 3)
        np.testing.assert_allclose(orbit[:, j], expected, atol=1e-12)


def test_120_degrees_turn_red_into_green():
    red_to_green = Hue(120, shape=(1, 1, 3)).orbit(np.array([[0.7, 0.2, 0.1]]))[0, 2]
    np.testing.assert_allclose(red_to_green, [0.1, 0.7, 0.2], atol=1e-12)


def test_saturation_scales_differences_from_grey():
    X = rows()
    pale, strong = Saturation(2.0, shape=SHAPE).orbit(X)[:, 1:].transpose(1, 0, 2)
    colours = X.reshape(6, 20, 3)
    grey = colours.mean(axis=2, keepdims=True)
    np.testing.assert_allclose(strong.reshape(colours.shape), grey + 2 * (colours - grey))
    np.testing.assert_allclose(pale.reshape(colours.shape), grey + (colours - grey) / 2)


@pytest.mark.parametrize("family", [Hue(60, shape=SHAPE), Saturation(2.0, shape=SHAPE)], ids=repr)
def test_greys_stay(family):
    grey = rows()[:, ::3].repeat(3, axis=1)
    np.testing.assert_allclose(family.orbit(grey), grey[:, None].repeat(3, axis=1), atol=1e-12)


def test_listed_jitter_changes_one_property_at_a_time():
    X = rows()
    orbit = ColourJitter(0.2, 1.5, 2.0, 40, shape=SHAPE).orbit(X)
    parts = [
        Brightness(0.2, shape=SHAPE),
        Contrast(1.5, shape=SHAPE),
        Saturation(2.0, shape=SHAPE),
        Hue(40, shape=SHAPE),
    ]
    expected = np.concatenate([X[:, None], *(part.orbit(X)[:, 1:] for part in parts)], axis=1)
    np.testing.assert_allclose(orbit, expected)


def test_random_jitter_changes_all_properties():
    X = rows(1)
    jitter = ColourJitter(0.2, 1.5, 2.0, 40, shape=SHAPE)
    changed = jitter.sample(50, random_state=0)(X)[0].reshape(50, 20, 3)
    colours = X.reshape(20, 3)
    shifts = changed.mean(axis=(1, 2)) - colours.mean()
    assert 0.1 < np.abs(shifts).max() <= 0.2
    # differences between pixels of equal chroma: contrast; chroma: contrast, saturation and hue
    grey, before = changed.mean(axis=2), colours.mean(axis=1)
    contrasts = grey.std(axis=1) / before.std()
    assert 1 / 1.5 - 1e-9 <= contrasts.min() < 0.8
    assert 1.25 < contrasts.max() <= 1.5 + 1e-9
    chroma = np.linalg.norm(changed - grey[..., None], axis=(1, 2))
    saturations = chroma / np.linalg.norm(colours - before[:, None]) / contrasts
    assert 0.5 - 1e-9 <= saturations.min() < 0.7
    assert 1.5 < saturations.max() <= 2.0 + 1e-9
    first, last = (changed - grey[..., None])[:, 0], (colours - before[:, None])[0]
    cosines = first @ last / np.linalg.norm(first, axis=1) / np.linalg.norm(last)
    angles = np.rad2deg(np.arccos(np.clip(cosines, -1, 1)))
    assert 25 < angles.max() <= 40 + 1e-6


@pytest.mark.parametrize("family", [Hue(), Saturation(), ColourJitter()], ids=repr)
def test_grey_images_get_a_clear_error(family):
    name = type(family).__name__
    message = rf"{name} acts on images of three colours, but the shape of a row is unknown: pass"
    for n_features in (64, 75):
        with pytest.raises(ValueError, match=message):
            family.orbit(np.ones((1, n_features)))
        with pytest.raises(ValueError, match=message):
            family.size(n_features)
    with pytest.raises(ValueError, match=rf"{name} acts on .* is \(4, 8, 2\): pass shape=\(height"):
        family.with_shape((4, 8, 2)).sample(1, random_state=0)(np.ones((1, 64)))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"brightness": -5}, "brightness=-5"),
        ({"contrast": 0.5}, "contrast=0.5"),
        ({"saturation": 0.5}, "saturation=0.5"),
        ({"hue": 180}, "hue=180"),
    ],
)
def test_errors_name_the_parameters_of_the_family(params, message):
    with pytest.raises(ValueError, match=message):
        ColourJitter(**params, shape=SHAPE).orbit(rows())


def test_wider_ranges_of_hue_end_below_half_a_turn():
    assert repr(Hue(100).scaled(4)) == "Hue(degrees=179.0)"
    assert ColourJitter(hue=100).scaled(4).hue == 179.0
    with pytest.raises(ValueError, match="degrees=180"):
        Hue(180, shape=SHAPE).orbit(rows())
