"""Classifiers whose functions are expansions: partial labels, predictions, probabilities."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from invarlearn.estimators._multiclass import (
    class_indices,
    decision_values,
    one_vs_rest_targets,
    winning_classes,
)
from invarlearn.estimators._representer import RepresenterMachine, Targets
from invarlearn.estimators._weights import training_weights


@dataclass(frozen=True)
class PartialLabels:
    """Labels of some of the rows.

    Attributes
    ----------
    classes : array of shape (n_classes,)
    labelled : array of shape (n_labelled,)
        Indices of the rows that have a label.
    y : array of shape (n_labelled,)
        Their labels.
    """

    classes: NDArray
    labelled: NDArray
    y: NDArray

    def subset(self, indices: NDArray) -> PartialLabels:
        """Return the labels with given indices; other rows become unlabelled."""
        return PartialLabels(self.classes, self.labelled[indices], self.y[indices])

    def weights(self, class_weight: Any) -> NDArray[np.float64]:
        """Return the weight of each label: (n_labelled,)."""
        return training_weights(class_weight, self.y, self.classes)

    def targets(self, class_weight: Any) -> Targets:
        """Return one-vs-rest targets of +1 and -1, with weights."""
        values = one_vs_rest_targets(class_indices(self.y, self.classes), len(self.classes))
        return Targets(self.labelled, values, self.weights(class_weight))


def check_labels(estimator: Any, X: ArrayLike, y: ArrayLike) -> tuple[NDArray, PartialLabels]:
    """Return validated rows, (n_samples, n_features), and their labels.

    The label -1, or "-1" among strings, marks an unlabelled row. If all labels are -1 or 1, these
    are two classes.
    """
    y = np.asarray(y)
    if y.dtype == object and y.ndim == 1 and any(isinstance(label, str) for label in y):
        # strings mixed with -1 or None, which mark unlabelled rows
        y = np.array(["-1" if label is None else str(label) for label in y])
    X, y = validate_data(estimator, X, y, dtype=float)
    check_classification_targets(y)
    classes, mark = np.unique(y), unlabelled_mark(y)
    is_binary = classes.dtype.kind in "iuf" and np.array_equal(classes, [-1, 1])
    labelled = np.arange(len(y))
    if mark in classes.tolist() and not is_binary:
        classes, labelled = classes[classes != mark], np.flatnonzero(y != mark)
    if len(classes) < 2:
        present = f"one class only ({classes[0]})" if len(classes) else "no class at all"
        raise ValueError(
            f"labelled rows have {present}: a classifier needs at least two (rows with y = -1 are "
            "unlabelled)"
        )
    return X, PartialLabels(classes, labelled, y[labelled])


def unlabelled_mark(y: NDArray) -> Any:
    """Return the label that marks unlabelled rows, in the type of the labels."""
    return "-1" if y.dtype.kind in "US" else -1


class RepresenterClassifier(ClassifierMixin, RepresenterMachine):
    """Base class of classifiers with one function for two classes, else one for each class."""

    def _publish_classes(self, classes: NDArray, labelled_rows: NDArray) -> None:
        """Set the classes, and warn if the predictions at labelled rows are constant."""
        self.classes_ = classes
        predicted = np.unique(self.predict(labelled_rows))
        if len(predicted) == 1:
            warnings.warn(
                f"every labelled row gets the class {predicted[0]}, because the penalties are too "
                "strong relative to the losses. Raise lam, lower nu, set class_weight='balanced', "
                "or choose lam and nu by InvSVCCV.",
                UserWarning,
                stacklevel=3,
            )

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on the labelled rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes; -1 marks an unlabelled row, as in ``fit``.
        sample_weight : array-like of shape (n_samples,), optional
        """
        y = np.asarray(y)
        mark = unlabelled_mark(y)
        is_labelled = np.ones(len(y), dtype=bool)
        if mark not in self.classes_.tolist():
            is_labelled = np.asarray(y != mark)
            if not is_labelled.any():
                raise ValueError("no row has a label (all are -1): there is nothing to score")
        weight = None if sample_weight is None else np.asarray(sample_weight)[is_labelled]
        predicted = self.predict(X)[is_labelled]
        return float(accuracy_score(y[is_labelled], predicted, sample_weight=weight))

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return decision values: (n_samples, n_classes), or (n_samples,) for two classes."""
        return decision_values(self._evaluate(X))

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the class of each sample: (n_samples,)."""
        values = self._evaluate(X)
        return self.classes_[winning_classes(values)]

    def _is_logistic(self) -> bool:
        if self.loss != "logistic":
            raise AttributeError("predict_proba needs loss='logistic'")
        return True

    @available_if(_is_logistic)
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return class probabilities: (n_samples, n_classes).

        With more than two classes, the probabilities of each class against the rest are divided by
        their sum.
        """
        values = expit(self._evaluate(X))
        if len(self.classes_) == 2:
            return np.column_stack([1 - values[:, 0], values[:, 0]])
        return values / values.sum(axis=1, keepdims=True)
