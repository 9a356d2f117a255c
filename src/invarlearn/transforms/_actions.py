"""How a list of transformations acts on rows: pure arrays, no parameters of families.

An action is a list of k transformations of rows with a fixed number of features d. It maps
(n, d) to (n, k, d), all k at once or a range of them, and two actions of a like kind merge into
one (affine maps multiply their matrices, so that pixels are interpolated once).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from invarlearn.transforms._threads import in_threads, slices

Rows = NDArray[np.floating]

# Where to read pixels is worked out in pieces of this size.
READING_BYTES = 16 * 2**20

# These are kept for the next call, the most recent ones, up to this size in all.
CACHE_BYTES = 64 * 2**20


class Action(ABC):
    """A list of transformations of rows."""

    @abstractmethod
    def __len__(self) -> int:
        raise NotImplementedError

    @abstractmethod
    def act(self, X: Rows, start: int, stop: int) -> Rows:
        """Apply the transformations ``start:stop`` to every row: (n, stop - start, d)."""
        raise NotImplementedError

    def one(self, X: Any, i: int) -> Any:
        """Apply transformation i to every row: (n, d)."""
        return self.act(X, i, i + 1)[:, 0]

    def piece(self, n_features: int) -> int:
        """Say how many transformations it is best to apply at a time."""
        return len(self)

    def merge(self, inner: Action, pairwise: bool) -> Action | None:
        """Give one action equal to self after ``inner``, or None if the kinds differ.

        With ``pairwise`` element i follows element i; otherwise every element of self follows
        every element of ``inner``, the elements of ``inner`` varying fastest.
        """
        return None


def compose(outer: Action, inner: Action, pairwise: bool = False) -> Action:
    """Give ``outer`` after ``inner``, merged into one action where that is possible."""
    merged = outer.merge(inner, pairwise)
    if merged is not None:
        return merged
    if isinstance(inner, Composed) and inner.pairwise == pairwise:
        # The kinds may still merge one step further in.
        nearest = outer.merge(inner.outer, pairwise)
        if nearest is not None:
            return Composed(nearest, inner.inner, pairwise)
    return Composed(outer, inner, pairwise)


class Affine(Action):
    """Affine maps of a grid of pixels, with bilinear interpolation.

    Parameters
    ----------
    matrices : array of shape (k, 3, 3)
        Where a pixel goes: homogeneous maps of (row, column, 1), measured from the centre.
    grid : tuple (height, width, channels)
    fill : {"zero", "edge", "wrap", "any"}
        What lies outside the grid; "any" if the maps never look there.
    """

    def __init__(self, matrices: NDArray[np.float64], grid: tuple[int, int, int], fill: str):
        self.matrices = matrices
        self.grid = grid
        self.fill = fill

    def __len__(self) -> int:
        return len(self.matrices)

    def merge(self, inner: Action, pairwise: bool) -> Action | None:
        if not isinstance(inner, Affine) or inner.grid != self.grid:
            return None
        fills = {self.fill, inner.fill} - {"any"}
        if len(fills) > 1:
            return None
        if pairwise:
            matrices = self.matrices @ inner.matrices
        else:
            matrices = (self.matrices[:, None] @ inner.matrices[None]).reshape(-1, 3, 3)
        return Affine(matrices, self.grid, fills.pop() if fills else "any")

    def piece(self, n_features: int) -> int:
        # a reading has four pixels and weights, of at most 12 bytes, a point
        return max(1, READING_BYTES // (self.grid[0] * self.grid[1] * 4 * 12))

    def act(self, X: Rows, start: int, stop: int) -> Rows:
        height, width, channels = self.grid
        n, d = X.shape
        if d != height * width * channels:
            # compiled code reads the pixels without looking
            raise ValueError(f"rows have {d} features, not {height * width * channels}")
        step = self.piece(height * width)
        out = np.empty((n, stop - start, d), dtype=X.dtype)
        for lo in range(start, stop, step):
            hi = min(lo + step, stop)
            # rounded, so that equal maps reached by different products share one reading
            maps = np.round(self.matrices[lo:hi], 12) + 0.0
            key = (maps.tobytes(), (height, width), self.fill, X.dtype.str)
            readings.get(key).read(X, channels, out[:, lo - start : hi - start])
        return out


class Reading:
    """How to read images at m points, each as a weighted sum of up to four pixels.

    Attributes
    ----------
    index : array of shape (m, 4)
        Pixels; those that do not count have weight zero.
    weight : array of shape (m, 4)
    """

    def __init__(self, index: NDArray[np.uint32], weight: Rows):
        self.index = index
        self.weight = weight

    @property
    def nbytes(self) -> int:
        return self.index.nbytes + self.weight.nbytes

    def read(self, X: Rows, channels: int = 1, out: Rows | None = None) -> Rows:
        """Read rows of pixels, (n, pixels * channels): (n, m * channels).

        ``out``, if given, is filled; it may have more axes, and its rows need not adjoin.
        """
        from invarlearn.transforms._reading import read_four, read_four_grey

        X = np.ascontiguousarray(X)
        if out is None:
            out = np.empty((len(X), len(self.index) * channels), dtype=X.dtype)
        index = self.index if channels == 1 else self.index * np.uint32(channels)

        def some(part: slice) -> None:
            for x, row in zip(X[part], out[part], strict=True):
                if channels == 1:
                    read_four_grey(x, index, self.weight, row.reshape(-1))
                else:
                    read_four(x, index, self.weight, channels, row.reshape(-1))

        in_threads(some, slices(len(X), 2**20 // max(out[0].nbytes, 1)))
        return out


class ReadingCache:
    """The readings used last, bounded by bytes; safe to share between threads."""

    def __init__(self, max_bytes: int):
        self.max_bytes = max_bytes
        self.built = 0
        self._kept: OrderedDict[Any, Reading] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[Any, ...]) -> Reading:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        reading = affine_reading(*key)
        with self._lock:
            self.built += 1
            self._kept[key] = reading
            while sum(kept.nbytes for kept in self._kept.values()) > self.max_bytes:
                self._kept.popitem(last=False)
        return reading


readings = ReadingCache(CACHE_BYTES)


def affine_reading(
    maps: bytes,
    size: tuple[int, int],
    fill: str,
    dtype: str,
    window: tuple[int, int, int, int] | None = None,
) -> Reading:
    """Give where k affine maps read an image: k times as many points as pixels.

    ``window`` (row, column, height, width) says which pixels of the moved image are wanted; None:
    those of the image.
    """
    height, width = size
    matrices = np.frombuffer(maps).reshape(-1, 3, 3)
    centre = np.array([(height - 1) / 2, (width - 1) / 2])
    row, column, tall, wide = window or (0, 0, height, width)
    places = np.indices((tall, wide)).reshape(2, -1) + np.array([[row], [column]])
    back = np.linalg.inv(matrices)[:, :2]
    source = back[:, :, :2] @ (places - centre[:, None]) + back[:, :, 2:] + centre[:, None]
    return bilinear_reading(source.transpose(1, 0, 2).reshape(2, -1), size, fill, dtype)


def bilinear_reading(
    source: NDArray[np.float64], size: tuple[int, int], fill: str, dtype: Any
) -> Reading:
    """Give how to read an image at m points by bilinear interpolation.

    Parameters
    ----------
    source : array of shape (2, m)
        Row and column of each point.
    size : tuple (height, width)
    fill : {"zero", "edge", "wrap"}
        What lies outside the image.
    dtype : dtype
        Of the weights.
    """
    height, width = size
    # Snap what rounding has moved off the grid: shifts, flips and quarter turns stay exact.
    source = np.round(source, 9)
    corner = np.floor(source)
    fraction = source - corner
    corner = corner.astype(np.int64)

    index = np.empty((source.shape[1], 4), dtype=np.uint32)
    weights = np.empty((source.shape[1], 4), dtype=dtype)
    for tap, (down, right) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1)]):
        row, column = corner[0] + down, corner[1] + right
        weight = (fraction[0] if down else 1 - fraction[0]) * (
            fraction[1] if right else 1 - fraction[1]
        )
        if fill == "wrap":
            row, column = row % height, column % width
        elif fill == "edge":
            row, column = row.clip(0, height - 1), column.clip(0, width - 1)
        else:
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            weight = np.where(inside, weight, 0.0)
            row, column = np.where(inside, row, 0), np.where(inside, column, 0)
        index[:, tap] = row * width + column
        weights[:, tap] = weight
    return Reading(index, weights)


class Gather(Action):
    """Reorderings of the features: ``x -> x[indices[i]]``, with indices of shape (k, d)."""

    def __init__(self, indices: NDArray[np.int32]):
        self.indices = indices

    def __len__(self) -> int:
        return len(self.indices)

    def act(self, X: Rows, start: int, stop: int) -> Rows:
        return np.take(X, self.indices[start:stop], axis=1)

    def merge(self, inner: Action, pairwise: bool) -> Action | None:
        if not isinstance(inner, Gather):
            return None
        if not pairwise and len(inner) * self.indices.nbytes > READING_BYTES:
            return None  # rather one after the other than a list that large
        if pairwise:
            return Gather(np.take_along_axis(inner.indices, self.indices, axis=1))
        both = inner.indices[None, :, :].repeat(len(self), axis=0)
        order = self.indices[:, None, :].repeat(len(inner), axis=1)
        return Gather(np.take_along_axis(both, order, axis=2).reshape(-1, both.shape[2]))


class Functions(Action):
    """Callables, each mapping (n, d) to (n, d)."""

    def __init__(self, functions: Sequence[Callable[[Rows], Rows]]):
        self.functions = list(functions)

    def __len__(self) -> int:
        return len(self.functions)

    def act(self, X: Rows, start: int, stop: int) -> Rows:
        out = np.empty((len(X), stop - start, X.shape[1]), dtype=X.dtype)
        for i, function in enumerate(self.functions[start:stop]):
            moved = np.asarray(function(X.copy()))
            if moved.shape != X.shape:
                raise ValueError(
                    f"transformation {start + i} ({_name(function)}) maps rows of shape {X.shape} "
                    f"to {moved.shape}: it must keep the shape (n_samples, n_features)"
                )
            if not np.isfinite(moved).all():
                raise ValueError(
                    f"transformation {start + i} ({_name(function)}) gives numbers that are not "
                    "finite: mend it, or leave it out"
                )
            out[:, i] = moved
        return out

    def one(self, X: Any, i: int) -> Any:
        return self.functions[i](X.copy())


class Composed(Action):
    """One action after another of a different kind."""

    def __init__(self, outer: Action, inner: Action, pairwise: bool):
        self.outer = outer
        self.inner = inner
        self.pairwise = pairwise

    def __len__(self) -> int:
        return len(self.outer) if self.pairwise else len(self.outer) * len(self.inner)

    def act(self, X: Rows, start: int, stop: int) -> Rows:
        n, d = X.shape
        if self.pairwise:
            out = np.empty((n, stop - start, d), dtype=X.dtype)
            for i in range(start, stop):
                moved = self.inner.act(X, i, i + 1)[:, 0]
                out[:, i - start] = self.outer.act(moved, i, i + 1)[:, 0]
            return out
        size = len(self.inner)
        first, last = start // size, (stop - 1) // size
        # Within one outer element only a part of the inner ones may be wanted.
        low, high = (start % size, stop - first * size) if first == last else (0, size)
        moved = self.inner.act(X, low, high)
        block = self.outer.act(moved.reshape(-1, d), first, last + 1)
        block = block.reshape(n, high - low, last + 1 - first, d).transpose(0, 2, 1, 3)
        block = block.reshape(n, -1, d)
        offset = start - (first * size + low)
        return np.ascontiguousarray(block[:, offset : offset + stop - start])


class Joined(Action):
    """Several actions one after the other in one list; the identity of the later ones dropped."""

    def __init__(self, actions: Sequence[Action]):
        self.actions = list(actions)

    def __len__(self) -> int:
        return sum(map(len, self.actions)) - (len(self.actions) - 1)

    def act(self, X: Rows, start: int, stop: int) -> Rows:
        parts, position = [], 0
        for number, action in enumerate(self.actions):
            dropped = int(number > 0)
            size = len(action) - dropped
            low, high = max(start - position, 0), min(stop - position, size)
            if low < high:
                parts.append(action.act(X, low + dropped, high + dropped))
            position += size
        return np.concatenate(parts, axis=1)


class Picked(Action):
    """Several actions of equal length, mixed: element i is element i of action ``choice[i]``."""

    def __init__(self, actions: Sequence[Action], choice: NDArray[np.intp]):
        self.actions = list(actions)
        self.choice = choice

    def __len__(self) -> int:
        return len(self.choice)

    def act(self, X: Rows, start: int, stop: int) -> Rows:
        parts = [self.actions[self.choice[i]].act(X, i, i + 1) for i in range(start, stop)]
        return np.concatenate(parts, axis=1)


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__name__", repr(function))
