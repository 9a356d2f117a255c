"""Actions: lists of transformations of rows, without the parameters of a family.

An action is a list of k transformations of rows with a fixed number of features d. It maps
(n, d) to (n, k, d), for all k transformations or a range of them. Two actions of the same kind can
be merged: the matrices of affine maps are multiplied, so that pixels are interpolated once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from invarlearn.transforms.interpolation import READING_BYTES, readings
from invarlearn.transforms.interpolation import Rows as Rows


class Action(ABC):
    """Base class of actions: lists of transformations of rows with a fixed number of features.

    ``Family.elements`` and ``Family.draw`` return an action. Use one of the subclasses:
    :class:`Functions` for any callables, :class:`Affine` for affine maps of pixels,
    :class:`Gather` for permutations of features, and :class:`Composed`, :class:`Joined` and
    :class:`Picked` for combinations of actions. Other subclasses define ``__len__``, the number of
    transformations, and :meth:`act`.

    Examples
    --------
    >>> import numpy as np
    >>> from invarlearn.transforms import Translation
    >>> action = Translation(1).elements(64)
    >>> len(action), action.act(np.ones((2, 64)), 0, 4).shape
    (9, (2, 4, 64))
    """

    @abstractmethod
    def __len__(self) -> int:
        raise NotImplementedError

    @abstractmethod
    def act(self, X: Rows, start: int, stop: int) -> Rows:
        """Apply the transformations ``start:stop`` to every row.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        start, stop : int
            Range of transformations.

        Returns
        -------
        array of shape (n_samples, stop - start, n_features)
            Transformed rows, of the dtype of X.
        """
        raise NotImplementedError

    def one(self, X: Any, i: int) -> Any:
        """Apply transformation i to every row.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows; they may be sparse if the transformation accepts sparse rows.
        i : int
            Index of the transformation.

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        return self.act(X, i, i + 1)[:, 0]

    def piece(self, n_features: int) -> int:
        """Return the number of transformations to apply at a time."""
        return len(self)

    def merge(self, inner: Action, pairwise: bool) -> Action | None:
        """Return one action equal to self after ``inner``, or None if they cannot be merged.

        Parameters
        ----------
        inner : Action
            The action that is applied first.
        pairwise : bool
            True: transformation i of self after transformation i of ``inner``. False: all pairs,
            those of ``inner`` varying fastest.

        Returns
        -------
        Action or None
        """
        return None


def compose(outer: Action, inner: Action, pairwise: bool = False) -> Action:
    """Return ``outer`` after ``inner``, merged into one action if possible.

    Parameters
    ----------
    outer, inner : Action
        ``inner`` is applied first.
    pairwise : bool, default=False
        As in :meth:`Action.merge`.

    Returns
    -------
    Action
    """
    merged = outer.merge(inner, pairwise)
    if merged is not None:
        return merged
    if isinstance(inner, Composed) and inner.pairwise == pairwise:
        # outer may merge with the action that is applied just before it
        merged = outer.merge(inner.outer, pairwise)
        if merged is not None:
            return Composed(merged, inner.inner, pairwise)
    return Composed(outer, inner, pairwise)


