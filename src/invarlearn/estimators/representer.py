"""Learning with functionals of f under a penalty: InvSVC and InvSVR (paper 002)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from invarlearn.estimators._representer import RepresenterMachine, with_unlabeled
from invarlearn.losses import OF_CLASSES, OF_NUMBERS, Loss, make_loss


def labelled_classes(y: NDArray) -> tuple[NDArray, NDArray]:
    """Give the rows that have a label, and the classes.

    -1 (or "-1" among strings) marks a row without one, unless labels are -1 and 1 only: those are
    two classes.
    """
    classes = np.unique(y)
    none = "-1" if classes.dtype.kind in "US" else -1
    two = classes.dtype.kind in "iuf" and np.array_equal(classes, [-1, 1])
    if none in classes.tolist() and not two:
        classes = classes[classes != none]
        labelled = np.flatnonzero(y != none)
    else:
        labelled = np.arange(len(y))
    if len(classes) < 2:
        what = f"one class only ({classes[0]})" if len(classes) else "no class at all"
        raise ValueError(
            f"labelled rows have {what}: a classifier needs at least two (rows with y = -1 count "
            "as unlabelled)"
        )
    return labelled, classes


class InvSVC(ClassifierMixin, RepresenterMachine):
    """Classifier with functionals of the decision function under a penalty.

    Minimises ``|f|^2 / 2 + lam * sum of losses at labels + nu * sum of penalties of functionals``
    (paper 002, objective 2): derivatives at all rows, along transformations, local averages or
    differences of neighbours are to be small. Rows with the label -1 have no label, and contribute
    their functionals only; but if labels are -1 and 1 throughout, those are the two classes. With
    several classes there is one function for each against the rest.

    Derivatives have units: standardise features first. Penalties add up over rows and features, so
    ``nu`` acts more strongly on more rows, and ``lam`` must grow with it.

    Parameters
    ----------
    functionals : Functional or sequence of Functional, optional
        What is to be small, at every row, labelled or not. None: all partial derivatives.
    kernel : {"rbf", "poly", "linear"} or Kernel, default="rbf"
    gamma : {"scale", "median"} or float, default="scale"
        Of "rbf" and "poly"; "scale" as in SVC, "median": sigma is the median distance of rows.
    loss : {"logistic", "hinge", "squared"}, default="logistic"
        Of labels. Squared is ``(f - y)^2``, without a half.
    penalty : {"squared", "absolute", "epsilon_insensitive"}, default="squared"
        Of functionals.
    lam : float, default=1.0
        As C in SVC.
    nu : float, default=0.1
        0: functionals are left out.
    epsilon : float, default=0.1
        Of "epsilon_insensitive".
    smoothing : float, default=0.0
        Half the width over which kinks of losses are rounded off; 0: they are sharp.
    fit_intercept : bool, default=True
        Whether there is a constant, without penalty.
    basis : Basis or sequence of Basis, optional
        Other functions without penalty (Theorem 7).
    class_weight : dict or "balanced", optional
        Of the losses at labels.
    solver : str, default="auto"
        "eliminate" (squared penalty: a kernel with the functionals in it, then the labelled rows
        alone), "newton", "lbfgs" (by products: any number of functionals), "steepest" or "random"
        (an expansion that grows), or "auto", the fastest of the first three.
    tol : float, default=1e-6
        Duality gap at which solvers stop, relative to the objective.
    max_iter : int, default=2000
        Steps of "newton" and "lbfgs", rounds of "steepest" and "random".
    degree : int, default=3
    coef0 : float, default=1.0
    warm_start : bool, default=False
        Whether "newton" and "lbfgs" begin at the last solution, as along a path of lam or nu.
    random_state : int, RandomState or None
        Of "random".

    Attributes
    ----------
    coef_ : array of shape (n_functions, n_representers)
        One function for two classes, else one for each class.
    intercept_ : array of shape (n_functions,)
    basis_coef_ : array of shape (n_functions, n_basis)
    representers_ : Representers
        Of values at labelled rows, then of the functionals.
    objective_, gap_ : arrays of shape (n_functions,)
        Of each function: what is minimised, and by how much it is above the optimum at most (so
        far as basis functions are in balance, of which there is an estimate only). With
        "eliminate" both are those of the problem on labelled rows, which has the same minimum.
    classes_ : array of shape (n_classes,)
    kernel_ : Kernel
    solver_ : str
    n_iter_ : int
    n_features_in_ : int

    References
    ----------
    Zhang, Lee and Teh, Learning with invariance via linear functionals on reproducing kernel
    Hilbert space (2013).

    Examples
    --------
    >>> from invarlearn import InvSVC
    >>> from invarlearn.datasets import make_two_moons
    >>> moons = make_two_moons(noise=0.05, random_state=0)
    >>> svc = InvSVC(gamma=8.0, nu=1.0).fit(moons.X, moons.y_partial)
    >>> float((svc.predict(moons.X) == moons.y).mean())
    1.0
    """

    def __init__(
        self,
        functionals: Any = None,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        loss: str = "logistic",
        penalty: str = "squared",
        lam: float = 1.0,
        nu: float = 0.1,
        epsilon: float = 0.1,
        smoothing: float = 0.0,
        fit_intercept: bool = True,
        basis: Any = None,
        class_weight: Any = None,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 2000,
        degree: int = 3,
        coef0: float = 1.0,
        warm_start: bool = False,
        random_state: Any = None,
    ):
        self.functionals = functionals
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.penalty = penalty
        self.lam = lam
        self.nu = nu
        self.epsilon = epsilon
        self.smoothing = smoothing
        self.fit_intercept = fit_intercept
        self.basis = basis
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.degree = degree
        self.coef0 = coef0
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, X_unlabeled: ArrayLike | None = None) -> InvSVC:
        """Fit to labelled rows, with the functionals at all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes; -1 marks a row without a label. (If y is -1 and 1 throughout, those are the
            two classes.)
        X_unlabeled : array-like of shape (m, n_features), optional
            More rows without labels. A pipeline does not transform them: there use y = -1.
        """
        X, y, labelled = self._check(X, y)
        rows = with_unlabeled(self, X, X_unlabeled)
        self._fit(rows, labelled, *self._coded(y[labelled]), self._loss(), self.lam, self.nu)
        self._warn_if_constant(X[labelled])
        return self

    def _warn_if_constant(self, rows: NDArray) -> None:
        guessed = np.unique(self._class_of(self._at(rows)))
        if len(guessed) == 1:
            warnings.warn(
                f"every labelled row gets the class {guessed[0]}: the penalties leave little but a "
                "constant. Raise lam, lower nu, set class_weight='balanced', or let InvSVCCV "
                "choose.",
                UserWarning,
                stacklevel=3,
            )

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Give the share of right classes; rows that y marks as unlabelled do not count.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        """
        y = np.asarray(y)
        none = "-1" if y.dtype.kind in "US" else -1
        counted = np.ones(len(y), dtype=bool)
        if none not in self.classes_.tolist():
            counted = np.asarray(y != none)
            if not counted.any():
                raise ValueError("no row has a label (all are -1): there is nothing to score")
        weight = None if sample_weight is None else np.asarray(sample_weight)[counted]
        return float(accuracy_score(y[counted], self.predict(X)[counted], sample_weight=weight))

    def _check(self, X: ArrayLike, y: ArrayLike) -> tuple[NDArray, NDArray, NDArray]:
        """Give rows, labels, and which of them are labels."""
        y = np.asarray(y)
        if y.dtype == object and y.ndim == 1 and any(isinstance(one, str) for one in y):
            # names with -1, or None, among them
            y = np.array(["-1" if one is None else str(one) for one in y])
        X, y = validate_data(self, X, y, dtype=float)
        check_classification_targets(y)
        labelled, self.classes_ = labelled_classes(y)
        return X, y, labelled

    def _coded(self, y: NDArray) -> tuple[NDArray, NDArray]:
        """Give targets, (n, n_functions), and the weight of each row."""
        only = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return np.where(y[:, None] == only, 1.0, -1.0), compute_sample_weight(self.class_weight, y)

    def _loss(self) -> Loss:
        return make_loss(self.loss, OF_CLASSES, "loss", self.smoothing, self.epsilon)

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Give the functions at rows: (n_samples,), or a column for each of several classes."""
        values = self._functions(X)
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: ArrayLike) -> NDArray:
        """Give the class of each row."""
        return self._class_of(self._functions(X))

    def _class_of(self, values: NDArray) -> NDArray:
        first = values[:, 0] > 0 if values.shape[1] == 1 else values.argmax(axis=1)
        return self.classes_[np.asarray(first, dtype=int)]

    def _is_logistic(self) -> bool:
        if self.loss != "logistic":
            raise AttributeError("predict_proba needs loss='logistic'")
        return True

    @available_if(_is_logistic)
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Give the probability of each class; of several, each against the rest, to sum to 1."""
        values = expit(self._functions(X))
        if len(self.classes_) == 2:
            return np.column_stack([1 - values[:, 0], values[:, 0]])
        return values / values.sum(axis=1, keepdims=True)


