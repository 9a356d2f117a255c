"""Support vector machines on orbit kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC, SVR
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, check_memory, validate_data

from invarlearn._utils.repr import ReprMixin
from invarlearn._utils.validation import check_choice
from invarlearn.estimators._fingerprint import fingerprint
from invarlearn.estimators._multiclass import check_classes, winning_classes
from invarlearn.estimators._svm import class_decisions, votes_of
from invarlearn.estimators._validation import check_training, validate_family
from invarlearn.estimators.calibration import (
    check_class_counts,
    held_out_inverse_temperature,
    pairwise_probabilities,
)
from invarlearn.kernels import Kernel, OrbitKernel, resolve_kernel
from invarlearn.kernels.definiteness import spectrum_of
from invarlearn.kernels.orbit.cache import Orbits
from invarlearn.transforms import Family


class OrbitMachine(ReprMixin):
    """Base class of support vector machines on orbit kernels: the Gram matrix and its repair."""

    def _fit_gram(self, X: NDArray, y: NDArray) -> NDArray[np.float64]:
        """Return the repaired Gram matrix of the training rows: (n_samples, n_samples)."""
        self.kernel_ = OrbitKernel(
            self._base_kernel(X),
            None if self.family is None else clone(self.family),
            self.pooling,
            self.normalize,
            self.sharpness,
            None if self.features is None else clone(self.features).fit(X, y),
        )
        if self.memory is None:
            gram = self.kernel_(X)
        else:
            cached_gram = check_memory(self.memory).cache(gram_of, ignore=["kernel"])
            gram = cached_gram(self.kernel_, X, fingerprint(self.kernel_))
        self._spectrum = spectrum_of(gram, self.psd)
        self.smallest_eigenvalue_ = self._spectrum.smallest
        self.negative_share_ = self._spectrum.negative_share
        self.gershgorin_ = self._spectrum.gershgorin
        return self._spectrum.repaired_gram(gram)

    def _store_rows(self, X: NDArray, support: NDArray) -> None:
        """Store the training rows for predictions: all with a repair, else support vectors."""
        self._n_rows = len(X)
        self._needed = np.arange(len(X)) if self._spectrum.repair is not None else support
        self._orbits = Orbits(self.kernel_, X[self._needed])

    def _similarities(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the repaired kernel values with the training rows: (n_samples, n_training)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        rows = np.zeros((len(X), self._n_rows))
        rows[:, self._needed] = self._orbits(X)
        return self._spectrum.repaired_rows(rows)

    def _base_kernel(self, X: NDArray) -> Kernel:
        gamma = self.gamma
        if gamma is None:
            gamma = 1.0 if self.normalize else "scale"
        return resolve_kernel(self.kernel, X, gamma=gamma, degree=self.degree, coef0=self.coef0)


class OrbitSVC(ClassifierMixin, OrbitMachine):
    """Support vector classifier with a kernel that is pooled over orbits.

    Parameters
    ----------
    family : Family or None
        The declared invariances. None: an ordinary kernel.
    kernel : {"rbf", "poly", "linear"} or Kernel, default="rbf"
        The base kernel, of a row and a transformed row.
    features : transformer, optional
        Applied to transformed rows before the base kernel; fitted on the training rows.
    pooling : {"max", "mean", "softmax"}, default="max"
        As in :class:`~invarlearn.kernels.OrbitKernel`; "max" is the best-fit kernel.
    C : float, default=10.0
        As in :class:`sklearn.svm.SVC`.
    psd : {"clip", "flip", "shift", "warn", None}, default="clip"
        Repair of negative eigenvalues of the Gram matrix, which best-fit kernels can have: set them
        to zero, change their sign, or add a constant to all eigenvalues; or only warn, or do
        nothing. Kernel values of test rows are repaired in the same way.
    gamma : float, optional
        Parameter of "rbf" and "poly". None: 1 with ``normalize=True``, otherwise
        ``1 / (n_features * X.var())``.
    degree : int, default=8
        Parameter of "poly".
    coef0 : float, default=1.0
        Parameter of "poly".
    normalize : bool, default=True
        As in :class:`~invarlearn.kernels.OrbitKernel`.
    sharpness : float, default=10.0
        As in :class:`~invarlearn.kernels.OrbitKernel`.
    class_weight : dict or "balanced", optional
        Weights of classes; "balanced": inversely proportional to their frequencies.
    probability : bool, default=False
        Whether to calibrate ``predict_proba`` by cross-validation, with at most five further fits
        on the same Gram matrix.
    tol : float, default=1e-3
        As in SVC.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        As in SVC: whether ``decision_function`` has one column for each class, or one for each pair
        of classes.
    break_ties : bool, default=False
        As in SVC. False: the class that wins the most pairs is predicted, and of classes with equal
        numbers of pairs the first one (libsvm's rule). True: margins decide between such classes;
        this needs ``decision_function_shape="ovr"``.
    memory : str or joblib.Memory, optional
        Cache of Gram matrices, so that a search over C computes each matrix once. Functions of the
        user, in Custom families or features, are identified by their code and by the code of the
        user's functions that they call.

    Notes
    -----
    Training uses the symmetric kernel. Predictions compare new rows, without transformations, with
    the orbits of the training rows. (With ``pooling="mean"`` both are transformed.) The orbits are
    computed once, in the precision of the training rows. They are cached if they fit into a quarter
    of scikit-learn's ``working_memory``, but not in joblib workers.

    Blocks of kernel values are computed by joblib, so that
    ``joblib.parallel_config(backend="dask")`` computes them on a cluster.

    Attributes
    ----------
    kernel_ : OrbitKernel
    svc_ : SVC
        Trained on the repaired Gram matrix.
    classes_ : array of shape (n_classes,)
    smallest_eigenvalue_ : float
        Smallest eigenvalue of the Gram matrix before the repair.
    negative_share_ : float
        Sum of the absolute negative eigenvalues, divided by that of all eigenvalues.
    gershgorin_ : bool
        Whether Gershgorin's theorem proves that the Gram matrix is positive definite.
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
        probability: bool = False,
        tol: float = 1e-3,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
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
        self.probability = probability
        self.tol = tol
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.memory = memory

    def fit(self, X: ArrayLike, y: ArrayLike) -> OrbitSVC:
        """Compute and repair the Gram matrix, and fit the SVC.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        """
        X, y = check_training(self, X, y, self.family)
        self.classes_ = check_classes(y)
        self.__dict__.pop("inverse_temperature_", None)
        if self.probability:
            check_class_counts(y)
        check_choice(self.decision_function_shape, ["ovr", "ovo"], "decision_function_shape")
        if not isinstance(self.break_ties, bool | np.bool_):
            raise TypeError(f"break_ties={self.break_ties!r} must be True or False")
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError('break_ties=True needs decision_function_shape="ovr"')
        svc = SVC(
            kernel="precomputed",
            C=self.C,
            class_weight=self.class_weight,
            tol=self.tol,
            decision_function_shape="ovo",
        )
        # raises errors of parameters before the Gram matrix is computed
        clone(svc).fit(np.eye(len(self.classes_)), self.classes_)
        gram = self._fit_gram(X, y)
        self.svc_ = svc.fit(gram, y)
        if self.probability:
            self.inverse_temperature_ = held_out_inverse_temperature(clone(self.svc_), gram, y)
        self._store_rows(X, self.svc_.support_)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return decision values: (n_samples, n_classes), or (n_samples,) for two classes.

        With ``decision_function_shape="ovo"`` and more than two classes, the shape is
        (n_samples, n_pairs).
        """
        decisions = self._pair_decisions(X)
        if decisions.ndim == 1 or self.decision_function_shape == "ovo":
            return decisions
        return class_decisions(decisions, len(self.classes_))

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the class of each sample, which wins the most pairs of classes: (n_samples,)."""
        decisions = self._pair_decisions(X)
        if decisions.ndim == 1:
            scores = decisions
        elif self.break_ties:
            scores = class_decisions(decisions, len(self.classes_))
        else:
            scores, _ = votes_of(decisions, len(self.classes_))
        return self.classes_[winning_classes(scores)]

    def _pair_decisions(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return one-vs-one decision values: (n_samples, n_pairs), or (n_samples,) for one pair."""
        rows = self._similarities(X)
        return self.svc_.decision_function(rows)

    def _calibrates(self) -> bool:
        if not self.probability:
            raise AttributeError("predict_proba needs probability=True")
        return True

    @available_if(_calibrates)
    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Return class probabilities: (n_samples, n_classes).

        They are computed from one-vs-one decision values by temperature scaling. The inverse
        temperature is fitted to the decision values of held-out rows.
        """
        check_is_fitted(self)
        if not hasattr(self, "inverse_temperature_"):
            raise NotFittedError("probability=True was set after fit: fit once more")
        decisions = self._pair_decisions(X)
        return pairwise_probabilities(decisions, len(self.classes_), self.inverse_temperature_)


class OrbitSVR(RegressorMixin, OrbitMachine):
    """Support vector regression with a kernel that is pooled over orbits.

    Parameters
    ----------
    family : Family or None
        The declared invariances. None: an ordinary kernel.
    kernel, features, pooling, psd, gamma, degree, coef0, normalize, sharpness, memory
        As in :class:`OrbitSVC`.
    C : float, default=10.0
        As in :class:`sklearn.svm.SVR`.
    epsilon : float, default=0.1
        Errors up to this size have no loss.
    tol : float, default=1e-3
        As in SVR.

    Attributes
    ----------
    svr_ : SVR
        Trained on the repaired Gram matrix.
    kernel_, smallest_eigenvalue_, negative_share_, gershgorin_, n_features_in_
        As in :class:`OrbitSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from invarlearn.transforms import CyclicShift
    >>> X = np.random.RandomState(0).rand(40, 6)
    >>> svr = OrbitSVR(CyclicShift(), kernel="linear", normalize=False).fit(X, X.max(axis=1))
    >>> bool(np.allclose(svr.predict(X), svr.predict(np.roll(X, 2, axis=1))))
    True
    """

    def __init__(
        self,
        family: Family | None = None,
        kernel: Any = "rbf",
        features: Any = None,
        pooling: str = "max",
        C: float = 10.0,
        epsilon: float = 0.1,
        psd: str | None = "clip",
        gamma: float | None = None,
        degree: int = 8,
        coef0: float = 1.0,
        normalize: bool = True,
        sharpness: float = 10.0,
        tol: float = 1e-3,
        memory: Any = None,
    ):
        self.family = family
        self.kernel = kernel
        self.features = features
        self.pooling = pooling
        self.C = C
        self.epsilon = epsilon
        self.psd = psd
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.normalize = normalize
        self.sharpness = sharpness
        self.tol = tol
        self.memory = memory

    def fit(self, X: ArrayLike, y: ArrayLike) -> OrbitSVR:
        """Compute and repair the Gram matrix, and fit the SVR.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        """
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], y_numeric=True)
        validate_family(self.family)
        svr = SVR(kernel="precomputed", C=self.C, epsilon=self.epsilon, tol=self.tol)
        # raises errors of parameters before the Gram matrix is computed
        clone(svr).fit(np.eye(2), [0.0, 1.0])
        self.svr_ = svr.fit(self._fit_gram(X, y), y)
        self._store_rows(X, self.svr_.support_)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return predictions: (n_samples,)."""
        rows = self._similarities(X)
        return self.svr_.predict(rows)


def gram_of(kernel: Kernel, X: NDArray, fingerprint: str) -> NDArray:
    """Return the Gram matrix, (n, n); joblib.Memory caches it by X and the fingerprint."""
    return kernel(X)
