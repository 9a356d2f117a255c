"""Base class of the classifier and the regressor by regularised least squares."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._utils.dask import sampled
from invarlearn._utils.repr import ReprMixin
from invarlearn._utils.validation import check_generator, check_number
from invarlearn.estimators._multiclass import (
    class_indices,
    one_vs_rest_targets,
    winning_classes,
)
from invarlearn.estimators._weights import training_weights
from invarlearn.estimators.least_squares_blocks import (
    PRECISIONS,
    RidgeStream,
    TargetEncoder,
    dask_equations,
)
from invarlearn.solvers.least_squares import (
    FittedRidge,
    LamSearch,
    empty_equations,
    fit_equations,
    fit_gram,
    fit_rows,
)


def weighted_squared_error(predicted: NDArray, Y: NDArray, weights: NDArray) -> float:
    """Return the weighted mean squared error of predictions.

    Parameters
    ----------
    predicted, Y : arrays of shape (n, n_targets)
    weights : array of shape (n,)
    """
    return float(weights @ ((predicted - Y) ** 2).mean(axis=1) / weights.sum())


def weighted_error_rate(predicted: NDArray, Y: NDArray, weights: NDArray) -> float:
    """Return the weighted error rate of the classes that predictions stand for.

    Parameters
    ----------
    predicted, Y : arrays of shape (n, n_targets)
        Y contains targets of +1 and -1.
    weights : array of shape (n,)
    """
    wrong = winning_classes(predicted) != winning_classes(Y)
    return float(weights @ wrong / weights.sum())


CRITERIA = {"squared": weighted_squared_error, "accuracy": weighted_error_rate}


@dataclass(frozen=True)
class ClassCoding:
    """Encoding of classes as one-vs-rest targets of +1 and -1, with class weights.

    Attributes
    ----------
    classes : array of shape (n_classes,), sorted
    class_weight : dict, "balanced" or None
    """

    classes: NDArray
    class_weight: Any = None

    @property
    def n_targets(self) -> int:
        """Number of targets: one for each class, or one for two classes."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def encode(self, y: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the targets, (n, n_targets), and the weight of each sample's class, (n,)."""
        targets = one_vs_rest_targets(class_indices(y, self.classes), len(self.classes))
        return targets, training_weights(self.class_weight, y, self.classes)


