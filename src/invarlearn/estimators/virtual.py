"""Support vector machines on virtual samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from invarlearn.estimators._svm import class_decisions, pair_decisions, votes_of
from invarlearn.transforms import Family, Identity
from invarlearn.transforms.base import check_memory


class VirtualSVC(ClassifierMixin, BaseEstimator):
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
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        if self.kernel == "precomputed":
            raise ValueError(
                "kernel='precomputed' has no samples to transform: name a kernel or pass a callable"
            )
        family = Identity() if self.family is None else self.family
        if not isinstance(family, Family):
            raise TypeError(
                f"family={family!r} is not a Family: build one from invarlearn.transforms"
            )
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X)
            # libsvm drops rows of no weight, and numbers its support vectors without them
            X, y, sample_weight = (a[sample_weight != 0] for a in (X, y, sample_weight))
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has one class only ({self.classes_[0]!r}): a classifier needs at least two"
            )
        self.gamma_ = self._gamma(X, sample_weight)
        if self.support_only:
            kept = self._svc().fit(X, y, sample_weight).support_
            X, y = X[kept], y[kept]
            sample_weight = None if sample_weight is None else sample_weight[kept]
        virtual, repeats = self._virtual(family, X)
        weights = None if sample_weight is None else np.repeat(sample_weight, repeats)
        self.n_virtual_ = len(virtual)
        self.svc_ = self._svc().fit(virtual, np.repeat(y, repeats), weights)
        self.n_iter_ = self.svc_.n_iter_
        return self

    def _virtual(self, family: Family, X: NDArray) -> tuple[NDArray, int]:
        """Give the orbit as rows, in the double precision that libsvm wants."""
        size = family.orbit(X[:1]).shape[1]
        check_memory((len(X), size, X.shape[1]), float, "the virtual samples")
        virtual = np.empty((len(X), size, X.shape[1]))
        for rows, elements, block in family.iter_orbit(X):
            virtual[rows, elements] = block
        return virtual.reshape(-1, X.shape[1]), size

    def _svc(self) -> SVC:
        return SVC(
            C=self.C,
            kernel=self.kernel,
            gamma=self.gamma_,
            degree=self.degree,
            coef0=self.coef0,
            class_weight=self.class_weight,
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
        weights = np.ones(len(X)) if sample_weight is None else sample_weight
        mean = np.average(X.mean(axis=1, dtype=float), weights=weights)
        square = np.average((X.astype(float) ** 2).mean(axis=1), weights=weights)
        variance = square - mean**2
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
