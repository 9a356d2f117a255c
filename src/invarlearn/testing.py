"""Contract suites: what every family, kernel and functional must keep, for ours and for yours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from invarlearn import transforms
from invarlearn.functionals.base import Functional, Gradients, Representers, Slopes, Term, Values
from invarlearn.kernels import Kernel
from invarlearn.kernels.base import ProfileKernel
from invarlearn.transforms import Family

__all__ = ["check_family", "check_functional", "check_kernel"]

# How many rows the slower checks look at.
_FEW = 3


def check_family(family: Family, X: ArrayLike) -> None:
    """Check that a family keeps what it promises, on the rows X.

    Identity first; shapes, dtypes and the number of elements; the input untouched; rows treated
    one by one; blocks equal to the whole; closure and inverses where ``is_group`` is claimed;
    norms where ``is_unitary`` is claimed; tangents against differences; random elements
    reproducible without the global generator; the worst case the worst; ranges that can be scaled;
    a repr that reads back; cloning; clear errors.

    Parameters
    ----------
    family : Family
    X : array-like of shape (n_samples, n_features)
        Rows in general position: closure and norms are checked on them.

    Raises
    ------
    AssertionError
        Which says what does not hold.

    Examples
    --------
    >>> import numpy as np
    >>> from invarlearn.transforms import CyclicShift
    >>> check_family(CyclicShift(), np.random.RandomState(0).rand(4, 6))
    """
    X = np.array(X, dtype=float)
    if not isinstance(family, Family):
        raise AssertionError(f"{family!r} is not a Family")
    bound = family.with_shape_of(X.shape[1])
    _check_parameters(family, X)
    for dtype in (np.float64, np.float32):
        rows = X.astype(dtype)
        rows.flags.writeable = False
        before = rows.copy()
        if np.isfinite(bound.n_elements):
            _check_orbit(family, bound, rows)
        else:
            _check_unlisted(family, rows)
        _check_sample(family, rows)
        _check_tangents(family, bound, rows)
        _check_worst_case(family, rows)
        assert np.array_equal(rows, before), f"{family!r} changed its input"
    _check_claims(family, bound, X)
    _check_scaled(family, X)
    _check_errors(family, X)


def _accepts(family: Family, X: NDArray) -> bool:
    try:
        family.resolve_shape(X.shape[1])
    except ValueError:
        return False
    return True


def _check_parameters(family: Family, X: NDArray) -> None:
    copy = clone(family)
    assert repr(copy) == repr(family), f"clone({family!r}) is {copy!r}"
    params = family.get_params()
    assert {name: repr(value) for name, value in copy.get_params().items()} == {
        name: repr(value) for name, value in params.items()
    }, "clone changes a parameter"
    copy.set_params(**{name: params[name] for name in params if "__" not in name})
    assert repr(copy) == repr(family), "set_params(**get_params()) changes the family"
    if "Custom(" not in repr(family) and type(family).__module__.startswith("invarlearn"):
        names = {name: getattr(transforms, name) for name in transforms.__all__}
        again = eval(repr(family), names | {"array": np.array})
        assert repr(again) == repr(family), f"repr {family!r} reads back as {again!r}"


def _check_orbit(family: Family, bound: Family, X: NDArray) -> None:
    n, d = X.shape
    orbit = family.orbit(X)
    expected = (n, bound.n_elements, d)
    assert orbit.shape == expected, f"orbit has shape {orbit.shape}, promised is {expected}"
    assert orbit.dtype == X.dtype, f"orbit of {X.dtype} rows has dtype {orbit.dtype}"
    assert np.isfinite(orbit).all(), "orbit has numbers that are not finite"
    assert np.array_equal(orbit[:, 0], X), "the first element of the orbit is not the identity"
    alone = family.orbit(X[-1:])[0]
    close = _tolerance(X.dtype)
    assert np.allclose(orbit[-1], alone, **close), "a row's orbit depends on the other rows"
    streamed = np.full_like(orbit, np.nan)
    small = max(1, orbit[0].nbytes // 3)
    for rows, elements, block in family.iter_orbit(X, max_bytes=small):
        assert block.nbytes <= max(small, d * X.itemsize), "a block is larger than max_bytes"
        streamed[rows, elements] = block
    assert np.allclose(streamed, orbit, **close), "iter_orbit differs from orbit"


def _check_unlisted(family: Family, X: NDArray) -> None:
    try:
        family.orbit(X)
    except ValueError:
        return
    raise AssertionError("n_elements is infinite, but orbit(X) does not raise a ValueError")


def _check_scaled(family: Family, X: NDArray) -> None:
    before = repr(family)
    half = family.scaled(0.5)
    assert type(half) is type(family), f"scaled(0.5) of {family!r} is {half!r}"
    assert repr(family) == before, f"scaled(0.5) changes {before}"
    moved = half.sample(3, random_state=0)(X)
    assert np.isfinite(moved).all(), f"{half!r}, scaled, gives numbers that are not finite"


def _check_sample(family: Family, X: NDArray) -> None:
    state = repr(np.random.get_state())
    elements = family.sample(5, random_state=0)
    assert len(elements) == len(list(elements)) == 5, "sample(5) does not hold 5 elements"
    moved = elements(X)
    assert moved.shape == (len(X), 5, X.shape[1]), f"5 random elements give shape {moved.shape}"
    assert moved.dtype == X.dtype, f"random elements turn {X.dtype} into {moved.dtype}"
    close = _tolerance(X.dtype)
    assert np.allclose(elements[2](X), moved[:, 2], **close), "sample(5)[2] is not element 2"
    assert np.array_equal(family.sample(5, random_state=0)(X), moved), "same seed, other elements"
    assert np.allclose(elements(X[-1:])[0], moved[-1], **close), "rows are not treated one by one"
    assert repr(np.random.get_state()) == state, "sample uses numpy's global generator"


def _check_tangents(family: Family, bound: Family, X: NDArray) -> None:
    few = X[:_FEW]
    tangents = family.tangents(few)
    expected = (len(few), bound.n_directions, X.shape[1])
    assert tangents.shape == expected, f"tangents have shape {tangents.shape}, not {expected}"
    assert tangents.dtype == X.dtype, f"tangents of {X.dtype} rows have dtype {tangents.dtype}"
    # Differences in double precision. Bilinear interpolation has a kink at the identity, so their
    # error is of order t for fields that are not parallel to the axes.
    t, exact = 1e-4, few.astype(float)
    difference = (family.flow(exact, t) - family.flow(exact, -t)) / (2 * t)
    for j in range(bound.n_directions):
        scale = np.abs(difference[:, j]).max(initial=1e-6 * np.abs(exact).max() + 1e-12)
        error = np.abs(tangents[:, j] - difference[:, j]).max(initial=0) / scale
        assert error < 1e-3, f"tangent {j} differs from differences by {error:.1e} of its size"


def _check_worst_case(family: Family, X: NDArray) -> None:
    rng = np.random.RandomState(0)
    w = rng.randn(X.shape[1]).astype(X.dtype)
    sign = rng.choice([-1.0, 1.0], size=len(X)).astype(X.dtype)
    try:
        rows, scores = family.worst_case(X, w, sign)
    except ValueError:
        # a family without a list may have no worst case, and say so
        assert np.isinf(_size(family, X)), "worst_case raises an error though there is a list"
        return
    assert rows.shape == X.shape, f"worst_case gives rows of shape {rows.shape}"
    close = _tolerance(X.dtype)
    slack = close["rtol"] * float(np.abs(X).sum(axis=1).max() + 1) * float(np.abs(w).max())
    assert np.abs(scores - sign * (rows @ w)).max() <= slack, "scores do not belong to the rows"
    assert (scores <= sign * (X @ w) + slack).all(), "the worst case is better than the identity"
    others = family.orbit(X) if np.isfinite(_size(family, X)) else family.sample(50, 0)(X)
    assert (scores[:, None] <= sign[:, None] * (others @ w) + slack).all(), (
        "an element does worse than the worst case"
    )


def _size(family: Family, X: NDArray) -> float:
    try:
        return family.n_elements
    except ValueError:
        return float(family.orbit(X[:1]).shape[1])


def _check_claims(family: Family, bound: Family, X: NDArray) -> None:
    few = X[:_FEW]
    drawn = family.sample(30, random_state=1)(few)
    listed = np.isfinite(bound.n_elements)
    orbit = family.orbit(few) if listed else drawn
    if bound.is_unitary:
        norms = np.linalg.norm(few, axis=1)[:, None]
        for moved, which in ((orbit, "listed"), (drawn, "random")):
            assert np.allclose(np.linalg.norm(moved, axis=2), norms), (
                f"is_unitary is claimed, but {which} elements change norms"
            )
    if bound.is_group:
        assert listed, "is_group is claimed, but the elements cannot be listed"
        _check_group(family, few, orbit, drawn)


def _check_group(family: Family, X: NDArray, orbit: NDArray, drawn: NDArray) -> None:
    """Check closure: g -> hg permutes a group, so every moved row has the same orbit."""
    sets = [_as_set(rows) for rows in orbit]
    n = orbit.shape[1]
    chosen = range(n) if n <= 200 else np.random.RandomState(0).choice(n, 200, replace=False)
    for g in chosen:
        again = _as_set(family.orbit(orbit[:1, g])[0])
        assert again == sets[0], f"is_group is claimed, but element {g} leaves the orbit"
    for whole, moved in zip(sets, drawn, strict=True):
        assert _as_set(moved) <= whole, "is_group is claimed, but random elements are not in it"


def _as_set(rows: NDArray) -> set[bytes]:
    return {row.tobytes() for row in np.round(rows, 9) + 0.0}


def _check_errors(family: Family, X: NDArray) -> None:
    bad = X.copy()
    bad[0, 0] = np.nan
    for what, rows in {"NaN": bad, "no rows": X[:0], "one dimension": X[0]}.items():
        try:
            family.worst_case(rows, np.ones(X.shape[1]))
        except ValueError:
            continue
        raise AssertionError(f"{what} in X does not raise a ValueError")


def _tolerance(dtype: Any) -> dict[str, Any]:
    return {"rtol": 1e-9, "atol": 1e-12} if dtype == np.float64 else {"rtol": 1e-4, "atol": 1e-5}


def check_kernel(kernel: Kernel, X: ArrayLike, Y: ArrayLike) -> None:
    """Check that a kernel keeps what it promises, on rows X and Y.

    Shapes and dtypes; the input untouched; symmetry; the diagonal; no negative eigenvalue where
    ``is_definite`` is claimed; derivatives, where it has them, against differences; cloning; clear
    errors.

    Parameters
    ----------
    kernel : Kernel
    X, Y : array-like of shape (n_samples, n_features)

    Raises
    ------
    AssertionError
        Which says what does not hold.

    Examples
    --------
    >>> import numpy as np
    >>> from invarlearn.kernels import RBF
    >>> rng = np.random.RandomState(0)
    >>> check_kernel(RBF(0.5), rng.rand(6, 3), rng.rand(4, 3))
    """
    assert isinstance(kernel, Kernel), f"{kernel!r} is not a Kernel"
    assert repr(clone(kernel)) == repr(kernel), "clone changes the kernel"
    for dtype in (np.float64, np.float32):
        x, y = np.array(X, dtype=dtype), np.array(Y, dtype=dtype)
        x.flags.writeable = y.flags.writeable = False
        _check_gram(kernel, x, y)
    if isinstance(kernel, ProfileKernel):
        _check_kernel_derivatives(kernel, np.array(X, dtype=float), np.array(Y, dtype=float))
    bad = np.array(X, dtype=float)
    bad[0, 0] = np.nan
    for what, rows in {"NaN": bad, "no rows": bad[:0]}.items():
        try:
            kernel(rows)
        except ValueError:
            continue
        raise AssertionError(f"{what} in X does not raise a ValueError")


def _check_gram(kernel: Kernel, X: NDArray, Y: NDArray) -> None:
    gram, cross = kernel(X), kernel(X, Y)
    assert cross.shape == (len(X), len(Y)), f"k(X, Y) has shape {cross.shape}"
    assert gram.dtype == cross.dtype == X.dtype, f"k of {X.dtype} rows has dtype {cross.dtype}"
    close = _tolerance(X.dtype)
    scale = float(np.abs(gram).max())
    close["atol"] *= max(scale, 1.0)
    assert np.allclose(gram, gram.T, **close), "k(X, X) is not symmetric"
    assert np.allclose(cross, kernel(Y, X).T, **close), "k(X, Y) is not symmetric in X and Y"
    assert np.allclose(kernel.diag(X), np.diag(gram), **close), "diag differs from k(x, x)"
    assert np.allclose(kernel(X[-1:], Y), cross[-1:], **close), "an entry depends on other rows"
    if kernel.is_definite:
        smallest = float(np.linalg.eigvalsh(gram.astype(float))[0])
        assert smallest > -close["rtol"] * len(X) * scale, (
            f"is_definite is claimed, but there is a negative eigenvalue, {smallest:.1e}"
        )


def _check_kernel_derivatives(kernel: ProfileKernel, X: NDArray, Y: NDArray) -> None:
    rng = np.random.RandomState(0)
    V, W, t = rng.randn(*X.shape), rng.randn(*Y.shape), 1e-5
    slope = (kernel(X + t * V, Y) - kernel(X - t * V, Y)) / (2 * t)
    gradient = kernel.gradient(X, Y, V)
    assert np.abs(gradient - slope).max() <= 1e-5 * (1 + np.abs(slope).max()), (
        "gradient differs from differences"
    )
    bend = (kernel.gradient(X, Y + t * W, V) - kernel.gradient(X, Y - t * W, V)) / (2 * t)
    mixed = kernel.mixed(X, Y, V, W)
    assert np.abs(mixed - bend).max() <= 1e-5 * (1 + np.abs(bend).max()), (
        "mixed differs from differences of gradient"
    )


def check_functional(
    functional: Functional, kernel: Kernel, X: ArrayLike, tol: float = 1e-6
) -> None:
    """Check the representers of a functional, on the rows X.

    Values and inner products against differences and quadrature of the functions themselves;
    products without the Gram matrix against those with it; no negative eigenvalue; the input
    untouched; cloning.

    Parameters
    ----------
    functional : Functional
    kernel : Kernel
    X : array-like of shape (n_samples, n_features)
        A few rows; of up to three features if means over neighbourhoods are involved, since these
        are checked by quadrature.
    tol : float, default=1e-6
        Relative to the largest inner product.

    Raises
    ------
    AssertionError
        Which says what does not hold.

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
    found = Representers(kernel, [functional], X)
    gram = found.gram()
    np.testing.assert_array_equal(X, before, err_msg="the rows were changed")
    size = max(1.0, float(np.abs(gram).max()))
    np.testing.assert_allclose(gram, gram.T, atol=1e-10 * size, err_msg="inner products: symmetry")
    smallest = np.linalg.eigvalsh(gram)[0]
    assert smallest > -1e-8 * size, f"inner products have the negative eigenvalue {smallest:.2e}"
    Z = X[:3] + 0.1
    # the functional applied to k(z, .), and to the representers
    values = _applied(functional.terms(X), lambda points: kernel(points, Z))
    _close(found.at(Z), values.T, tol * size, "values of the representers")
    inner = _applied(functional.terms(X), found.at)
    _close(gram, inner, tol * size, "inner products of the representers")
    coefficients = np.random.RandomState(0).standard_normal(len(found))
    scale = size * float(np.abs(coefficients).sum())
    _close(found.dot(coefficients), gram @ coefficients, 1e-10 * scale, "dot")
    _close(found.function(coefficients, Z), found.at(Z) @ coefficients, 1e-10 * scale, "function")


