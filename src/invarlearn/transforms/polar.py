"""Images in polar coordinates, and their rotations."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from invarlearn._utils.validation import Shape, check_number
from invarlearn.transforms.actions import Rows
from invarlearn.transforms.base import Family
from invarlearn.transforms.cyclic import CyclicFamily
from invarlearn.transforms.domains import POLAR_IMAGE
from invarlearn.transforms.images import Translation
from invarlearn.transforms.interpolation import bilinear_reading


class PolarRotation(CyclicFamily):
    """Rotations of images in polar coordinates: exact cyclic shifts of the sectors.

    Rows have shape (annuli, sectors), as returned by :func:`to_polar`. A rotation by one sector
    moves every pixel to the next sector (Liu et al., 2022, section 2.4). Rotations are unitary; all
    of them together are a group.

    Parameters
    ----------
    radius : int or None, default=None
        The largest rotation on either side, in sectors. None: the full circle.
    step : int, default=1
        Distance between neighbouring rotations, in sectors.
    shape : tuple, optional
        (annuli, sectors) or (annuli, sectors, channels). None: as many sectors as annuli.

    Examples
    --------
    >>> PolarRotation(shape=(1, 4)).orbit([[1.0, 2.0, 3.0, 4.0]])[0, 1]
    array([4., 1., 2., 3.])
    """

    # without a name in specifications: files contain images, not polar images
    spec_name = ""
    domain = POLAR_IMAGE
    axes = "annuli, sectors"

    def __init__(self, radius: int | None = None, step: int = 1, shape: Shape = None):
        self.radius = radius
        self.step = step
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(), cls(radius=2)]


def to_polar(X: ArrayLike, n_annuli: int = 14, n_sectors: int = 48, shape: Shape = None) -> Rows:
    """Resample images into annuli and sectors, for :class:`PolarRotation`.

    Each polar pixel is the value of the image at its centre, interpolated bilinearly, times the
    square root of its area. With these weights, inner products of polar images approximate those of
    the images. Interpolation blurs: norms of sharp images such as digits are about 5 % smaller. For
    a pipeline, wrap this function in :class:`sklearn.preprocessing.FunctionTransformer`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    n_annuli, n_sectors : int
        The polar grid; rotations by multiples of ``360 / n_sectors`` degrees become exact.
    shape : tuple, optional
        Shape of an image: (height, width) or (height, width, channels). None: a square image.

    Returns
    -------
    array of shape (n_samples, n_annuli * n_sectors * channels)

    Examples
    --------
    >>> import numpy as np
    >>> to_polar(np.ones((2, 784)), n_annuli=10, n_sectors=36).shape
    (2, 360)
    """
    check_number(n_annuli, "n_annuli", low=1, whole=True)
    check_number(n_sectors, "n_sectors", low=1, whole=True)
    images = Translation(shape=shape)
    X = images.validate_rows(X)
    height, width, channels = images.grid(X.shape[1])
    outer_radius = min(height, width) / 2
    radii = (np.arange(n_annuli) + 0.5) * outer_radius / n_annuli
    angles = (np.arange(n_sectors) + 0.5) * 2 * np.pi / n_sectors
    areas = radii * (outer_radius / n_annuli) * (2 * np.pi / n_sectors)
    # sectors run counterclockwise, as the angles of Rotation
    rows = (height - 1) / 2 - np.outer(radii, np.sin(angles)).ravel()
    columns = (width - 1) / 2 + np.outer(radii, np.cos(angles)).ravel()
    reading = bilinear_reading(np.stack([rows, columns]), (height, width), "zero", X.dtype)
    weights = np.repeat(np.sqrt(areas), n_sectors * channels).astype(X.dtype)
    return reading.read(X, channels) * weights
