"""Families of sequences: cyclic shifts and permutations of blocks."""

from __future__ import annotations

from itertools import islice, permutations
from math import factorial

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.validation import Shape, check_number, matching_shape
from invarlearn.transforms._parameters import declared_features
from invarlearn.transforms.actions import Action, Gather
from invarlearn.transforms.base import Family
from invarlearn.transforms.cyclic import CyclicFamily
from invarlearn.transforms.domains import SEQUENCE
from invarlearn.transforms.grid import Grid


class CyclicShift(CyclicFamily):
    """Cyclic shifts of a sequence or a periodic signal: exact permutations of the features.

    The element with shift s maps a sequence x of length n to ``x((i - s) mod n)``. Shifts are
    unitary; all shifts are a group, and so are those with a ``step`` that divides the length.

    Parameters
    ----------
    radius : int or None, default=None
        The largest shift on either side. None: all shifts.
    step : int, default=1
        Distance between neighbouring shifts, in positions.
    shape : int or tuple, optional
        Length of the sequence, or (length, channels). None: the whole row is one sequence.

    Examples
    --------
    >>> CyclicShift(radius=1).orbit([[1.0, 2.0, 3.0]])
    array([[[1., 2., 3.],
            [2., 3., 1.],
            [3., 1., 2.]]])
    """

    spec_name = "cyclic-shift"
    domain = SEQUENCE

    def __init__(self, radius: int | None = None, step: int = 1, shape: Shape = None):
        self.radius = radius
        self.step = step
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(), cls(radius=3, step=2), cls(step=4), cls(shape=(16, 4)), cls(shape=64)]

    def resolve_shape(self, n_features: int) -> tuple[int, ...]:
        if self.shape is None:
            return (n_features,)
        shape = matching_shape(self.shape, n_features, "CyclicShift")
        if len(shape) > 2:
            raise ValueError(f"CyclicShift needs shape=length or (length, channels), not {shape}")
        return shape

    def grid(self, n_features: int) -> Grid:
        length, *channels = self.resolve_shape(n_features)
        return (1, length, channels[0] if channels else 1)


class Permutation(Family):
    """Permutations of the blocks of a row, such as the letters of a word in one-hot coding.

    Rows of n blocks have n! permutations. If these are more than ``max_elements``, a random sample
    of ``max_elements`` permutations is listed, the identity first. Permutations are unitary; all of
    them together are a group.

    Parameters
    ----------
    block : int, default=1
        Number of features of a block, which must divide the number of features of a row.
    max_elements : int, default=1000
        Largest number of listed elements.
    random_state : int, default=0
        Seed of the random sample of elements.
    shape : int or tuple, optional
        Number of features of a row; :attr:`n_elements` and :attr:`is_group` depend on it.

    Examples
    --------
    >>> Permutation(block=8, shape=40).n_elements
    120
    >>> Permutation().orbit([[1.0, 2.0, 3.0]])[0, 1]
    array([1., 3., 2.])
    """

    spec_name = "permutation"
    domain = SEQUENCE
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

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(block=16), cls(block=4, max_elements=50)]

    def _n_blocks(self, n_features: int) -> int:
        check_number(self.block, "block", low=1, whole=True)
        if n_features % self.block:
            raise ValueError(
                f"block={self.block} does not divide the {n_features} features of a row: choose a "
                "divisor of it"
            )
        return n_features // self.block

    def resolve_shape(self, n_features: int) -> tuple[int, ...]:
        self._n_blocks(n_features)
        return super().resolve_shape(n_features)

    @property
    def is_group(self) -> bool:  # type: ignore[override]
        if self.shape is None:
            return False
        return self._all_listed(self._n_blocks(declared_features(self, "is_group")))

    def _all_listed(self, n_blocks: int) -> bool:
        # the factorial is not computed for many blocks, since 20! is too large for any list
        return n_blocks < 20 and factorial(n_blocks) <= self.max_elements

    def size(self, n_features: int) -> float:
        n_blocks = self._n_blocks(n_features)
        check_number(self.max_elements, "max_elements", low=1, whole=True)
        return factorial(n_blocks) if self._all_listed(n_blocks) else self.max_elements

    def elements(self, n_features: int) -> Action:
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

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        n_blocks = self._n_blocks(n_features)
        return self._reordered(np.array([rng.permutation(n_blocks) for _ in range(k)]))

    def _reordered(self, orders: NDArray[np.intp]) -> Action:
        features = orders[:, :, None] * self.block + np.arange(self.block)
        return Gather(features.reshape(len(orders), -1).astype(np.int32))


def distinct_orders(n: int, count: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw ``count`` different permutations of ``range(n)``, the identity first.

    ``count`` must be less than n!.
    """
    orders = {tuple(range(n)): None}
    while len(orders) < count:
        orders.setdefault(tuple(rng.permutation(n).tolist()))
    return np.array(list(islice(orders, count)))
