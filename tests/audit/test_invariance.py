"""How often predictions change, against counting all of them."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binomtest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from invarlearn._shares import share_of
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
    words_of_family,
)

FAMILY = Translation(2) * Rotation(15)


@pytest.fixture(scope="module")
def digits():
    found = load_mnist_sample()
    return found.X_train[:150], found.y_train[:150], found.X_test[:60], found.y_test[:60]


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
        # a list that is all there is
        (Custom([np.fliplr, np.negative]), lambda X: np.stack([X[:, ::-1], -X], axis=1)),
    ],
    ids=["group", "list"],
)
def test_everything_is_counted(digits, model, family, orbit):
    X, y, Z, t = digits
    t = t.copy()
    model = model.fit(X, y)
    found = invariance_report(model, Z, t, family)
    moved = orbit(Z)
    assert found.overall.exhaustive
    assert found.overall.n_elements == moved.shape[1]
    before = model.predict(Z)
    after = model.predict(moved.reshape(-1, 784)).reshape(len(Z), -1)
    right = after == t[:, None]
    for rows, one in [
        (slice(None), found.overall),
        *((t == label, one) for label, one in found.by_class.items()),
    ]:
        assert one.accuracy.value == pytest.approx((before == t)[rows].mean())
        assert one.moved_accuracy.value == pytest.approx(right[rows].mean())
        flipped = (after != before[:, None])[rows]
        assert one.flip_rate.value == pytest.approx(flipped.mean())
        assert one.consistency.value == pytest.approx(1 - flipped.any(axis=1).mean())
        always = right[rows].all(axis=1) & (before == t)[rows]
        assert one.worst_case_accuracy.value == pytest.approx(always.mean())
        assert one.n_samples == len(always)


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
def test_lists_that_are_all_there_is_are_tried_whole(digits, model, family, count):
    _, _, Z, t = digits
    found = invariance_report(model, Z[:20], t[:20], family, 12)
    assert found.overall.exhaustive == (count is not None)
    assert found.overall.n_elements == (count or 12)
    if count:
        before = model.predict(Z[:20])
        moved = family.orbit(Z[:20])[:, 1:].reshape(-1, 784)
        flipped = model.predict(moved).reshape(20, -1) != before[:, None]
        assert found.overall.flip_rate.value == pytest.approx(flipped.mean())


def test_classes_in_any_order_will_do(digits, model):
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
    found = invariance_report(other, Z, t, Reflection())
    assert found.table()[0] == invariance_report(model, Z, t, Reflection()).table()[0]


def test_random_elements_are_the_same_for_the_same_seed(digits, model):
    _, _, Z, t = digits
    reports = [invariance_report(model, Z, t, FAMILY, 5, random_state=s) for s in (0, 0, 1)]
    tables = [report.table() for report in reports]
    assert tables[0] == tables[1] != tables[2]
    assert not reports[0].overall.exhaustive
    assert list(reports[0].by_transformation) == ["all together", "translation", "rotation"]
    # blocks of rows change nothing
    for report in reports:
        assert report.overall.n_elements == 5
        assert report.overall.worst_case_accuracy.value <= report.overall.accuracy.value


def test_small_blocks_give_the_same(digits, model, monkeypatch):
    _, _, Z, t = digits
    whole = invariance_report(model, Z, t, FAMILY, 4)
    monkeypatch.setattr("invarlearn.audit.invariance.BLOCK_BYTES", 50_000)
    small = invariance_report(model, Z, t, FAMILY, 4)
    assert small.table() == whole.table()
    assert [flip.index for flip in small.flips] == [flip.index for flip in whole.flips]


def test_flips_are_right_as_they_are_and_wrong_when_moved(digits, model):
    _, _, Z, t = digits
    before = Z.copy()
    found = invariance_report(model, Z, t, FAMILY, 20, n_flips=7)
    np.testing.assert_array_equal(Z, before)
    assert len(found.flips) == 7
    margins = [flip.margin for flip in found.flips]
    assert margins == sorted(margins)
    assert max(margins) <= 0
    for flip in found.flips:
        assert flip.label == t[flip.index] == model.predict(flip.row[None])[0]
        np.testing.assert_array_equal(flip.row, Z[flip.index])
        assert flip.predicted == model.predict(flip.moved[None])[0] != flip.label


def test_nothing_flips_without_transformations(digits, model):
    _, _, Z, t = digits
    found = invariance_report(model, Z, t, Identity())
    assert found.overall.n_elements == 0
    assert found.overall.flip_rate.value == 0
    assert found.overall.consistency.value == 1
    assert found.overall.worst_case_accuracy == found.overall.accuracy
    assert not found.flips


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

    found = invariance_report(Sums().fit(X, y), X, y, CyclicShift())
    assert found.overall.exhaustive
    assert found.overall.flip_rate.value == 0
    assert found.overall.flip_rate.high < 0.12
    assert found.overall.worst_case_accuracy.value == found.overall.accuracy.value


def test_sparse_rows_are_audited():
    rng = np.random.RandomState(0)
    X = sparse.random(80, 30, 0.3, format="csr", random_state=0)
    y = (np.asarray(X @ rng.randn(30)) > 0).astype(int)
    model = LogisticRegression(C=100).fit(X, y)
    family = FeatureDropping(budget=3)
    some = invariance_report(model, X, y, family, 10)
    dense = invariance_report(model, X.toarray(), y, family, 10)
    assert some.table() == dense.table()
    assert some.overall.flip_rate.value > 0


def test_tables_and_summaries_say_what_was_found(digits, model):
    _, _, Z, t = digits
    seen = []
    found = invariance_report(
        model, Z, t, FAMILY, 6, progress=lambda done, total, left: seen.append((done, total))
    )
    assert seen == [(i, 18) for i in range(19)]
    rows = found.table()
    assert [row["group"] for row in rows] == ["transformation"] * 3 + ["class"] * 10
    for row in rows:
        assert row["flip_rate_low"] <= row["flip_rate"] <= row["flip_rate_high"]
    wrong = np.flatnonzero(model.predict(Z) != t)
    assert {one.index for one in found.mistakes} <= set(wrong)
    assert len(found.mistakes) == min(12, len(wrong)) > 0
    for one in found.mistakes:
        assert (one.label, one.predicted) == (t[one.index], model.predict(Z[[one.index]])[0])
        assert one.margin <= 0
    assert [one.margin for one in found.mistakes] == sorted(one.margin for one in found.mistakes)
    text = found.summary()
    assert f"family: {words_of_family(FAMILY)}\n" in text
    assert "6 random elements" in text
    assert f"{100 * found.overall.flip_rate.value:.1f} %" in text
    assert "flips most under: translation" in text


def test_intervals_are_wilsons_where_samples_are_right_or_wrong():
    values = np.r_[np.ones(17), np.zeros(6)]
    exact = binomtest(17, 23).proportion_ci(method="wilson")
    found = share_of(values)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))
    for some in (np.zeros(10), np.ones(10)):
        assert 0 <= share_of(some).low <= share_of(some).high <= 1
        assert share_of(some).high - share_of(some).low > 0.2


def test_intervals_cover_the_truth():
    # every sample has a share of its own, of 10 tries that are not independent
    rng = np.random.RandomState(0)
    covered = 0
    for _ in range(400):
        own = rng.beta(0.3, 1.2, size=60)
        found = share_of(rng.binomial(10, own) / 10)
        covered += found.low <= 0.2 <= found.high
    assert 0.91 < covered / 400 < 0.99


def test_mistakes_get_clear_errors(digits, model):
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
