"""Local kernel features against the kernel itself, summed patch by patch."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from sklearn.base import clone

from invarlearn.features import LocalKernelFeatures
from invarlearn.features.local import pooling_windows


def images(n, shape, seed=0):
    return np.abs(np.random.RandomState(seed).standard_normal((n, int(np.prod(shape)))))


def brute_force(X, shape, width, beta, step, blur):
    """Return the normalised kernel, summed over pairs of patches in the same pooling window."""
    height, across = (min(width, side) for side in shape[:2])
    maps = X.reshape(len(X), *shape)
    down = pooling_windows(shape[0] - height + 1, step, blur)
    right = pooling_windows(shape[1] - across + 1, step, blur)
    patches = [
        [maps[:, i : i + height, j : j + across].reshape(len(X), -1) for j in range(right.shape[1])]
        for i in range(down.shape[1])
    ]
    K = np.zeros((len(X), len(X)))
    for a in down:
        for b in right:
            weighted = [(a[i] * b[j], patches[i][j]) for i in range(len(a)) for j in range(len(b))]
            for v, p in weighted:
                for w, q in weighted:
                    norms = np.outer(np.linalg.norm(p, axis=1), np.linalg.norm(q, axis=1))
                    cosine = np.divide(p @ q.T, norms, out=np.zeros_like(norms), where=norms > 0)
                    K += v * w * norms * np.exp(beta * (cosine - 1))
    roots = np.sqrt(K.diagonal())
    return K / np.outer(roots, roots)


@pytest.mark.parametrize("shape", [(6, 5, 2), (1, 9, 1), (7, 4, 1)], ids=str)
@pytest.mark.parametrize(("beta", "blur"), [(1.0, 1.0), (3.0, 0.0)])
def test_enough_landmarks_reproduce_the_kernel(shape, beta, blur):
    X = images(4, shape)
    X[0, : X.shape[1] // 2] = 0  # blank patches
    features = LocalKernelFeatures(1000, 3, beta, 2, blur, shape=shape, random_state=0).fit(X)
    F = features.transform(X)
    expected = brute_force(X, shape, 3, beta, 2, blur)
    np.testing.assert_allclose(F @ F.T, expected, atol=2e-3)
    assert features.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(features.transform(X.astype(np.float32)), F, atol=1e-3)


def test_more_landmarks_reduce_the_error():
    X = images(6, (8, 8, 2))
    expected = brute_force(X, (8, 8, 2), 3, 2.0, 2, 1.0)
    errors = []
    for m in (4, 16, 64):
        features = LocalKernelFeatures(m, 3, 2.0, 2, 1.0, shape=(8, 8, 2), random_state=0)
        F = features.fit_transform(X)
        errors.append(np.abs(F @ F.T - expected).max())
    assert errors[0] > errors[1] > errors[2]


def test_a_shift_changes_features_less_than_pixels():
    X = gaussian_filter(images(10, (16, 16)).reshape(-1, 16, 16), (0, 1, 1))
    X -= X.mean(axis=(1, 2), keepdims=True)
    shifted = np.roll(X, 1, axis=2).reshape(10, -1)
    X = X.reshape(10, -1)
    features = LocalKernelFeatures(64, blur=2.0, random_state=0).fit(X)

    def cosines(A, B):
        return (A * B).sum(1) / np.linalg.norm(A, axis=1) / np.linalg.norm(B, axis=1)

    ours, pixels = cosines(features.transform(X), features.transform(shifted)), cosines(X, shifted)
    assert ((1 - ours) < 0.5 * (1 - pixels)).all()


def test_rows_do_not_depend_on_each_other_and_zero_rows_stay_zero():
    X = images(300, (10, 10))
    X[7] = 0
    features = LocalKernelFeatures(32, random_state=0).fit(X)
    F = features.transform(X)
    assert F.shape == (300, 3 * 3 * 32)
    assert features.shape_ == (3, 3, 32)
    np.testing.assert_allclose(features.transform(X[5:6]), F[5:6], atol=1e-10)
    assert not F[7].any()
    np.testing.assert_allclose(np.linalg.norm(np.delete(F, 7, axis=0), axis=1), 1)
    np.testing.assert_array_equal(clone(features).fit(X).transform(X), F)


@pytest.mark.parametrize("n", [1, 2, 7, 14])
@pytest.mark.parametrize("step", [1, 2, 3, 20])
def test_windows_are_symmetric_and_reach_every_place(n, step):
    weights = pooling_windows(n, step, 1.0)
    np.testing.assert_allclose(weights, weights[::-1, ::-1])
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    if step <= 3:
        assert (weights.max(axis=0) > 0.1).all()


def test_landmarks_are_chosen_from_a_sample_of_limited_size():
    X = images(40, (8, 8))
    by_rows = LocalKernelFeatures(500, sample_rows=2, random_state=0).fit(X)
    assert by_rows.landmarks_.shape == (2 * 6 * 6, 9)
    by_patches = LocalKernelFeatures(500, sample_patches=30, random_state=0).fit(X)
    assert by_patches.landmarks_.shape == (30, 9)
    # patches of a row take 6 x 6 x 9 numbers of 8 bytes
    by_bytes = LocalKernelFeatures(500, sample_bytes=6 * 6 * 9 * 8 * 3, random_state=0).fit(X)
    assert by_bytes.landmarks_.shape == (3 * 6 * 6, 9)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"sample_patches": 0}, "sample_patches=0"),
        ({"sample_rows": 0}, "sample_rows=0"),
        ({"n_landmarks": 0}, "n_landmarks=0"),
        ({"beta": 0.0}, "beta=0.0"),
        ({"blur": -1.0}, "blur=-1.0"),
        ({"shape": (3, 5)}, "shape"),
    ],
)
def test_bad_parameters_get_clear_errors(params, message):
    with pytest.raises(ValueError, match=message):
        LocalKernelFeatures(**params).fit(images(5, (6, 6)))


def test_empty_images_get_a_clear_error():
    with pytest.raises(ValueError, match="all rows are zero"):
        LocalKernelFeatures().fit(np.zeros((5, 36)))
