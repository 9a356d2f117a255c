"""Blurred images."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from invarlearn._utils.validation import Shape, check_number
from invarlearn.transforms.actions import Action, Functions, Rows
from invarlearn.transforms.base import Family
from invarlearn.transforms.grid import Grid, ImageFamily, smooth_images


class Smooth:
    """A function of rows: convolution of images with a Gaussian.

    Parameters
    ----------
    sigma : float
        Standard deviation in pixels.
    grid : tuple (height, width, channels)
    fill : {"zero", "edge", "wrap"}
    """

    def __init__(self, sigma: float, grid: Grid, fill: str):
        self.sigma = sigma
        self.grid = grid
        self.fill = fill

    def __call__(self, X: Rows) -> Rows:
        images = X.reshape(-1, *self.grid)
        return smooth_images(images, self.sigma, self.fill).reshape(X.shape)


class Blur(ImageFamily):
    """Blurs of an image: out of focus by different amounts.

    An element convolves the image with a Gaussian. Random elements have any standard deviation up
    to ``sigma``, evenly distributed. Its tangent is that of the variance: half the Laplacian of the
    smoothed image. The family is neither unitary nor a group.

    Parameters
    ----------
    sigma : float, default=0.7
        The largest standard deviation of the Gaussian, in pixels.
    n_steps : int, default=2
        Number of standard deviations from 0 to sigma.
    fill : {"zero", "edge", "wrap"}, default="zero"
        Values of pixels outside the image.
    shape : tuple, optional
        Shape of a row, as in :class:`Translation`.

    Examples
    --------
    >>> import numpy as np
    >>> Blur(1.0).orbit(np.eye(8).reshape(1, 64)).shape
    (1, 2, 64)
    """

    spec_name = "blur"
    stored_types = (Smooth,)
    ranges_about_zero = ("sigma",)

    def __init__(
        self, sigma: float = 0.7, n_steps: int = 2, fill: str = "zero", shape: Shape = None
    ):
        self.sigma = sigma
        self.n_steps = n_steps
        self.fill = fill
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(), cls(1.0, n_steps=4, fill="edge", shape=(4, 8, 2)), cls(shape=(1, 64))]

    @property
    def n_elements(self) -> float:
        return int(check_number(self.n_steps, "n_steps", low=1, whole=True))

    @property
    def n_directions(self) -> int:
        return 1

    def elements(self, n_features: int) -> Action:
        sigma = check_number(self.sigma, "sigma", low=0)
        return self._blurred(np.linspace(0, sigma, int(self.n_elements)), n_features)

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        sigma = check_number(self.sigma, "sigma", low=0)
        return self._blurred(rng.uniform(0, sigma, size=k), n_features)

    def _blurred(self, sigmas: NDArray[np.float64], n_features: int) -> Action:
        grid, fill = self.grid(n_features), self.resolve_fill()
        return Functions([Smooth(float(sigma), grid, fill) for sigma in sigmas])

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        X = self.validate_rows(X)
        change = X.dtype.type(t) * self.tangents(X, smoothing)
        return self.smooth(X, smoothing)[:, None] + change

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        from scipy.ndimage import convolve1d

        rows = self.smooth(X, smoothing)
        images = rows.reshape(-1, *self.grid(rows.shape[1]))
        mode = {"zero": "constant", "edge": "nearest", "wrap": "wrap"}[self.resolve_fill()]
        axes = [axis for axis in (1, 2) if images.shape[axis] > 1]
        second = [convolve1d(images, [0.5, -1.0, 0.5], axis, mode=mode) for axis in axes]
        return sum(second, np.zeros_like(images)).reshape(len(rows), 1, -1)
