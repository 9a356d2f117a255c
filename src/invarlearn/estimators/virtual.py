"""Support vector machines trained on augmented copies of samples (virtual samples)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._utils.repr import ReprMixin
from invarlearn._utils.validation import check_number
from invarlearn.estimators._multiclass import check_classes
from invarlearn.estimators._svm import class_decisions, pair_decisions, votes_of
from invarlearn.estimators._validation import check_training
from invarlearn.estimators._weights import check_any_weight, check_sample_weight, class_weights
from invarlearn.transforms import Family, Identity


class VirtualSVC(ClassifierMixin, ReprMixin):
    """Support vector classifier trained on augmented copies of the samples.

    Parameters
    ----------
    family : Family or None
        Each sample is replaced by its orbit under this family. None: an ordinary SVC.
    kernel : {"rbf", "poly", "linear", "sigmoid"} or callable, default="rbf"
    C : float, default=10.0
        As in :class:`sklearn.svm.SVC`. Each augmented copy counts as one sample.
    gamma : {"scale", "auto"} or float, default="scale"
        As in SVC. "scale" uses the variance of the samples without their augmented copies.
    degree : int, default=3
        As in SVC.
    coef0 : float, default=0.0
        As in SVC.
    support_only : bool, default=False
        Whether to augment support vectors only: train on the samples, then again on the orbits of
        the support vectors. This is faster if few samples are support vectors.
    class_weight : dict or "balanced", optional
        Weights of classes; "balanced": inversely proportional to their frequencies.
    tol : float, default=1e-3
        As in SVC.
    cache_size : float, default=500
        Kernel cache in MB.
    max_iter : int, default=-1
        Largest number of iterations of libsvm; -1: no limit.
    warn_above : int, default=50_000
        Warn before training on more virtual samples than this, because libsvm then takes minutes.

    Attributes
    ----------
    svc_ : SVC
        The classifier that is trained on the virtual samples.
    classes_ : array of shape (n_classes,)
    gamma_ : float
        The value of gamma.
    n_virtual_ : int
        Number of virtual samples.
    n_iter_ : array of shape (n_pairs,)
        Number of iterations of libsvm for each pair of classes.
    n_features_in_ : int

    References
    ----------
    DeCoste and Schölkopf, Training invariant support vector machines (2002); the VIR-SVM of
    Teo et al., Convex learning with invariances (2007), section 5.1.

    Examples
    --------
    >>> from invarlearn import VirtualSVC
    >>> from invarlearn.datasets import load_mnist_sample
    >>> from invarlearn.transforms import Translation
    >>> digits = load_mnist_sample()
    >>> svc = VirtualSVC(Translation(1)).fit(digits.X_train[:50], digits.y_train[:50])
    >>> svc.n_virtual_
    450
    """

    def __init__(
        self,
        family: Family | None = None,
        kernel: Any = "rbf",
        C: float = 10.0,
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        support_only: bool = False,
        class_weight: Any = None,
        tol: float = 1e-3,
        cache_size: float = 500,
        max_iter: int = -1,
        warn_above: int = 50_000,
    ):
        self.family = family
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.support_only = support_only
        self.class_weight = class_weight
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.warn_above = warn_above

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> VirtualSVC:
        """Train on the orbits of the samples, or of the support vectors with ``support_only``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Weights of samples; an augmented copy has the weight of its sample.
        """
        X, y = check_training(self, X, y, self.family)
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError(
                "kernel='precomputed' cannot be used, because samples are transformed: pass the "
                "name of a kernel or a callable"
            )
        family = Identity() if self.family is None else self.family
        if sample_weight is not None:
            X, y, sample_weight = _with_positive_weight(X, y, sample_weight)
        classes = check_classes(y)
        gamma = svc_gamma(self.gamma, X, sample_weight)
        # class weights of all samples, also if only the support vectors are augmented
        weights = dict(
            zip(classes.tolist(), class_weights(self.class_weight, y, classes), strict=True)
        )
        svc = self._svc(gamma, weights)
        if self.support_only:
            support = clone(svc).fit(X, y, sample_weight).support_
            X, y = X[support], y[support]
            sample_weight = None if sample_weight is None else sample_weight[support]
        virtual = self._virtual_samples(family, X)
        n_elements = len(virtual) // len(X)
        repeated = None if sample_weight is None else np.repeat(sample_weight, n_elements)
        svc.fit(virtual, np.repeat(y, n_elements), repeated)
        return self._publish(classes, gamma, len(virtual), svc)

    def _publish(self, classes: NDArray, gamma: float, n_virtual: int, svc: SVC) -> VirtualSVC:
        """Set the fitted attributes; return self."""
        self.classes_ = classes
        self.gamma_ = gamma
        self.n_virtual_ = n_virtual
        self.svc_ = svc
        self.n_iter_ = svc.n_iter_
        return self

    def _virtual_samples(self, family: Family, X: NDArray) -> NDArray:
        """Return the orbits as rows, (n_virtual, n_features), in double precision for libsvm."""
        warn_above = check_number(self.warn_above, "warn_above", low=0)
        advice = "use a smaller family, or support_only=True"
        orbit = family.materialize_orbit(
            family.validate_rows(X), float, "the virtual samples", advice
        )
        n_virtual = orbit.shape[0] * orbit.shape[1]
        if n_virtual > warn_above:
            warnings.warn(
                f"training on {n_virtual:,} virtual samples takes time that grows with the square "
                f"of their number: {advice}, or raise warn_above",
                stacklevel=3,
            )
        return orbit.reshape(-1, X.shape[1])

    def _svc(self, gamma: float, weights: dict[Any, float]) -> SVC:
        return SVC(
            C=self.C,
            kernel=self.kernel,
            gamma=gamma,
            degree=self.degree,
            coef0=self.coef0,
            class_weight=weights,
            tol=self.tol,
            cache_size=self.cache_size,
            max_iter=self.max_iter,
        )

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return decision values: (n_samples, n_classes), or (n_samples,) for two classes."""
        X = self._validate(X)
        if callable(self.kernel):
            return self.svc_.decision_function(X)
        decisions = pair_decisions(self.svc_, X, self.gamma_)
        n_classes = len(self.classes_)
        return -decisions[:, 0] if n_classes == 2 else class_decisions(decisions, n_classes)

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the class of each sample: (n_samples,)."""
        X = self._validate(X)
        if callable(self.kernel):
            return self.svc_.predict(X)
        votes, _ = votes_of(pair_decisions(self.svc_, X, self.gamma_), len(self.classes_))
        return self.classes_[votes.argmax(axis=1)]

    def _validate(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)


def svc_gamma(gamma: str | float, X: NDArray, sample_weight: NDArray | None) -> float:
    """Return gamma as a number, as scikit-learn's SVC does, but with weights of samples.

    A weight is equivalent to the number of times that a sample is repeated.

    Parameters
    ----------
    gamma : {"scale", "auto"} or float
    X : array of shape (n_samples, n_features)
    sample_weight : array of shape (n_samples,), optional
        Used by "scale". None: equal weights.
    """
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        raise ValueError(f"gamma={gamma!r} must be 'scale', 'auto' or a number")
    mean = np.average(X.mean(axis=1, dtype=float), weights=sample_weight)
    variance = np.average(((X - mean) ** 2).mean(axis=1, dtype=float), weights=sample_weight)
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def _with_positive_weight(
    X: NDArray, y: NDArray, sample_weight: ArrayLike
) -> tuple[NDArray, NDArray, NDArray[np.float64]]:
    """Return the samples with positive weight, and their weights.

    libsvm drops other samples itself, and its indices of support vectors then do not count them.
    """
    weights = check_any_weight(check_sample_weight(sample_weight, X))
    positive = weights > 0
    return X[positive], y[positive], weights[positive]
