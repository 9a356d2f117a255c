"""Probabilities of classes from decision values, by one factor fitted to held-out ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC


def fitted_factor(svc: SVC, gram: NDArray, y: NDArray) -> float:
    """Give the factor of decisions that makes held-out classes most likely.

    One factor for all classes: the most probable class is the predicted one.
    """
    smallest = np.unique(y, return_counts=True)[1].min()
    if smallest < 2:
        raise ValueError(
            "probability=True needs at least two samples of each class, for cross-validation"
        )
    folds = StratifiedKFold(min(5, int(smallest)))
    held_out = cross_val_predict(svc, gram, y, cv=folds, method="decision_function")
    scores = as_columns(held_out)
    _, index = np.unique(y, return_inverse=True)

    def loss(log_factor: float) -> float:
        logs = log_softmax(np.exp(log_factor) * scores, axis=1)
        return -float(logs[np.arange(len(y)), index].mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-7.0, 7.0), method="bounded").x))


def probabilities(decisions: NDArray, factor: float) -> NDArray[np.float64]:
    """Give the probability of each class: (n, classes)."""
    return softmax(factor * as_columns(decisions), axis=1)


def as_columns(decisions: NDArray) -> NDArray[np.float64]:
    """Give one column for each class, also where two classes share one number."""
    return decisions if decisions.ndim == 2 else np.stack([-decisions, decisions], axis=1) / 2
