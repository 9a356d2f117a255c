"""Validation of training data and families."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from invarlearn.transforms import Family


def check_training(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, family: Any
) -> tuple[Any, Any]:
    """Return the validated rows and labels of a classifier, and check its family."""
    check_rows(X)
    X, y = validate_data(estimator, X, y, dtype=[np.float64, np.float32])
    check_classification_targets(y)
    validate_family(family)
    return X, y


def check_rows(X: Any) -> None:
    """Raise ValueError for arrays of images that are not rows."""
    shape = np.shape(X) if hasattr(X, "shape") else ()
    if len(shape) > 2:
        raise ValueError(
            f"Found array with dim {len(shape)}; each sample must be a row: pass "
            f"X.reshape(len(X), -1), and shape={tuple(map(int, shape[1:]))} to the family or the "
            "estimator"
        )


def validate_family(family: Any) -> None:
    """Raise TypeError unless the family is a Family or None."""
    if family is not None and not isinstance(family, Family):
        raise TypeError(
            f"family={family!r} is not a Family: pass one from invarlearn.transforms; a * b "
            "applies both families, a | b one of them"
        )
