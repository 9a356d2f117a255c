"""Families that act on a grid of pixels: images, spectrograms, cyclic sequences.

:class:`ImageFamily` is the base class of all of them. :class:`AffineFamily` is the base class of
affine maps, which are exponentials of linear combinations of generators. Products of affine
families multiply the matrices, so that pixels are interpolated once. Tangents are image gradients
along the velocity field of each generator.
"""

from __future__ import annotations

from abc import abstractmethod
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from invarlearn._utils.validation import Shape, check_choice, check_number, matching_shape
from invarlearn.transforms._parameters import declared_features
from invarlearn.transforms.actions import Action, Affine, Rows
from invarlearn.transforms.base import Family
from invarlearn.transforms.domains import IMAGE

Grid = tuple[int, int, int]

# The modes of scipy.ndimage and numpy.pad for each fill.
_NDIMAGE_MODE = {"zero": "constant", "edge": "nearest", "wrap": "wrap"}
_PAD_MODE = {"zero": "constant", "edge": "edge", "wrap": "wrap"}


def generator_matrix(*entries: tuple[int, int, float]) -> NDArray[np.float64]:
    """Return a 3 x 3 matrix of zeros with these (row, column, value) entries."""
    matrix = np.zeros((3, 3))
    for row, column, value in entries:
        matrix[row, column] = value
    return matrix


DOWN = generator_matrix((0, 2, 1.0))
RIGHT = generator_matrix((1, 2, 1.0))


def image_shape(
    shape: Shape, n_features: int, name: str, what: str = "image", axes: str = "height, width"
) -> tuple[int, ...]:
    """Return the shape of a row of pixels, without channels or with them.

    Parameters
    ----------
    shape : int, tuple or None
        None: a square image of one channel.
    n_features : int
        Number of features of a row.
    name, what, axes : str
        Name of the caller, kind of a row and names of its axes, for error messages.

    Returns
    -------
    tuple (height, width) or (height, width, channels)
    """
    if shape is None:
        side = isqrt(n_features)
        if side * side != n_features:
            raise ValueError(
                f"{name} acts on {what}s, and {n_features} features are "
                f"not a square one: pass shape=({axes}) or ({axes}, channels)"
                + f"; for a signal pass shape=(1, {n_features})"
                * (what == "image")
            )
        return (side, side)
    sides = matching_shape(shape, n_features, name)
    if len(sides) not in (2, 3):
        raise ValueError(f"{name} needs shape=({axes}) or ({axes}, channels), not {sides}")
    return sides


def as_grid(shape: tuple[int, ...]) -> Grid:
    """Return (height, width, channels) of a shape with or without channels."""
    return (shape[0], shape[1], shape[2] if len(shape) == 3 else 1)


