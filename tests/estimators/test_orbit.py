"""SVMs on orbit kernels, and the repair of indefinite Gram matrices."""

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, SVR

from invarlearn import OrbitSVC, OrbitSVR
from invarlearn.features import OrientedGradients
from invarlearn.kernels import RBF, LocalPolynomial, OrbitKernel
from invarlearn.kernels.definiteness import spectrum_of
from invarlearn.transforms import Custom, CyclicShift, Reflection, Rotation, Shear, Translation


def indefinite(n=12, seed=0):
    rng = np.random.RandomState(seed)
    gram = rng.randn(n, n)
    return (gram + gram.T) / 2 + np.eye(n)


def test_clip_is_the_nearest_semidefinite_matrix():
    gram = indefinite()
    spectrum = spectrum_of(gram, "clip")
    repaired = spectrum.repaired_gram(gram)
    values, vectors = np.linalg.eigh(gram)
    np.testing.assert_allclose(repaired, (vectors * values.clip(0)) @ vectors.T, atol=1e-10)
    assert spectrum.smallest == pytest.approx(values[0])
    share = np.abs(values[values < 0]).sum() / np.abs(values).sum()
    assert spectrum.negative_share == pytest.approx(share)


def test_flip_and_shift_lift_the_spectrum():
    gram = indefinite()
    values = np.linalg.eigvalsh(gram)
    flipped = spectrum_of(gram, "flip").repaired_gram(gram)
    np.testing.assert_allclose(np.linalg.eigvalsh(flipped), np.sort(np.abs(values)), atol=1e-10)
    shifted = spectrum_of(gram, "shift").repaired_gram(gram)
    np.testing.assert_allclose(np.linalg.eigvalsh(shifted), values - values[0], atol=1e-10)


@pytest.mark.parametrize("psd", ["clip", "flip"])
def test_test_rows_are_repaired_as_the_gram_matrix_is(psd):
    """A test row equal to a training row must get that row of the repaired matrix."""
    gram = indefinite()
    spectrum = spectrum_of(gram, psd)
    np.testing.assert_allclose(
        spectrum.repaired_rows(gram), spectrum.repaired_gram(gram), atol=1e-10
    )


def test_a_definite_matrix_is_left_alone():
    gram = np.eye(5) + 0.1
    for psd in ("clip", "flip", "shift", "warn", None):
        spectrum = spectrum_of(gram, psd)
        assert spectrum.repair is None
        assert spectrum.shift == 0
        assert spectrum.gershgorin
    assert not spectrum_of(indefinite(), None).gershgorin


def test_indefinite_matrices_warn_on_request():
    with pytest.warns(UserWarning, match="the Gram matrix is indefinite"):
        spectrum_of(indefinite(), "warn")
    with pytest.raises(ValueError, match="psd='fold' is unknown"):
        spectrum_of(np.eye(2), "fold")


def test_without_a_family_it_is_an_svc(digits):
    X, y, X_test = digits.X_train[:80], digits.y_train[:80], digits.X_test[:100]
    for options in ({"kernel": "rbf"}, {"kernel": "poly", "degree": 3}, {"kernel": "linear"}):
        ours = OrbitSVC(normalize=False, gamma=0.02, C=2.0, **options).fit(X, y)
        named = {**options, "gamma": 0.02, "coef0": 1.0}
        theirs = SVC(C=2.0, **named).fit(X, y)
        np.testing.assert_allclose(
            ours.decision_function(X_test), theirs.decision_function(X_test), atol=1e-2
        )


@pytest.mark.parametrize(
    "rule", [{}, {"break_ties": True}, {"decision_function_shape": "ovo"}], ids=str
)
def test_predictions_follow_the_rule_of_svc(digits, rule):
    X, y, X_test = digits.X_train[:60], digits.y_train[:60], digits.X_test[:500]
    options = {"kernel": "poly", "degree": 8, "gamma": 1 / 784, "tol": 1e-8}
    ours = OrbitSVC(normalize=False, C=1.0, psd=None, **options, **rule).fit(X, y)
    theirs = SVC(C=1.0, coef0=1.0, **options, **rule).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X_test), theirs.predict(X_test))
    np.testing.assert_allclose(
        ours.decision_function(X_test), theirs.decision_function(X_test), atol=1e-5
    )


