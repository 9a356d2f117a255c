"""Linear support vector machine with a worst-case loss, for dense and sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from invarlearn._utils.repr import ReprMixin
from invarlearn._utils.validation import check_number
from invarlearn.estimators._multiclass import (
    check_classes,
    check_classes_of_batch,
    class_indices,
)
from invarlearn.estimators._weights import (
    check_sample_weight,
    check_weights_of_batches,
    training_weights,
)
from invarlearn.estimators._worst_case import (
    resolve_costs,
    resolve_family,
    resolve_lam,
    resolve_weights,
    solve_worst_case,
    warn_of_gap,
)
from invarlearn.oracles import linear_risk
from invarlearn.oracles.linear import LinearRisk, has_closed_form
from invarlearn.solvers import Solver, WorstCaseProblem, resolve_solver
from invarlearn.solvers.pegasos import Walk
from invarlearn.transforms import Family


class WorstCaseLinearSVC(LinearClassifierMixin, SparseCoefMixin, ReprMixin):
    """Linear classifier with the loss at the worst transformation of each sample.

    The objective is ``lam |w|^2 / 2`` plus the mean worst-case loss, as in :class:`WorstCaseSVC`,
    for functions that are linear in the features. There are three kinds of families. For
    :class:`~invarlearn.transforms.FeatureScaling` and
    :class:`~invarlearn.transforms.FeatureDropping`, for instance of sparse bags of words, the worst
    case has a closed form. A family with listed elements needs dense rows. Any other family needs a
    method ``worst_case``.

    Parameters
    ----------
    family : Family or None
        The transformations. None: a linear (multiclass) SVM with the hinge loss.
    C : float, default=1.0
        Weight of a sample's loss relative to ``|w|^2 / 2``, as in :class:`sklearn.svm.LinearSVC`
        with ``loss="hinge"``; ``lam`` is ``1 / (C n_samples)``.
    lam : float, optional
        Regularisation, which replaces C. None: computed from C.
    solver : {"bundle", "pegasos"} or Solver, default="bundle"
        Bundle method with line search, which certifies a small gap, or stochastic subgradient
        descent; or a Solver object, such as ``invarlearn.solvers.Bundle(patience=10)``.
    cost : array of shape (n_classes, n_classes), or (n_classes, n_classes, n_elements), optional
        As in :class:`WorstCaseSVC`. The second shape is for families with listed elements.
    margin_scale : array of shape (n_classes, n_classes), optional
        As in :class:`WorstCaseSVC`.
    fit_intercept : bool, default=True
        Whether to add a constant feature of value ``intercept_scaling``, which is not transformed.
        Its weight is part of ``|w|^2``, as in LinearSVC.
    intercept_scaling : float, default=1.0
    class_weight : dict or "balanced", optional
        Weights of classes; "balanced": inversely proportional to their frequencies.
    tol : float, default=1e-3
        Stop at a duality gap of ``tol`` times the objective.
    max_iter : int, default=1000
        Largest number of steps of the bundle method, or of passes of Pegasos over the samples.
    random_state : int, RandomState or None
        Determines the order of samples in Pegasos.
    verbose : bool or callable, default=False
        Whether to print the objective and the gap after each iteration, or a callback that takes
        them.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes
    intercept_ : array of shape (n_classes,), or (1,) for two classes
    objective_, gap_ : float
        The objective and its duality gap: the minimum is at least ``objective_ - gap_``. NaN after
        ``partial_fit``.
    lam_ : float
    n_iter_ : int
    n_features_in_ : int

    See Also
    --------
    WorstCaseSVC : Classifier with a kernel.

    References
    ----------
    Teo, Globerson, Roweis and Smola, Convex learning with invariances (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from invarlearn import WorstCaseLinearSVC
    >>> from invarlearn.transforms import FeatureDropping
    >>> X = np.array([[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    >>> WorstCaseLinearSVC(lam=0.1, fit_intercept=False).fit(X, [0, 1]).coef_.round(2)
    array([[-0.33, -0.33, -0.33,  1.  ]])
    >>> svc = WorstCaseLinearSVC(FeatureDropping(1), lam=0.1, fit_intercept=False)
    >>> svc.fit(X, [0, 1]).coef_.round(2)  # no single word is relied on
    array([[-0.5, -0.5, -0.5,  0. ]])
    """

    def __init__(
        self,
        family: Family | None = None,
        C: float = 1.0,
        lam: float | None = None,
        solver: str | Solver = "bundle",
        cost: ArrayLike | None = None,
        margin_scale: ArrayLike | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: Any = None,
        verbose: Any = False,
    ):
        self.family = family
        self.C = C
        self.lam = lam
        self.solver = solver
        self.cost = cost
        self.margin_scale = margin_scale
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> WorstCaseLinearSVC:
        """Fit the classifier to the worst transformations of the samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        """
        X, y = self._validate(X, y, reset=True)
        solver = resolve_solver(self.solver, WorstCaseProblem)
        classes = check_classes(y)
        weights = resolve_weights(self, X, y, classes, sample_weight)
        weighted, used = np.flatnonzero(weights > 0), self._used_features(X)
        indices = class_indices(y[weighted], classes)
        risk = self._risk(X[weighted][:, used], indices, len(classes), weights[weighted])
        lam = resolve_lam(self, weights.sum())
        solution = solve_worst_case(self, solver, risk, lam)
        self._walk: Walk | None = None
        self._n_seen = X.shape[0]
        self.classes_, self.lam_ = classes, lam
        self._publish(risk, solution.coef, used)
        self.objective_, self.gap_ = solution.objective, solution.gap
        self.n_iter_ = max(1, solution.n_iter)
        warn_of_gap(self.solver, solution, self.tol)
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> WorstCaseLinearSVC:
        """Take a step of Pegasos for each row of a batch, in their order.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All classes; required in the first call, unless ``fit`` was called before. After
            ``fit``, steps continue from its solution, as if each of its samples had been visited
            once.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of samples, relative to a mean weight of 1.

        Notes
        -----
        If ``lam`` is None, it is computed from C and the number of rows of the first batch.
        """
        walk = self.__dict__.get("_walk")
        fitted = hasattr(self, "coef_")
        X, y = self._validate(X, y, reset=not fitted)
        self.classes_ = check_classes_of_batch(classes, self.classes_ if fitted else None)
        indices = class_indices(y, self.classes_)
        check_weights_of_batches(self.class_weight)
        checked_weight = check_sample_weight(sample_weight, X)
        weights = training_weights(self.class_weight, y, self.classes_, checked_weight)
        risk = self._risk(X, indices, len(self.classes_), np.ones(len(weights)))
        # not normalised to the batch, so that the size of a step is the weight of its sample
        risk.shares = weights / len(weights)
        largest_loss = float(risk.costs.most.max()) * float(max(1.0, weights.max()))
        if walk is None:
            self.lam_ = self.lam_ if fitted else resolve_lam(self, X.shape[0])
            self._walk = walk = Walk(risk.n_weights, self.lam_, largest_loss)
            if fitted:
                walk.restart(risk.joined(self.coef_.T, self.intercept_), self._n_seen)
            self.n_iter_ = 0
        # the ball that contains the optimum grows with the largest weight so far
        walk.widen(largest_loss)
        walk.along(risk, np.arange(X.shape[0]))
        self.n_iter_ += 1
        self.objective_ = self.gap_ = float("nan")
        self._publish(risk, walk.average, slice(None))
        return self

    def _validate(self, X: ArrayLike, y: ArrayLike, reset: bool) -> tuple[Any, NDArray]:
        X, y = validate_data(self, X, y, dtype=float, accept_sparse="csr", reset=reset)
        check_classification_targets(y)
        family = resolve_family(self)
        listed = np.isfinite(family.size(X.shape[1])) and not family.is_identity
        if sparse.issparse(X) and listed:
            raise TypeError(f"{family!r} transforms dense rows only: pass X.toarray()")
        return X, y

    def _risk(self, X: Any, indices: NDArray, n_classes: int, weights: NDArray) -> LinearRisk:
        family = resolve_family(self)
        bias = check_number(self.intercept_scaling, "intercept_scaling", low=0)
        if self.fit_intercept and bias == 0:
            raise ValueError(
                "intercept_scaling=0 must be above 0: pass a positive value, or fit_intercept=False"
            )
        costs = resolve_costs(self, n_classes, family.size(X.shape[1]))
        bias = bias if self.fit_intercept else 0.0
        return linear_risk(X, indices, family, costs, weights, bias)

    def _used_features(self, X: Any) -> Any:
        """Return the features that are nonzero in a row, if these are few; otherwise all."""
        family = resolve_family(self)
        # the method worst_case of a user, or a family with a shape, needs all features
        allows_subset = family.is_identity or has_closed_form(family)
        if not sparse.issparse(X) or not allows_subset or family.shape is not None:
            return slice(None)
        used = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
        return used if 0 < len(used) < 0.8 * X.shape[1] else slice(None)

    def _publish(self, risk: LinearRisk, w: NDArray, used: NDArray | slice) -> None:
        """Set the weights of the features, zero for those that are not used, and the intercept."""
        table, constant = risk.split(w)
        self.coef_ = np.zeros((table.shape[1], self.n_features_in_))
        self.coef_[:, used] = table.T
        self.intercept_ = np.array(constant)
