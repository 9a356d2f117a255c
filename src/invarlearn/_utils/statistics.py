"""Proportions with confidence intervals, and tests of paired or clustered samples.

Samples of one group (a slide, patient or speaker) are not independent. With groups, intervals are
computed by the jackknife over groups, and sign tests flip the signs of whole groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest, norm, ttest_rel
from scipy.stats import t as student


@dataclass(frozen=True)
class Proportion:
    """An estimated proportion with its 95 % confidence interval.

    Attributes
    ----------
    value, low, high : float
        The estimate and the ends of its interval, between 0 and 1.

    Examples
    --------
    >>> print(estimate_proportion([1, 1, 1, 0]))
    75.0 % (30.1 to 95.4)
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.value:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f})"


def estimate_proportion(
    values: ArrayLike, groups: NDArray | None = None, prior_correlation: float = 0.2
) -> Proportion:
    """Estimate the mean of numbers in [0, 1] with a 95 % confidence interval.

    The interval is Wilson's score interval for an effective number of samples: the number of
    independent zeros and ones whose mean has the same variance. For zeros and ones without groups,
    this is the number of samples. For fractions, such as averages over the augmented copies of a
    sample, it is larger. With groups, the variance is estimated by the jackknife over groups.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        One number for each sample, between 0 and 1.
    groups : array of shape (n_samples,), optional
        Samples of one group may be correlated.
    prior_correlation : float, default=0.2
        Intraclass correlation of one further group that is averaged into the jackknife's variance.
        It prevents a narrow interval if a few groups agree by chance.

    Returns
    -------
    Proportion
    """
    values = np.asarray(values, dtype=float)
    mean = float(values.mean())
    if groups is not None:
        size = _effective_size_of_groups(values, groups, prior_correlation)
        return Proportion(mean, *_wilson_interval(mean, size))
    # add a zero and a one, so that the interval is not narrow if a few samples agree by chance
    extended = np.concatenate([values, [0.0, 1.0]])
    centre = float(extended.mean())
    # zeros and ones have the variance centre (1 - centre): this is then the number of samples
    effective = len(values) * centre * (1 - centre) / float(extended.var())
    return Proportion(mean, *_wilson_interval(mean, effective))


def _effective_size_of_groups(values: NDArray, groups: NDArray, prior_correlation: float) -> float:
    """Return the number of independent zeros and ones whose mean has the same variance."""
    sums, sizes = sum_by_group(values, groups), sum_by_group(np.ones(len(values)), groups)
    n, count, mean = len(values), len(sizes), float(values.mean())
    if count == 1:
        return 1.0
    sample_variance = mean * (1 - mean)
    # in units of the variance of one sample; at least the variance of independent samples
    left_out_means = (sums.sum() - sums) / (n - sizes)
    jackknife = (
        _jackknife_variance(left_out_means - mean) / sample_variance if sample_variance else 0
    )
    prior = prior_correlation * float((sizes**2).sum()) / n**2
    variance = ((count - 1) * max(jackknife, 1 / n) + prior) / count
    # with few groups the variance is uncertain: Student's quantile instead of the normal one
    widening = float(student.ppf(0.975, count) / norm.ppf(0.975)) ** 2
    return float(np.clip(1 / (variance * widening), 1, n))


def jackknife_ratio_interval(
    ratio: float, left_out_ratios: NDArray, prior_log_variance: float = 1.0
) -> tuple[float, float]:
    """Return the 95 % confidence interval of a positive ratio, by the jackknife over groups.

    The interval is symmetric for the logarithm of the ratio.

    Parameters
    ----------
    ratio : float
        The ratio of all groups.
    left_out_ratios : array of shape (n_groups,)
        The ratio without each group in turn.
    prior_log_variance : float, default=1.0
        Variance of the logarithm in one further group. It prevents a narrow interval if a few
        groups agree by chance. With 1, the standard deviation is a factor of e.

    Returns
    -------
    low, high : float
    """
    count = len(left_out_ratios)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = _jackknife_variance(np.log(left_out_ratios / ratio))
    variance = ((count - 1) * variance + prior_log_variance / count) / count
    factor = float(np.exp(student.ppf(0.975, count) * np.sqrt(variance)))
    return ratio / factor, ratio * factor


