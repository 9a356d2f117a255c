"""The number of rows up to which a kernel is definite."""

import numpy as np
import pytest

from invarlearn.kernels import (
    RBF,
    Linear,
    OrbitKernel,
    Polynomial,
    definite_bound,
    definite_up_to,
)
from invarlearn.transforms import Translation


def test_the_linear_kernel_is_definite_up_to_the_rank():
    X = np.random.RandomState(0).randn(30, 12)
    assert definite_up_to(Linear(), X) == 12
    assert definite_up_to(RBF(1.0), X) == 30
    assert definite_up_to(Linear(), np.zeros((3, 2))) == 0


@pytest.mark.parametrize("degree", [1, 4])
def test_definite_up_to_agrees_with_trying_every_size(degree):
    X = np.random.RandomState(0).rand(60, 36)
    kernel = OrbitKernel(Polynomial(degree, gamma=1 / 36), Translation(None, wrap=True))
    gram = kernel(X)
    smallest = [np.linalg.eigvalsh(gram[:n, :n]) for n in range(1, 61)]
    definite = [values[0] > 1e-10 * values[-1] for values in smallest]
    expected = definite.index(False) if False in definite else 60
    assert definite_up_to(kernel, X) == expected
    assert expected > 0


def test_higher_degrees_stay_definite_longer():
    X = np.random.RandomState(0).rand(60, 36)
    family = Translation(None, wrap=True)
    low, high = (definite_up_to(OrbitKernel(Polynomial(d, 1 / 36), family), X) for d in (1, 8))
    assert low < high < 60


def test_definite_bound_is_that_of_the_theorem():
    identity = np.ones(784)
    assert definite_bound(identity) == pytest.approx(5.42, abs=0.01)
    assert definite_bound(identity, epsilon=1.0) == pytest.approx(2.1, abs=0.01)
    # a spectrum that falls as 1 / k^2 breaks the theorem's assumption
    assert definite_bound(1 / np.arange(1, 785) ** 2) == 0.0
    with pytest.raises(ValueError, match="eigenvalues must be"):
        definite_bound([-1.0, 2.0])
    with pytest.raises(ValueError, match="epsilon=2"):
        definite_bound(identity, epsilon=2)
