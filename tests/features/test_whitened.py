"""Whitened patches against loops over patches, with the inverse root of scipy."""

import numpy as np
import pytest
from scipy.linalg import inv, sqrtm
from sklearn import config_context
from sklearn.base import clone

from invarlearn.features import WhitenedPatches
from invarlearn.features.local import pooling_windows


def images(n, shape, seed=0):
    return np.random.RandomState(seed).rand(n, int(np.prod(shape)))


def patches_of(image, height, width):
    """All patches of an image (h, w, c), by their upper left pixel."""
    rows, columns = image.shape[0] - height + 1, image.shape[1] - width + 1
    return [
        [image[i : i + height, j : j + width].transpose(2, 0, 1).ravel() for j in range(columns)]
        for i in range(rows)
    ]


def by_loops(X, shape, window, n_windows, blur, threshold, contrast, whitening):
    """Return the features if every training patch is a filter."""
    nested = [patches_of(x.reshape(shape), *window) for x in X]
    raw = [p for image in nested for line in image for p in line]
    floor = contrast * np.std(raw)

    def normalise(p):
        return (p - p.mean()) / np.sqrt(p.var() + floor**2)

    every = np.array([normalise(p) for p in raw])
    mean, covariance = every.mean(axis=0), np.cov(every.T, bias=True)
    largest = np.linalg.eigvalsh(covariance)[-1]
    whiten = inv(sqrtm(covariance + whitening * largest * np.eye(len(mean)))).real
    filters = np.array([whiten @ (q - mean) for q in every])
    filters /= np.linalg.norm(filters, axis=1, keepdims=True)
    features = []
    for image in nested:
        n_down, n_right = len(image), len(image[0])
        distances = [-(-n // n_windows) for n in (n_down, n_right)]
        down, right = (
            pooling_windows(n, d, blur * d)
            for n, d in zip((n_down, n_right), distances, strict=True)
        )
        pooled = np.zeros((len(down), len(right), 2 * len(filters)))
        for i, line in enumerate(image):
            for j, p in enumerate(line):
                s = filters @ whiten @ (normalise(p) - mean) / np.sqrt(len(p))
                response = np.maximum(np.concatenate([s, -s]) - threshold, 0)
                pooled += np.outer(down[:, i], right[:, j])[..., None] * response
        feature = np.sqrt(pooled).ravel()
        features.append(feature / np.linalg.norm(feature))
    return np.array(features)


@pytest.mark.parametrize(
    ("shape", "width", "window"),
    [((7, 6, 3), 3, (3, 3)), ((8, 9, 1), None, (4, 4)), ((1, 12, 2), 3, (1, 3))],
    ids=str,
)
@pytest.mark.parametrize("blur", [0.0, 0.6])
def test_features_equal_the_formula(shape, width, window, blur):
    X = images(4, shape)
    whitened = WhitenedPatches(
        10_000, width, n_windows=2, blur=blur, shape=shape, random_state=0
    ).fit(X)
    F = whitened.transform(X)
    expected = by_loops(X, shape, window, 2, blur, 0.1, 0.15, 0.01)
    # the order of the filters is that of the drawn patches
    np.testing.assert_allclose(F @ F.T, expected @ expected.T, atol=1e-9)
    assert F.shape == expected.shape == (4, np.prod(whitened.shape_))
    np.testing.assert_allclose(whitened.transform(X.astype(np.float32)), F, atol=1e-4)


def test_light_and_contrast_hardly_matter():
    """Twice the contrast and more light change patches whose contrast is well above the floor."""
    X = images(20, (12, 12, 3))
    whitened = WhitenedPatches(16, contrast=0.01, shape=(12, 12, 3), random_state=0).fit(X)
    F = whitened.transform(X)
    np.testing.assert_allclose(whitened.transform(2 * X + 5), F, atol=1e-3)


def test_whitened_patches_are_uncorrelated():
    smooth = images(40, (20, 20)).reshape(-1, 20, 20).cumsum(axis=1).cumsum(axis=2)
    X = smooth.reshape(40, -1) / smooth.max()
    # as many filters as there are patches: their second moments are those of whitened patches
    whitened = WhitenedPatches(10_000, 3, whitening=1e-6, contrast=1e-6, sample_patches=4000)
    whitened.set_params(random_state=0).fit(X)
    windows = np.lib.stride_tricks.sliding_window_view(X.reshape(-1, 20, 20), (3, 3), axis=(1, 2))
    patches = windows.reshape(-1, 9)
    q = (patches - patches.mean(axis=1, keepdims=True)) / patches.std(axis=1, keepdims=True)
    responses = q @ whitened.filters_.T - whitened.offsets_
    assert np.abs(responses.mean(axis=0)).max() < 0.05
    # the variance of a whitened patch along any direction is 1, divided by the length
    np.testing.assert_allclose(responses.var(axis=0) * 9, 1, atol=0.15)


def test_features_do_not_depend_on_blocks_threads_and_other_rows():
    X = images(30, (16, 16, 3))
    whitened = WhitenedPatches(24, shape=(16, 16, 3), random_state=0).fit(X)
    F = whitened.transform(X)
    np.testing.assert_allclose(whitened.transform(X[11:12])[0], F[11], rtol=1e-10)
    with config_context(working_memory=1):
        np.testing.assert_allclose(whitened.transform(X), F, rtol=1e-10)
    again = clone(whitened).fit(X)
    np.testing.assert_array_equal(again.filters_, whitened.filters_)


def test_filters_are_learned_from_a_sample():
    X = images(50, (10, 10))
    few = WhitenedPatches(1000, sample_patches=30, sample_rows=5, random_state=0).fit(X)
    assert len(few.filters_) == 30
    assert few.shape_ == (4, 4, 60)
    assert WhitenedPatches(7, random_state=0).fit(X).shape_ == (4, 4, 14)


def test_colours_are_told_apart():
    """Red spots on green and green spots on red have equal gradients of their sum."""
    rng = np.random.RandomState(0)
    spots = (rng.rand(60, 16, 16) > 0.9).astype(float)
    red = np.stack([spots, 1 - spots, 0 * spots], axis=3).reshape(60, -1)
    green = np.stack([1 - spots, spots, 0 * spots], axis=3).reshape(60, -1)
    whitened = WhitenedPatches(32, shape=(16, 16, 3), random_state=0)
    F = whitened.fit_transform(np.concatenate([red[:40], green[:40]]))
    centres = F[:40].mean(axis=0), F[40:].mean(axis=0)
    for rows, own in ((red[40:], 0), (green[40:], 1)):
        new = whitened.transform(rows)
        distances = [np.linalg.norm(new - centre, axis=1) for centre in centres]
        assert (distances[own] < distances[1 - own]).all()


def test_rows_without_structure_have_features_of_zero():
    X = images(10, (8, 8))
    whitened = WhitenedPatches(8, threshold=100.0, random_state=0).fit(X)
    assert not whitened.transform(X).any()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_filters": 0}, "n_filters=0"),
        ({"width": 1.5}, "width=1.5"),
        ({"n_windows": 0}, "n_windows=0"),
        ({"blur": -1}, "blur=-1"),
        ({"threshold": -0.1}, "threshold=-0.1"),
        ({"contrast": 0}, "contrast=0"),
        ({"whitening": 0}, "whitening=0"),
        ({"sample_patches": 0}, "sample_patches=0"),
        ({"shape": (3, 3)}, "WhitenedPatches has shape"),
    ],
)
def test_bad_parameters_get_clear_errors(params, message):
    with pytest.raises(ValueError, match=message):
        WhitenedPatches(**params).fit(images(5, (6, 6)))


def test_constant_images_get_a_clear_error():
    with pytest.raises(ValueError, match="all training rows are constant"):
        WhitenedPatches().fit(np.ones((5, 36)))
