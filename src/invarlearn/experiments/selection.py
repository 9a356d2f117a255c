"""The choice of parameters from cross-validated errors on a grid, with few samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter


def choose_cell(errors: NDArray) -> tuple[int, ...]:
    """Return the index of the lowest error on a grid; of equal errors, that amid the lowest ones.

    With few labels many cells have the same error. Of these, the one whose neighbourhood has the
    lowest mean error is chosen: its error is the least likely to be low by chance. Neighbourhoods
    have 3 cells along each axis; if they are equal, then 5, and so on. Beyond the edge of the grid,
    where errors are not known, they are taken to be higher than all others.

    Parameters
    ----------
    errors : array of any shape
        Errors, with one axis for each parameter, in the order of its values.

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> choose_cell(np.array([5, 3, 4, 3, 3, 3, 4]))
    (4,)
    """
    errors = np.asarray(errors, dtype=float)
    best = errors == errors.min()
    for size in range(3, 2 * max(errors.shape), 2):
        means = uniform_filter(errors, size, mode="constant", cval=errors.max() + 1e-3)
        best &= means <= means[best].min() + 1e-9
    return tuple(int(i) for i in np.argwhere(best)[0])
