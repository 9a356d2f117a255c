"""Samples and reference machines that tests of estimators share."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from invarlearn.datasets import load_mnist_sample


@pytest.fixture(scope="session")
def digits():
    """The digits of the package."""
    return load_mnist_sample()


@pytest.fixture(scope="session")
def sixty_digits(digits):
    """The first 60 training digits and their classes."""
    return digits.X_train[:60].astype(float), digits.y_train[:60]


@pytest.fixture(scope="session")
def iris():
    """The standardised iris data: X, y."""
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.fixture(scope="session")
def two_blobs():
    """Samples of two overlapping classes, and rows to predict: X, y, Z."""
    X, y = make_blobs(60, 3, centers=2, cluster_std=4.0, random_state=0)
    return X / 4, y, np.random.RandomState(1).standard_normal((20, 3))


@pytest.fixture(scope="session")
def crammer_singer():
    """A function that fits scikit-learn's multiclass SVM of Crammer and Singer."""

    def fit(X, y, **params):
        svc = LinearSVC(multi_class="crammer_singer", tol=1e-10, max_iter=200_000, **params)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return svc.fit(X, y)

    return fit
