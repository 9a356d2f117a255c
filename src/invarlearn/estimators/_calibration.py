"""Probabilities of classes from one-vs-one decisions, by one number fitted to held-out ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC


def fitted_steepness(svc: SVC, gram: NDArray, y: NDArray) -> float:
    """Give the steepness of :func:`probabilities` that makes held-out classes most likely.

    Parameters
    ----------
    svc : SVC
        With a precomputed kernel and one-vs-one decisions.
    gram : array of shape (n, n)
    y : array of shape (n,)
    """
    classes, index = np.unique(y, return_inverse=True)
    folds = StratifiedKFold(min(5, check_counts(y)))
    held_out = cross_val_predict(svc, gram, y, cv=folds, method="decision_function")
    return steepness_of(-losses(held_out, len(classes)), index)


def steepness_of(scores: NDArray, index: NDArray[np.intp]) -> float:
    """Give the number that makes classes most likely under the softmax of it times the scores.

    Parameters
    ----------
    scores : array of shape (n, classes)
        Of rows that were held out.
    index : array of shape (n,)
        The class of each, from 0 on.
    """
    n, n_classes = scores.shape
    # targets with a doubt, as Platt has them: one of n + 2 rows may be wrong, so that held-out rows
    # which are all right do not make certainties
    doubt = np.full(n, 1 / (n + 2))
    targets = np.repeat(doubt[:, None] / (n_classes - 1), n_classes, axis=1)
    targets[np.arange(n), index] = 1 - doubt

    def loss(log_steepness: float) -> float:
        logs = log_softmax(np.exp(log_steepness) * scores, axis=1)
        return -float((targets * logs).sum(axis=1).mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-5.0, 5.0), method="bounded").x))


def check_counts(y: NDArray) -> int:
    """Give the size of the smallest class, which cross-validation needs to be two or more."""
    smallest = int(np.unique(y, return_counts=True)[1].min())
    if smallest < 2:
        raise ValueError(
            "probability=True needs at least two samples of each class, for cross-validation"
        )
    return smallest


def probabilities(decisions: NDArray, n_classes: int, steepness: float) -> NDArray[np.float64]:
    """Give the probability of each class, (n, classes): the softmax of minus its losses.

    For two classes that is the logistic function of the decision. A class that wins all its pairs
    is the most probable one.
    """
    return softmax(-steepness * losses(decisions, n_classes), axis=1)


def losses(decisions: NDArray, n_classes: int) -> NDArray[np.float64]:
    """Sum up by how much each class loses its pairs: (n, classes)."""
    # of two classes the second is the positive one, of more the first of a pair
    pairs = -decisions[:, None] if decisions.ndim == 1 else decisions
    out = np.zeros((len(pairs), n_classes))
    for p, (i, j) in enumerate(zip(*np.triu_indices(n_classes, 1), strict=True)):
        out[:, i] += np.maximum(-pairs[:, p], 0)
        out[:, j] += np.maximum(pairs[:, p], 0)
    return out
