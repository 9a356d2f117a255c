"""What the inner products of invariant features tend to, and how fast (papers 000 and 001).

Formulas are those of the papers with their errata corrected: thresholds from -s to s in steps of
s / n have an error of up to s / n, the constants of Theorem 2 are the proof's, and the norm of
Theorem 3's functions counts all 2 n + 1 thresholds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln
from scipy.stats import chi2
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from invarlearn.features._projections import TemplateOrbits
from invarlearn.features.invariant import InvariantFeatures
from invarlearn.transforms import Family
from invarlearn.transforms._checks import check_generator, check_number
from invarlearn.transforms._threads import slices


class SampleSizes(NamedTuple):
    """How many bins, templates and group elements are enough."""

    n_bins: int
    n_templates: int
    n_elements: int


class Expected(NamedTuple):
    """A kernel matrix and the standard error of each entry, zero where it is exact."""

    values: NDArray[np.float64]
    errors: NDArray[np.float64]


class KernelError(NamedTuple):
    """How far inner products of features are from the kernel that they approximate."""

    largest: float
    mean: float
    bias: float


def orbit_distance(X: ArrayLike, Z: ArrayLike, family: Family) -> NDArray[np.float64]:
    """Give the mean distance between the orbits of rows, over pairs of elements: (n, m).

    The paper's d_G is this divided by ``sqrt(2 pi d)``. If the family is a group that keeps norms,
    one orbit is enough.

    Examples
    --------
    >>> from invarlearn.transforms import CyclicShift
    >>> orbit_distance([[1.0, 0.0]], [[0.0, 1.0]], CyclicShift()).round(4)
    array([[0.7071]])
    """
    X, Z = (check_array(rows, dtype=float) for rows in (X, Z))
    if X.shape[1] != Z.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features and Z has {Z.shape[1]}: they must agree")
    bound = family.with_shape_of(X.shape[1])
    one_side = bound.is_group and bound.is_unitary
    action = bound._listed(X.shape[1])
    total = np.zeros((len(X), len(Z)))
    n_others = 1 if one_side else len(action)
    # one element of the family at a time on the side of Z, and a few rows of X
    for some in slices(len(X), 2**20 // (len(action) * X.shape[1])):
        moved = action.act(X[some], 0, len(action)).reshape(-1, X.shape[1])
        for second in range(n_others):
            distances = np.sqrt(_squared(moved, action.act(Z, second, second + 1)[:, 0]))
            total[some] += distances.reshape(some.stop - some.start, -1, len(Z)).sum(axis=1)
    return total / (len(action) * n_others)


def _squared(X: NDArray, Z: NDArray) -> NDArray:
    """Give squared distances, without the cancellation of a matrix product for near rows."""
    out = np.empty((len(X), len(Z)))
    for some in slices(len(X), max(1, 2**22 // max(1, Z.size))):
        out[some] = ((X[some, None] - Z) ** 2).sum(axis=2)
    return out


def distance_weight(
    n_features: int, templates: str = "gaussian", epsilon: float = 0.1, resample: bool = True
) -> float:
    """Give c in K_s(x, z) = s - c * (mean distance between orbits).

    That is the mean of max(<x, t>, <z, t>) over random templates t, for rows at distance one.

    Parameters
    ----------
    n_features : int
    templates : {"gaussian", "sphere"}, default="gaussian"
    epsilon : float, default=0.1
        Gaussian templates of squared norm ``1 + epsilon`` or more are rejected.
    resample : bool, default=True
        Whether rejected templates are drawn again. False: they count as nothing, as in the
        paper's proof, and ``s`` in the kernel is multiplied with the share that is kept.

    Examples
    --------
    >>> round(distance_weight(16, "sphere"), 5)
    0.10131
    """
    d = int(check_number(n_features, "n_features", low=1, whole=True))
    if templates == "sphere":
        return float(np.exp(gammaln(d / 2) - gammaln((d + 1) / 2)) / (2 * np.sqrt(np.pi)))
    if templates != "gaussian":
        raise ValueError(f"templates={templates!r}: a closed form exists for gaussian and sphere")
    limit = d * (1 + check_number(epsilon, "epsilon", low=0))
    share = chi2.cdf(limit, d + 1)
    return float((share / chi2.cdf(limit, d) if resample else share) / np.sqrt(2 * np.pi * d))


def expected_kernel(
    features: InvariantFeatures,
    X: ArrayLike,
    Z: ArrayLike | None = None,
    n_draws: int = 1000,
    random_state: Any = None,
) -> Expected:
    """Give K_s, the kernel that inner products of features tend to.

    With more and more templates and thresholds, over all elements of the family. In closed form
    for Gaussian templates and those on the sphere, if the family keeps norms and holds the inverse
    of each of its elements (Theorem 1 and Remarks 1 and 3); otherwise by Monte Carlo, from
    templates drawn anew (the fitted ones, if they came from data or were given), each with its
    exact integral over thresholds.

    Parameters
    ----------
    features : InvariantFeatures
        Fitted, with uniform or midpoint thresholds and ``pooling="cdf"``.
    X : array-like of shape (n, n_features)
    Z : array-like of shape (m, n_features), optional
        None: X.
    n_draws : int, default=1000
        Templates for Monte Carlo.
    random_state : int, RandomState or None

    Returns
    -------
    Expected
        ``values`` and their standard ``errors``, (n, m) each.
    """
    check_is_fitted(features)
    if features._pooling != "cdf" or features._placed == "quantile":
        raise ValueError(
            "K_s belongs to pooling='cdf' and thresholds='uniform' or 'midpoint': quantiles make "
            "another kernel, which depends on the training rows"
        )
    X = _rows_of(features, X)
    Z = X if Z is None else _rows_of(features, Z)
    family = features._family().with_shape_of(X.shape[1])
    known = features._kind in ("gaussian", "sphere")
    closed = family.is_unitary and (family.is_group or _has_inverses(family, X.shape[1]))
    if known and closed and _within(features, X) and _within(features, Z):
        weight = distance_weight(X.shape[1], features._kind, features.epsilon)
        values = features.s_ - weight * orbit_distance(X, Z, family)
        return Expected(values, np.zeros_like(values))
    return _simulated(features, X, Z, n_draws, random_state)


def _rows_of(features: InvariantFeatures, X: ArrayLike) -> NDArray:
    """Give rows as the features see them."""
    rows = check_array(X, dtype=float)
    if rows.shape[1] != features.n_features_in_:
        raise ValueError(
            f"rows have {rows.shape[1]} features, but the features were fitted on "
            f"{features.n_features_in_}"
        )
    return features._prepared(rows)


def _within(features: InvariantFeatures, X: NDArray) -> bool:
    """Tell whether no projection can leave the range of the thresholds."""
    longest = 1.0 if features._kind == "sphere" else np.sqrt(1 + features.epsilon)
    return bool(np.linalg.norm(X, axis=1).max() * longest <= features.s_ * (1 + 1e-6))


def _has_inverses(family: Family, d: int) -> bool:
    """Tell whether the inverse of every listed element is listed, by trying it on random rows."""
    action = family._listed(d)
    rows = np.random.RandomState(0).standard_normal((2, d))
    moved = action.act(rows, 0, len(action))
    for i in range(len(action)):
        back = action.act(moved[:, i], 0, len(action))
        if not np.isclose(back, rows[:, None], atol=1e-6).all(axis=(0, 2)).any():
            return False
    return True


def _simulated(
    features: InvariantFeatures, X: NDArray, Z: NDArray, n_draws: int, random_state: Any
) -> Expected:
    from invarlearn.features._theory import integrals

    check_number(n_draws, "n_draws", low=2, whole=True)
    rng = check_generator(random_state)
    if features._kind not in ("data", "given"):
        fresh = InvariantFeatures(**{**features.get_params(deep=False), "n_templates": n_draws})
        templates = fresh._drawn_templates(X, rng).astype(float)
    else:
        templates = features.templates_.astype(float)
    family = features._family()
    listed = np.isfinite(family._size(X.shape[1]))
    action = family._listed(X.shape[1]) if listed else features._orbits.action
    orbits = TemplateOrbits(templates, action)
    k = len(action)
    total = np.zeros((len(X), len(Z)))
    squares = np.zeros_like(total)
    for some, known in orbits.blocks(float):
        m = some.stop - some.start
        pieces = [slices(len(rows), 2**22 // (m * k)) for rows in (X, Z)]
        for left in pieces[0]:
            ours = np.sort((X[left] @ known.T).reshape(-1, m, k), axis=2)
            for right in pieces[1]:
                theirs = np.sort((Z[right] @ known.T).reshape(-1, m, k), axis=2)
                part = (left, right)
                integrals(ours, theirs, features.s_, total[part], squares[part])
    n = len(templates)
    mean = total / n
    if n == 1:
        return Expected(mean, np.full_like(mean, np.inf))
    return Expected(mean, np.sqrt(np.maximum(squares / n - mean**2, 0) / (n - 1)))


def expectation_bounds(
    n_features: int, epsilon: float = 0.1, radius: float = 1.0
) -> tuple[float, float]:
    """Give Theorem 1's bounds on K_s(x, z) - (s - d_G(x, z)): at least -delta_2, at most delta_1.

    Parameters
    ----------
    n_features : int
    epsilon : float, default=0.1
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
    both = np.exp(-e * d / 2 + d / 2 * np.log1p(e)) / (2 * np.sqrt(d))
    return (
        float(radius * (tail - both)),
        float(radius * (tail + (1 + e) * np.exp(-d * e**2 / 8))),
    )


