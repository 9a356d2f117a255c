"""Oriented gradients against the same steps by scipy."""

import numpy as np
import pytest
from scipy import ndimage

from invarlearn.datasets import load_mnist_sample
from invarlearn.features import OrientedGradients
from invarlearn.features.oriented import despike, noise_level


def by_scipy(
    image, n_orientations=8, blur=1.0, step=2, margin=2, contrast=3.0, floor=0.1, threshold=0.0
):
    """Return the features by their definition, one map at a time."""
    padded = np.pad(image, 1)
    down = (padded[2:, 1:-1] - padded[:-2, 1:-1]) / 2
    right = (padded[1:-1, 2:] - padded[1:-1, :-2]) / 2
    size = np.hypot(down, right)
    size = np.clip(size - threshold * size.max(), 0, None)
    around = ndimage.gaussian_filter(size**2, contrast, mode="constant", truncate=3.0)
    size = size / (np.sqrt(around) + floor * size.max())
    place = np.arctan2(down, right) / (2 * np.pi) % 1.0 * n_orientations
    maps = []
    for k in range(n_orientations):
        away = np.abs(place - k)
        share = np.clip(1 - np.minimum(away, n_orientations - away), 0, None)
        plane = np.pad(size * share, 12)
        # values between pixels, by explicit Gaussian weights
        rows, columns = (-(-(side + 2 * margin) // step) for side in image.shape)
        out = np.empty((rows, columns))
        for r in range(rows):
            for c in range(columns):
                at = [12 + i * step + (step - 1) / 2 - margin for i in (r, c)]
                weights = [
                    np.exp(-0.5 * ((np.arange(side) - x) / blur) ** 2)
                    for side, x in zip(plane.shape, at, strict=True)
                ]
                weights = [w / w.sum() for w in weights]
                out[r, c] = weights[0] @ plane @ weights[1]
        maps.append(out)
    roots = np.sqrt(np.stack(maps, axis=-1))
    return (roots / np.linalg.norm(roots)).ravel()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_orientations": 4, "blur": 1.5, "step": 3, "margin": 0, "floor": 0.3},
        {"threshold": 0.3, "floor": 0.6},
    ],
)
def test_equals_the_steps_by_scipy(options):
    X = load_mnist_sample().X_train[:3].astype(float)
    features = OrientedGradients(**options).fit_transform(X)
    truth = np.stack([by_scipy(x.reshape(28, 28), **options) for x in X])
    # the blur of the library is truncated after a few standard deviations
    np.testing.assert_allclose(features, truth, atol=0.01)
    assert np.corrcoef(features.ravel(), truth.ravel())[0, 1] > 0.9995


def test_shapes_norms_and_names():
    X = load_mnist_sample().X_train[:5]
    gradients = OrientedGradients().fit(X)
    features = gradients.transform(X)
    assert gradients.shape_ == (16, 16, 8)
    assert features.shape == (5, 2048)
    assert features.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1, rtol=1e-5)
    assert len(gradients.get_feature_names_out()) == 2048
    assert OrientedGradients(shape=(14, 56)).fit(X).shape_ == (9, 30, 8)
    assert OrientedGradients(shape=(1, -1)).fit(X).shape_ == (1, 394, 8)


def test_features_do_not_depend_on_contrast():
    X = load_mnist_sample().X_train[:5]
    gradients = OrientedGradients().fit(X)
    np.testing.assert_allclose(gradients.transform(3 * X), gradients.transform(X), atol=1e-5)


def test_a_quarter_rotation_permutes_positions_and_orientations():
    images = load_mnist_sample().X_train[:4].astype(float).reshape(-1, 28, 28)
    gradients = OrientedGradients().fit(images.reshape(4, -1))
    there = gradients.transform(images.reshape(4, -1)).reshape(4, 16, 16, 8)
    rotated = np.rot90(images, axes=(1, 2)).reshape(4, -1)
    here = gradients.transform(rotated).reshape(4, 16, 16, 8)
    # rows grow downward, so counterclockwise lowers the angle by a quarter, two of eight
    expected = np.roll(np.rot90(there, axes=(1, 2)), -2, axis=3)
    np.testing.assert_allclose(here, expected, atol=1e-10)


def test_channels_take_the_strongest_gradient():
    grey = load_mnist_sample().X_train[:3].astype(float)
    colour = np.stack([0.2 * grey, grey, 0.5 * grey], axis=-1).reshape(3, -1)
    for threshold in (0.0, 0.3):
        features = OrientedGradients(threshold=threshold, shape=(28, 28, 3)).fit_transform(colour)
        expected = OrientedGradients(threshold=threshold).fit_transform(grey)
        np.testing.assert_allclose(features, expected, atol=1e-12)