class InvSVR(RegressorMixin, RepresenterMachine):
    """Regression with functionals of the fitted function under a penalty.

    As :class:`InvSVC`, for numbers. Rows without one go to ``fit`` as ``X_unlabeled``.

    Parameters
    ----------
    functionals, kernel, gamma, penalty, nu, smoothing, fit_intercept, basis, solver, tol, max_iter
        As in :class:`InvSVC`, as are ``degree``, ``coef0``, ``warm_start`` and ``random_state``.
    loss : {"epsilon_insensitive", "squared", "absolute"}, default="epsilon_insensitive"
        Of residuals.
    lam : float, default=1.0
    epsilon : float, default=0.1
        Of "epsilon_insensitive", for residuals and for functionals.

    Attributes
    ----------
    coef_, intercept_, basis_coef_, representers_, objective_, gap_, kernel_, solver_, n_iter_
        As in :class:`InvSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from invarlearn import InvSVR
    >>> X = np.random.RandomState(0).rand(60, 5)
    >>> svr = InvSVR(nu=0.001, loss="squared", lam=10.0).fit(X, X.sum(axis=1))
    >>> bool(svr.score(X, X.sum(axis=1)) > 0.9)
    True
    """

    def __init__(
        self,
        functionals: Any = None,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        loss: str = "epsilon_insensitive",
        penalty: str = "squared",
        lam: float = 1.0,
        nu: float = 0.1,
        epsilon: float = 0.1,
        smoothing: float = 0.0,
        fit_intercept: bool = True,
        basis: Any = None,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 2000,
        degree: int = 3,
        coef0: float = 1.0,
        warm_start: bool = False,
        random_state: Any = None,
    ):
        self.functionals = functionals
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.penalty = penalty
        self.lam = lam
        self.nu = nu
        self.epsilon = epsilon
        self.smoothing = smoothing
        self.fit_intercept = fit_intercept
        self.basis = basis
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.degree = degree
        self.coef0 = coef0
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, X_unlabeled: ArrayLike | None = None) -> InvSVR:
        """Fit to rows, with the functionals there and at unlabelled rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        X_unlabeled : array-like of shape (m, n_features), optional
        """
        X, y = validate_data(self, X, y, dtype=float, y_numeric=True)
        loss = make_loss(self.loss, OF_NUMBERS, "loss", self.smoothing, self.epsilon)
        targets = np.asarray(y, dtype=float)[:, None]
        rows = np.arange(len(X))
        everywhere = with_unlabeled(self, X, X_unlabeled)
        self._fit(everywhere, rows, targets, np.ones(len(X)), loss, self.lam, self.nu)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Give the fitted function at rows."""
        return self._functions(X)[:, 0]
