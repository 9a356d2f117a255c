"""Held-out predictions: those of a model that has never seen the group."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from invarlearn import Budget
from invarlearn.estimators.invariant.held_out import (
    HoldOut,
    group_members,
    predict_without_groups,
    spread_groups,
)
from invarlearn.estimators.invariant.targets import ClassTargets, NumberTargets
from invarlearn.kernels import RBF
from invarlearn.solvers.ridge import Ridge

CLASSES = ClassTargets(np.array([0, 1]))
NUMBERS = NumberTargets(np.zeros(1), np.ones(1), True)


@pytest.mark.parametrize("weight", [1.0, 4.5])
def test_groups_are_predicted_as_if_they_had_never_been_there(weight):
    rng = np.random.RandomState(0)
    copies, Y = rng.randn(3, 20, 5), rng.randn(20, 2)
    groups = rng.permutation(np.repeat([0, 1, 2, 3], [2, 4, 4, 10]))
    members = group_members(20, groups)
    predicted = predict_without_groups(0.2, copies, Y, members, [0.1], False, weight)[0]
    for group in range(4):
        held_out = groups == group
        rows = copies[:, ~held_out].reshape(-1, 5)
        # the weight of a sample itself is one
        lams = 0.1 / np.repeat([1.0, weight, weight], (~held_out).sum())
        alpha = Ridge(RBF(0.2)(rows) + 1, np.tile(Y[~held_out], (3, 1)), lams).alpha
        expected = (RBF(0.2)(copies[0, held_out], rows) + 1) @ alpha
        np.testing.assert_allclose(predicted[held_out], expected, atol=1e-8)


@pytest.mark.parametrize("weight", [1.0, 4.5])
def test_numbers_are_predicted_about_the_mean_of_the_other_groups(weight):
    rng = np.random.RandomState(0)
    copies, y = rng.randn(2, 20, 5), 5 + rng.randn(20, 1)
    groups = rng.permutation(np.repeat([0, 1, 2], [3, 5, 12]))
    Y = y - y.mean()
    members = group_members(20, groups)
    predicted = predict_without_groups(0.2, copies, Y, members, [1.0], True, weight)[0]
    for group in range(3):
        held_out = groups == group
        rows, mean = copies[:, ~held_out].reshape(-1, 5), y[~held_out].mean()
        lams = 1.0 / np.repeat([1.0, weight], (~held_out).sum())
        alpha = Ridge(RBF(0.2)(rows) + 1, np.tile(y[~held_out] - mean, (2, 1)), lams).alpha
        expected = (RBF(0.2)(copies[0, held_out], rows) + 1) @ alpha + mean
        np.testing.assert_allclose(predicted[held_out] + y.mean(), expected, atol=1e-8)


@pytest.mark.parametrize("targets", [CLASSES, NUMBERS])
def test_the_available_copies_stand_for_all(targets):
    """With two of six copies, the result is that of each of them repeated three times."""
    rng = np.random.RandomState(0)
    copies = rng.randn(3, 20, 5)
    Y = np.where(rng.rand(20, 1) < 0.5, [[1.0, -1.0]], [[-1.0, 1.0]])
    hold_out = HoldOut(targets, [0.1, 1.0], 7, Budget())
    few = hold_out.tune(copies, Y, None)
    repeated = hold_out.tune(copies[[0, 1, 1, 1, 2, 2, 2]], Y, None)
    assert (few.gamma, few.lam) == (repeated.gamma, repeated.lam)
    np.testing.assert_allclose(few.errors, repeated.errors, atol=1e-8)
    np.testing.assert_allclose(few.predicted, repeated.predicted, atol=1e-8)


def test_gamma_is_relative_to_the_median_of_some_rows():
    rng = np.random.RandomState(0)
    copies = rng.randn(2, 30, 4)
    # the first rows are closer together than all of them
    copies[:, :10] /= 10
    Y = np.where(copies[0, :, :1] > 0, [[1.0, -1.0]], [[-1.0, 1.0]])
    for n_rows in (10, 30):
        budget = Budget(gammas=(1.0,), median_rows=n_rows)
        found = HoldOut(CLASSES, [0.1], 2, budget).tune(copies, Y, None)
        assert found.gamma == pytest.approx(1 / np.median(pdist(copies[0, :n_rows], "sqeuclidean")))


def test_the_search_returns_the_best_pair_of_gamma_and_lam():
    rng = np.random.RandomState(0)
    copies = rng.randn(2, 30, 4)
    Y = np.where(copies[0, :, :1] > 0, [[1.0, -1.0]], [[-1.0, 1.0]])
    budget = Budget(gammas=(0.1, 1.0, 10.0))
    hold_out = HoldOut(CLASSES, [0.01, 0.1, 1.0], 2, budget)
    best = hold_out.tune(copies, Y, None)
    errors = {
        (gamma, lam): hold_out.predict(copies, Y, None, gamma, lam).error
        for gamma in gammas_of(copies, budget)
        for lam in hold_out.lams
    }
    gamma, lam = min(errors, key=errors.get)
    assert (best.gamma, best.lam) == (pytest.approx(gamma), lam)
    assert best.error == pytest.approx(errors[gamma, lam])


def gammas_of(copies, budget):
    distances = ((copies[0][:, None] - copies[0]) ** 2).sum(axis=2)
    median = np.median(distances[np.triu_indices(len(distances), 1)])
    return np.array(budget.gammas) / median


def test_gammas_are_compared_on_few_rows_and_lams_on_all():
    rng = np.random.RandomState(0)
    copies = rng.randn(4, 30, 4)
    Y = np.where(copies[0, :, :1] > 0, [[1.0, -1.0]], [[-1.0, 1.0]])
    hold_out = HoldOut(CLASSES, [0.01, 0.1, 1.0], 4, Budget(gamma_rows=45))
    best = hold_out.tune(copies, Y, None)
    # 15 samples with 3 copies each choose gamma
    subset, gammas = copies[:3, :15], gammas_of(copies, Budget())
    trials = [hold_out.predict(subset, Y[:15], None, gamma) for gamma in gammas]
    assert best.gamma == pytest.approx(min(trials, key=lambda trial: trial.error).gamma)
    assert best.predicted.shape == (30, 2)
    expected = hold_out.predict(copies, Y, None, best.gamma)
    np.testing.assert_array_equal(best.errors, expected.errors)


def test_a_small_lam_gets_double_precision():
    rng = np.random.RandomState(0)
    copies = rng.randn(3, 20, 5).astype(np.float32)
    Y = np.where(rng.rand(20, 1) < 0.5, [[1.0, -1.0]], [[-1.0, 1.0]])
    hold_out = HoldOut(CLASSES, [1e-6], 3, Budget())
    single = hold_out.predict(copies, Y, None, 0.1)
    double = hold_out.predict(copies.astype(float), Y, None, 0.1)
    np.testing.assert_array_equal(single.predicted, double.predicted)
    assert hold_out.predict(copies, Y, None, 0.1, lam=0.1).predicted.dtype == np.float32


def test_samples_of_groups_come_in_proportion():
    groups = np.repeat([5, 1, 3], [60, 30, 10])
    order = spread_groups(np.random.RandomState(0).permutation(100), groups)
    assert sorted(order) == list(range(100))
    assert set(groups[order[:3]]) == {1, 3, 5}
    assert np.unique(groups[order[:50]], return_counts=True)[1] == pytest.approx([15, 5, 30], abs=1)


def test_members_of_groups():
    np.testing.assert_array_equal(group_members(3, None), [[0], [1], [2]])
    members = group_members(4, np.array(["b", "a", "b", "b", "c"]))
    assert [list(part) for part in members] == [[1], [0, 2, 3]]
