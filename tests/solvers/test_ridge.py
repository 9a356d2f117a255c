"""Kernel ridge regression with groups against refits without each group."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from invarlearn.kernels import RBF
from invarlearn.solvers.ridge import Ridge


def problem(n=40, seed=0):
    rng = np.random.RandomState(seed)
    X, Y = rng.randn(n, 3), rng.randn(n, 2)
    return RBF(0.5)(X), Y


@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
def test_it_is_scikit_learns_kernel_ridge(lam):
    K, Y = problem()
    before = K.copy()
    theirs = KernelRidge(alpha=lam, kernel="precomputed").fit(K, Y)
    np.testing.assert_allclose(Ridge(K, Y, lam).alpha, theirs.dual_coef_, rtol=1e-6)
    np.testing.assert_array_equal(K, before)


@pytest.mark.parametrize("lam", [1e-2, 1.0])
@pytest.mark.parametrize("sizes", [[1] * 40, [5] * 8, [1, 7, 12, 20]], ids=["ones", "fives", "any"])
def test_held_out_predictions_equal_refits_without_the_group(lam, sizes):
    K, Y = problem()
    order = np.random.RandomState(1).permutation(40)
    groups = np.split(order, np.cumsum(sizes)[:-1])
    held_out = Ridge(K, Y, lam).left_out(groups)
    for rows, predicted in zip(groups, held_out, strict=True):
        rest = np.setdiff1d(np.arange(40), rows)
        alpha = Ridge(K[np.ix_(rest, rest)], Y[rest], lam).alpha
        np.testing.assert_allclose(predicted, K[np.ix_(rows, rest)] @ alpha, atol=1e-8)


def test_a_weight_of_three_equals_a_row_repeated_three_times():
    K, Y = problem()
    times = np.where(np.arange(40) < 15, 3, 1)
    rows = np.repeat(np.arange(40), times)
    thrice = Ridge(K[np.ix_(rows, rows)], Y[rows], 0.1).alpha
    alpha = Ridge(K, Y, 0.1 / times).alpha
    np.testing.assert_allclose(alpha, np.stack([thrice[rows == i].sum(0) for i in range(40)]))
    theirs = KernelRidge(alpha=0.1, kernel="precomputed").fit(K, Y, sample_weight=times)
    np.testing.assert_allclose(K @ alpha, theirs.predict(K))


def test_copies_in_training_and_held_out_rows_overestimate_accuracy():
    """Random labels can be predicted only from other copies of the same sample."""
    rng = np.random.RandomState(0)
    X = np.repeat(rng.randn(30, 20), 4, axis=0) + 0.01 * rng.randn(120, 20)
    Y = np.repeat(rng.choice([-1.0, 1.0], size=(30, 1)), 4, axis=0)
    ridge = Ridge(RBF(0.05)(X), Y, 0.1)
    alone = np.concatenate(ridge.left_out(np.arange(120)[:, None]))
    whole = np.concatenate(ridge.left_out(np.arange(120).reshape(30, 4)))
    assert (np.sign(alone) == Y).mean() > 0.95
    assert (np.sign(whole) == Y).mean() < 0.75


def test_single_precision_is_kept():
    K, Y = problem()
    ridge = Ridge(K.astype(np.float32), Y, 0.1)
    assert ridge.alpha.dtype == np.float32
    np.testing.assert_allclose(ridge.alpha, Ridge(K, Y, 0.1).alpha, atol=1e-3)
    groups = np.arange(40).reshape(8, 5)
    expected = np.concatenate(Ridge(K, Y, 0.1).left_out(groups))
    np.testing.assert_allclose(np.concatenate(ridge.left_out(groups)), expected, atol=1e-3)


def test_too_small_a_lam_gets_a_clear_error():
    with pytest.raises(ValueError, match="is too small for kernel values"):
        Ridge(np.ones((5, 5)), np.ones((5, 1)), -1e-3)
