"""Orbit and local kernels: ratios, and growth with rows, pixels and elements."""

import numpy as np

from _measure import Ratio, growth, ratio
from invarlearn.datasets import load_mnist_sample
from invarlearn.kernels import RBF, Linear, LocalPolynomial, OrbitKernel
from invarlearn.kernels.orbit.cache import Orbits
from invarlearn.transforms import Rotation, Translation


def benchmarks():
    yield from _orbit_against_gemm()
    yield _shifts_against_rolls()
    yield from _local_against_loops()
    yield _local_against_patches()
    yield from _growth()


def _orbit_against_gemm():
    digits = load_mnist_sample()
    X = np.concatenate([digits.X_train, digits.X_test])[:2000]
    family = Translation(3) * Rotation(15, n_steps=5)
    kernel = OrbitKernel(RBF(4.0), family, normalize=True)
    Y = X[:100]
    orbit = family.orbit(Y).reshape(-1, 784)
    stored = Orbits(kernel, Y)
    against = "GEMM of X on the orbit of Y"
    yield Ratio(
        "OrbitKernel, max, 2,000 x 100 digits, 245 affine maps, stored orbits",
        against,
        ratio(lambda: stored(X), lambda: X @ orbit.T, repeats=7),
        "<= 1.3 x",
    )
    yield Ratio(
        "the same, orbits computed again",
        against,
        ratio(lambda: kernel.to_orbits(X, Y), lambda: X @ orbit.T, repeats=7),
    )


def _shifts_against_rolls():
    X = load_mnist_sample().X_train[:500]
    Y = X[:256]
    kernel = OrbitKernel(Linear(), Translation(None, wrap=True))

    def rolls():
        best = np.full((len(X), len(Y)), -np.inf, dtype=np.float32)
        images = Y.reshape(-1, 28, 28)
        for down in range(28):
            for right in range(28):
                moved = np.roll(images, (down, right), axis=(1, 2)).reshape(len(Y), -1)
                np.maximum(best, X @ moved.T, out=best)
        return best

    np.testing.assert_allclose(kernel.to_orbits(X, Y), rolls(), rtol=1e-4)
    return Ratio(
        "OrbitKernel, all 784 cyclic shifts, 500 x 256 digits",
        "loop of rolls with GEMM",
        ratio(lambda: kernel.to_orbits(X, Y), rolls, repeats=5),
        ">= 10 x faster",
    )


def _local_against_loops():
    X = load_mnist_sample().X_train[:600]
    base = LocalPolynomial((7,), (2, 4))
    kernel = OrbitKernel(base, Translation(7, wrap=True))
    few, small = X[:4], X[100:105]
    left, right = X[:50], X[100:150]

    def shifts_and_patches():
        """Loop over shifts, with numpy views of all patches."""
        best = np.zeros((len(few), len(small)), dtype=np.float32)
        left = _patches(few)
        for down in range(-7, 8):
            for right in range(-7, 8):
                moved = np.roll(small.reshape(-1, 28, 28), (down, right), axis=(1, 2))
                inner = np.einsum("ipq,jpq->ijp", left, _patches(moved.reshape(-1, 784))) / 49
                np.maximum(best, (((inner + 1) ** 2).mean(axis=2) + 1) ** 4, out=best)
        return best

    def shifts_and_windows():
        """Loop over shifts, with compiled sums over windows."""
        best = np.zeros((len(left), len(right)), dtype=np.float32)
        for down in range(-7, 8):
            for across in range(-7, 8):
                moved = np.roll(right.reshape(-1, 28, 28), (down, across), axis=(1, 2))
                np.maximum(best, base(left, moved.reshape(-1, 784)), out=best)
        return best

    np.testing.assert_allclose(kernel.to_orbits(few, small), shifts_and_patches(), rtol=1e-5)
    np.testing.assert_allclose(kernel.to_orbits(left, right), shifts_and_windows(), rtol=1e-5)
    # the time of a loop is proportional to the pairs: fewer than 50,000 are timed
    what = "L-TI: width 7, degrees 2 and 4, shifts up to 7, 100 x 500 digits"
    for loop, pairs, name, must in (
        (
            shifts_and_patches,
            20,
            "loop over shifts and patches (numpy), per pair",
            ">= 50 x faster",
        ),
        (shifts_and_windows, 2500, "loop over shifts, compiled windows, per pair", ""),
    ):
        times = ratio(lambda: kernel.to_orbits(X[:100], X[100:]), loop, repeats=3)
        yield Ratio(what, name, times * pairs / 50_000, must)


def _patches(X):
    padded = np.pad(X.reshape(-1, 28, 28), ((0, 0), (3, 3), (3, 3)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (7, 7), axis=(1, 2))
    return windows.reshape(len(X), 784, 49)


def _local_against_patches():
    X = load_mnist_sample().X_train[:100]
    kernel = LocalPolynomial((7,), (2, 4))

    def patches():
        inner = np.einsum("ipq,jpq->ijp", _patches(X), _patches(X), optimize=True) / 49
        return (((inner + 1) ** 2).mean(axis=2) + 1) ** 4

    np.testing.assert_allclose(kernel(X), patches(), rtol=1e-4)
    return Ratio(
        "LocalPolynomial, width 7, degrees 2 and 4, 100 x 100 digits",
        "patches and einsum (numpy)",
        ratio(lambda: kernel(X), patches, repeats=5),
    )


def _growth():
    """Measure the power of the size by which time grows; 1 is linear."""
    rng = np.random.RandomState(0)
    digits = load_mnist_sample().X_train
    kernel = OrbitKernel(RBF(4.0), Translation(1) * Rotation(15), normalize=True)
    yield growth(
        "OrbitKernel, 81 maps: time with rows n of an n x n Gram matrix",
        [250, 500, 1000],
        lambda n, kernel=kernel: lambda: kernel.to_orbits(digits[:n], digits[:n]),
        "2",
    )
    rows = digits[:200]
    yield growth(
        "OrbitKernel: time with elements (angles, listed)",
        [21, 81, 321],
        lambda k: (
            lambda: OrbitKernel(RBF(4.0), Rotation(40, n_steps=k), normalize=True).to_orbits(
                rows, rows
            )
        ),
        "1",
    )
    for name, base in (("", Linear()), ("local, ", LocalPolynomial((5,), (2, 4)))):
        kernel = OrbitKernel(base, Translation(None, wrap=True))
        images = {side: rng.rand(64, side * side).astype(np.float32) for side in (16, 32, 64)}
        yield growth(
            f"OrbitKernel, {name}all cyclic shifts: time with pixels",
            [side * side for side in images],
            lambda d, kernel=kernel, images=images: (
                lambda: kernel.to_orbits(images[round(d**0.5)], images[round(d**0.5)])
            ),
            "1 (the loop: 2)",
        )
