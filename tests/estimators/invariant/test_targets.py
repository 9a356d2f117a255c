"""Target codings: columns, losses, estimates and their intervals."""

import numpy as np
import pytest

from invarlearn import InvariantClassifier, InvariantRegressor
from invarlearn.estimators.invariant.held_out import group_members
from invarlearn.estimators.invariant.targets import ClassTargets, NumberTargets
from invarlearn.transforms import Identity


def test_classes_are_columns_of_plus_and_minus_one():
    X, y = np.arange(6.0)[:, None], np.array(["b", "c", "a", "a", "b", "c"])
    targets, rows, Y = ClassTargets.encode(InvariantClassifier(), X, y)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(targets.classes, ["a", "b", "c"])
    np.testing.assert_array_equal(Y, np.where(y[:, None] == ["a", "b", "c"], 1, -1))
    np.testing.assert_array_equal(targets.class_indices(Y), [1, 2, 0, 0, 1, 2])
    np.testing.assert_array_equal(targets.encode_labels(y[:3]), Y[:3])
    with pytest.raises(ValueError, match="'d'"):
        targets.encode_labels(np.array(["a", "d"]))
    # two classes have two columns too
    _, _, Y = ClassTargets.encode(InvariantClassifier(), X[:2], y[:2])
    np.testing.assert_array_equal(Y, [[1, -1], [-1, 1]])


def test_losses_of_classes_are_wrong_predictions():
    targets = ClassTargets(np.array([0, 1, 2]))
    Y = 2 * np.eye(3) - 1
    predicted = np.array([[0.2, 0.1, -1], [0.3, 0.2, 0], [0, 0, 0.1]])
    np.testing.assert_array_equal(targets.losses(predicted, Y), [0, 1, 0])
    assert targets.score(predicted, Y) == pytest.approx(2 / 3)
    assert targets.format_score(0.9876) == "98.8 %"


def test_decision_values_of_two_classes_are_half_the_difference():
    scores = np.array([[0.5, -0.7], [-1.0, 1.0]])
    two, three = ClassTargets(np.arange(2)), ClassTargets(np.arange(3))
    np.testing.assert_allclose(two.decision_function(scores), [-0.6, 1.0])
    scores = np.random.RandomState(0).randn(4, 3)
    np.testing.assert_array_equal(three.decision_function(scores), scores)
    P = three.probabilities(scores, 2.0)
    np.testing.assert_allclose(P, np.exp(2 * scores) / np.exp(2 * scores).sum(axis=1)[:, None])


def test_samples_of_a_class_of_one_group_do_not_count_in_the_search():
    """Their class is absent when they are held out."""
    targets = ClassTargets(np.arange(3))
    y = np.array([0, 0, 1, 1, 2, 2])
    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    groups = np.array([0, 1, 0, 1, 2, 2])
    counted = targets.counted(Y, group_members(6, groups))
    np.testing.assert_array_equal(counted, [True, True, True, True, False, False])
    # if that is true of all classes, all count
    assert targets.counted(Y, group_members(6, y)).all()


def test_numbers_are_standardised_and_decoded():
    X = np.arange(5.0)[:, None]
    y = np.array([[1.0, 7], [2, 7], [3, 7], [4, 7], [5, 7]])
    targets, _, Y = NumberTargets.encode(InvariantRegressor(), X, y)
    np.testing.assert_allclose(Y[:, 0], (y[:, 0] - 3) / np.sqrt(2))
    # equal targets are not divided by zero
    np.testing.assert_array_equal(Y[:, 1], 0)
    np.testing.assert_allclose(targets.decode(Y), y)
    one, _, Y = NumberTargets.encode(InvariantRegressor(), X, y[:, 0])
    np.testing.assert_allclose(one.decode(Y), y[:, 0])
    assert one.class_indices(Y) is None
    assert one.counted(Y, group_members(5, None)).all()


def test_r2_is_that_of_scikit_learn():
    from sklearn.metrics import r2_score

    rng = np.random.RandomState(0)
    y = rng.randn(30)
    targets, _, Y = NumberTargets.encode(InvariantRegressor(), rng.rand(30, 2), y)
    predicted = Y + 0.5 * rng.randn(30, 1)
    expected = r2_score(y, targets.decode(predicted))
    assert targets.score(predicted, Y) == pytest.approx(expected)
    estimate = targets.estimate(predicted, Y, np.ones(30, dtype=bool), None, 30)
    assert estimate.score == pytest.approx(expected)
    assert targets.format_score(0.98765) == "0.988"


def test_r2_of_equal_targets_is_undefined():
    targets, _, Y = NumberTargets.encode(InvariantRegressor(), np.ones((4, 1)), np.ones(4))
    assert np.isnan(targets.score(Y, Y))
    assert "undefined" in targets.format_score(targets.score(Y, Y))


@pytest.mark.parametrize(("n_groups", "each"), [(2, 20), (5, 20), (40, 1)])
def test_intervals_of_r2_contain_the_truth(n_groups, each):
    def draw(n_groups, each, seed):
        rng = np.random.RandomState(seed)
        groups = np.repeat(np.arange(n_groups), each)
        X = 0.7 * rng.randn(n_groups, 4)[groups] + rng.randn(len(groups), 4)
        return X, X[:, 0] + 0.7 * rng.randn(n_groups)[groups] + 0.3 * rng.randn(len(groups)), groups

    X_new, y_new, _ = draw(300, 5, 99)
    covered = 0
    for seed in range(40):
        X, y, groups = draw(n_groups, each, seed)
        model = InvariantRegressor(Identity(), lam=1.0).fit(X, y, groups=groups)
        low, high = model.interval_
        covered += low <= model.score(X_new, y_new) <= high
        assert low <= model.estimated_r2_ <= high
    assert covered >= 0.8 * 40


def test_the_interval_of_r2_respects_groups():
    rng = np.random.RandomState(0)
    groups = np.repeat(np.arange(8), 15)
    X = rng.randn(8, 6)[groups] + 0.1 * rng.randn(120, 6)
    y = X[:, 0] + rng.randn(8)[groups]
    alone, grouped = InvariantRegressor().fit(X, y), InvariantRegressor().fit(X, y, groups=groups)
    assert alone.estimated_r2_ > 0.9 > grouped.estimated_r2_ + 0.3
    widths = [np.subtract(*model.interval_[::-1]) for model in (alone, grouped)]
    assert widths[1] > 2 * widths[0]
