"""Weights of landmarks against kernel ridge regression and direct solutions."""

import numpy as np
import pytest

from invarlearn.kernels import RBF
from invarlearn.solvers.nystroem import nystroem_weights
from invarlearn.solvers.ridge import Ridge


def problem(n=50):
    rng = np.random.RandomState(0)
    return rng.randn(n, 3), rng.randn(n, 2)


def blocks(K, Y, size):
    return ((K[i : i + size], Y[i : i + size]) for i in range(0, len(K), size))


def test_all_rows_as_landmarks_equal_kernel_ridge():
    X, Y = problem()
    K = RBF(0.5)(X)
    weights = nystroem_weights(blocks(K, Y, 7), K, 0.1)
    np.testing.assert_allclose(K @ weights, K @ Ridge(K, Y, 0.1).alpha, atol=1e-6)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
def test_weights_of_landmarks_minimise_the_documented_objective(lam):
    X, Y = problem()
    K, gram = RBF(0.5)(X, X[:12]), RBF(0.5)(X[:12])
    weights = nystroem_weights(blocks(K, Y, 20), gram, lam)
    expected = np.linalg.solve(K.T @ K + lam * gram, K.T @ Y)
    np.testing.assert_allclose(K @ weights, K @ expected, atol=1e-6)


def test_repeated_landmarks_do_not_change_predictions():
    X, Y = problem()
    twice = np.concatenate([X[:12], X[:12]])
    once = nystroem_weights(blocks(RBF(0.5)(X, X[:12]), Y, 20), RBF(0.5)(X[:12]), 0.1)
    both = nystroem_weights(blocks(RBF(0.5)(X, twice), Y, 20), RBF(0.5)(twice), 0.1)
    expected = RBF(0.5)(X, X[:12]) @ once
    np.testing.assert_allclose(RBF(0.5)(X, twice) @ both, expected, atol=1e-4)
