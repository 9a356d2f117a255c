"""Compiled tangent distance against least squares for each pair of rows."""

import numpy as np

from _measure import Ratio, ratio
from invarlearn import TangentDistanceClassifier
from invarlearn.datasets import load_mnist_sample


def benchmarks():
    digits = load_mnist_sample()
    knn = TangentDistanceClassifier().fit(digits.X_train[:50], digits.y_train[:50])
    X = digits.X_test[:20]
    family = knn.family_

    def pair_by_pair():
        rows, train = family.smooth(X), family.smooth(digits.X_train[:50])
        tangents, train_tangents = family.tangents(X), family.tangents(digits.X_train[:50])
        out = np.empty((20, 50))
        for i in range(20):
            for j in range(50):
                both = np.concatenate([tangents[i], train_tangents[j]]).T
                out[i, j] = np.linalg.lstsq(both, rows[i] - train[j], rcond=None)[1][0]
        return out

    np.testing.assert_allclose(
        np.sort(pair_by_pair(), axis=1)[:, 0], knn.kneighbors(X)[0][:, 0] ** 2, rtol=1e-2
    )
    yield Ratio(
        "TangentDistanceClassifier, two-sided, 20 x 50",
        "numpy lstsq pair by pair",
        ratio(lambda: knn.kneighbors(X), pair_by_pair, repeats=3),
    )
