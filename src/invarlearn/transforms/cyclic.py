"""Cyclic shifts along an axis of a grid."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.validation import check_number
from invarlearn.transforms.base import Family
from invarlearn.transforms.grid import RIGHT, AffineFamily, Grid, steps


class CyclicFamily(AffineFamily):
    """Base class of cyclic shifts along the columns of a grid: exact permutations of the features.

    A subclass has the parameters ``radius`` and ``step``.
    """

    is_unitary = True
    default_smoothing = 0.0
    radius: int | None = None
    step: int = 1

    def scaled(self, factor: float) -> Family:
        """Return a copy of the family with ``factor`` times the radius, in whole steps.

        The family of all shifts is unchanged.
        """
        family: Any = super().scaled(factor)
        if self.radius is not None:
            family.radius = max(1, round(self.radius * factor / self.step)) * self.step
        return family

    def generators(self, grid: Grid) -> NDArray[np.float64]:
        return RIGHT[None]

    def coordinates(self, grid: Grid | None) -> NDArray[np.float64]:
        return cyclic_shifts(self, self.radius, self.step, grid and grid[1])[:, None]

    def draw_coordinates(
        self, k: int, rng: np.random.RandomState, grid: Grid
    ) -> NDArray[np.float64]:
        listed = self.coordinates(grid)
        return listed[rng.randint(len(listed), size=k)]

    def resolve_fill(self) -> str:
        return "wrap"

    @property
    def is_group(self) -> bool:  # type: ignore[override]
        return self.radius is None and divides(self.step, self._declared_grid(), axes=(1,))


def cyclic_shifts(
    family: Family, radius: float | None, step: float, side: int | None
) -> NDArray[np.float64]:
    """Return the cyclic shifts along an axis of ``side`` pixels, zero first.

    These are all shifts if ``radius`` is None, otherwise those up to ``radius`` on either side.
    """
    check_number(step, "step", low=1, whole=True)
    if side == 1:
        return np.zeros(1)
    if radius is None:
        if side is None:
            raise ValueError(
                f"the number of shifts of {family!r} depends on the shape of a row: "
                "pass shape=, or use family.with_shape(shape)"
            )
        return np.arange(0, side, step, dtype=float)
    count = check_radius(radius, step)
    if side is not None and 2 * count * step >= side:
        raise ValueError(
            f"radius={radius} covers more than all {side} positions: "
            "choose a smaller radius, or radius=None for all shifts"
        )
    return steps(count * step, 2 * count + 1, "radius")


def check_radius(radius: float, step: float) -> int:
    """Return the number of steps in a radius; raise an error if one of them is invalid."""
    check_number(radius, "radius", low=0)
    check_number(step, "step", low=np.finfo(float).tiny)
    if 0 < radius < step:
        raise ValueError(
            f"radius={radius} is less than step={step}, so that only the identity is left: "
            "choose a smaller step"
        )
    return int(radius / step + 1e-9)


def divides(step: float, grid: Grid | None, axes: tuple[int, ...]) -> bool:
    """Return whether all multiples of ``step`` are a subgroup of the shifts of the grid."""
    return step == 1 or (grid is not None and all(grid[axis] % step == 0 for axis in axes))
