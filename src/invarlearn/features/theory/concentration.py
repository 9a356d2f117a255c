"""Lemmas on random variables that the proofs of Mroueh et al. (2015) use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from invarlearn._utils.validation import check_number


class Moments(NamedTuple):
    """Mean and variance of a random variable."""

    mean: float
    variance: float


def maximum_moments(
    means: tuple[float, float], sds: tuple[float, float], correlation: float
) -> Moments:
    """Return mean and variance of the maximum of two correlated Gaussian variables (Lemma 2).

    With ``a = sqrt(sd_x^2 + sd_y^2 - 2 correlation sd_x sd_y)`` and ``alpha = (mean_x - mean_y) /
    a``, the mean is ``mean_x F(alpha) + mean_y F(-alpha) + a f(alpha)``, where F and f are the
    distribution function and the density of the standard normal distribution.

    Parameters
    ----------
    means, sds : pairs of float
        Means and standard deviations of both variables.
    correlation : float
        Between -1 and 1.

    Returns
    -------
    Moments

    References
    ----------
    Clark, The greatest of a finite set of random variables (1961).

    Examples
    --------
    >>> round(maximum_moments((0.0, 0.0), (1.0, 1.0), 0.0).mean, 4)  # 1 / sqrt(pi)
    0.5642
    """
    mean_x, mean_y = (check_number(mean, "means") for mean in means)
    sd_x, sd_y = (check_number(sd, "sds", low=0) for sd in sds)
    rho = check_number(correlation, "correlation", low=-1, high=1)
    a = float(np.sqrt(max(sd_x**2 + sd_y**2 - 2 * rho * sd_x * sd_y, 0)))
    if a == 0:
        # the variables differ by a constant
        return Moments(max(mean_x, mean_y), sd_x**2)
    alpha = (mean_x - mean_y) / a
    below, above, density = norm.cdf(alpha), norm.cdf(-alpha), norm.pdf(alpha)
    mean = mean_x * below + mean_y * above + a * density
    square = (
        (sd_x**2 + mean_x**2) * below
        + (sd_y**2 + mean_y**2) * above
        + (mean_x + mean_y) * a * density
    )
    return Moments(float(mean), float(square - mean**2))


def chi2_tail_bounds(k: int, epsilon: float) -> tuple[float, float]:
    """Bound the probabilities that a chi-squared variable is above or below ``k (1 + epsilon)``.

    Lemma 3 states, for X with k degrees of freedom,

    - ``P(X >= k (1 + epsilon)) <= exp(-k epsilon^2 / 8)``;
    - ``P(X < k (1 + epsilon)) <= 1 - exp(-k epsilon / 2) (1 + epsilon)^(k / 2 - 1) / (2 sqrt(k))``,
      for k of 2 or more.

    Parameters
    ----------
    k : int
        Degrees of freedom, at least 2.
    epsilon : float
        Between 0 and 1.

    Returns
    -------
    above, below : float

    Examples
    --------
    >>> above, below = chi2_tail_bounds(16, 0.5)
    >>> round(above, 3), round(below, 3)
    (0.607, 0.961)
    """
    k = int(check_number(k, "k", low=2, whole=True))
    e = check_number(epsilon, "epsilon", low=0, high=1)
    above = np.exp(-k * e**2 / 8)
    # in logarithms: the power alone overflows
    below = 1 - np.exp(-k * e / 2 + (k / 2 - 1) * np.log1p(e)) / (2 * np.sqrt(k))
    return float(above), float(below)


def distribution_bound(n_draws: int, delta: float) -> float:
    """Bound the largest error of an empirical distribution function (Theorem 4).

    With probability ``1 - delta``, the empirical distribution function of ``n_draws`` independent
    draws is nowhere further than ``sqrt(log(2 / delta) / (2 n_draws))`` from the distribution
    function.

    Parameters
    ----------
    n_draws : int
    delta : float
        Between 0 and 1.

    References
    ----------
    Massart, The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality (1990).

    Examples
    --------
    >>> round(distribution_bound(245, 0.05), 3)
    0.087
    """
    n = check_number(n_draws, "n_draws", low=1, whole=True)
    return float(np.sqrt(np.log(2 / check_probability(delta, "delta")) / (2 * n)))


def mean_bound(n_draws: int, delta: float, largest: float = 1.0) -> float:
    """Bound the norm of the error of a mean of bounded vectors (Lemma 7).

    With probability ``1 - delta``, the mean of ``n_draws`` independent random vectors, of norm at
    most ``largest``, is within ``largest / sqrt(n_draws) (1 + sqrt(2 log(1 / delta)))`` of its
    expectation.

    Parameters
    ----------
    n_draws : int
    delta : float
        Between 0 and 1.
    largest : float, default=1.0

    References
    ----------
    Rahimi and Recht, Weighted sums of random kitchen sinks (2008).

    Examples
    --------
    >>> round(mean_bound(500, 0.05), 3)
    0.154
    """
    n = check_number(n_draws, "n_draws", low=1, whole=True)
    tail = np.sqrt(2 * np.log(1 / check_probability(delta, "delta")))
    return float(check_number(largest, "largest", low=0) / np.sqrt(n) * (1 + tail))


def check_probability(value: float, name: str) -> float:
    """Return a number strictly between 0 and 1; raise ValueError otherwise."""
    if not 0 < value < 1:
        raise ValueError(f"{name}={value!r} must be a number between 0 and 1")
    return float(value)
