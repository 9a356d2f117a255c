"""Samples and small estimators that the tests of the stages share."""

import numpy as np
import pytest

from invarlearn import InvariantClassifier
from invarlearn.datasets import load_mnist_sample
from invarlearn.estimators.invariant.plan import prepare_samples, resolve_plan


@pytest.fixture(scope="session")
def digits():
    return load_mnist_sample()


@pytest.fixture(scope="session")
def small():
    """A function that returns a classifier with few copies and features."""

    def make(**params):
        return InvariantClassifier(
            **{"n_copies": 8, "n_landmarks": 64, "n_components": 200} | params
        )

    return make


@pytest.fixture(scope="session")
def quick(small):
    """A function that returns a classifier with even fewer copies and features."""

    def make(**params):
        return small(**{"n_copies": 3, "n_landmarks": 32} | params)

    return make


@pytest.fixture(scope="session")
def model(digits, small):
    """A classifier fitted to 60 digits."""
    return small().fit(digits.X_train[:60], digits.y_train[:60])


@pytest.fixture(scope="session")
def plan_of():
    """A function that returns the plan and the samples of an estimator that is not fitted."""

    def make(estimator, X, y, groups=None):
        targets, X, Y = estimator.coding.encode(estimator, X, y)
        plan = resolve_plan(estimator, targets, X, groups)
        return plan, prepare_samples(plan, X, Y, groups)

    return make


@pytest.fixture(scope="session")
def slides():
    """A function that returns samples of two classes from slides, and the slide of each.

    The class shifts the first column a little. Each slide has a large offset of its own for each
    class, so that samples of other slides hardly help.
    """

    def make(n_groups, each, seed):
        rng = np.random.RandomState(seed)
        groups = np.repeat(np.arange(n_groups), each)
        y = np.arange(n_groups * each) % 2
        offsets = rng.randn(n_groups, 2, 40)
        X = offsets[groups, y] + 0.3 * rng.randn(len(y), 40)
        X[:, 0] += 0.5 * y
        return X, y, groups

    return make
