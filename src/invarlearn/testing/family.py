"""Contract tests of families of transformations."""

from __future__ import annotations

from inspect import isfunction

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from invarlearn import transforms
from invarlearn.testing._tolerance import tolerance
from invarlearn.transforms import Family

# Number of rows in the slower checks.
_N_SLOW = 3


def check_family(family: Family, X: ArrayLike) -> None:
    """Check that a family fulfils the contract that estimators rely on.

    - Orbits: the identity is the first element; shapes, dtypes and the number of elements are as
      declared; the input is not modified; the orbit of a row does not depend on other rows; blocks
      of ``iter_orbit`` equal ``orbit``.
    - Claims: a family with ``is_group`` is closed under composition and inverse; a family with
      ``is_unitary`` keeps norms.
    - Tangents agree with finite differences of ``flow``.
    - Random elements are reproducible and do not use numpy's global generator.
    - No element has a lower score than the worst case.
    - ``scaled`` returns a family of the same type; ``clone`` and the repr keep the parameters; no
      attribute hides a method; invalid rows raise a ValueError.

    Parameters
    ----------
    family : Family
    X : array-like of shape (n_samples, n_features)
        Rows without symmetries, such as random ones, on which all properties are checked.

    Raises
    ------
    AssertionError
        If a property does not hold. The message names it.

    Examples
    --------
    >>> import numpy as np
    >>> from invarlearn.transforms import CyclicShift
    >>> check_family(CyclicShift(), np.random.RandomState(0).rand(4, 6))
    """
    X = np.array(X, dtype=float)
    if not isinstance(family, Family):
        raise AssertionError(f"{family!r} is not a Family")
    _check_names(family)
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


def _check_names(family: Family) -> None:
    """Check that no attribute of the instance hides a method."""
    for name in vars(family):
        cls = type(family)
        assert not isfunction(getattr(cls, name, None)), (
            f"attribute {name!r} of {cls.__name__} hides the method {cls.__name__}.{name}: "
            "choose another name for the attribute or parameter"
        )


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
        evaluated = eval(repr(family), names | {"array": np.array})
        assert repr(evaluated) == repr(family), f"eval(repr(family)) of {family!r} is {evaluated!r}"


