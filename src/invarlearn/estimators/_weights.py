"""Sample weights, multiplied by class weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_sample_weight


def check_sample_weight(sample_weight: ArrayLike | None, X: Any) -> NDArray[np.float64]:
    """Return the weight of each sample, (n_samples,); raise ValueError if one is negative.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), optional
        None: 1 for each sample.
    X : array or sparse array of shape (n_samples, n_features)
    """
    return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def class_weights(class_weight: Any, y: NDArray, classes: NDArray) -> NDArray[np.float64]:
    """Return the weight of each class: (n_classes,).

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        A dict contains weights by class; other classes have weight 1. "balanced" is ``n_samples /
        (n_classes * n_samples_of_the_class)``, where ``n_classes`` is the number of classes in y;
        other classes have weight 1.
    y : array of shape (n_samples,)
    classes : array of shape (n_classes,), sorted
    """
    weights = np.ones(len(classes))
    if class_weight is None:
        return weights
    if isinstance(class_weight, str):
        present = np.isin(classes, y)
        weights[present] = compute_class_weight(class_weight, classes=classes[present], y=y)
        return weights
    return compute_class_weight(class_weight, classes=classes, y=y)


def training_weights(
    class_weight: Any, y: NDArray, classes: NDArray, sample_weight: NDArray | None = None
) -> NDArray[np.float64]:
    """Return the weight of each sample times that of its class: (n_samples,).

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        As in :func:`class_weights`.
    y : array of shape (n_samples,)
        Labels, which are all in ``classes``.
    classes : array of shape (n_classes,), sorted
    sample_weight : array of shape (n_samples,), optional
        As returned by :func:`check_sample_weight`. None: 1 for each sample.
    """
    weights = class_weights(class_weight, y, classes)[np.searchsorted(classes, y)]
    return weights if sample_weight is None else weights * sample_weight


def check_weights_of_batches(class_weight: Any) -> None:
    """Raise ValueError for class weights that depend on all samples, not on one batch."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        raise ValueError(
            "class_weight='balanced' needs all samples at once: pass a dict of weights for "
            "partial_fit and Dask arrays"
        )


def check_any_weight(weights: NDArray) -> NDArray:
    """Return the weights, (n_samples,); raise ValueError if all are zero."""
    if not weights.any():
        raise ValueError(
            "sample_weight times class_weight is 0 for every sample: give at least one sample a "
            "positive weight"
        )
    return weights


def check_classes_have_weight(weights: NDArray, y: NDArray) -> NDArray:
    """Return the weights, (n_samples,); raise ValueError if those of a class are all zero."""
    for label in np.unique(y):
        if not weights[y == label].any():
            raise ValueError(
                f"all samples of class {label} have weight 0: drop the class, or give one of its "
                "samples a positive weight"
            )
    return weights
