"""What may happen to a sequence: it starts elsewhere, or comes in another order."""

from __future__ import annotations

from itertools import islice, permutations
from math import factorial

import numpy as np
from numpy.typing import NDArray

from invarlearn.transforms._actions import Action, Gather
from invarlearn.transforms._checks import Shape, check_number, matching_shape
from invarlearn.transforms.base import Family
from invarlearn.transforms.grid import CyclicFamily, Grid


class CyclicShift(CyclicFamily):
    """Cyclic shifts of a sequence or a periodic signal: exact permutations of the features.

    Parameters
    ----------
    radius : int or None, default=None
        The largest shift on either side. None: all shifts, which are a group.
    step : int, default=1
        Positions between two shifts.
    shape : int or tuple, optional
        Length of the sequence, or (length, channels). None: the whole row is one sequence.

    Examples
    --------
    >>> CyclicShift(radius=1).orbit([[1.0, 2.0, 3.0]])
    array([[[1., 2., 3.],
            [2., 3., 1.],
            [3., 1., 2.]]])
    """

    domain = "sequence"

    def __init__(self, radius: int | None = None, step: int = 1, shape: Shape = None):
        self.radius = radius
        self.step = step
        self.shape = shape

    def resolve_shape(self, n_features: int) -> tuple[int, ...]:
        if self.shape is None:
            return (n_features,)
        shape = matching_shape(self.shape, n_features, "CyclicShift")
        if len(shape) > 2:
            raise ValueError(f"CyclicShift needs shape=length or (length, channels), not {shape}")
        return shape

    def _grid(self, n_features: int) -> Grid:
        length, *channels = self.resolve_shape(n_features)
        return (1, length, channels[0] if channels else 1)


class Permutation(Family):
    """Reorderings of the blocks of a row, such as the letters of a word in one-hot coding.

    Parameters
    ----------
    block : int, default=1
        Features in a block; a row is a whole number of blocks.
    max_elements : int, default=1000
        If there are more permutations than this, as many random ones stand for all of them
        (the identity first), and the family is not a group any more.
    random_state : int, default=0
        Seed of that choice.
    shape : int or tuple, optional
        Features of a row; only to know :attr:`n_elements` before there are data.

    Examples
    --------
    >>> Permutation(block=8, shape=40).n_elements
    120
    >>> Permutation().orbit([[1.0, 2.0, 3.0]])[0, 1]
    array([1., 3., 2.])
    """

    domain = "sequence"
    is_unitary = True

    def __init__(
        self,
        block: int = 1,
        max_elements: int = 1000,
        random_state: int = 0,
        shape: Shape = None,
    ):
        self.block = block
        self.max_elements = max_elements
        self.random_state = random_state
        self.shape = shape

    def _n_blocks(self, n_features: int) -> int:
        check_number(self.block, "block", low=1, whole=True)
        if n_features % self.block:
            raise ValueError(
                f"block={self.block} does not divide the {n_features} features of a row"
            )
        return n_features // self.block

    def resolve_shape(self, n_features: int) -> tuple[int, ...]:
        self._n_blocks(n_features)
        return super().resolve_shape(n_features)

    @property
    def is_group(self) -> bool:  # type: ignore[override]
        if self.shape is None:
            return False
        return self._all_listed(self._n_blocks(self._known_features("is_group")))

    def _all_listed(self, n_blocks: int) -> bool:
        # factorials of large numbers are slow, and 20! is beyond any list
        return n_blocks < 20 and factorial(n_blocks) <= self.max_elements

    def _size(self, n_features: int) -> float:
        n_blocks = self._n_blocks(n_features)
        check_number(self.max_elements, "max_elements", low=1, whole=True)
        return factorial(n_blocks) if self._all_listed(n_blocks) else self.max_elements

    def _listed(self, n_features: int) -> Action:
        n_blocks = self._n_blocks(n_features)
        if self._all_listed(n_blocks):
            orders = np.array(list(permutations(range(n_blocks))))
        else:
            check_number(self.max_elements, "max_elements", low=1, whole=True)
            # a seed, not a generator: the family must list the same elements every time
            seed = check_number(self.random_state, "random_state", low=0, whole=True)
            rng = np.random.RandomState(int(seed))
            orders = distinct_orders(n_blocks, self.max_elements, rng)
        return self._reordered(orders)

    def _drawn(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        n_blocks = self._n_blocks(n_features)
        return self._reordered(np.array([rng.permutation(n_blocks) for _ in range(k)]))

    def _reordered(self, orders: NDArray[np.intp]) -> Action:
        features = orders[:, :, None] * self.block + np.arange(self.block)
        return Gather(features.reshape(len(orders), -1).astype(np.int32))


def distinct_orders(n: int, count: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw ``count`` different orders of n things, the natural order first.

    ``count`` must be less than n!.
    """
    found = {tuple(range(n)): None}
    while len(found) < count:
        found.setdefault(tuple(rng.permutation(n).tolist()))
    return np.array(list(islice(found, count)))
