"""Copies of rows, moved by random elements of a family."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from invarlearn.transforms import Family


def unmoved(X: NDArray, start: int = 0) -> NDArray:
    """Give the rows themselves."""
    return X


class Moved:
    """Rows, moved by several random elements in turn: one after the other, and then again."""

    def __init__(self, family: Family, n_elements: int, seed: int):
        self.elements = family.sample(n_elements, seed)

    def __call__(self, X: NDArray, start: int = 0) -> NDArray:
        """Move rows, the first of which is the so-manyth of all."""
        out = np.empty_like(X)
        count = len(self.elements)
        for i in range(min(count, len(X))):
            out[i::count] = self.elements[(start + i) % count](X[i::count])
        return out
