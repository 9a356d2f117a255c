"""What may happen to an image: it moves, turns, grows, leans, is mirrored or gets bolder."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from invarlearn.transforms._actions import Action, Affine, Functions, Rows, bilinear_reading
from invarlearn.transforms._checks import Shape, check_number
from invarlearn.transforms.grid import (
    DOWN,
    RIGHT,
    AffineFamily,
    CyclicFamily,
    Grid,
    GridFamily,
    check_radius,
    cyclic_shifts,
    divides,
    generator,
    steps,
)


class Translation(AffineFamily):
    """Shifts of an image in both directions.

    Parameters
    ----------
    radius : float or None
        The largest shift in pixels, in each direction. None: all shifts, with ``wrap``.
    step : float, default=1
        Pixels between two shifts.
    wrap : bool, default=False
        Whether what leaves on one side comes back on the other. Such shifts are exact
        permutations of the pixels, and a group if there are all of them.
    fill : {"zero", "edge", "wrap"}, default="zero"
        What comes in from outside; "wrap" if ``wrap``.
    shape : tuple, optional
        Shape of a row: (height, width) or (height, width, channels). None: a square image.
        Along an axis of one pixel nothing is shifted, so (1, length) is a signal.

    Examples
    --------
    >>> Translation(2).n_elements
    25
    >>> Translation(1).orbit([[1.0, 2.0, 3.0, 4.0]])[0, 1].reshape(2, 2)
    array([[2., 0.],
           [4., 0.]])
    """

    def __init__(
        self,
        radius: float | None = 1,
        step: float = 1,
        wrap: bool = False,
        fill: str = "zero",
        shape: Shape = None,
    ):
        self.radius = radius
        self.step = step
        self.wrap = wrap
        self.fill = fill
        self.shape = shape

    @property
    def _limits(self) -> tuple[str, ...]:  # type: ignore[override]
        # what comes back on the other side moves by whole pixels only
        return () if self.wrap else ("radius", "step")

    def _generators(self, grid: Grid) -> NDArray[np.float64]:
        return np.stack([DOWN, RIGHT])

    def _shifts(self, side: int | None) -> NDArray[np.float64]:
        """List the shifts along an axis, zero first; along a single line there are none."""
        if self.wrap:
            return cyclic_shifts(self, self.radius, self.step, side)
        if self.radius is None:
            raise ValueError("radius=None, all shifts, needs wrap=True")
        count = check_radius(self.radius, self.step)
        if side is not None and 1 < side <= count * self.step:
            raise ValueError(
                f"radius={self.radius!r} moves all of an image of {side} pixels out of sight: "
                f"choose a radius below {side} (or check shape: height, width, then channels)"
            )
        return np.zeros(1) if side == 1 else steps(count * self.step, 2 * count + 1, "radius")

    def _coordinates(self, grid: Grid | None) -> NDArray[np.float64]:
        down, right = (self._shifts(side) for side in (grid[:2] if grid else (None, None)))
        pairs = np.stack(np.meshgrid(down, right, indexing="ij"), axis=-1)
        return pairs.reshape(-1, 2)

    def _count(self, grid: Grid | None) -> int:
        down, right = (self._shifts(side) for side in (grid[:2] if grid else (None, None)))
        return len(down) * len(right)

    def _random_coordinates(
        self, k: int, rng: np.random.RandomState, grid: Grid
    ) -> NDArray[np.float64]:
        if not self.wrap:
            return super()._random_coordinates(k, rng, grid)
        listed = self._coordinates(grid)
        return listed[rng.randint(len(listed), size=k)]

    def _outside(self) -> str:
        return "wrap" if self.wrap else super()._outside()

    @property
    def is_group(self) -> bool:  # type: ignore[override]
        if not self.wrap or self.radius is not None:
            return self.radius == 0
        return divides(self.step, self._known_grid(), axes=(0, 1))

    @property
    def is_unitary(self) -> bool:  # type: ignore[override]
        return bool(self.wrap) or self.radius == 0


class _OneParameter(AffineFamily):
    """Image families with one generator and a symmetric range of steps."""

    n_steps: int = 3

    @abstractmethod
    def _generator(self) -> NDArray[np.float64]:
        raise NotImplementedError

    @abstractmethod
    def _limit(self) -> float:
        """Give the largest coordinate."""
        raise NotImplementedError

    def _generators(self, grid: Grid) -> NDArray[np.float64]:
        return self._generator()[None]

    def _coordinates(self, grid: Grid | None) -> NDArray[np.float64]:
        return steps(self._limit(), self.n_steps, "range")[:, None]

    def _random_coordinates(
        self, k: int, rng: np.random.RandomState, grid: Grid
    ) -> NDArray[np.float64]:
        return rng.uniform(-self._limit(), self._limit(), size=(k, 1))


class Rotation(_OneParameter):
    """Rotations about the centre of an image, counterclockwise.

    Parameters
    ----------
    degrees : float
        The largest angle on either side. 180 means the full circle, evenly divided.
    n_steps : int, default=3
        How many angles; odd, so that 0 is one of them (any number on the full circle).
    fill : {"zero", "edge", "wrap"}, default="zero"
    shape : tuple, optional
        As in :class:`Translation`.

    Examples
    --------
    >>> Rotation(180, n_steps=4).orbit([[1.0, 2.0, 3.0, 4.0]])[0, 1].reshape(2, 2)
    array([[2., 4.],
           [1., 3.]])
    """

    _limits = ("degrees",)

    def __init__(
        self, degrees: float = 15, n_steps: int = 3, fill: str = "zero", shape: Shape = None
    ):
        self.degrees = degrees
        self.n_steps = n_steps
        self.fill = fill
        self.shape = shape

    def scaled(self, factor: float) -> Rotation:
        out: Any = super().scaled(factor)
        # no further than round, and on less than the full circle steps are odd
        out.degrees = min(out.degrees, 180)
        return out.set_params(n_steps=self.n_steps | 1 if out.degrees < 180 else self.n_steps)

    def _generator(self) -> NDArray[np.float64]:
        return generator((0, 1, -1.0), (1, 0, 1.0))

    def _limit(self) -> float:
        return float(np.radians(check_number(self.degrees, "degrees", low=0, high=180)))

    def _coordinates(self, grid: Grid | None) -> NDArray[np.float64]:
        limit = self._limit()
        if self.degrees < 180:
            return steps(limit, self.n_steps, "degrees")[:, None]
        check_number(self.n_steps, "n_steps", low=1, whole=True)
        return np.linspace(0, 2 * np.pi, int(self.n_steps), endpoint=False)[:, None]

    def _random_coordinates(
        self, k: int, rng: np.random.RandomState, grid: Grid
    ) -> NDArray[np.float64]:
        if not self._exact(grid):
            return super()._random_coordinates(k, rng, grid)
        listed = self._coordinates(grid)
        return listed[rng.randint(len(listed), size=k)]

    @property
    def is_group(self) -> bool:  # type: ignore[override]
        return self.degrees == 180 and self.is_unitary

    @property
    def is_unitary(self) -> bool:  # type: ignore[override]
        return self._exact(self._known_grid())

    def _exact(self, grid: Grid | None) -> bool:
        """Quarter turns of a square image (half turns of any) are permutations of the pixels."""
        exact = np.pi / 2 if grid is None or grid[0] == grid[1] else np.pi
        turns = np.append(self._coordinates(grid), self._limit()) / exact
        return bool(np.allclose(turns, np.round(turns), atol=1e-9))


class Scaling(_OneParameter):
    """Zooming in and out about the centre of an image.

    Parameters
    ----------
    factor : float
        The largest magnification; the smallest is its inverse.
    n_steps : int, default=3
        How many magnifications, evenly spaced on a logarithmic scale; odd.
    fill : {"zero", "edge", "wrap"}, default="zero"
    shape : tuple, optional
        As in :class:`Translation`.
    """

    _factors = ("factor",)

    def __init__(
        self, factor: float = 1.15, n_steps: int = 3, fill: str = "zero", shape: Shape = None
    ):
        self.factor = factor
        self.n_steps = n_steps
        self.fill = fill
        self.shape = shape

    def _generator(self) -> NDArray[np.float64]:
        return generator((0, 0, 1.0), (1, 1, 1.0))

    def _limit(self) -> float:
        # the inverse factors are included
        return float(np.log(check_number(self.factor, "factor", low=1)))


class Shear(_OneParameter):
    """Leaning of an image: lines of pixels slide along each other.

    Parameters
    ----------
    amount : float
        How far a line slides for each line of distance from the centre, at most.
    n_steps : int, default=3
        How many amounts from -amount to amount; odd.
    axis : {0, 1}, default=1
        The axis along which pixels move: 1 slides rows (slant of handwriting), 0 columns.
    fill : {"zero", "edge", "wrap"}, default="zero"
    shape : tuple, optional
        As in :class:`Translation`.
    """

    _limits = ("amount",)

    def __init__(
        self,
        amount: float = 0.2,
        n_steps: int = 3,
        axis: int = 1,
        fill: str = "zero",
        shape: Shape = None,
    ):
        self.amount = amount
        self.n_steps = n_steps
        self.axis = axis
        self.fill = fill
        self.shape = shape

    def _generator(self) -> NDArray[np.float64]:
        axis = _check_axis(self.axis)
        return generator((axis, 1 - axis, 1.0))

    def _limit(self) -> float:
        return check_number(self.amount, "amount", low=0)


class Hyperbolic(_OneParameter):
    """Stretching along one axis and shrinking along the other: the hyperbolic deformations.

    With translation, rotation and scaling these span all affine maps.

    Parameters
    ----------
    amount : float
        The largest deformation: lengths change by ``exp(±amount)``.
    n_steps : int, default=3
        How many amounts from -amount to amount; odd.
    diagonal : bool, default=False
        Whether the axes are the diagonals of the image, not its sides.
    fill : {"zero", "edge", "wrap"}, default="zero"
    shape : tuple, optional
        As in :class:`Translation`.
    """

    _limits = ("amount",)

    def __init__(
        self,
        amount: float = 0.1,
        n_steps: int = 3,
        diagonal: bool = False,
        fill: str = "zero",
        shape: Shape = None,
    ):
        self.amount = amount
        self.n_steps = n_steps
        self.diagonal = diagonal
        self.fill = fill
        self.shape = shape

    def _generator(self) -> NDArray[np.float64]:
        if self.diagonal:
            return generator((0, 1, 1.0), (1, 0, 1.0))
        return generator((0, 0, -1.0), (1, 1, 1.0))

    def _limit(self) -> float:
        return check_number(self.amount, "amount", low=0)


class Reflection(AffineFamily):
    """Mirror images.

    Parameters
    ----------
    axis : {0, 1}, default=1
        The axis that is turned round, as in ``numpy.flip``: 1 swaps left and right.
    shape : tuple, optional
        As in :class:`Translation`.

    Examples
    --------
    >>> Reflection(axis=1).orbit([[1.0, 2.0, 3.0, 4.0]])[0, 1]
    array([2., 1., 4., 3.])
    """

    is_group = True
    is_unitary = True

    def __init__(self, axis: int = 1, shape: Shape = None):
        self.axis = axis
        self.shape = shape

    def _generators(self, grid: Grid) -> NDArray[np.float64]:
        return np.empty((0, 3, 3))

    def _coordinates(self, grid: Grid | None) -> NDArray[np.float64]:
        return np.empty((2, 0))

    def _mirrored(self, flipped: NDArray[np.bool_], grid: Grid) -> Action:
        mirror = np.eye(3)
        mirror[_check_axis(self.axis), _check_axis(self.axis)] = -1
        matrices = np.where(flipped[:, None, None], mirror, np.eye(3))
        return Affine(matrices, grid, "any")

    def _listed(self, n_features: int) -> Action:
        return self._mirrored(np.array([False, True]), self._grid(n_features))

    def _drawn(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        return self._mirrored(rng.randint(2, size=k) == 1, self._grid(n_features))


class Thickness(GridFamily):
    """Bolder and thinner strokes: ``x + t |grad x|^2``, as in tangent distance.

    Parameters
    ----------
    amount : float
        The largest t, up and down.
    n_steps : int, default=3
        How many amounts from -amount to amount; odd.
    fill : {"zero", "edge", "wrap"}, default="zero"
        What lies outside the image.
    shape : tuple, optional
        As in :class:`Translation`.
    """

    _limits = ("amount",)

    def __init__(
        self, amount: float = 1.0, n_steps: int = 3, fill: str = "zero", shape: Shape = None
    ):
        self.amount = amount
        self.n_steps = n_steps
        self.fill = fill
        self.shape = shape

    @property
    def n_elements(self) -> float:
        return len(steps(self.amount, self.n_steps, "amount"))

    @property
    def n_directions(self) -> int:
        return 1

    def _listed(self, n_features: int) -> Action:
        return self._thickened(steps(self.amount, self.n_steps, "amount"))

    def _drawn(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        amount = check_number(self.amount, "amount", low=0)
        return self._thickened(rng.uniform(-amount, amount, size=k))

    def _thickened(self, amounts: NDArray[np.float64]) -> Action:
        return Functions([_Thicken(self, float(t)) for t in amounts])

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        X = self._check(X)
        moved = X.dtype.type(t) * self.tangents(X, smoothing)
        return self.smooth(X, smoothing)[:, None] + moved

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        X = self._check(X)
        down, right = self._gradients(X, smoothing)
        return (down**2 + right**2).reshape(len(X), 1, -1)


class _Thicken:
    """Add t times the squared gradient of the smoothed image."""

    def __init__(self, family: Thickness, t: float):
        self.family = family
        self.t = t

    def __call__(self, X: Rows) -> Rows:
        return X + X.dtype.type(self.t) * self.family.tangents(X)[:, 0] if self.t else X


class PolarRotation(CyclicFamily):
    """Rotations of images whose pixels are annuli and sectors: an exact group.

    Rows have shape (annuli, sectors), as :func:`to_polar` makes them; a rotation by one
    sector moves every pixel to the next (paper 003, section 2.4).

    Parameters
    ----------
    radius : int or None, default=None
        The largest rotation, in sectors, on either side. None: the full circle.
    step : int, default=1
        Sectors between two rotations.
    shape : tuple, optional
        (annuli, sectors) or (annuli, sectors, channels). None: as many sectors as annuli.

    Examples
    --------
    >>> PolarRotation(shape=(1, 4)).orbit([[1.0, 2.0, 3.0, 4.0]])[0, 1]
    array([4., 1., 2., 3.])
    """

    domain = "polar image"
    axes = "annuli, sectors"

    def __init__(self, radius: int | None = None, step: int = 1, shape: Shape = None):
        self.radius = radius
        self.step = step
        self.shape = shape


def to_polar(X: ArrayLike, n_annuli: int = 14, n_sectors: int = 48, shape: Shape = None) -> Rows:
    """Resample images into annuli and sectors, for :class:`PolarRotation`.

    Every polar pixel is the bilinear value at its centre times the square root of its area, so
    that inner products of polar images approximate those of the images themselves (without the
    weights the centre would count several times too much). Reading at points blurs: norms of
    sharp images such as digits come out about 5 % smaller. In a pipeline, use it through
    :class:`sklearn.preprocessing.FunctionTransformer`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    n_annuli, n_sectors : int
        The polar grid; rotations by ``360 / n_sectors`` degrees become exact.
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
    X = images._check(X)
    height, width, channels = images._grid(X.shape[1])
    outer = min(height, width) / 2
    ring = (np.arange(n_annuli) + 0.5) * outer / n_annuli
    angle = (np.arange(n_sectors) + 0.5) * 2 * np.pi / n_sectors
    area = ring * (outer / n_annuli) * (2 * np.pi / n_sectors)
    # Sectors run counterclockwise, as Rotation turns.
    row = (height - 1) / 2 - np.outer(ring, np.sin(angle)).ravel()
    column = (width - 1) / 2 + np.outer(ring, np.cos(angle)).ravel()
    reading = bilinear_reading(np.stack([row, column]), (height, width), "zero", X.dtype)
    weight = np.repeat(np.sqrt(area), n_sectors * channels).astype(X.dtype)
    return reading.read(X, channels) * weight


def _check_axis(axis: int) -> int:
    if axis not in (0, 1) or isinstance(axis, bool):
        raise ValueError(f"axis={axis!r} must be 0 (vertical) or 1 (horizontal)")
    return axis
