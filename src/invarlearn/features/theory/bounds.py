"""Bounds of the theorems and lemmas of Mroueh et al. (2015), with their corrections."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from invarlearn._utils.validation import check_number
from invarlearn.features.theory.concentration import check_probability, mean_bound


class SampleSizes(NamedTuple):
    """Sufficient numbers of bins, templates and group elements."""

    n_bins: int
    n_templates: int
    n_elements: int


def expectation_bounds(
    n_features: int, epsilon: float = 0.1, radius: float = 1.0
) -> tuple[float, float]:
    """Return the bounds of Theorem 1: ``-delta_2 <= K_s(x, z) - (s - d_G(x, z)) <= delta_1``.

    Parameters
    ----------
    n_features : int
    epsilon : float, default=0.1
        As in :func:`distance_weight`.
    radius : float, default=1.0
        Largest norm of a row (Remark 3); ``s = radius * (1 + epsilon)``.

    Returns
    -------
    delta_1, delta_2 : float

    Examples
    --------
    >>> delta_1, delta_2 = expectation_bounds(784)
    >>> round(delta_2, 2)
    0.43
    """
    d = check_number(n_features, "n_features", low=1, whole=True)
    e = check_number(epsilon, "epsilon", low=0, high=1)
    tail = np.exp(-d * e**2 / 16) / np.sqrt(d)
    # in logarithms: the power alone overflows
    correction = np.exp(-e * d / 2 + d / 2 * np.log1p(e)) / (2 * np.sqrt(d))
    return (
        float(radius * (tail - correction)),
        float(radius * (tail + (1 + e) * np.exp(-d * e**2 / 8))),
    )


def sample_sizes(
    epsilon: float | tuple[float, float, float],
    delta: float | tuple[float, float],
    n_samples: int,
    s: float = 1.1,
    sharp: bool = False,
) -> SampleSizes:
    """Return numbers of bins, templates and elements that are sufficient for a given error.

    With these numbers, the inner products of all pairs of ``n_samples`` rows are within
    ``e0 + e1 + e2`` of K_s with probability ``1 - d1 - d2`` (Theorem 2; Corollary 1 for a single
    ``epsilon``).

    Parameters
    ----------
    epsilon : float or three floats
        Errors e0, e1 and e2 due to thresholds, templates and elements. A single number is their
        sum, which is divided equally.
    delta : float or two floats
        Failure probabilities d1 and d2, for templates and for elements. A single number is used for
        both.
    n_samples : int
        Number of rows.
    s : float, default=1.1
        Range of the thresholds.
    sharp : bool, default=False
        Whether to use smaller constants than the paper's proof, which bound the error of each
        empirical distribution instead of each pair. They also cover the inner product of a row with
        itself.

    Returns
    -------
    SampleSizes

    Examples
    --------
    >>> sample_sizes((0.1, 0.1, 0.1), 0.05, 1000)
    SampleSizes(n_bins=11, n_templates=4236, n_elements=57822)
    >>> sample_sizes((0.1, 0.1, 0.1), 0.05, 1000, sharp=True)
    SampleSizes(n_bins=11, n_templates=4069, n_elements=18303)
    """
    errors = np.atleast_1d(np.asarray(epsilon, dtype=float))
    probabilities = np.broadcast_to(np.asarray(delta, dtype=float), 2)
    if errors.shape not in ((1,), (3,)) or not ((errors > 0) & (errors < 1)).all():
        raise ValueError(f"epsilon={epsilon!r} must be one or three numbers between 0 and 1")
    errors = np.full(3, errors[0] / 3) if len(errors) == 1 else errors
    if not ((probabilities > 0) & (probabilities < 1)).all():
        raise ValueError(f"delta={delta!r} must be one or two numbers between 0 and 1")
    n = check_number(n_samples, "n_samples", low=2, whole=True)
    s = check_number(s, "s", low=np.finfo(float).tiny)
    e0, e1, e2 = errors
    d1, d2 = probabilities
    pairs = n * (n + 1) if sharp else 2 * n * (n - 1)
    m = _ceil(2 * s**2 / e1**2 * np.log(pairs / d1))
    if sharp:
        k = _ceil(8 * s**2 / e2**2 * np.log(2 * n * m / d2))
    else:
        k = _ceil(18 * s**2 / e2**2 * np.log(4 * m * n * (n - 1) / d2))
    return SampleSizes(_ceil(s / e0), m, k)


def _ceil(value: float) -> int:
    """Return a number rounded up; rounding errors above an integer are ignored."""
    return int(np.ceil(value - 1e-9))


def approximation_bound(
    n_templates: int,
    n_elements: int,
    n_bins: int,
    size: float = 1.0,
    delta: float | tuple[float, float] = 0.05,
    s: float = 1.1,
    lipschitz: float = 1.0,
) -> float:
    """Bound the distance of a function to the linear functions of the features (Lemmas 4 and 5).

    For each function of the class F_p with weights up to ``size``, there is a linear function of
    the features within this distance in the mean square, with probability ``1 - d1 - d2``. The
    expected loss then differs by at most ``lipschitz`` times the distance.

    Parameters
    ----------
    n_templates, n_elements, n_bins : int
    size : float, default=1.0
        Constant C that bounds the weights of the function.
    delta : float or two floats, default=0.05
        Failure probabilities d1 and d2, for templates and for elements. A single number is used for
        both.
    s : float, default=1.1
        Range of the thresholds.
    lipschitz : float, default=1.0
        1: the distance (Lemma 4). The Lipschitz constant of a loss: the difference of the risks
        (Lemma 5).

    Examples
    --------
    >>> round(approximation_bound(500, 245, 20), 2)
    1.19
    """
    m, k, bins = _check_counts(n_templates=n_templates, n_elements=n_elements, n_bins=n_bins)
    d1, d2 = (check_probability(one, "delta") for one in np.broadcast_to(delta, 2).tolist())
    largest = 2 * lipschitz * _check_scale(size, s, lipschitz)
    templates = mean_bound(m, d1, largest)
    # the bound on elements holds for all templates at once
    elements = mean_bound(k, d2 / m, largest)
    return float(templates + elements + largest / bins)


def estimation_bound(
    n_samples: int,
    n_bins: int,
    size: float = 1.0,
    delta: float = 0.05,
    s: float = 1.1,
    lipschitz: float = 1.0,
    loss_at_zero: float = 1.0,
) -> float:
    """Bound the difference of expected and mean loss over the linear functions (Lemma 6).

    The bound holds for all linear functions of the features with weights up to ``size`` at once,
    with probability ``1 - delta``. Their Rademacher complexity is at most
    ``(2 + 1 / n_bins) s size / sqrt(n_samples)``.

    Parameters
    ----------
    n_samples, n_bins : int
    size : float, default=1.0
        Constant C of the class: weights are at most C divided by the number of templates.
    delta : float, default=0.05
    s : float, default=1.1
    lipschitz, loss_at_zero : float, default=1.0
        Lipschitz constant of the loss and its value at zero; 1 and 1 for the hinge loss.

    Examples
    --------
    >>> round(estimation_bound(10_000, 20), 3)
    0.141
    """
    n, bins = _check_counts(n_samples=n_samples, n_bins=n_bins)
    kappa = (2 + 1 / bins) * _check_scale(size, s, lipschitz)
    check_number(loss_at_zero, "loss_at_zero", low=0)
    # delta is divided between both tails
    tail = np.sqrt(np.log(2 / check_probability(delta, "delta")) / 2)
    return float((lipschitz * kappa * (4 + tail) + 2 * loss_at_zero) / np.sqrt(n))


def risk_bound(
    n_samples: int,
    n_templates: int,
    n_elements: int,
    n_bins: int,
    size: float = 1.0,
    delta: float = 0.05,
    s: float = 1.1,
    lipschitz: float = 1.0,
    loss_at_zero: float = 1.0,
) -> float:
    """Bound the excess risk of the best linear function of the features (Theorem 3).

    It is twice :func:`estimation_bound` plus :func:`approximation_bound`.
    :class:`~invarlearn.BoundedClassifier` minimises the mean loss over the class of the theorem.

    Parameters
    ----------
    n_samples, n_templates, n_elements, n_bins : int
    size : float, default=1.0
        Constant C that bounds the weights of the functions of the comparison class.
    delta : float, default=0.05
        The bound holds with probability ``1 - 3 delta``.
    s : float, default=1.1
    lipschitz, loss_at_zero : float, default=1.0
        Lipschitz constant of the loss and its value at zero; 1 and 1 for the hinge loss.

    Returns
    -------
    float

    Examples
    --------
    >>> risk_bound(10**6, 10**5, 10**5, 10**3) < risk_bound(10**5, 10**4, 10**4, 10**3)
    True
    """
    learning = 2 * estimation_bound(n_samples, n_bins, size, delta, s, lipschitz, loss_at_zero)
    return learning + approximation_bound(
        n_templates, n_elements, n_bins, size, delta, s, lipschitz
    )


def _check_counts(**counts: int) -> tuple[int, ...]:
    """Return whole numbers of 1 or more."""
    return tuple(
        int(check_number(count, name, low=1, whole=True)) for name, count in counts.items()
    )


def _check_scale(size: float, s: float, lipschitz: float) -> float:
    """Return ``s * size`` after validation."""
    for name, value in (("size", size), ("s", s), ("lipschitz", lipschitz)):
        check_number(value, name, low=0)
    return s * size
