"""Orbits of images, and the worst scaling of bags of words."""

import numpy as np
from scipy import ndimage, sparse

from _measure import Ratio, ratio
from invarlearn.transforms import FeatureScaling, Rotation, Shear, Translation


def benchmarks():
    yield _orbit_against_ndimage()
    yield _stream_against_gemm()
    yield from _worst_scaling()


def _orbit_against_ndimage():
    X = np.random.RandomState(0).rand(100, 784).astype(np.float32)
    family = Translation(1) * Rotation(15) * Shear(0.2)
    matrices = np.linalg.inv(family.elements(784).matrices)
    centre = np.array([13.5, 13.5])

    def image_by_image():
        for matrix in matrices:
            linear = matrix[:2, :2]
            offset = centre - linear @ centre + matrix[:2, 2]
            for image in X.reshape(-1, 28, 28):
                ndimage.affine_transform(image, linear, offset, order=1, mode="grid-constant")

    return Ratio(
        "orbit of 100 digits, 81 affine maps",
        "scipy.ndimage, image by image",
        ratio(lambda: family.orbit(X), image_by_image, repeats=3),
    )


def _stream_against_gemm():
    rng = np.random.RandomState(0)
    X = rng.rand(200, 784).astype(np.float32)
    templates = rng.randn(784, 300).astype(np.float32)
    family = Translation(3) * Rotation(20, n_steps=5)
    orbit = family.orbit(X[:40]).reshape(-1, 784)

    def stream():
        for _ in family.iter_orbit(X[:40]):
            pass

    return Ratio(
        "streaming the orbit of 40 digits, 245 affine maps",
        "projecting it on 300 templates (GEMM)",
        ratio(stream, lambda: orbit @ templates),
    )


def _worst_scaling():
    rng = np.random.RandomState(0)
    n, d, words = 4000, 206908, 200
    # word frequencies are similar to those of texts: a few frequent words, many rare ones
    indices = (d * rng.rand(n * words) ** 4).astype(np.int32)
    counts = rng.poisson(1, n * words) + 1.0
    X = sparse.csr_matrix((counts, indices, np.arange(0, n * words + 1, words)), shape=(n, d))
    X.sum_duplicates()
    w, sign = rng.randn(d), rng.choice([-1.0, 1.0], n)
    family = FeatureScaling(low=0.5, high=8, budget=10)

    def by_sorting():
        out = X.copy()
        for i in range(n):
            row = slice(out.indptr[i], out.indptr[i + 1])
            part = sign[i] * w[out.indices[row]] * out.data[row]
            gain = np.where(part < 0, part * (1 - 8), part * (1 - 0.5))
            chosen = np.argsort(-gain)[:10]
            factor = np.where(part[chosen] < 0, 8, 0.5)
            out.data[row][chosen] *= np.where(gain[chosen] > 0, factor, 1)
        return out

    def worst():
        return family.worst_case(X, w, sign)

    np.testing.assert_allclose(by_sorting() @ w, worst()[0] @ w)
    what = "FeatureScaling.worst_case, 4,000 x 206,908 sparse"
    yield Ratio(what, "sorting each row (numpy)", ratio(worst, by_sorting, repeats=3))
    yield Ratio(what, "one sparse mat-vec pass", ratio(worst, lambda: X @ w))
