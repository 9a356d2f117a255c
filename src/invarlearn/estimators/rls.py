"""Regularised least squares: classification and regression, with lam by leave-one-out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from invarlearn._dask import as_rows, blocks_of, is_dask, mapped, reduced, sampled
from invarlearn._readable import Readable
from invarlearn.estimators._targets import two_classes_of
from invarlearn.solvers.rls import (
    DualPath,
    Held,
    NormalEquations,
    path_of,
    row_keys,
    smallest,
)
from invarlearn.transforms._checks import check_generator, check_number
from invarlearn.transforms._threads import slices

_PRECISIONS = [np.float64, np.float32, np.float16]


@dataclass
class Solution:
    """What least squares found: weights of features, or of rows under a kernel."""

    lam: float
    intercept: NDArray
    beta: NDArray | None = None
    alpha: NDArray | None = None
    kernel: Any = None
    rows: Any = None
    lams: NDArray | None = None
    errors: NDArray | None = None

    def predicted(self, X: Any) -> NDArray[np.float64]:
        """Give the values of every target: (n, targets)."""
        if self.alpha is not None:
            return (X if self.rows is None else self.kernel(X, self.rows)) @ (
                self.alpha
            ) + self.intercept
        beta = self.beta
        assert beta is not None
        out = np.empty((X.shape[0], beta.shape[1]))
        for some in slices(X.shape[0], 8192):
            out[some] = X[some].astype(float) @ beta
        return out + self.intercept


class LeastSquares(Readable):
    """What regularised least squares for classes and for numbers share."""

    def _fit_rows(self, X: Any, Y: NDArray, weights: NDArray) -> None:
        """Solve in the features or in the rows, whichever are fewer; kernels in the rows."""
        self._forget()
        self._check_lam()
        n, d = X.shape
        if self.kernel is None and n >= d:
            held = Held(self._n_held())
            equations = NormalEquations(origin_of(X), Y.shape[1], held, self._seed())
            self._solution = self._solved_from(equations.add(X, Y, weights))
            return
        held_rows = smallest(row_keys(self._seed(), 0, n, weights), self._n_held())
        if self.kernel is None:
            origin = origin_of(X)
            rows = X.astype(float) - origin if isinstance(X, np.ndarray) else X.astype(float)
            gram: Any = rows @ rows.T
            path = DualPath.of(gram.toarray() if issparse(gram) else gram, Y, weights)
        else:
            kernel, gram = self._kernel_and_gram(X)
            path = DualPath.of(gram, Y, weights)
        lam, lams, errors = self._choose(
            path.largest,
            lambda lams: (path.left_out(lams)[:, held_rows], Y[held_rows], weights[held_rows]),
        )
        alpha, intercept = path.coefficients(lam)
        if self.kernel is None:
            beta = np.asarray(rows.T @ alpha)
            solution = Solution(lam, intercept - origin @ beta, beta)
        else:
            kept = None if self.kernel == "precomputed" else X.copy()
            solution = Solution(lam, intercept, alpha=alpha, kernel=kernel, rows=kept)
        self._solution = replace(solution, lams=lams, errors=errors)

    def _solved_from(self, equations: NormalEquations) -> Solution:
        """Choose lam and solve."""
        if self.lam is not None:
            lam, _, _ = self._choose(0.0, None)
            beta, intercept = equations.coefficients(lam)
            return Solution(lam, intercept, beta)
        path, held = equations.path(), equations.held
        rows = (held.X, held.Y, held.weights)
        lam, lams, errors = self._choose(
            path.largest, lambda lams: (path.left_out(*rows, lams), *rows[1:])
        )
        beta, intercept = path.coefficients(lam)
        return Solution(lam, intercept, beta, lams=lams, errors=errors)

    def _choose(self, largest: float, left_out: Any) -> tuple[float, Any, Any]:
        """Take the lam that was given, or the one with the smallest leave-one-out error."""
        if self.lam is not None:
            return float(self.lam), None, None
        lams = path_of(largest)
        predicted, Y, weights = left_out(lams)
        errors = np.array([self._error(one, Y, weights) for one in predicted])
        # the largest of those that do best
        return float(lams[np.argmin(errors)]), lams, errors

    # -- rows that come in parts ---------------------------------------------------------------

    def _start_blocks(self, X: Any, sample_weight: Any) -> None:
        """Check what is the same for all blocks of a Dask array."""
        if sample_weight is not None:
            raise ValueError("sample_weight is not supported for Dask arrays: leave it out")
        if self.kernel is not None:
            raise ValueError("kernel must be None for Dask arrays: it needs all rows at once")
        self._forget()
        self._check_lam()
        self._origin = origin_of(validate_data(self, sampled(X, 1000), dtype=_PRECISIONS))

    def _add_blocks(self, X: Any, y: Any, n_targets: int) -> None:
        """Sum over blocks on the cluster, and solve here."""
        from dask.delayed import delayed

        blocks, lengths = blocks_of(as_rows(X), y)
        shared, seed = delayed(self, pure=True), self._seed()
        places = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        parts = [
            delayed(_block_equations)(shared, rows, labels, n_targets, seed, int(place))
            for (rows, labels), place in zip(blocks, places, strict=True)
        ]
        self._solution = self._solved_from(reduced(parts, _merged))

    def _block(self, X: Any, y: Any, n_targets: int, seed: int, place: int) -> NormalEquations:
        """Give the sums over one block of a Dask array."""
        if len(X) != len(y):
            raise ValueError(
                f"a block has {len(X)} rows in X and {len(y)} in y: cut both into the same blocks"
            )
        equations = NormalEquations(self._origin, n_targets, Held(self._n_held()), seed, place)
        if not len(X):
            return equations
        X = validate_data(self, X, dtype=_PRECISIONS, reset=False)
        if y.dtype.kind == "f":
            check_array(y, ensure_2d=False, allow_nd=False, input_name="y")
        return equations.add(X, self._targets(y), self._class_weights(y))

    def _add_rows(self, X: Any, Y: NDArray, weights: NDArray) -> None:
        """Add rows to those of earlier calls; the solution is worked out when it is asked for."""
        self._check_lam()
        if not hasattr(self, "_equations"):
            if hasattr(self, "_solution"):
                warnings.warn(
                    "partial_fit starts anew: the rows of the earlier fit are not among its rows",
                    stacklevel=3,
                )
            held = Held(self._n_held())
            self._equations = NormalEquations(origin_of(X), Y.shape[1], held, self._seed())
        self._equations.add(X, Y, weights)
        self.__dict__.pop("_solution", None)

    def _solved(self) -> Solution:
        """Give the solution for all rows so far; work it out if it is not known yet."""
        check_is_fitted(self)
        if not hasattr(self, "_solution"):
            self._solution = self._solved_from(self._equations)
        return self._solution

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_solution") or hasattr(self, "_equations")

    def _forget(self) -> None:
        """Drop what earlier fits left."""
        for name in ("_equations", "_solution"):
            self.__dict__.pop(name, None)

    # -- what was found ------------------------------------------------------------------------

    @property
    def lam_(self) -> float:
        """The regularisation that was chosen."""
        return self._solved().lam

    @property
    def lams_(self) -> NDArray:
        """What was tried."""
        return self._existing("lams", "lam=None")

    @property
    def loo_errors_(self) -> NDArray:
        """The leave-one-out error of each."""
        return self._existing("errors", "lam=None")

    @property
    def coef_(self) -> NDArray:
        """Weights of the features, (n_targets, n_features)."""
        return self._existing("beta", "kernel=None").T

    @property
    def intercept_(self) -> Any:
        """What is added; not penalised."""
        return self._solved().intercept

    @property
    def dual_coef_(self) -> NDArray:
        """Weights of the rows, (n_samples, n_targets), with a kernel."""
        return self._existing("alpha", "a kernel")

    def _existing(self, name: str, needs: str) -> Any:
        value = getattr(self._solved(), name)
        if value is None:
            raise AttributeError(f"this exists with {needs} only")
        return value

    def _raw(self, X: Any) -> NDArray:
        """Give predictions of every target: (n, targets)."""
        solution = self._solved()
        X = validate_data(self, X, accept_sparse="csr", dtype=_PRECISIONS, reset=False)
        return solution.predicted(X)

    # -- parameters ----------------------------------------------------------------------------

    def _seed(self) -> int:
        return int(check_generator(self.random_state).randint(2**31 - 1))

    def _n_held(self) -> int:
        return int(check_number(self.n_held, "n_held", low=1, whole=True))

    def _check_lam(self) -> None:
        if self.lam is not None and check_number(self.lam, "lam", low=0) == 0:
            raise ValueError("lam=0 must be above 0; None chooses it by leave-one-out")

    def _kernel_and_gram(self, X: Any) -> tuple[Any, NDArray]:
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"kernel='precomputed' needs a square Gram matrix, not one of shape {X.shape}"
                )
            return None, X
        if not callable(self.kernel):
            raise ValueError(
                f"kernel={self.kernel!r} is unknown: pass a Kernel, 'precomputed' or None"
            )
        kernel = clone(self.kernel, safe=False)
        return kernel, kernel(X)

    def _check_weights(self, sample_weight: ArrayLike | None, X: Any) -> NDArray:
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel is None
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def check_total(weights: NDArray) -> NDArray:
    """Refuse weights that leave no row."""
    if not weights.any():
        raise ValueError("every row has weight zero: nothing is left to learn from")
    return weights


class RLSClassifier(ClassifierMixin, LeastSquares):
    """Regularised least squares on one target a class, 1 for its rows and -1 for others.

    Parameters
    ----------
    lam : float, optional
        Weight of the squared norm of the solution, against the mean squared error. None: the one
        of 25 between 1e-7 and 10 times the largest eigenvalue of the features' covariance with the
        smallest leave-one-out error, which is exact and costs one factorisation.
    kernel : Kernel, "precomputed" or None, default=None
        None: features as they are, solved in the features or in the rows, whichever are fewer.
    class_weight : dict or "balanced", optional
    criterion : {"accuracy", "squared"}, default="squared"
        Which leave-one-out error chooses lam.
    n_held : int, default=5000
        lam is chosen by leaving out each of so many rows, a random sample if there are more;
        ``partial_fit`` keeps these rows.
    random_state : int, RandomState or None, default=0
        Of that sample.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (n_classes, n_features)
        (1, n_features) if there are two classes.
    intercept_ : array of shape (n_classes,)
        Not penalised.
    lam_ : float
    lams_, loo_errors_ : arrays
        What was tried, and its leave-one-out error.
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
        n_held: int = 5000,
        random_state: Any = 0,
    ):
        self.lam = lam
        self.kernel = kernel
        self.class_weight = class_weight
        self.criterion = criterion
        self.n_held = n_held
        self.random_state = random_state

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> RLSClassifier:
        """Choose lam and solve.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Both may be Dask arrays (X also a dataframe), cut into the same blocks: sums over blocks
            are then merged in a tree on the cluster.
        sample_weight : array-like of shape (n_samples,), optional
        """
        self._check_parameters()
        if is_dask(X):
            return self._fit_dask(X, y, sample_weight)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=_PRECISIONS)
        check_classification_targets(y)
        self.classes_ = two_classes_of(y)
        weights = self._check_weights(sample_weight, X) * self._class_weights(y)
        self._fit_rows(X, self._targets(y), check_total(weights))
        return self

    def _fit_dask(self, X: Any, y: Any, sample_weight: Any) -> RLSClassifier:
        import dask.array as da

        self._start_blocks(X, sample_weight)
        self._check_streams()
        labels = as_labels(y)
        if labels.ndim != 1:
            raise ValueError(f"y has {labels.ndim} dimensions: labels must have one")
        classes = da.unique(labels).compute()
        if classes.dtype.kind == "f":
            check_array(classes, ensure_2d=False, input_name="y")
        check_classification_targets(classes)
        self.classes_ = two_classes_of(classes)
        self._add_blocks(X, labels, 1 if len(self.classes_) == 2 else len(self.classes_))
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> RLSClassifier:
        """Add rows to those of earlier calls, in memory that does not grow with them.

        The result is that of :meth:`fit` on all rows at once.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, optional
            All classes; needed at the first call.
        sample_weight : array-like of shape (n_samples,), optional
        """
        self._check_parameters()
        self._check_streams()
        first = not hasattr(self, "_equations")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=_PRECISIONS, reset=first)
        check_classification_targets(y)
        if first and (classes is not None or not hasattr(self, "classes_")):
            if classes is None:
                raise ValueError("classes= must be given at the first call of partial_fit")
            self.classes_ = two_classes_of(np.asarray(classes))
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes={classes!r} differ from those of the first call")
        weights = self._check_weights(sample_weight, X) * self._class_weights(y)
        self._add_rows(X, self._targets(y), weights)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Give the value for each class, (n_samples, n_classes); one in all if there are two."""
        if is_dask(X):
            self._solved()
            n = len(self.classes_)
            return mapped(X, RLSClassifier.decision_function, self, n if n > 2 else 0, float)
        values = self._raw(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: ArrayLike) -> NDArray:
        """Give the class with the largest value; for a Dask array, a Dask array."""
        if is_dask(X):
            self._solved()
            return mapped(X, RLSClassifier.predict, self, 0, self.classes_.dtype)
        values = self._raw(X)
        return self.classes_[_winners(values)]

    def _targets(self, y: NDArray) -> NDArray[np.float64]:
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"y has classes {unknown} that are not among {self.classes_}")
        codes = np.where(np.asarray(y)[:, None] == self.classes_, 1.0, -1.0)
        return codes[:, 1:] if len(self.classes_) == 2 else codes

    def _class_weights(self, y: NDArray) -> NDArray[np.float64]:
        if self.class_weight is None:
            return np.ones(len(y))
        weights = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        return weights[np.searchsorted(self.classes_, y)]

    def _error(self, predicted: NDArray, Y: NDArray, weights: NDArray) -> float:
        if self.criterion == "squared":
            return float(weights @ ((predicted - Y) ** 2).mean(axis=1) / weights.sum())
        wrong = _winners(predicted) != _winners(Y)
        return float(weights @ wrong / weights.sum())

    def _check_parameters(self) -> None:
        if self.criterion not in ("accuracy", "squared"):
            raise ValueError(f"criterion={self.criterion!r} must be 'accuracy' or 'squared'")

    def _check_streams(self) -> None:
        check_number(self.n_held, "n_held", low=1, whole=True)
        if self.kernel is not None:
            raise ValueError("partial_fit needs kernel=None: a kernel needs all rows at once")
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all rows at once: pass a dict of weights for "
                "partial_fit and Dask arrays"
            )


class RLSRegressor(MultiOutputMixin, RegressorMixin, LeastSquares):
    """Regularised least squares, with lam by leave-one-out.

    Parameters
    ----------
    lam, kernel, n_held, random_state
        As in :class:`RLSClassifier`.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    lam_, lams_, loo_errors_, n_features_in_
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
        n_held: int = 5000,
        random_state: Any = 0,
    ):
        self.lam = lam
        self.kernel = kernel
        self.n_held = n_held
        self.random_state = random_state

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> RLSRegressor:
        """Choose lam and solve.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Both may be Dask arrays (X also a dataframe), cut into the same blocks.
        sample_weight : array-like of shape (n_samples,), optional
        """
        if is_dask(X):
            self._start_blocks(X, sample_weight)
            y = as_labels(y)
            self._flat = y.ndim == 1
            self._n_targets = 1 if self._flat else y.shape[1]
            self._add_blocks(X, y, self._n_targets)
            return self
        X, Y, flat = self._checked(X, y, reset=True)
        self._flat, self._n_targets = flat, Y.shape[1]
        self._fit_rows(X, Y, check_total(self._check_weights(sample_weight, X)))
        return self

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> RLSRegressor:
        """Add rows to those of earlier calls, in memory that does not grow with them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional
        """
        check_number(self.n_held, "n_held", low=1, whole=True)
        if self.kernel is not None:
            raise ValueError("partial_fit needs kernel=None: a kernel needs all rows at once")
        X, Y, flat = self._checked(X, y, reset=not hasattr(self, "_equations"))
        if hasattr(self, "_equations") and Y.shape[1] != self._equations.n_targets:
            raise ValueError(
                f"y has {Y.shape[1]} targets, but {self._equations.n_targets} at the first call"
            )
        self._flat, self._n_targets = flat, Y.shape[1]
        self._add_rows(X, Y, self._check_weights(sample_weight, X))
        return self

    def predict(self, X: ArrayLike) -> NDArray:
        """Give the values of each sample; for a Dask array, a Dask array."""
        if is_dask(X):
            self._solved()
            return mapped(
                X, RLSRegressor.predict, self, 0 if self._flat else self._n_targets, float
            )
        values = self._raw(X)
        return values[:, 0] if self._flat else values

    @property
    def intercept_(self) -> Any:
        """What is added; not penalised."""
        intercept = self._solved().intercept
        return float(intercept[0]) if self._flat else intercept

    @property
    def coef_(self) -> NDArray:
        """Weights of the features, (n_features,) or (n_targets, n_features)."""
        beta = self._existing("beta", "kernel=None")
        return beta[:, 0] if self._flat else beta.T

    def _checked(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray, bool]:
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=_PRECISIONS,
            multi_output=True,
            y_numeric=True,
            reset=reset,
        )
        return X, y.reshape(len(y), -1).astype(float), y.ndim == 1

    def _targets(self, y: NDArray) -> NDArray[np.float64]:
        return np.asarray(y, dtype=float).reshape(len(y), -1)

    def _class_weights(self, y: NDArray) -> NDArray[np.float64]:
        return np.ones(len(y))

    def _error(self, predicted: NDArray, Y: NDArray, weights: NDArray) -> float:
        return float(weights @ ((predicted - Y) ** 2).mean(axis=1) / weights.sum())


def as_labels(y: Any) -> Any:
    """Give labels or targets as a Dask array."""
    if not is_dask(y):
        raise TypeError("X is a Dask collection and y is not: pass a Dask array or series")
    return as_rows(y)


def _block_equations(
    machine: Any, X: Any, y: Any, n_targets: int, seed: int, place: int
) -> NormalEquations:
    return machine._block(np.asarray(X), np.asarray(y), n_targets, seed, place)


def _merged(parts: list[NormalEquations]) -> NormalEquations:
    """Merge sums into a new object: what a worker holds may be needed again if one is lost."""
    total = parts[0].copy()
    for part in parts[1:]:
        total.merge(part)
    return total


def origin_of(X: Any) -> NDArray[np.float64]:
    """Give a point near the mean of rows, from which to measure them; sparse ones from zero."""
    if not isinstance(X, np.ndarray):
        return np.zeros(X.shape[1])
    return X[:1024].mean(axis=0, dtype=float)


def _winners(values: NDArray) -> NDArray:
    """Give the number of the class with the largest value, for each row."""
    if values.shape[1] == 1:
        return (values[:, 0] > 0).astype(int)
    return values.argmax(axis=1)
