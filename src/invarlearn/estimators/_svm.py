"""One-vs-one decision values of a fitted SVC by matrix products, and decision values of classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC
from sklearn.utils import gen_batches


def pair_decisions(svc: SVC, X: NDArray, gamma: float) -> NDArray[np.float64]:
    """Return the one-vs-one decision values: (n_samples, n_pairs), positive for the first class.

    Parameters
    ----------
    svc : SVC
        Fitted, with a named kernel.
    X : array of shape (n_samples, n_features)
    gamma : float
        The value of gamma that ``svc`` was fitted with.
    """
    params = {"gamma": gamma, "degree": svc.degree, "coef0": svc.coef0}
    weights = pair_weights(svc)
    # with two classes, scikit-learn's decision values are positive for the second class
    sign = -1.0 if len(svc.classes_) == 2 else 1.0
    out = np.empty((len(X), weights.shape[1]))
    rows = max(1, int(get_config()["working_memory"] * 2**20 / 32 / max(len(weights), 1)))
    for batch in gen_batches(len(X), rows):
        kernel = pairwise_kernels(
            X[batch].astype(float),
            svc.support_vectors_,
            metric=svc.kernel,
            filter_params=True,
            **params,
        )
        out[batch] = sign * (kernel @ weights + svc.intercept_)
    return out


def pair_weights(svc: SVC) -> NDArray[np.float64]:
    """Return the weight of each support vector in each pair of classes: (n_SV, n_pairs)."""
    n_classes = len(svc.classes_)
    class_of = np.repeat(np.arange(n_classes), svc.n_support_)
    if n_classes == 2:
        return svc.dual_coef_.T
    pairs = [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
    weights = np.zeros((len(class_of), len(pairs)))
    for p, (i, j) in enumerate(pairs):
        # libsvm stores a coefficient of each support vector for each of the other classes
        weights[class_of == i, p] = svc.dual_coef_[j - 1, class_of == i]
        weights[class_of == j, p] = svc.dual_coef_[i, class_of == j]
    return weights


def votes_of(decisions: NDArray, n_classes: int) -> tuple[NDArray, NDArray]:
    """Return the number of pairs that each class wins, and the sum of its decision values.

    Parameters
    ----------
    decisions : array of shape (n_samples, n_pairs)
        Positive for the first class of a pair.
    n_classes : int

    Returns
    -------
    votes, margins : arrays of shape (n_samples, n_classes)
    """
    votes = np.zeros((len(decisions), n_classes))
    margins = np.zeros((len(decisions), n_classes))
    p = 0
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            won = decisions[:, p] > 0
            votes[:, i] += won
            votes[:, j] += ~won
            margins[:, i] += decisions[:, p]
            margins[:, j] -= decisions[:, p]
            p += 1
    return votes, margins


def class_decisions(decisions: NDArray, n_classes: int) -> NDArray[np.float64]:
    """Return one decision value for each class, as SVC does: (n_samples, n_classes).

    The value is ``votes + margins / (3 (|margins| + 1))``. Margins decide between classes with
    equal numbers of votes.

    Parameters
    ----------
    decisions : array of shape (n_samples, n_pairs)
        Positive for the first class of a pair.
    n_classes : int
    """
    votes, margins = votes_of(decisions, n_classes)
    return votes + margins / (3 * (np.abs(margins) + 1))
