"""SVMs on orbit kernels, and the repair of indefinite Gram matrices."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from invarlearn import OrbitSVC
from invarlearn.datasets import load_mnist_sample
from invarlearn.kernels import LocalPolynomial, OrbitKernel
from invarlearn.kernels.definiteness import spectrum_of
from invarlearn.transforms import CyclicShift, Reflection, Rotation, Shear, Translation


@pytest.fixture(scope="module")
def digits():
    return load_mnist_sample()


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


def test_indefinite_matrices_are_told_of_if_asked():
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


def test_only_support_vectors_are_compared_where_nothing_was_repaired(digits, monkeypatch):
    rows = digits.y_train < 2
    X, y = digits.X_train[rows][:80], digits.y_train[rows][:80]
    svc = OrbitSVC(Reflection(1), pooling="mean").fit(X, y)
    seen = []
    plain = OrbitKernel.__call__

    def spy(self, A, B=None):
        seen.append(len(B))
        return plain(self, A, B)

    monkeypatch.setattr(OrbitKernel, "__call__", spy)
    svc.predict(digits.X_test[:10])
    assert seen == [len(svc.svc_.support_)]
    assert seen[0] < 80


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


def test_features_and_local_kernels_take_part(digits):
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
    with pytest.raises(TypeError, match="is not a Family"):
        OrbitSVC("translation").fit(X, y)
    with pytest.raises(ValueError, match="not a square one"):
        OrbitSVC(Translation(1)).fit(X[:, :700], y)
    assert OrbitSVC(CyclicShift(radius=2)).fit(np.zeros((4, 6)), [0, 1, 0, 1]).predict([[0.0] * 6])
