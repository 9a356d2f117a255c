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

from invarlearn._readable import Readable
from invarlearn.estimators._calibration import check_counts, fitted_steepness, probabilities
from invarlearn.estimators._fingerprint import fingerprint
from invarlearn.estimators._svm import class_decisions
from invarlearn.estimators._targets import check_family, check_training, two_classes_of
from invarlearn.kernels import RBF, Kernel, Linear, OrbitKernel, Polynomial
from invarlearn.kernels.definiteness import spectrum_of
from invarlearn.kernels.orbit import Orbits
from invarlearn.transforms import Family

_KERNELS = ("rbf", "poly", "linear")


class OrbitMachine(Readable):
    """What support vector machines on orbit kernels share: the Gram matrix and its repair."""

    def _fit_gram(self, X: NDArray, y: NDArray) -> NDArray[np.float64]:
        """Give the repaired Gram matrix of the training rows."""
        self.kernel_ = OrbitKernel(
            self._base(X),
            None if self.family is None else clone(self.family),
            self.pooling,
            self.normalize,
            self.sharpness,
            None if self.features is None else clone(self.features).fit(X, y),
        )
        if self.memory is None:
            gram = self.kernel_(X)
        else:
            kept = check_memory(self.memory).cache(gram_of, ignore=["kernel"])
            gram = kept(self.kernel_, X, fingerprint(self.kernel_))
        self._spectrum = spectrum_of(gram, self.psd)
        self.smallest_eigenvalue_ = self._spectrum.smallest
        self.negative_share_ = self._spectrum.negative_share
        self.gershgorin_ = self._spectrum.gershgorin
        return self._spectrum.repaired_gram(gram)

    def _keep(self, X: NDArray, support: NDArray) -> None:
        """Keep the rows that predictions need: without a repair, only support vectors."""
        self._n_rows = len(X)
        self._needed = np.arange(len(X)) if self._spectrum.repair is not None else support
        self._orbits = Orbits(self.kernel_, X[self._needed])

    def _similarities(self, X: ArrayLike) -> NDArray[np.float64]:
        """Give the repaired similarities to the training rows: (n_samples, n_training)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        rows = np.zeros((len(X), self._n_rows))
        rows[:, self._needed] = self._orbits(X)
        return self._spectrum.repaired_rows(rows)

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
            gamma = 1.0 if self.normalize else scale
        if self.kernel == "rbf":
            return RBF(gamma)
        return Polynomial(self.degree, gamma, self.coef0) if self.kernel == "poly" else Linear()


class OrbitSVC(ClassifierMixin, OrbitMachine):
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
        Of "rbf" and "poly". None: 1 on normalised rows, otherwise one over features times
        variance, as SVC has it.
    degree : int, default=8
    coef0 : float, default=1.0
    normalize : bool, default=True
    sharpness : float, default=10.0
    class_weight : dict or "balanced", optional
    probability : bool, default=False
        Whether to calibrate ``predict_proba`` by cross-validation, which trains up to five more
        times on the same Gram matrix.
    tol : float, default=1e-3
    memory : str or joblib.Memory, optional
        Where to keep Gram matrices, so that a search over C computes each once. Functions of
        yours, in Custom families or features, are known by their code, and by that of your own
        functions that they call.

    Notes
    -----
    Training uses the symmetric kernel. Predictions compare new rows with the orbits of the
    training rows and leave the new rows as they are (but for an average fit, which transforms
    both). The orbits are computed once, in the precision of the training rows, and kept if they
    fit into a quarter of scikit-learn's ``working_memory``; workers of joblib keep none.

    Blocks of similarities go through joblib, so ``joblib.parallel_config(backend="dask")`` runs
    them on a cluster.

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
        probability: bool = False,
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
        self.probability = probability
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
        self.__dict__.pop("_steepness", None)
        if self.probability:
            check_counts(y)
        svc = SVC(
            kernel="precomputed",
            C=self.C,
            class_weight=self.class_weight,
            tol=self.tol,
            decision_function_shape="ovo",
        )
        # bad parameters are to be refused before the Gram matrix is computed
        clone(svc).fit(np.eye(len(self.classes_)), self.classes_)
        gram = self._fit_gram(X, y)
        self.svc_ = svc.fit(gram, y)
        if self.probability:
            self._steepness = fitted_steepness(clone(self.svc_), gram, y)
        self._keep(X, self.svc_.support_)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Give the signed distances, one column for each class (one in all if there are two)."""
        pairs = self._pairs(X)
        return pairs if pairs.ndim == 1 else class_decisions(pairs, len(self.classes_))

    def predict(self, X: ArrayLike) -> NDArray:
        """Give the class of each sample: the one that wins most pairs, and by most if several."""
        decisions = self.decision_function(X)
        first = decisions > 0 if decisions.ndim == 1 else decisions.argmax(axis=1)
        return self.classes_[np.asarray(first, dtype=int)]

    def _pairs(self, X: ArrayLike) -> NDArray[np.float64]:
        """Give the decisions between two classes: (n_samples, n_pairs); for two, (n_samples,)."""
        rows = self._similarities(X)
        return self.svc_.decision_function(rows)

    def _calibrates(self) -> bool:
        if not self.probability:
            raise AttributeError("predict_proba needs probability=True")
        return True

    @available_if(_calibrates)
    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Give the probability of each class.

        From all pairs of classes, by a number fitted to decisions on held-out rows.
        """
        check_is_fitted(self)
        if not hasattr(self, "_steepness"):
            raise NotFittedError("probability=True was set after fit: fit once more")
        return probabilities(self._pairs(X), len(self.classes_), self._steepness)


class OrbitSVR(RegressorMixin, OrbitMachine):
    """Support vector regression on similarity over orbits.

    Parameters
    ----------
    family : Family or None
        What should not matter. None: nothing, an ordinary kernel.
    kernel, features, pooling, psd, gamma, degree, coef0, normalize, sharpness, memory
        As in :class:`OrbitSVC`.
    C : float, default=10.0
    epsilon : float, default=0.1
        Errors up to this size do not count.
    tol : float, default=1e-3

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
        """Compute the Gram matrix, repair it and train on it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        """
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], y_numeric=True)
        check_family(self.family)
        svr = SVR(kernel="precomputed", C=self.C, epsilon=self.epsilon, tol=self.tol)
        clone(svr).fit(np.eye(2), [0.0, 1.0])
        self.svr_ = svr.fit(self._fit_gram(X, y), y)
        self._keep(X, self.svr_.support_)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Give the value of each sample."""
        rows = self._similarities(X)
        return self.svr_.predict(rows)


def gram_of(kernel: Kernel, X: NDArray, fingerprint: str) -> NDArray:
    """Give the Gram matrix; joblib.Memory keeps it for these rows and this fingerprint."""
    return kernel(X)