def sample_sizes(
    epsilon: float | tuple[float, float, float],
    delta: float | tuple[float, float],
    n_samples: int,
    s: float = 1.1,
    sharp: bool = False,
) -> SampleSizes:
    """Give how many bins, templates and elements keep all inner products close to K_s.

    For ``n_samples`` rows, all inner products are within ``e0 + e1 + e2`` of the kernel with
    probability ``1 - d1 - d2`` (Theorem 2; Corollary 1 if one epsilon is given).

    Parameters
    ----------
    epsilon : float or three floats
        Errors of thresholds, templates and elements; one number is shared evenly among them.
    delta : float or two floats
        Chances to fail, for templates and for elements; one number is used for each.
    n_samples : int
    s : float, default=1.1
        The range of the thresholds.
    sharp : bool, default=False
        Smaller constants than those in the paper's proof, from a bound on each empirical
        distribution instead of each pair; they also cover inner products of a row with itself.

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
    chances = np.broadcast_to(np.asarray(delta, dtype=float), 2)
    if errors.shape not in ((1,), (3,)) or not ((errors > 0) & (errors < 1)).all():
        raise ValueError(f"epsilon={epsilon!r} must be one or three numbers between 0 and 1")
    errors = np.full(3, errors[0] / 3) if len(errors) == 1 else errors
    if not ((chances > 0) & (chances < 1)).all():
        raise ValueError(f"delta={delta!r} must be one or two numbers between 0 and 1")
    n = check_number(n_samples, "n_samples", low=2, whole=True)
    s = check_number(s, "s", low=np.finfo(float).tiny)
    e0, e1, e2 = errors
    d1, d2 = chances
    pairs = n * (n + 1) if sharp else 2 * n * (n - 1)
    m = _ceil(2 * s**2 / e1**2 * np.log(pairs / d1))
    if sharp:
        k = _ceil(8 * s**2 / e2**2 * np.log(2 * n * m / d2))
    else:
        k = _ceil(18 * s**2 / e2**2 * np.log(4 * m * n * (n - 1) / d2))
    return SampleSizes(_ceil(s / e0), m, k)


def _ceil(value: float) -> int:
    """Round up, but not for a rounding error."""
    return int(np.ceil(value - 1e-9))


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

    Parameters
    ----------
    n_samples, n_templates, n_elements, n_bins : int
    size : float, default=1.0
        The constant C that bounds the weights of the functions compared with.
    delta : float, default=0.05
        The bound holds with probability ``1 - 3 delta``.
    s : float, default=1.1
    lipschitz, loss_at_zero : float, default=1.0
        Of the loss; the hinge loss has 1 for both.

    Returns
    -------
    float

    Examples
    --------
    >>> risk_bound(10**6, 10**5, 10**5, 10**3) < risk_bound(10**5, 10**4, 10**4, 10**3)
    True
    """
    counts = {
        name: check_number(value, name, low=1, whole=True)
        for name, value in (
            ("n_samples", n_samples),
            ("n_templates", n_templates),
            ("n_elements", n_elements),
            ("n_bins", n_bins),
        )
    }
    n, m, k, bins = counts.values()
    if not 0 < delta < 1:
        raise ValueError(f"delta={delta!r} must lie between 0 and 1")
    for name, value in (("size", size), ("s", s), ("lipschitz", lipschitz)):
        check_number(value, name, low=0)
    check_number(loss_at_zero, "loss_at_zero", low=0)
    scale = s * size
    kappa = (2 + 1 / bins) * scale
    # both tails, so half of delta
    tail = np.sqrt(np.log(2 / delta) / 2)
    learning = 2 / np.sqrt(n) * (lipschitz * kappa * (4 + tail) + 2 * loss_at_zero)
    templates = 2 * lipschitz * scale / np.sqrt(m) * (1 + np.sqrt(2 * np.log(1 / delta)))
    elements = 2 * lipschitz * scale / np.sqrt(k) * (1 + np.sqrt(2 * np.log(m / delta)))
    return float(learning + templates + elements + 2 * lipschitz * scale / bins)


def kernel_error(
    features: InvariantFeatures, X: ArrayLike, n_draws: int = 1000, random_state: Any = None
) -> KernelError:
    """Measure how far the inner products of features of these rows are from K_s.

    Parameters
    ----------
    features : InvariantFeatures
        As in :func:`expected_kernel`.
    X : array-like of shape (n, n_features)
    n_draws, random_state
        As in :func:`expected_kernel`.

    Returns
    -------
    KernelError
        The ``largest`` and the ``mean`` size of a difference over all pairs, and the mean
        difference, ``bias``.
    """
    expected = expected_kernel(features, X, None, n_draws, random_state).values
    found = features.transform(X).astype(float)
    difference = found @ found.T - expected
    return KernelError(
        float(np.abs(difference).max()),
        float(np.abs(difference).mean()),
        float(difference.mean()),
    )
