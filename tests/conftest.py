"""Fixtures that tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from sklearn.utils import Bunch

from invarlearn.datasets import load_mnist_sample

# the same examples in every run: a failure must be the change's, not the day's
settings.register_profile("repeatable", derandomize=True, deadline=None)
# `make fuzz`: many, and other ones every time
settings.register_profile(
    "fuzz", max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture
def real_data():
    """The folder with real data; tests that need it skip, and say so, without."""
    folder = os.environ.get("INVARLEARN_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("real data needed: set INVARLEARN_DATA to the folder that has them")
    return Path(folder)


@pytest.fixture
def few_test_digits():
    """The digits of the package, with fewer to be read: for tests of what reads them all."""
    digits = load_mnist_sample()
    return Bunch(**{**digits, "X_test": digits.X_test[:300], "y_test": digits.y_test[:300]})


@pytest.fixture
def few_copies(monkeypatch):
    """Fewer copies of samples than users get, where InvariantClassifier is as it is."""
    monkeypatch.setattr("invarlearn.estimators._copies.MOST_ROWS", 2000)
    monkeypatch.setattr("invarlearn.estimators._copies.CHOICE_ROWS", 600)
