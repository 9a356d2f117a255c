"""What may happen to a bag of words: some counts are scaled or dropped, a few at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array

from invarlearn.transforms._actions import Action, Functions, Rows
from invarlearn.transforms._checks import Shape, check_memory, check_number, check_score
from invarlearn.transforms.base import Family


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
    accepts_sparse = True

    def __init__(self, low: float = 0.5, high: float = 2.0, budget: int = 10, shape: Shape = None):
        self.low = low
        self.high = high
        self.budget = budget
        self.shape = shape

    def scaled(self, factor: float) -> Family:
        """Give the family with factors that much further from one, or nearer to it."""
        check_number(factor, "factor", low=np.finfo(float).tiny)
        low, high = (1 + factor * (end - 1) for end in (self.low, self.high))
        return clone(self).set_params(low=low, high=high)

    def _range(self) -> tuple[float, float, int]:
        low = check_number(self.low, "low", high=1)
        high = check_number(self.high, "high", low=1)
        return low, high, int(check_number(self.budget, "budget", low=0, whole=True))

    @property
    def n_directions(self) -> int:
        """How many tangent directions there are: one for each feature."""
        return self._known_features("n_directions")

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
        check_memory((n, d, d), X.dtype, "the tangents", "use fewer rows at a time")
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
        w, signs = check_score(X, w, sign)
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
    scaled = Family.scaled
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

    def __call__(self, X: Any) -> Any:
        rng = np.random.RandomState(self.seed)
        rank: NDArray[np.intp] = rng.permutation(X.shape[1])
        factors: Rows = np.asarray(rng.uniform(self.low, self.high, X.shape[1]), dtype=X.dtype)
        rows = sparse.csr_matrix(X, copy=True)
        rows.eliminate_zeros()
        # the nonzeros of each row by rank, and of these the first few
        row_of = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        order = np.lexsort((rank[rows.indices], row_of))
        place = np.arange(rows.nnz) - rows.indptr[row_of]
        chosen = order[place < self.budget]
        rows.data[chosen] *= factors[rows.indices[chosen]]
        return rows if sparse.issparse(X) else rows.toarray()
