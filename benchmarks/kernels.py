"""Orbit and local kernels."""

import numpy as np

from _measure import Ratio, ratio
from invarlearn.datasets import load_mnist_sample
from invarlearn.kernels import RBF, LocalPolynomial, OrbitKernel
from invarlearn.transforms import Rotation, Translation


def benchmarks():
    yield _orbit_against_gemm()
    yield _local_against_patches()


def _orbit_against_gemm():
    X = load_mnist_sample().X_train[:1000]
    family = Translation(3) * Rotation(15, n_steps=5)
    kernel = OrbitKernel(RBF(4.0), family, normalize=True)
    orbit = family.orbit(X[:100]).reshape(-1, 784)
    return Ratio(
        "OrbitKernel, max, 1,000 x 100 digits, 245 affine maps, orbit and all",
        "GEMM of X on the orbit of Y",
        ratio(lambda: kernel._pooled(X, X[:100]), lambda: X @ orbit.T, repeats=3),
        "<= 1.3 x",
    )


def _local_against_patches():
    X = load_mnist_sample().X_train[:20].astype(float)
    kernel = LocalPolynomial((7,), (2, 4))

    def patches():
        padded = np.pad(X.reshape(-1, 28, 28), ((0, 0), (3, 3), (3, 3)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (7, 7), axis=(1, 2))
        flat = windows.reshape(20, 784, 49)
        inner = np.einsum("ipq,jpq->ijp", flat, flat, optimize=True) / 49
        return (((inner + 1) ** 2).mean(axis=2) + 1) ** 4

    np.testing.assert_allclose(kernel(X), patches())
    return Ratio(
        "LocalPolynomial, width 7, degrees 2 and 4, 20 x 20 digits",
        "patches and einsum (numpy)",
        ratio(lambda: kernel(X), patches, repeats=5),
    )
