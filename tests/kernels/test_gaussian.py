"""The Gaussian kernel plus one, for many rows."""

import numpy as np
import pytest

from invarlearn.kernels import RBF
from invarlearn.kernels.gaussian import lower_rbf_plus_one, median_square, rbf_plus_one


def test_the_kernel_is_the_gaussian_plus_one():
    rng = np.random.RandomState(0)
    X, Y = rng.randn(9, 5), rng.randn(7, 5)
    np.testing.assert_allclose(rbf_plus_one(X, Y, 0.3), RBF(0.3)(X, Y) + 1, rtol=1e-12)
    single = rbf_plus_one(X.astype(np.float32), X.astype(np.float32), 0.3)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, RBF(0.3)(X) + 1, atol=1e-5)


@pytest.mark.parametrize("block_rows", [1, 4, 11, 512])
def test_the_lower_triangle(block_rows):
    X = np.random.RandomState(0).randn(11, 3)
    K = lower_rbf_plus_one(X, 0.3, block_rows)
    assert K.flags.f_contiguous
    np.testing.assert_allclose(np.tril(K), np.tril(rbf_plus_one(X, X, 0.3)))


@pytest.mark.parametrize("n", [1, 2, 30])
def test_the_median_squared_distance(n):
    X = np.random.RandomState(0).randn(n, 4)
    pairs = [((a - b) ** 2).sum() for i, a in enumerate(X) for b in X[:i]]
    assert median_square(X) == pytest.approx(np.median(pairs) if pairs else 1.0)
    assert median_square(X, max_rows=1) == 1.0


def test_the_median_of_equal_rows_is_replaced():
    assert median_square(np.ones((5, 3))) == 1.0
    # one of ten rows differs: 9 of 45 distances are 4
    X = np.zeros((10, 1))
    X[3] = 2
    assert median_square(X) == pytest.approx(9 / 45 * 4)