class Affine(Action):
    """Affine maps of a grid of pixels, with bilinear interpolation.

    The transformation with matrix M moves the pixel at p to ``M p``, in homogeneous coordinates
    p = (row, column, 1) from the centre of the grid.

    Parameters
    ----------
    matrices : array of shape (k, 3, 3)
    grid : tuple (height, width, channels)
    fill : {"zero", "edge", "wrap", "any"}
        Values outside the grid; "any" if the maps never read them.

    Examples
    --------
    >>> import numpy as np
    >>> down = np.eye(3)
    >>> down[0, 2] = 1
    >>> action = Affine(np.stack([np.eye(3), down]), (3, 1, 1), "zero")
    >>> action.act(np.array([[1.0, 2.0, 3.0]]), 0, 2)
    array([[[1., 2., 3.],
            [0., 1., 2.]]])
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
        # each point is interpolated from four pixels, whose indices and weights take up to 12 bytes
        return max(1, READING_BYTES // (self.grid[0] * self.grid[1] * 4 * 12))

    def act(self, X: Rows, start: int, stop: int) -> Rows:
        height, width, channels = self.grid
        n, d = X.shape
        if d != height * width * channels:
            # compiled code reads pixels without bounds checks
            raise ValueError(
                f"rows have {d} features, not {height * width * channels}: the action is for "
                f"grids of {height} x {width} pixels and {channels} channels"
            )
        step = self.piece(height * width)
        out = np.empty((n, stop - start, d), dtype=X.dtype)
        for lo in range(start, stop, step):
            hi = min(lo + step, stop)
            # rounded, so that equal maps of different products share cached weights
            maps = np.round(self.matrices[lo:hi], 12) + 0.0
            key = (maps.tobytes(), (height, width), self.fill, X.dtype.str)
            readings.get(key).read(X, channels, out[:, lo - start : hi - start])
        return out


class Gather(Action):
    """Permutations of the features: transformation i maps x to ``x[indices[i]]``.

    Parameters
    ----------
    indices : array of int of shape (k, d)

    Examples
    --------
    >>> import numpy as np
    >>> Gather(np.array([[0, 1, 2], [2, 1, 0]])).act(np.array([[5.0, 6.0, 7.0]]), 0, 2)
    array([[[5., 6., 7.],
            [7., 6., 5.]]])
    """

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
            return None  # composing both actions takes less memory than the merged indices
        if pairwise:
            return Gather(np.take_along_axis(inner.indices, self.indices, axis=1))
        inner_indices = inner.indices[None, :, :].repeat(len(self), axis=0)
        outer_indices = self.indices[:, None, :].repeat(len(inner), axis=1)
        merged = np.take_along_axis(inner_indices, outer_indices, axis=2)
        return Gather(merged.reshape(-1, merged.shape[2]))


class Functions(Action):
    """Callables, each of which maps (n, d) to (n, d), row by row.

    Parameters
    ----------
    functions : sequence of callable
        They are called with a copy of the rows. To be stored in a pickle or a model file, they must
        be importable: functions of a module, or instances of a class with ``__call__``.

    Examples
    --------
    >>> import numpy as np
    >>> Functions([np.copy, np.fliplr]).act(np.array([[5.0, 6.0]]), 0, 2)
    array([[[5., 6.],
            [6., 5.]]])
    """

    def __init__(self, functions: Sequence[Callable[[Rows], Rows]]):
        self.functions = list(functions)

    def __len__(self) -> int:
        return len(self.functions)

    def act(self, X: Rows, start: int, stop: int) -> Rows:
        out = np.empty((len(X), stop - start, X.shape[1]), dtype=X.dtype)
        for i in range(start, stop):
            out[:, i - start] = self.one(X, i)
        return out

    def one(self, X: Any, i: int) -> Any:
        function = self.functions[i]
        transformed = function(X.copy())
        if issparse(transformed):
            values = transformed.data
        else:
            transformed = np.asarray(transformed)
            values = transformed
        if transformed.shape != X.shape:
            raise ValueError(
                f"transformation {i} ({_name(function)}) maps rows of shape {X.shape} to "
                f"{transformed.shape}: it must keep the shape (n_samples, n_features)"
            )
        if not np.isfinite(values).all():
            raise ValueError(
                f"transformation {i} ({_name(function)}) returns numbers that are not finite: it "
                "must return finite numbers for finite rows"
            )
        return transformed


class Composed(Action):
    """The composition of two actions.

    Use :func:`compose` to build it, which merges actions of the same kind.

    Parameters
    ----------
    outer, inner : Action
        ``inner`` is applied first.
    pairwise : bool
        As in :meth:`Action.merge`.
    """

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
                inner_rows = self.inner.act(X, i, i + 1)[:, 0]
                out[:, i - start] = self.outer.act(inner_rows, i, i + 1)[:, 0]
            return out
        size = len(self.inner)
        first, last = start // size, (stop - 1) // size
        # with one transformation of outer, only some transformations of inner are needed
        low, high = (start % size, stop - first * size) if first == last else (0, size)
        inner_rows = self.inner.act(X, low, high)
        block = self.outer.act(inner_rows.reshape(-1, d), first, last + 1)
        block = block.reshape(n, high - low, last + 1 - first, d).transpose(0, 2, 1, 3)
        block = block.reshape(n, -1, d)
        offset = start - (first * size + low)
        return np.ascontiguousarray(block[:, offset : offset + stop - start])


class Joined(Action):
    """The transformations of several actions, concatenated.

    The first transformation of the second and later actions is dropped: in a union of families, it
    is the identity.

    Parameters
    ----------
    actions : sequence of Action
    """

    def __init__(self, actions: Sequence[Action]):
        self.actions = list(actions)

    def __len__(self) -> int:
        return sum(map(len, self.actions)) - (len(self.actions) - 1)

    def act(self, X: Rows, start: int, stop: int) -> Rows:
        parts, position = [], 0
        for i, action in enumerate(self.actions):
            n_dropped = int(i > 0)
            size = len(action) - n_dropped
            low, high = max(start - position, 0), min(stop - position, size)
            if low < high:
                parts.append(action.act(X, low + n_dropped, high + n_dropped))
            position += size
        return np.concatenate(parts, axis=1)


class Picked(Action):
    """A choice among several actions: transformation i is that of action ``choice[i]``.

    Parameters
    ----------
    actions : sequence of Action
        Actions of length k.
    choice : array of int of shape (k,)
        Indices of actions.
    """

    def __init__(self, actions: Sequence[Action], choice: NDArray[np.intp]):
        self.actions = list(actions)
        self.choice = choice

    def __len__(self) -> int:
        return len(self.choice)

    def act(self, X: Rows, start: int, stop: int) -> Rows:
        parts = [self.actions[self.choice[i]].act(X, i, i + 1) for i in range(start, stop)]
        return np.concatenate(parts, axis=1)


def iter_blocks(action: Action, X: Rows, max_bytes: int) -> Iterator[tuple[slice, slice, Rows]]:
    """Yield (rows, transformations, block) of an action on X, in blocks of up to ``max_bytes``.

    A block has at least one row and one transformation.
    """
    row_bytes = X.shape[1] * X.dtype.itemsize
    n_elements = min(len(action), action.piece(X.shape[1]), max(1, max_bytes // row_bytes))
    n_rows = max(1, max_bytes // (row_bytes * n_elements))
    for start in range(0, len(action), n_elements):
        elements = slice(start, min(start + n_elements, len(action)))
        for first in range(0, len(X), n_rows):
            rows = slice(first, min(first + n_rows, len(X)))
            yield rows, elements, action.act(X[rows], elements.start, elements.stop)


class SingleElement:
    """Element i of an action, as a function of rows."""

    def __init__(self, action: Action, i: int):
        self.action = action
        self.i = int(i)

    def __call__(self, X: Rows) -> Rows:
        return self.action.act(X, self.i, self.i + 1)[:, 0]


def unchanged(X: Rows) -> Rows:
    """Return the rows unchanged: the identity, as a function that can be pickled."""
    return X


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__name__", repr(function))
