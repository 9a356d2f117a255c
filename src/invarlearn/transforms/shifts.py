"""Factorisation of affine actions into whole-pixel shifts and a small number of other maps.

The spectral engine of the orbit kernel computes all shifts of an image at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from invarlearn.transforms.actions import Action, Affine, Composed, Rows
from invarlearn.transforms.interpolation import readings


@dataclass(frozen=True)
class Shifted:
    """An action, factored into all whole-pixel shifts of a small number of canvases.

    A canvas is a transformed image with a margin, and is periodic. Element (s, g) maps a row to the
    window of its canvas g that begins at ``origin - s`` and has the size of an image.

    Attributes
    ----------
    down, right : arrays of int
        Shifts along both axes; the action has all pairs of them.
    n_canvases : int
        Number of transformations other than shifts.
    size : tuple (height, width)
        Size of a canvas.
    origin : tuple (row, column)
        Position of the image without a shift on the canvas.
    grid : tuple (height, width, channels)
        Shape of an image.
    canvases : callable
        ``canvases(X, g)`` returns canvas g of each row, of shape (n_samples, height, width,
        channels).
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
        """Whether shifts are cyclic: the canvas is the image, without a margin."""
        return self.size == self.grid[:2]

    @property
    def n_shifts(self) -> int:
        """Number of shifts."""
        return len(self.down) * len(self.right)


def factor_shifts(action: Action) -> Shifted | None:
    """Factor an action into all whole-pixel shifts of canvases; return None if that is impossible.

    >>> from invarlearn.transforms import Rotation, Translation
    >>> factors = factor_shifts((Translation(2) * Rotation(15)).elements(784))
    >>> factors.n_shifts, factors.n_canvases
    (25, 3)
    """
    if isinstance(action, Composed) and not action.pairwise and isinstance(action.outer, Affine):
        return _shifts_after(action.outer, action.inner)
    if isinstance(action, Affine):
        return _shifts_among(action)
    return None


def _shifts_after(outer: Affine, inner: Action) -> Shifted | None:
    """Factor shifts that follow another action."""
    groups = _group_by_shift(outer.matrices)
    if groups is None or not _is_identity(groups[0]):
        return None
    _, down, right = groups

    def canvases(X: Rows, g: int) -> Rows:
        return inner.act(X, g, g + 1).reshape(-1, *outer.grid)

    return _on_canvas(down, right, len(inner), outer, canvases)


def _shifts_among(action: Affine) -> Shifted | None:
    """Factor affine maps into shifts and other maps."""
    groups = _group_by_shift(action.matrices)
    if groups is None:
        return None
    bases, down, right = groups
    if _is_identity(bases):
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
    """Return shifts of images on canvases, which have a margin unless shifts are cyclic."""
    height, width, _ = shifts.grid
    if shifts.fill == "wrap":
        return Shifted(down, right, n, (height, width), (0, 0), shifts.grid, images)
    above, below = max(int(down.max()), 0), max(-int(down.min()), 0)
    before, after = max(int(right.max()), 0), max(-int(right.min()), 0)
    origin = (above, before)
    if shifts.fill == "zero":
        # canvases are periodic, so that a margin of zeros on one side serves both sides
        above, below, before, after, origin = 0, max(above, below), 0, max(before, after), (0, 0)
    margins = ((0, 0), (above, below), (before, after), (0, 0))
    mode = "edge" if shifts.fill == "edge" else "constant"

    def canvases(X: Rows, g: int) -> Rows:
        return np.pad(images(X, g), margins, mode=mode)  # type: ignore[call-overload]

    size = (above + height + below, before + width + after)
    return Shifted(down, right, n, size, origin, shifts.grid, canvases)


def _is_identity(bases: NDArray) -> bool:
    return len(bases) == 1 and np.array_equal(bases[0], np.eye(3))


def _group_by_shift(matrices: NDArray) -> tuple[NDArray, NDArray, NDArray] | None:
    """Factor matrices into base maps (g, 3, 3) and their shifts, down and to the right.

    Return None unless all bases have the same shifts, and these are all pairs of two sets.
    """
    matrices = np.round(matrices, 12) + 0.0
    linear = np.round(matrices[:, :2, :2], 9).reshape(len(matrices), 4) + 0.0
    translations = matrices[:, :2, 2]
    keys = np.concatenate([linear, np.round(translations % 1.0, 9) % 1.0], axis=1)
    _, first_of_base, base_of = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    base_of = base_of.reshape(-1)
    if len(first_of_base) == len(matrices):
        return None
    sets = []
    for g, i in enumerate(first_of_base):
        # the first matrix of a group is its base, from which shifts are counted
        shifts = np.round(translations[base_of == g] - translations[i]).astype(np.int64)
        sets.append(shifts)
    bases = matrices[first_of_base].copy()
    corner = sets[0].min(axis=0)
    for g, shifts in enumerate(sets):
        # the sets of shifts may differ by a constant, which is moved into the base
        constant = shifts.min(axis=0) - corner
        bases[g, :2, 2] += constant
        sets[g] = shifts - constant
    if _is_translation(bases):
        # without other maps, the base is the identity
        constant = np.round(bases[0, :2, 2]).astype(np.int64)
        bases[0, :2, 2] -= constant
        sets[0] = sets[0] + constant
    down, right = (np.unique(sets[0][:, axis]) for axis in (0, 1))
    all_pairs = {tuple(pair) for pair in sets[0].tolist()}
    if len(all_pairs) != len(down) * len(right):
        return None
    for shifts in sets:
        if len(shifts) != len(all_pairs) or {tuple(pair) for pair in shifts.tolist()} != all_pairs:
            return None
    return bases, down, right


def _is_translation(bases: NDArray) -> bool:
    return len(bases) == 1 and np.array_equal(bases[0, :2, :2], np.eye(2))
