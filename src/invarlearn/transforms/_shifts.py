"""Whole-pixel shifts within a list of transformations, which engines do all at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from invarlearn.transforms._actions import Action, Affine, Composed, Rows, readings


@dataclass(frozen=True)
class Shifted:
    """All shifts of some canvases: what a list of transformations comes to.

    A canvas goes on at its other side. Element (s, g) takes row y to the part of canvas g of y
    that begins at ``origin - s`` and is as large as an image.

    Attributes
    ----------
    down, right : arrays of int
        The shifts along both axes; all pairs are meant.
    n_canvases : int
        How many canvases a row has: the transformations without their shifts.
    size : tuple (height, width)
        Of a canvas.
    origin : tuple (row, column)
        Where an image that is not shifted lies on the canvas.
    grid : tuple (height, width, channels)
    canvases : callable
        ``canvases(X, g)`` gives canvas g of each row: (n, height, width, channels).
    """

    down: NDArray[np.int64]
    right: NDArray[np.int64]
    n_canvases: int
    size: tuple[int, int]
    origin: tuple[int, int]
    grid: tuple[int, int, int]
    canvases: Callable[[Rows, int], Rows]

    @property
    def periodic(self) -> bool:
        """Whether all shifts of an image have the same pixels: nothing leaves or comes in."""
        return self.size == self.grid[:2]

    @property
    def n_shifts(self) -> int:
        return len(self.down) * len(self.right)


def shifted(action: Action) -> Shifted | None:
    """Take the whole-pixel shifts out of a list of transformations; None if there are none."""
    if isinstance(action, Composed) and not action.pairwise and isinstance(action.outer, Affine):
        return _shifts_after(action.outer, action.inner)
    if isinstance(action, Affine):
        return _shifts_among(action)
    return None


def _shifts_after(outer: Affine, inner: Action) -> Shifted | None:
    """Take out shifts that follow any other transformations."""
    found = _grouped(outer.matrices)
    if found is None or len(found[0]) > 1 or not _plain(found[0]):
        return None
    _, down, right = found

    def canvases(X: Rows, g: int) -> Rows:
        return inner.act(X, g, g + 1).reshape(-1, *outer.grid)

    return _on_canvas(down, right, len(inner), outer, canvases)


def _shifts_among(action: Affine) -> Shifted | None:
    """Take out shifts that are part of affine maps."""
    found = _grouped(action.matrices)
    if found is None:
        return None
    bases, down, right = found
    if _plain(bases):
        return _on_canvas(down, right, 1, action, lambda X, g: X.reshape(-1, *action.grid))
    height, width, channels = action.grid
    low = (-int(down.max()), -int(right.max()))
    high = (height - int(down.min()), width - int(right.min()))
    size = (high[0] - low[0], high[1] - low[1])

    def canvases(X: Rows, g: int) -> Rows:
        key = (bases[g].tobytes(), (height, width), action.fill, X.dtype.str, (*low, *size))
        return readings.get(key).read(X, channels).reshape(-1, *size, channels)

    origin = (-low[0], -low[1])
    return Shifted(down, right, len(bases), size, origin, action.grid, canvases)


def _on_canvas(
    down: NDArray, right: NDArray, n: int, shifts: Affine, images: Callable[[Rows, int], Rows]
) -> Shifted:
    """Give shifts of whole images: around the border, or on a canvas with a margin."""
    height, width, _ = shifts.grid
    if shifts.fill == "wrap":
        return Shifted(down, right, n, (height, width), (0, 0), shifts.grid, images)
    above, below = max(int(down.max()), 0), max(-int(down.min()), 0)
    left, beyond = max(int(right.max()), 0), max(-int(right.min()), 0)
    origin = (above, left)
    if shifts.fill == "zero":
        # one margin serves both sides
        above, below, left, beyond, origin = 0, max(above, below), 0, max(left, beyond), (0, 0)
    margins = ((0, 0), (above, below), (left, beyond), (0, 0))
    mode = "edge" if shifts.fill == "edge" else "constant"

    def canvases(X: Rows, g: int) -> Rows:
        return np.pad(images(X, g), margins, mode=mode)  # type: ignore[call-overload]

    size = (above + height + below, left + width + beyond)
    return Shifted(down, right, n, size, origin, shifts.grid, canvases)


def _plain(bases: NDArray) -> bool:
    return len(bases) == 1 and np.array_equal(bases[0], np.eye(3))


def _grouped(matrices: NDArray) -> tuple[NDArray, NDArray, NDArray] | None:
    """Write maps as shifts of a few: bases (g, 3, 3), shifts down and to the right.

    Every base must have the same shifts, and these must be all pairs of some numbers.
    """
    matrices = np.round(matrices, 12) + 0.0
    linear = np.round(matrices[:, :2, :2], 9).reshape(len(matrices), 4) + 0.0
    moves = matrices[:, :2, 2]
    kinds = np.concatenate([linear, np.round(moves % 1.0, 9) % 1.0], axis=1)
    _, first, owner = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    owner = owner.reshape(-1)
    if len(first) == len(matrices):
        return None
    sets = []
    for g, i in enumerate(first):
        # the first of a kind is its base: shifts count from there
        shifts = np.round(moves[owner == g] - moves[i]).astype(np.int64)
        sets.append(shifts)
    bases = matrices[first].copy()
    corner = sets[0].min(axis=0)
    for g, shifts in enumerate(sets):
        # the same set of shifts up to a constant, which goes into the base
        constant = shifts.min(axis=0) - corner
        bases[g, :2, 2] += constant
        sets[g] = shifts - constant
    if _plain_linear(bases):
        # a lone family of shifts is about the identity
        constant = np.round(bases[0, :2, 2]).astype(np.int64)
        bases[0, :2, 2] -= constant
        sets[0] = sets[0] + constant
    down, right = (np.unique(sets[0][:, axis]) for axis in (0, 1))
    whole = {tuple(pair) for pair in sets[0].tolist()}
    if len(whole) != len(down) * len(right):
        return None
    for shifts in sets:
        if len(shifts) != len(whole) or {tuple(pair) for pair in shifts.tolist()} != whole:
            return None
    return bases, down, right


def _plain_linear(bases: NDArray) -> bool:
    return len(bases) == 1 and np.array_equal(bases[0, :2, :2], np.eye(2))
