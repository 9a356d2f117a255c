"""Images seen from the side."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from invarlearn._utils.validation import Shape, check_number
from invarlearn.transforms._parameters import declared_features
from invarlearn.transforms.actions import Action, Functions, Rows
from invarlearn.transforms.base import Family
from invarlearn.transforms.grid import Grid, ImageFamily, steps
from invarlearn.transforms.interpolation import Reading, bilinear_reading


class Tilt:
    """A function of rows that tilts images.

    Parameters
    ----------
    down, right : float
        Tilts, as in :class:`Perspective`.
    grid : tuple (height, width, channels)
    fill : {"zero", "edge", "wrap"}
    """

    def __init__(self, down: float, right: float, grid: Grid, fill: str):
        self.down = down
        self.right = right
        self.grid = grid
        self.fill = fill

    def __call__(self, X: Rows) -> Rows:
        if self.down == self.right == 0:
            return X
        height, width, channels = self.grid
        reading = tilted_reading(self.down, self.right, (height, width), self.fill, X.dtype.str)
        return reading.read(X, channels)


@lru_cache(maxsize=32)
def tilted_reading(
    down: float, right: float, size: tuple[int, int], fill: str, dtype: str
) -> Reading:
    """Return the interpolation of tilted images; the most recently used ones are cached."""
    rows, columns = centred(size)
    half_height, half_width = (max(side / 2, 1.0) for side in size)
    scale = 1 / (1 - down * rows / half_height - right * columns / half_width)
    source = np.stack([scale * rows + (size[0] - 1) / 2, scale * columns + (size[1] - 1) / 2])
    return bilinear_reading(source.reshape(2, -1), size, fill, np.dtype(dtype))


class Perspective(ImageFamily):
    """Perspectives of an image: seen slightly from above, below, left or right.

    The element with the tilts a and b moves the pixel at (p, q), measured from the centre in units
    of half the height and half the width, along a line through the centre: the pixel that was at
    ``(p, q) / (1 - a p - b q)`` is now at (p, q). One side becomes larger and the opposite side
    smaller. Random elements have any tilts in the range. The family is neither unitary nor a group.

    Parameters
    ----------
    amount : float, default=0.15
        The largest absolute value of a and b, below 0.5.
    n_steps : int, default=3
        Number of tilts from -amount to amount along each axis; odd.
    fill : {"zero", "edge", "wrap"}, default="zero"
        Values of pixels outside the image.
    shape : tuple, optional
        Shape of a row, as in :class:`Translation`.

    Examples
    --------
    >>> import numpy as np
    >>> Perspective(0.2).orbit(np.eye(8).reshape(1, 64)).shape
    (1, 9, 64)
    """

    spec_name = "perspective"
    stored_types = (Tilt,)
    ranges_about_zero = ("amount",)

    def __init__(
        self, amount: float = 0.15, n_steps: int = 3, fill: str = "zero", shape: Shape = None
    ):
        self.amount = amount
        self.n_steps = n_steps
        self.fill = fill
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(), cls(0.3, n_steps=5, fill="edge", shape=(4, 8, 2)), cls(shape=(1, 64))]

    def limit(self) -> float:
        """Return the largest tilt."""
        amount = check_number(self.amount, "amount", low=0)
        if amount >= 0.5:
            raise ValueError(
                f"amount={self.amount!r} moves the corners of an image to infinity: choose a "
                "number below 0.5"
            )
        return amount

    def scaled(self, factor: float) -> Perspective:
        family = super().scaled(factor)
        return family.set_params(amount=min(family.amount, 0.45))

    @property
    def n_elements(self) -> float:
        return self.size(declared_features(self, "n_elements")) if self.shape else self._count(None)

    def size(self, n_features: int) -> float:
        return self._count(self.grid(n_features))

    def _count(self, grid: Grid | None) -> int:
        return int(np.prod([len(self._tilts(side)) for side in (grid[:2] if grid else (2, 2))]))

    def _tilts(self, side: int) -> NDArray[np.float64]:
        """Return the tilts along an axis of ``side`` pixels, zero first."""
        tilts = steps(self.limit(), self.n_steps, "amount")
        return tilts if side > 1 else tilts[:1]

    @property
    def n_directions(self) -> int:
        return 2

    def elements(self, n_features: int) -> Action:
        down, right = (self._tilts(side) for side in self.grid(n_features)[:2])
        pairs = np.stack(np.meshgrid(down, right, indexing="ij"), axis=-1)
        return self._tilted(pairs.reshape(-1, 2), n_features)

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        limit = self.limit()
        return self._tilted(rng.uniform(-limit, limit, size=(k, 2)), n_features)

    def _tilted(self, tilts: NDArray[np.float64], n_features: int) -> Action:
        grid, fill = self.grid(n_features), self.resolve_fill()
        return Functions([Tilt(float(down), float(right), grid, fill) for down, right in tilts])

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        rows = self.smooth(X, smoothing)
        action = self._tilted(t * np.eye(2), rows.shape[1])
        return action.act(rows, 0, len(action))

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        X = self.validate_rows(X)
        grid = self.grid(X.shape[1])
        down, right = self.gradients(X, smoothing)
        rows, columns = (field[..., None].astype(X.dtype) for field in centred(grid[:2]))
        along = rows * down + columns * right
        half_height, half_width = (X.dtype.type(max(side / 2, 1.0)) for side in grid[:2])
        tangents = [along * rows / half_height, along * columns / half_width]
        return np.stack([tangent.reshape(X.shape) for tangent in tangents], axis=1)


def centred(size: tuple[int, int]) -> NDArray[np.float64]:
    """Return the rows and columns of all pixels from the centre: (2, height, width)."""
    centre = (np.array(size) - 1) / 2
    return np.asarray(np.indices(size, dtype=float) - centre[:, None, None])
