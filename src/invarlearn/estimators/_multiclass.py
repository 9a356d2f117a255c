"""Class indices, one-vs-rest targets, and predicted classes from decision values."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def check_classes(y: ArrayLike) -> NDArray:
    """Return the sorted classes in y; raise ValueError if there are fewer than two."""
    classes = np.unique(np.asarray(y))
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only ({', '.join(map(str, classes))}): pass samples of at least two "
            "classes"
        )
    return classes


def class_indices(y: NDArray, classes: NDArray) -> NDArray[np.intp]:
    """Return the index of each label among the sorted classes: (n_samples,).

    Parameters
    ----------
    y : array of shape (n_samples,)
    classes : array of shape (n_classes,), sorted
    """
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(
            f"y has classes {unknown.tolist()[:5]} that are not among {classes.tolist()}: pass all "
            "classes to fit, or to the first call of partial_fit"
        )
    return np.searchsorted(classes, y)


def check_classes_of_batch(given: ArrayLike | None, before: NDArray | None) -> NDArray:
    """Return the classes for a call of ``partial_fit``.

    Parameters
    ----------
    given : array-like of shape (n_classes,), optional
        The argument ``classes`` of this call.
    before : array of shape (n_classes,), optional
        Classes of earlier calls. None: this is the first one.
    """
    if before is None:
        if given is None:
            raise ValueError("classes must be given at the first call of partial_fit")
        return check_classes(given)
    if given is not None and not np.array_equal(np.unique(given), before):
        raise ValueError(
            f"classes={np.unique(given).tolist()} are not those of the first call, "
            f"{before.tolist()}: pass the same classes, or None"
        )
    return before


def one_vs_rest_targets(
    indices: NDArray[np.intp], n_classes: int, collapse_two: bool = True
) -> NDArray[np.float64]:
    """Return +1 for the class of a sample and -1 for others: (n_samples, n_classes).

    Parameters
    ----------
    indices : array of shape (n_samples,)
        Class indices.
    n_classes : int
    collapse_two : bool, default=True
        Whether to return a single column for two classes, +1 for the second class.
    """
    targets = np.where(indices[:, None] == np.arange(n_classes), 1.0, -1.0)
    return targets[:, 1:] if n_classes == 2 and collapse_two else targets


def decision_values(scores: NDArray) -> NDArray:
    """Return scores in the shape of ``decision_function``: one column becomes (n_samples,)."""
    return scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores


def winning_classes(scores: NDArray) -> NDArray[np.intp]:
    """Return the index of the predicted class of each sample: (n_samples,).

    Parameters
    ----------
    scores : array of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
        A single score is positive for the second of two classes. Ties go to the first class.
    """
    values = decision_values(scores)
    if values.ndim == 1:
        return (values > 0).astype(np.intp)
    return values.argmax(axis=1)
