"""Linear classifier with bounded weights: the class of Theorem 3 of Mroueh et al. (2015)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from invarlearn._utils.repr import ReprMixin
from invarlearn._utils.validation import check_choice, check_number
from invarlearn.estimators._multiclass import check_classes, class_indices, one_vs_rest_targets
from invarlearn.estimators._weights import (
    check_classes_have_weight,
    check_sample_weight,
    training_weights,
)
from invarlearn.losses import CLASSIFICATION_LOSSES, make_loss
from invarlearn.solvers.bounded import BoxProblem, solve_box

_LOSSES = {name: CLASSIFICATION_LOSSES[name] for name in ("hinge", "logistic")}


class BoundedClassifier(LinearClassifierMixin, ReprMixin):
    r"""Linear classification with a bound on each weight, one class against the rest.

    With targets :math:`y_i` of +1 and -1 and weights :math:`q_i` of samples of sum 1, the problem
    of each class is

    .. math:: \min_{w, b} \; \sum_i q_i V(y_i (w^\top x_i + b))
        \quad \text{subject to} \quad |w_j| \le \text{bound},

    where V is the hinge or logistic loss. Of :class:`InvariantFeatures` with uniform thresholds,
    ``bound = C * features.scale_`` is the empirical risk minimisation of Mroueh et al. (2015),
    Theorem 3, over weights of up to C divided by the number of templates. In practice, choose
    ``bound`` by cross-validation.

    Parameters
    ----------
    bound : float, default=1.0
        Largest absolute weight of a feature.
    loss : {"logistic", "hinge"}, default="logistic"
    fit_intercept : bool, default=True
        Whether there is a constant b, which is not bounded. Features of the paper contain a
        constant.
    class_weight : dict or "balanced", optional
        Weights of classes; "balanced": inversely proportional to their frequencies.
    tol : float, default=1e-4
        Stop at a duality gap of ``tol`` times the loss at zero.
    max_iter : int, default=10000
        Largest number of steps of L-BFGS-B.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes
    intercept_ : array of shape (n_classes,), or (1,) for two classes
    objectives_, gaps_ : arrays of shape (n_classes,), or (1,) for two classes
        The minimised mean loss, and its duality gap: the minimum is at least the difference.
    n_iter_ : int
        Largest number of steps of a class.
    n_features_in_ : int

    See Also
    --------
    RLSClassifier : A penalty on the Euclidean norm (Tikhonov regularisation) instead of a bound.
    invarlearn.features.theory.risk_bound : The bound of Theorem 3.

    References
    ----------
    Mroueh, Voinea and Poggio, Learning with group invariant features: a kernel perspective (2015).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from invarlearn import BoundedClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BoundedClassifier(bound=2.0).fit(X, y)
    >>> float(abs(model.coef_).max()), round(model.score(X, y), 2)
    (2.0, 0.93)
    """

    def __init__(
        self,
        bound: float = 1.0,
        loss: str = "logistic",
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 10_000,
    ):
        self.bound = bound
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> BoundedClassifier:
        """Fit the weights of each class against the rest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        """
        bound = check_number(self.bound, "bound", low=np.finfo(float).tiny)
        tol = check_number(self.tol, "tol", low=0)
        max_iter = int(check_number(self.max_iter, "max_iter", low=1, whole=True))
        check_choice(self.loss, sorted(_LOSSES), "loss")
        loss = make_loss(self.loss, _LOSSES, "loss")
        X, y = validate_data(self, X, y, dtype=float)
        check_classification_targets(y)
        classes = check_classes(y)
        checked_weight = check_sample_weight(sample_weight, X)
        weights = training_weights(self.class_weight, y, classes, checked_weight)
        check_classes_have_weight(weights, y)
        shares = weights / weights.sum()
        targets = one_vs_rest_targets(class_indices(y, classes), len(classes))
        functions = [
            solve_box(
                BoxProblem(X, target, shares, loss, bound, bool(self.fit_intercept)), tol, max_iter
            )
            for target in targets.T
        ]
        self.classes_ = classes
        self.coef_ = np.array([function.coef for function in functions])
        self.intercept_ = np.array([function.intercept for function in functions])
        self.objectives_ = np.array([function.objective for function in functions])
        self.gaps_ = np.array([function.gap for function in functions])
        self.n_iter_ = max(function.n_iter for function in functions)
        if self.gaps_.max() > tol * loss.value(np.zeros(1), 1.0)[0]:
            warnings.warn(
                f"the duality gap is {self.gaps_.max():.1e} after {self.n_iter_} steps, above "
                f"tol={self.tol:g} times the loss at zero: raise max_iter or tol, or scale the "
                "features",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self