def whole_shape(shape: Shape, n_features: int) -> Shape:
    """Return a shape with one -1 replaced by the size inferred from the number of features."""
    if not isinstance(shape, (tuple, list)) or list(shape).count(-1) != 1:
        return shape
    other_sides = max(1, -int(np.prod(shape)))
    return tuple(max(1, n_features // other_sides) if side == -1 else side for side in shape)


def image_grid(shape: Shape, n_features: int, name: str) -> Grid:
    """Return (height, width, channels) of a row of pixels; ``name`` is for the error."""
    return as_grid(image_shape(shape, n_features, name))


class ImageFamily(Family):
    """Base class of families that act on a row as a grid of pixels.

    Subclass it to write your own family of image transformations, with ``elements`` or ``draw`` as
    in :class:`Family`. Its domain is images, so estimators choose image features for it. Affine
    maps are easier to write as an :class:`AffineFamily`.

    A subclass inherits :meth:`grid`, :meth:`smooth`, :meth:`gradients` and :meth:`resolve_fill`. It
    must have the parameter ``shape``, and may have the parameter ``fill``.

    Attributes
    ----------
    fill : {"zero", "edge", "wrap"}
        Values outside the grid: zeros, the nearest pixel, or the opposite side.
    axes : str
        Names of the axes of a row, for error messages.
    default_smoothing : float
        Default standard deviation, in pixels, of the Gaussian that smooths images before their
        gradient is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.ndimage import gaussian_filter
    >>> from invarlearn.transforms import Functions, ImageFamily
    >>> class Blur(ImageFamily):
    ...     def __init__(self, sigma=1.0, shape=None):
    ...         self.sigma = sigma
    ...         self.shape = shape
    ...     def elements(self, n_features):
    ...         height, width, channels = self.grid(n_features)
    ...         def blur(X):
    ...             images = X.reshape(-1, height, width, channels)
    ...             return gaussian_filter(images, (0, self.sigma, self.sigma, 0)).reshape(X.shape)
    ...         return Functions([np.copy, blur])
    >>> Blur().orbit(np.ones((5, 64))).shape
    (5, 2, 64)
    """

    domain = IMAGE
    axes = "height, width"
    fill: str = "zero"
    default_smoothing = 0.9

    def resolve_shape(self, n_features: int) -> tuple[int, ...]:
        return image_shape(self.shape, n_features, type(self).__name__, str(self.domain), self.axes)

    def grid(self, n_features: int) -> Grid:
        """Return (height, width, channels) of rows of ``n_features`` numbers."""
        return as_grid(self.resolve_shape(n_features))

    def resolve_fill(self) -> str:
        """Return the parameter ``fill``; raise ValueError unless it is "zero", "edge" or "wrap"."""
        return check_choice(self.fill, sorted(_PAD_MODE), "fill")

    def resolve_smoothing(self, smoothing: float | None) -> float:
        """Return the validated smoothing in pixels; None stands for ``default_smoothing``."""
        sigma = self.default_smoothing if smoothing is None else smoothing
        return check_number(sigma, "smoothing", low=0)

    def smooth(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        """Return the images that :meth:`tangents` differentiates: after Gaussian smoothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        smoothing : float, optional
            Standard deviation in pixels. None: the family's ``default_smoothing``.

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        X = self.validate_rows(X)
        images = X.reshape(-1, *self.grid(X.shape[1]))
        sigma = self.resolve_smoothing(smoothing)
        return smooth_images(images, sigma, self.resolve_fill()).reshape(X.shape)

    def gradients(self, X: ArrayLike, smoothing: float | None = None) -> tuple[Rows, Rows]:
        """Return the derivatives of the smoothed images, by central differences.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        smoothing : float, optional
            As in :meth:`smooth`.

        Returns
        -------
        down, right : arrays of shape (n_samples, height, width, channels)
            Derivatives along the rows and along the columns, per pixel.
        """
        X = self.validate_rows(X)
        images = X.reshape(-1, *self.grid(X.shape[1]))
        return image_gradients(images, self.resolve_smoothing(smoothing), self.resolve_fill())

    def _declared_grid(self) -> Grid | None:
        return None if self.shape is None else self.grid(declared_features(self, "the grid"))


class AffineFamily(ImageFamily):
    """Base class of families of affine maps of a grid of pixels.

    A family has generators G_1, ..., G_m (3 x 3 matrices that act on (row, column, 1), measured
    from the centre of the grid) and coordinates t of its elements. The element with coordinates t
    moves a pixel from p to ``exp(t_1 G_1 + ... + t_m G_m) p``; values between pixels are
    interpolated bilinearly. The tangent of generator j at an image x is minus the gradient of the
    smoothed image along the field G_j p.

    A subclass defines :meth:`generators` and :meth:`coordinates`. Orbits, random elements,
    tangents, flows and products that interpolate once follow from these.

    Examples
    --------
    >>> import numpy as np
    >>> from invarlearn.transforms import AffineFamily
    >>> class Stretch(AffineFamily):
    ...     ranges_about_zero = ("amount",)
    ...     def __init__(self, amount=0.2, fill="zero", shape=None):
    ...         self.amount = amount
    ...         self.fill = fill
    ...         self.shape = shape
    ...     def generators(self, grid):
    ...         return np.diag([0.0, 1.0, 0.0])[None]
    ...     def coordinates(self, grid):
    ...         return np.array([[0.0], [-self.amount], [self.amount]])
    >>> Stretch().orbit(np.ones((5, 64))).shape
    (5, 3, 64)
    """

    @abstractmethod
    def generators(self, grid: Grid) -> NDArray[np.float64]:
        """Return the generators.

        Parameters
        ----------
        grid : tuple (height, width, channels)

        Returns
        -------
        array of shape (n_directions, 3, 3)
        """
        raise NotImplementedError

    @abstractmethod
    def coordinates(self, grid: Grid | None) -> NDArray[np.float64]:
        """Return the coordinates of all elements, the identity first.

        Parameters
        ----------
        grid : tuple (height, width, channels), or None
            None if the family has no shape.

        Returns
        -------
        array of shape (n_elements, n_directions)
            The first row is zero.
        """
        raise NotImplementedError

    def draw_coordinates(
        self, k: int, rng: np.random.RandomState, grid: Grid
    ) -> NDArray[np.float64]:
        """Draw coordinates of random elements.

        By default, they are uniform between the smallest and the largest listed ones.

        Parameters
        ----------
        k : int
            Number of elements.
        rng : RandomState
        grid : tuple (height, width, channels)

        Returns
        -------
        array of shape (k, n_directions)
        """
        listed = self.coordinates(grid)
        return rng.uniform(listed.min(axis=0), listed.max(axis=0), size=(k, listed.shape[1]))

    # -- derived methods -------------------------------------------------------------------

    @property
    def n_elements(self) -> float:
        return self._count(self._declared_grid())

    def size(self, n_features: int) -> float:
        return self._count(self.grid(n_features))

    def _count(self, grid: Grid | None) -> int:
        return len(self.coordinates(grid))

    @property
    def n_directions(self) -> int:
        return len(self.generators((1, 1, 1)))

    def elements(self, n_features: int) -> Action:
        grid = self.grid(n_features)
        return self._action(self.coordinates(grid), grid)

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        grid = self.grid(n_features)
        return self._action(self.draw_coordinates(k, rng, grid), grid)

    def _action(self, coordinates: NDArray[np.float64], grid: Grid) -> Action:
        exponents = np.tensordot(coordinates, self.generators(grid), axes=1)
        return Affine(exponential(exponents), grid, self.resolve_fill())

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        X = self.validate_rows(X)
        grid = self.grid(X.shape[1])
        action = self._action(t * np.eye(self.n_directions), grid)
        return action.act(self.smooth(X, smoothing), 0, len(action))

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        X = self.validate_rows(X)
        grid = self.grid(X.shape[1])
        down, right = self.gradients(X, smoothing)
        out = np.empty((len(X), self.n_directions, X.shape[1]), dtype=X.dtype)
        for j, field in enumerate(self.generators(grid)):
            # T_t x (p) = x(exp(-tG) p), so its derivative at t = 0 is minus the gradient along G p
            v_down, v_right = velocity(field, grid).astype(X.dtype)
            tangent = -(v_down[..., None] * down + v_right[..., None] * right)
            out[:, j] = tangent.reshape(X.shape)
        return out


class OneParameterFamily(AffineFamily):
    """Base class of affine families with one generator and evenly spaced, symmetric coordinates.

    A subclass defines :meth:`generator` and :meth:`limit`, and must have the parameter ``n_steps``.
    """

    n_steps: int = 3

    @abstractmethod
    def generator(self) -> NDArray[np.float64]:
        """Return the generator, a 3 x 3 matrix."""
        raise NotImplementedError

    @abstractmethod
    def limit(self) -> float:
        """Return the largest coordinate; the smallest is its negative."""
        raise NotImplementedError

    def generators(self, grid: Grid) -> NDArray[np.float64]:
        return self.generator()[None]

    def coordinates(self, grid: Grid | None) -> NDArray[np.float64]:
        return steps(self.limit(), self.n_steps, "range")[:, None]

    def draw_coordinates(
        self, k: int, rng: np.random.RandomState, grid: Grid
    ) -> NDArray[np.float64]:
        return rng.uniform(-self.limit(), self.limit(), size=(k, 1))


def exponential(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrix exponential of each matrix, of shape (k, 3, 3)."""
    # the generators of shifts and shears have the square zero: the series has two terms
    if not (matrices @ matrices).any():
        return np.eye(3) + matrices
    from scipy.linalg import expm

    return expm(matrices)


def velocity(field: NDArray[np.float64], grid: Grid) -> NDArray[np.float64]:
    """Return the velocity of every pixel, down and to the right: (2, height, width)."""
    height, width, _ = grid
    row = np.arange(height)[:, None] - (height - 1) / 2
    column = np.arange(width)[None, :] - (width - 1) / 2
    return np.stack([field[i, 0] * row + field[i, 1] * column + field[i, 2] for i in (0, 1)])


def smooth_images(images: Rows, sigma: float, fill: str) -> Rows:
    """Smooth images with a Gaussian along the axes of more than one pixel.

    Parameters
    ----------
    images : array of shape (n_samples, height, width, channels)
    sigma : float
        Standard deviation in pixels.
    fill : {"zero", "edge", "wrap"}

    Returns
    -------
    array of shape (n_samples, height, width, channels)
    """
    sigmas = [0.0, *(sigma if size > 1 else 0.0 for size in images.shape[1:3]), 0.0]
    if not any(sigmas):
        return images
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(images, sigmas, mode=_NDIMAGE_MODE[fill])


def image_gradients(images: Rows, sigma: float, fill: str) -> tuple[Rows, Rows]:
    """Return the central differences of smoothed images, down and to the right.

    Images and results have the shape (n_samples, height, width, channels).
    """
    images = smooth_images(images, sigma, fill)
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)), mode=_PAD_MODE[fill])  # type: ignore[call-overload]
    down = (padded[:, 2:, 1:-1] - padded[:, :-2, 1:-1]) / 2
    right = (padded[:, 1:-1, 2:] - padded[:, 1:-1, :-2]) / 2
    return down, right


def steps(limit: float, n_steps: int, name: str) -> NDArray[np.float64]:
    """Return ``n_steps`` evenly spaced numbers from ``-limit`` to ``limit``, zero first.

    ``name`` is the name of the parameter that sets the limit, for the error message.
    """
    check_number(limit, name, low=0)
    if check_number(n_steps, "n_steps", low=1, whole=True) % 2 == 0:
        raise ValueError(f"n_steps={n_steps} must be odd, so that the identity is one of the steps")
    positive = limit * np.arange(1, n_steps // 2 + 1) / max(n_steps // 2, 1)
    return np.concatenate([[0.0], -positive[::-1], positive])
