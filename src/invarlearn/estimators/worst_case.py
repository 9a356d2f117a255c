"""Support vector machine with a kernel and a worst-case loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import gen_batches
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._utils.repr import ReprMixin
from invarlearn._utils.validation import check_number
from invarlearn.estimators._multiclass import (
    check_classes,
    class_indices,
    decision_values,
    winning_classes,
)
from invarlearn.estimators._worst_case import (
    resolve_costs,
    resolve_family,
    resolve_lam,
    resolve_weights,
    setting_of,
    solve_worst_case,
    warn_of_gap,
)
from invarlearn.kernels import Kernel, resolve_kernel
from invarlearn.oracles.orbits import KernelColumns, OrbitColumns, ProposedColumns
from invarlearn.solvers import Solution, Solver, WorstCaseProblem, resolve_solver
from invarlearn.transforms import Family
from invarlearn.transforms.base import BLOCK_BYTES


class WorstCaseSVC(ClassifierMixin, ReprMixin):
    """Classifier with the loss at the worst transformation of each sample.

    The objective is ``lam |f|^2 / 2`` plus the mean worst-case loss. The worst-case loss of a
    sample x of class y is the largest ``margin_scale[y, y'] * (f(s(x), y') - f(s(x), y)) + cost[y,
    y', s]`` over classes y' and transformations s (Teo et al., 2007, equations 2 and 5). The
    objective is convex for every family. There is one function for each class (Crammer and Singer).
    For two classes there is a single function, as in :class:`sklearn.svm.SVC`, but without an
    intercept.

    A transformed copy of a sample is created only when it becomes the worst one, while
    :class:`VirtualSVC` trains on all augmented copies.

    Parameters
    ----------
    family : Family or None
        The transformations; their elements must be listed. For other families pass ``oracle``, or
        use :class:`WorstCaseLinearSVC`. None: a multiclass SVM.
    kernel : {"rbf", "poly", "linear"} or Kernel, default="rbf"
    C : float, default=10.0
        Weight of a sample's loss relative to ``|f|^2 / 2``; ``lam`` is ``1 / (C n_samples)``.
    lam : float, optional
        Regularisation, which replaces C. None: computed from C.
    gamma : {"scale", "median"} or float, default="scale"
        Parameter of "rbf" and "poly".
    degree : int, default=3
        Parameter of "poly".
    coef0 : float, default=0.0
        Parameter of "poly".
    cost : array of shape (n_classes, n_classes), or (n_classes, n_classes, n_elements), optional
        Cost of predicting the second class for the first, possibly depending on the element of the
        family; for instance, lower under larger transformations. ``-inf`` excludes an element for
        a pair of classes. Classes are sorted. None: 1 for every mistake.
    margin_scale : array of shape (n_classes, n_classes), optional
        Factors of differences of scores. None: 1.
    oracle : callable, optional
        Replaces the family. ``oracle(x, y, decide)`` returns transformed rows, (k, n_features), of
        a row x with the class index y. It can search for rows with large losses by ``decide``,
        which maps rows to scores of classes, (k, n_classes). The gap refers to the rows that
        ``oracle`` returns.
    solver : {"columns", "pegasos"} or Solver, default="columns"
        Column generation, which certifies a small gap, or stochastic subgradient descent
        (Algorithms 1 and 2 of Teo et al.). A Solver object, such as
        ``invarlearn.solvers.ColumnGeneration(keep=0.5)``, has its own settings; ``keep_support``
        and ``cache_size`` must then have their defaults.
    keep_support : float, default=1.0
        Fraction of the support vectors to keep, with "columns". Those with the smallest weights are
        dropped in steps, and the weights of the others are optimised again. Prediction time is
        proportional to the number of support vectors; ``gap_`` is that of the final function.
    class_weight : dict or "balanced", optional
        Weights of classes; "balanced": inversely proportional to their frequencies.
    tol : float, default=1e-3
        Stop at a duality gap of ``tol`` times the objective.
    max_iter : int, default=200
        Largest number of rounds of column generation, or of passes of Pegasos over the samples.
    cache_size : float, default=1000
        Memory for kernel values in MB. Values beyond it are computed again.
    random_state : int, RandomState or None
        Determines the order of samples in the solvers.
    verbose : bool or callable, default=False
        Whether to print the objective and the gap after each round, or a callback that takes them.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    support_vectors_ : array of shape (n_support, n_features)
        Transformed samples with nonzero coefficients.
    support_ : array of shape (n_support,)
        Index of the sample of each support vector.
    support_elements_ : array of shape (n_support,), or None
        Index of the element that transforms the sample, as in ``family.orbit(X)``. None with
        ``oracle``.
    dual_coef_ : array of shape (n_functions, n_support)
        Coefficients of the support vectors.
    objective_, gap_ : float
        The objective and its duality gap: the minimum is at least ``objective_ - gap_``.
    lam_ : float
    kernel_ : Kernel
    n_iter_ : int
    n_features_in_ : int

    See Also
    --------
    VirtualSVC : Classifier trained on all augmented copies.
    WorstCaseLinearSVC : Linear classifier, also for sparse rows and families without listed
        elements.
    invarlearn.audit.worst_case_accuracy : Accuracy under the worst transformation.

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
        solver: str | Solver = "columns",
        keep_support: float = 1.0,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 200,
        cache_size: float = 1000,
        random_state: Any = None,
        verbose: Any = False,
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
        """Fit the classifier to the worst transformations of the samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        """
        X, y = validate_data(self, X, y, dtype=float)
        check_classification_targets(y)
        keep = check_number(self.keep_support, "keep_support", low=0, high=1)
        if keep == 0:
            raise ValueError(f"keep_support={self.keep_support!r} must be above 0")
        cache = check_number(self.cache_size, "cache_size", low=0) * 2**20 / 2
        solver = resolve_solver(
            self.solver,
            WorstCaseProblem,
            keep=setting_of(self, "keep_support", keep),
            # the kernel values of samples are cached with every solver
            cache_bytes=setting_of(self, "cache_size", cache, is_shared=True),
        )
        classes = check_classes(y)
        weights = resolve_weights(self, X, y, classes, sample_weight)
        weighted = np.flatnonzero(weights > 0)
        kernel = resolve_kernel(
            self.kernel, X[weighted], gamma=self.gamma, degree=self.degree, coef0=self.coef0
        )
        indices = class_indices(y[weighted], classes)
        source = self._source(X[weighted], indices, kernel, weights[weighted], cache)
        lam = resolve_lam(self, weights[weighted].sum())
        solution = solve_worst_case(self, solver, source, lam)
        self._publish(source, solution, classes, weighted, lam)
        warn_of_gap(self.solver, solution, self.tol)
        return self

    def _source(
        self, X: NDArray, indices: NDArray, kernel: Kernel, weights: NDArray, cache_bytes: float
    ) -> KernelColumns:
        """Return the columns of samples, by the family or by the oracle of the user."""
        n_classes = int(indices.max()) + 1
        if self.oracle is not None:
            if self.family is not None:
                raise ValueError("oracle replaces the family: pass one of the two")
            if not callable(self.oracle):
                raise TypeError(f"oracle={self.oracle!r} must be a function of x, y and decide")
            costs = resolve_costs(self, n_classes, np.inf)
            return ProposedColumns(X, indices, kernel, costs, self.oracle, weights)
        family = resolve_family(self)
        size = family.size(X.shape[1])
        if not np.isfinite(size):
            raise ValueError(
                f"the elements of family={family!r} cannot be listed: use WorstCaseLinearSVC, pass "
                "family=Sampled(family, k) for k random elements, or pass oracle"
            )
        costs = resolve_costs(self, n_classes, size)
        return OrbitColumns(X, indices, kernel, costs, family, cache_bytes, weights)

    def _publish(
        self,
        source: KernelColumns,
        solution: Solution,
        classes: NDArray,
        samples: NDArray,
        lam: float,
    ) -> None:
        """Set the fitted attributes; ``samples`` are the indices of the samples of the source."""
        A = solution.coef
        support = np.flatnonzero(np.abs(A).max(axis=0, initial=0.0) > 0)
        self.classes_, self.kernel_, self.lam_ = classes, source.kernel, lam
        self.objective_, self.gap_ = solution.objective, solution.gap
        self.n_iter_ = solution.n_iter
        self.support_vectors_ = source.rows[support]
        self.support_ = samples[source.origin[support, 0]]
        self.support_elements_ = None if self.oracle is not None else source.origin[support, 1]
        self.dual_coef_ = A[:, support]

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return decision values: (n_samples, n_classes), or (n_samples,) for two classes."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=float, reset=False)
        out = np.zeros((len(X), len(self.dual_coef_)))
        n = len(self.support_vectors_)
        if n:
            for block in gen_batches(len(X), max(1, 4 * BLOCK_BYTES // (8 * n))):
                out[block] = self.kernel_(X[block], self.support_vectors_) @ self.dual_coef_.T
        return decision_values(out)

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the class of each sample: (n_samples,)."""
        scores = self.decision_function(X)
        return self.classes_[winning_classes(scores)]
