"""Elastic deformations: smooth random displacements of pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from invarlearn._utils.validation import Shape, check_number
from invarlearn.transforms.actions import Action, Functions, Rows
from invarlearn.transforms.base import Family
from invarlearn.transforms.grid import Grid, ImageFamily
from invarlearn.transforms.interpolation import bilinear_reading


class Deform:
    """A function of rows that reads each pixel of an image at its displaced position.

    Parameters
    ----------
    field : array of shape (2, height, width)
        Displacements in pixels, down and to the right.
    grid : tuple (height, width, channels)
    fill : {"zero", "edge", "wrap"}
    """

    def __init__(self, field: NDArray[np.float64], grid: Grid, fill: str):
        self.field = field
        self.grid = grid
        self.fill = fill

    def __call__(self, X: Rows) -> Rows:
        size = self.grid[:2]
        source = (np.indices(size) + self.field).reshape(2, -1)
        return bilinear_reading(source, size, self.fill, X.dtype).read(X, self.grid[2])


class Elastic(ImageFamily):
    """Elastic deformations of an image: smooth random displacements of its pixels.

    An element reads the image at ``p + u(p)`` for each pixel p. The displacement u is a random
    field, uniform between -1 and 1 and independent at each pixel, convolved with a Gaussian and
    multiplied by ``alpha``; one field down and one to the right. The elements cannot be listed: use
    :meth:`sample`, or :class:`Sampled` for a list of random elements. The family is neither unitary
    nor a group.

    Parameters
    ----------
    alpha : float, default=34.0
        Size of the displacements: their standard deviation is about ``0.16 alpha / sigma`` pixels.
    sigma : float, default=4.0
        Standard deviation of the Gaussian, in pixels: the distance over which displacements are
        correlated.
    fill : {"zero", "edge", "wrap"}, default="zero"
        Values of pixels outside the image.
    shape : tuple, optional
        Shape of a row, as in :class:`Translation`.

    References
    ----------
    Simard, Steinkraus and Platt, Best practices for convolutional neural networks applied to visual
    document analysis (2003).

    Examples
    --------
    >>> import numpy as np
    >>> family = Elastic(8.0, 3.0).with_shape((8, 8))
    >>> family.sample(5, random_state=0)(np.ones((2, 64))).shape
    (2, 5, 64)
    """

    spec_name = "elastic"
    stored_types = (Deform,)
    ranges_about_zero = ("alpha",)

    def __init__(
        self, alpha: float = 34.0, sigma: float = 4.0, fill: str = "zero", shape: Shape = None
    ):
        self.alpha = alpha
        self.sigma = sigma
        self.fill = fill
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(8.0, 3.0), cls(20.0, 2.0, fill="edge")]

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        grid, fill = self.grid(n_features), self.resolve_fill()
        alpha = check_number(self.alpha, "alpha", low=0)
        sigma = check_number(self.sigma, "sigma", low=0)
        fields = [displacement(grid[:2], alpha, sigma, rng) for _ in range(k)]
        return Functions([Deform(field, grid, fill) for field in fields])


def displacement(
    size: tuple[int, int], alpha: float, sigma: float, rng: np.random.RandomState
) -> NDArray[np.float64]:
    """Draw a displacement field, in pixels down and to the right.

    Parameters
    ----------
    size : tuple (height, width)
    alpha, sigma : float
        As in :class:`Elastic`.
    rng : RandomState

    Returns
    -------
    array of shape (2, height, width)
    """
    # drawn beyond the borders too, so that the field has the same distribution everywhere
    margin = int(np.ceil(4 * sigma))
    height, width = size
    noise = rng.uniform(-1, 1, size=(2, height + 2 * margin, width + 2 * margin))
    field = alpha * gaussian_filter(noise, (0, sigma, sigma), mode="constant")
    field = field[:, margin : margin + height, margin : margin + width]
    # there are no displacements along an axis of one pixel
    return field * (np.array(size) > 1)[:, None, None]
