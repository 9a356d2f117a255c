"""InvariantClassifier and InvariantRegressor."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._utils.groups import check_groups
from invarlearn._utils.parallel import limit_blas_threads
from invarlearn._utils.progress import Progress
from invarlearn._utils.repr import ReprMixin
from invarlearn._utils.validation import Shape
from invarlearn.estimators._validation import check_rows
from invarlearn.estimators.invariant.assess import Assessment, assess
from invarlearn.estimators.invariant.budget import Budget
from invarlearn.estimators.invariant.features import FittedFeatures, fit_features
from invarlearn.estimators.invariant.plan import Plan, prepare_samples, resolve_plan
from invarlearn.estimators.invariant.search import Choice, search
from invarlearn.estimators.invariant.solve import Machine, solve
from invarlearn.estimators.invariant.space import fit_space
from invarlearn.estimators.invariant.summary import format_summary
from invarlearn.estimators.invariant.targets import ClassTargets, NumberTargets, TargetCoding
from invarlearn.estimators.invariant.whiten import whiten_classes
from invarlearn.transforms import Family

P = ParamSpec("P")
T = TypeVar("T")


class InvariantEstimator(ReprMixin):
    """Base class: kernel ridge regression on compressed features of augmented samples.

    Subclasses differ in the coding of their targets only.
    """

    coding: type[TargetCoding]
    targets_: Any

    def __init__(
        self,
        family: Family | None = None,
        features: Any = None,
        n_copies: int | None = None,
        ranges: Sequence[float] = (1.0,),
        lam: float | None = None,
        whitening: float = 0.5,
        n_average: int = 1,
        n_components: int = 1024,
        n_landmarks: int | None = None,
        shape: Shape = None,
        random_state: Any = 0,
        budget: Budget | None = None,
        verbose: bool | Progress = False,
    ):
        self.family = family
        self.features = features
        self.n_copies = n_copies
        self.ranges = ranges
        self.lam = lam
        self.whitening = whitening
        self.n_average = n_average
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.shape = shape
        self.random_state = random_state
        self.budget = budget
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, *, groups: ArrayLike | None = None) -> Self:
        """Fit features, compress them, choose hyperparameters, estimate the score, and solve.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels of a classifier; numbers of a regressor, which may have the shape
            (n_samples, n_targets).
        groups : array-like of shape (n_samples,), optional
            The group of each sample, such as a slide, patient or speaker. Samples of one group are
            held out together, so that the search and the estimate are for samples of new groups.

        Returns
        -------
        self
        """
        # validation writes names and number of the features to a copy, in case the fit fails
        validated = copy(self)
        targets, X, Y = self.coding.encode(validated, X, y)
        groups = check_groups(groups, X)
        plan = resolve_plan(self, targets, X, groups)
        _warn(plan.warnings)
        timed = _StageTimer()
        # matrices are small before the solution, so that BLAS threads would slow down the fit
        with limit_blas_threads():
            samples = prepare_samples(plan, X, Y, groups)
            features = timed(fit_features)(plan, samples)
            # each stage passes on the compressed copies that it used, to be computed once only
            space, widest_copies = timed(fit_space)(plan, features.transformer, samples)
            choice, chosen_copies = timed(search)(plan, space, samples, widest_copies)
            assessment, more_copies = timed(assess)(
                plan, features, space, choice, samples, chosen_copies
            )
            space, choice, white_copies = timed(whiten_classes)(
                plan, space, choice, samples, more_copies
            )
        machine = timed(solve)(plan, space, choice, samples, white_copies)
        _warn(assessment.warnings)
        return self._publish(validated, plan, features, choice, assessment, machine, timed.seconds)

    def _publish(
        self,
        validated: InvariantEstimator,
        plan: Plan,
        features: FittedFeatures,
        choice: Choice,
        assessment: Assessment,
        machine: Machine,
        seconds: dict[str, float],
    ) -> Self:
        """Set the fitted attributes."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(validated, name):
                setattr(self, name, getattr(validated, name))
            elif hasattr(self, name):
                delattr(self, name)
        self.family_ = choice.family
        self.n_copies_, self.n_samples_ = plan.n_copies, len(plan.order)
        self.features_, self.feature_options_ = features.transformer, features.options
        self.edges_ = plan.edges
        self.lam_, self.gamma_ = choice.lam, choice.gamma
        self.lams_, self.cv_errors_ = choice.lams, choice.errors
        self.targets_, self.assessment_, self.machine_ = plan.targets, assessment, machine
        self.augmentation_ = plan.augmentation(choice.family)
        self.seconds_ = seconds
        for name, value in plan.targets.fitted_attributes(assessment.estimate).items():
            setattr(self, name, value)
        return self

    def _scores(self, X: ArrayLike) -> NDArray:
        """Return predicted targets: (n_samples, n_targets)."""
        check_is_fitted(self)
        check_rows(X)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        elements = self.augmentation_.averaging_elements(int(self.n_average))
        scores, n_flat = self.machine_.scores(X, elements)
        if n_flat:
            warnings.warn(
                f"{n_flat} of {len(X)} images are flat: their predictions are meaningless, since "
                "the features compare edges.",
                stacklevel=3,
            )
        return scores

    def summary(self) -> str:
        """Return a text that describes features, augmentation, estimated score and seconds."""
        check_is_fitted(self)
        return format_summary(self)


