"""Augmentation of samples by random elements of a family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from invarlearn.transforms import Family
from invarlearn.transforms.elements import Elements

# Function of rows, (n, n_features), and of the position of the first row among all samples, which
# returns one copy of each row.
MakeCopy = Callable[[NDArray, int], NDArray]


def copy_unchanged(X: NDArray, start: int = 0) -> NDArray:
    """Return the rows themselves: the first copy of each sample."""
    return X


class CopyMaker:
    """Transform sample i by element ``i mod n_elements`` of a random list.

    Parameters
    ----------
    family : Family
    n_elements : int
        Length of the list.
    seed : int
    """

    def __init__(self, family: Family, n_elements: int, seed: int):
        self.elements = family.sample(n_elements, seed)

    def __call__(self, X: NDArray, start: int = 0) -> NDArray:
        """Return one copy of each row.

        Parameters
        ----------
        X : array of shape (n, n_features)
        start : int, default=0
            The position of the first row among all samples. The copy of a sample does not depend on
            the other samples that are passed.

        Returns
        -------
        array of shape (n, n_features)
        """
        copies = np.empty_like(X)
        n = len(self.elements)
        for i in range(min(n, len(X))):
            copies[i::n] = self.elements[(start + i) % n](X[i::n])
        return copies


@dataclass(frozen=True)
class Augmentation:
    """Settings of the augmentation.

    Attributes
    ----------
    family : Family
    n_copies : int
        Number of copies of each sample, itself included.
    n_elements : int
        Number of random elements for each copy of the samples.
    seed : int
    average_range : float
        Factor of the range of the family in test-time augmentation.
    """

    family: Family
    n_copies: int
    n_elements: int
    seed: int
    average_range: float

    def copy_makers(self, count: int) -> list[MakeCopy]:
        """Return the first ``count`` copy makers, beginning with :func:`copy_unchanged`."""
        random = [CopyMaker(self.family, self.n_elements, self.seed + i) for i in range(count - 1)]
        return [copy_unchanged, *random]

    def averaging_elements(self, n_average: int) -> Elements | list:
        """Return the elements for test-time augmentation, without the identity."""
        if n_average == 1 or self.n_copies == 1:
            return []
        # the seed is that of the first random copy, whose elements differ unless average_range is 1
        return self.family.scaled(self.average_range).sample(n_average - 1, self.seed)
