"""Linear support vector machine against the worst transformation, for rows dense and sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from invarlearn._readable import Readable
from invarlearn.estimators._worst_case import (
    batch_weights,
    check_solver,
    class_numbers,
    costs_of,
    family_of,
    lam_of,
    progress_of,
    warn_of_gap,
    weights_of,
)
from invarlearn.oracles import linear_risk
from invarlearn.oracles.linear import LinearRisk, has_closed_form
from invarlearn.solvers.bundle import bundle
from invarlearn.solvers.pegasos import Walk, pegasos
from invarlearn.transforms import Family, Identity
from invarlearn.transforms._checks import check_generator, check_number

SOLVERS = ("bundle", "pegasos")


class WorstCaseLinearSVC(LinearClassifierMixin, SparseCoefMixin, Readable):
    """Linear classifier that is trained against the transformation that hurts it most.

    Minimises ``lam |w|^2 / 2 + mean of worst losses``, as :class:`WorstCaseSVC` does, for functions
    that are linear in the features. The family may be one with a closed form, such as
    :class:`~invarlearn.transforms.FeatureScaling` and
    :class:`~invarlearn.transforms.FeatureDropping` of sparse bags of words, one that lists its
    elements (dense rows), or your own with a ``worst_case`` of its own.

    Parameters
    ----------
    family : Family or None
        What may change. None: nothing, a plain (multiclass) linear SVM with the hinge loss.
    C : float, default=1.0
        Weight of a sample's loss against ``|w|^2 / 2``, as in :class:`sklearn.svm.LinearSVC` with
        ``loss="hinge"``; ``lam`` is ``1 / (C n_samples)``.
    lam : float, optional
        The regularisation itself: given, it replaces C.
    solver : {"bundle", "pegasos"}, default="bundle"
        Bundle method with line search, which certifies the gap; or stochastic steps.
    cost : array of shape (n_classes, n_classes), or (n_classes, n_classes, n_elements), optional
        As in :class:`WorstCaseSVC`; the latter for families that list their elements.
    margin_scale : array of shape (n_classes, n_classes), optional
    fit_intercept : bool, default=True
        Whether there is a constant feature, of value ``intercept_scaling``, which nothing
        transforms; its weight counts in ``|w|^2``, as in LinearSVC.
    intercept_scaling : float, default=1.0
    class_weight : dict or "balanced", optional
    tol : float, default=1e-3
        The duality gap, as part of the objective, at which to stop.
    max_iter : int, default=1000
        Steps of the bundle method, or passes of Pegasos over the samples.
    random_state : int, RandomState or None
        For the order of samples in Pegasos.
    verbose : bool, default=False
        Whether to print the objective and the gap after each step.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (n_classes, n_features); with two classes (1, n_features)
    intercept_ : array of shape (n_classes,) or (1,)
    objective_, gap_ : float
        ``lam |w|^2 / 2 + mean loss``, and how far above the optimum it is at most. After
        ``partial_fit`` they are not known: nan.
    lam_ : float
    n_iter_ : int
    n_features_in_ : int

    See Also
    --------
    WorstCaseSVC : with a kernel.

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
        solver: str = "bundle",
        cost: ArrayLike | None = None,
        margin_scale: ArrayLike | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: Any = None,
        verbose: bool = False,
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
        """Train against the worst transformations of the samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        """
        X, y = self._checked(X, y, reset=True)
        check_solver(self.solver, SOLVERS)
        tol = check_number(self.tol, "tol", low=0)
        max_iter = int(check_number(self.max_iter, "max_iter", low=1, whole=True))
        self.classes_, numbers = class_numbers(y)
        weights = weights_of(self, X, y, sample_weight)
        seen = np.flatnonzero(weights > 0)
        used = self._used_features(X)
        risk = self._risk(X[seen][:, used], numbers[seen], weights[seen])
        self.lam_ = lam_of(self, weights.sum())
        progress = progress_of(self.verbose)
        if self.solver == "bundle":
            found = bundle(risk, self.lam_, tol, max_iter, progress=progress)
            w, self.objective_, self.gap_ = found.w, found.objective, found.gap
            self.n_iter_ = max(1, found.n_iter)
        else:
            rng = check_generator(self.random_state)
            w, self.objective_, self.gap_, self.n_iter_ = pegasos(
                risk, self.lam_, tol, max_iter, rng, progress
            )
            self.n_iter_ = max(1, self.n_iter_)
        self._walk: Walk | None = None
        self._n_seen = X.shape[0]
        self._keep(risk, w, used)
        if self.gap_ > tol * self.objective_:
            other = ", or choose solver='bundle'" if self.solver == "pegasos" else ""
            warn_of_gap(self, f"raise max_iter{other}, or scale the features")
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
        classes : array-like, optional
            All classes; needed in the first call, unless ``fit`` came before: then steps go on
            from what it found, as if it had seen each of its samples once.
        sample_weight : array-like of shape (n_samples,), optional
            Relative to the mean weight 1.

        Notes
        -----
        Without ``lam``, it is that of C for the rows of the first batch.
        """
        walk = self.__dict__.get("_walk")
        fitted = hasattr(self, "coef_")
        X, y = self._checked(X, y, reset=not fitted)
        if not fitted:
            if classes is None:
                raise ValueError("classes must be given in the first call of partial_fit")
            self.classes_ = np.unique(classes)
            if len(self.classes_) < 2:
                raise ValueError("classes must name at least two")
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes={np.unique(classes).tolist()} are not those of the first call, "
                f"{self.classes_.tolist()}"
            )
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"y has classes that are not in classes: {unknown.tolist()[:5]}")
        if self.class_weight is not None and self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all samples at once: pass weights as a dict"
            )
        numbers = np.searchsorted(self.classes_, y)
        weights = batch_weights(self, X, y, sample_weight)
        risk = self._risk(X, numbers, np.ones(len(weights)))
        # shares are of this batch; a step's size is a sample's own weight
        risk.shares = weights / len(weights)
        most = float(risk.costs.most.max()) * float(max(1.0, weights.max()))
        if walk is None:
            self.lam_ = self.lam_ if fitted else lam_of(self, X.shape[0])
            self._walk = walk = Walk(risk.n_weights, self.lam_, most)
            if fitted:
                walk.restart(risk.joined(self.coef_.T, self.intercept_), self._n_seen)
            self.n_iter_ = 0
        # the ball that holds the optimum grows with the largest weight seen
        walk.radius = max(walk.radius, np.sqrt(most / self.lam_))
        walk.along(risk, np.arange(X.shape[0]))
        self.n_iter_ += 1
        self.objective_ = self.gap_ = float("nan")
        self._keep(risk, walk.average, slice(None))
        return self

    def _checked(self, X: ArrayLike, y: ArrayLike, reset: bool) -> tuple[Any, NDArray]:
        X, y = validate_data(self, X, y, dtype=float, accept_sparse="csr", reset=reset)
        check_classification_targets(y)
        family = family_of(self)
        listed = np.isfinite(family._size(X.shape[1])) and not isinstance(family, Identity)
        if sparse.issparse(X) and listed:
            raise TypeError(f"{family!r} transforms dense rows only: pass X.toarray()")
        return X, y

    def _risk(self, X: Any, numbers: NDArray, weights: NDArray) -> LinearRisk:
        family = family_of(self)
        bias = check_number(self.intercept_scaling, "intercept_scaling", low=0)
        if self.fit_intercept and bias == 0:
            raise ValueError("intercept_scaling=0 must be above 0, or fit_intercept=False")
        costs = costs_of(self, family._size(X.shape[1]))
        bias = bias if self.fit_intercept else 0.0
        return linear_risk(X, numbers, family, costs, weights, bias)

    def _used_features(self, X: Any) -> Any:
        """Give the features that some row has: of long sparse rows often few."""
        family = family_of(self)
        # a user's own oracle, or a family with a shape, wants all of them
        free = isinstance(family, Identity) or has_closed_form(family)
        if not sparse.issparse(X) or not free or family.shape is not None:
            return slice(None)
        used = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
        return used if 0 < len(used) < 0.8 * X.shape[1] else slice(None)

    def _keep(self, risk: LinearRisk, w: NDArray, used: NDArray | slice) -> None:
        table, constant = risk.split(w)
        self.coef_ = np.zeros((table.shape[1], self.n_features_in_))
        self.coef_[:, used] = table.T
        self.intercept_ = np.array(constant)
