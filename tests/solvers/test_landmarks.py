"""Weights of landmarks against the kernel machine, and against solving for them directly."""

import numpy as np
import pytest

from invarlearn.kernels import RBF
from invarlearn.solvers.groups import Ridge
from invarlearn.solvers.landmarks import landmark_weights


def problem(n=50):
    rng = np.random.RandomState(0)
    return rng.randn(n, 3), rng.randn(n, 2)


def blocks(K, Y, size):
    return ((K[i : i + size], Y[i : i + size]) for i in range(0, len(K), size))


def test_all_rows_as_landmarks_are_the_kernel_machine():
    X, Y = problem()
    K = RBF(0.5)(X)
    found = landmark_weights(blocks(K, Y, 7), K, 0.1)
    np.testing.assert_allclose(K @ found, K @ Ridge(K, Y, 0.1).alpha, atol=1e-6)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
def test_some_landmarks_minimise_what_is_said(lam):
    X, Y = problem()
    K, some = RBF(0.5)(X, X[:12]), RBF(0.5)(X[:12])
    found = landmark_weights(blocks(K, Y, 20), some, lam)
    expected = np.linalg.solve(K.T @ K + lam * some, K.T @ Y)
    np.testing.assert_allclose(K @ found, K @ expected, atol=1e-6)


def test_equal_landmarks_do_no_harm():
    X, Y = problem()
    twice = np.concatenate([X[:12], X[:12]])
    once = landmark_weights(blocks(RBF(0.5)(X, X[:12]), Y, 20), RBF(0.5)(X[:12]), 0.1)
    both = landmark_weights(blocks(RBF(0.5)(X, twice), Y, 20), RBF(0.5)(twice), 0.1)
    expected = RBF(0.5)(X, X[:12]) @ once
    np.testing.assert_allclose(RBF(0.5)(X, twice) @ both, expected, atol=1e-4)
