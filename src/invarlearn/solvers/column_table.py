"""The table of the columns in the restricted dual of column generation."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from invarlearn.oracles.base import Priced
from invarlearn.oracles.costs import Floats


@dataclass
class ColumnTable:
    """The columns of the restricted dual, sorted by sample, and by row within a sample.

    Attributes
    ----------
    example, row, plus, minus, scale, delta : arrays of shape (n_columns,)
        As in :class:`~invarlearn.oracles.base.Priced`. The row -1 stands for the correct label.
    alpha : array of shape (n_columns,)
        Weights. Those of a sample add up to its mass.
    idle : array of shape (n_columns,)
        Number of rounds since a column had weight.
    """

    example: NDArray[np.int64]
    row: NDArray[np.int64]
    plus: NDArray[np.int64]
    minus: NDArray[np.int64]
    scale: Floats
    delta: Floats
    alpha: Floats
    idle: NDArray[np.int64]

    @classmethod
    def right_answers(cls, null: Floats, mass: Floats) -> ColumnTable:
        """Return the columns of the correct labels, with all the mass.

        Parameters
        ----------
        null, mass : arrays of shape (n_examples,)
            Costs of the correct labels, and masses of the samples.
        """
        n = len(mass)
        no_row = np.full(n, -1)
        return cls(
            example=np.arange(n),
            row=no_row,
            plus=no_row.copy(),
            minus=no_row.copy(),
            scale=np.zeros(n),
            delta=null.copy(),
            alpha=mass.copy(),
            idle=np.zeros(n, dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.example)

    def take(self, which: NDArray) -> ColumnTable:
        """Return the columns with given indices, or where a mask is true."""
        return ColumnTable(*(getattr(self, field.name)[which] for field in fields(self)))

    def merged(self, priced: Priced, which: NDArray) -> ColumnTable:
        """Return these columns and new ones without weight, those of ``priced`` in a mask."""
        n_new = int(which.sum())
        names = ("example", "row", "plus", "minus", "scale", "delta")
        arrays = [
            np.concatenate([getattr(self, name), getattr(priced, name)[which]]) for name in names
        ]
        arrays.append(np.concatenate([self.alpha, np.zeros(n_new)]))
        arrays.append(np.concatenate([self.idle, np.zeros(n_new, dtype=np.int64)]))
        # by sample, and within it by row
        return ColumnTable(*arrays).take(np.lexsort((arrays[1], arrays[0])))
