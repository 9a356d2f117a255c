"""Samples that come in groups, such as those of one slide, patient or speaker."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils.validation import has_fit_parameter


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
            "two or more, or no groups"
        )
    return numbers


def stratified_splits(
    y: NDArray, groups: NDArray | None, n_splits: int, seed: int
) -> list[tuple[NDArray, NDArray]]:
    """Give rows to learn from and rows left out, classes as evenly as can be, groups whole."""
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    folds = kind(n_splits, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # a class with fewer samples than parts is missing from some of them
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(folds.split(np.zeros((len(y), 1)), y, groups))


def fitted(estimator: Any, X: NDArray, y: NDArray, groups: NDArray | None) -> Any:
    """Fit an estimator, and tell it which samples are of one group if it wants to know."""
    if groups is None or len(np.unique(groups)) < 2 or not has_fit_parameter(estimator, "groups"):
        return estimator.fit(X, y)
    return estimator.fit(X, y, groups=groups)


def _missing(value: Any) -> bool:
    """Say whether a value is None, NaN, or pandas' NA or NaT, which is not equal to itself."""
    try:
        return value is None or not bool(value == value)
    except TypeError:
        return True
