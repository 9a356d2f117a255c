"""Classification and regression by regularised least squares, with lam by leave-one-out."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from invarlearn._utils.dask import is_dask, mapped
from invarlearn.estimators._multiclass import (
    check_classes,
    check_classes_of_batch,
    decision_values,
    winning_classes,
)
from invarlearn.estimators._weights import check_any_weight, check_sample_weight
from invarlearn.estimators.least_squares_base import (
    CRITERIA,
    ClassCoding,
    LeastSquares,
    NumberCoding,
    weighted_squared_error,
)
from invarlearn.estimators.least_squares_blocks import (
    PRECISIONS,
    check_dask_weights,
    check_rows_in_parts,
    dask_classes,
    dask_targets,
    extend_stream,
)


class RLSClassifier(ClassifierMixin, LeastSquares):
    r"""Classification by regularised least squares, one class against the rest.

    Targets :math:`y_i` are +1 for samples of a class and -1 for others. With weights :math:`w_i` of
    samples, the objective of each class is

    .. math::

        \min_{\beta, b} \; \frac{\sum_i w_i (y_i - \beta^\top x_i - b)^2}{\sum_i w_i}
        + \lambda \lVert \beta \rVert^2 .

    Parameters
    ----------
    lam : float, optional
        Regularisation. None: the value in a grid with the smallest leave-one-out error. The errors
        are exact, and one eigendecomposition is computed for the whole grid.
    kernel : Kernel, "precomputed" or None, default=None
        None: a linear function of the features, by the smaller one of the primal and the dual
        system.
    class_weight : dict or "balanced", optional
        Weights of classes; "balanced": inversely proportional to their frequencies.
    criterion : {"accuracy", "squared"}, default="squared"
        The leave-one-out error that is minimised: "accuracy" is the error rate, "squared" the mean
        squared error.
    n_held_out : int, default=5000
        Leave-one-out errors are computed for a random sample of this size if there are more rows.
        ``partial_fit`` keeps these rows in memory.
    random_state : int, RandomState or None, default=0
        Seed of the random sample of rows.
    n_lams : int, default=25
        Number of values in the grid.
    lam_range : tuple of two floats, default=(1e-7, 10.0)
        Smallest and largest lam in the grid, as multiples of the largest eigenvalue of the
        covariance of the features.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes
        Weights of the features, without a kernel.
    intercept_ : array of shape (n_classes,), or (1,) for two classes
        Not penalised.
    dual_coef_ : array of shape (n_samples, n_classes), or (n_samples, 1) for two classes
        Weights of the training rows, with a kernel.
    lam_ : float
        The regularisation in use.
    lams_, cv_errors_ : arrays of shape (n_lams,)
        The grid, and the leave-one-out error of each value, if ``lam`` is None.
    n_features_in_ : int

    References
    ----------
    Tacchetti, Mallapragada, Santoro and Rosasco, GURLS: a least squares library for supervised
    learning (2013).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> rls = RLSClassifier().fit(X, y)
    >>> round(rls.score(X, y), 2)
    0.85
    """

    def __init__(
        self,
        lam: float | None = None,
        kernel: Any = None,
        class_weight: Any = None,
        criterion: str = "squared",
        n_held_out: int = 5000,
        random_state: Any = 0,
        n_lams: int = 25,
        lam_range: tuple[float, float] = (1e-7, 10.0),
    ):
        self.lam = lam
        self.kernel = kernel
        self.class_weight = class_weight
        self.criterion = criterion
        self.n_held_out = n_held_out
        self.random_state = random_state
        self.n_lams = n_lams
        self.lam_range = lam_range

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> RLSClassifier:
        """Fit the classifier, and choose lam if it is None.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            X and y may be Dask arrays (X also a dataframe), divided into the same blocks. Sums over
            blocks are then merged in a tree on the cluster.
        sample_weight : array-like of shape (n_samples,), optional
        """
        search = self._search(self._criterion())
        if is_dask(X):
            check_dask_weights(sample_weight)
            check_rows_in_parts(self.kernel, self.class_weight)
            labels = dask_targets(y)
            classes = dask_classes(labels)
            check_classification_targets(classes)
            coding = ClassCoding(check_classes(classes), self.class_weight)
            ridge = self._fit_dask(X, labels, search, coding)
            return self._publish(ridge, classes_=coding.classes)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=PRECISIONS)
        check_classification_targets(y)
        coding = ClassCoding(check_classes(y), self.class_weight)
        weights = check_sample_weight(sample_weight, X)
        targets, class_weights = coding.encode(y)
        weights = check_any_weight(weights * class_weights)
        return self._publish(self._fit_all(X, targets, weights, search), classes_=coding.classes)

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> RLSClassifier:
        """Add rows to those of earlier calls, in memory that does not grow with their number.

        The result is that of :meth:`fit` on all rows at once.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All classes; required at the first call.
        sample_weight : array-like of shape (n_samples,), optional
        """
        search = self._search(self._criterion())
        check_rows_in_parts(self.kernel, self.class_weight)
        first = self._stream is None
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=PRECISIONS, reset=first)
        check_classification_targets(y)
        earlier = None if first and classes is not None else getattr(self, "classes_", None)
        coding = ClassCoding(check_classes_of_batch(classes, earlier), self.class_weight)
        targets, class_weights = coding.encode(y)
        weights = check_sample_weight(sample_weight, X) * class_weights
        self._warn_if_fitted_before()
        stream = extend_stream(self._stream, X, targets, weights, search)
        return self._publish(stream=stream, classes_=coding.classes)

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return decision values: (n_samples, n_classes), or (n_samples,) for two classes.

        The result is a Dask array if X is one.
        """
        if is_dask(X):
            self._solution()
            n = len(self.classes_)
            return mapped(X, RLSClassifier.decision_function, self, n if n > 2 else 0, float)
        return decision_values(self._predict_targets(X))

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the class of each sample: (n_samples,); a Dask array if X is one."""
        if is_dask(X):
            self._solution()
            return mapped(X, RLSClassifier.predict, self, 0, self.classes_.dtype)
        winners = winning_classes(self._predict_targets(X))
        return self.classes_[winners]

    def _criterion(self) -> Any:
        if self.criterion not in CRITERIA:
            raise ValueError(
                f"criterion={self.criterion!r} must be {' or '.join(map(repr, sorted(CRITERIA)))}"
            )
        return CRITERIA[self.criterion]


class RLSRegressor(MultiOutputMixin, RegressorMixin, LeastSquares):
    """Regression by regularised least squares, with one target or several.

    Parameters
    ----------
    lam, kernel, n_held_out, random_state, n_lams, lam_range
        As in :class:`RLSClassifier`. lam is chosen by the mean squared leave-one-out error.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
        Weights of the features, without a kernel.
    intercept_ : float or array of shape (n_targets,)
        Not penalised.
    dual_coef_ : array of shape (n_samples, n_targets)
        Weights of the training rows, with a kernel.
    lam_, lams_, cv_errors_, n_features_in_
        As in :class:`RLSClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(RLSRegressor().fit(X, y).score(X, y), 1)
    0.5
    """

    def __init__(
        self,
        lam: float | None = None,
        kernel: Any = None,
        n_held_out: int = 5000,
        random_state: Any = 0,
        n_lams: int = 25,
        lam_range: tuple[float, float] = (1e-7, 10.0),
    ):
        self.lam = lam
        self.kernel = kernel
        self.n_held_out = n_held_out
        self.random_state = random_state
        self.n_lams = n_lams
        self.lam_range = lam_range

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> RLSRegressor:
        """Fit the regressor, and choose lam if it is None.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            X and y may be Dask arrays (X also a dataframe), divided into the same blocks.
        sample_weight : array-like of shape (n_samples,), optional
        """
        search = self._search(weighted_squared_error)
        if is_dask(X):
            check_dask_weights(sample_weight)
            check_rows_in_parts(self.kernel)
            y = dask_targets(y)
            coding = NumberCoding(1 if y.ndim == 1 else y.shape[1])
            ridge = self._fit_dask(X, y, search, coding)
            return self._publish(ridge, _single=y.ndim == 1, _n_targets=coding.n_targets)
        X, Y, single = self._validate(X, y, reset=True)
        weights = check_any_weight(check_sample_weight(sample_weight, X))
        ridge = self._fit_all(X, Y, weights, search)
        return self._publish(ridge, _single=single, _n_targets=Y.shape[1])

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> RLSRegressor:
        """Add rows to those of earlier calls, in memory that does not grow with their number.

        The result is that of :meth:`fit` on all rows at once.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional
        """
        search = self._search(weighted_squared_error)
        check_rows_in_parts(self.kernel)
        X, Y, single = self._validate(X, y, reset=self._stream is None)
        if self._stream is not None and Y.shape[1] != self._n_targets:
            raise ValueError(
                f"y has {Y.shape[1]} targets, but {self._n_targets} at the first call of "
                "partial_fit: pass the same number of targets"
            )
        weights = check_sample_weight(sample_weight, X)
        self._warn_if_fitted_before()
        stream = extend_stream(self._stream, X, Y, weights, search)
        return self._publish(stream=stream, _single=single, _n_targets=Y.shape[1])

    def predict(self, X: ArrayLike) -> NDArray:
        """Return predictions: (n_samples,) or (n_samples, n_targets); a Dask array if X is one."""
        if is_dask(X):
            self._solution()
            n_columns = 0 if self._single else self._n_targets
            return mapped(X, RLSRegressor.predict, self, n_columns, float)
        values = self._predict_targets(X)
        return values[:, 0] if self._single else values

    @property
    def intercept_(self) -> Any:
        """The constant term, which is not penalised."""
        intercept = self._solution().intercept
        return float(intercept[0]) if self._single else intercept

    @property
    def coef_(self) -> NDArray:
        """Weights of the features, (n_features,) or (n_targets, n_features)."""
        beta = self._fitted("beta", "kernel=None")
        return beta[:, 0] if self._single else beta.T

    def _validate(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray, bool]:
        """Return rows, targets of shape (n_samples, n_targets), and whether y has one dimension."""
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=PRECISIONS,
            multi_output=True,
            y_numeric=True,
            reset=reset,
        )
        return X, y.reshape(len(y), -1).astype(float), y.ndim == 1
