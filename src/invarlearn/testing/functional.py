"""Contract tests of functionals."""

from __future__ import annotations

from functools import partial
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from invarlearn.functionals.base import Functional, FunctionalTerm
from invarlearn.functionals.representers import Representers
from invarlearn.kernels import Kernel


def check_functional(
    functional: Functional, kernel: Kernel, X: ArrayLike, tol: float = 1e-6
) -> None:
    """Check the representers of a functional at the rows X.

    - Their values and inner products agree with finite differences and quadrature.
    - Products that do not form the Gram matrix agree with it.
    - The Gram matrix is symmetric and has no negative eigenvalue.
    - The input is not modified, and ``clone`` keeps the functional.

    Parameters
    ----------
    functional : Functional
    kernel : Kernel
    X : array-like of shape (n_samples, n_features)
        A few rows. They may have at most three features if the functional averages over
        neighbourhoods, since averages are checked by quadrature.
    tol : float, default=1e-6
        Tolerance, relative to the largest inner product.

    Raises
    ------
    AssertionError
        If a property does not hold. The message names it.

    Examples
    --------
    >>> import numpy as np
    >>> from invarlearn.functionals import Derivative
    >>> from invarlearn.kernels import RBF
    >>> check_functional(Derivative(), RBF(0.5), np.random.RandomState(0).rand(4, 3))
    """
    assert isinstance(functional, Functional), f"{functional!r} is not a Functional"
    assert repr(clone(functional)) == repr(functional), "clone changes the functional"
    X = np.array(X, dtype=float)
    before = X.copy()
    X.flags.writeable = False
    representers = Representers(kernel, [functional], X)
    gram = representers.gram()
    np.testing.assert_array_equal(X, before, err_msg="the functional changed its input")
    size = max(1.0, float(np.abs(gram).max()))
    np.testing.assert_allclose(
        gram, gram.T, atol=1e-10 * size, err_msg="the Gram matrix is not symmetric"
    )
    smallest = np.linalg.eigvalsh(gram)[0]
    assert smallest > -1e-8 * size, f"the Gram matrix has the eigenvalue {smallest:.2e}"
    Z = X[:3] + 0.1
    # the functional is applied to k(z, .), and to the representers
    values = _applied(functional.terms(X), lambda points: kernel(points, Z))
    at_Z = representers.at(Z)
    _assert_close(at_Z, values.T, tol * size, "values of the representers")
    products = _applied(functional.terms(X), representers.at)
    _assert_close(gram, products, tol * size, "inner products of the representers")
    coefficients = np.random.RandomState(0).standard_normal(len(representers))
    atol = 1e-10 * size * float(np.abs(coefficients).sum())
    _assert_close(representers.dot(coefficients), gram @ coefficients, atol, "dot")
    function = representers.function(coefficients, Z)
    _assert_close(function, at_Z @ coefficients, atol, "function")


def _assert_close(actual: NDArray, expected: NDArray, atol: float, message: str) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol, err_msg=message)


def _applied(terms: list[FunctionalTerm], f: Any) -> NDArray:
    """Apply a functional to functions numerically.

    Parameters
    ----------
    terms : list of FunctionalTerm
        Terms of the functional at m points.
    f : callable
        Maps points of shape (n, d) to the values of k functions, of shape (n, k).

    Returns
    -------
    array of shape (m, k)
    """
    averaged = [_smooth(f, term.blur) for term in terms]
    parts = [
        term.apply(g, partial(_derivatives, g)) for term, g in zip(terms, averaged, strict=True)
    ]
    return np.sum(parts, axis=0)


def _slopes(f: Any, points: NDArray, directions: NDArray) -> NDArray:
    """Return directional derivatives by central differences of fourth order."""
    h = 1e-3
    near = f(points + h * directions) - f(points - h * directions)
    far = f(points + 2 * h * directions) - f(points - 2 * h * directions)
    return (8 * near - far) / (12 * h)


def _derivatives(f: Any, points: NDArray, directions: NDArray, order: int) -> NDArray:
    """Return derivatives of an order along directions, by central differences."""
    if order == 1:
        return _slopes(f, points, directions)
    # 11 points
    h = 0.05
    steps = np.arange(-5, 6)
    # weights with which the differences are exact for polynomials of degree 10
    moments = np.zeros(len(steps))
    moments[order] = factorial(order)
    weights = np.linalg.solve(np.vander(steps, increasing=True).T.astype(float), moments)
    values = [w * f(points + h * k * directions) for w, k in zip(weights, steps, strict=True)]
    return np.asarray(np.sum(values, axis=0) / h**order)


def _smooth(f: Any, blur: float) -> Any:
    """Return a function averaged over a Gaussian of variance ``blur``, by quadrature."""
    if blur == 0:
        return f

    def mean(points: NDArray) -> NDArray:
        d = points.shape[1]
        assert d <= 3, f"X has {d} features: quadrature needs rows of at most three"
        nodes, weights = np.polynomial.hermite_e.hermegauss(24)
        grid = np.stack(np.meshgrid(*[nodes] * d, indexing="ij"), axis=-1).reshape(-1, d)
        grid_weights = np.prod(np.stack(np.meshgrid(*[weights] * d), axis=-1), axis=-1).ravel()
        grid_weights = grid_weights / grid_weights.sum()
        return np.stack([grid_weights @ f(point + np.sqrt(blur) * grid) for point in points])

    return mean
