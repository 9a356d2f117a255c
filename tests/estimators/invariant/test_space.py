"""Compressed features: their directions, their copies, their memory."""

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer

from invarlearn import Budget, InvariantClassifier
from invarlearn.estimators.invariant.features import fit_features
from invarlearn.estimators.invariant.space import Space, fit_space
from invarlearn.features.compress import principal_directions, whitening
from invarlearn.transforms import Rotation


@pytest.fixture
def fitted(digits, small, plan_of):
    """A function that returns the plan, the samples, the space and the copies of a classifier."""

    def make(n=40, **params):
        plan, samples = plan_of(small(**params), digits.X_train[:n], digits.y_train[:n])
        features = fit_features(plan, samples)
        return plan, samples, *fit_space(plan, features.transformer, samples)

    return make


def test_directions_are_principal_and_whitened_within_copies(fitted):
    plan, samples, space, copies = fitted(n_copies=4, n_components=30)
    makers = plan.augmentation(plan.widest).copy_makers(4)
    F = space.features.transform(np.concatenate([make(samples.X, 0) for make in makers]))
    mean, directions = principal_directions(F, 30)
    white = whitening((F - mean) @ directions, np.tile(np.arange(40), 4), 0.5, 0.3)
    np.testing.assert_allclose(space.mean, mean)
    np.testing.assert_allclose(np.abs(space.directions), np.abs(directions @ white), atol=1e-5)
    expected = ((F - mean) @ space.directions).reshape(4, 40, 30)
    np.testing.assert_allclose(copies, expected, atol=1e-5)
    np.testing.assert_allclose(space.transform(samples.X), copies[0], atol=1e-5)


def test_directions_in_which_copies_differ_shrink(fitted):
    _, _, space, _ = fitted(n_copies=4, whitening=0.5)
    scales = np.linalg.norm(space.directions, axis=0)
    assert scales.max() > 1.2 * scales.min()
    _, _, space, _ = fitted(n_copies=4, whitening=0)
    np.testing.assert_allclose(np.linalg.norm(space.directions, axis=0), 1, rtol=1e-3)


def test_copies_that_are_known_are_not_computed_again(fitted, monkeypatch):
    plan, samples, space, _ = fitted(n_copies=6, budget=Budget(search_rows=60))
    augmentation = plan.augmentation(plan.widest)
    nothing = np.empty((1, 0, space.directions.shape[1]))
    expected = space.transform_copies(augmentation, samples.X, 6, nothing)
    transform, n_rows = Space.transform, []

    def count(space, X):
        n_rows.append(len(X))
        return transform(space, X)

    monkeypatch.setattr(Space, "transform", count)
    copies = space.transform_copies(augmentation, samples.X, 6, expected[:3, :20])
    assert sum(n_rows) == 6 * 40 - 3 * 20
    np.testing.assert_allclose(copies, expected, atol=1e-6)


@pytest.mark.parametrize("ranges", [(1.0,), (0.01, 1.0), (1.0, 10.0)])
def test_a_fit_computes_no_row_twice(digits, small, monkeypatch, ranges):
    X, y = digits.X_train[:60], digits.y_train[:60]
    transform, n_rows = Space.transform, []

    def count(space, X):
        n_rows.append(len(X))
        return transform(space, X)

    monkeypatch.setattr(Space, "transform", count)
    # the search uses 40 samples with 3 copies; the estimate 60 samples with 4 copies
    budget = Budget(search_rows=120, assess_rows=240)
    model = small(n_copies=6, ranges=ranges, family=Rotation(15), budget=budget).fit(X, y)
    assert (model.assessment_.n_samples, model.assessment_.n_copies) == (60, 4)
    # the rows of the search by the widest family are known; of other candidates, all but the
    # samples themselves are computed
    assert sum(n_rows) == 6 * 60 - 120 + 80 * (len(ranges) - 1)
    # all rows are copies by the chosen family, which is not always the widest, in the final space
    makers = model.augmentation_.copy_makers(6)
    machine = model.machine_
    order = machine.sample_index[:60]
    expected = [transform(machine.space, make(machine.preparation(X[order]), 0)) for make in makers]
    np.testing.assert_allclose(machine.rows, np.concatenate(expected), atol=1e-5)
    if ranges == (1.0, 10.0):
        assert model.family_.degrees == 15


class Counting(FunctionTransformer):
    """Repeat columns, and remember the largest number of rows."""

    most = 0

    def transform(self, X):
        Counting.most = max(Counting.most, len(X))
        return np.tile(X, 20)


def test_features_in_memory_are_bounded(digits, small):
    X, y = digits.X_train[:150], digits.y_train[:150]
    budget = Budget(max_bytes=120 * 20 * 784 * 4)
    model = small(features=Counting(), n_copies=3, budget=budget).fit(X, y)
    model.predict(digits.X_test[:300])
    assert 100 < Counting.most <= 120


def test_without_copies_there_is_no_whitening(plan_of):
    X, y = np.random.RandomState(0).randn(30, 6), np.arange(30) % 2
    plan, samples = plan_of(InvariantClassifier(), X, y)
    space, copies = fit_space(plan, fit_features(plan, samples).transformer, samples)
    np.testing.assert_allclose(space.directions.T @ space.directions, np.eye(6), atol=1e-10)
    assert copies.shape == (1, 30, 6)
