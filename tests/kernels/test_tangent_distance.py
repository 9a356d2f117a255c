"""The tangent-distance kernel against least squares and the nearest-neighbour classifier."""

import numpy as np
import pytest
from sklearn import config_context

from invarlearn import TangentDistanceClassifier
from invarlearn.datasets import load_mnist_sample
from invarlearn.kernels import RBF, TangentDistance
from invarlearn.testing import check_kernel
from invarlearn.transforms import Identity, Rotation, Thickness, Translation

FAMILY = Translation(1) * Rotation(10)


@pytest.fixture(scope="module")
def images():
    X = load_mnist_sample().X_train.astype(float)
    return X[:9], X[9:14]


def squared_distance(x, y, directions):
    """min over a of |x - y - directions' a|^2."""
    a = np.linalg.lstsq(directions.T, x - y, rcond=1e-10)[0]
    return float(((x - y - directions.T @ a) ** 2).sum())


@pytest.mark.parametrize("sides", [1, 2])
def test_values_are_gaussians_of_least_squares(images, sides):
    X, Y = images
    values = TangentDistance(FAMILY, gamma=0.02, sides=sides, smoothing=0)(X, Y)
    tangents_x, tangents_y = FAMILY.tangents(X, 0), FAMILY.tangents(Y, 0)
    for i, x in enumerate(X):
        for j, y in enumerate(Y):
            if sides == 2:
                both = np.concatenate([tangents_x[i], tangents_y[j]])
                squared = squared_distance(x, y, both)
            else:
                squared = np.mean(
                    [squared_distance(x, y, tangents_y[j]), squared_distance(y, x, tangents_x[i])]
                )
            assert values[i, j] == pytest.approx(np.exp(-0.02 * squared), rel=1e-5)


@pytest.mark.parametrize("sides", [1, 2])
def test_the_kernel_keeps_the_contract(images, sides):
    check_kernel(TangentDistance(FAMILY, sides=sides), *images)


def test_distances_are_those_of_the_nearest_neighbours(images):
    X, Y = images
    knn = TangentDistanceClassifier(n_neighbors=1).fit(Y, np.arange(len(Y)))
    distances, indices = knn.kneighbors(X)
    values = TangentDistance(gamma=1.0)(X, Y)
    nearest = -np.log(values[np.arange(len(X)), indices[:, 0]])
    # the ridges of both differ
    np.testing.assert_allclose(nearest, distances[:, 0] ** 2, rtol=1e-5)
    np.testing.assert_array_equal(values.argmax(axis=1), indices[:, 0])


def test_without_tangents_it_is_gaussian(images):
    X, Y = images
    values = TangentDistance(Identity(), gamma=0.01, smoothing=0)(X, Y)
    np.testing.assert_allclose(values, RBF(0.01)(X, Y), rtol=1e-7)


def test_the_default_gamma_is_one_over_the_number_of_features(images):
    X, Y = images
    default, given = TangentDistance(FAMILY), TangentDistance(FAMILY, gamma=1 / 784)
    np.testing.assert_array_equal(default(X, Y), given(X, Y))


def test_blocks_do_not_matter(images):
    X, Y = images
    kernel = TangentDistance(FAMILY * Thickness(1), gamma=0.02)
    with config_context(working_memory=1):
        in_blocks = kernel(X, Y)
    np.testing.assert_allclose(in_blocks, kernel(X, Y), rtol=1e-6)


@pytest.mark.parametrize(
    ("params", "message"),
    [({"sides": 3}, "sides=3 must be 1 or 2"), ({"gamma": -1.0}, "gamma=-1.0")],
)
def test_wrong_parameters_get_a_clear_error(images, params, message):
    with pytest.raises(ValueError, match=message):
        TangentDistance(FAMILY, **params)(images[0])


def test_a_family_that_is_text_gets_a_clear_error(images):
    with pytest.raises(TypeError, match="family='rotation' is not a Family: build one from"):
        TangentDistance("rotation")(images[0])