def _check_orbit(family: Family, bound: Family, X: NDArray) -> None:
    n, d = X.shape
    orbit = family.orbit(X)
    expected = (n, bound.n_elements, d)
    assert orbit.shape == expected, f"orbit has shape {orbit.shape}, expected {expected}"
    assert orbit.dtype == X.dtype, f"orbit of {X.dtype} rows has dtype {orbit.dtype}"
    assert np.isfinite(orbit).all(), "the orbit has values that are not finite"
    assert np.array_equal(orbit[:, 0], X), "the first element of the orbit is not the identity"
    last_orbit = family.orbit(X[-1:])[0]
    tolerances = tolerance(X.dtype)
    assert np.allclose(orbit[-1], last_orbit, **tolerances), (
        "a row's orbit depends on the other rows"
    )
    streamed = np.full_like(orbit, np.nan)
    max_bytes = max(1, orbit[0].nbytes // 3)
    for rows, elements, block in family.iter_orbit(X, max_bytes=max_bytes):
        assert block.nbytes <= max(max_bytes, d * X.itemsize), "a block is larger than max_bytes"
        streamed[rows, elements] = block
    assert np.allclose(streamed, orbit, **tolerances), "iter_orbit differs from orbit"


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
    transformed = half.sample(3, random_state=0)(X)
    assert np.isfinite(transformed).all(), f"{half!r} returns values that are not finite"


def _check_sample(family: Family, X: NDArray) -> None:
    state = repr(np.random.get_state())
    elements = family.sample(5, random_state=0)
    assert len(elements) == len(list(elements)) == 5, "sample(5) does not return 5 elements"
    transformed = elements(X)
    expected = (len(X), 5, X.shape[1])
    assert transformed.shape == expected, (
        f"sample(5)(X) has shape {transformed.shape}, expected {expected}"
    )
    assert transformed.dtype == X.dtype, f"sample(5)(X) of {X.dtype} rows has {transformed.dtype}"
    tolerances = tolerance(X.dtype)
    assert np.allclose(elements[2](X), transformed[:, 2], **tolerances), (
        "sample(5)[2](X) differs from sample(5)(X)[:, 2]"
    )
    assert np.array_equal(family.sample(5, random_state=0)(X), transformed), (
        "the same random_state draws different elements"
    )
    assert np.allclose(elements(X[-1:])[0], transformed[-1], **tolerances), (
        "a random element depends on other rows"
    )
    assert repr(np.random.get_state()) == state, "sample uses numpy's global generator"


def _check_tangents(family: Family, bound: Family, X: NDArray) -> None:
    rows = X[:_N_SLOW]
    tangents = family.tangents(rows)
    expected = (len(rows), bound.n_directions, X.shape[1])
    assert tangents.shape == expected, f"tangents have shape {tangents.shape}, expected {expected}"
    assert tangents.dtype == X.dtype, f"tangents of {X.dtype} rows have dtype {tangents.dtype}"
    # Finite differences in double precision. Bilinear interpolation has a kink at the identity, so
    # that their error is of order t for fields that are not parallel to the axes.
    t, exact = 1e-4, rows.astype(float)
    difference = (family.flow(exact, t) - family.flow(exact, -t)) / (2 * t)
    for j in range(bound.n_directions):
        scale = np.abs(difference[:, j]).max(initial=1e-6 * np.abs(exact).max() + 1e-12)
        error = np.abs(tangents[:, j] - difference[:, j]).max(initial=0) / scale
        assert error < 1e-3, (
            f"tangent {j} differs from finite differences: relative error {error:.1e}"
        )


def _check_worst_case(family: Family, X: NDArray) -> None:
    rng = np.random.RandomState(0)
    w = rng.randn(X.shape[1]).astype(X.dtype)
    sign = rng.choice([-1.0, 1.0], size=len(X)).astype(X.dtype)
    try:
        rows, scores = family.worst_case(X, w, sign)
    except ValueError:
        # families whose elements cannot be listed need not have a worst case
        assert np.isinf(_size(family, X)), "worst_case raises an error, but elements can be listed"
        return
    assert rows.shape == X.shape, f"worst_case returns rows of shape {rows.shape}"
    largest_score = float(np.abs(X).sum(axis=1).max() + 1) * float(np.abs(w).max())
    slack = tolerance(X.dtype)["rtol"] * largest_score
    assert np.abs(scores - sign * (rows @ w)).max() <= slack, "scores differ from sign * (rows @ w)"
    indices = np.arange(len(X))[::-2]
    some_rows, some_scores = family.prepare_worst_case(X)(indices, w, sign[indices])
    assert np.abs(some_scores - scores[indices]).max() <= slack, (
        "prepare_worst_case disagrees with worst_case"
    )
    assert some_rows.shape == X[indices].shape, "prepare_worst_case returns rows of another shape"
    assert (scores <= sign * (X @ w) + slack).all(), "the worst case is better than the identity"
    others = family.orbit(X) if np.isfinite(_size(family, X)) else family.sample(50, 0)(X)
    assert (scores[:, None] <= sign[:, None] * (others @ w) + slack).all(), (
        "an element does worse than the worst case"
    )


def _size(family: Family, X: NDArray) -> float:
    """Return the number of elements, which for some families depends on the rows."""
    try:
        return family.n_elements
    except ValueError:
        return float(family.orbit(X[:1]).shape[1])


def _check_claims(family: Family, bound: Family, X: NDArray) -> None:
    rows = X[:_N_SLOW]
    drawn = family.sample(30, random_state=1)(rows)
    is_listed = np.isfinite(bound.n_elements)
    orbit = family.orbit(rows) if is_listed else drawn
    if bound.is_unitary:
        norms = np.linalg.norm(rows, axis=1)[:, None]
        for transformed, which in ((orbit, "listed"), (drawn, "random")):
            assert np.allclose(np.linalg.norm(transformed, axis=2), norms), (
                f"is_unitary is claimed, but {which} elements change norms"
            )
    if bound.is_group:
        assert is_listed, "is_group is claimed, but the elements cannot be listed"
        _check_group(family, rows, orbit, drawn)


def _check_group(family: Family, X: NDArray, orbit: NDArray, drawn: NDArray) -> None:
    """Check closure: g -> gh permutes a group, so that x and hx have the same orbit."""
    orbit_sets = [_as_set(rows) for rows in orbit]
    n = orbit.shape[1]
    indices = range(n) if n <= 200 else np.random.RandomState(0).choice(n, 200, replace=False)
    for g in indices:
        transformed_orbit = _as_set(family.orbit(orbit[:1, g])[0])
        assert transformed_orbit == orbit_sets[0], (
            f"is_group is claimed, but element {g} leaves the orbit"
        )
    for orbit_set, rows in zip(orbit_sets, drawn, strict=True):
        assert _as_set(rows) <= orbit_set, "is_group is claimed, but random elements are not in it"


def _as_set(rows: NDArray) -> set[bytes]:
    """Return the set of rows, rounded, with -0 equal to 0."""
    return {row.tobytes() for row in np.round(rows, 9) + 0.0}


def _check_errors(family: Family, X: NDArray) -> None:
    with_nan = X.copy()
    with_nan[0, 0] = np.nan
    for fault, rows in {"NaN": with_nan, "no rows": X[:0], "one dimension": X[0]}.items():
        try:
            family.worst_case(rows, np.ones(X.shape[1]))
        except ValueError:
            continue
        raise AssertionError(f"{fault} in X does not raise a ValueError")
