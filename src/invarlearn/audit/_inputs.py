"""What every audit checks: a fitted classifier, rows, their classes, a family."""

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
    """Validate; give rows, their classes, and the number of each class in ``classes_``."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "classes_"):
        raise TypeError(f"{type(estimator).__name__} is not a classifier: it has no classes_")
    if not isinstance(family, Family):
        raise TypeError(f"family={family!r} is not a Family: build one from invarlearn.transforms")
    kinds = [np.float64, np.float32]
    X = check_array(X, dtype=kinds, accept_sparse="csr", input_name="X")
    y = column_or_1d(y)
    check_consistent_length(X, y)
    classes = np.asarray(estimator.classes_)
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(
            f"y has classes that the classifier was not fitted to: {unknown.tolist()[:5]}"
        )
    order = np.argsort(classes, kind="stable")
    return X, y, order[np.searchsorted(classes, y, sorter=order)]
