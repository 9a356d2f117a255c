"""Elastic deformations against the interpolation of scipy and their documented size."""

import pickle

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from invarlearn.transforms import Elastic
from invarlearn.transforms.elastic import displacement


@pytest.mark.parametrize(("fill", "mode"), [("zero", "constant"), ("edge", "nearest")])
def test_pixels_are_interpolated_at_the_displaced_positions(fill, mode):
    X = np.random.RandomState(0).rand(3, 9 * 12)
    family = Elastic(10.0, 2.0, fill=fill, shape=(9, 12))
    moved = family.draw(4, np.random.RandomState(1), X.shape[1]).act(X, 0, 4)
    rng = np.random.RandomState(1)
    for k in range(4):
        source = np.indices((9, 12)) + displacement((9, 12), 10.0, 2.0, rng)
        for x, row in zip(X, moved[:, k], strict=True):
            # scipy fades to zero between the last pixel and one pixel outside only when padded
            image = np.pad(x.reshape(9, 12), 20, mode="constant" if fill == "zero" else "edge")
            expected = map_coordinates(image, source + 20, order=1, mode=mode)
            np.testing.assert_allclose(row.reshape(9, 12), expected, atol=1e-7)


def test_colours_move_together():
    X = np.random.RandomState(0).rand(2, 8, 8, 3)
    moved = Elastic(6.0, 2.0, shape=(8, 8, 3)).sample(2, random_state=0)(X.reshape(2, -1))
    grey = Elastic(6.0, 2.0, shape=(8, 8)).sample(2, random_state=0)
    for channel in range(3):
        expected = grey(X[..., channel].reshape(2, -1))
        np.testing.assert_allclose(
            moved.reshape(2, 2, 8, 8, 3)[..., channel].reshape(2, 2, -1), expected
        )


@pytest.mark.parametrize(("alpha", "sigma"), [(34.0, 4.0), (8.0, 2.0)])
def test_displacements_have_the_documented_size(alpha, sigma):
    rng = np.random.RandomState(0)
    fields = np.array([displacement((28, 28), alpha, sigma, rng) for _ in range(300)])
    assert fields.std() == pytest.approx(0.16 * alpha / sigma, rel=0.05)
    # at the border as in the middle
    assert fields[..., 0, :].std() == pytest.approx(fields[..., 14, :].std(), rel=0.15)


def test_alpha_zero_is_the_identity_and_signals_stay_on_their_line():
    X = np.random.RandomState(0).rand(2, 64)
    transformed = Elastic(0.0).sample(3, random_state=0)(X)
    np.testing.assert_allclose(transformed, np.repeat(X[:, None], 3, axis=1))
    field = displacement((1, 20), 5.0, 2.0, np.random.RandomState(0))
    assert not field[0].any()
    assert field[1].any()


def test_elements_can_be_pickled():
    X = np.random.RandomState(0).rand(2, 64)
    elements = Elastic(5.0, 2.0).with_shape((8, 8)).sample(3, random_state=0)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(elements))(X), elements(X))


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (Elastic(alpha=-1.0), "alpha=-1.0"),
        (Elastic(sigma=np.nan), "sigma=nan"),
        (Elastic(fill="mirror"), "fill='mirror' is unknown"),
    ],
)
def test_bad_parameters_get_clear_errors(family, message):
    with pytest.raises(ValueError, match=message):
        family.sample(2, random_state=0)(np.ones((1, 64)))


def test_orbits_get_an_error_with_a_hint():
    with pytest.raises(ValueError, match=r"cannot be listed: draw .* family.sample\(k\)"):
        Elastic().orbit(np.ones((1, 64)))
