"""The classifier to begin with: features that hardly change, copies that cover the rest."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn.estimators._targets import check_training, two_classes_of
from invarlearn.features.compress import principal_directions
from invarlearn.features.local import LocalKernelFeatures
from invarlearn.features.oriented import OrientedGradients
from invarlearn.solvers.groups import Ridge
from invarlearn.transforms import Family, Identity, Rotation, Scaling, Shear, Translation
from invarlearn.transforms._checks import Shape, check_generator, check_number
from invarlearn.transforms._threads import slices
from invarlearn.transforms.grid import image_shape

# Squares of this side and larger are taken for images if nothing is said.
SMALLEST_IMAGE = 8
# Copies of each sample, and virtual samples in all: time grows with the cube of the latter.
MOST_COPIES, MOST_ROWS = 60, 12_000
# lam is chosen with so many virtual samples, from these.
CHOICE_ROWS = 3000
LAMS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
# Principal directions are found from so many virtual samples.
DIRECTION_ROWS = 3000
# Up to so many virtual samples double precision costs little.
DOUBLE_ROWS = 4000
# Rows whose features are in memory at a time.
BLOCK = 2048


@dataclass
class Choice:
    """What leaving out samples said of each lam."""

    lams: tuple[float, ...]
    errors: list[float] = field(default_factory=list)
    right: list[NDArray[np.bool_]] = field(default_factory=list)

    @property
    def best(self) -> int:
        return int(np.argmin(self.errors))


class InvariantClassifier(ClassifierMixin, BaseEstimator):
    """Classifier for few samples when you know what should not matter.

    Images become maps of oriented gradients and these become :class:`LocalKernelFeatures`, which
    change little when strokes move a little; random copies of the training samples, drawn from the
    family, teach the rest; least squares with a Gaussian kernel separates the classes. How much to
    regularise is chosen by leaving out each sample with all its copies.

    Parameters
    ----------
    family : Family, optional
        What should not matter. None: for images turns by 15 degrees, changes of size by 15 %,
        shears by 0.25 and shifts by a fourteenth of the side; otherwise nothing. Rows are taken
        for images if ``shape`` says so, or if they are squares of 8 x 8 or more.
    n_copies : int, optional
        Of each sample, itself among them. None: 60, or fewer so that there are no more than 12,000
        in all.
    lam : float, optional
        Regularisation, against a kernel that is one on the diagonal. None: chosen.
    n_components : int, default=1024
        Features are compressed to so many principal directions.
    n_landmarks : int, default=256
        Of :class:`LocalKernelFeatures`.
    shape : tuple, optional
        Shape of a row, (height, width) or (height, width, channels), if ``family`` is None.
    random_state : int, RandomState or None, default=0
        Of copies and landmarks.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    family_ : Family
    n_copies_ : int
    features_ : Pipeline
    lam_, gamma_ : float
    lams_, left_out_errors_ : arrays
        What was tried, and the mean squared error at samples that were left out.
    estimated_accuracy_ : float
        Part of the samples that were right when they were left out.
    interval_ : tuple of two floats
        95 % confidence interval of it.
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

    def __init__(
        self,
        family: Family | None = None,
        n_copies: int | None = None,
        lam: float | None = None,
        n_components: int = 1024,
        n_landmarks: int = 256,
        shape: Shape = None,
        random_state: Any = 0,
    ):
        self.family = family
        self.n_copies = n_copies
        self.lam = lam
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.shape = shape
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> InvariantClassifier:
        """Draw copies, choose lam and solve.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        """
        X, y = check_training(self, X, y, self.family)
        if self.lam is not None and check_number(self.lam, "lam", low=0) == 0:
            raise ValueError("lam=0 must be above 0; None chooses it")
        most = int(check_number(self.n_components, "n_components", low=1, whole=True))
        self.classes_ = two_classes_of(y)
        if not np.isfinite(X.astype(np.float32)).all():
            raise ValueError("rows are too large for single precision: scale them")
        rng = check_generator(self.random_state)
        self.seconds_: dict[str, float] = {}
        start = time.perf_counter()
        self.family_, image = self._resolved(X.shape[1])
        self.n_copies_ = self._copies_of(len(X))
        small = len(X) * self.n_copies_ <= DOUBLE_ROWS
        self._precision = np.dtype(np.float64 if small else np.float32)
        X = X.astype(self._precision)
        self._seed = int(rng.randint(2**31 - 1))
        self.features_ = self._features(X.shape[1], image, rng)
        self.features_.fit(self._few_copies(X, BLOCK))
        start = self._clock("features", start)
        few = self.features_.transform(self._few_copies(X, DIRECTION_ROWS))
        self._mean, self._directions = principal_directions(few, most, rng)
        start = self._clock("directions", start)
        F = np.concatenate([self._compressed(copy) for copy in self._copied(X)])
        start = self._clock("copies", start)
        self.gamma_ = 0.5 / median_square(F[: len(X)])
        Y = np.where(y[:, None] == self.classes_, 1.0, -1.0)
        self._choose(F, Y)
        start = self._clock("choice of lam", start)
        K = gaussian(F, F, self.gamma_)
        ridge = Ridge(K, np.tile(Y, (self.n_copies_, 1)), self.lam_)
        self._rows, self._alpha = F, ridge.alpha
        self._clock("solution", start)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Give a score for each class; with two classes, one that is positive for the second."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        scores = np.empty((len(X), len(self.classes_)), dtype=self._precision)
        for some in slices(len(X), BLOCK):
            F = self._compressed(X[some].astype(self._precision))
            scores[some] = gaussian(F, self._rows, self.gamma_) @ self._alpha
        return (scores[:, 1] - scores[:, 0]) / 2 if len(self.classes_) == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray:
        """Give the class of each sample."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]

    def summary(self) -> str:
        """Say what was done: features, copies, regularisation, estimated accuracy, time."""
        check_is_fitted(self)
        steps = ", then ".join(type(step).__name__ for _, step in self.features_.steps)
        low, high = self.interval_
        parts = ", ".join(f"{name} {seconds:.1f}" for name, seconds in self.seconds_.items())
        return (
            f"family: {self.family_!r}\n"
            f"features: {steps}, then {self._directions.shape[1]} principal directions\n"
            f"copies: {self.n_copies_} of each of {len(self._rows) // self.n_copies_} samples\n"
            f"lam: {self.lam_:g}, gamma: {self.gamma_:.3g}\n"
            f"estimated accuracy: {100 * self.estimated_accuracy_:.1f} % "
            f"(95 % interval {100 * low:.1f} to {100 * high:.1f}), by leaving out each sample with "
            f"its copies\n"
            f"seconds: {parts}"
        )

    # -- what is decided ---------------------------------------------------------------------

    def _resolved(self, d: int) -> tuple[Family, tuple[int, ...] | None]:
        """Give the family, and the shape of an image if rows are images."""
        name = type(self).__name__
        if self.family is not None:
            shape = self.family.resolve_shape(d)
            return self.family, shape if self.family.domain in ("image", "spectrogram") else None
        side = isqrt(d)
        if self.shape is None and (side * side != d or side < SMALLEST_IMAGE):
            return Identity(), None
        shape = image_shape(self.shape, d, name)
        pixels = max(1.0, min(shape[:2]) / 14)
        family = Rotation(15) * Scaling(1.15) * Shear(0.25) * Translation(pixels)
        return family.with_shape(shape), shape

    def _copies_of(self, n: int) -> int:
        if isinstance(self.family_, Identity):
            return 1
        if self.n_copies is not None:
            return int(check_number(self.n_copies, "n_copies", low=1, whole=True))
        return int(np.clip(MOST_ROWS // n, 1, MOST_COPIES))

    def _features(
        self, d: int, image: tuple[int, ...] | None, rng: np.random.RandomState
    ) -> Pipeline:
        if image is None:
            return make_pipeline(StandardScaler())
        gradients = OrientedGradients(shape=image)
        maps = gradients.fit(np.zeros((1, d), dtype=np.float32)).shape_
        seed = rng.randint(2**31 - 1)
        local = LocalKernelFeatures(self.n_landmarks, shape=maps, random_state=seed)
        return make_pipeline(gradients, local)

    # -- copies and their features -----------------------------------------------------------

    def _copied(self, X: NDArray, n_copies: int | None = None) -> Iterator[NDArray]:
        """Give the samples, and then one copy of all of them after the other."""
        yield X
        count = self.n_copies_ if n_copies is None else n_copies
        if count > 1:
            # the same elements, however many of them are wanted
            yield from (
                element(X)
                for element in self.family_.sample(self.n_copies_ - 1, self._seed)[: count - 1]
            )

    def _few_copies(self, X: NDArray, n_rows: int) -> NDArray:
        """Give samples with as many copies as make about so many rows, and no more rows."""
        count = int(np.clip(n_rows // len(X), 1, self.n_copies_))
        return np.concatenate(list(self._copied(X[:n_rows], count)))

    def _compressed(self, X: NDArray) -> NDArray:
        out = np.empty((len(X), self._directions.shape[1]), dtype=self._precision)
        for some in slices(len(X), BLOCK):
            out[some] = (self.features_.transform(X[some]) - self._mean) @ self._directions
        return out

    # -- choice of lam -----------------------------------------------------------------------

    def _choose(self, F: NDArray, Y: NDArray) -> None:
        """Choose lam, estimate the accuracy, and look whether copies do any good."""
        n = min(len(Y), CHOICE_ROWS)
        copies = int(np.clip(CHOICE_ROWS // n, 1, self.n_copies_))
        choice = self._left_out(F, Y, n, copies)
        self.lam_ = choice.lams[choice.best]
        self.lams_, self.left_out_errors_ = np.array(choice.lams), np.array(choice.errors)
        right = choice.right[choice.best]
        self.estimated_accuracy_ = float(right.mean())
        interval = binomtest(int(right.sum()), n).proportion_ci(method="wilson")
        self.interval_ = (float(interval.low), float(interval.high))
        if copies > 1:
            alone = self._left_out(F, Y, n, 1)
            without = alone.right[alone.best]
            better, worse = int((right & ~without).sum()), int((without & ~right).sum())
            if worse > better and binomtest(worse, worse + better).pvalue < 0.05:
                warnings.warn(
                    f"the family seems to hurt: of samples left out, {100 * right.mean():.1f} % "
                    f"are right with copies and {100 * without.mean():.1f} % without; is what "
                    f"{self.family_!r} changes really without meaning?",
                    stacklevel=4,
                )

    def _left_out(self, F: NDArray, Y: NDArray, n: int, copies: int) -> Choice:
        """Predict the first n samples, each without itself and its copies."""
        rows = (np.arange(copies)[:, None] * len(Y) + np.arange(n)).ravel()
        K = gaussian(F[rows], F[rows], self.gamma_)
        groups = list(np.arange(copies * n).reshape(copies, n).T)
        choice = Choice(LAMS if self.lam is None else (float(self.lam),))
        for lam in choice.lams:
            found = Ridge(K, np.tile(Y[:n], (copies, 1)), lam).left_out(groups)
            predicted = np.array([group[0] for group in found])
            choice.errors.append(float(((predicted - Y[:n]) ** 2).mean()))
            choice.right.append(predicted.argmax(axis=1) == Y[:n].argmax(axis=1))
        return choice

    def _clock(self, name: str, start: float) -> float:
        now = time.perf_counter()
        self.seconds_[name] = now - start
        return now


def gaussian(X: NDArray, Y: NDArray, gamma: float) -> NDArray:
    """Give ``exp(-gamma |x - y|^2)`` for all pairs.

    In the precision of the rows, and with no more memory than the result: where rows are many,
    faster than :class:`invarlearn.kernels.RBF`, which works in double precision.
    """
    values = X @ Y.T
    values *= 2
    values -= (X**2).sum(axis=1)[:, None]
    values -= (Y**2).sum(axis=1)
    np.minimum(values, 0, out=values)
    values *= values.dtype.type(gamma)
    return np.exp(values, out=values)


def median_square(F: NDArray, most: int = 1000) -> float:
    """Give the median squared distance of rows; one if they are all alike."""
    F = F[:most].astype(float)
    squares = (F**2).sum(axis=1)
    away = np.maximum(squares[:, None] + squares - 2 * F @ F.T, 0)[np.triu_indices(len(F), 1)]
    middle = float(np.median(away)) if len(away) else 0.0
    middle = middle or float(away.mean()) if len(away) else 0.0
    return middle if middle > 0 else 1.0
