"""Additive noise: its distribution, and that it belongs to the element."""

import pickle

import numpy as np
import pytest
from scipy.stats import kstest

from invarlearn.transforms import Noise, Sampled


def test_noise_is_normal_with_up_to_the_given_deviation():
    elements = Noise(0.3).with_shape((30, 30)).sample(200, random_state=0)
    noise = elements(np.zeros((1, 900)))[0]
    deviations = noise.std(axis=1)
    assert deviations.max() < 0.33
    # evenly distributed deviations
    assert kstest(deviations / 0.3, "uniform").pvalue > 0.01
    assert kstest(noise[0] / deviations[0], "norm").pvalue > 0.01
    correlations = np.corrcoef(noise) - np.eye(200)
    assert np.abs(correlations).max() < 0.2


def test_an_element_adds_the_same_noise_to_every_row():
    X = np.random.RandomState(0).rand(4, 64)
    elements = Noise().sample(3, random_state=1)
    added = elements(X) - X[:, None]
    np.testing.assert_allclose(added, added[:1].repeat(4, axis=0), atol=1e-12)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(elements))(X), elements(X))


def test_noise_has_no_list_and_no_tangents():
    X = np.ones((2, 64))
    with pytest.raises(ValueError, match="cannot be listed"):
        Noise().orbit(X)
    assert Noise().tangents(X).shape == (2, 0, 64)
    assert Sampled(Noise(), 5).orbit(X).shape == (2, 6, 64)
    with pytest.raises(ValueError, match="sigma=-1"):
        Noise(-1).sample(1, random_state=0)(X)
