"""The solution: of all augmented samples, or of random ones of them."""

import numpy as np
import pytest

from invarlearn import Budget


def test_random_rows_represent_all(digits, small):
    """With as many random rows as there are augmented samples, nothing changes."""
    X, y = digits.X_train[:60], digits.y_train[:60]
    exact = small(n_copies=5).fit(X, y)
    all_rows = small(n_copies=5, budget=Budget(max_rows=100)).fit(X, y)
    np.testing.assert_allclose(
        all_rows.decision_function(digits.X_test[:100]),
        exact.decision_function(digits.X_test[:100]),
        atol=1e-3,
    )
    few = small(n_copies=5, budget=Budget(max_rows=100, n_nystroem_rows=200)).fit(X, y)
    assert "represented by 200 random ones" in few.summary()
    assert few.machine_.rows.shape == (200, few.machine_.space.directions.shape[1])
    assert (few.predict(digits.X_test) == exact.predict(digits.X_test)).mean() > 0.9


def test_random_rows_are_copies_of_the_samples_that_are_named(digits, small):
    X, y = digits.X_train[:60], digits.y_train[:60]
    budget = Budget(max_rows=100, n_nystroem_rows=200)
    machine = small(n_copies=5, budget=budget).fit(X, y).machine_
    nearest = ((machine.transform(X)[:, None] - machine.rows[:40]) ** 2).sum(axis=2).argmin(axis=0)
    # the first 40 rows are samples themselves
    np.testing.assert_array_equal(nearest, machine.sample_index[:40])


def test_single_precision_is_enough(digits, small):
    X, y, new = digits.X_train[:60], digits.y_train[:60], digits.X_test[:300]
    double = small().fit(X, y)
    expected = double.decision_function(new)
    single = small(budget=Budget(double_rows=10)).fit(X, y)
    assert (double.machine_.alpha.dtype, single.machine_.alpha.dtype) == (np.float64, np.float32)
    assert np.abs(single.decision_function(new) - expected).max() < 0.02
    budget = Budget(double_rows=10, max_rows=100, n_nystroem_rows=480)
    nystroem = small(budget=budget).fit(X, y)
    assert nystroem.machine_.alpha.dtype == np.float32
    assert np.abs(nystroem.decision_function(new) - expected).max() < 0.05


def test_a_tiny_lam_in_single_precision(digits, small):
    X, y = digits.X_train[:40], digits.y_train[:40]
    model = small(n_copies=60, lam=1e-5, budget=Budget(double_rows=100)).fit(X, y)
    assert model.score(X, y) == 1


@pytest.mark.parametrize("block_rows", [7, 64])
def test_predictions_do_not_depend_on_the_blocks(digits, small, block_rows):
    X, y, new = digits.X_train[:40], digits.y_train[:40], digits.X_test[:150]
    whole = small(n_copies=3, n_average=2).fit(X, y)
    parts = small(n_copies=3, n_average=2, budget=Budget(block_rows=block_rows)).fit(X, y)
    np.testing.assert_allclose(
        parts.decision_function(new[:7]), whole.decision_function(new[:7]), atol=1e-6
    )
    # elements of test-time augmentation are drawn once, so that blocks do not matter
    np.testing.assert_allclose(
        parts.decision_function(new), whole.decision_function(new), atol=1e-6
    )
