"""Worst-case accuracy against trying every transformation."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC

from invarlearn.audit import worst_case_accuracy
from invarlearn.datasets import load_mnist_sample
from invarlearn.transforms import FeatureDropping, FeatureScaling, Identity, Rotation, Translation

FAMILY = Translation(1) * Rotation(10)


@pytest.fixture(scope="module")
def digits():
    sample = load_mnist_sample()
    return sample.X_train[:150], sample.y_train[:150], sample.X_test[:40], sample.y_test[:40]


@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        LinearSVC(max_iter=20_000),
        RandomForestClassifier(20, random_state=0),
        KNeighborsClassifier(3),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("two", [False, True], ids=["ten classes", "two classes"])
def test_accuracy_is_the_worst_over_the_orbit(digits, model, two):
    X, y, Z, t = digits
    if two:
        y, t = (y > 4).astype(int), (t > 4).astype(int)
    model = model.fit(X, y)
    report = worst_case_accuracy(model, Z, t, FAMILY, max_bytes=200_000)
    orbit = FAMILY.orbit(Z)
    correct = model.predict(orbit.reshape(-1, 784)).reshape(len(Z), -1) == t[:, None]
    assert report.untransformed_accuracy == model.score(Z, t)
    assert report.worst_case_accuracy == pytest.approx(correct.all(axis=1).mean())
    np.testing.assert_array_equal(report.margins > 0, correct.all(axis=1))
    np.testing.assert_allclose(report.rows, orbit[np.arange(len(Z)), report.elements])
    # if any transformation makes the prediction wrong, the named one does
    wrong = ~correct.all(axis=1)
    assert not correct[wrong, report.elements[wrong]].any()
    assert sum(report.counts().values()) == len(Z)
    percent = [f"{100 * value:.1f} %" for value in (model.score(Z, t), correct.all(axis=1).mean())]
    assert report.summary().startswith(f"Accuracy {percent[0]}; {percent[1]} if each sample")


def test_nothing_changes_without_transformations(digits):
    X, y, Z, t = digits
    model = SVC().fit(X, y)
    report = worst_case_accuracy(model, Z, t, Identity())
    assert report.worst_case_accuracy == report.untransformed_accuracy
    assert not report.elements.any()
    before = Z.copy()
    worst_case_accuracy(model, Z, t, FAMILY)
    np.testing.assert_array_equal(Z, before)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "family", [FeatureDropping(2), FeatureScaling(0.5, 2.0, budget=2)], ids=repr
)
def test_the_closed_form_equals_brute_force(n_classes, kind, family):
    rng = np.random.RandomState(0)
    X = rng.rand(60, 5)
    y = (n_classes * X[:, 0]).astype(int)
    model = LogisticRegression(C=100.0).fit(X, y)
    report = worst_case_accuracy(model, kind(X), y, family)
    low, high = (0.0, 1.0) if isinstance(family, FeatureDropping) else (0.5, 2.0)
    factors = [np.ones(5)]
    for i in range(5):
        for j in range(5):
            for a in (low, high):
                for b in (low, high):
                    one = np.ones(5)
                    one[i], one[j] = a, b
                    factors.append(one)
    copies = X[:, None] * np.array(factors)
    correct = model.predict(copies.reshape(-1, 5)).reshape(60, -1) == y[:, None]
    assert report.worst_case_accuracy == pytest.approx(correct.all(axis=1).mean())
    assert report.worst_case_accuracy < report.untransformed_accuracy
    assert report.elements is None
    rows = report.rows.toarray() if sparse.issparse(report.rows) else report.rows
    assert (model.predict(rows) == y).mean() == pytest.approx(report.worst_case_accuracy)
    with pytest.raises(ValueError, match="cannot be listed"):
        report.counts()


def test_bad_input_gets_clear_errors(digits):
    X, y, Z, t = digits
    model = SVC().fit(X, y)
    with pytest.raises(TypeError, match="not a Family"):
        worst_case_accuracy(model, Z, t, "shifts")
    with pytest.raises(ValueError, match="needs a linear classifier"):
        worst_case_accuracy(model, Z, t, FeatureDropping(2))
    with pytest.raises(TypeError, match=r"toarray\(\)"):
        worst_case_accuracy(model, sparse.csr_array(Z), t, FAMILY)
    with pytest.raises(ValueError, match="not fitted to: \\[77\\]"):
        worst_case_accuracy(model, Z, np.full(len(Z), 77), FAMILY)
    with pytest.raises(ValueError, match="inconsistent"):
        worst_case_accuracy(model, Z, t[:-1], FAMILY)
