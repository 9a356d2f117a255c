"""The summary: one line for each stage."""

import numpy as np

from invarlearn import Budget, InvariantClassifier, InvariantRegressor
from invarlearn.transforms import CyclicShift, FeatureScaling, Identity, Rotation


def test_the_summary_lists_the_stages(model):
    text = model.summary()
    for part in (
        "family: rotation:15 scaling:1.15 shear:0.25 translation:2",
        "features of images of 28 x 28: OrientedGradients, then LocalKernelFeatures, then ",
        "augmentation: 8 augmented copies of each of 60 samples",
        "95 % interval",
        "leave-one-sample-out over 60 samples with 8 augmented copies each",
        "seconds: features",
    ):
        assert part in text
    assert f"lam: {model.lam_:g}" in text
    assert len(model.lams_) == len(model.cv_errors_)
    assert model.lam_ == model.lams_[model.cv_errors_.argmin()]
    stages = ["features", "space", "search", "assess", "whiten_classes", "solve"]
    assert list(model.seconds_) == stages


def test_the_accuracy_without_the_family_is_that_of_a_fit_without_copies(digits, small):
    X, y = digits.X_train[:60], digits.y_train[:60]
    without = small(n_copies=1).fit(X, y)
    augmented = small(family=Rotation(15)).fit(X, y)
    expected = f"accuracy without the family: {100 * without.estimated_accuracy_:.1f} %"
    assert expected in augmented.summary()
    assert "without the family" not in without.summary()
    assert "augmentation: none, 60 samples" in without.summary()


def test_r2_without_the_family_is_that_of_a_fit_without_it():
    rng = np.random.RandomState(0)
    X = rng.rand(60, 12)
    y = np.column_stack([X[:, 0] + 5, np.full(60, 3.0)])
    params = {"n_copies": 4, "random_state": 0}
    without = InvariantRegressor(Identity(), **params).fit(X, y)
    augmented = InvariantRegressor(FeatureScaling(0.9, 1.1, budget=1), **params).fit(X, y)
    assert f"R2 without the family: {without.estimated_r2_:.3f}" in augmented.summary()
    constant = InvariantRegressor(FeatureScaling(0.9, 1.1, budget=1), **params)
    undefined = "R2 without the family: undefined, since all targets are equal"
    assert undefined in constant.fit(X, np.full(60, 3.0)).summary()


def test_the_summary_tells_how_to_declare_images():
    X = np.random.RandomState(0).rand(20, 6)
    model = InvariantClassifier().fit(X, np.arange(20) % 2)
    assert "family: nothing; if rows are images, pass shape=(height, width) or (height" in (
        model.summary()
    )
    model = InvariantClassifier(Identity()).fit(X, np.arange(20) % 2)
    assert "family: nothing\n" in model.summary()


def test_the_summary_names_groups_and_random_rows():
    X, y = np.random.RandomState(0).rand(40, 6), np.arange(40) % 2
    budget = Budget(max_rows=100, n_nystroem_rows=60)
    model = InvariantClassifier(CyclicShift(2), n_copies=4, budget=budget)
    text = model.fit(X, y, groups=np.arange(40) // 4).summary()
    assert "4 augmented copies of each of 40 samples, represented by 60 random ones" in text
    assert "leave-one-group-out over 10 groups (40 samples with 4 augmented copies each)" in text
