"""InvSVC and InvSVR: learning with penalised functionals (Zhang et al., 2013)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from invarlearn.estimators._representer import (
    RepresenterMachine,
    Targets,
    fit_expansion,
    objective_of,
    settings_of,
    with_unlabeled,
)
from invarlearn.estimators._representer_classifier import RepresenterClassifier, check_labels
from invarlearn.losses import CLASSIFICATION_LOSSES, REGRESSION_LOSSES, make_loss
from invarlearn.solvers import Solver


class InvSVC(RepresenterClassifier):
    """Semi-supervised classifier with penalised functionals of the decision function.

    The objective is ``|f|^2 / 2 + lam * sum of losses at labels + nu * sum of penalties`` (Zhang et
    al., 2013, objective 2). Functionals are, for example, derivatives with respect to features,
    derivatives along transformations, local averages, or differences of neighbours. They are taken
    at all rows. The label -1 marks unlabelled rows, unless all labels are -1 or 1. With more than
    two classes there is one function for each class against the rest.

    Derivatives depend on the units of features, so standardise features first. Penalties are sums
    over rows and features. With more rows ``nu`` has more effect, and ``lam`` must be larger.

    Parameters
    ----------
    functionals : Functional or sequence of Functional, optional
        The penalised functionals. None: all partial derivatives.
    kernel : {"rbf", "poly", "linear"} or Kernel, default="rbf"
    gamma : {"scale", "median"} or float, default="scale"
        Parameter of "rbf" and "poly". "scale": as in SVC; "median": sigma is the median distance of
        rows.
    loss : {"logistic", "hinge", "squared"}, default="logistic"
        Loss at labels. "squared" is ``(f - y)^2``, without a factor of one half.
    penalty : {"squared", "absolute", "epsilon_insensitive"}, default="squared"
        Penalty of functionals.
    lam : float, default=1.0
        Weight of the losses, as C in SVC.
    nu : float, default=0.1
        Weight of the penalties. 0: no functionals.
    epsilon : float, default=0.1
        Parameter of "epsilon_insensitive".
    smoothing : float, default=0.0
        Half-width of the intervals around kinks in which losses are smoothed. 0: no smoothing.
    fit_intercept : bool, default=True
        Whether to add a constant without penalty.
    basis : Basis or sequence of Basis, optional
        Further functions without penalty (Theorem 7 of the reference).
    class_weight : dict or "balanced", optional
        Weights of the losses of each class; "balanced": inversely proportional to their
        frequencies.
    solver : str or Solver, default="auto"
        "eliminate": eliminate the functionals under a squared penalty, and solve for the labelled
        rows; "newton": Newton's method; "lbfgs": L-BFGS by products with the Gram matrix, for any
        number of functionals; "steepest" or "random": an expansion that grows; "auto": choose from
        the first three by the size of the problem. A Solver object has further settings, such as
        ``invarlearn.solvers.Eliminate(max_factored=8000)``.
    tol : float, default=1e-6
        Stop at a duality gap of ``tol`` times the objective.
    max_iter : int, default=2000
        Largest number of steps of "newton" and "lbfgs", or of rounds of "steepest" and "random".
    degree : int, default=3
        Parameter of "poly".
    coef0 : float, default=1.0
        Parameter of "poly".
    warm_start : bool, default=False
        Whether "newton" and "lbfgs" start from the solution of the last fit, for instance along a
        path of lam or nu.
    random_state : int, RandomState or None
        Seed of "random".
    verbose : bool or callable, default=False
        Whether to print the objective and the gap after each iteration, or a callback that takes
        them.

    Attributes
    ----------
    coef_ : array of shape (n_functions, n_representers)
        Coefficients of the representers. There is one function for two classes, else one for each
        class.
    intercept_ : array of shape (n_functions,)
    basis_coef_ : array of shape (n_functions, n_basis)
        Weights of the functions of ``basis``.
    representers_ : Representers
        Representers of the values at labelled rows, then of the functionals.
    objective_, gap_ : arrays of shape (n_functions,)
        The objective of each function and its duality gap: the minimum is at least ``objective_ -
        gap_``. The part of the gap that is due to functions without penalty is an estimate. With
        "eliminate" both are those of the reduced problem, which has the same minimum.
    classes_ : array of shape (n_classes,)
    kernel_ : Kernel
    solver_ : str
        Name of the solver in use.
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
        solver: str | Solver = "auto",
        tol: float = 1e-6,
        max_iter: int = 2000,
        degree: int = 3,
        coef0: float = 1.0,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: Any = False,
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
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, X_unlabeled: ArrayLike | None = None) -> InvSVC:
        """Fit to the labelled rows, with functionals at all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes; -1 marks an unlabelled row, unless all labels are -1 or 1.
        X_unlabeled : array-like of shape (m, n_features), optional
            Further unlabelled rows. A pipeline does not transform them, so mark unlabelled rows by
            -1 in pipelines.
        """
        X, labels = check_labels(self, X, y)
        rows = with_unlabeled(self, X, X_unlabeled)
        loss = make_loss(self.loss, CLASSIFICATION_LOSSES, "loss", self.smoothing, self.epsilon)
        objective = objective_of(self, rows, loss, self.lam, self.nu)
        targets = labels.targets(self.class_weight)
        fitted = fit_expansion(objective, rows, targets, settings_of(self), self._start())
        self._publish(objective, fitted)
        self._publish_classes(labels.classes, X[labels.labelled])
        return self


class InvSVR(RegressorMixin, RepresenterMachine):
    """Semi-supervised regressor with penalised functionals of the fitted function.

    The objective is that of :class:`InvSVC`, with a loss of residuals. Pass unlabelled rows as
    ``X_unlabeled`` to ``fit``.

    Parameters
    ----------
    functionals, kernel, gamma, penalty, nu, smoothing, fit_intercept, basis, solver, tol, max_iter
        As in :class:`InvSVC`.
    loss : {"epsilon_insensitive", "squared", "absolute"}, default="epsilon_insensitive"
        Loss of residuals.
    lam : float, default=1.0
        Weight of the losses.
    epsilon : float, default=0.1
        Parameter of "epsilon_insensitive", for residuals and for functionals.
    degree, coef0, warm_start, random_state, verbose
        As in :class:`InvSVC`.

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
        solver: str | Solver = "auto",
        tol: float = 1e-6,
        max_iter: int = 2000,
        degree: int = 3,
        coef0: float = 1.0,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: Any = False,
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
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, X_unlabeled: ArrayLike | None = None) -> InvSVR:
        """Fit to labelled rows, with functionals at all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        X_unlabeled : array-like of shape (m, n_features), optional
            Unlabelled rows.
        """
        X, y = validate_data(self, X, y, dtype=float, y_numeric=True)
        rows = with_unlabeled(self, X, X_unlabeled)
        loss = make_loss(self.loss, REGRESSION_LOSSES, "loss", self.smoothing, self.epsilon)
        objective = objective_of(self, rows, loss, self.lam, self.nu)
        values = np.asarray(y, dtype=float)[:, None]
        targets = Targets(np.arange(len(X)), values, np.ones(len(X)))
        fitted = fit_expansion(objective, rows, targets, settings_of(self), self._start())
        self._publish(objective, fitted)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return predictions: (n_samples,)."""
        return self._evaluate(X)[:, 0]
