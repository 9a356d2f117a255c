"""Contract tests of kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from invarlearn.kernels import Kernel, OrbitKernel
from invarlearn.kernels.base import is_kernel
from invarlearn.testing._tolerance import tolerance
from invarlearn.transforms import Custom


def check_kernel(kernel: Kernel, X: ArrayLike, Y: ArrayLike) -> None:
    """Check that a kernel fulfils the contract of kernels, on rows X and Y.

    - Every kernel: shapes and dtypes; unmodified input; symmetry; the diagonal; no negative
      eigenvalue where ``is_definite`` is claimed; ``clone``; errors for NaN and for no rows.
      ``channel_products`` agrees with the values. :class:`~invarlearn.kernels.OrbitKernel` agrees
      with the kernel at every element of an orbit.
    - Kernels with a profile: the derivatives of the profile agree with finite differences, and so
      do the first and mixed derivatives of the kernel. ``expansion`` agrees with dense Gram
      matrices, and ``from_fits`` with the values. The joint Gram matrix of values and derivatives
      has no negative eigenvalue. The kernel does not decrease with positive inner products, or
      increase with distances, where ``best_at_largest_inner_product`` is claimed.
    - Kernels with ``supports_blur``: the closed form agrees with quadrature.

    Parameters
    ----------
    kernel : Kernel
    X, Y : array-like of shape (n_samples_X, n_features) and (n_samples_Y, n_features)
        A few rows, such as 6 and 4 rows of 3 features. They must be scaled so that the values of
        the kernel differ.

    Raises
    ------
    AssertionError
        If a property does not hold. The message names it.

    Examples
    --------
    >>> import numpy as np
    >>> from invarlearn.kernels import RBF
    >>> rng = np.random.RandomState(0)
    >>> check_kernel(RBF(0.5), rng.rand(6, 3), rng.rand(4, 3))
    """
    assert is_kernel(kernel), f"{kernel!r} is not a Kernel"
    assert repr(clone(kernel)) == repr(kernel), "clone changes the kernel"
    for dtype in (np.float64, np.float32):
        x, y = np.array(X, dtype=dtype), np.array(Y, dtype=dtype)
        x.flags.writeable = y.flags.writeable = False
        _check_gram(kernel, x, y)
    if kernel.has_derivatives:
        x, y = np.array(X, dtype=float), np.array(Y, dtype=float)
        _check_profile(kernel, x, y)
        _check_directional_derivatives(kernel, x, y)
        _check_partial_derivatives(kernel, x, y)
        _check_joint_gram(kernel, x)
        for dtype in (np.float64, np.float32):
            _check_expansion(kernel, x.astype(dtype), y.astype(dtype))
        _check_blur(kernel, x[:4], y[:3])
    for dtype in (np.float64, np.float32):
        x, y = np.array(X, dtype=dtype), np.array(Y, dtype=dtype)
        _check_fits(kernel, x, y)
        _check_channel_products(kernel, x, y)
    _check_orbits(kernel, np.array(X, dtype=float), np.array(Y, dtype=float))
    with_nan = np.array(X, dtype=float)
    with_nan[0, 0] = np.nan
    for fault, rows in {"NaN": with_nan, "no rows": with_nan[:0]}.items():
        try:
            kernel(rows)
        except ValueError:
            continue
        raise AssertionError(f"{fault} in X does not raise a ValueError")


def _check_gram(kernel: Kernel, X: NDArray, Y: NDArray) -> None:
    gram, cross = kernel(X), kernel(X, Y)
    assert cross.shape == (len(X), len(Y)), f"k(X, Y) has shape {cross.shape}"
    assert gram.dtype == cross.dtype == X.dtype, f"k of {X.dtype} rows has dtype {cross.dtype}"
    tolerances = tolerance(X.dtype)
    scale = float(np.abs(gram).max())
    tolerances["atol"] *= max(scale, 1.0)
    assert np.allclose(gram, gram.T, **tolerances), "k(X, X) is not symmetric"
    assert np.allclose(cross, kernel(Y, X).T, **tolerances), "k(X, Y) is not symmetric in X and Y"
    assert np.allclose(kernel.diag(X), np.diag(gram), **tolerances), "diag differs from k(x, x)"
    assert np.allclose(kernel(X[-1:], Y), cross[-1:], **tolerances), (
        "an entry depends on other rows"
    )
    if kernel.is_definite:
        smallest = float(np.linalg.eigvalsh(gram.astype(float))[0])
        assert smallest > -tolerances["rtol"] * len(X) * scale, (
            f"is_definite is claimed, but k(X, X) has the negative eigenvalue {smallest:.1e}"
        )


def _check_profile(kernel: Any, X: NDArray, Y: NDArray) -> None:
    s = kernel.pair_numbers(X, Y)
    _assert_close(
        kernel(X, Y), kernel.profile(s, 0), 1e-9, "values differ from profile(s, 0) of the pairs"
    )
    s = np.unique(s[np.abs(s) > 1e-3 * np.abs(s).max()])
    h = 1e-4 * np.abs(s)
    for order in (1, 2):
        expected = (kernel.profile(s + h, order - 1) - kernel.profile(s - h, order - 1)) / (2 * h)
        actual = kernel.profile(s, order)
        errors = np.abs(actual - expected)
        i = int(np.argmax(errors))
        assert errors[i] <= 1e-5 * np.abs(expected).max() + 1e-9 * np.abs(kernel(X, Y)).max(), (
            f"profile(s, {order}) is not the derivative of profile(s, {order - 1}): at "
            f"s={s[i]:.4g} it is {actual[i]:.6g}, and finite differences are {expected[i]:.6g}"
        )
    if kernel.best_at_largest_inner_product and kernel.uses_norms:
        _check_never_falls(-kernel.profile(s, 1), "increases with the distance")
    elif kernel.best_at_largest_inner_product:
        positive = np.linspace(0, np.abs(s).max(), 50)
        _check_never_falls(kernel.profile(positive, 1), "decreases with positive inner products")


def _check_never_falls(slopes: NDArray, fault: str) -> None:
    assert (slopes >= -1e-12 * np.abs(slopes).max()).all(), (
        f"the profile {fault}: set best_at_largest_inner_product = False"
    )


def _check_directional_derivatives(kernel: Any, X: NDArray, Y: NDArray) -> None:
    rng = np.random.RandomState(0)
    V, W, t = rng.randn(*X.shape), rng.randn(*Y.shape), 1e-5
    expected = (kernel(X + t * V, Y) - kernel(X - t * V, Y)) / (2 * t)
    gradient = kernel.gradient(X, Y, V)
    _assert_close(
        gradient, expected, 1e-5, "gradient differs from finite differences of the kernel"
    )
    expected = (kernel.gradient(X, Y + t * W, V) - kernel.gradient(X, Y - t * W, V)) / (2 * t)
    mixed = kernel.mixed(X, Y, V, W)
    _assert_close(mixed, expected, 1e-5, "mixed differs from finite differences of gradient")
    _assert_close(mixed, kernel.mixed(Y, X, W, V).T, 1e-9, "mixed is not symmetric in x and y")


def _check_partial_derivatives(kernel: Any, X: NDArray, Y: NDArray) -> None:
    n, d = X.shape
    W = np.random.RandomState(1).randn(*Y.shape)
    points, axes = np.repeat(X, d, axis=0), np.tile(np.eye(d), (n, 1))
    expected = kernel.gradient(points, Y, axes)
    _assert_close(kernel.partials(X, Y), expected, 1e-8, "partials differ from gradient")
    expected = kernel.mixed(points, Y, axes, W)
    _assert_close(
        kernel.mixed_partials(X, Y, W), expected, 1e-8, "mixed_partials differ from mixed"
    )


def _check_joint_gram(kernel: Any, X: NDArray) -> None:
    """Check that the Gram matrix of values and derivatives at the same rows is semidefinite."""
    V = np.random.RandomState(2).randn(*X.shape)
    cross = kernel.gradient(X, X, V)
    joint = np.block([[kernel(X), cross.T], [cross, kernel.mixed(X, X, V, V)]])
    eigenvalues = np.linalg.eigvalsh((joint + joint.T) / 2)
    assert not kernel.is_definite or eigenvalues[0] > -1e-8 * eigenvalues[-1], (
        "is_definite is claimed, but the joint Gram matrix of values and derivatives has the "
        f"negative eigenvalue {eigenvalues[0]:.1e}: derivatives do not agree with the values"
    )


def _check_expansion(kernel: Any, Z: NDArray, X: NDArray) -> None:
    """Check ``expansion``, which forms no Gram matrix, against Gram matrices."""
    rng = np.random.RandomState(3)
    (n, d), p = Z.shape, len(X)
    c, a = rng.randn(p), rng.randn(p, d)
    z, x = Z.astype(float), X.astype(float)
    points, axes = np.repeat(z, d, axis=0), np.tile(np.eye(d), (n, 1))
    values = {"coefficients": kernel(z, x) @ c, "directions": kernel.gradient(x, z, a).sum(axis=0)}
    derivatives = {
        "coefficients": kernel.gradient(points, x, axes) @ c,
        "directions": kernel.mixed(points, x, axes, a).sum(axis=1),
    }
    weights = {"coefficients": c, "directions": a}
    rtol = 1e-9 if Z.dtype == np.float64 else 1e-3
    # terms of a sum may cancel, so that errors are relative to the size of the terms
    scale = float(np.abs(kernel(z, x)).max() + np.abs(kernel.gradient(x, z, a)).max()) * p
    derivative_scale = scale + float(np.abs(kernel.mixed(points, x, axes, a)).max()) * p
    for names in (["coefficients"], ["directions"], ["coefficients", "directions"]):
        name_of_sum = f"expansion of {' and '.join(names)} ({Z.dtype})"
        options = {name: weights[name] for name in names}
        for pairs in (None, kernel.precompute(Z, X)):
            actual, gradients = kernel.expansion(Z, X, **options, gradients=True, precomputed=pairs)
            error = float(np.abs(actual - sum(values[name] for name in names)).max())
            assert error <= rtol * scale, (
                f"{name_of_sum}: values differ from the Gram matrix by {error:.1e}"
            )
            expected = sum(derivatives[name] for name in names).reshape(n, d)
            error = float(np.abs(gradients - expected).max())
            assert error <= rtol * derivative_scale, (
                f"{name_of_sum}: gradients differ from mixed derivatives by {error:.1e}"
            )


def _check_blur(kernel: Any, X: NDArray, Y: NDArray) -> None:
    d = X.shape[1]
    if not kernel.supports_blur:
        try:
            kernel.blurred(0.1, d)
        except TypeError:
            return
        raise AssertionError("blurred returns a kernel, but supports_blur is False")
    # rows of one feature, so that the quadrature has one dimension
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    x, y = X[:, :1], Y[:, :1]
    s = np.abs(kernel.pair_numbers(x, y)).max()
    variance = 0.1 * max(float(s), 1e-3)
    mean = sum(
        w * kernel(x + np.sqrt(variance) * t, y) for t, w in zip(nodes, weights, strict=True)
    )
    factor, blurred = kernel.blurred(variance, 1)
    _assert_close(
        factor * blurred(x, y), mean / weights.sum(), 1e-6, "blurred differs from quadrature"
    )


def _fits(kernel: Any, X: NDArray, Y: NDArray) -> NDArray:
    """Return the numbers by which orbit kernels find the best fit: (n, m)."""
    fits = X @ Y.T
    return fits - (Y**2).sum(axis=1) / 2 if kernel.uses_norms else fits


def _check_fits(kernel: Any, X: NDArray, Y: NDArray) -> None:
    if not (kernel.has_derivatives or kernel.best_at_largest_inner_product):
        return
    assert hasattr(kernel, "from_fits"), (
        "best_at_largest_inner_product is claimed, but there is no from_fits: subclass DotKernel "
        "or RadialKernel"
    )
    expected = kernel(X, Y)
    actual = kernel.from_fits(_fits(kernel, X, Y), (X**2).sum(axis=1)[:, None])
    assert actual.dtype == X.dtype, f"from_fits of {X.dtype} numbers has dtype {actual.dtype}"
    rtol = 1e-8 if X.dtype == np.float64 else 1e-3
    _assert_close(actual, expected, rtol, "from_fits differs from k(x, y)")


def _check_channel_products(kernel: Kernel, X: NDArray, Y: NDArray) -> None:
    """Check the kernel of images as a function of inner products of channels, without shifts."""
    d = X.shape[1]
    side = round(d**0.5)
    rtol = 1e-8 if X.dtype == np.float64 else 1e-3
    expected = kernel(X, Y)
    for grid in {(1, d, 1), (side, d // side, 1)}:
        products = kernel.channel_products(grid) if np.prod(grid) == d else None
        if products is None:
            continue
        name = f"channel_products({grid})"
        images = Y.reshape(-1, *grid)
        left, right = products.left(X.reshape(-1, *grid)), products.right(images)
        for part, array, n in (("left", left, len(X)), ("right", right, len(Y))):
            shape = (n, products.n_channels, *grid[:2])
            assert array.shape == shape, f"{name}.{part} has shape {array.shape}, not {shape}"
        fits = np.einsum("nchw,mchw->nm", left, right)
        if products.uses_norms:
            fits -= (Y**2).sum(axis=1) / 2
        actual = products.finish(fits, (X**2).sum(axis=1)[:, None])
        _assert_close(actual, expected, rtol, f"{name} differs from k(x, y)")
        if products.is_linear:
            _assert_close(
                products.right(2 * images),
                2 * right,
                rtol,
                f"{name}.right is not linear: it differs",
            )


def _halved(X: NDArray) -> NDArray:
    return X / 2


def _check_orbits(kernel: Any, X: NDArray, Y: NDArray) -> None:
    """Check :class:`OrbitKernel` over a family of three elements against every element."""
    family = Custom([np.fliplr, _halved])
    orbits_of_x, orbits_of_y = (family.orbit(Z).reshape(-1, Z.shape[1]) for Z in (X, Y))
    shape = (len(X), len(Y), 3)
    values = kernel(X, orbits_of_y).reshape(shape)
    best, by = values.max(axis=2), "value"
    if kernel.best_at_largest_inner_product:
        places = _fits(kernel, X, orbits_of_y).reshape(shape).argmax(axis=2)
        best, by = np.take_along_axis(values, places[..., None], axis=2)[..., 0], "inner product"
    _assert_close(
        OrbitKernel(kernel, family).to_orbits(X, Y),
        best,
        1e-8,
        f"the best fit of OrbitKernel differs from the value at the largest {by} of the orbit",
    )
    mean = kernel(orbits_of_x, orbits_of_y).reshape(len(X), 3, len(Y), 3).mean(axis=(1, 3))
    _assert_close(
        OrbitKernel(kernel, family, "mean").to_orbits(X, Y),
        mean,
        1e-8,
        "the average fit of OrbitKernel differs from the mean over both orbits",
    )


def _assert_close(actual: NDArray, expected: NDArray, rtol: float, message: str) -> None:
    """Compare arrays with a tolerance relative to the largest expected entry."""
    error, largest = np.abs(actual - expected).max(), np.abs(expected).max()
    assert error <= rtol * (largest + 1e-6), (
        f"{message} by up to {error:.1e}; the largest expected entry is {largest:.1e}"
    )