def _jackknife_variance(deviations: NDArray) -> float:
    """Return the jackknife variance, from the deviations with each group left out in turn."""
    return float((deviations**2).sum()) * (len(deviations) - 1) / len(deviations)


def sum_by_group(values: NDArray, groups: NDArray) -> NDArray[np.float64]:
    """Return the sum of the values of each group: (n_groups,), sorted by group label."""
    _, index = np.unique(groups, return_inverse=True)
    return np.bincount(index, weights=values).astype(float)


def sign_test_p_value(
    gains: NDArray,
    groups: NDArray | None = None,
    max_exact_groups: int = 14,
    n_draws: int = 20_000,
) -> float:
    """Return the one-sided p-value of a sign test.

    The null hypothesis is that gains and losses are equally likely; the alternative is that gains
    are more likely.

    Parameters
    ----------
    gains : array of shape (n_samples,)
        1 for a gained sample, -1 for a lost sample, 0 otherwise.
    groups : array of shape (n_samples,), optional
        Group of each sample. The signs of whole groups are flipped, since samples of one group are
        not independent.
    max_exact_groups : int, default=14
        With up to this many groups, all combinations of signs are enumerated.
    n_draws : int, default=20,000
        Number of random combinations of signs with more groups.
    """
    sums = np.asarray(gains, dtype=float) if groups is None else sum_by_group(gains, groups)
    sizes = np.abs(sums[sums != 0])
    if not len(sizes):
        return 1.0
    if groups is None:
        n_gained = int((sums > 0).sum())
        return float(binomtest(n_gained, len(sizes), alternative="greater").pvalue)
    if len(sizes) <= max_exact_groups:
        signs = 1 - 2 * ((np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes))) & 1)
        return float(((signs @ sizes) >= sums.sum() - 1e-9).mean())
    signs = 2 * np.random.RandomState(0).randint(2, size=(n_draws, len(sizes))) - 1
    return float((1 + ((signs @ sizes) >= sums.sum() - 1e-9).sum()) / (1 + n_draws))


@dataclass(frozen=True)
class PairedComparison:
    """Differences between paired values of two methods, such as accuracies on the same draws.

    Attributes
    ----------
    mean, sd : float
        Mean and standard deviation of the differences (sd is 0 for one pair).
    n_pairs, n_above, n_equal : int
        Number of pairs, of positive differences, and of differences that are zero.
    p_value : float
        p-value of the two-sided paired t-test; NaN for one pair.
    """

    mean: float
    sd: float
    n_pairs: int
    n_above: int
    n_equal: int
    p_value: float

    @property
    def n_below(self) -> int:
        """Number of negative differences."""
        return self.n_pairs - self.n_above - self.n_equal


def compare_paired(values: ArrayLike, baseline: ArrayLike) -> PairedComparison:
    """Compare the values of a method with those of a baseline, pair by pair.

    Parameters
    ----------
    values, baseline : array-like of shape (n_pairs,)

    Returns
    -------
    PairedComparison
    """
    values, baseline = np.asarray(values, dtype=float), np.asarray(baseline, dtype=float)
    if values.shape != baseline.shape or values.ndim != 1 or not len(values):
        raise ValueError(
            f"values and baseline must be non-empty and of equal length, but have shapes "
            f"{values.shape} and {baseline.shape}"
        )
    differences = values - baseline
    n_pairs = len(differences)
    return PairedComparison(
        mean=float(differences.mean()),
        sd=float(differences.std(ddof=1)) if n_pairs > 1 else 0.0,
        n_pairs=n_pairs,
        n_above=int((differences > 0).sum()),
        n_equal=int((differences == 0).sum()),
        p_value=float(ttest_rel(values, baseline).pvalue) if n_pairs > 1 else float("nan"),
    )


def mcnemar_p_value(correct: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """Return the exact two-sided p-value of McNemar's test for two classifiers of the same samples.

    Parameters
    ----------
    correct, other : boolean arrays of shape (n_samples,)
        Whether each classifier is correct on each sample.
    """
    n_differ = int((correct != other).sum())
    if not n_differ:
        return 1.0
    return float(binomtest(int((correct & ~other).sum()), n_differ).pvalue)


def _wilson_interval(mean: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion of n samples."""
    z = float(norm.ppf(0.5 + level / 2))
    centre = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half_width = z / (1 + z * z / n) * np.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    return max(0.0, float(centre - half_width)), min(1.0, float(centre + half_width))
