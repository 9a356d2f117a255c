"""Training draws and test sets that experiments share."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from invarlearn.datasets import fetch_letters, fetch_mnist

_FETCH = {"MNIST": fetch_mnist, "letters": fetch_letters}


@lru_cache(maxsize=2)
def _loaded(name: str) -> Bunch:
    return _FETCH[name]()


def draw(
    name: str, n_labels: int, n_test: int, seed: int
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Draw labelled training rows at random (not class-balanced), and test rows.

    Returns
    -------
    X_train, y_train, X_test, y_test
        The test rows are all of them, or ``n_test`` drawn at random (the first ones of MNIST are
        harder than the rest).
    """
    data = _loaded(name)
    rng = np.random.RandomState(seed)
    rows = rng.choice(len(data.X_train), n_labels, replace=False)
    size = len(data.X_test)
    test = np.arange(size) if n_test >= size else rng.choice(size, n_test, replace=False)
    return data.X_train[rows], data.y_train[rows], data.X_test[test], data.y_test[test]


def drawn_by_class(
    name: str, n_per_class: int, n_test: int, seed: int
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Draw so many training rows of each class, and test rows; as :func:`draw` otherwise."""
    data = _loaded(name)
    rng = np.random.RandomState(seed)
    rows = np.concatenate(
        [
            rng.choice(np.flatnonzero(data.y_train == label), n_per_class, replace=False)
            for label in np.unique(data.y_train)
        ]
    )
    size = len(data.X_test)
    test = np.arange(size) if n_test >= size else rng.choice(size, n_test, replace=False)
    return data.X_train[rows], data.y_train[rows], data.X_test[test], data.y_test[test]


def held_out(n_labels: int, n_test: int, seed: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Draw training images of MNIST to learn from, and others of them to read, for choices."""
    data = _loaded("MNIST")
    order = np.random.RandomState(1000 + seed).permutation(len(data.X_train))
    rows, others = order[:n_labels], order[50000 : 50000 + n_test]
    return data.X_train[rows], data.y_train[rows], data.X_train[others], data.y_train[others]
