"""Rival methods against their definitions; every method runs on every kind of row."""

import sys

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from invarlearn.datasets import load_mnist_sample
from invarlearn.experiments import cnn, few_labels, recipe
from invarlearn.experiments.few_labels import COMPARED_METHODS, measured, upright
from invarlearn.experiments.rivals import SmallCNN, TunedSVC, scattering
from invarlearn.kernels.gaussian import rbf_plus_one
from invarlearn.transforms import Rotation, Translation


@pytest.fixture(scope="module")
def digits():
    return load_mnist_sample()


@pytest.fixture(scope="module")
def task(digits):
    return upright(
        digits.X_train[:40], digits.y_train[:40], digits.X_test[:100], digits.y_test[:100]
    )


@pytest.mark.parametrize(
    "method", [m for m in COMPARED_METHODS if "CNN" not in m and "scattering" not in m]
)
def test_methods_learn_something(task, method):
    def make(task, seed):
        model = COMPARED_METHODS[method](task, seed)
        return model.set_params(n_copies=8) if method == "InvariantClassifier" else model

    result = measured(make, task, 0)
    assert result["accuracy"] > 40
    assert result["fit_seconds"] > 0
    assert result["predict_seconds"] > 0


def test_c_and_gamma_maximise_held_out_accuracy(digits):
    X, y = digits.X_train[:60].astype(float), digits.y_train[:60]
    family = Translation(2) * Rotation(15)
    model = TunedSVC(family, max_rows=1200, max_choice_rows=600, random_state=0).fit(X, y)
    # an explicit grid search: all augmented copies of a sample are held out together
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
    # predictions equal those of scikit-learn with these parameters
    svc = SVC(C=model.C_, gamma=model.gamma_).fit(copies.reshape(-1, 784), np.tile(y, 20))
    test = digits.X_test.astype(float) - X.mean(axis=0)
    assert np.mean(svc.predict(test) == model.predict(digits.X_test)) > 0.995
    plain = TunedSVC(random_state=0).fit(X, y)
    assert model.score(digits.X_test, digits.y_test) > plain.score(digits.X_test, digits.y_test)


def test_without_torch_the_error_names_the_extra(digits, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'invarlearn\[rivals\]'"):
        SmallCNN().fit(digits.X_train[:20], digits.y_train[:20])


def test_a_network_learns_and_augmentation_helps(digits):
    pytest.importorskip("torch", reason="the extra 'rivals' is not installed")
    X, y = digits.X_train[:100], digits.y_train[:100]
    small = {"n_steps": 60, "width": 8}
    plain = SmallCNN(**small).fit(X, y)
    augmented = SmallCNN(Translation(2) * Rotation(15), **small).fit(X, y)
    scores = [model.score(digits.X_test, digits.y_test) for model in (plain, augmented)]
    assert scores[0] > 0.6
    assert scores[1] > scores[0]
    again = SmallCNN(**small).fit(X, y)
    np.testing.assert_array_equal(again.predict(digits.X_test), plain.predict(digits.X_test))


@pytest.mark.parametrize("variant", ["labels smoothed", "the same, half the width"])
def test_other_networks_learn(digits, variant):
    pytest.importorskip("torch", reason="the extra 'rivals' is not installed")
    parts = (digits.X_train[:50], digits.y_train[:50], digits.X_test[:200], digits.y_test[:200])
    changes = {**cnn.NETWORKS[variant], "n_steps": 30}
    assert cnn.score_network(changes, parts, 0)["accuracy"] > 40


def test_scattering_changes_less_under_shifts_than_from_digit_to_digit(digits):
    pytest.importorskip("kymatio", reason="the extra 'rivals' is not installed")
    X = digits.X_train[:20]
    moved = Translation(1).orbit(X)[:, 1]
    F, F_moved = (scattering(rows, (28, 28)) for rows in (X, moved))
    relative_change = np.linalg.norm(F - F_moved) / np.linalg.norm(F - F[::-1])
    assert relative_change < 0.7 * np.linalg.norm(X - moved) / np.linalg.norm(X - X[::-1])
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
def test_other_recipes_classify_digits(digits, variant):
    parts = (digits.X_train[:40], digits.y_train[:40], digits.X_test[:200], digits.y_test[:200])
    assert recipe.score_variant(variant, {"n_copies": 8}, parts, 0)["accuracy"] > 70


def test_changes_minimise_the_documented_objective():
    rng = np.random.RandomState(0)
    n, copies, nu, lam = 4, 3, 2.0, 0.1
    F = rng.randn(n * copies, 5)
    K, Y = rbf_plus_one(F, F, 0.1), rng.randn(n, 2)

    def objective(flat):
        alpha = flat.reshape(-1, 2)
        f = (K @ alpha).reshape(copies, n, 2)
        changes = ((f[1:] - f[0]) ** 2).sum() / (copies - 1)
        return ((f[0] - Y) ** 2).sum() + nu * changes + lam * (alpha * (K @ alpha)).sum()

    alpha = recipe.changes_weights(K, Y, nu, lam).ravel()
    assert approx_fprime(alpha, objective, 1e-6) == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("method", ["SVC", "InvariantClassifier"])
def test_half_of_a_table_predicts_the_other_half(method):
    task = few_labels.table("breast cancer", 0)
    assert len(task.X) + len(task.X_test) == 569
    assert few_labels.run_table("breast cancer", method, 0)["accuracy"] > 93
