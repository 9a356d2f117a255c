"""The search: the range of the family, gamma and lam."""

import numpy as np
import pytest

from invarlearn import Budget, InvariantClassifier
from invarlearn.estimators.invariant.features import fit_features
from invarlearn.estimators.invariant.held_out import HoldOut
from invarlearn.estimators.invariant.search import search
from invarlearn.estimators.invariant.space import fit_space
from invarlearn.transforms import FeatureScaling, Rotation


def test_the_range_with_the_lowest_held_out_error_is_chosen(digits, small):
    X, y = digits.X_train[:80], digits.y_train[:80]
    models = {
        factor: small(family=Rotation(30).scaled(factor), n_copies=4).fit(X, y)
        for factor in (0.1, 0.5, 6)
    }
    errors = {factor: model.cv_errors_.min() for factor, model in models.items()}
    best = min(errors, key=errors.get)
    model = small(family=Rotation(30), ranges=(0.1, 6, 0.5), n_copies=4).fit(X, y)
    # features are those of the widest range, so that errors are nearly the same
    assert model.family_.degrees == 30 * best
    assert best != 6


def test_copies_are_compared_however_many_samples_there_are(digits, small):
    budget = Budget(search_rows=100, assess_rows=100)
    X, y = digits.X_train[:300], digits.y_train[:300]
    params = {"n_copies": 4, "family": Rotation(30), "ranges": (0.01, 1), "budget": budget}
    model = small(**params).fit(X, y)
    assert (model.assessment_.n_samples, model.assessment_.n_copies) == (33, 3)
    assert "leave-one-sample-out over 33 samples with 3 augmented copies each" in model.summary()


def test_lam_is_chosen_for_the_copies_of_the_solution(digits, small, plan_of):
    """The search sees three of ten copies, each of which stands for several."""
    estimator = small(n_copies=10, budget=Budget(search_rows=120))
    plan, samples = plan_of(estimator, digits.X_train[:40], digits.y_train[:40])
    space, copies = fit_space(plan, fit_features(plan, samples).transformer, samples)
    choice, _ = search(plan, space, samples, copies)
    assert len(copies) == choice.n_copies == 3
    ten, three = (
        HoldOut(plan.targets, plan.budget.lams, n_copies, plan.budget).predict(
            copies, samples.Y, None, choice.gamma
        )
        for n_copies in (10, 3)
    )
    np.testing.assert_array_equal(choice.errors, ten.errors)
    assert choice.lam == ten.lam
    assert np.abs(ten.errors - three.errors).max() > 0.01


@pytest.mark.parametrize(("n_copies", "assess_rows"), [(25, 1000), (10, 100)])
def test_the_estimate_may_use_fewer_rows_than_the_search(digits, small, n_copies, assess_rows):
    X, y = digits.X_train[:60], digits.y_train[:60]
    model = small(n_copies=n_copies, budget=Budget(assess_rows=assess_rows)).fit(X, y)
    assert model.assessment_.n_samples * model.assessment_.n_copies <= assess_rows
    assert model.score(digits.X_test[:300], digits.y_test[:300]) > 0.7


def test_classes_of_one_group_do_not_spoil_the_choice(slides):
    X, y, groups = slides(6, 20, 0)
    X[:, 1] += 5 * y
    # a third class, of one slide, far from the others: its held-out predictions are always wrong
    X, y = np.vstack([X, X[:20] + 10]), np.r_[y, np.full(20, 2)]
    groups = np.r_[groups, np.zeros(20, dtype=int)]
    family = FeatureScaling(0.9, 1.1, budget=3)
    without = InvariantClassifier(family, n_copies=3).fit(X[:120], y[:120], groups=groups[:120])
    with pytest.warns(UserWarning, match="Class 2 has samples of only one group"):
        model = InvariantClassifier(family, n_copies=3).fit(X, y, groups=groups)
    assert model.lam_ <= 3 * without.lam_
    assert model.predict_proba(X[:120]).max(axis=1).mean() > 0.8
    with pytest.warns(UserWarning, match="Each of the classes 0, 1, 2 has samples of only one"):
        model.fit(X, y, groups=y)
    assert model.estimated_accuracy_ == 0
