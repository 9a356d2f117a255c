"""Samples and models that tests of the application share."""

import numpy as np
import pytest

from invarlearn import Budget, RLSClassifier
from invarlearn.app.models import Model
from invarlearn.app.readers import RowSource
from invarlearn.app.routes import RouteSettings
from invarlearn.datasets import load_mnist_sample
from invarlearn.transforms import Identity


@pytest.fixture
def settings():
    """Settings of routes with few copies and few elements."""
    return RouteSettings(max_elements=20, budget=Budget(max_copies=3))


@pytest.fixture
def digits():
    """A function that returns digits, the first ones of the classes below ``n_classes``."""
    return digit_rows


def digit_rows(n=40, n_classes=10, colours=False):
    sample = load_mnist_sample()
    rows = np.flatnonzero(sample.y_train < n_classes)[:n]
    X, shape = sample.X_train[rows], (28, 28)
    if colours:
        # yellow ink
        X, shape = (X[:, :, None] * np.float32([1, 0.8, 0])).reshape(len(X), -1), (28, 28, 3)
    return RowSource(X, sample.y_train[rows].astype(str), [str(i) for i in rows], shape, {})


@pytest.fixture
def waves():
    """A function that returns noisy waves of two frequencies."""
    return wave_rows


def wave_rows(n=40):
    rng = np.random.RandomState(0)
    X = np.sin(np.arange(24) * (1 + np.arange(n)[:, None] % 2)) + 0.2 * rng.randn(n, 24)
    return RowSource(X, np.arange(n) % 2, [str(i) for i in range(n)], None, {})


@pytest.fixture
def model(small_model):
    """A small model of rows with one feature."""
    return small_model()


@pytest.fixture
def small_model():
    """A function that returns a small model of rows with one feature."""
    return build_small_model


def build_small_model():
    estimator = RLSClassifier().fit([[0.0], [1.0], [0.1], [0.9]], ["a", "b", "a", "b"])
    settings = {"kind": "rows", "n_features": 1, "columns": ["x"], "label": "class"}
    return Model(estimator, 1.0, settings, Identity(), "features", (0.5, 0.1, 0.9), 2)
