"""Shares of samples, with intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, norm
from scipy.stats import t as student

# One group is added to what is known of how groups differ: it has this intraclass correlation, and
# a ratio that is off by a factor of e.
ALIKE, FACTOR = 0.2, 1.0
# Signs of so many groups are all tried; of more, so many draws of them.
EXACT, DRAWS = 14, 20_000


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


def share_of(values: NDArray | list[float], groups: NDArray | None = None) -> Share:
    """Give the mean of numbers from 0 to 1, one a sample, with an interval.

    For zeros and ones that is Wilson's. Where a sample has a share of its own (of its copies, say),
    the mean is as sure as that of zeros and ones of as many samples as would spread alike. Samples
    of one group, such as a speaker, count as far as they differ: the variance is the jackknife's,
    leaving out groups, and few groups that happen to agree do not seem sure.
    """
    values = np.asarray(values, dtype=float)
    mean = float(values.mean())
    if groups is not None:
        return Share(mean, *_wilson(mean, _size_of_groups(values, groups)))
    # with a zero and a one more, so that few samples that happen to agree do not seem sure
    spread = np.concatenate([values, [0.0, 1.0]])
    middle = float(spread.mean())
    # of zeros and ones the variance is mean (1 - mean), and this is n
    effective = len(values) * middle * (1 - middle) / float(spread.var())
    return Share(mean, *_wilson(mean, effective))


def _size_of_groups(values: NDArray, groups: NDArray) -> float:
    """Say of how many independent samples the mean of values would be as sure."""
    sums, sizes = group_sums(values, groups), group_sums(np.ones(len(values)), groups)
    n, count, mean = len(values), len(sizes), float(values.mean())
    if count == 1:
        return 1.0
    single = mean * (1 - mean)
    # in terms of the variance of one sample; groups do not agree better than samples do
    without = (sums.sum() - sums) / (n - sizes)
    variance = max(_jackknife(without - mean) / single if single else 0, 1 / n)
    unlike = ALIKE * float((sizes**2).sum()) / n**2
    variance = ((count - 1) * variance + unlike) / count
    # few groups say little of how groups differ: Student's quantile instead of the normal one
    wider = float(student.ppf(0.975, count) / norm.ppf(0.975)) ** 2
    return float(np.clip(1 / (variance * wider), 1, n))


def ratio_interval(ratio: float, without: NDArray) -> tuple[float, float]:
    """Give the 95 % interval of a positive number, from what it is without each group in turn.

    Of its logarithm, with the jackknife's variance.
    """
    count = len(without)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = _jackknife(np.log(without / ratio))
    variance = ((count - 1) * variance + FACTOR / count) / count
    off = float(np.exp(student.ppf(0.975, count) * np.sqrt(variance)))
    return ratio / off, ratio * off


def _jackknife(changes: NDArray) -> float:
    """Give the variance of what changes so much when groups are left out one by one."""
    return float((changes**2).sum()) * (len(changes) - 1) / len(changes)


def group_sums(values: NDArray, groups: NDArray) -> NDArray[np.float64]:
    """Sum up values group by group."""
    _, index = np.unique(groups, return_inverse=True)
    return np.bincount(index, weights=values).astype(float)


def chance_of_gain(gains: NDArray, groups: NDArray | None = None) -> float:
    """Say how likely gains and losses add up to as much, or more, if either is as likely.

    Parameters
    ----------
    gains : array of shape (n,)
        1 for a sample that is gained, -1 for one that is lost, and 0.
    groups : array of shape (n,), optional
        Samples of a group are gained and lost together: signs of whole groups are what chance
        decides.
    """
    sums = np.asarray(gains, dtype=float) if groups is None else group_sums(gains, groups)
    sizes = np.abs(sums[sums != 0])
    if not len(sizes):
        return 1.0
    if groups is None:
        gained = int((sums > 0).sum())
        return float(binomtest(gained, len(sizes), alternative="greater").pvalue)
    if len(sizes) <= EXACT:
        signs = 1 - 2 * ((np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes))) & 1)
        return float(((signs @ sizes) >= sums.sum() - 1e-9).mean())
    signs = 2 * np.random.RandomState(0).randint(2, size=(DRAWS, len(sizes))) - 1
    return float((1 + ((signs @ sizes) >= sums.sum() - 1e-9).sum()) / (1 + DRAWS))


def _wilson(mean: float, n: float, level: float = 0.95) -> tuple[float, float]:
    z = float(norm.ppf(0.5 + level / 2))
    middle = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))
