"""Groups of samples that belong together, such as those of one slide, patient or speaker."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils.validation import has_fit_parameter


def check_groups(groups: ArrayLike | None, X: Any) -> NDArray[np.intp] | None:
    """Return the index of each sample's group, numbered from 0; None without groups.

    Parameters
    ----------
    groups : array-like of shape (n_samples,), or None
        Group labels, all numbers or all strings, with at least two different labels.
    X : array of shape (n_samples, ...)

    Returns
    -------
    array of int of shape (n_samples,), or None
    """
    if groups is None:
        return None
    try:
        values = np.asarray(groups)
    except ValueError:
        raise ValueError("groups is a list of lists: pass one group for each sample") from None
    if values.shape != (len(X),):
        remedy = "groups.ravel()" if values.shape == (len(X), 1) else "one group for each sample"
        raise ValueError(f"groups has shape {values.shape} for {len(X)} samples: pass {remedy}")
    # keep the original types: an array of strings would turn 1 and NaN into strings
    labels = np.asarray(groups, dtype=object)
    is_masked = isinstance(groups, np.ma.MaskedArray) and np.ma.getmaskarray(groups).any()
    if is_masked or any(map(_is_missing, labels)):
        raise ValueError(
            "groups has NaN or missing values: assign a group to each sample, possibly one that "
            "holds this sample only"
        )
    if len({isinstance(value, str) for value in labels}) > 1:
        raise TypeError("groups must be all numbers or all strings, one for each sample")
    try:
        unique_labels, indices = np.unique(values, return_inverse=True)
    except TypeError:
        raise TypeError("groups must be numbers or strings, one for each sample") from None
    if len(unique_labels) < 2:
        raise ValueError(
            "groups has one group only: leave-one-group-out needs two or more; pass groups=None "
            "if samples are independent"
        )
    return indices


def stratified_splits(
    y: NDArray, groups: NDArray | None, n_splits: int, seed: int
) -> list[tuple[NDArray, NDArray]]:
    """Return stratified cross-validation splits that keep groups together.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Class labels.
    groups : array of shape (n_samples,), optional
        Samples of one group are held out together. None: samples are independent.
    n_splits : int
        Number of folds.
    seed : int
        Seed of the shuffle.

    Returns
    -------
    list of pairs of arrays
        Indices of training samples and of held-out samples.
    """
    splitter_class = StratifiedKFold if groups is None else StratifiedGroupKFold
    splitter = splitter_class(n_splits, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # scikit-learn warns about classes with fewer samples than splits, which is allowed here
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(splitter.split(np.zeros((len(y), 1)), y, groups))


def fit_with_groups(estimator: Any, X: NDArray, y: NDArray, groups: NDArray | None) -> Any:
    """Fit an estimator, with ``groups`` if its ``fit`` accepts them, and return it."""
    if groups is None or len(np.unique(groups)) < 2 or not has_fit_parameter(estimator, "groups"):
        return estimator.fit(X, y)
    return estimator.fit(X, y, groups=groups)


def _is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, or NA or NaT of pandas."""
    try:
        return value is None or not bool(value == value)
    except TypeError:
        return True
