"""Support vector machines on orbit kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted, check_memory, validate_data

from invarlearn.estimators._targets import check_training, two_classes_of
from invarlearn.kernels import RBF, Kernel, Linear, OrbitKernel, Polynomial
from invarlearn.kernels.definiteness import spectrum_of
from invarlearn.transforms import Family

_KERNELS = ("rbf", "poly", "linear")


class OrbitSVC(ClassifierMixin, BaseEstimator):
    """Support vector classifier on similarity over orbits.

    Parameters
    ----------
    family : Family or None
        What should not matter. None: nothing, an ordinary kernel.
    kernel : {"rbf", "poly", "linear"} or Kernel, default="rbf"
        The base kernel, of a row and a transformed row.
    features : transformer, optional
        Applied between transformation and base kernel; fitted on the training rows.
    pooling : {"max", "mean", "softmax"}, default="max"
        As in :class:`~invarlearn.kernels.OrbitKernel`, as are ``normalize`` and ``sharpness``.
    C : float, default=10.0
    psd : {"clip", "flip", "shift", "warn", None}, default="clip"
        What to do about negative eigenvalues of the Gram matrix, which best-fit kernels have: set
        them to zero, change their sign, lift all, warn, or nothing. Test rows are treated alike.
    gamma : float, optional
        Of "rbf" and "poly". None: 3 for "rbf" on normalised rows and 1 for "poly" on them;
        otherwise one over features times variance, as SVC has it.
    degree : int, default=8
    coef0 : float, default=1.0
    normalize : bool, default=True
    sharpness : float, default=10.0
    class_weight : dict or "balanced", optional
    tol : float, default=1e-3
    memory : str or joblib.Memory, optional
        Where to keep Gram matrices, so that a search over C computes each once.

    Attributes
    ----------
    kernel_ : OrbitKernel
    svc_ : SVC
        Trained on the repaired Gram matrix.
    classes_ : array of shape (n_classes,)
    smallest_eigenvalue_ : float
        Of the Gram matrix before its repair.
    negative_share_ : float
        The sum of the sizes of its negative eigenvalues over that of all.
    gershgorin_ : bool
        Whether Gershgorin's theorem proves it positive definite.
    n_features_in_ : int

    References
    ----------
    Liu, Kumar, Zhou and Liu, Learning from few samples: transformation-invariant SVMs with
    composition and locality at multiple scales (2022).

    Examples
    --------
    >>> from invarlearn import OrbitSVC
    >>> from invarlearn.datasets import load_mnist_sample
    >>> from invarlearn.transforms import Rotation, Translation
    >>> digits = load_mnist_sample()
    >>> svc = OrbitSVC(Translation(1) * Rotation(15)).fit(digits.X_train[:50], digits.y_train[:50])
    >>> svc.predict(digits.X_test[:3]).shape
    (3,)
    """

    def __init__(
        self,
        family: Family | None = None,
        kernel: Any = "rbf",
        features: Any = None,
        pooling: str = "max",
        C: float = 10.0,
        psd: str | None = "clip",
        gamma: float | None = None,
        degree: int = 8,
        coef0: float = 1.0,
        normalize: bool = True,
        sharpness: float = 10.0,
        class_weight: Any = None,
        tol: float = 1e-3,
        memory: Any = None,
    ):
        self.family = family
        self.kernel = kernel
        self.features = features
        self.pooling = pooling
        self.C = C
        self.psd = psd
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.normalize = normalize
        self.sharpness = sharpness
        self.class_weight = class_weight
        self.tol = tol
        self.memory = memory

    def fit(self, X: ArrayLike, y: ArrayLike) -> OrbitSVC:
        """Compute the Gram matrix, repair it and train on it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        """
        X, y = check_training(self, X, y, self.family)
        self.classes_ = two_classes_of(y)
        self.kernel_ = OrbitKernel(
            self._base(X),
            None if self.family is None else clone(self.family),
            self.pooling,
            self.normalize,
            self.sharpness,
            None if self.features is None else clone(self.features).fit(X, y),
        )
        gram = check_memory(self.memory).cache(gram_of)(self.kernel_, X)
        self._spectrum = spectrum_of(gram, self.psd)
        self.smallest_eigenvalue_ = self._spectrum.smallest
        self.negative_share_ = self._spectrum.negative_share
        self.gershgorin_ = self._spectrum.gershgorin
        self._rows = X.copy()
        self.svc_ = SVC(
            kernel="precomputed", C=self.C, class_weight=self.class_weight, tol=self.tol
        ).fit(self._spectrum.repaired_gram(gram), y)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Give the signed distances, one column for each class (one in all if there are two)."""
        rows = self._similarities(X)
        return self.svc_.decision_function(rows)

    def predict(self, X: ArrayLike) -> NDArray:
        """Give the class of each sample."""
        rows = self._similarities(X)
        return self.svc_.predict(rows)

    def _similarities(self, X: ArrayLike) -> NDArray[np.float64]:
        """Give the repaired similarities to the training rows: (n_samples, n_training)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        if self._spectrum.repair is not None:
            return self._spectrum.repaired_rows(self.kernel_(X, self._rows))
        # without a repair only support vectors count
        rows = np.zeros((len(X), len(self._rows)))
        support = self.svc_.support_
        rows[:, support] = self.kernel_(X, self._rows[support])
        return rows

    def _base(self, X: NDArray) -> Kernel:
        if isinstance(self.kernel, Kernel):
            return clone(self.kernel)
        if self.kernel not in _KERNELS:
            raise ValueError(
                f"kernel={self.kernel!r} is unknown: pass a Kernel, or one of {', '.join(_KERNELS)}"
            )
        gamma = self.gamma
        if gamma is None:
            variance = float(X.var(dtype=float))
            scale = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
            gamma = (3.0 if self.kernel == "rbf" else 1.0) if self.normalize else scale
        if self.kernel == "rbf":
            return RBF(gamma)
        return Polynomial(self.degree, gamma, self.coef0) if self.kernel == "poly" else Linear()


def gram_of(kernel: Kernel, X: NDArray) -> NDArray:
    """Give the Gram matrix; a function of its own, so that joblib.Memory can keep it."""
    return kernel(X)
