"""Learning with functionals of f under a penalty: InvSVC, InvSVR and LaplacianSVC (paper 002)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist
from scipy.special import expit
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.utils import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn.functionals import (
    Basis,
    Constant,
    Derivative,
    Functional,
    Laplacian,
    Representers,
    Value,
)
from invarlearn.functionals.base import check_functionals
from invarlearn.functionals.elimination import DENSE, Elimination
from invarlearn.kernels import RBF, Kernel, Linear, Polynomial
from invarlearn.losses import OF_CLASSES, OF_NUMBERS, Loss, Squared, make_loss
from invarlearn.solvers.representer import (
    FACTORED,
    Problem,
    Solution,
    Term,
    grow,
    lbfgs,
    newton,
    small,
)
from invarlearn.transforms._checks import check_generator, check_memory, check_number

SOLVERS = ("auto", "eliminate", "newton", "lbfgs", "steepest", "random")


class RepresenterMachine(BaseEstimator):
    """What learning with functionals shares: the expansion, the choice of a solver, predictions."""

    # whether functionals are those of the whole function, or without its basis functions
    _penalises_basis = True

    def _fit(
        self,
        X: NDArray,
        labelled: NDArray,
        targets: NDArray,
        weights: NDArray,
        loss: Loss,
        lam: float,
        nu: float,
    ) -> None:
        """Fit one function for each column of targets, (n_labelled, k), at labelled rows of X."""
        if check_number(lam, "lam", low=0) == 0:
            raise ValueError("lam=0 must be above 0: labels would not count")
        nu = check_number(nu, "nu", low=0)
        penalty = self._penalty()
        if self.solver not in SOLVERS:
            raise ValueError(
                f"solver={self.solver!r} is unknown: choose one of {', '.join(SOLVERS)}"
            )
        self.kernel_ = make_kernel(self.kernel, self.gamma, self.degree, self.coef0, X)
        functionals = self._functionals() if nu > 0 else []
        self.functionals_ = functionals
        rows = X[labelled]
        z = Representers(self.kernel_, functionals, X)
        self.representers_ = Representers(self.kernel_, [Value()], rows).joined(z)
        self._bases = self._all_bases()
        basis = self._of_bases(self.representers_, len(rows))
        # basis functions of size one, whatever their units
        sizes = np.sqrt((basis[: len(rows)] ** 2).mean(axis=0))
        sizes[sizes == 0] = 1.0
        solutions = self._solutions(
            z, rows, targets, lam * weights, loss, nu, penalty, basis / sizes, sizes
        )
        for one in solutions:
            one.w = one.w / sizes
        self._tell(solutions)

    def _all_bases(self) -> list[Basis]:
        return ([Constant()] if self.fit_intercept else []) + self._basis()

    def _of_bases(self, representers: Representers, n_labelled: int) -> NDArray[np.float64]:
        """Give the functionals of basis functions, (m, p): zero where they do not see them."""
        basis = of_bases(representers, self._all_bases())
        seen = np.abs(basis[n_labelled:]).max(initial=0.0)
        if not self._penalises_basis or seen <= 1e-10 * np.abs(basis).max(initial=0.0):
            basis[n_labelled:] = 0.0
        return basis

    def _penalty(self) -> Loss:
        return make_loss(self.penalty, OF_NUMBERS, "penalty", self.smoothing, self.epsilon)

    def _functionals(self) -> list[Functional]:
        given = Derivative() if self.functionals is None else self.functionals
        return [clone(one) for one in check_functionals(given)]

    def _basis(self) -> list[Basis]:
        given = [] if self.basis is None else self.basis
        bases = [given] if isinstance(given, Basis) else given
        known = isinstance(bases, (list, tuple)) and all(isinstance(one, Basis) for one in bases)
        if not known:
            raise TypeError(f"basis={given!r} must be Basis objects: subclass functionals.Basis")
        return [clone(one) for one in bases]

    def _solutions(
        self,
        z: Representers,
        rows: NDArray,
        targets: NDArray,
        weights: NDArray,
        loss: Loss,
        nu: float,
        penalty: Loss,
        basis: NDArray,
        sizes: NDArray,
    ) -> list[Solution]:
        n_labelled, n = len(rows), len(self.representers_)
        can_eliminate = isinstance(penalty, Squared) and not basis[n_labelled:].any()
        self.solver_ = self._choose(n - n_labelled, n, can_eliminate, loss)
        starts = self._starts(n, sizes, targets.shape[1])
        many = range(targets.shape[1])

        def terms(k: int) -> list[Term]:
            return [Term(slice(0, n_labelled), loss, targets[:, k], weights)]

        if self.solver_ == "eliminate":
            return self._eliminate(z, rows, nu, basis[:n_labelled], [terms(k) for k in many])
        invariance = [Term(slice(n_labelled, n), penalty, 0.0, nu)] if n > n_labelled else []
        fits = 8.0 * n * n <= get_config()["working_memory"] * 2**20
        if self.solver_ == "newton" or (n <= DENSE and fits):
            gram = self.representers_.gram()
            problems = [Problem.dense(gram, basis, terms(k) + invariance) for k in many]
        else:
            product = self.representers_.dot
            problems = [Problem(product, basis, terms(k) + invariance) for k in many]
        if self.solver_ in ("steepest", "random"):
            rng = check_generator(self.random_state)
            columns = self.representers_.columns
            growing = (columns, n_labelled, self.solver_, rng, self.tol, self.max_iter)
            return [grow(p, *growing) for p in problems]
        solve = {"newton": newton, "lbfgs": lbfgs}[self.solver_]
        return [
            solve(p, self.tol, self.max_iter, start)
            for p, start in zip(problems, starts, strict=True)
        ]

    def _choose(self, m: int, n: int, can_eliminate: bool, loss: Loss) -> str:
        """Give the solver: the one asked for, or the fastest."""
        if self.solver == "eliminate" and not can_eliminate:
            raise ValueError(
                "solver='eliminate' needs penalty='squared', and basis functions that the "
                "functionals do not see: choose another solver"
            )
        if self.solver != "auto":
            return str(self.solver)
        if m and can_eliminate and (m <= FACTORED or not loss.is_smooth):
            return "eliminate"
        return "newton" if n <= FACTORED else "lbfgs"

    def _starts(self, n: int, sizes: NDArray, k: int) -> list[Any]:
        """Give where to begin: with ``warm_start`` at the last solution, if it has this size."""
        last = self.__dict__.get("_last")
        shapes = (k, n), (k, len(sizes))
        if self.warm_start and last is not None and tuple(a.shape for a in last) == shapes:
            return list(zip(last[0], last[1] * sizes, strict=True))
        return [None] * k

    def _eliminate(
        self, z: Representers, rows: NDArray, nu: float, basis: NDArray, terms: list[list[Term]]
    ) -> list[Solution]:
        """Solve on labelled rows only, with a kernel that has the functionals in it."""
        shape = (len(rows), len(rows))
        check_memory(shape, float, "the kernel of labelled rows", "choose solver='lbfgs'")
        elimination = Elimination(z, min(1e-8, self.tol))
        gram = elimination.kernels(rows, rows, [nu])[0]
        gram = (gram + gram.T) / 2
        found = [small(Problem.dense(gram, basis, t), self.tol, self.max_iter) for t in terms]
        # the coefficients of the functionals follow from those of the labelled rows
        if not len(z):
            return found
        labelled = Representers(self.kernel_, [Value()], rows)
        seen = np.column_stack([z.dot(one.c, labelled) for one in found])
        rest = elimination.solve(seen, nu)
        for one, column in zip(found, rest.T, strict=True):
            one.c = np.concatenate([one.c, -column])
        return found

    def _tell(self, solutions: list[Solution]) -> None:
        self.coef_ = np.array([one.c for one in solutions])
        weights = np.array([one.w for one in solutions]).reshape(len(solutions), -1)
        self._last = self.coef_, weights
        one = int(bool(self.fit_intercept))
        self.intercept_ = weights[:, 0] if one else np.zeros(len(solutions))
        self.basis_coef_ = weights[:, one:]
        self.objective_ = np.array([one.objective for one in solutions])
        self.gap_ = np.array([one.gap for one in solutions])
        self.n_iter_ = max(1, *(one.n_iter for one in solutions), 1)
        short = [one for one in solutions if not one.converged]
        if short:
            worst = max(short, key=lambda one: one.gap)
            warnings.warn(
                f"solver {self.solver_!r} stopped after {worst.n_iter} iterations with a duality "
                f"gap of {worst.gap:.1e} at an objective of {worst.objective:.4g}, above "
                f"tol={self.tol:g}: {worst.why}",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _functions(self, X: ArrayLike) -> NDArray[np.float64]:
        """Give the fitted functions at rows: (n_samples, k)."""
        check_is_fitted(self)
        return self._at(validate_data(self, X, dtype=float, reset=False))

    def _at(self, X: NDArray) -> NDArray[np.float64]:
        at = Representers(self.kernel_, [Value()], X)
        values = np.column_stack([at.dot(c, self.representers_) for c in self.coef_])
        one = int(bool(self.fit_intercept))
        basis = of_bases(at, self._bases[one:]) @ self.basis_coef_.T
        return values + basis + self.intercept_


def of_bases(representers: Representers, bases: Sequence[Basis]) -> NDArray[np.float64]:
    """Give the functionals of all basis functions: (m, p)."""
    columns = []
    for basis in bases:
        values = representers.of_basis(basis)
        if values.ndim != 2 or len(values) != len(representers):
            raise ValueError(
                f"{basis!r} must give values of shape (n, p) and gradients of shape (n, p, d)"
            )
        columns.append(values)
    return np.column_stack(columns) if columns else np.empty((len(representers), 0))


def make_kernel(kernel: Any, gamma: Any, degree: int, coef0: float, X: NDArray) -> Kernel:
    """Give the kernel of this name with gamma as a number, or a copy of the one that is given."""
    if isinstance(kernel, Kernel):
        return clone(kernel)
    known = ("rbf", "poly", "linear")
    if kernel not in known:
        raise ValueError(f"kernel={kernel!r} is unknown: pass a Kernel, or {', '.join(known)}")
    if kernel == "linear":
        return Linear()
    if gamma == "scale":
        variance = float(X.var())
        gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    elif gamma == "median":
        gamma = median_gamma(X)
    elif isinstance(gamma, str):
        raise ValueError(f"gamma={gamma!r} is unknown: pass a number, 'scale' or 'median'")
    return RBF(gamma) if kernel == "rbf" else Polynomial(degree, gamma, coef0)


def median_gamma(X: NDArray, at_most: int = 5000) -> float:
    """Give gamma for an RBF whose sigma is the median distance of rows (of at most so many)."""
    few = X if len(X) <= at_most else X[np.linspace(0, len(X) - 1, at_most).astype(int)]
    median = float(np.median(pdist(few))) if len(few) > 1 else 0.0
    return 1 / (2 * median**2) if median > 0 else 1.0


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


def with_unlabeled(estimator: Any, X: NDArray, more: ArrayLike | None) -> NDArray:
    """Append rows without labels."""
    if more is None:
        return X
    try:
        more = validate_data(estimator, more, dtype=float, reset=False)
    except ValueError as error:
        raise ValueError(f"X_unlabeled does not fit: {error}") from error
    return np.concatenate([X, more])


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


class LaplacianSVC(InvSVC):
    """Laplacian SVM: functions that change little along the edges of a neighbour graph.

    Minimises ``|f|^2 / 2 + lam * sum of losses at labels + nu * f' L f`` with the normalised
    Laplacian L of a neighbour graph of all rows. Rows with the label -1 have no label.

    Parameters
    ----------
    n_neighbors : int, default=6
    weights : {"heat", "binary"}, default="heat"
        As in :class:`~invarlearn.functionals.Laplacian`, as are ``normalize`` and ``power``.
    lam : float, default=1.0
        As C in SVC.
    nu : float, default=1.0
    kernel, gamma, loss, class_weight, tol, max_iter, degree, coef0
        As in :class:`InvSVC`.
    normalize : bool, default=True
    power : int, default=1

    Attributes
    ----------
    coef_, intercept_, representers_, objective_, gap_, classes_, kernel_, n_iter_, n_features_in_
        As in :class:`InvSVC`.

    References
    ----------
    Belkin, Niyogi and Sindhwani, Manifold regularization (2006); Melacci and Belkin, Laplacian
    support vector machines trained in the primal (2011).

    Examples
    --------
    >>> from invarlearn import LaplacianSVC
    >>> from invarlearn.datasets import make_two_moons
    >>> moons = make_two_moons(noise=0.05, random_state=0)
    >>> svc = LaplacianSVC(gamma=8.0, nu=1e4).fit(moons.X, moons.y_partial)
    >>> float((svc.predict(moons.X) == moons.y).mean())
    1.0
    """

    # the constant stays out of f' L f, as it does where Laplacian SVMs come from
    _penalises_basis = False
    penalty = "squared"
    epsilon = 0.1
    smoothing = 0.0
    fit_intercept = True
    basis = None
    solver = "auto"
    warm_start = False
    random_state = None

    def __init__(
        self,
        n_neighbors: int = 6,
        weights: str = "heat",
        lam: float = 1.0,
        nu: float = 1.0,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        loss: str = "hinge",
        class_weight: Any = None,
        tol: float = 1e-6,
        max_iter: int = 2000,
        degree: int = 3,
        coef0: float = 1.0,
        normalize: bool = True,
        power: int = 1,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.lam = lam
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.degree = degree
        self.coef0 = coef0
        self.normalize = normalize
        self.power = power

    def _functionals(self) -> list[Functional]:
        return [Laplacian(self.n_neighbors, self.weights, self.normalize, self.power)]
