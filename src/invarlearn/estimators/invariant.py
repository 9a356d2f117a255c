"""The estimators to begin with: features that hardly change, copies that cover the rest."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import validate_data

from invarlearn._shares import group_sums, ratio_interval, share_of
from invarlearn.estimators._calibration import steepness_of
from invarlearn.estimators._copies import LearnsFromCopies
from invarlearn.estimators._groups import check_groups
from invarlearn.estimators._leave_out import LeftOut
from invarlearn.estimators._targets import check_rows, check_training, two_classes_of


class InvariantClassifier(ClassifierMixin, LearnsFromCopies):
    """Classifier for few samples when you know what should not matter.

    Images become maps of oriented gradients and these become :class:`LocalKernelFeatures`, which
    change little when strokes move a little. Random copies of the training samples, drawn from the
    family, tell which directions of these features should count less, and are learned from as well,
    by least squares with a Gaussian kernel. How far copies go, the width of the kernel and how much
    to regularise are chosen by leaving out each sample with all its copies.

    The default features of images compare the directions of edges: neither brightness nor colour.
    Where the family moves images far, features of images that are centred first are compared with
    these by leaving out samples, and where images are noisy those that blur them and leave out
    faint edges; :meth:`summary` tells what was taken.

    Parameters
    ----------
    family : Family, optional
        What should not matter. None: for images turns by 15 degrees, changes of size by 15 %,
        shears by 0.25 and shifts by a fourteenth of the side, of one line shifts alone; otherwise
        nothing. Rows are taken for images if ``shape`` says so, or if they are squares of 8 x 8 or
        more, with a warning if they do not look like images.
    features : transformer, optional
        What rows are compared by. None: by the domain of the family, local kernel features of
        oriented gradients for images and spectrograms, :class:`InvariantFeatures` for sequences,
        and the rows themselves, standardised, otherwise.
    n_copies : int, optional
        Of each sample, itself among them. None: 150, or fewer so that there are no more than 9,000
        in all, but no fewer than 2.
    ranges : sequence of float, default=(1.0,)
        The ranges of the family times each of these numbers are tried, and the one is taken that
        predicts left-out samples best. (1.0,): the family as it is.
    lam : float, optional
        Regularisation, against a kernel that is two on the diagonal. None: chosen.
    whitening : float, default=0.5
        How much directions of the features in which copies of one sample differ are shrunk: 0 not
        at all, 1 until copies differ alike in all directions. Then, if there are copies, those in
        which samples of one class differ: half as much with 300 samples, hardly with few.
    n_average : int, default=1
        A prediction is the average over the sample and so many less one of its copies, drawn from
        half the range of the family.
    n_components : int, default=1024
        Features are compressed to so many principal directions.
    n_landmarks : int, optional
        Of :class:`LocalKernelFeatures`. None: 256 for images, 512 for spectrograms.
    shape : tuple, optional
        Shape of a row, (height, width) or (height, width, channels), if the family does not say
        it. None: rows are taken for grey squares.
    random_state : int, RandomState or None, default=0
        Of copies and landmarks.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    family_ : Family
        With the ranges that were chosen.
    n_copies_ : int
    features_ : transformer
    lam_, gamma_ : float
    lams_, left_out_errors_ : arrays
        What was tried, and the mean squared error at samples that were left out.
    estimated_accuracy_ : float
        Part of the samples that are right when they are left out, each with all its copies, or with
        all samples of its group: with no more than 4,500 samples and copies, half of what the model
        has by default, and with ``n_average=1``.
        Features are not found anew for each, so that it is a little too good for few samples, or
        few groups.
        What differs within classes is not yet shrunk there, since that looks at labels.
    interval_ : tuple of two floats
        95 % confidence interval of it, if samples are independent, or groups are.
    seconds_ : dict
        What took how long.
    n_features_in_ : int

    Examples
    --------
    >>> from invarlearn.datasets import load_mnist_sample
    >>> digits = load_mnist_sample()
    >>> model = InvariantClassifier(n_copies=10).fit(digits.X_train[:50], digits.y_train[:50])
    >>> bool(model.score(digits.X_test[:200], digits.y_test[:200]) > 0.8)
    True
    """

    def fit(
        self, X: ArrayLike, y: ArrayLike, *, groups: ArrayLike | None = None
    ) -> InvariantClassifier:
        """Draw copies, choose ranges and lam, and solve.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,), optional
            The slide, patient or speaker that each sample is of. Samples of one are left out
            together, so that ``estimated_accuracy_``, ``interval_``, ``predict_proba`` and what is
            chosen are for new slides, patients or speakers.
        """
        X, y = check_training(self, X, y, self.family)
        self.classes_ = two_classes_of(y)
        targets = np.where(y[:, None] == self.classes_, 1.0, -1.0)
        self._learn(X, targets, check_groups(groups, X))
        return self

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Give a score for each class; with two classes, one that is positive for the second."""
        scores = self._scores(X)
        return (scores[:, 1] - scores[:, 0]) / 2 if len(self.classes_) == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray:
        """Give the class of each sample."""
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Give the probability of each class: (n_samples, n_classes).

        The softmax of the scores, times the number that makes the classes of left-out samples most
        likely; where these are left out, what differs within classes is not yet shrunk.
        """
        scores = self._scores(X).astype(float)
        return softmax(self._steepness * scores, axis=1)

    def _losses(self, predicted: NDArray, Y: NDArray) -> NDArray:
        return (predicted.argmax(axis=1) != Y.argmax(axis=1)).astype(float)

    def _classes_of(self, Y: NDArray) -> NDArray:
        return Y.argmax(axis=1)

    def _counted(self, Y: NDArray, parts: list[NDArray]) -> NDArray[np.bool_]:
        """Leave aside samples of a class that is in one part only, unless all are."""
        part = np.empty(len(Y), dtype=int)
        for i, rows in enumerate(parts):
            part[rows] = i
        known = ~np.isin(Y.argmax(axis=1), _alone(Y.argmax(axis=1), part))
        return known if known.any() else ~known

    def _estimate(self, left: LeftOut, Y: NDArray, groups: NDArray | None) -> None:
        self._warn_of_single(Y.argmax(axis=1), groups)
        right = share_of(1 - self._losses(left.predicted, Y), groups)
        self.estimated_accuracy_ = right.value
        self.interval_ = (right.low, right.high)
        counted = left.counted
        self._steepness = steepness_of(left.predicted[counted], Y.argmax(axis=1)[counted])

    def _warn_of_single(self, y: NDArray, groups: NDArray | None) -> None:
        """Warn of classes that nobody knows any more when a sample, or a group, is left out."""
        alone = self.classes_[_alone(y, np.arange(len(y)) if groups is None else groups)]
        if not len(alone):
            return
        names = ", ".join(map(str, alone[:5])) + ", …" * (len(alone) > 5)
        which = f"class {names}" if len(alone) == 1 else f"each of the classes {names}"
        among = f" among the {len(y)} that are left out" if len(y) < len(self._order) else ""
        said, wanted = f"there is one sample only of {which}{among}: without it", "samples"
        if groups is not None:
            said = f"all samples of {which}{among} are of one group: without that"
            wanted = "samples of other groups"
        warnings.warn(
            f"{said} nobody knows the class, so that it counts as wrong in estimated_accuracy_; "
            f"add {wanted}",
            stacklevel=7,
        )

    def _estimate_in_words(self) -> str:
        low, high = self.interval_
        return (
            f"estimated accuracy: {100 * self.estimated_accuracy_:.1f} % "
            f"(95 % interval {100 * low:.1f} to {100 * high:.1f})"
        )

    def _in_words(self, predicted: NDArray, Y: NDArray) -> str:
        return f"{100 * (1 - self._losses(predicted, Y).mean()):.1f} % are right"


class InvariantRegressor(RegressorMixin, LearnsFromCopies):
    """Regressor for few samples when you know what should not matter.

    As :class:`InvariantClassifier`, for one number or several: turning an image does not change how
    many cells are in it. The default features of images do not have brightness: where the answer
    is an amount, pass ``features``.

    Parameters
    ----------
    family : Family, optional
    features : transformer, optional
    n_copies : int, optional
    ranges : sequence of float, default=(1.0,)
    lam : float, optional
    whitening : float, default=0.5
    n_average : int, default=1
    n_components : int, default=1024
    n_landmarks : int, optional
    shape : tuple, optional
    random_state : int, RandomState or None, default=0
        All as in :class:`InvariantClassifier`.

    Attributes
    ----------
    family_ : Family
    n_copies_ : int
    features_ : transformer
    lam_, gamma_ : float
    lams_, left_out_errors_ : arrays
        What was tried, and the mean squared error at samples that were left out, of targets
        divided by their standard deviation.
    estimated_r2_ : float
        Of the samples when they were left out; not a number if all targets are alike.
    interval_ : tuple of two floats
        95 % confidence interval of it, if samples are independent, or groups are.
    seconds_ : dict
    n_features_in_ : int

    Examples
    --------
    >>> from invarlearn.datasets import load_mnist_sample
    >>> X = load_mnist_sample().X_train[:80]
    >>> ink = X.mean(axis=1)
    >>> model = InvariantRegressor(n_copies=5, n_landmarks=64).fit(X[:60], ink[:60])
    >>> bool(model.score(X[60:], ink[60:]) > 0.3)
    True
    """

    # ridge shrinks to the mean of targets
    _about_mean = True

    def fit(
        self, X: ArrayLike, y: ArrayLike, *, groups: ArrayLike | None = None
    ) -> InvariantRegressor:
        """Draw copies, choose ranges and lam, and solve.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        groups : array-like of shape (n_samples,), optional
            As in :class:`InvariantClassifier`.
        """
        check_rows(X)
        # one sample has no other to be predicted from
        X, y = validate_data(
            self,
            X,
            y,
            dtype=[np.float64, np.float32],
            multi_output=True,
            y_numeric=True,
            ensure_min_samples=2,
        )
        self._flat = y.ndim == 1
        Y = np.asarray(y, dtype=float).reshape(len(X), -1)
        self._offset, spread = Y.mean(axis=0), Y.std(axis=0)
        self._scale = np.where(spread > 0, spread, 1.0)
        self._learn(X, (Y - self._offset) / self._scale, check_groups(groups, X))
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Give the targets of each sample."""
        found = self._scores(X) * self._scale + self._offset
        return found[:, 0] if self._flat else found

    def _losses(self, predicted: NDArray, Y: NDArray) -> NDArray:
        return ((predicted - Y) ** 2).mean(axis=1)

    def _estimate(self, left: LeftOut, Y: NDArray, groups: NDArray | None) -> None:
        members = np.arange(len(Y)) if groups is None else groups
        errors = group_sums(self._losses(left.predicted, Y), members)
        sizes = group_sums(np.ones(len(Y)), members)
        sums = np.stack([group_sums(column, members) for column in Y.T], axis=1)
        squares = group_sums((Y**2).mean(axis=1), members)

        def unexplained(some: Any) -> Any:
            """Give squared errors as a part of those of the mean, of all groups or without one."""
            n, first = some(sizes), some(sums)
            return some(errors) / (some(squares) - (first**2).mean(axis=-1) / n)

        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = float(unexplained(lambda values: values.sum(axis=0)))
            without = unexplained(lambda values: values.sum(axis=0) - values)
        low, high = ratio_interval(ratio, without)
        self.estimated_r2_, self.interval_ = 1 - ratio, (1 - high, 1 - low)

    def _estimate_in_words(self) -> str:
        low, high = self.interval_
        if np.isnan(self.estimated_r2_):
            return "estimated R2: none, since all targets are alike"
        return f"estimated R2: {self.estimated_r2_:.3f} (95 % interval {low:.3f} to {high:.3f})"

    def _in_words(self, predicted: NDArray, Y: NDArray) -> str:
        spread = self._losses(Y.mean(axis=0), Y).sum()
        return f"R2 is {1 - self._losses(predicted, Y).sum() / spread:.3f}" if spread > 0 else ""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _alone(classes: NDArray, groups: NDArray) -> NDArray[np.intp]:
    """Give the classes, numbered from 0, all samples of which are of one group."""
    pairs = np.unique(np.stack([classes, groups]), axis=1)
    return np.flatnonzero(np.bincount(pairs[0]) == 1)