@dataclass(frozen=True)
class NumberCoding:
    """Encoding of numbers, which are the targets themselves."""

    n_targets: int

    def encode(self, y: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the targets, (n, n_targets), and weights of 1, (n,)."""
        return np.asarray(y, dtype=float).reshape(len(y), -1), np.ones(len(y))


class LeastSquares(ReprMixin):
    """Base class of regularised least squares.

    A subclass computes targets and weights, solves by :meth:`_fit_all` or :meth:`_fit_dask`, or
    extends the stream of ``partial_fit``, and passes the result to :meth:`_publish`.
    """

    _ridge: FittedRidge | None = None
    _stream: RidgeStream | None = None

    def _publish(
        self, ridge: FittedRidge | None = None, stream: RidgeStream | None = None, **fitted: Any
    ) -> Any:
        """Set the solution, or the stream that determines it, and other attributes; return self."""
        self._ridge, self._stream = ridge, stream
        for name, value in fitted.items():
            setattr(self, name, value)
        return self

    def _search(self, loss: Any) -> LamSearch:
        """Validate the parameters that determine lam, and return them as a search."""
        if self.lam is not None and check_number(self.lam, "lam", low=0) == 0:
            raise ValueError("lam=0 must be above 0; lam=None chooses it by leave-one-out")
        n_lams = int(check_number(self.n_lams, "n_lams", low=1, whole=True))
        n_held_out = int(check_number(self.n_held_out, "n_held_out", low=1, whole=True))
        seed = int(check_generator(self.random_state).randint(2**31 - 1))
        lam_range = check_lam_range(self.lam_range)
        return LamSearch(loss, self.lam, n_lams, lam_range, n_held_out, seed)

    def _fit_all(self, X: Any, Y: NDArray, weights: NDArray, search: LamSearch) -> FittedRidge:
        """Solve for all rows at once.

        Parameters
        ----------
        X : array or sparse array of shape (n, n_features), or a Gram matrix of shape (n, n)
        Y : array of shape (n, n_targets)
        weights : array of shape (n,)
        search : LamSearch
        """
        if self.kernel is None:
            return fit_rows(X, Y, weights, search)
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"kernel='precomputed' needs a square Gram matrix, not one of shape {X.shape}"
                )
            return fit_gram(X, Y, weights, search)
        if not callable(self.kernel):
            raise ValueError(
                f"kernel={self.kernel!r} is unknown: pass a Kernel, 'precomputed' or None"
            )
        kernel = clone(self.kernel, safe=False)
        return fit_gram(kernel(X), Y, weights, search, kernel, X.copy())

    def _fit_dask(self, X: Any, y: Any, search: LamSearch, coding: TargetEncoder) -> FittedRidge:
        """Compute normal equations on the cluster, and solve them in this process."""
        rows = validate_data(self, sampled(X, 1000), dtype=PRECISIONS)
        start = empty_equations(rows, coding.n_targets, search)
        return fit_equations(dask_equations(X, y, start, coding), search)

    def _warn_if_fitted_before(self) -> None:
        if self._stream is None and self._ridge is not None:
            warnings.warn(
                "partial_fit discards the result of fit, because fit does not store sums over its "
                "rows: call partial_fit for all rows",
                stacklevel=3,
            )

    def _solution(self) -> FittedRidge:
        """Return the solution; after ``partial_fit``, it is computed by the first call."""
        check_is_fitted(self)
        if self._ridge is None:
            assert self._stream is not None
            ridge = fit_equations(self._stream.equations, self._stream.search)
            self._publish(ridge, self._stream)
            return ridge
        return self._ridge

    def __sklearn_is_fitted__(self) -> bool:
        return self._ridge is not None or self._stream is not None

    def _predict_targets(self, X: Any) -> NDArray:
        """Return the predicted targets: (n, n_targets)."""
        ridge = self._solution()
        X = validate_data(self, X, accept_sparse="csr", dtype=PRECISIONS, reset=False)
        return ridge.predict(X)

    # -- fitted attributes ---------------------------------------------------------------------

    @property
    def lam_(self) -> float:
        """The regularisation in use."""
        return self._solution().lam

    @property
    def lams_(self) -> NDArray:
        """The grid of lam: (n_lams,)."""
        return self._fitted("lams", "lam=None")

    @property
    def cv_errors_(self) -> NDArray:
        """The leave-one-out error of each value in the grid: (n_lams,)."""
        return self._fitted("errors", "lam=None")

    @property
    def coef_(self) -> NDArray:
        """Weights of the features, (n_targets, n_features)."""
        return self._fitted("beta", "kernel=None").T

    @property
    def intercept_(self) -> Any:
        """The constant term, which is not penalised."""
        return self._solution().intercept

    @property
    def dual_coef_(self) -> NDArray:
        """Weights of the training rows, (n_samples, n_targets), with a kernel."""
        return self._fitted("alpha", "a kernel")

    def _fitted(self, name: str, needs: str) -> Any:
        value = getattr(self._solution(), name)
        if value is None:
            raise AttributeError(f"this attribute exists with {needs} only")
        return value

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel is None
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def check_lam_range(lam_range: Any) -> tuple[float, float]:
    """Return the range of lam as two floats; raise ValueError if it is not valid."""
    if np.shape(lam_range) != (2,):
        raise ValueError(f"lam_range={lam_range!r} must be two numbers, such as (1e-7, 10)")
    low, high = (check_number(bound, "lam_range", low=0) for bound in lam_range)
    if not 0 < low <= high:
        raise ValueError(
            f"lam_range={lam_range!r} must be two numbers above 0, the smaller number first"
        )
    return float(low), float(high)
