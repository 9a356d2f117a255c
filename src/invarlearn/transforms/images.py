"""Families of images: translations, rotations, scalings, shears, reflections."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.validation import Shape, check_number
from invarlearn.transforms.actions import Action, Affine
from invarlearn.transforms.base import Family
from invarlearn.transforms.cyclic import check_radius, cyclic_shifts, divides
from invarlearn.transforms.grid import (
    DOWN,
    RIGHT,
    AffineFamily,
    Grid,
    OneParameterFamily,
    generator_matrix,
    steps,
)


class Translation(AffineFamily):
    """Translations of an image, down and to the right.

    The element with shifts (a, b) maps an image x to ``x(row - a, column - b)``, for all pairs of
    shifts between ``-radius`` and ``radius``. Random elements have any shift in that range.
    Cyclic translations (``wrap=True``) are unitary; all of them (``radius=None``) are a group.

    Parameters
    ----------
    radius : float or None, default=1
        The largest shift in pixels, in each direction. None: all shifts, with ``wrap=True``.
    step : float, default=1
        Distance between neighbouring shifts, in pixels.
    wrap : bool, default=False
        Whether shifts are cyclic: pixels that leave on one side enter on the opposite side. Cyclic
        shifts are exact permutations of the pixels.
    fill : {"zero", "edge", "wrap"}, default="zero"
        Values of pixels outside the image: zeros, the nearest pixel, or the opposite side. Always
        "wrap" with ``wrap=True``.
    shape : tuple, optional
        Shape of a row: (height, width) or (height, width, channels). None: a square image.
        An axis of one pixel is not shifted, so (1, length) is a signal.

    Examples
    --------
    >>> Translation(2).n_elements
    25
    >>> Translation(1).orbit([[1.0, 2.0, 3.0, 4.0]])[0, 1].reshape(2, 2)
    array([[2., 0.],
           [4., 0.]])
    """

    spec_name = "translation"

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
    def ranges_about_zero(self) -> tuple[str, ...]:  # type: ignore[override]
        # cyclic shifts are by whole pixels, so that their radius cannot be multiplied by a fraction
        return () if self.wrap else ("radius", "step")

    @classmethod
    def examples(cls) -> list[Family]:
        return [
            cls(2),
            cls(0),
            cls(1, step=0.5, fill="edge"),
            cls(2, wrap=True),
            cls(None, wrap=True),
            cls(None, step=2, wrap=True),
            cls(1, shape=(8, 4, 2)),
            cls(1, shape=(1, 64)),
        ]

    def generators(self, grid: Grid) -> NDArray[np.float64]:
        return np.stack([DOWN, RIGHT])

    def _shifts(self, side: int | None) -> NDArray[np.float64]:
        """Return the shifts along an axis of ``side`` pixels, zero first."""
        if self.wrap:
            return cyclic_shifts(self, self.radius, self.step, side)
        if self.radius is None:
            raise ValueError(
                "radius=None (all shifts) needs wrap=True: set wrap=True, or a radius in pixels"
            )
        count = check_radius(self.radius, self.step)
        if side is not None and 1 < side <= count * self.step:
            raise ValueError(
                f"radius={self.radius!r} shifts an image of {side} pixels out of its frame: "
                f"choose a radius below {side}, or check shape=(height, width, channels)"
            )
        return np.zeros(1) if side == 1 else steps(count * self.step, 2 * count + 1, "radius")

    def coordinates(self, grid: Grid | None) -> NDArray[np.float64]:
        down, right = (self._shifts(side) for side in (grid[:2] if grid else (None, None)))
        pairs = np.stack(np.meshgrid(down, right, indexing="ij"), axis=-1)
        return pairs.reshape(-1, 2)

    def _count(self, grid: Grid | None) -> int:
        down, right = (self._shifts(side) for side in (grid[:2] if grid else (None, None)))
        return len(down) * len(right)

    def draw_coordinates(
        self, k: int, rng: np.random.RandomState, grid: Grid
    ) -> NDArray[np.float64]:
        if not self.wrap:
            return super().draw_coordinates(k, rng, grid)
        listed = self.coordinates(grid)
        return listed[rng.randint(len(listed), size=k)]

    def resolve_fill(self) -> str:
        return "wrap" if self.wrap else super().resolve_fill()

    @property
    def is_group(self) -> bool:  # type: ignore[override]
        if not self.wrap or self.radius is not None:
            return self.radius == 0
        return divides(self.step, self._declared_grid(), axes=(0, 1))

    @property
    def is_unitary(self) -> bool:  # type: ignore[override]
        return bool(self.wrap) or self.radius == 0


class Rotation(OneParameterFamily):
    """Rotations of an image about its centre, counterclockwise.

    The element with angle t moves the pixel at (row, column), measured from the centre, to
    ``(row cos t - column sin t, row sin t + column cos t)``. Angles are evenly spaced from
    ``-degrees`` to ``degrees``, or on the full circle; random elements have any angle in the range.
    Rotations of a square image by multiples of 90 degrees, and of any image by 180 degrees, are
    exact permutations of the pixels: they are unitary, and a group if they divide the full circle.
    Other rotations interpolate.

    Parameters
    ----------
    degrees : float, default=15
        The largest angle on either side. 180 means the full circle, evenly divided.
    n_steps : int, default=3
        Number of angles. It must be odd, so that 0 is one of them, unless ``degrees=180``.
    fill : {"zero", "edge", "wrap"}, default="zero"
        Values of pixels outside the image, as in :class:`Translation`.
    shape : tuple, optional
        Shape of a row, as in :class:`Translation`.

    Examples
    --------
    >>> Rotation(180, n_steps=4).orbit([[1.0, 2.0, 3.0, 4.0]])[0, 1].reshape(2, 2)
    array([[2., 4.],
           [1., 3.]])
    """

    spec_name = "rotation"
    ranges_about_zero = ("degrees",)

    def __init__(
        self, degrees: float = 15, n_steps: int = 3, fill: str = "zero", shape: Shape = None
    ):
        self.degrees = degrees
        self.n_steps = n_steps
        self.fill = fill
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [
            cls(15, n_steps=5),
            cls(180, n_steps=4),
            cls(180, n_steps=6),
            cls(180, n_steps=2, fill="wrap"),
            cls(30, shape=(4, 16)),
            cls(180, n_steps=2, shape=(4, 16)),
        ]

    def scaled(self, factor: float) -> Rotation:
        """Return a copy of the family with ``factor`` times the angles, at most the full circle."""
        family: Any = super().scaled(factor)
        family.degrees = min(family.degrees, 180)
        # below the full circle the number of angles must be odd
        n_steps = self.n_steps | 1 if family.degrees < 180 else self.n_steps
        return family.set_params(n_steps=n_steps)

    def generator(self) -> NDArray[np.float64]:
        return generator_matrix((0, 1, -1.0), (1, 0, 1.0))

    def limit(self) -> float:
        return float(np.radians(check_number(self.degrees, "degrees", low=0, high=180)))

    def coordinates(self, grid: Grid | None) -> NDArray[np.float64]:
        limit = self.limit()
        if self.degrees < 180:
            return steps(limit, self.n_steps, "degrees")[:, None]
        check_number(self.n_steps, "n_steps", low=1, whole=True)
        return np.linspace(0, 2 * np.pi, int(self.n_steps), endpoint=False)[:, None]

    def draw_coordinates(
        self, k: int, rng: np.random.RandomState, grid: Grid
    ) -> NDArray[np.float64]:
        if not self._is_exact(grid):
            return super().draw_coordinates(k, rng, grid)
        listed = self.coordinates(grid)
        return listed[rng.randint(len(listed), size=k)]

    @property
    def is_group(self) -> bool:  # type: ignore[override]
        return self.degrees == 180 and self.is_unitary

    @property
    def is_unitary(self) -> bool:  # type: ignore[override]
        return self._is_exact(self._declared_grid())

    def _is_exact(self, grid: Grid | None) -> bool:
        """Return whether all rotations permute pixels.

        These are the multiples of 90 degrees for square images, and of 180 degrees for others.
        """
        unit = np.pi / 2 if grid is None or grid[0] == grid[1] else np.pi
        multiples = np.append(self.coordinates(grid), self.limit()) / unit
        return bool(np.allclose(multiples, np.round(multiples), atol=1e-9))


class Scaling(OneParameterFamily):
    """Scalings of an image about its centre: magnified and reduced.

    The element with logarithm t moves the pixel at p, measured from the centre, to ``exp(t) p``,
    with t evenly spaced between ``-log(factor)`` and ``log(factor)``; random elements have any t in
    that range. Scalings change norms, and finitely many of them are not a group.

    Parameters
    ----------
    factor : float, default=1.15
        The largest magnification; the smallest is ``1 / factor``.
    n_steps : int, default=3
        Number of magnifications, evenly spaced on a logarithmic scale; odd.
    fill : {"zero", "edge", "wrap"}, default="zero"
        Values of pixels outside the image, as in :class:`Translation`.
    shape : tuple, optional
        Shape of a row, as in :class:`Translation`.

    Examples
    --------
    >>> Scaling(2).orbit([[0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0]])[0, 2].reshape(3, 3)
    array([[1., 2., 1.],
           [2., 4., 2.],
           [1., 2., 1.]])
    """

    spec_name = "scaling"
    ranges_about_one = ("factor",)

    def __init__(
        self, factor: float = 1.15, n_steps: int = 3, fill: str = "zero", shape: Shape = None
    ):
        self.factor = factor
        self.n_steps = n_steps
        self.fill = fill
        self.shape = shape

    def generator(self) -> NDArray[np.float64]:
        return generator_matrix((0, 0, 1.0), (1, 1, 1.0))

    def limit(self) -> float:
        return float(np.log(check_number(self.factor, "factor", low=1)))


class Shear(OneParameterFamily):
    """Shears of an image: rows of pixels slide along each other (slant of handwriting).

    With ``axis=1`` the element with amount t moves the pixel at (row, column), measured from the
    centre, to ``(row, column + t row)``; with ``axis=0`` to ``(row + t column, column)``. Amounts
    are evenly spaced from ``-amount`` to ``amount``; random elements have any amount in the range.
    Shears interpolate: they are neither unitary nor a group.

    Parameters
    ----------
    amount : float, default=0.2
        The largest shift in pixels for each pixel of distance from the centre.
    n_steps : int, default=3
        Number of amounts from -amount to amount; odd.
    axis : {0, 1}, default=1
        The axis along which pixels move: 1 slides rows, 0 slides columns.
    fill : {"zero", "edge", "wrap"}, default="zero"
        Values of pixels outside the image, as in :class:`Translation`.
    shape : tuple, optional
        Shape of a row, as in :class:`Translation`.

    Examples
    --------
    >>> Shear(1).orbit([[0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]])[0, 2].reshape(3, 3)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """

    spec_name = "shear"
    ranges_about_zero = ("amount",)

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

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(0.3, axis=0), cls(0.3, axis=1, fill="edge")]

    def generator(self) -> NDArray[np.float64]:
        axis = _check_axis(self.axis)
        return generator_matrix((axis, 1 - axis, 1.0))

    def limit(self) -> float:
        return check_number(self.amount, "amount", low=0)


class Hyperbolic(OneParameterFamily):
    """Hyperbolic deformations of an image: stretched along one axis, shrunk along the other.

    The element with amount t moves the pixel at (row, column), measured from the centre, to
    ``(exp(-t) row, exp(t) column)``; with ``diagonal=True``, the axes are the diagonals. Together
    with translations, rotations and scalings, these generate all affine maps. They are neither
    unitary nor a group.

    Parameters
    ----------
    amount : float, default=0.1
        The largest deformation: lengths change by up to ``exp(±amount)``.
    n_steps : int, default=3
        Number of amounts from -amount to amount; odd.
    diagonal : bool, default=False
        Whether the axes are the diagonals of the image rather than its sides.
    fill : {"zero", "edge", "wrap"}, default="zero"
        Values of pixels outside the image, as in :class:`Translation`.
    shape : tuple, optional
        Shape of a row, as in :class:`Translation`.

    Examples
    --------
    >>> Hyperbolic(0.1).orbit([[1.0, 2.0, 3.0, 4.0]]).shape
    (1, 3, 4)
    """

    spec_name = "hyperbolic"
    ranges_about_zero = ("amount",)

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

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(0.1), cls(0.1, diagonal=True)]

    def generator(self) -> NDArray[np.float64]:
        if self.diagonal:
            return generator_matrix((0, 1, 1.0), (1, 0, 1.0))
        return generator_matrix((0, 0, -1.0), (1, 1, 1.0))

    def limit(self) -> float:
        return check_number(self.amount, "amount", low=0)


class Reflection(AffineFamily):
    """Reflections of an image: the image itself and its mirror image.

    With ``axis=1`` the pixel in column j goes to column ``width - 1 - j``. The two elements are a
    group, and unitary: they permute pixels. There are no tangents.

    Parameters
    ----------
    axis : {0, 1}, default=1
        The axis that is reversed, as in ``numpy.flip``: 1 swaps left and right, 0 up and down.
    shape : tuple, optional
        Shape of a row, as in :class:`Translation`.

    Examples
    --------
    >>> Reflection(axis=1).orbit([[1.0, 2.0, 3.0, 4.0]])[0, 1]
    array([2., 1., 4., 3.])
    """

    spec_name = "reflection"
    is_group = True
    is_unitary = True

    def __init__(self, axis: int = 1, shape: Shape = None):
        self.axis = axis
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(0), cls(1), cls(0, shape=(4, 8, 2))]

    def generators(self, grid: Grid) -> NDArray[np.float64]:
        return np.empty((0, 3, 3))

    def coordinates(self, grid: Grid | None) -> NDArray[np.float64]:
        return np.empty((2, 0))

    def _mirrored(self, flipped: NDArray[np.bool_], grid: Grid) -> Action:
        mirror = np.eye(3)
        mirror[_check_axis(self.axis), _check_axis(self.axis)] = -1
        matrices = np.where(flipped[:, None, None], mirror, np.eye(3))
        return Affine(matrices, grid, "any")

    def elements(self, n_features: int) -> Action:
        return self._mirrored(np.array([False, True]), self.grid(n_features))

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        return self._mirrored(rng.randint(2, size=k) == 1, self.grid(n_features))


def _check_axis(axis: int) -> int:
    if axis not in (0, 1) or isinstance(axis, bool):
        raise ValueError(f"axis={axis!r} must be 0 (vertical) or 1 (horizontal)")
    return axis
