"""Class probabilities by temperature scaling."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC


def fit_inverse_temperature(scores: NDArray, class_indices: NDArray[np.intp]) -> float:
    """Return the inverse temperature with the largest likelihood of held-out samples.

    The inverse temperature b maximises ``sum_i log softmax(b * scores_i)[class_i]``. Targets are
    smoothed as in Platt's method: the target of the class of a sample is ``1 - 1 / (n_samples +
    2)``. Therefore b is finite if the scores predict all samples correctly.

    Parameters
    ----------
    scores : array of shape (n_samples, n_classes)
        Scores of held-out samples.
    class_indices : array of shape (n_samples,)
        The class of each sample, numbered from 0.
    """
    n, n_classes = scores.shape
    smoothing = np.full(n, 1 / (n + 2))
    targets = np.repeat(smoothing[:, None] / (n_classes - 1), n_classes, axis=1)
    targets[np.arange(n), class_indices] = 1 - smoothing

    def loss(log_inverse_temperature: float) -> float:
        logs = log_softmax(np.exp(log_inverse_temperature) * scores, axis=1)
        return -float((targets * logs).sum(axis=1).mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-5.0, 5.0), method="bounded").x))


def held_out_inverse_temperature(svc: SVC, gram: NDArray, y: NDArray) -> float:
    """Return the inverse temperature of :func:`pairwise_probabilities` by cross-validation.

    Parameters
    ----------
    svc : SVC
        A classifier with a precomputed kernel and one-vs-one decision values. Copies of it are
        fitted.
    gram : array of shape (n_samples, n_samples)
        The kernel matrix.
    y : array of shape (n_samples,)
    """
    classes, class_indices = np.unique(y, return_inverse=True)
    folds = StratifiedKFold(min(5, check_class_counts(y)))
    held_out = cross_val_predict(svc, gram, y, cv=folds, method="decision_function")
    return fit_inverse_temperature(-pairwise_losses(held_out, len(classes)), class_indices)


def check_class_counts(y: NDArray) -> int:
    """Return the size of the smallest class; raise ValueError if it has a single sample."""
    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < 2:
        raise ValueError(
            f"probability=True needs two or more samples of each class for cross-validation; class "
            f"{classes[counts.argmin()]} has one: add samples, or set probability=False"
        )
    return int(counts.min())


def pairwise_probabilities(
    decisions: NDArray, n_classes: int, inverse_temperature: float
) -> NDArray[np.float64]:
    """Return class probabilities from one-vs-one decision values: (n_samples, n_classes).

    They are the softmax of ``-inverse_temperature`` times :func:`pairwise_losses`. With two
    classes, this is the logistic function of the decision value. A class that wins all its pairs is
    the most probable one.

    Parameters
    ----------
    decisions : array of shape (n_samples, n_pairs), or (n_samples,) for two classes
        As in :func:`pairwise_losses`.
    n_classes : int
    inverse_temperature : float
    """
    return softmax(-inverse_temperature * pairwise_losses(decisions, n_classes), axis=1)


def pairwise_losses(decisions: NDArray, n_classes: int) -> NDArray[np.float64]:
    """Return, for each class, the sum of the margins by which it loses its pairs.

    Parameters
    ----------
    decisions : array of shape (n_samples, n_pairs), or (n_samples,) for two classes
        One-vs-one decision values as returned by SVC: with two classes, positive for the second;
        otherwise, positive for the first class of a pair.
    n_classes : int

    Returns
    -------
    array of shape (n_samples, n_classes)
    """
    pairs = -decisions[:, None] if decisions.ndim == 1 else decisions
    losses = np.zeros((len(pairs), n_classes))
    for p, (i, j) in enumerate(zip(*np.triu_indices(n_classes, 1), strict=True)):
        losses[:, i] += np.maximum(-pairs[:, p], 0)
        losses[:, j] += np.maximum(pairs[:, p], 0)
    return losses
