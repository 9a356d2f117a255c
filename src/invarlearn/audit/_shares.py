"""Shares of samples, with intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm


@dataclass(frozen=True)
class Share:
    """A share of samples, and its 95 % confidence interval if samples are independent.

    >>> print(share_of([1, 1, 1, 0]))
    75.0 % (30.1 to 95.4)
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.value:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f})"


def share_of(values: NDArray | list[float]) -> Share:
    """Give the mean of numbers from 0 to 1, one a sample, with an interval.

    For zeros and ones that is Wilson's. Where a sample has a share of its own (of its copies, say),
    the mean is as sure as that of zeros and ones of as many samples as would spread alike.
    """
    values = np.asarray(values, dtype=float)
    n, mean = len(values), float(values.mean())
    # with a zero and a one more, so that few samples that happen to agree do not seem sure
    spread = np.concatenate([values, [0.0, 1.0]])
    middle = float(spread.mean())
    # of zeros and ones the variance is mean (1 - mean), and this is n
    effective = n * middle * (1 - middle) / float(spread.var())
    return Share(mean, *_wilson(mean, effective))


def _wilson(mean: float, n: float, level: float = 0.95) -> tuple[float, float]:
    z = float(norm.ppf(0.5 + level / 2))
    middle = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))
