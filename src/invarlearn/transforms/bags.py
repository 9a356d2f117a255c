"""What may happen to a bag of words: some counts are scaled or dropped, a few at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array

from invarlearn.transforms._actions import Action, Functions, Rows
from invarlearn.transforms.base import Family, Shape, _check_score, check_memory


class FeatureScaling(Family):
    """Scaling of up to ``budget`` features of a row by factors between ``low`` and ``high``.

    There are too many elements to list them, but the worst case for a linear score has a closed
    form: the features that gain most go to one end of the range (paper 004, equation 10 and
    Algorithm 3; here in time O(nnz), and no feature is touched without a gain).

    Parameters
    ----------
    low, high : float
        The range of factors; it contains 1.
    budget : int
        How many features of a row may change.
    shape : int or tuple, optional
        Features of a row.

    Examples
    --------
    >>> family = FeatureScaling(low=0.5, high=2, budget=1)
    >>> rows, scores = family.worst_case([[4.0, 1.0, 0.0]], w=[1.0, -1.0, 5.0])
    >>> rows, scores
    (array([[2., 1., 0.]]), array([1.]))
    """

    domain = "bag"

    def __init__(self, low: float = 0.5, high: float = 2.0, budget: int = 10, shape: Shape = None):
        self.low = low
        self.high = high
        self.budget = budget
        self.shape = shape

    def _range(self) -> tuple[float, float, int]:
        low, high, budget = float(self.low), float(self.high), self.budget
        if not (np.isfinite(low) and np.isfinite(high) and low <= 1 <= high):
            raise ValueError(f"low={low} and high={high} must be finite and have 1 between them")
        if budget < 0 or budget != int(budget):
            raise ValueError(f"budget={budget} must be a whole number of features, 0 or more")
        return low, high, int(budget)

    @property
    def n_elements(self) -> float:
        return np.inf

    @property
    def n_directions(self) -> int:
        """How many tangent directions there are: one for each feature."""
        return self._known_features("n_directions")

    def _listed(self, n_features: int) -> Action:
        raise ValueError(
            f"the elements of {self!r} cannot be listed: use worst_case(X, w) or sample(k)"
        )

    def _drawn(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        low, high, budget = self._range()
        seeds = rng.randint(2**31 - 1, size=k)
        return Functions([_RandomScaling(low, high, budget, seed) for seed in seeds])

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        X = self._check(X)
        return X[:, None] + X.dtype.type(t) * self.tangents(X)

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        """Give one direction for each feature: (n_samples, n_features, n_features)."""
        X = self._check(X)
        n, d = X.shape
        check_memory((n, d, d), X.dtype, "the tangents")
        out = np.zeros((n, d, d), dtype=X.dtype)
        out[:, np.arange(d), np.arange(d)] = X
        return out

    def worst_case(
        self, X: ArrayLike, w: ArrayLike, sign: ArrayLike | None = None
    ) -> tuple[Any, Rows]:
        """Find the scaling that lowers a linear score most, for each row, in time O(nnz).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        w : array-like of shape (n_features,)
            The score of a row is ``row @ w``.
        sign : array-like of shape (n_samples,), optional
            The score is multiplied by it: labels in {-1, 1} make it a margin.

        Returns
        -------
        rows : array or sparse matrix of shape (n_samples, n_features)
            The scaled rows, sparse if X is.
        scores : array of shape (n_samples,)
            ``sign * (rows @ w)``.
        """
        from invarlearn.transforms._scaling import scale_worst_sparse

        X = check_array(X, dtype=[np.float64, np.float32], accept_sparse="csr", estimator=self)
        self.resolve_shape(X.shape[1])
        w, signs = _check_score(X, w, sign)
        low, high, budget = self._range()
        budget = min(budget, X.shape[1])
        if sparse.issparse(X):
            rows = X.copy()
            rows.sum_duplicates()
            data, columns, starts = rows.data, rows.indices, rows.indptr
        else:
            # a dense array is a sparse one that lists every feature
            rows = np.array(X, order="C")
            data = rows.reshape(-1)
            columns = np.tile(np.arange(X.shape[1], dtype=np.int32), len(X))
            starts = np.arange(len(X) + 1) * X.shape[1]
        scores = scale_worst_sparse(data, columns, starts, w, signs, low, high, budget)
        return rows, scores


class FeatureDropping(FeatureScaling):
    """Dropping of up to ``budget`` features of a row: set to zero (paper 004, FDROP).

    Parameters
    ----------
    budget : int
        How many features of a row may go.
    shape : int or tuple, optional
        Features of a row.
    """

    def __init__(self, budget: int = 10, shape: Shape = None):
        self.budget = budget
        self.shape = shape

    low = 0.0
    high = 1.0

    @property
    def n_directions(self) -> int:
        return 0

    flow = Family.flow
    tangents = Family.tangents

    def _drawn(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        _, _, budget = self._range()
        seeds = rng.randint(2**31 - 1, size=k)
        return Functions([_RandomScaling(0.0, 0.0, budget, seed) for seed in seeds])


class _RandomScaling:
    """Scale the ``budget`` features of a row that are not zero and come first in a random order.

    The order belongs to the element, not to the row, so equal rows are scaled alike.
    """

    def __init__(self, low: float, high: float, budget: int, seed: int):
        self.low = low
        self.high = high
        self.budget = budget
        self.seed = seed

    def __call__(self, X: Rows) -> Rows:
        rng = np.random.RandomState(self.seed)
        d = X.shape[1]
        rank: NDArray[np.intp] = rng.permutation(d)
        factors: Rows = np.asarray(rng.uniform(self.low, self.high, size=d), dtype=X.dtype)
        order = np.argsort(rank)
        present = np.cumsum(X[:, order] != 0, axis=1)
        chosen = np.empty(X.shape, dtype=bool)
        chosen[:, order] = present <= self.budget
        return np.where(chosen, X * factors, X)
