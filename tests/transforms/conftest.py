"""Rows that several tests of families share."""

import numpy as np
import pytest
from scipy import ndimage


@pytest.fixture
def images():
    return np.random.RandomState(0).rand(3, 9, 9)


@pytest.fixture
def blobs():
    """Return a function that makes smooth images far from the border, which interpolate well."""

    def make(n=4, side=28, seed=0):
        rng = np.random.RandomState(seed)
        out = np.zeros((n, side, side))
        out[:, 8:-8, 8:-8] = rng.rand(n, side - 16, side - 16)
        return ndimage.gaussian_filter(out, (0, 2, 2))

    return make
