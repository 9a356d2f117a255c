"""Images in polar coordinates against the images themselves."""

import numpy as np

from invarlearn.transforms import PolarRotation, to_polar


def test_polar_pixels_keep_inner_products_and_rotate_exactly(blobs):
    images = blobs(6, 28, seed=1)
    polar = to_polar(images.reshape(6, -1), n_annuli=28, n_sectors=96)
    cartesian = images.reshape(6, -1) @ images.reshape(6, -1).T
    np.testing.assert_allclose(polar @ polar.T, cartesian, rtol=0.01)
    # a quarter rotation of the image is 24 sectors
    rotated = to_polar(np.rot90(images, axes=(1, 2)).reshape(6, -1), 28, 96)
    orbit = PolarRotation(shape=(28, 96)).orbit(polar)
    np.testing.assert_allclose(orbit[:, 24], rotated, atol=1e-9)
