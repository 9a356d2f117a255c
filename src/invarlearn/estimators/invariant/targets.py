"""Codings of labels and of numbers as targets, with their losses and estimated scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from invarlearn._utils.statistics import estimate_proportion, jackknife_ratio_interval, sum_by_group
from invarlearn.estimators._multiclass import check_classes, class_indices, one_vs_rest_targets
from invarlearn.estimators._validation import check_rows, check_training
from invarlearn.estimators.calibration import fit_inverse_temperature


@dataclass(frozen=True)
class Estimate:
    """The estimated score on new samples.

    Attributes
    ----------
    score : float
        The accuracy of a classifier, or R2 of a regressor.
    interval : tuple of two floats
        Its 95 % confidence interval.
    inverse_temperature : float
        Class probabilities are the softmax of the decision values times this number. NaN for
        regressors.
    warnings : tuple of str
        Messages for the user.
    """

    score: float
    interval: tuple[float, float]
    inverse_temperature: float = np.nan
    warnings: tuple[str, ...] = ()


class TargetCoding(ABC):
    """Base class of target codings.

    All codings are fitted by least squares for the columns of Y. They differ in the targets, the
    loss and the score.

    Attributes
    ----------
    about_mean : bool
        Whether predictions shrink to the mean of the targets instead of 0.
    score_name : str
        Name of the score in messages.
    """

    about_mean: bool
    score_name: str

    @classmethod
    @abstractmethod
    def encode(
        cls, estimator: BaseEstimator, X: ArrayLike, y: ArrayLike
    ) -> tuple[TargetCoding, NDArray, NDArray]:
        """Return the coding, the validated rows and the targets.

        Parameters
        ----------
        estimator : InvariantClassifier or InvariantRegressor
        X, y : array-like
            As passed to ``fit``.

        Returns
        -------
        coding : TargetCoding
        X : array of shape (n_samples, n_features)
        Y : array of shape (n_samples, n_targets)
        """

    @abstractmethod
    def losses(self, predicted: NDArray, Y: NDArray) -> NDArray[np.float64]:
        """Return the loss of each prediction: (n_samples,).

        Parameters
        ----------
        predicted, Y : arrays of shape (n_samples, n_targets)
        """

    @abstractmethod
    def score(self, predicted: NDArray, Y: NDArray) -> float:
        """Return the score of held-out predictions, or NaN if it is undefined.

        Parameters
        ----------
        predicted, Y : arrays of shape (n_samples, n_targets)
        """

    @abstractmethod
    def format_score(self, score: float) -> str:
        """Return the score as text."""

    @abstractmethod
    def estimate(
        self,
        predicted: NDArray,
        Y: NDArray,
        counted: NDArray[np.bool_],
        groups: NDArray | None,
        n_samples: int,
    ) -> Estimate:
        """Estimate the score of new samples, or of samples of new groups.

        Parameters
        ----------
        predicted, Y : arrays of shape (n_held_out, n_targets)
            Predictions of held-out samples, and their targets.
        counted : array of shape (n_held_out,)
            Mask from :meth:`counted`.
        groups : array of shape (n_held_out,) or None
        n_samples : int
            Number of all training samples.
        """

    @abstractmethod
    def fitted_attributes(self, estimate: Estimate) -> dict[str, Any]:
        """Return the fitted attributes that an estimator publishes."""

    def class_indices(self, Y: NDArray) -> NDArray[np.intp] | None:
        """Return the class of each sample, numbered from 0; None if there are no classes."""
        return None

    def counted(self, Y: NDArray, members: list[NDArray[np.intp]]) -> NDArray[np.bool_]:
        """Return a mask of the samples whose held-out errors count in the search: (n_samples,).

        Parameters
        ----------
        Y : array of shape (n_samples, n_targets)
        members : list of arrays
            Indices of the samples of each group; groups are held out in turn.
        """
        return np.ones(len(Y), dtype=bool)


@dataclass(frozen=True)
class ClassTargets(TargetCoding):
    """One-vs-rest targets of classes: +1 for samples of the class, -1 for others.

    Attributes
    ----------
    classes : array of shape (n_classes,)
    """

    classes: NDArray

    about_mean = False
    score_name = "accuracy"

    @classmethod
    def encode(
        cls, estimator: BaseEstimator, X: ArrayLike, y: ArrayLike
    ) -> tuple[ClassTargets, NDArray, NDArray]:
        """Return the coding, the validated rows and the targets."""
        X, y = check_training(estimator, X, y, estimator.family)
        coding = cls(check_classes(y))
        return coding, X, coding.encode_labels(y)

    def encode_labels(self, y: NDArray) -> NDArray[np.float64]:
        """Return the targets of labels: (n_samples, n_classes).

        Parameters
        ----------
        y : array of shape (n_samples,)
            Labels, all of which are in ``classes``.
        """
        indices = class_indices(y, self.classes)
        return one_vs_rest_targets(indices, len(self.classes), collapse_two=False)

    def losses(self, predicted: NDArray, Y: NDArray) -> NDArray[np.float64]:
        """Return the zero-one loss of each prediction: (n_samples,)."""
        return (predicted.argmax(axis=1) != Y.argmax(axis=1)).astype(float)

    def score(self, predicted: NDArray, Y: NDArray) -> float:
        """Return the accuracy."""
        return 1 - float(self.losses(predicted, Y).mean())

    def format_score(self, score: float) -> str:
        """Return the accuracy in percent."""
        return f"{100 * score:.1f} %"

    def class_indices(self, Y: NDArray) -> NDArray[np.intp]:
        """Return the class of each sample, numbered from 0: (n_samples,)."""
        return Y.argmax(axis=1)

    def counted(self, Y: NDArray, members: list[NDArray[np.intp]]) -> NDArray[np.bool_]:
        """Return a mask of the samples whose class has samples in two or more groups.

        The class of any other sample is absent from the training fold when the sample is held out,
        so its error is not informative about gamma and lam. If no class has samples in two groups,
        all samples count.
        """
        group = np.empty(len(Y), dtype=int)
        for i, rows in enumerate(members):
            group[rows] = i
        indices = self.class_indices(Y)
        counted = ~np.isin(indices, classes_of_one_group(indices, group))
        return counted if counted.any() else ~counted

    def estimate(
        self,
        predicted: NDArray,
        Y: NDArray,
        counted: NDArray[np.bool_],
        groups: NDArray | None,
        n_samples: int,
    ) -> Estimate:
        """Estimate the accuracy, and fit the inverse temperature of the class probabilities."""
        indices = self.class_indices(Y)
        accuracy = estimate_proportion(1 - self.losses(predicted, Y), groups)
        message = self._absent_message(indices, groups, n_samples)
        return Estimate(
            accuracy.value,
            (accuracy.low, accuracy.high),
            fit_inverse_temperature(predicted[counted], indices[counted]),
            () if message is None else (message,),
        )

    def _absent_message(
        self, indices: NDArray[np.intp], groups: NDArray | None, n_samples: int
    ) -> str | None:
        """Return a warning about classes that are absent when a sample, or a group, is held out."""
        n_held_out = len(indices)
        absent = classes_of_one_group(indices, np.arange(n_held_out) if groups is None else groups)
        if not len(absent):
            return None
        names = ", ".join(map(str, self.classes[absent][:5])) + ", …" * (len(absent) > 5)
        subject = f"Class {names} has" if len(absent) == 1 else f"Each of the classes {names} has"
        subset = f" among the {n_held_out} held-out samples" if n_held_out < n_samples else ""
        extent = "only one sample" if groups is None else "samples of only one group"
        unit, advice = ("it", "samples") if groups is None else ("that group", "groups")
        return (
            f"{subject} {extent}{subset}, so the class is absent from the training fold when {unit}"
            f" is held out. These samples count as wrong in estimated_accuracy_. Add {advice}."
        )

    def fitted_attributes(self, estimate: Estimate) -> dict[str, Any]:
        """Return the classes, and the estimates from held-out samples."""
        return {
            "classes_": self.classes,
            "estimated_accuracy_": estimate.score,
            "interval_": estimate.interval,
            "inverse_temperature_": estimate.inverse_temperature,
        }

    def decision_function(self, scores: NDArray) -> NDArray:
        """Return decision values: (n_samples, n_classes), or (n_samples,) for two classes.

        With two classes, the decision value is half the difference of the scores, positive for the
        second class.
        """
        return (scores[:, 1] - scores[:, 0]) / 2 if len(self.classes) == 2 else scores

    def probabilities(self, scores: NDArray, inverse_temperature: float) -> NDArray[np.float64]:
        """Return class probabilities, by temperature scaling: (n_samples, n_classes)."""
        return softmax(inverse_temperature * scores.astype(float), axis=1)


@dataclass(frozen=True)
class NumberTargets(TargetCoding):
    """Numbers, standardised: ``Y = (y - mean) / scale``.

    Attributes
    ----------
    mean, scale : arrays of shape (n_targets,)
    one_dimensional : bool
        Whether y has shape (n_samples,).
    """

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    one_dimensional: bool

    about_mean = True
    score_name = "R2"

    @classmethod
    def encode(
        cls, estimator: BaseEstimator, X: ArrayLike, y: ArrayLike
    ) -> tuple[NumberTargets, NDArray, NDArray]:
        """Return the coding, the validated rows and the targets."""
        check_rows(X)
        # one sample is held out, and another one is needed for training
        X, y = validate_data(
            estimator,
            X,
            y,
            dtype=[np.float64, np.float32],
            multi_output=True,
            y_numeric=True,
            ensure_min_samples=2,
        )
        Y = np.asarray(y, dtype=float).reshape(len(X), -1)
        mean, std = Y.mean(axis=0), Y.std(axis=0)
        coding = cls(mean, np.where(std > 0, std, 1.0), y.ndim == 1)
        return coding, X, (Y - coding.mean) / coding.scale

    def decode(self, predicted: NDArray) -> NDArray[np.float64]:
        """Return predictions in the units and the shape of y."""
        values = predicted * self.scale + self.mean
        return values[:, 0] if self.one_dimensional else values

    def losses(self, predicted: NDArray, Y: NDArray) -> NDArray[np.float64]:
        """Return the squared error of each prediction, averaged over targets: (n_samples,)."""
        return ((predicted - Y) ** 2).mean(axis=1)

    def score(self, predicted: NDArray, Y: NDArray) -> float:
        """Return R2; NaN if all targets are equal."""
        total = self.losses(Y.mean(axis=0), Y).sum()
        return 1 - float(self.losses(predicted, Y).sum() / total) if total > 0 else np.nan

    def format_score(self, score: float) -> str:
        """Return R2 with three decimals."""
        return "undefined, since all targets are equal" if np.isnan(score) else f"{score:.3f}"

    def estimate(
        self,
        predicted: NDArray,
        Y: NDArray,
        counted: NDArray[np.bool_],
        groups: NDArray | None,
        n_samples: int,
    ) -> Estimate:
        """Estimate R2, with a jackknife interval over samples or groups."""
        groups = np.arange(len(Y)) if groups is None else groups
        errors = sum_by_group(self.losses(predicted, Y), groups)
        sizes = sum_by_group(np.ones(len(Y)), groups)
        sums = np.stack([sum_by_group(column, groups) for column in Y.T], axis=1)
        squares = sum_by_group((Y**2).mean(axis=1), groups)

        def unexplained(total: Any) -> Any:
            """Return the squared error divided by that of the mean as the prediction."""
            n, sum_of_targets = total(sizes), total(sums)
            return total(errors) / (total(squares) - (sum_of_targets**2).mean(axis=-1) / n)

        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = float(unexplained(lambda values: values.sum(axis=0)))
            without_group = unexplained(lambda values: values.sum(axis=0) - values)
        low, high = jackknife_ratio_interval(ratio, without_group)
        return Estimate(1 - ratio, (1 - high, 1 - low))

    def fitted_attributes(self, estimate: Estimate) -> dict[str, Any]:
        """Return the estimates from held-out samples."""
        return {"estimated_r2_": estimate.score, "interval_": estimate.interval}


def classes_of_one_group(class_indices: NDArray, groups: NDArray) -> NDArray[np.intp]:
    """Return the classes, numbered from 0, whose samples all belong to one group.

    Parameters
    ----------
    class_indices, groups : arrays of shape (n_samples,)
    """
    pairs = np.unique(np.stack([class_indices, groups]), axis=1)
    return np.flatnonzero(np.bincount(pairs[0]) == 1)
