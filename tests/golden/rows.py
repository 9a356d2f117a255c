"""The rows that cases are computed on: the packaged sample, and synthetic ones."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs, make_regression

from invarlearn.datasets import load_mnist_sample


@cache
def digits(
    n: int = 40, n_test: int = 20, classes: int = 10, side: int = 28
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return labelled digits and test digits of the packaged sample, with equal class counts.

    Images of 14 x 14 are means of 2 x 2 pixels.
    """
    sample = load_mnist_sample()
    parts = []
    for X, y, count in (
        (sample.X_train, sample.y_train, n),
        (sample.X_test, sample.y_test, n_test),
    ):
        each = [np.flatnonzero(y == label)[: count // classes] for label in range(classes)]
        chosen = np.sort(np.concatenate(each))
        images = X[chosen]
        if side == 14:
            images = images.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196)
        parts += [images, y[chosen]]
    return tuple(parts)


def uniform(n: int = 6, d: int = 64, seed: int = 0) -> NDArray:
    """Return rows that are uniform in [0, 1]."""
    return np.random.RandomState(seed).rand(n, d)


def normal(n: int = 6, d: int = 3, seed: int = 0) -> NDArray:
    """Return rows of normal numbers."""
    return np.random.RandomState(seed).standard_normal((n, d))


def blobs(n: int = 40, classes: int = 2) -> tuple[NDArray, NDArray, NDArray]:
    """Return a small classification problem that is not separable, and further rows."""
    X, y = make_blobs(n + 10, 3, centers=classes, cluster_std=4.0, random_state=0)
    return X[:n] / 4, y[:n], X[n:] / 4


def line(n: int = 40) -> tuple[NDArray, NDArray, NDArray]:
    """Return a small regression problem, and further rows."""
    X, y = make_regression(n + 10, 3, noise=5.0, random_state=0)
    return X[:n], y[:n] / y.std(), X[n:]


def waves(n: int = 40, d: int = 16, seed: int = 0) -> tuple[NDArray, NDArray, NDArray]:
    """Return randomly shifted rising and falling ramps with noise; and further rows."""
    rng = np.random.RandomState(seed)
    y = np.arange(n + 10) % 2
    t = np.arange(d)
    saw = np.where(t < d // 2, t / (d // 2), 0)
    X = np.stack([saw, saw[::-1]])[y] + 0.2 * rng.randn(n + 10, d)
    X = np.stack([np.roll(row, k) for row, k in zip(X, rng.randint(d, size=n + 10), strict=True)])
    return X[:n], y[:n], X[n:]


def steady_waves(n: int = 40, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Return rising and falling ramps with small shifts, which all classifiers separate."""
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 2
    saw = np.where(np.arange(16) < 8, np.arange(16) / 8, 0)
    moved = [np.roll((saw, saw[::-1])[label], rng.randint(-2, 3)) for label in y]
    return np.stack(moved) + 0.15 * rng.randn(n, 16), y


def counts(n: int = 40, d: int = 12, classes: int = 2) -> tuple[NDArray, NDArray, NDArray]:
    """Return bags of words, with word rates that depend on the class; and further rows."""
    rng = np.random.RandomState(3)
    y = np.arange(n + 10) % classes
    rates = 0.6 + 1.5 * (np.arange(d) % classes == y[:, None])
    X = rng.poisson(rates).astype(float)
    return X[:n], y[:n], X[n:]


def tones(n: int = 4, length: int = 3000, seed: int = 0) -> list[NDArray]:
    """Return alternating rising and falling tones, at 8000 samples a second."""
    rng = np.random.RandomState(seed)
    waves = []
    for i in range(n):
        t = np.arange(length + rng.randint(800)) / 8000
        octaves = (-1) ** i * t / t[-1]
        phase = 2 * np.pi * np.cumsum(400 * 2 ** (rng.uniform(-0.5, 0.5) + octaves)) / 8000
        waves.append(0.3 * np.sin(phase) + 0.01 * rng.randn(len(t)))
    return waves
