"""The rivals are what they are said to be, and every method runs on every kind of row."""

import sys

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from invarlearn.datasets import load_mnist_sample
from invarlearn.estimators import _copies
from invarlearn.experiments import cnn, few_labels, recipe, rivals
from invarlearn.experiments.few_labels import METHODS, measured, upright
from invarlearn.experiments.rivals import SmallCNN, TunedSVC, scattering
from invarlearn.kernels._gaussian import similarity
from invarlearn.transforms import Rotation, Translation


@pytest.fixture(scope="module")
def digits():
    return load_mnist_sample()


@pytest.fixture(scope="module")
def task(digits):
    return upright(
        digits.X_train[:40], digits.y_train[:40], digits.X_test[:100], digits.y_test[:100]
    )


@pytest.mark.parametrize("method", [m for m in METHODS if "CNN" not in m and "scattering" not in m])
def test_methods_learn_something(task, method, monkeypatch):
    monkeypatch.setattr(_copies, "MOST_COPIES", 8)
    found = measured(METHODS[method], task, 0)
    assert found["accuracy"] > 40
    assert found["fit_seconds"] > 0
    assert found["predict_seconds"] > 0


def test_c_and_gamma_are_those_that_predict_left_out_samples_best(digits, monkeypatch):
    monkeypatch.setattr(rivals, "SVC_ROWS", 1200)
    monkeypatch.setattr(rivals, "CHOICE_ROWS", 600)
    X, y = digits.X_train[:60].astype(float), digits.y_train[:60]
    family = Translation(2) * Rotation(15)
    model = TunedSVC(family, random_state=0).fit(X, y)
    # by hand: samples are left out with their copies
    copies = np.stack([X, *(g(X) for g in family.sample(19, 0))]) - X.mean(axis=0)
    scale = 1 / (784 * copies[0].var())
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))
    scores = {}
    for C in (1.0, 10.0, 100.0):
        for gamma in (scale / 4, scale, 4 * scale):
            scores[C, gamma] = np.mean(
                [
                    SVC(C=C, gamma=gamma)
                    .fit(copies[:10, train].reshape(-1, 784), np.tile(y[train], 10))
                    .score(copies[0, test], y[test])
                    for train, test in folds
                ]
            )
    assert scores[model.C_, model.gamma_] == max(scores.values())
    # as scikit-learn's own, with these
    svc = SVC(C=model.C_, gamma=model.gamma_).fit(copies.reshape(-1, 784), np.tile(y, 20))
    test = digits.X_test.astype(float) - X.mean(axis=0)
    assert np.mean(svc.predict(test) == model.predict(digits.X_test)) > 0.995
    plain = TunedSVC(random_state=0).fit(X, y)
    assert model.score(digits.X_test, digits.y_test) > plain.score(digits.X_test, digits.y_test)


def test_without_torch_one_is_told_how_to_get_it(digits, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'invarlearn\[rivals\]'"):
        SmallCNN().fit(digits.X_train[:20], digits.y_train[:20])


def test_a_network_learns_and_augmentation_helps(digits):
    pytest.importorskip("torch", reason="the extra 'rivals' is not installed")
    X, y = digits.X_train[:100], digits.y_train[:100]
    few = {"n_steps": 60, "width": 8}
    plain = SmallCNN(**few).fit(X, y)
    moved = SmallCNN(Translation(2) * Rotation(15), **few).fit(X, y)
    scores = [model.score(digits.X_test, digits.y_test) for model in (plain, moved)]
    assert scores[0] > 0.6
    assert scores[1] > scores[0]
    again = SmallCNN(**few).fit(X, y)
    np.testing.assert_array_equal(again.predict(digits.X_test), plain.predict(digits.X_test))


@pytest.mark.parametrize("variant", ["labels smoothed", "the same, half the width"])
def test_other_networks_learn_too(digits, variant, monkeypatch):
    pytest.importorskip("torch", reason="the extra 'rivals' is not installed")
    parts = (digits.X_train[:50], digits.y_train[:50], digits.X_test[:200], digits.y_test[:200])
    monkeypatch.setattr(cnn, "held_out", lambda *_: parts)
    monkeypatch.setitem(cnn.VARIANTS, variant, {**cnn.VARIANTS[variant], "n_steps": 30})
    assert cnn.run_cnn(variant, 50, 200, 0)["accuracy"] > 40


def test_scattering_changes_less_under_shifts_than_from_digit_to_digit(digits):
    pytest.importorskip("kymatio", reason="the extra 'rivals' is not installed")
    X = digits.X_train[:20]
    moved = Translation(1).orbit(X)[:, 1]
    F, F_moved = (scattering(rows, (28, 28)) for rows in (X, moved))
    away = np.linalg.norm(F - F_moved) / np.linalg.norm(F - F[::-1])
    assert away < 0.7 * np.linalg.norm(X - moved) / np.linalg.norm(X - X[::-1])
    model = TunedSVC(features=lambda rows: scattering(rows, (28, 28))).fit(
        digits.X_train[:100], digits.y_train[:100]
    )
    assert model.score(digits.X_test[:500], digits.y_test[:500]) > 0.8


@pytest.mark.parametrize("data", ["MNIST", "Translated MNIST", "Rotated MNIST", "letters"])
def test_rows_of_a_task_have_its_shape(real_data, data):
    task = few_labels.images(data, 5, 20, 0)
    assert task.X.shape[1] == task.X_test.shape[1] == np.prod(task.shape)
    for family in (task.family, task.listed):
        assert family.sample(1, 0)[0](task.X).shape == task.X.shape
    assert len(task.X_test) == len(task.y_test) == 20


@pytest.mark.parametrize("variant", recipe.OTHERS)
def test_other_recipes_read_digits_too(digits, variant, monkeypatch):
    parts = (digits.X_train[:40], digits.y_train[:40], digits.X_test[:200], digits.y_test[:200])
    monkeypatch.setattr(recipe, "held_out", lambda *_: parts)
    monkeypatch.setattr(_copies, "MOST_COPIES", 8)
    assert recipe.run_recipe(variant, 40, 200, 0)["accuracy"] > 70


def test_changes_are_penalised_as_is_said():
    rng = np.random.RandomState(0)
    n, copies, nu, lam = 4, 3, 2.0, 0.1
    F = rng.randn(n * copies, 5)
    K, Y = similarity(F, F, 0.1), rng.randn(n, 2)

    def objective(flat):
        alpha = flat.reshape(-1, 2)
        f = (K @ alpha).reshape(copies, n, 2)
        changes = ((f[1:] - f[0]) ** 2).sum() / (copies - 1)
        return ((f[0] - Y) ** 2).sum() + nu * changes + lam * (alpha * (K @ alpha)).sum()

    alpha = recipe.changes_weights(K, Y, nu, lam).ravel()
    assert approx_fprime(alpha, objective, 1e-6) == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("method", ["SVC", "InvariantClassifier"])
def test_a_table_is_learned_from_one_half(method):
    task = few_labels.table("breast cancer", 0)
    assert len(task.X) + len(task.X_test) == 569
    assert few_labels.run_table("breast cancer", method, 0)["accuracy"] > 93
