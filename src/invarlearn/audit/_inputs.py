"""Validation of the input of audits: a fitted classifier, labelled rows, a family."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from invarlearn.transforms import Family


def check_audit(
    estimator: Any, X: ArrayLike, y: ArrayLike, family: Any
) -> tuple[Any, NDArray, NDArray]:
    """Validate the input of an audit.

    Parameters
    ----------
    estimator : classifier
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    family : Family

    Returns
    -------
    X : array or sparse matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    class_indices : array of shape (n_samples,)
        Indices of the classes y in ``estimator.classes_``.
    """
    check_is_fitted(estimator)
    if not hasattr(estimator, "classes_"):
        raise TypeError(
            f"{type(estimator).__name__} is not a classifier, since it has no classes_: pass a "
            "classifier"
        )
    if not isinstance(family, Family):
        raise TypeError(f"family={family!r} is not a Family: build one from invarlearn.transforms")
    dtypes = [np.float64, np.float32]
    X = check_array(X, dtype=dtypes, accept_sparse="csr", input_name="X")
    y = column_or_1d(y)
    check_consistent_length(X, y)
    classes = np.asarray(estimator.classes_)
    unknown_classes = np.setdiff1d(y, classes)
    if len(unknown_classes):
        raise ValueError(
            f"y has classes that the classifier was not fitted to: {unknown_classes.tolist()[:5]}. "
            "Leave these samples out, or fit the classifier to their classes"
        )
    order = np.argsort(classes, kind="stable")
    return X, y, order[np.searchsorted(classes, y, sorter=order)]
