"""The kernel to which inner products of invariant features converge."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.special import gammaln
from scipy.stats import chi2
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from invarlearn._utils.parallel import slices
from invarlearn._utils.validation import check_generator, check_number
from invarlearn.features.invariant import InvariantFeatures
from invarlearn.features.projections import TemplateOrbits
from invarlearn.transforms import Family


class ExpectedKernel(NamedTuple):
    """A kernel matrix and the standard error of each entry, zero where it is exact."""

    values: NDArray[np.float64]
    errors: NDArray[np.float64]


class KernelError(NamedTuple):
    """Differences between inner products of features and the kernel that they approximate.

    Attributes
    ----------
    largest, mean : float
        Largest and mean absolute difference over all pairs of rows.
    bias : float
        Mean difference.
    """

    largest: float
    mean: float
    bias: float


def orbit_distance(X: ArrayLike, Z: ArrayLike, family: Family) -> NDArray[np.float64]:
    """Return the mean Euclidean distance between all pairs of points of two orbits.

    For rows x and z, this is ``mean_{g, h} |g x - h z|``, over all elements g and h of the family.
    The distance d_G of Theorem 1 is this distance divided by ``sqrt(2 pi n_features)``. For a group
    that preserves norms it equals ``mean_g |g x - z|``, which is computed instead.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
    Z : array-like of shape (m, n_features)
    family : Family
        Family whose elements can be listed.

    Returns
    -------
    array of shape (n, m)

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
    is_one_sided = bound.is_group and bound.is_unitary
    action = bound.elements(X.shape[1])
    total = np.zeros((len(X), len(Z)))
    n_others = 1 if is_one_sided else len(action)
    # orbits of a block of rows of X, and one transformation of Z at a time
    for rows in slices(len(X), 2**20 // (len(action) * X.shape[1])):
        orbits = action.act(X[rows], 0, len(action)).reshape(-1, X.shape[1])
        for element in range(n_others):
            # cdist computes differences, which are more precise than a matrix product
            distances = cdist(orbits, action.act(Z, element, element + 1)[:, 0])
            total[rows] += distances.reshape(rows.stop - rows.start, -1, len(Z)).sum(axis=1)
    return total / (len(action) * n_others)


def distance_weight(
    n_features: int, templates: str = "gaussian", epsilon: float = 0.1, resample: bool = True
) -> float:
    """Return the constant c in ``K_s(x, z) = s - c * orbit_distance(x, z)``.

    The constant is the expectation of ``max(<x, t>, <z, t>)`` over random templates t, for rows x
    and z at distance one.

    Parameters
    ----------
    n_features : int
    templates : {"gaussian", "sphere"}, default="gaussian"
    epsilon : float, default=0.1
        Gaussian templates of squared norm ``1 + epsilon`` or more are rejected.
    resample : bool, default=True
        Whether rejected templates are drawn again. False: they are replaced by zero, as in the
        paper's proof, and ``s`` in the kernel is multiplied by the acceptance rate.

    Examples
    --------
    >>> round(distance_weight(16, "sphere"), 5)
    0.10131
    """
    d = int(check_number(n_features, "n_features", low=1, whole=True))
    if templates == "sphere":
        return float(np.exp(gammaln(d / 2) - gammaln((d + 1) / 2)) / (2 * np.sqrt(np.pi)))
    if templates != "gaussian":
        raise ValueError(
            f"templates={templates!r} has no closed form: choose 'gaussian' or 'sphere'"
        )
    limit = d * (1 + check_number(epsilon, "epsilon", low=0))
    accepted = chi2.cdf(limit, d + 1)
    factor = accepted / chi2.cdf(limit, d) if resample else accepted
    return float(factor / np.sqrt(2 * np.pi * d))


def expected_kernel(
    features: InvariantFeatures,
    X: ArrayLike,
    Z: ArrayLike | None = None,
    n_draws: int = 1000,
    random_state: Any = None,
) -> ExpectedKernel:
    """Return K_s, the limit of inner products of features for many templates and thresholds.

    With F_x(t, tau) the proportion of the projections of x on the orbit of t up to tau,

    ``K_s(x, z) = E_t integral_{-s}^{s} F_x(t, tau) F_z(t, tau) dtau``,

    over all elements of the family. For Gaussian templates and templates on the sphere this has the
    closed form ``s - c * orbit_distance(x, z)``, if the family preserves norms and contains the
    inverse of each of its elements (Theorem 1 and Remarks 1 and 3). Otherwise the expectation is
    estimated by Monte Carlo, with exact integrals. It uses new templates, or the fitted ones if
    they depend on data or were passed as an array.

    Parameters
    ----------
    features : InvariantFeatures
        Fitted features with uniform or midpoint thresholds and ``pooling="cdf"``.
    X : array-like of shape (n, n_features)
    Z : array-like of shape (m, n_features), optional
        None: X.
    n_draws : int, default=1000
        Number of new templates for Monte Carlo.
    random_state : int, RandomState or None

    Returns
    -------
    ExpectedKernel
        ``values`` and their standard ``errors``, each of shape (n, m).
    """
    check_is_fitted(features)
    projections = features.projections_
    if projections.pooling != "cdf" or projections.placement == "quantile":
        raise ValueError(
            f"pooling={projections.pooling!r} with thresholds={projections.placement!r} has "
            "another kernel, which depends on the training rows: fit InvariantFeatures with "
            "pooling='cdf' and thresholds='uniform' or 'midpoint'"
        )
    X = _check_rows(features, X)
    Z = X if Z is None else _check_rows(features, Z)
    family, sampler = features.family_.with_shape_of(X.shape[1]), features.sampler_
    is_isotropic = sampler is not None and sampler.kind in ("gaussian", "sphere")
    if sampler is not None and is_isotropic and family.is_unitary:
        longest = max(np.linalg.norm(rows, axis=1).max() for rows in (X, Z))
        # whether all projections are within the range of the thresholds
        within = longest * sampler.norm_bound <= features.s_ * (1 + 1e-6)
        has_inverses = family.is_group or _has_inverses(family, X.shape[1])
        if within and has_inverses:
            weight = distance_weight(X.shape[1], sampler.kind, sampler.epsilon)
            values = features.s_ - weight * orbit_distance(X, Z, family)
            return ExpectedKernel(values, np.zeros_like(values))
    return simulated_kernel(features, X, Z, n_draws, random_state)


def _check_rows(features: InvariantFeatures, X: ArrayLike) -> NDArray:
    """Return validated rows in double precision, prepared for the projection."""
    rows = check_array(X, dtype=float)
    if rows.shape[1] != features.n_features_in_:
        raise ValueError(
            f"rows have {rows.shape[1]} features, but the features were fitted on "
            f"{features.n_features_in_}"
        )
    return features.projections_.prepare(rows)


def _has_inverses(family: Family, d: int) -> bool:
    """Return whether the inverse of each listed element is listed, tested on random rows."""
    if not np.isfinite(family.size(d)):
        return False
    action = family.elements(d)
    rows = np.random.RandomState(0).standard_normal((2, d))
    orbits = action.act(rows, 0, len(action))
    for i in range(len(action)):
        products = action.act(orbits[:, i], 0, len(action))
        if not np.isclose(products, rows[:, None], atol=1e-6).all(axis=(0, 2)).any():
            return False
    return True


def simulated_kernel(
    features: InvariantFeatures,
    X: ArrayLike,
    Z: ArrayLike,
    n_draws: int = 1000,
    random_state: Any = None,
) -> ExpectedKernel:
    """Estimate K_s by Monte Carlo over templates, with exact integrals over thresholds.

    Parameters and result are those of :func:`expected_kernel`, which prefers the closed form.
    """
    from invarlearn.features.theory._integrals import add_integrals

    check_number(n_draws, "n_draws", low=2, whole=True)
    rng = check_generator(random_state)
    X, Z = _check_rows(features, X), _check_rows(features, Z)
    templates, sampler = features.templates_, features.sampler_
    if sampler is not None and not sampler.depends_on_data:
        # rounded to the precision of the fitted templates
        templates = sampler.draw(n_draws, X, rng).astype(templates.dtype)
    templates = templates.astype(float)
    family = features.family_
    # all listed elements, even if the features use random elements
    is_listed = np.isfinite(family.size(X.shape[1]))
    action = family.elements(X.shape[1]) if is_listed else features.projections_.orbits.action
    orbits = TemplateOrbits(templates, action)
    k = len(action)
    total = np.zeros((len(X), len(Z)))
    squares = np.zeros_like(total)
    for block, elements in orbits.blocks(float):
        m = block.stop - block.start
        x_parts, z_parts = (slices(len(rows), 2**22 // (m * k)) for rows in (X, Z))
        for x_part in x_parts:
            of_x = np.sort((X[x_part] @ elements.T).reshape(-1, m, k), axis=2)
            for z_part in z_parts:
                of_z = np.sort((Z[z_part] @ elements.T).reshape(-1, m, k), axis=2)
                part = (x_part, z_part)
                add_integrals(of_x, of_z, features.s_, total[part], squares[part])
    n = len(templates)
    mean = total / n
    if n == 1:
        return ExpectedKernel(mean, np.full_like(mean, np.inf))
    return ExpectedKernel(mean, np.sqrt(np.maximum(squares / n - mean**2, 0) / (n - 1)))


def kernel_error(
    features: InvariantFeatures, X: ArrayLike, n_draws: int = 1000, random_state: Any = None
) -> KernelError:
    """Compare the inner products of the features of rows with K_s.

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
    """
    expected = expected_kernel(features, X, None, n_draws, random_state).values
    Z = features.transform(X).astype(float)
    difference = Z @ Z.T - expected
    return KernelError(
        float(np.abs(difference).max()),
        float(np.abs(difference).mean()),
        float(difference.mean()),
    )
