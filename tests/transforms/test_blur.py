"""Blurs against scipy, and their tangent against the heat equation."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from invarlearn.transforms import Blur, parse_family


@pytest.mark.parametrize(("fill", "mode"), [("zero", "constant"), ("edge", "nearest")])
def test_elements_are_convolutions_with_gaussians(fill, mode):
    X = np.random.RandomState(0).rand(3, 9 * 12 * 2)
    orbit = Blur(1.2, n_steps=4, fill=fill, shape=(9, 12, 2)).orbit(X)
    for j, sigma in enumerate([0, 0.4, 0.8, 1.2]):
        images = X.reshape(3, 9, 12, 2)
        expected = gaussian_filter(images, (0, sigma, sigma, 0), mode=mode)
        np.testing.assert_allclose(orbit[:, j].reshape(images.shape), expected, atol=1e-12)


def test_the_tangent_is_the_derivative_by_the_variance():
    """A Gaussian of variance v obeys the heat equation du/dv = Laplacian of u / 2."""
    X = np.random.RandomState(0).rand(2, 40 * 40)
    v, h = 9.0, 0.5
    images = X.reshape(2, 40, 40)
    after, before = (
        gaussian_filter(images, (0, s, s), mode="nearest", truncate=8)
        for s in (np.sqrt(v + h), np.sqrt(v - h))
    )
    tangent = Blur(fill="edge").tangents(X, smoothing=3.0).reshape(2, 40, 40)
    inside = (slice(None), slice(4, -4), slice(4, -4))
    derivative = ((after - before) / (2 * h))[inside]
    assert np.abs(tangent[inside] - derivative).max() < 0.05 * np.abs(derivative).max()


def test_signals_are_blurred_along_time():
    X = np.random.RandomState(0).rand(2, 30)
    blurred = Blur(2.0, shape=(1, 30)).orbit(X)[:, 1]
    np.testing.assert_allclose(blurred, gaussian_filter(X, (0, 2.0), mode="constant"))


def test_random_blurs_are_between_none_and_sigma():
    X = np.eye(15)[7][None]
    family = Blur(1.5, shape=(1, 15))
    peaks = family.sample(300, random_state=0)(X)[0, :, 7]
    assert peaks.max() > 0.99
    assert peaks.min() == pytest.approx(family.orbit(X)[0, 1, 7], rel=0.02)
    assert repr(parse_family("blur:1.5").scaled(2)) == "Blur(sigma=3.0)"
