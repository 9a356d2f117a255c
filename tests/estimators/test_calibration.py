"""Temperature scaling: the optimum, and probabilities from pairs of classes."""

import numpy as np
import pytest
from scipy.special import expit, log_softmax
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

from invarlearn.estimators.calibration import (
    fit_inverse_temperature,
    held_out_inverse_temperature,
    pairwise_losses,
    pairwise_probabilities,
)


def test_the_true_inverse_temperature_is_recovered():
    rng = np.random.RandomState(0)
    scores = rng.standard_normal((20_000, 3))
    drawn = (2.5 * scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    assert fit_inverse_temperature(scores, drawn) == pytest.approx(2.5, rel=0.03)


def test_no_other_inverse_temperature_is_more_likely():
    rng = np.random.RandomState(1)
    labels = rng.randint(4, size=50)
    scores = rng.standard_normal((50, 4)) + (labels[:, None] == np.arange(4))
    targets = np.full((50, 4), 1 / 52 / 3)
    targets[np.arange(50), labels] = 1 - 1 / 52

    def likelihood(inverse_temperature):
        return (targets * log_softmax(inverse_temperature * scores, axis=1)).sum()

    best = fit_inverse_temperature(scores, labels)
    assert likelihood(best) > max(likelihood(best * 1.05), likelihood(best / 1.05))


def test_scores_without_errors_do_not_give_certainty():
    labels = np.array([0, 1] * 5)
    scores = np.where(np.arange(2) == labels[:, None], 1.0, -1.0)
    inverse_temperature = fit_inverse_temperature(scores, labels)
    assert expit(2 * inverse_temperature) == pytest.approx(1 - 1 / 12, abs=1e-3)


def test_probabilities_of_two_classes_are_logistic():
    decisions = np.linspace(-2, 2, 9)
    chances = pairwise_probabilities(decisions, 2, 3.0)
    np.testing.assert_allclose(chances[:, 1], expit(3 * decisions))


def test_a_class_that_wins_all_pairs_has_no_loss():
    # pairs (0, 1), (0, 2), (1, 2): class 1 wins both of its own
    decisions = np.array([[-2.0, 1.0, 0.5]])
    np.testing.assert_allclose(pairwise_losses(decisions, 3), [[2.0, 0.0, 1.5]])
    assert pairwise_probabilities(decisions, 3, 1.0).argmax() == 1


def test_held_out_decisions_are_used():
    X, y = load_iris(return_X_y=True)
    svc = SVC(kernel="precomputed", decision_function_shape="ovo")
    gram = X @ X.T
    inverse_temperature = held_out_inverse_temperature(svc, gram, y)
    folds = StratifiedKFold(5)
    held_out = cross_val_predict(svc, gram, y, cv=folds, method="decision_function")
    expected = fit_inverse_temperature(-pairwise_losses(held_out, 3), y)
    assert inverse_temperature == pytest.approx(expected)
    decisions = svc.fit(gram, y).decision_function(gram)
    in_sample = fit_inverse_temperature(-pairwise_losses(decisions, 3), y)
    assert inverse_temperature != pytest.approx(in_sample, rel=1e-3)
    chances = pairwise_probabilities(decisions, 3, inverse_temperature)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert (chances.argmax(axis=1) == y).mean() > 0.95
    with pytest.raises(ValueError, match="class 0 has one"):
        held_out_inverse_temperature(svc, np.eye(3), np.array([0, 1, 1]))
