"""Structured outputs: a user's own problem, chains, and clear errors."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from invarlearn import WorstCaseLinearSVC
from invarlearn.estimators.structured import Chain, StructuredProblem, fit_structured


class OneOfTwo(StructuredProblem):
    """A user's own problem: a classifier of two classes, written by hand."""

    n_features = 4

    def features(self, x, y):
        return x * (1.0 if y == 1 else -1.0) / 2

    def worst(self, w, x, y):
        margin = w @ x * (1.0 if y == 1 else -1.0)
        return (x, 1 - y, 1.0) if margin < 1 else (x, y, 0.0)

    def predict(self, w, x):
        return int(w @ x > 0)


@pytest.mark.parametrize("solver", ["columns", "bundle", "pegasos"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_user_defined_problem_is_learned(solver):
    X, y = load_iris(return_X_y=True)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y == 0).astype(int)
    equivalent = WorstCaseLinearSVC(lam=0.1, fit_intercept=False).fit(X, y)
    model = fit_structured(OneOfTwo(), list(X), list(y), lam=0.1, solver=solver, random_state=0)
    assert model.objective == pytest.approx(equivalent.objective_, rel=0.02)
    assert (np.array(model.predict(X)) == y).mean() > 0.95


def test_chains_learn_from_neighbouring_labels():
    """Items alone do not determine the label; their neighbours do."""
    rng = np.random.RandomState(0)

    def sequence():
        y = np.array([0, 0] + [1 if rng.rand() < 0.5 else 2] * 4)
        x = np.where(y == 0, 1.0, -1.0)[:, None] * np.ones(3) + 0.3 * rng.randn(6, 3)
        # one item tells the labels apart
        x[rng.randint(2, 6), 2] += 4.0 * (y[3] == 1) - 4.0 * (y[3] == 2)
        return x, y

    pairs = [sequence() for _ in range(40)]
    X, Y = [x for x, _ in pairs], [y for _, y in pairs]
    model = fit_structured(Chain(3, 3), X[:20], Y[:20], lam=0.01, solver="bundle")
    accuracy = np.mean([p == y for p, y in zip(model.predict(X[20:]), Y[20:], strict=True)])
    items, classes = np.concatenate(X[:20]), np.concatenate(Y[:20])
    items_svc = WorstCaseLinearSVC(lam=0.01, fit_intercept=False).fit(items, classes)
    items_accuracy = items_svc.score(np.concatenate(X[20:]), np.concatenate(Y[20:]))
    assert accuracy > items_accuracy + 0.05


def test_bad_input_gets_clear_errors():
    with pytest.raises(ValueError, match="tol=nan"):
        fit_structured(Chain(2, 2), [np.eye(2)], [[0, 1]], tol=np.nan)
    with pytest.raises(TypeError, match="is not a Family"):
        Chain(2, 2, "shift")
    with pytest.raises(TypeError, match="must be a StructuredProblem"):
        fit_structured("chain", [1], [1])
    with pytest.raises(ValueError, match="2 inputs and 1 outputs"):
        fit_structured(Chain(2, 2), [1, 2], [1])
    with pytest.raises(ValueError, match="solver='sgd' is unknown"):
        fit_structured(Chain(2, 2), [np.eye(2)], [[0, 1]], solver="sgd")


class Careless(Chain):
    """A chain whose author forgot the cost."""

    def worst(self, w, x, y):
        return super().worst(w, x, y)[:2]


def test_incomplete_problems_get_clear_errors():
    with pytest.raises(ValueError, match="must return three values"):
        fit_structured(Careless(2, 2), [np.eye(2)], [[0, 1]])
    with pytest.raises(ValueError, match="0 sample"):
        fit_structured(Chain(2, 2), [np.eye(2)[:0]], [[]])
