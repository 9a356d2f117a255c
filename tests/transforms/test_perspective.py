"""Perspectives against projective maps and the interpolation of scipy."""

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from invarlearn.transforms import Perspective


def projective(down, right, height, width):
    """The positions that the pixels come from, by a 3 x 3 matrix in homogeneous coordinates."""
    matrix = np.eye(3)
    matrix[2] = -down / (height / 2), -right / (width / 2), 1
    places = np.indices((height, width), dtype=float).reshape(2, -1)
    centre = np.array([[(height - 1) / 2], [(width - 1) / 2]])
    homogeneous = matrix @ np.vstack([places - centre, np.ones(height * width)])
    return homogeneous[:2] / homogeneous[2] + centre


def test_elements_are_projective_maps():
    X = np.random.RandomState(0).rand(2, 9 * 14)
    orbit = Perspective(0.3, shape=(9, 14)).orbit(X)
    tilts = [(a, b) for a in (0, -0.3, 0.3) for b in (0, -0.3, 0.3)]
    for j, (down, right) in enumerate(tilts):
        source = projective(down, right, 9, 14)
        for x, row in zip(X, orbit[:, j], strict=True):
            image = np.pad(x.reshape(9, 14), 20)
            expected = map_coordinates(image, source + 20, order=1)
            np.testing.assert_allclose(row, expected, atol=1e-7)


def test_straight_lines_stay_straight_and_one_side_grows():
    image = np.zeros((41, 41))
    image[:, 10] = image[:, 30] = 1
    tilted = Perspective(0.3).orbit(image.reshape(1, -1))[0].reshape(9, 41, 41)
    # tilted about the horizontal axis: the distance of both lines changes linearly along the rows
    rows, columns = np.arange(6, 35), np.arange(21)
    for down in (1 * 3, 2 * 3):
        left = tilted[down][rows, :21]
        places = left @ columns / left.sum(axis=1)
        slope, offset = np.polyfit(rows, places, 1)
        assert np.abs(places - slope * rows - offset).max() < 0.2
        assert abs(slope) == pytest.approx(0.3 * 10 / 20.5, rel=0.05)


def test_colours_move_together():
    X = np.random.RandomState(0).rand(2, 8, 8, 3)
    moved = Perspective(0.2, shape=(8, 8, 3)).orbit(X.reshape(2, -1)).reshape(2, 9, 8, 8, 3)
    for channel in range(3):
        grey = Perspective(0.2, shape=(8, 8)).orbit(X[..., channel].reshape(2, -1))
        np.testing.assert_allclose(moved[..., channel].reshape(2, 9, -1), grey)


def test_too_large_tilts_get_a_clear_error():
    with pytest.raises(ValueError, match=r"amount=0.5 moves the corners of an image to infinity"):
        Perspective(0.5).orbit(np.ones((1, 64)))


def test_wider_ranges_stay_finite():
    wide = Perspective(0.15).scaled(10)
    assert wide.amount == 0.45
    assert np.isfinite(wide.orbit(np.random.RandomState(0).rand(2, 64))).all()


def test_signals_are_tilted_along_time_only():
    family = Perspective(0.2, shape=(1, 30))
    orbit = family.orbit(np.random.RandomState(0).rand(2, 30))
    assert orbit.shape == (2, family.n_elements, 30) == (2, 3, 30)
    assert not np.allclose(orbit[:, 1], orbit[:, 2])
    assert Perspective(n_steps=5).n_elements == 25