def test_margins_decide_ties_on_request(digits):
    X, y, X_test = digits.X_train[:60], digits.y_train[:60], digits.X_test[:500]
    votes = OrbitSVC().fit(X, y).predict(X_test)
    margins = OrbitSVC(break_ties=True).fit(X, y)
    assert (votes != margins.predict(X_test)).any()
    decisions = margins.decision_function(X_test)
    np.testing.assert_array_equal(margins.predict(X_test), decisions.argmax(axis=1))


def test_ties_of_pairs_have_no_margins(digits):
    X, y = digits.X_train[:60], digits.y_train[:60]
    with pytest.raises(ValueError, match="break_ties=True needs"):
        OrbitSVC(break_ties=True, decision_function_shape="ovo").fit(X, y)
    with pytest.raises(TypeError, match="break_ties='yes' must be True or False"):
        OrbitSVC(break_ties="yes").fit(X, y)
    with pytest.raises(ValueError, match="decision_function_shape='all' is unknown"):
        OrbitSVC(decision_function_shape="all").fit(X, y)


def test_it_is_an_svc_on_the_repaired_gram_matrix(digits):
    X, y, X_test = digits.X_train[:60], digits.y_train[:60], digits.X_test[:50]
    family = Translation(2) * Rotation(15)
    svc = OrbitSVC(family, kernel="linear").fit(X, y)
    assert svc.smallest_eigenvalue_ < 0 < svc.negative_share_ < 0.5
    kernel = OrbitKernel(None, family, normalize=True)
    gram = kernel(X).astype(float)
    values, vectors = np.linalg.eigh(gram)
    positive = vectors[:, values > 0]
    project = positive @ positive.T
    theirs = SVC(kernel="precomputed", C=10).fit(gram @ project, y)
    expected = theirs.decision_function(kernel.to_orbits(X_test, X) @ project)
    np.testing.assert_allclose(svc.decision_function(X_test), expected, atol=1e-2)


@pytest.mark.parametrize("psd", ["clip", "flip", "shift", None])
def test_best_fit_beats_the_plain_kernel(digits, psd):
    X, y = digits.X_train[:100], digits.y_train[:100]
    plain = OrbitSVC().fit(X, y).score(digits.X_test[:300], digits.y_test[:300])
    family = Translation(1) * Rotation(15) * Shear(0.3)
    ours = OrbitSVC(family, psd=psd).fit(X, y)
    assert ours.score(digits.X_test[:300], digits.y_test[:300]) > plain + 0.05


# Numbers of rows that the following functions have transformed.
TRANSFORMED = []


def recorded_flip(rows):
    TRANSFORMED.append(len(rows))
    return Reflection(1).orbit(rows)[:, 1]


def recorded(rows):
    TRANSFORMED.append(len(rows))
    return rows.copy()


def test_only_support_vectors_are_compared_if_nothing_was_repaired(digits):
    rows = digits.y_train < 2
    X, y = digits.X_train[rows][:80], digits.y_train[rows][:80]
    flipped = Custom([recorded_flip], is_group=True, is_unitary=True)
    svc = OrbitSVC(flipped, pooling="mean").fit(X, y)
    TRANSFORMED.clear()
    svc.decision_function(digits.X_test[:10])
    assert sum(TRANSFORMED) == len(svc.svc_.support_) < 80
    rows = svc.kernel_(digits.X_test[:10], X)
    np.testing.assert_allclose(
        svc.decision_function(digits.X_test[:10]), svc.svc_.decision_function(rows), atol=1e-4
    )


def test_a_search_over_c_computes_each_gram_matrix_once(digits, tmp_path, monkeypatch):
    calls = []
    plain = OrbitKernel.__call__

    def spy(self, A, B=None):
        if B is None:
            calls.append(1)
        return plain(self, A, B)

    monkeypatch.setattr(OrbitKernel, "__call__", spy)
    search = GridSearchCV(
        OrbitSVC(Translation(1), memory=str(tmp_path)), {"C": [0.1, 1, 10]}, cv=2, refit=False
    )
    search.fit(digits.X_train[:40], digits.y_train[:40] % 2)
    assert len(calls) == 2


