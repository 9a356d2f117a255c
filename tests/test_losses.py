"""Losses against numerical derivatives and conjugates by brute force."""

import numpy as np
import pytest

from invarlearn.losses import (
    REGRESSION_LOSSES,
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Logistic,
    Squared,
    make_loss,
)

LOSSES = [
    Squared(),
    Logistic(),
    Hinge(),
    Hinge(0.3),
    Absolute(),
    Absolute(0.3),
    EpsilonInsensitive(epsilon=0.2),
    EpsilonInsensitive(0.1, 0.2),
    EpsilonInsensitive(0.5, 0.2),
]
# no kink of any loss above is on this grid
U = np.linspace(-3.017, 3.019, 61)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_slopes_and_curvatures_are_derivatives(loss, y):
    step = 1e-6
    slope = (loss.value(U + step, y) - loss.value(U - step, y)) / (2 * step)
    np.testing.assert_allclose(loss.slope(U, y), slope, atol=1e-8)
    curvature = (loss.slope(U + step, y) - loss.slope(U - step, y)) / (2 * step)
    np.testing.assert_allclose(loss.curvature(U, y), curvature, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_conjugates_equal_brute_force(loss, y):
    fine = np.linspace(-40, 40, 160_001)
    for s in np.unique(loss.slope(U, y)):
        if abs(s) < 1 or not isinstance(loss, Squared):
            best = (s * fine - loss.value(fine, y)).max()
            conjugate = loss.conjugate(np.array([s]), y)[0]
            assert conjugate == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("loss", [Hinge(), Absolute(), EpsilonInsensitive(epsilon=0.2)], ids=repr)
def test_the_rounding_error_is_within_its_bound(loss):
    assert not loss.is_smooth
    for h in (0.2, 0.01):
        smooth = loss.smoothed(h)
        assert smooth.is_smooth
        assert smooth.smoothed(0.001) is smooth
        apart = smooth.value(U, 1.0) - loss.value(U, 1.0)
        if isinstance(loss, Absolute):
            assert apart.max() <= 1e-12
            assert apart.min() >= -h / 2 - 1e-12
        else:
            assert apart.min() >= -1e-12
            assert apart.max() <= h / 4 + 1e-12


def test_losses_are_made_by_name():
    assert make_loss("epsilon_insensitive", REGRESSION_LOSSES, "loss", 0.0, 0.0) == Absolute()
    with pytest.raises(ValueError, match="penalty='cubic' is unknown: choose one of absolute"):
        make_loss("cubic", REGRESSION_LOSSES, "penalty", 0.0, 0.1)
    with pytest.raises(ValueError, match="smoothing=-1"):
        make_loss("squared", REGRESSION_LOSSES, "penalty", -1, 0.1)
    with pytest.raises(ValueError, match="use Absolute"):
        EpsilonInsensitive(epsilon=0)