def test_an_empty_image_has_no_gradients():
    X = np.zeros((2, 64))
    X[1] = 1
    features = OrientedGradients(margin=0).fit_transform(X)
    assert np.isfinite(features).all()
    assert not features[0].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_orientations": 1}, "n_orientations=1"),
        ({"step": 0}, "step=0"),
        ({"blur": -1}, "blur=-1"),
        ({"smooth": -1}, "smooth=-1"),
        ({"threshold": 1.5}, "threshold=1.5"),
        ({"shape": (5, 5)}, "25 features"),
        ({"shape": (3, -1)}, "features"),
    ],
)
def test_bad_parameters_get_clear_errors(options, message):
    with pytest.raises(ValueError, match=message):
        OrientedGradients(**options).fit(np.ones((2, 64)))


def test_parameters_changed_after_fit_have_no_effect():
    X = load_mnist_sample().X_train[:3]
    gradients = OrientedGradients().fit(X)
    before = gradients.transform(X)
    gradients.set_params(n_orientations=64, step=3, blur=2.0)
    np.testing.assert_array_equal(gradients.transform(X), before)
    assert gradients.fit_transform(X).shape == (3, 11 * 11 * 64)


@pytest.mark.parametrize("blur", [0, 0.005, 0.05, 0.3, 5.0])
def test_any_blur_returns_unit_rows(blur):
    features = OrientedGradients(blur=blur).fit_transform(load_mnist_sample().X_train[:2])
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1, rtol=1e-5)


def test_a_floor_of_zero_returns_unit_rows():
    features = OrientedGradients(floor=0).fit_transform(load_mnist_sample().X_train[:2])
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("shape", [(14, 14), (7, 28), (7, 14, 2)])
def test_smooth_blurs_images_before_the_gradients(shape):
    X = np.random.RandomState(0).rand(5, 196)
    blurred = [
        ndimage.gaussian_filter(image, (1.4, 1.4, 0)[: len(shape)], mode="constant")
        for image in X.reshape(5, *shape)
    ]
    expected = OrientedGradients(shape=shape).fit_transform(np.reshape(blurred, (5, -1)))
    smoothed = OrientedGradients(smooth=1.4, shape=shape).fit_transform(X)
    np.testing.assert_allclose(smoothed, expected, atol=1e-10)


@pytest.mark.parametrize("shape", [(9, 12), (1, 12), (9, 1), (2, 2), (1, 1)])
def test_despiked_pixels_are_in_the_range_of_their_neighbours(shape):
    images = np.random.RandomState(0).rand(3, *shape, 2)
    images[0, shape[0] // 2, shape[1] // 2] = 50
    despiked = despike(images)
    footprint = np.ones((3, 3))
    footprint[1, 1] = 0
    footprint = footprint[tuple(slice(None) if side > 1 else slice(1, 2) for side in shape)]
    if footprint.any():
        for image, cleaned in zip(
            np.moveaxis(images, 3, 1), np.moveaxis(despiked, 3, 1), strict=True
        ):
            for plane, clean in zip(image, cleaned, strict=True):
                low, high = (
                    one(plane, footprint=footprint, mode="mirror")
                    for one in (ndimage.minimum_filter, ndimage.maximum_filter)
                )
                np.testing.assert_array_equal(clean, np.clip(plane, low, high))
    else:
        np.testing.assert_array_equal(despiked, images)
    rows = images.reshape(3, -1)
    gradients = OrientedGradients(despike=True, shape=(*shape, 2)).fit(rows)
    expected = OrientedGradients(shape=(*shape, 2)).fit_transform(despiked.reshape(3, -1))
    np.testing.assert_allclose(gradients.transform(rows), expected, atol=1e-12)


def test_the_noise_level_ignores_hot_pixels():
    rng = np.random.RandomState(0)
    X = load_mnist_sample().X_train[:50] + 0.05 * rng.randn(50, 784)
    before = noise_level(X, (28, 28))
    X[np.arange(50), rng.randint(784, size=50)] = 40
    assert noise_level(X, (28, 28)) == pytest.approx(before, rel=0.1)
    assert 0.02 < before < 0.1


def test_gradients_below_the_threshold_are_zero():
    image = np.zeros((1, 30, 30))
    image[:, 5:25, 5:10] = 1.0
    image[:, 5:25, 20:25] = 0.2
    # edges of the second bar are a fifth as strong
    bars = [(slice(None), slice(None), slice(None, 7)), (slice(None), slice(None), slice(10, None))]
    for threshold, faint in ((0.0, True), (0.15, True), (0.25, False)):
        gradients = OrientedGradients(threshold=threshold).fit(image.reshape(1, -1))
        maps = gradients.transform(image.reshape(1, -1)).reshape(1, *gradients.shape_)
        assert maps[bars[0]].max() > 0
        assert (maps[bars[1]].max() > 0) == faint
    features = OrientedGradients(threshold=1.0).fit_transform(image.reshape(1, -1))
    np.testing.assert_array_equal(features, 0)
