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


def check_groups(groups: ArrayLike | None, X: Any) -> NDArray[np.intp] | None:
    """Number the groups that samples are of, if there are any; one alone has no other."""
    if groups is None:
        return None
    try:
        values = np.asarray(groups)
    except ValueError:
        raise ValueError("groups is a list of lists: pass one group a sample") from None
    if values.shape != (len(X),):
        column = "groups.ravel()" if values.shape == (len(X), 1) else "one group a sample"
        raise ValueError(f"groups has shape {values.shape} for {len(X)} samples: pass {column}")
    # as they came: in an array with strings, 1 and NaN are strings too
    given = np.asarray(groups, dtype=object)
    masked = isinstance(groups, np.ma.MaskedArray) and np.ma.getmaskarray(groups).any()
    if masked or any(map(_missing, given)):
        raise ValueError("groups has NaN: give every sample a group, be it one of its own")
    if len({isinstance(value, str) for value in given}) > 1:
        raise TypeError("groups must be all numbers or all strings, one a sample")
    try:
        names, numbers = np.unique(values, return_inverse=True)
    except TypeError:
        raise TypeError("groups must be numbers or strings, one a sample") from None
    if len(names) < 2:
        raise ValueError(
            "groups has one group only: when it is left out nothing remains to learn from; pass "
            "two or more, or None"
        )
    return numbers


def _missing(value: Any) -> bool:
    """Say whether a value is None, NaN, or pandas' NA or NaT, which is not equal to itself."""
    try:
        return value is None or not bool(value == value)
    except TypeError:
        return True
