"""Support vector machines on virtual samples."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils import check_array, compute_class_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._readable import Readable
from invarlearn.estimators._svm import class_decisions, pair_decisions, votes_of
from invarlearn.estimators._targets import check_training, two_classes_of
from invarlearn.transforms import Family, Identity

# Beyond so many virtual samples libsvm takes minutes: say so.
MANY_VIRTUAL = 50_000


class VirtualSVC(ClassifierMixin, Readable):
    """Support vector classifier trained on transformed copies of the samples.

    Parameters
    ----------
    family : Family or None
        Which copies to make: its whole orbit. None: no copies, an ordinary SVC.
    kernel : {"rbf", "poly", "linear", "sigmoid"} or callable, default="rbf"
    C : float, default=10.0
        As in :class:`sklearn.svm.SVC`, as are ``gamma``, ``degree`` and ``coef0``. Each copy
        counts as a sample of its own.
    gamma : {"scale", "auto"} or float, default="scale"
        "scale" is measured on the samples themselves, not on their copies.
    degree : int, default=3
    coef0 : float, default=0.0
    support_only : bool, default=False
        Virtual support vectors: train on the samples, transform the support vectors only, and
        train again on those: faster where few samples are support vectors.
    class_weight : dict or "balanced", optional
    tol : float, default=1e-3
    cache_size : float, default=500
        Kernel cache in MB.
    max_iter : int, default=-1

    Attributes
    ----------
    svc_ : SVC
        The machine that predicts.
    classes_ : array of shape (n_classes,)
    gamma_ : float
        The kernel's gamma, as a number.
    n_virtual_ : int
        How many samples it was trained on.
    n_iter_ : array
        Iterations of libsvm for each pair of classes.
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

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> VirtualSVC:
        """Train on the orbit of the samples (of the support vectors, with ``support_only``).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A copy has the weight of its sample.
        """
        X, y = check_training(self, X, y, self.family)
        if self.kernel == "precomputed":
            raise ValueError(
                "kernel='precomputed' has no samples to transform: name a kernel or pass a callable"
            )
        family = Identity() if self.family is None else self.family
        if sample_weight is not None:
            X, y, sample_weight = _weighted(X, y, sample_weight)
        self.classes_ = two_classes_of(y)
        self.gamma_ = self._gamma(X, sample_weight)
        # of all samples, also where only some of them are transformed
        weights = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        self._class_weight = dict(zip(self.classes_.tolist(), weights, strict=True))
        if self.support_only:
            kept = self._svc().fit(X, y, sample_weight).support_
            X, y = X[kept], y[kept]
            sample_weight = None if sample_weight is None else sample_weight[kept]
        virtual = self._virtual(family, X)
        repeats = len(virtual) // len(X)
        weights = None if sample_weight is None else np.repeat(sample_weight, repeats)
        self.n_virtual_ = len(virtual)
        self.svc_ = self._svc().fit(virtual, np.repeat(y, repeats), weights)
        self.n_iter_ = self.svc_.n_iter_
        return self

    def _virtual(self, family: Family, X: NDArray) -> NDArray:
        """Give the orbit as rows, in the double precision that libsvm wants."""
        advice = "use a smaller family, or support_only=True"
        orbit = family._whole_orbit(family._check(X), float, "the virtual samples", advice)
        if orbit.shape[0] * orbit.shape[1] > MANY_VIRTUAL:
            warnings.warn(
                f"training on {orbit.shape[0] * orbit.shape[1]:,} virtual samples: time grows with "
                f"their square; {advice} to have fewer",
                stacklevel=3,
            )
        return orbit.reshape(-1, X.shape[1])

    def _svc(self) -> SVC:
        return SVC(
            C=self.C,
            kernel=self.kernel,
            gamma=self.gamma_,
            degree=self.degree,
            coef0=self.coef0,
            class_weight=self._class_weight,
            tol=self.tol,
            cache_size=self.cache_size,
            max_iter=self.max_iter,
        )

    def _gamma(self, X: NDArray, sample_weight: NDArray | None) -> float:
        if isinstance(self.gamma, str) and self.gamma not in ("scale", "auto"):
            raise ValueError(f"gamma={self.gamma!r} must be 'scale', 'auto' or a number")
        if self.gamma == "auto":
            return 1.0 / X.shape[1]
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        # weighted, so that a weight of two is the same as a sample that comes twice
        mean = np.average(X.mean(axis=1, dtype=float), weights=sample_weight)
        variance = np.average(((X - mean) ** 2).mean(axis=1, dtype=float), weights=sample_weight)
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Give the signed distances, one column for each class (one in all if there are two)."""
        X = self._validated(X)
        if callable(self.kernel):
            return self.svc_.decision_function(X)
        decisions = pair_decisions(self.svc_, X, self.gamma_)
        n_classes = len(self.classes_)
        return -decisions[:, 0] if n_classes == 2 else class_decisions(decisions, n_classes)

    def predict(self, X: ArrayLike) -> NDArray:
        """Give the class of each sample."""
        X = self._validated(X)
        if callable(self.kernel):
            return self.svc_.predict(X)
        votes, _ = votes_of(pair_decisions(self.svc_, X, self.gamma_), len(self.classes_))
        return self.classes_[votes.argmax(axis=1)]

    def _validated(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)


def _weighted(
    X: NDArray, y: NDArray, sample_weight: ArrayLike
) -> tuple[NDArray, NDArray, NDArray[np.float64]]:
    """Give the samples that count, and their weights.

    libsvm drops rows of no weight and numbers its support vectors without them.
    """
    weights = np.asarray(sample_weight, dtype=float)
    if weights.ndim == 0:
        weights = np.full(len(X), weights)
    weights = check_array(weights, ensure_2d=False, input_name="sample_weight")
    if weights.shape != (len(X),):
        raise ValueError(f"sample_weight has shape {weights.shape}; it must be ({len(X)},)")
    if (weights < 0).any() or not weights.any():
        raise ValueError("sample_weight must not be negative, nor zero for every sample")
    kept = weights > 0
    return X[kept], y[kept], weights[kept]
