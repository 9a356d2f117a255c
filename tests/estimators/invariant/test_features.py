"""Features of the recipe: which steps are taken before the edges of images."""

import re

import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from invarlearn import Budget, InvariantClassifier
from invarlearn.datasets import translated
from invarlearn.estimators.invariant.features import choose_image_options, fit_features
from invarlearn.features.defaults import default_features
from invarlearn.features.oriented import noise_level
from invarlearn.transforms import CyclicShift, Translation


def test_noise_is_removed_from_noisy_images(digits, quick):
    rng = np.random.RandomState(0)

    def noisy(X):
        return (X + 0.2 * rng.randn(*X.shape)).astype(np.float32)

    X, y = noisy(digits.X_train[:80]), digits.y_train[:80]
    X_new, y_new = noisy(digits.X_test[:150]), digits.y_test[:150]
    model = quick().fit(X, y)
    assert model.feature_options_ == {"noisy": True}
    assert "features of noisy images of 28 x 28" in model.summary()
    other = quick(features=default_features(model.family_, 784, 32, 0)).fit(X, y)
    assert model.score(X_new, y_new) > other.score(X_new, y_new) + 0.04


def test_pixels_of_coarse_images_are_no_noise(quick, plan_of):
    X, y = load_digits(return_X_y=True)
    estimator = quick()
    plan, samples = plan_of(estimator, X[:60], y[:60])
    # their neighbouring pixels differ as much as if they were noisy
    assert noise_level(X[:100], (8, 8)) > plan.budget.noise_level
    assert choose_image_options(plan, samples) == {}


def test_hot_pixels_of_noisy_images_on_a_bright_background_do_not_matter(digits, quick):
    rng = np.random.RandomState(0)

    def noisy(X):
        return 0.8 - 0.3 * X + 0.06 * rng.randn(*X.shape)

    X, y = noisy(digits.X_train[:80]), digits.y_train[:80]
    X_new, y_new = noisy(digits.X_test[:100]), digits.y_test[:100]
    X[7, 300] = 50
    model = quick().fit(X, y)
    assert model.feature_options_ == {"noisy": True}
    score = model.score(X_new, y_new)
    for pixel, value in ((400, 20.0), (13 * 28, -9.0), (0, 20.0), (783, 20.0)):
        X_new[:, pixel] = value
    assert abs(model.score(X_new, y_new) - score) <= 0.03


def test_images_that_shift_far_are_centred(digits, quick):
    rng = np.random.RandomState(0)
    X, y = translated(digits.X_train[:80], 40, 0.0, rng), digits.y_train[:80]
    X_new, y_new = translated(digits.X_test[:150], 40, 0.0, rng), digits.y_test[:150]
    family = Translation(6, shape=(40, 40))
    model = quick(family=family).fit(X, y)
    assert model.feature_options_ == {"centred": True}
    assert "features of images of 40 x 40: Centred, then OrientedGradients" in model.summary()
    other = quick(family=family, features=default_features(family, 1600, 32, 0)).fit(X, y)
    assert model.score(X_new, y_new) > other.score(X_new, y_new) + 0.05
    # without the family, images are not centred
    without = re.search(r"without the family: ([\d.]+) %", model.summary())[1]
    assert float(without) / 100 < model.estimated_accuracy_ - 0.15


def test_images_are_not_centred_if_the_class_depends_on_the_place(digits, quick, plan_of):
    y = np.arange(80) % 2
    X = np.zeros((80, 40, 40), dtype=np.float32)
    X[:, 6:34, :28] = digits.X_train[:80].reshape(-1, 28, 28)
    X[y == 1] = np.roll(X[y == 1], 12, axis=2)
    plan, samples = plan_of(quick(family=Translation(6, shape=(40, 40))), X.reshape(80, -1), y)
    assert choose_image_options(plan, samples) == {}
    # with labels that do not depend on the place they are
    plan, samples = plan_of(
        quick(family=Translation(6, shape=(40, 40))), X.reshape(80, -1), digits.y_train[:80]
    )
    assert choose_image_options(plan, samples) == {"centred": True}


def test_noise_is_removed_from_images_that_are_centred(digits, quick, plan_of):
    rng = np.random.RandomState(0)
    X, y = translated(digits.X_train[:100], 40, 0.1, rng), digits.y_train[:100]
    groups = np.arange(100) // 2
    plan, samples = plan_of(quick(family=Translation(6, shape=(40, 40))), X, y, groups)
    assert choose_image_options(plan, samples) == {"centred": True, "noisy": True}
    # without copies, nothing shifts
    plan, samples = plan_of(quick(n_copies=1, shape=(40, 40)), X, y)
    assert choose_image_options(plan, samples).keys() <= {"noisy"}


def test_features_of_the_user_are_cloned_and_get_no_steps(digits, plan_of):
    scaler = StandardScaler()
    estimator = InvariantClassifier(features=scaler, n_copies=3)
    plan, samples = plan_of(estimator, digits.X_train[:30], digits.y_train[:30])
    fitted = fit_features(plan, samples)
    assert fitted.options == {}
    assert fitted.transformer is not scaler
    assert not hasattr(scaler, "mean_")


def test_features_are_fitted_on_copies_by_the_widest_range(plan_of):
    X, y = np.random.RandomState(0).rand(30, 12), np.arange(30) % 2
    estimator = InvariantClassifier(
        CyclicShift(1), features=StandardScaler(), n_copies=4, ranges=(1, 3)
    )
    plan, samples = plan_of(estimator, X, y)
    assert plan.widest.n_elements > CyclicShift(1).n_elements
    makers = plan.augmentation(plan.widest).copy_makers(4)
    rows = np.concatenate([make_copy(samples.X, 0) for make_copy in makers])
    np.testing.assert_allclose(fit_features(plan, samples).transformer.mean_, rows.mean(axis=0))


def test_features_of_sequences_have_as_many_elements_as_the_budget_allows(plan_of):
    X, y = np.random.RandomState(0).rand(30, 40), np.arange(30) % 2
    for budget, expected in ((Budget(), None), (Budget(feature_elements=7), 7)):
        estimator = InvariantClassifier(CyclicShift(), n_copies=2, budget=budget)
        plan, samples = plan_of(estimator, X, y)
        assert fit_features(plan, samples).transformer[0].n_elements == expected
