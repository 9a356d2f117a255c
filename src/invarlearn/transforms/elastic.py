"""Elastic deformations: every pixel moves a little, neighbours alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from invarlearn.transforms._actions import Action, Functions, Rows, bilinear_reading
from invarlearn.transforms._checks import Shape, check_number
from invarlearn.transforms.grid import Grid, GridFamily


class Elastic(GridFamily):
    """Random smooth deformations of an image, as of paper that is crumpled.

    Each pixel is read where a random field points: independent numbers, uniform between -1 and 1,
    blurred with a Gaussian and multiplied by ``alpha``, one field down and one to the right. There
    are too many elements to list; :meth:`sample` draws some.

    Parameters
    ----------
    alpha : float, default=34.0
        How far pixels move: the standard deviation of a displacement is about ``0.16 alpha /
        sigma`` pixels.
    sigma : float, default=4.0
        Standard deviation of the blur, in pixels: nearer pixels move alike.
    fill : {"zero", "edge", "wrap"}, default="zero"
        What lies outside the image.
    shape : tuple, optional
        As in :class:`Translation`.

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

    _limits = ("alpha",)

    def __init__(
        self, alpha: float = 34.0, sigma: float = 4.0, fill: str = "zero", shape: Shape = None
    ):
        self.alpha = alpha
        self.sigma = sigma
        self.fill = fill
        self.shape = shape

    def _drawn(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        grid, fill = self._grid(n_features), self._outside()
        alpha = check_number(self.alpha, "alpha", low=0)
        sigma = check_number(self.sigma, "sigma", low=0)
        fields = [displacement(grid[:2], alpha, sigma, rng) for _ in range(k)]
        return Functions([_Deform(field, grid, fill) for field in fields])


class _Deform:
    """Read images where a field points."""

    def __init__(self, field: NDArray[np.float64], grid: Grid, fill: str):
        self.field = field
        self.grid = grid
        self.fill = fill

    def __call__(self, X: Rows) -> Rows:
        size = self.grid[:2]
        source = (np.indices(size) + self.field).reshape(2, -1)
        return bilinear_reading(source, size, self.fill, X.dtype).read(X, self.grid[2])


def displacement(
    size: tuple[int, int], alpha: float, sigma: float, rng: np.random.RandomState
) -> NDArray[np.float64]:
    """Draw how far each pixel is read down and to the right of itself: (2, height, width)."""
    # drawn beyond the borders too, so that the field is the same kind of thing everywhere
    margin = int(np.ceil(4 * sigma))
    height, width = size
    noise = rng.uniform(-1, 1, size=(2, height + 2 * margin, width + 2 * margin))
    field = alpha * gaussian_filter(noise, (0, sigma, sigma), mode="constant")
    field = field[:, margin : margin + height, margin : margin + width]
    # along an axis of one pixel there is nowhere to go
    return field * (np.array(size) > 1)[:, None, None]
