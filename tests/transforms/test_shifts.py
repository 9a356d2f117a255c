"""Whole-pixel shifts factored out of families: their orbits stay the same."""

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
from invarlearn.transforms.shifts import factor_shifts

SHAPE = (5, 6)


def orbit_of(shifts, X):
    """Return every shift of every canvas: (n_samples, n_elements, n_features)."""
    height, width, _ = shifts.grid
    parts = []
    for g in range(shifts.n_canvases):
        canvases = shifts.canvases(X, g)
        assert canvases.shape[1:3] == shifts.size
        for down in shifts.down:
            for right in shifts.right:
                start = (down - shifts.origin[0], right - shifts.origin[1])
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
    shifts = factor_shifts(family.elements(30))
    assert (shifts.n_canvases, shifts.periodic) == (n_canvases, periodic)
    ours, orbit = orbit_of(shifts, X), family.orbit(X)
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
def test_other_families_have_no_shifts_to_factor(family):
    assert factor_shifts(family.elements(30)) is None
