"""Poolings of the similarities over an orbit to one number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from invarlearn.kernels.base import Rows


@dataclass(frozen=True)
class OrbitPooling:
    """A way to pool similarities over an orbit.

    Attributes
    ----------
    pool : callable
        ``pool(values, size, sharpness, out)`` pools each ``size`` consecutive numbers in a row of
        ``values``, of shape (n, m * size), and writes the result to ``out``, of shape (n, m).
    takes_best : bool
        Whether the result is the largest value. A monotone function may then be applied to the
        pooled values instead of all values.
    averages_both_orbits : bool
        Whether the kernel is averaged over the orbits of both rows. The pooled kernel is then
        positive semidefinite if the base kernel is.
    """

    pool: Callable[[Rows, int, float, Rows], None]
    takes_best: bool = False
    averages_both_orbits: bool = False


# the compiled functions are imported at the first call, since importing numba is slow


def _pool_max(values: Rows, size: int, sharpness: float, out: Rows) -> None:
    from invarlearn.kernels._pooling import block_max

    block_max(values, size, out)


def _pool_mean(values: Rows, size: int, sharpness: float, out: Rows) -> None:
    from invarlearn.kernels._pooling import block_mean

    block_mean(values, size, out)


def _pool_softmax(values: Rows, size: int, sharpness: float, out: Rows) -> None:
    from invarlearn.kernels._pooling import block_softmax

    block_softmax(values, size, sharpness, out)


POOLINGS = {
    "max": OrbitPooling(_pool_max, takes_best=True),
    "mean": OrbitPooling(_pool_mean, averages_both_orbits=True),
    "softmax": OrbitPooling(_pool_softmax),
}