def _close(found: NDArray, expected: NDArray, atol: float, what: str) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol, err_msg=what)


def _applied(terms: list[Term], f: Any) -> NDArray:
    """Apply a functional to functions, (n, d) to (n, k), by differences and quadrature: (m, k)."""
    return np.sum([_applied_term(term, _smooth(f, term.blur)) for term in terms], axis=0)


def _applied_term(term: Term, f: Any) -> NDArray:
    if isinstance(term, Values):
        return np.asarray(term.weights @ f(term.points))
    if isinstance(term, Slopes):
        return _slopes(f, term.points[term.at], term.directions)
    assert isinstance(term, Gradients)
    d = term.points.shape[1]
    return _slopes(f, np.repeat(term.points, d, axis=0), np.tile(np.eye(d), (len(term.points), 1)))


def _slopes(f: Any, points: NDArray, directions: NDArray) -> NDArray:
    """Give derivatives by central differences, of fourth order."""
    h = 1e-3
    near = f(points + h * directions) - f(points - h * directions)
    far = f(points + 2 * h * directions) - f(points - 2 * h * directions)
    return (8 * near - far) / (12 * h)


def _smooth(f: Any, blur: float) -> Any:
    """Give a function averaged over a Gaussian, by quadrature in each direction."""
    if blur == 0:
        return f

    def mean(points: NDArray) -> NDArray:
        d = points.shape[1]
        assert d <= 3, f"quadrature in {d} dimensions is too large: check with rows of up to three"
        nodes, weights = np.polynomial.hermite_e.hermegauss(24)
        grid = np.stack(np.meshgrid(*[nodes] * d, indexing="ij"), axis=-1).reshape(-1, d)
        shares = np.prod(np.stack(np.meshgrid(*[weights] * d), axis=-1), axis=-1).ravel()
        shares = shares / shares.sum()
        return np.stack([shares @ f(point + np.sqrt(blur) * grid) for point in points])

    return mean
