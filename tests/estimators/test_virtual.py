"""VirtualSVC against libsvm on augmented samples."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.svm import SVC

from invarlearn import VirtualSVC
from invarlearn.kernels import RBF, OrbitKernel
from invarlearn.transforms import (
    Custom,
    CyclicShift,
    Reflection,
    Rotation,
    Sampled,
    Shear,
    Translation,
)


def test_without_a_family_it_is_an_svc(digits):
    X, y, X_test = digits.X_train[:100], digits.y_train[:100], digits.X_test[:200]
    ours = VirtualSVC(C=3.0).fit(X, y)
    theirs = SVC(C=3.0, gamma=1 / (784 * X.var(dtype=float))).fit(X, y)
    # libsvm stops at tol=1e-3; on some machines gamma differs in its last digit
    np.testing.assert_allclose(
        ours.decision_function(X_test), theirs.decision_function(X_test), atol=1e-3
    )
    assert ours.n_virtual_ == 100


def test_it_is_an_svc_on_augmented_copies(digits):
    X, y, X_test = digits.X_train[:60], digits.y_train[:60], digits.X_test[:100]
    ours = VirtualSVC(Reflection(1), gamma=0.02).fit(X, y)
    flipped = X.reshape(-1, 28, 28)[:, :, ::-1].reshape(-1, 784)
    rows = np.stack([X, flipped], axis=1).reshape(-1, 784)
    theirs = SVC(C=10, gamma=0.02).fit(rows, np.repeat(y, 2))
    np.testing.assert_allclose(ours.decision_function(X_test), theirs.decision_function(X_test))


def test_a_symmetric_family_makes_symmetric_predictions(digits):
    """Trained on whole orbits of a group, predictions are invariant."""
    X, y = digits.X_train[:60], digits.y_train[:60]
    svc = VirtualSVC(Reflection(1), tol=1e-8).fit(X, y == 3)
    flipped = digits.X_test[:50].reshape(-1, 28, 28)[:, :, ::-1].reshape(-1, 784)
    np.testing.assert_allclose(
        svc.decision_function(digits.X_test[:50]), svc.decision_function(flipped), atol=1e-5
    )


def test_virtual_support_vectors_are_fewer(digits):
    rows = np.isin(digits.y_train, [0, 1])
    X, y = digits.X_train[rows][:200], digits.y_train[rows][:200]
    svc = VirtualSVC(Translation(1), support_only=True).fit(X, y)
    kept = SVC(C=10, gamma=1 / (784 * X.var(dtype=float))).fit(X, y).support_
    assert svc.n_virtual_ == 9 * len(kept) < 9 * 100
    test = np.isin(digits.y_test, [0, 1])
    assert svc.score(digits.X_test[test], digits.y_test[test]) > 0.98


def test_invariance_helps_with_few_labels(digits):
    X, y = digits.X_train[:100], digits.y_train[:100]
    plain = SVC(C=10).fit(X, y).score(digits.X_test[:500], digits.y_test[:500])
    family = Translation(1) * Rotation(15) * Shear(0.2)
    ours = VirtualSVC(family).fit(X, y).score(digits.X_test[:500], digits.y_test[:500])
    assert ours > plain + 0.03


def test_augmented_copies_have_the_weight_of_their_sample(digits):
    X, y = digits.X_train[:60], digits.y_train[:60] % 2
    twice = VirtualSVC(Reflection(0), gamma=0.02).fit(np.r_[X, X[:20]], np.r_[y, y[:20]])
    weight = np.r_[np.full(20, 2.0), np.ones(40)]
    weighted = VirtualSVC(Reflection(0), gamma=0.02).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(
        weighted.decision_function(digits.X_test[:50]),
        twice.decision_function(digits.X_test[:50]),
        atol=5e-3,
    )


def test_bad_input_gets_clear_errors(digits):
    X, y = digits.X_train[:20], digits.y_train[:20]
    with pytest.raises(ValueError, match="one class only"):
        VirtualSVC().fit(X, np.zeros(20))
    with pytest.raises(TypeError, match="is not a Family"):
        VirtualSVC(family="translation").fit(X, y)
    with pytest.raises(ValueError, match="gamma='wide'"):
        VirtualSVC(gamma="wide").fit(X, y)
    with pytest.raises(ValueError, match="precomputed"):
        VirtualSVC(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="not a square one"):
        VirtualSVC(Translation(1)).fit(X[:, :700], y)
    with config_context(working_memory=1), pytest.raises(MemoryError, match="virtual samples"):
        VirtualSVC(Translation(2)).fit(X, y)


def test_custom_families_work(digits):
    X, y = digits.X_train[:30], digits.y_train[:30]
    assert VirtualSVC(Custom([np.sqrt])).fit(X, y).n_virtual_ == 60


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "rbf"},
        {"kernel": "rbf", "gamma": 0.05},
        {"kernel": "poly", "degree": 4, "coef0": 1.0, "gamma": "auto"},
        {"kernel": "linear"},
        {"kernel": "sigmoid", "gamma": 0.001},
        {"kernel": lambda A, B: A @ B.T},
    ],
)
def test_predictions_by_matrix_products_are_those_of_libsvm(n_classes, kernel, digits):
    rows = digits.y_train < n_classes
    X, y = digits.X_train[rows][:150], digits.y_train[rows][:150]
    svc = VirtualSVC(Reflection(1), **kernel).fit(X, y)
    X_test = digits.X_test[:300].astype(float)
    np.testing.assert_allclose(
        svc.decision_function(X_test), svc.svc_.decision_function(X_test), rtol=1e-6, atol=1e-8
    )
    np.testing.assert_array_equal(svc.predict(X_test), svc.svc_.predict(X_test))
    with config_context(working_memory=1):
        np.testing.assert_array_equal(svc.predict(X_test), svc.svc_.predict(X_test))


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_gamma_is_that_of_svc(digits, offset):
    X, y = digits.X_train[:30].astype(float) + offset, digits.y_train[:30]
    assert VirtualSVC().fit(X, y).gamma_ == pytest.approx(SVC().fit(X, y)._gamma, rel=1e-6)
    assert VirtualSVC().fit(np.ones((4, 3)), [0, 1, 0, 1]).gamma_ == 1.0


def test_invalid_weights_are_refused(digits):
    X, y = digits.X_train[:20], digits.y_train[:20]
    for wrong in (np.zeros(20), -np.ones(20), np.ones(19), np.full(20, np.nan)):
        with pytest.raises(ValueError, match=r"(?i)sample.weight"):
            VirtualSVC().fit(X, y, sample_weight=wrong)


def test_rows_of_weight_zero_are_ignored(digits):
    X, y = digits.X_train[:60], digits.y_train[:60] % 2
    weight = np.r_[np.zeros(20), np.ones(40)]
    weighted = VirtualSVC(Reflection(0), support_only=True).fit(X, y, sample_weight=weight)
    without = VirtualSVC(Reflection(0), support_only=True).fit(X[20:], y[20:])
    np.testing.assert_allclose(
        weighted.decision_function(digits.X_test[:50]),
        without.decision_function(digits.X_test[:50]),
        atol=1e-6,
    )


def test_balanced_classes_are_those_of_all_samples(digits):
    X = digits.X_train[:100]
    y = (digits.y_train[:100] == 0).astype(int)
    balanced = VirtualSVC(Reflection(0), support_only=True, class_weight="balanced").fit(X, y)
    share = np.bincount(y) / 100
    weights = {c: 0.5 / share[c] for c in (0, 1)}
    named = VirtualSVC(Reflection(0), support_only=True, class_weight=weights).fit(X, y)
    np.testing.assert_allclose(
        balanced.decision_function(digits.X_test[:50]),
        named.decision_function(digits.X_test[:50]),
    )


def test_unlistable_families_get_an_error_with_a_hint(digits):
    from invarlearn.transforms import FeatureScaling

    X, y = digits.X_train[:20], digits.y_train[:20]
    family = FeatureScaling(0.5, 2, 10)
    with pytest.raises(ValueError, match=r"Sampled\(family, k\)"):
        VirtualSVC(family).fit(X, y)
    assert VirtualSVC(Sampled(family, 3)).fit(X, y).n_virtual_ == 80


def test_many_virtual_samples_warn(digits):
    X, y = digits.X_train[:20], digits.y_train[:20]
    with pytest.warns(UserWarning, match="180 virtual samples"):
        VirtualSVC(Translation(1), warn_above=100).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        VirtualSVC(Translation(1), warn_above=180).fit(X, y)


def test_eight_points_above_svc_at_100_labels(real_data):
    """On fewer test images than ``invarlearn reproduce virtual-samples --full``."""
    from invarlearn.experiments.virtual_samples import run_virtual_samples

    gains = [
        run_virtual_samples("VirtualSVC", n_labels=100, n_test=500, seed=seed)["accuracy"]
        - run_virtual_samples("SVC", n_labels=100, n_test=500, seed=seed)["accuracy"]
        for seed in (0, 1, 2)
    ]
    assert np.mean(gains) >= 8


def test_augmentation_is_the_average_fit_with_a_larger_c():
    """The equivalence of Liu et al. (2022), section 2.3.2, holds for C times the group's size."""
    rng = np.random.RandomState(0)
    X, y = rng.rand(30, 8), np.arange(30) % 2
    X[y == 1, :3] += 0.4
    family = CyclicShift()
    augmented = VirtualSVC(family, C=0.5, gamma=1.0, tol=1e-10).fit(X, y)
    average = OrbitKernel(RBF(1.0), family, "mean")
    new = rng.rand(20, 8)

    def decisions(C):
        return SVC(kernel=average, C=C, tol=1e-10).fit(X, y).decision_function(new)

    np.testing.assert_allclose(augmented.decision_function(new), decisions(0.5 * 8), atol=1e-5)
    assert np.abs(augmented.decision_function(new) - decisions(0.5)).max() > 0.01
