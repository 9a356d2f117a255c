"""Support vector machine against the worst transformation, with a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import gen_batches
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._readable import Readable
from invarlearn.estimators._representer import make_kernel
from invarlearn.estimators._worst_case import (
    check_solver,
    class_numbers,
    costs_of,
    family_of,
    lam_of,
    progress_of,
    warn_of_gap,
    weights_of,
)
from invarlearn.oracles.orbits import KernelColumns, OrbitColumns, ProposedColumns
from invarlearn.solvers.columns import generate
from invarlearn.solvers.pegasos import kernel_pegasos
from invarlearn.transforms import Family
from invarlearn.transforms._checks import check_generator, check_number
from invarlearn.transforms.base import BLOCK_BYTES

SOLVERS = ("columns", "pegasos")


class WorstCaseSVC(ClassifierMixin, Readable):
    """Classifier that is trained against the transformation that hurts it most.

    Minimises ``lam |f|^2 / 2 + mean of worst losses``, where the worst loss of a sample x of class
    y is the largest ``margin_scale[y, y'] * (f(s(x), y') - f(s(x), y)) + cost[y, y', s]`` over
    classes y' and transformations s (paper 004, equations 2 and 5). That is convex, whatever the
    family is. There is one function for each class (Crammer and Singer); with two classes a single
    one, as in :class:`sklearn.svm.SVC`, but without an intercept.

    A transformed copy of a sample is made only when it is the worst at some time, so that there are
    fewer support vectors than with all copies (:class:`VirtualSVC`).

    Parameters
    ----------
    family : Family or None
        What may change. Its elements must be listed; for others pass ``oracle``, or see
        :class:`WorstCaseLinearSVC`. None: nothing, a plain multiclass SVM.
    kernel : {"rbf", "poly", "linear"} or Kernel, default="rbf"
    C : float, default=10.0
        Weight of a sample's loss against ``|f|^2 / 2``; ``lam`` is ``1 / (C n_samples)``.
    lam : float, optional
        The regularisation itself: given, it replaces C.
    gamma : {"scale", "median"} or float, default="scale"
        Of "rbf" and "poly", as are ``degree`` and ``coef0`` of "poly".
    degree : int, default=3
    coef0 : float, default=0.0
    cost : array of shape (n_classes, n_classes), or (n_classes, n_classes, n_elements), optional
        Of taking a class (first index) for another (second), and under which element: say, less
        under larger transformations. ``-inf``: the element does not apply to the class. Classes
        are sorted. None: 1 for every mistake.
    margin_scale : array of shape (n_classes, n_classes), optional
        By what differences of scores are multiplied. None: 1.
    oracle : callable, optional
        Takes the place of the family: ``oracle(x, y, decide)`` gives rows, (k, n_features), that a
        row x of class number y may turn into; ``decide`` maps rows to scores of classes, (k,
        n_classes), so that it can search for bad ones. The gap then is that over what it gave.
    solver : {"columns", "pegasos"}, default="columns"
        Column generation, which certifies the gap; or stochastic steps (Algorithms 1 and 2).
    keep_support : float, default=1.0
        Which part of the support vectors to keep, with "columns": those of the smallest weight are
        dropped, a few at a time, and weights are found anew for the rest. Half of them often
        predict as well as all, in half the time; ``gap_`` tells how far that is from the optimum.
    class_weight : dict or "balanced", optional
    tol : float, default=1e-3
        The duality gap, as part of the objective, at which to stop.
    max_iter : int, default=200
        Rounds of column generation, or passes of Pegasos over the samples.
    cache_size : float, default=1000
        MB for kernel values; beyond, they are computed again when they are needed.
    random_state : int, RandomState or None
        For the order of samples in the solvers.
    verbose : bool, default=False
        Whether to print the objective and the gap after each round.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    support_vectors_ : array of shape (n_support, n_features)
        Transformed samples that the functions are made of.
    support_ : array of shape (n_support,)
        Which sample each is a transformation of.
    support_elements_ : array of shape (n_support,), or None
        And by which element, as in ``family.orbit(X)``. None with ``oracle``.
    dual_coef_ : array of shape (n_functions, n_support)
    objective_, gap_ : float
        ``lam |f|^2 / 2 + mean loss``, and how far above the optimum it is at most.
    lam_ : float
    kernel_ : Kernel
    n_iter_ : int
    n_features_in_ : int

    See Also
    --------
    VirtualSVC : trains on all transformed copies.
    WorstCaseLinearSVC : for linear functions, sparse rows and families without a list.
    invarlearn.audit.worst_case_accuracy : accuracy at the worst transformation.

    References
    ----------
    Teo, Globerson, Roweis and Smola, Convex learning with invariances (2007).

    Examples
    --------
    >>> from invarlearn import WorstCaseSVC
    >>> from invarlearn.datasets import load_mnist_sample
    >>> from invarlearn.transforms import Translation
    >>> digits = load_mnist_sample()
    >>> svc = WorstCaseSVC(Translation(1)).fit(digits.X_train[:50], digits.y_train[:50])
    >>> len(svc.support_vectors_) < 450
    True
    >>> svc.gap_ <= 1e-3 * svc.objective_
    True
    """

    def __init__(
        self,
        family: Family | None = None,
        kernel: Any = "rbf",
        C: float = 10.0,
        lam: float | None = None,
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cost: ArrayLike | None = None,
        margin_scale: ArrayLike | None = None,
        oracle: Callable[..., Any] | None = None,
        solver: str = "columns",
        keep_support: float = 1.0,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 200,
        cache_size: float = 1000,
        random_state: Any = None,
        verbose: bool = False,
    ):
        self.family = family
        self.kernel = kernel
        self.C = C
        self.lam = lam
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cost = cost
        self.margin_scale = margin_scale
        self.oracle = oracle
        self.solver = solver
        self.keep_support = keep_support
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> WorstCaseSVC:
        """Train on samples and, as they are needed, their worst transformations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        """
        X, y = validate_data(self, X, y, dtype=float)
        check_classification_targets(y)
        check_solver(self.solver, SOLVERS)
        tol = check_number(self.tol, "tol", low=0)
        max_iter = int(check_number(self.max_iter, "max_iter", low=1, whole=True))
        keep = check_number(self.keep_support, "keep_support", low=0, high=1)
        if keep == 0 or (keep < 1 and self.solver != "columns"):
            raise ValueError(
                f"keep_support={self.keep_support!r} must be above 0, and needs solver='columns'"
            )
        rng = check_generator(self.random_state)
        self.classes_, numbers = class_numbers(y)
        weights = weights_of(self, X, y, sample_weight)
        seen = np.flatnonzero(weights > 0)
        self.kernel_ = make_kernel(self.kernel, self.gamma, self.degree, self.coef0, X[seen])
        source = self._source(X[seen], numbers[seen])
        weights = weights[seen]
        self.lam_ = lam_of(self, weights.sum())
        shares = weights / weights.sum()
        # columns count in units of 1 / lam
        progress = progress_of(self.verbose, self.lam_ if self.solver == "columns" else 1.0)
        if self.solver == "columns":
            found = generate(
                source,
                shares / self.lam_,
                tol,
                max_iter,
                keep=keep,
                cache_bytes=self.cache_size * 2**20 / 2,
                rng=rng,
                progress=progress,
            )
            A, converged, why, self.n_iter_ = found.A, found.converged, found.why, found.n_iter
            self.objective_ = float(found.objective * self.lam_)
            self.gap_ = float(found.gap * self.lam_)
        else:
            how = (source, shares, self.lam_, tol, max_iter, rng, progress)
            A, self.objective_, self.gap_, self.n_iter_ = kernel_pegasos(*how)
            converged = self.gap_ <= tol * self.objective_
            why = "raise max_iter, or choose solver='columns'"
        self._keep(source, A, seen)
        if not converged:
            warn_of_gap(self, why)
        return self

    def _source(self, X: NDArray, numbers: NDArray) -> KernelColumns:
        cache = check_number(self.cache_size, "cache_size", low=0) * 2**20 / 2
        if self.oracle is not None:
            if self.family is not None:
                raise ValueError("oracle takes the place of the family: give one of the two")
            if not callable(self.oracle):
                raise TypeError(f"oracle={self.oracle!r} must be a function of x, y and decide")
            return ProposedColumns(X, numbers, self.kernel_, costs_of(self, np.inf), self.oracle)
        family = family_of(self)
        size = family._size(X.shape[1])
        if not np.isfinite(size):
            raise ValueError(
                f"the elements of {family!r} cannot be listed: use WorstCaseLinearSVC, or "
                "family=Sampled(family, k) for k random ones, or pass oracle="
            )
        costs = costs_of(self, size)
        return OrbitColumns(X, numbers, self.kernel_, costs, family, cache)

    def _keep(self, source: KernelColumns, A: NDArray, seen: NDArray) -> None:
        support = np.flatnonzero(np.abs(A).max(axis=0, initial=0.0) > 0)
        self.support_vectors_ = source.rows[support]
        self.support_ = seen[source.origin[support, 0]]
        self.support_elements_ = None if self.oracle is not None else source.origin[support, 1]
        self.dual_coef_ = A[:, support]

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Give the scores of classes, (n_samples, n_classes); with two, (n_samples,)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=float, reset=False)
        out = np.zeros((len(X), len(self.dual_coef_)))
        n = len(self.support_vectors_)
        if n:
            for few in gen_batches(len(X), max(1, 4 * BLOCK_BYTES // (8 * n))):
                out[few] = self.kernel_(X[few], self.support_vectors_) @ self.dual_coef_.T
        return out[:, 0] if len(self.classes_) == 2 else out

    def predict(self, X: ArrayLike) -> NDArray:
        """Give the class of each sample."""
        scores = self.decision_function(X)
        two = scores.ndim == 1
        return self.classes_[(scores > 0).astype(int) if two else scores.argmax(axis=1)]
