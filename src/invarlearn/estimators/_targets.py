"""Checks of training data that classifiers share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from invarlearn.transforms import Family


def check_training(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, family: Any
) -> tuple[Any, Any]:
    """Validate rows, classes and the family of a classifier."""
    check_rows(X)
    X, y = validate_data(estimator, X, y, dtype=[np.float64, np.float32])
    check_classification_targets(y)
    check_family(family)
    return X, y


def check_rows(X: Any) -> None:
    """Say what to do with images that are not rows."""
    shape = np.shape(X) if hasattr(X, "shape") else ()
    if len(shape) > 2:
        raise ValueError(
            f"Found array with dim {len(shape)}; a sample is a row: pass X.reshape(len(X), -1), "
            f"and shape={tuple(map(int, shape[1:]))} to the family or the estimator"
        )


def check_family(family: Any) -> None:
    """Say what a family is, if this is none."""
    if family is not None and not isinstance(family, Family):
        raise TypeError(
            f"family={family!r} is not a Family: build one from invarlearn.transforms "
            "(a * b does both, a | b one or the other)"
        )


def two_classes_of(y: NDArray) -> NDArray:
    """Give the classes, of which there must be two or more."""
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(f"y has one class only ({classes[0]}): a classifier needs at least two")
    return classes
