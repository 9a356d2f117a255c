"""Changes of intensities against their formulas."""

import numpy as np
import pytest

from invarlearn.transforms import Brightness, Contrast, Gamma, Rotation, parse_family


def rows(n=4, d=64):
    return np.random.RandomState(0).rand(n, d)


def test_elements_are_the_formulas():
    X = rows()
    brighter = Brightness(0.2, n_steps=5).orbit(X)
    for j, amount in enumerate([0, -0.2, -0.1, 0.1, 0.2]):
        np.testing.assert_allclose(brighter[:, j], X + amount)
    flatter, sharper = Contrast(1.5).orbit(X)[:, 1:].transpose(1, 0, 2)
    mean = X.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(sharper, mean + 1.5 * (X - mean))
    np.testing.assert_allclose(flatter, mean + (X - mean) / 1.5)
    lighter, darker = Gamma(2.0).orbit(X)[:, 1:].transpose(1, 0, 2)
    np.testing.assert_allclose(darker, X**2)
    np.testing.assert_allclose(lighter, np.sqrt(X))


def test_gamma_keeps_signs_and_zeros():
    X = np.array([[-4.0, 0.0, 4.0, 1.0]])
    np.testing.assert_allclose(Gamma(2.0).orbit(X)[0, 1], [-2, 0, 2, 1])
    assert np.isfinite(Gamma(2.0).tangents(X)).all()
    assert Gamma(2.0).tangents(X, smoothing=0)[0, 0, 1] == 0


@pytest.mark.parametrize("family", [Brightness(), Contrast(), Gamma()], ids=repr)
def test_changes_add_up(family):
    """Two changes, by s and t, are the change by s + t: a group with one parameter."""
    X, family = rows(), family.with_shape((8, 8))
    twice = family.change(family.change(X, 0.3), -0.1)
    np.testing.assert_allclose(twice, family.change(X, 0.2))


def test_the_mean_of_all_channels_stays():
    X = rows(d=48)
    changed = Contrast(2.0, shape=(4, 4, 3)).sample(20, random_state=0)(X)
    np.testing.assert_allclose(changed.mean(axis=2), X.mean(axis=1)[:, None].repeat(20, axis=1))


@pytest.mark.parametrize(
    ("family", "size"),
    [
        (Brightness(0.2), lambda X, Z: (Z - X)[0, 0]),
        (Contrast(1.5), lambda X, Z: np.log(Z.std() / X.std())),
        (Gamma(1.5), lambda X, Z: np.log(np.log(Z[0, 0]) / np.log(X[0, 0]))),
    ],
    ids=["brightness", "contrast", "gamma"],
)
def test_random_elements_fill_the_range_evenly(family, size):
    X = rows(1)
    sizes = np.sort([size(X, element(X)) for element in family.sample(2000, random_state=0)])
    limit = family.limit()
    assert -limit <= sizes[0]
    assert sizes[-1] <= limit
    uniform = np.linspace(-limit, limit, len(sizes))
    assert np.abs(sizes - uniform).max() < 0.1 * limit


def test_specifications():
    family = parse_family("brightness:0.2 contrast:1.5 gamma")
    assert repr(family) == "Brightness(amount=0.2) * Contrast(factor=1.5) * Gamma()"
    assert repr(family.scaled(2)) == (
        "Brightness(amount=0.4) * Contrast(factor=2.25) * Gamma(exponent=1.5625)"
    )


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (Brightness(-1), "amount=-1"),
        (Contrast(0.5), "factor=0.5"),
        (Gamma(0.9), "exponent=0.9"),
        (Brightness(n_steps=2), "n_steps=2 must be odd"),
    ],
    ids=repr,
)
def test_bad_parameters_get_clear_errors(family, message):
    with pytest.raises(ValueError, match=message):
        family.orbit(np.ones((1, 64)))


def test_flat_images_have_no_contrast():
    """Also at the border, where smoothed images would fade to zero."""
    flat = np.full((2, 64), 0.7)
    assert np.abs(Contrast().tangents(flat)).max() < 1e-12
    np.testing.assert_allclose(Gamma().tangents(flat), 0.7 * np.log(0.7))
    both = Contrast() * Rotation(15, fill="edge")
    np.testing.assert_allclose(both.tangents(flat), 0, atol=1e-12)
