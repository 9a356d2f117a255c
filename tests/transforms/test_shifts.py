"""Whole-pixel shifts taken out of families: the same orbits, however they are written."""

import numpy as np
import pytest

from invarlearn.transforms import (
    CyclicShift,
    Reflection,
    Rotation,
    Shear,
    Thickness,
    Translation,
)
from invarlearn.transforms._shifts import shifted

SHAPE = (5, 6)


def orbit_of(found, X):
    """Every shift of every canvas, cut out one by one: (n, elements, features)."""
    height, width, _ = found.grid
    parts = []
    for g in range(found.n_canvases):
        canvases = found.canvases(X, g)
        assert canvases.shape[1:3] == found.size
        for down in found.down:
            for right in found.right:
                start = (down - found.origin[0], right - found.origin[1])
                moved = np.roll(canvases, start, axis=(1, 2))[:, :height, :width]
                parts.append(moved.reshape(len(X), -1))
    return np.stack(parts, axis=1)


@pytest.mark.parametrize(
    ("family", "n_canvases", "periodic"),
    [
        (Translation(2, shape=SHAPE), 1, False),
        (Translation(1, fill="edge", shape=SHAPE), 1, False),
        (Translation(None, wrap=True, shape=SHAPE), 1, True),
        (Translation(1, wrap=True, shape=(5, 3, 2)), 1, True),
        (Translation(4, shape=(1, 30)), 1, False),
        (CyclicShift(shape=30), 1, True),
        (Translation(1, wrap=True, shape=SHAPE) * Rotation(20, shape=SHAPE), 3, True),
        (Translation(2) * Rotation(30, shape=SHAPE) * Shear(0.3), 9, False),
        (Translation(1, fill="wrap") * Rotation(30, fill="wrap", shape=SHAPE), 3, False),
        (Translation(2) * Reflection(shape=SHAPE), 2, False),
        (Translation(1) * Thickness(shape=SHAPE), 3, False),
    ],
    ids=repr,
)
def test_shifts_of_canvases_are_the_orbit(family, n_canvases, periodic):
    X = np.random.RandomState(0).rand(3, 30)
    found = shifted(family._listed(30))
    assert (found.n_canvases, found.periodic) == (n_canvases, periodic)
    ours, orbit = orbit_of(found, X), family.orbit(X)
    assert ours.shape == orbit.shape
    mark = np.random.RandomState(1).rand(30)
    np.testing.assert_allclose(np.sort(ours @ mark, axis=1), np.sort(orbit @ mark, axis=1))


@pytest.mark.parametrize(
    "family",
    [
        Rotation(20) * Translation(1, shape=SHAPE),
        Translation(1, step=0.5, shape=SHAPE),
        Rotation(20, shape=SHAPE),
        Translation(1, shape=SHAPE) | Rotation(20, shape=SHAPE),
    ],
    ids=repr,
)
def test_other_families_have_none(family):
    assert shifted(family._listed(30)) is None
