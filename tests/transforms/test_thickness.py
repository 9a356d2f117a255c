"""Thickness of strokes against the formula, with gradients of numpy."""

import numpy as np
from scipy import ndimage

from invarlearn.transforms import Thickness


def test_thickness_adds_the_squared_gradient(images):
    rows = images.reshape(3, -1)
    orbit = Thickness(0.5, n_steps=5).orbit(rows)
    smooth = ndimage.gaussian_filter(images, (0, 0.9, 0.9), mode="constant")
    padded = np.pad(smooth, ((0, 0), (1, 1), (1, 1)))
    down = (padded[:, 2:, 1:-1] - padded[:, :-2, 1:-1]) / 2
    right = (padded[:, 1:-1, 2:] - padded[:, 1:-1, :-2]) / 2
    expected = images + 0.25 * (down**2 + right**2)
    np.testing.assert_allclose(orbit[:, 3].reshape(3, 9, 9), expected, atol=1e-12)
