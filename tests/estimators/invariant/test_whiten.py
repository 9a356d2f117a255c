"""Whitening within classes."""

import numpy as np
import pytest

from invarlearn import Budget
from invarlearn.features.compress import whitening
from invarlearn.kernels.gaussian import median_square


def test_whitening_within_classes_uses_the_samples_of_the_estimate(digits, small):
    # the search has three copies of 20 samples, the estimate three copies of 60
    budget = Budget(search_rows=60, assess_rows=180)
    X, y = digits.X_train[:60], digits.y_train[:60] % 3
    whitened = small(n_copies=3, budget=budget).fit(X, y)
    without = Budget(search_rows=60, assess_rows=180, class_prior=1e12)
    plain = small(n_copies=3, budget=without).fit(X, y).machine_
    classes = y[plain.sample_index]
    white = whitening(plain.rows, classes, 0.5 * 57 / (57 + 300), 0.3)
    np.testing.assert_allclose(whitened.machine_.rows, plain.rows @ white, rtol=1e-5, atol=1e-7)


def test_whitening_within_classes_grows_with_the_samples_and_leaves_the_estimate(digits, small):
    X, y = digits.X_train[:60], digits.y_train[:60]
    none, some, much = (
        small(budget=Budget(class_prior=prior)).fit(X, y) for prior in (1e12, 300, 1)
    )
    assert none.estimated_accuracy_ == some.estimated_accuracy_ == much.estimated_accuracy_
    assert none.lam_ == some.lam_ == much.lam_

    def relative_distance(model):
        """Return the mean squared distance within classes, divided by that of all pairs."""
        F = model.machine_.rows[:60].astype(float)
        labels = y[model.machine_.sample_index[:60]]
        distances = ((F[:, None] - F) ** 2).sum(axis=2)
        same = (labels[:, None] == labels) & ~np.eye(60, dtype=bool)
        return distances[same].mean() / distances.mean()

    assert relative_distance(much) < relative_distance(some) < relative_distance(none)
    # gamma stays what it was, relative to distances
    assert none.gamma_ * median_square(none.machine_.rows[:60]) == pytest.approx(
        much.gamma_ * median_square(much.machine_.rows[:60]), rel=1e-3
    )


def test_gamma_is_scaled_by_the_median_of_as_many_rows_as_the_budget_has(digits, small):
    X, y = digits.X_train[:40], digits.y_train[:40]
    none, much = (
        small(n_copies=3, budget=Budget(class_prior=prior, median_rows=5)).fit(X, y)
        for prior in (1e12, 1)
    )
    medians = [median_square(model.machine_.rows, max_rows=5) for model in (none, much)]
    assert none.gamma_ * medians[0] == pytest.approx(much.gamma_ * medians[1], rel=1e-3)
    everything = [median_square(model.machine_.rows[:40]) for model in (none, much)]
    assert none.gamma_ * everything[0] != pytest.approx(much.gamma_ * everything[1], rel=1e-3)