def test_features_and_local_kernels_can_be_used(digits):
    X, y = digits.X_train[:40], digits.y_train[:40] % 2
    root = OrbitSVC(Translation(1), features=FunctionTransformer(np.sqrt)).fit(X, y)
    local = OrbitSVC(Translation(1), kernel=LocalPolynomial((5,), (2, 4)), normalize=False)
    assert root.score(X, y) > 0.9
    assert local.fit(X, y).score(X, y) > 0.9


def test_bad_input_gets_clear_errors(digits):
    X, y = digits.X_train[:20], digits.y_train[:20]
    with pytest.raises(ValueError, match="one class only"):
        OrbitSVC().fit(X, np.zeros(20))
    with pytest.raises(ValueError, match="kernel='cosine' is unknown"):
        OrbitSVC(kernel="cosine").fit(X, y)
    with pytest.raises(ValueError, match="psd='fold' is unknown"):
        OrbitSVC(psd="fold").fit(X, y)
    with pytest.raises(ValueError, match="out of its frame"):
        OrbitSVC(Translation(28)).fit(X, y)
    with pytest.raises(ValueError, match="gamma='wide' is unknown"):
        OrbitSVC(gamma="wide").fit(X, y)
    with pytest.raises(TypeError, match="is not a Family"):
        OrbitSVC("translation").fit(X, y)
    with pytest.raises(ValueError, match="not a square one"):
        OrbitSVC(Translation(1)).fit(X[:, :700], y)
    blank = OrbitSVC(CyclicShift(radius=2)).fit(np.zeros((4, 6)), [0, 1, 0, 1])
    assert blank.predict([[0.0] * 6])[0] in (0, 1)


def test_probabilities_are_calibrated_and_agree_with_predictions(digits):
    X, y = digits.X_train[:200], digits.y_train[:200]
    X_test, y_test = digits.X_test[:500], digits.y_test[:500]
    svc = OrbitSVC(Translation(1) * Rotation(15), probability=True).fit(X, y)
    probabilities = svc.predict_proba(X_test)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (svc.classes_[probabilities.argmax(axis=1)] == svc.predict(X_test)).mean() > 0.98
    # better than constants, and about as confident as accurate
    assert (
        log_loss(y_test, probabilities) < 0.4 < log_loss(y_test, np.full(probabilities.shape, 0.1))
    )
    correct = svc.predict(X_test) == y_test
    assert abs(probabilities.max(axis=1).mean() - correct.mean()) < 0.1


def test_two_classes_have_probabilities_too(digits):
    y = digits.y_train[:200] < 5
    svc = OrbitSVC(Translation(1), probability=True).fit(digits.X_train[:200], y)
    probabilities = svc.predict_proba(digits.X_test[:50])
    np.testing.assert_array_equal(
        probabilities[:, 1] > 0.5, svc.decision_function(digits.X_test[:50]) > 0
    )


def test_probabilities_need_two_samples_of_each_class():
    X, y = np.random.RandomState(0).rand(4, 9), [0, 0, 0, 1]
    with pytest.raises(ValueError, match="two or more samples of each class"):
        OrbitSVC(Translation(1), probability=True).fit(X, y)
    svc = OrbitSVC(Translation(1)).fit(X, y)
    assert not hasattr(svc, "predict_proba")
    with pytest.raises(NotFittedError, match="fit once more"):
        svc.set_params(probability=True).predict_proba(X)


def test_regression_is_an_svr_on_the_repaired_gram_matrix(digits):
    X, X_test = digits.X_train[:60], digits.X_test[:30]
    y = X.mean(axis=1).astype(float) * 10
    family = Translation(1) * Rotation(15)
    ours = OrbitSVR(family, psd=None, gamma=1.0, epsilon=0.01).fit(X, y)
    kernel = OrbitKernel(RBF(1.0), family, normalize=True)
    theirs = SVR(kernel="precomputed", C=10, epsilon=0.01).fit(kernel(X), y)
    expected = theirs.predict(kernel.to_orbits(X_test, X))
    np.testing.assert_allclose(ours.predict(X_test), expected, atol=1e-3)