class InvariantClassifier(ClassifierMixin, InvariantEstimator):
    """Classifier for few labelled samples under declared invariances.

    The classifier is kernel ridge regression with a Gaussian kernel, fitted to augmented samples:
    random copies of the training samples under a family of transformations. Rows are compared by
    features. Default features of images are :class:`LocalKernelFeatures` of
    :class:`OrientedGradients`, which change little under small deformations. Features are
    compressed to principal directions and whitened: directions in which the augmented copies of a
    sample differ are shrunk. The width of the kernel and the regularisation are chosen by
    leave-one-sample-out cross-validation, in which all augmented copies of a sample are held out
    together.

    The default features of images describe edges, but neither brightness nor colour. Two steps
    before them are tried: centring if the family moves images far, and noise removal if images are
    noisy. A step is taken if it lowers the held-out error; :meth:`summary` lists the steps.

    Parameters
    ----------
    family : Family, optional
        The declared invariances. None: rotations by 15 degrees, scalings by 15 %, shears by 0.25
        and shifts by 1/14 of the shorter side for images; shifts for images of one line; and no
        transformations for other rows. Rows are treated as images if ``shape`` is given, or if they
        are squares of at least 8 x 8 pixels. A warning is raised if they do not look like images.
    features : transformer, optional
        Features by which rows are compared. None: the default of the domain of the family, which is
        :class:`LocalKernelFeatures` of :class:`OrientedGradients` for images and spectrograms,
        :class:`InvariantFeatures` for sequences, and standardised columns otherwise.
    n_copies : int, optional
        Number of augmented copies of each sample, itself included. None: 150, or fewer if there
        would be more than 9,000 augmented samples, but at least 2.
    ranges : sequence of float, default=(1.0,)
        Factors of the ranges of the family. The factor with the lowest held-out error is chosen.
    lam : float, optional
        Regularisation, for a kernel that is 2 on the diagonal. None: chosen by held-out error.
    whitening : float, default=0.5
        Strength of the whitening within the augmented copies of a sample. 0: no whitening; 1:
        augmented copies differ equally in all directions. The whitening is then repeated within
        classes, with half of this strength for 300 samples, and less for fewer.
    n_average : int, default=1
        Predictions are averaged over the sample and ``n_average - 1`` augmented copies, from half
        the range of the family (test-time augmentation).
    n_components : int, default=1024
        Number of principal directions, at most.
    n_landmarks : int, optional
        Landmarks of :class:`LocalKernelFeatures`. None: 256 for images, 512 for spectrograms.
    shape : tuple, optional
        Shape of a row, (height, width) or (height, width, channels), if the family has none. None:
        rows are treated as grey squares if they can be.
    random_state : int, RandomState or None, default=0
        Seed of the augmentation and of the landmarks.
    budget : Budget, optional
        Limits on the work, and the constants of the method. None: ``Budget()``.
    verbose : bool or callable, default=False
        Whether to print progress if there are many samples, or a callback that takes it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    family_ : Family
        The family with the chosen range.
    n_copies_, n_samples_ : int
    features_ : transformer
        The fitted features.
    feature_options_ : dict
        Steps before the default image features: ``centred``, ``noisy``.
    edges_ : EdgeSettings or None
        Settings of the default features, if rows are images or spectrograms.
    lam_, gamma_ : float
    lams_, cv_errors_ : arrays of shape (n_lams,)
        Values of lam that were compared, and the held-out mean squared error of each.
    estimated_accuracy_ : float
        Accuracy on held-out samples. Each sample is held out with all its augmented copies, or
        with all samples of its group. The estimate uses up to 4,500 augmented samples, half of
        those of the model by default, and no test-time augmentation. Features are not fitted again
        for each held-out sample, so the estimate is slightly too high for few samples or groups.
        The whitening within classes uses labels and is not part of the estimate.
    interval_ : tuple of two floats
        95 % confidence interval of the accuracy, for independent samples or independent groups.
    inverse_temperature_ : float
        Class probabilities are the softmax of the decision values times this number.
    targets_, assessment_, augmentation_, machine_ : frozen results of the stages
        The target coding; the estimate and its samples; the augmentation; the fitted function.
    seconds_ : dict
        Seconds of each stage.
    n_features_in_ : int

    Examples
    --------
    >>> from invarlearn.datasets import load_mnist_sample
    >>> digits = load_mnist_sample()
    >>> model = InvariantClassifier(n_copies=10).fit(digits.X_train[:50], digits.y_train[:50])
    >>> bool(model.score(digits.X_test[:200], digits.y_test[:200]) > 0.8)
    True
    """

    coding = ClassTargets
    targets_: ClassTargets

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return decision values: (n_samples, n_classes), or (n_samples,) for two classes.

        With two classes, a positive value stands for the second class.
        """
        scores = self._scores(X)
        return self.targets_.decision_function(scores)

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the class of each sample: (n_samples,)."""
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return class probabilities: (n_samples, n_classes).

        They are the softmax of the scores times ``inverse_temperature_`` (temperature scaling),
        which is fitted to held-out samples.
        """
        scores = self._scores(X)
        return self.targets_.probabilities(scores, self.inverse_temperature_)


class InvariantRegressor(RegressorMixin, InvariantEstimator):
    """Regressor for few labelled samples under declared invariances.

    The method is that of :class:`InvariantClassifier`, for one number or several. For example, the
    number of cells in an image does not change under rotation. The default features of images do
    not describe brightness. Pass ``features`` if the target depends on it.

    Parameters
    ----------
    family : Family, optional
    features : transformer, optional
    n_copies : int, optional
    ranges : sequence of float, default=(1.0,)
    lam : float, optional
    whitening : float, default=0.5
        Classes are not used.
    n_average : int, default=1
    n_components : int, default=1024
    n_landmarks : int, optional
    shape : tuple, optional
    random_state : int, RandomState or None, default=0
    budget : Budget, optional
    verbose : bool or callable, default=False
        All as in :class:`InvariantClassifier`.

    Attributes
    ----------
    estimated_r2_ : float
        R2 on held-out samples; NaN if all targets are equal.
    interval_ : tuple of two floats
        95 % confidence interval of R2, for independent samples or independent groups.
    lams_, cv_errors_ : arrays of shape (n_lams,)
        Values of lam that were compared, and the held-out mean squared error of each, for targets
        divided by their standard deviation.
    family_, n_copies_, n_samples_, features_, feature_options_, edges_, lam_, gamma_ :
    targets_, assessment_, augmentation_, machine_, seconds_, n_features_in_ :
        As in :class:`InvariantClassifier`.

    Examples
    --------
    >>> from invarlearn.datasets import load_mnist_sample
    >>> X = load_mnist_sample().X_train[:80]
    >>> ink = X.mean(axis=1)
    >>> model = InvariantRegressor(n_copies=5, n_landmarks=64).fit(X[:60], ink[:60])
    >>> bool(model.score(X[60:], ink[60:]) > 0.3)
    True
    """

    coding = NumberTargets
    targets_: NumberTargets

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return predictions: (n_samples,) or (n_samples, n_targets)."""
        scores = self._scores(X)
        return self.targets_.decode(scores)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class _StageTimer:
    """Measure the seconds of each stage, by the name of its function."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, stage: Callable[P, T]) -> Callable[P, T]:
        def timed(*args: P.args, **kwargs: P.kwargs) -> T:
            start = time.perf_counter()
            result = stage(*args, **kwargs)
            name = stage.__name__.removeprefix("fit_")
            self.seconds[name] = time.perf_counter() - start
            return result

        return timed


def _warn(messages: Iterable[str]) -> None:
    """Raise warnings at the caller of ``fit``."""
    for message in messages:
        warnings.warn(message, stacklevel=3)
