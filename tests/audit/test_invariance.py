"""Invariance reports against counts over all transformations."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from invarlearn.audit import invariance_report
from invarlearn.datasets import load_mnist_sample
from invarlearn.transforms import (
    Custom,
    CyclicShift,
    FeatureDropping,
    Identity,
    Reflection,
    Rotation,
    Translation,
    format_family,
)

FAMILY = Translation(2) * Rotation(15)


@pytest.fixture(scope="module")
def digits():
    sample = load_mnist_sample()
    return sample.X_train[:150], sample.y_train[:150], sample.X_test[:60], sample.y_test[:60]


@pytest.fixture(scope="module")
def model(digits):
    return SVC().fit(*digits[:2])


@pytest.mark.parametrize(
    "model", [SVC(), KNeighborsClassifier(1)], ids=lambda model: type(model).__name__
)
@pytest.mark.parametrize(
    ("family", "orbit"),
    [
        # a whole group
        (Reflection(), lambda X: Reflection().orbit(X)[:, 1:]),
        # a list of all elements
        (Custom([np.fliplr, np.negative]), lambda X: np.stack([X[:, ::-1], -X], axis=1)),
    ],
    ids=["group", "list"],
)
def test_rates_equal_counts_over_all_elements(digits, model, family, orbit):
    X, y, Z, t = digits
    t = t.copy()
    model = model.fit(X, y)
    report = invariance_report(model, Z, t, family)
    transformed = orbit(Z)
    assert report.overall.exhaustive
    assert report.overall.n_elements == transformed.shape[1]
    before = model.predict(Z)
    after = model.predict(transformed.reshape(-1, 784)).reshape(len(Z), -1)
    correct = after == t[:, None]
    for rows, scores in [
        (slice(None), report.overall),
        *((t == label, scores) for label, scores in report.by_class.items()),
    ]:
        assert scores.accuracy.value == pytest.approx((before == t)[rows].mean())
        assert scores.transformed_accuracy.value == pytest.approx(correct[rows].mean())
        flipped = (after != before[:, None])[rows]
        assert scores.flip_rate.value == pytest.approx(flipped.mean())
        assert scores.consistency.value == pytest.approx(1 - flipped.any(axis=1).mean())
        always = correct[rows].all(axis=1) & (before == t)[rows]
        assert scores.worst_case_accuracy.value == pytest.approx(always.mean())
        assert scores.n_samples == len(always)


@pytest.mark.parametrize(
    ("family", "count"),
    [
        (CyclicShift(radius=1), 2),
        (Rotation(90), 2),
        (Translation(1, wrap=True), 8),
        (CyclicShift(), None),
        (Translation(1), None),
    ],
)
def test_short_lists_of_elements_are_exhausted(digits, model, family, count):
    _, _, Z, t = digits
    report = invariance_report(model, Z[:20], t[:20], family, 12)
    assert report.overall.exhaustive == (count is not None)
    assert report.overall.n_elements == (count or 12)
    if count:
        before = model.predict(Z[:20])
        transformed = family.orbit(Z[:20])[:, 1:].reshape(-1, 784)
        flipped = model.predict(transformed).reshape(20, -1) != before[:, None]
        assert report.overall.flip_rate.value == pytest.approx(flipped.mean())


def test_the_order_of_classes_does_not_matter(digits, model):
    _, _, Z, t = digits

    class Backwards(SVC):
        @property
        def classes_(self):
            return model.classes_[::-1]

        def predict(self, X):
            return model.predict(X)

        def decision_function(self, X):
            return model.decision_function(X)[:, ::-1]

    other = Backwards()
    other.support_ = other.fit_status_ = other.n_features_in_ = 1
    report = invariance_report(other, Z, t, Reflection())
    assert report.table()[0] == invariance_report(model, Z, t, Reflection()).table()[0]


def test_the_same_seed_draws_the_same_elements(digits, model):
    _, _, Z, t = digits
    reports = [invariance_report(model, Z, t, FAMILY, 5, random_state=s) for s in (0, 0, 1)]
    tables = [report.table() for report in reports]
    assert tables[0] == tables[1] != tables[2]
    assert not reports[0].overall.exhaustive
    assert list(reports[0].by_transformation) == ["all together", "translation", "rotation"]
    for report in reports:
        assert report.overall.n_elements == 5
        assert report.overall.worst_case_accuracy.value <= report.overall.accuracy.value


def test_block_size_does_not_change_the_report(digits, model):
    _, _, Z, t = digits
    whole = invariance_report(model, Z, t, FAMILY, 4)
    small = invariance_report(model, Z, t, FAMILY, 4, max_bytes=50_000)
    assert small.table() == whole.table()
    assert [flip.index for flip in small.flips] == [flip.index for flip in whole.flips]


def test_flips_are_correct_before_and_wrong_after_the_transformation(digits, model):
    _, _, Z, t = digits
    before = Z.copy()
    report = invariance_report(model, Z, t, FAMILY, 20, n_flips=7)
    np.testing.assert_array_equal(Z, before)
    assert len(report.flips) == 7
    margins = [flip.margin for flip in report.flips]
    assert margins == sorted(margins)
    assert max(margins) <= 0
    for flip in report.flips:
        assert flip.label == t[flip.index] == model.predict(flip.row[None])[0]
        np.testing.assert_array_equal(flip.row, Z[flip.index])
        assert flip.predicted == model.predict(flip.transformed[None])[0] != flip.label


def test_nothing_flips_without_transformations(digits, model):
    _, _, Z, t = digits
    report = invariance_report(model, Z, t, Identity())
    assert report.overall.n_elements == 0
    assert report.overall.flip_rate.value == 0
    assert report.overall.consistency.value == 1
    assert report.overall.worst_case_accuracy == report.overall.accuracy
    assert not report.flips


def test_an_invariant_classifier_never_flips():
    rng = np.random.RandomState(0)
    X, y = rng.rand(40, 12), np.arange(40) % 2
    X += y[:, None]

    class Sums(LogisticRegression):
        def fit(self, X, y):
            return super().fit(X.sum(axis=1, keepdims=True), y)

        def predict(self, X):
            return super().predict(X.sum(axis=1, keepdims=True))

        def decision_function(self, X):
            if X.shape[1] > 1:
                X = X.sum(axis=1, keepdims=True)
            return super().decision_function(X)

    report = invariance_report(Sums().fit(X, y), X, y, CyclicShift())
    assert report.overall.exhaustive
    assert report.overall.flip_rate.value == 0
    assert report.overall.flip_rate.high < 0.12
    assert report.overall.worst_case_accuracy.value == report.overall.accuracy.value


def test_sparse_rows_are_audited():
    rng = np.random.RandomState(0)
    X = sparse.random(80, 30, 0.3, format="csr", random_state=0)
    y = (np.asarray(X @ rng.randn(30)) > 0).astype(int)
    model = LogisticRegression(C=100).fit(X, y)
    family = FeatureDropping(budget=3)
    report = invariance_report(model, X, y, family, 10)
    dense = invariance_report(model, X.toarray(), y, family, 10)
    assert report.table() == dense.table()
    assert report.overall.flip_rate.value > 0


def test_tables_and_summaries_state_the_results(digits, model):
    _, _, Z, t = digits
    seen = []
    report = invariance_report(
        model, Z, t, FAMILY, 6, progress=lambda done, total, left: seen.append((done, total))
    )
    assert seen == [(i, 18) for i in range(19)]
    rows = report.table()
    assert [row["group"] for row in rows] == ["transformation"] * 3 + ["class"] * 10
    for row in rows:
        assert row["flip_rate_low"] <= row["flip_rate"] <= row["flip_rate_high"]
    wrong = np.flatnonzero(model.predict(Z) != t)
    assert {mistake.index for mistake in report.mistakes} <= set(wrong)
    assert len(report.mistakes) == min(12, len(wrong)) > 0
    for mistake in report.mistakes:
        assert mistake.label == t[mistake.index]
        assert mistake.predicted == model.predict(Z[[mistake.index]])[0]
        assert mistake.margin <= 0
    margins = [mistake.margin for mistake in report.mistakes]
    assert margins == sorted(margins)
    text = report.summary()
    assert f"Family: {format_family(FAMILY)}\n" in text
    assert "6 random transformations" in text
    assert f"{100 * report.overall.flip_rate.value:.1f} %" in text
    assert "Highest flip rate: translation" in text


def test_the_summary_gives_advice_if_the_family_lowers_accuracy(digits, model):
    _, _, Z, t = digits
    advice = "check that labels do not depend"
    assert advice in invariance_report(model, Z, t, Rotation(180), 30).summary()
    assert advice not in invariance_report(model, Z, t, Rotation(1), 5).summary()


def test_bad_input_gets_clear_errors(digits, model):
    X, y, Z, t = digits
    with pytest.raises(TypeError, match="not a Family"):
        invariance_report(model, Z, t, "rotation")
    with pytest.raises(ValueError, match="not fitted to"):
        invariance_report(model, Z, t + 100, FAMILY)
    with pytest.raises(ValueError, match="n_elements"):
        invariance_report(model, Z, t, FAMILY, 0)
    with pytest.raises(TypeError, match="not a classifier"):
        invariance_report(LinearRegression().fit(X, y), Z, t, FAMILY)
    with pytest.raises(ValueError, match="NaN"):
        invariance_report(model, np.full_like(Z, np.nan), t, FAMILY)