def test_regression_with_a_family_is_more_accurate():
    """The target is the distance of two peaks, whose position varies."""
    rng = np.random.RandomState(0)
    gaps, places = rng.uniform(4, 16, 150), rng.randint(40, size=150)

    def signal(gap, place):
        peaks = [np.exp(-0.5 * ((np.arange(40) - at) / 2) ** 2) for at in (5, 5 + gap)]
        return np.roll(sum(peaks), place)

    X = np.stack([signal(gap, place) for gap, place in zip(gaps, places, strict=True)])
    train, test = slice(0, 40), slice(40, None)
    plain = OrbitSVR().fit(X[train], gaps[train]).score(X[test], gaps[test])
    ours = OrbitSVR(CyclicShift()).fit(X[train], gaps[train]).score(X[test], gaps[test])
    assert ours > 0.95
    assert plain < 0.5


@pytest.mark.parametrize("family", [Translation(1) * Rotation(15), Translation(5, wrap=True)])
@pytest.mark.parametrize("psd", ["clip", None])
def test_cached_orbits_do_not_change_predictions(digits, family, psd):
    X, y = digits.X_train[:70], digits.y_train[:70]
    svc = OrbitSVC(family * Custom([recorded]), psd=psd).fit(X, y)
    TRANSFORMED.clear()
    first = svc.decision_function(digits.X_test[:20])
    assert TRANSFORMED
    TRANSFORMED.clear()
    np.testing.assert_array_equal(svc.decision_function(digits.X_test[:20]), first)
    # row by row, after pickling, and with too little memory for a cache
    alone = [svc.decision_function(row[None])[0] for row in digits.X_test[:3]]
    np.testing.assert_allclose(alone, first[:3], atol=1e-4)
    # rows of another precision are converted to that of the training rows
    np.testing.assert_allclose(svc.decision_function(digits.X_test[:20].tolist()), first, atol=1e-4)
    assert not TRANSFORMED
    copy = pickle.loads(pickle.dumps(svc))
    for _ in range(2):
        with config_context(working_memory=1):
            decisions = copy.decision_function(digits.X_test[:20])
        np.testing.assert_allclose(decisions, first, atol=1e-4)
        assert TRANSFORMED
        TRANSFORMED.clear()


def test_prediction_transforms_support_vectors_only(digits):
    """At prediction, x itself is compared with the orbits of support vectors."""
    X, y = digits.X_train[:40], digits.y_train[:40]
    seen = []

    def shifted(rows):
        seen.append(len(rows))
        return np.roll(rows, 1, axis=1)

    svc = OrbitSVC(Custom([shifted]), psd=None).fit(X, y)
    seen.clear()
    svc.predict(digits.X_test[:7])
    assert sum(seen) == len(svc.svc_.support_)


def test_blank_images_have_finite_scores(digits):
    X, y = digits.X_train[:40].copy(), digits.y_train[:40]
    X[0] = 0
    for features in (None, OrientedGradients()):
        svc = OrbitSVC(Translation(1) * Rotation(15), features=features).fit(X, y)
        assert np.isfinite(svc.decision_function(np.zeros((2, 784)))).all()


def test_few_separable_rows_do_not_give_certainty(digits):
    chosen = np.flatnonzero(np.isin(digits.y_train, (3, 8)))
    rows = np.random.RandomState(0).permutation(chosen)[:24]
    svc = OrbitSVC(Translation(1) * Rotation(15), probability=True)
    svc.fit(digits.X_train[rows], digits.y_train[rows])
    test = np.isin(digits.y_test, (3, 8))
    probabilities = svc.predict_proba(digits.X_test[test])
    assert log_loss(digits.y_test[test], probabilities) < 0.4


@pytest.mark.parametrize(
    ("machine", "wrong"),
    [
        (OrbitSVC, {"C": -1}),
        (OrbitSVC, {"tol": "small"}),
        (OrbitSVC, {"class_weight": "even"}),
        (OrbitSVR, {"epsilon": -1}),
    ],
)
def test_bad_parameters_are_refused_before_the_kernel_is_computed(digits, machine, wrong):
    def never(rows):
        raise AssertionError("the family was used")

    with pytest.raises(ValueError, match=f"'{next(iter(wrong))}' parameter"):
        machine(Custom([never]), **wrong).fit(digits.X_train[:20], digits.y_train[:20])
