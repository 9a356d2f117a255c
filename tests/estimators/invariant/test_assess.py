"""The estimate for samples and groups that the model has never seen."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from invarlearn import Budget, InvariantClassifier, InvariantRegressor
from invarlearn._utils.statistics import estimate_proportion
from invarlearn.estimators.invariant.assess import increases_loss
from invarlearn.kernels.gaussian import rbf_plus_one
from invarlearn.transforms import CyclicShift, FeatureScaling, Reflection, Rotation, Translation


def test_the_truth_is_in_the_interval(digits, small):
    model = small().fit(digits.X_train[:150], digits.y_train[:150])
    low, high = model.interval_
    assert low <= model.score(digits.X_test, digits.y_test) <= high


def predict_refitted(model, Y, parts, n_copies, about_mean=False):
    """Predict each part of the samples by a solution of all copies of the other samples.

    Parameters
    ----------
    n_copies : int
        The first copies are used, and represent all copies.
    """
    n, machine = len(Y), model.machine_
    F = machine.rows[: n_copies * n].astype(float)
    weights = np.where(np.arange(len(F)) < n, 1.0, (model.n_copies_ - 1) / (n_copies - 1))
    predicted = np.empty(Y.shape)
    for part in parts:
        rest = np.flatnonzero(~np.isin(np.arange(len(F)) % n, part))
        mean = Y[rest[rest < n]].mean(axis=0) if about_mean else 0.0
        K = rbf_plus_one(F[rest], F[rest], machine.gamma) + np.diag(model.lam_ / weights[rest])
        alpha = np.linalg.solve(K, Y[rest % n] - mean)
        predicted[part] = rbf_plus_one(F[part], F[rest], machine.gamma) @ alpha + mean
    return predicted


@pytest.mark.parametrize("grouped", [False, True])
def test_the_accuracy_is_that_of_refitted_models(digits, small, grouped):
    # without whitening within classes, which the estimate does not see
    budget = Budget(class_prior=1e12, search_rows=120, assess_rows=240)
    X, y = digits.X_train[:60], digits.y_train[:60] % 3
    groups = np.arange(60) // 7 if grouped else np.arange(60)
    # the range is so wide that many predictions are wrong
    model = small(family=Rotation(180), budget=budget).fit(X, y, groups=groups if grouped else None)
    order = model.machine_.sample_index[:60]
    y, groups = y[order], groups[order]
    Y = np.where(y[:, None] == model.classes_, 1.0, -1.0)
    parts = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    correct = predict_refitted(model, Y, parts, 4).argmax(axis=1) == y
    assert 0.4 < correct.mean() < 0.98
    expected = estimate_proportion(correct * 1.0, groups)
    assert model.estimated_accuracy_ == pytest.approx(expected.value)
    assert model.assessment_.n_copies == 4
    assert model.assessment_.n_groups == (9 if grouped else None)


def test_r2_is_that_of_refitted_models(digits):
    X = digits.X_train[:50]
    y = X.mean(axis=1)
    budget = Budget(search_rows=100, assess_rows=150)
    model = InvariantRegressor(n_copies=6, n_landmarks=64, budget=budget).fit(X, y)
    Y = ((y - y.mean()) / y.std())[model.machine_.sample_index[:50], None]
    predicted = predict_refitted(model, Y, list(np.arange(50)[:, None]), 3, about_mean=True)
    expected = 1 - ((predicted - Y) ** 2).mean()
    assert model.estimated_r2_ == pytest.approx(expected, abs=1e-4)


def letters():
    """Return images of a T, upright or upside down, and which."""
    rng = np.random.RandomState(0)
    X = np.zeros((80, 12, 12))
    y = np.arange(80) % 2
    for image, upright in zip(X, y, strict=True):
        column = rng.randint(3, 9)
        image[2:10, column] = 1
        image[2 if upright else 9, column - 2 : column + 3] = 1
    return (X + 0.2 * rng.rand(*X.shape)).reshape(80, -1), y


def test_a_family_that_lowers_the_accuracy_gets_a_warning(small):
    X, y = letters()
    expected = r"family lowers held-out accuracy from [\d.]+ % to [\d.]+ %. Check .* Reflection"
    with pytest.warns(UserWarning, match=expected) as caught:
        model = small(family=Reflection(0)).fit(X, y)
    assert caught[0].filename == __file__
    assert model.assessment_.lowers_score
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = small(family=Translation(1)).fit(X, y)
    assert not model.assessment_.lowers_score


def test_shifts_get_a_warning_where_the_class_depends_on_the_place(small):
    rng = np.random.RandomState(0)
    X, y = 0.1 * rng.randn(80, 48), np.arange(80) % 2
    for row, label in zip(X, y, strict=True):
        row[12 + 24 * label + np.arange(-2, 3)] += 1
    # features of sequences are invariant: without the family there must be other features
    with pytest.warns(UserWarning, match="family lowers held-out accuracy from 100.0 %"):
        model = small(family=CyclicShift()).fit(X, y)
    assert model.assessment_.score_without == 1


def test_a_family_that_lowers_r2_gets_a_warning():
    rng = np.random.RandomState(0)
    X = 0.05 * rng.rand(60, 12, 12)
    y = rng.randint(2, 10, size=60)
    # y is the row of a line
    X[np.arange(60), y, 3:9] = 1
    with pytest.warns(UserWarning, match="The declared family lowers held-out R2 from"):
        InvariantRegressor(Reflection(0), n_copies=8, n_landmarks=32).fit(X.reshape(60, -1), y)


def test_large_losses_that_vanish_outweigh_small_ones_that_grow():
    before, after = np.full(90, 0.10), np.full(90, 0.11)
    assert increases_loss(after, before, None, 0.05)
    assert not increases_loss(before, after, None, 0.05)
    # 60 losses still increase
    before[60:], after[60:] = 1.0, 0.2
    assert not increases_loss(after, before, None, 0.05)


def test_few_increases_are_chance():
    before, after = np.zeros(90), np.zeros(90)
    after[:4] = 1
    # all of four changes are increases: p = 1 / 16
    assert not increases_loss(after, before, None, 0.05)
    assert increases_loss(after, before, None, 0.07)
    # of one group
    after[:40] = 1
    assert increases_loss(after, before, None, 0.05)
    assert not increases_loss(after, before, np.repeat([0, 1, 2], [40, 25, 25]), 0.05)


def test_groups_are_held_out_together(slides):
    X, y, groups = slides(12, 10, 0)
    new, labels, _ = slides(40, 10, 1)
    params = {"family": FeatureScaling(0.9, 1.1, budget=3), "n_copies": 3}
    alone = InvariantClassifier(**params).fit(X, y)
    model = InvariantClassifier(**params).fit(X, y, groups=groups)
    truth = model.score(new, labels)
    # samples of the same slide give the class away, but a new slide has none in the training data
    assert alone.estimated_accuracy_ > 0.95
    assert truth < 0.8
    assert abs(model.estimated_accuracy_ - truth) < 0.15
    assert model.interval_[0] <= truth <= model.interval_[1]
    # the interval is wider than that of 120 independent samples
    independent = estimate_proportion([1] * 66 + [0] * 54)
    assert np.subtract(*model.interval_[::-1]) > 1.2 * (independent.high - independent.low)
    assert "leave-one-group-out over 12 groups (120 samples" in model.summary()
    assert model.predict_proba(new).max(axis=1).mean() < 0.85


@pytest.mark.parametrize("names", [np.arange(60), [f"patient {i}" for i in range(60)]])
def test_a_group_for_each_sample_changes_nothing(digits, model, names):
    again = clone(model).fit(digits.X_train[:60], digits.y_train[:60], groups=names)
    assert again.estimated_accuracy_ == model.estimated_accuracy_
    np.testing.assert_array_equal(again.cv_errors_, model.cv_errors_)
    np.testing.assert_allclose(again.interval_, model.interval_, atol=0.01)


def test_random_labels_of_patients_are_estimated_at_chance():
    """Whitening within classes before the estimate would give held-out patients away."""
    accuracies = []
    for seed in range(5):
        rng = np.random.RandomState(seed)
        patients = np.repeat(np.arange(30), 10)
        X = rng.randn(30, 200)[patients] + 0.5 * rng.randn(300, 200)
        y = rng.permutation(np.arange(30) % 2)[patients]
        family = FeatureScaling(0.9, 1.1, budget=20)
        model = InvariantClassifier(family, n_copies=3).fit(X, y, groups=patients)
        accuracies.append(model.estimated_accuracy_)
    assert np.mean(accuracies) < 0.6


def test_a_class_of_one_group_gets_a_warning(slides):
    X, y, groups = slides(6, 10, 0)
    groups = np.where(y == 1, 0, groups)
    model = InvariantClassifier(FeatureScaling(0.9, 1.1, budget=3), n_copies=3)
    with pytest.warns(UserWarning, match="Class 1 has samples of only one group, so") as caught:
        model.fit(X, y, groups=groups)
    assert caught[0].filename == __file__
    assert model.estimated_accuracy_ <= 0.5


def test_a_class_of_one_sample_gets_a_warning(digits, small):
    X, y = digits.X_train[:30], digits.y_train[:30].astype(str)
    rows = np.r_[np.flatnonzero(y != "7"), np.flatnonzero(y == "7")[:1]]
    expected = "Class 7 has only one sample, so the class is absent .* Add samples"
    with pytest.warns(UserWarning, match=expected) as caught:
        model = small().fit(X[rows], y[rows])
    assert caught[0].filename == __file__
    assert model.estimated_accuracy_ < 1


def test_the_warning_is_about_held_out_samples_where_these_are_few(digits, small):
    budget = Budget(search_rows=90, assess_rows=90)
    X, y = digits.X_train[:200], digits.y_train[:200]
    rows = np.r_[np.flatnonzero(y != 7), np.flatnonzero(y == 7)[:4]]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for seed in range(10):
            small(n_copies=3, random_state=seed, budget=budget).fit(X[rows], y[rows])
    messages = [str(one.message) for one in caught if "only one sample" in str(one.message)]
    assert messages
    assert all("only one sample among the 30 held-out samples, so" in one for one in messages)


@pytest.mark.parametrize("seed", range(2))
def test_small_groups_are_held_out_where_samples_are_few(digits, small, seed):
    budget = Budget(search_rows=60, assess_rows=60, gamma_rows=30)
    groups = np.r_[np.zeros(95), np.ones(3), [2, 3]]
    model = small(random_state=seed, budget=budget)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* of only one group")
        model.fit(digits.X_train[:100], digits.y_train[:100], groups=groups)
    assert model.assessment_.n_groups == 4
    assert model.assessment_.n_samples < 100
    # little is known of other groups
    assert np.subtract(*model.interval_[::-1]) > 0.3
