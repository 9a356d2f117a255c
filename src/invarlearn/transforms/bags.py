"""Families of bags of words: scaling and dropping of a few features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array

from invarlearn._utils.validation import Shape, check_memory, check_number, check_score
from invarlearn.transforms._parameters import declared_features
from invarlearn.transforms.actions import Action, Functions, Rows
from invarlearn.transforms.base import Family
from invarlearn.transforms.domains import BAG


class RandomScaling:
    """A function of rows that scales up to ``budget`` nonzero features by random factors.

    The seed determines an order of all features and their factors. In each row, the first
    ``budget`` nonzero features in this order are scaled, so that equal rows have equal results.

    Parameters
    ----------
    low, high : float
        Range of the factors.
    budget : int
    seed : int
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
        # the first nonzeros of each row, sorted by rank
        row_numbers = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        order = np.lexsort((rank[rows.indices], row_numbers))
        position = np.arange(rows.nnz) - rows.indptr[row_numbers]
        scaled = order[position < self.budget]
        rows.data[scaled] *= factors[rows.indices[scaled]]
        return rows if sparse.issparse(X) else rows.toarray()


class FeatureScaling(Family):
    """Scaling of up to ``budget`` features of a row by factors between ``low`` and ``high``.

    The elements cannot be listed. The worst case for a linear score ``row @ w`` has a closed form:
    scaling feature j by ``low`` or ``high`` changes the score by ``(factor - 1) w_j x_j``, and the
    ``budget`` features that lower it most are scaled (Teo et al., 2007, equation 10 and Algorithm
    3). Features that would not lower the score are unchanged. The time is O(nnz). The family is
    neither unitary nor a group. Single elements and :meth:`worst_case` accept sparse rows.

    Parameters
    ----------
    low : float, default=0.5
        The smallest factor, at most 1.
    high : float, default=2.0
        The largest factor, at least 1.
    budget : int, default=10
        Largest number of features of a row that change.
    shape : int or tuple, optional
        Number of features of a row.

    Examples
    --------
    >>> family = FeatureScaling(low=0.5, high=2, budget=1)
    >>> rows, scores = family.worst_case([[4.0, 1.0, 0.0]], w=[1.0, -1.0, 5.0])
    >>> rows, scores
    (array([[2., 1., 0.]]), array([1.]))
    """

    spec_name = "feature-scaling"
    stored_types = (RandomScaling,)
    domain = BAG
    accepts_sparse = True

    def __init__(self, low: float = 0.5, high: float = 2.0, budget: int = 10, shape: Shape = None):
        self.low = low
        self.high = high
        self.budget = budget
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(low=0.5, high=3, budget=4)]

    def scaled(self, factor: float) -> Family:
        """Return a copy of the family with ``low`` and ``high`` ``factor`` times as far from 1."""
        check_number(factor, "factor", low=np.finfo(float).tiny)
        low, high = (1 + factor * (end - 1) for end in (self.low, self.high))
        return clone(self).set_params(low=low, high=high)

    def bounds(self) -> tuple[float, float, int]:
        """Return ``low``, ``high`` and ``budget``; raise an error if one of them is invalid."""
        low = check_number(self.low, "low", high=1)
        high = check_number(self.high, "high", low=1)
        return low, high, int(check_number(self.budget, "budget", low=0, whole=True))

    @property
    def n_directions(self) -> int:
        """Number of tangent directions: one for each feature."""
        return declared_features(self, "n_directions")

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        low, high, budget = self.bounds()
        seeds = rng.randint(2**31 - 1, size=k)
        return Functions([RandomScaling(low, high, budget, seed) for seed in seeds])

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        X = self.validate_rows(X)
        return X[:, None] + X.dtype.type(t) * self.tangents(X)

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        """Return the tangents: the derivatives of scaling one feature at a time.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        smoothing : ignored

        Returns
        -------
        array of shape (n_samples, n_features, n_features)
        """
        X = self.validate_rows(X)
        n, d = X.shape
        check_memory((n, d, d), X.dtype, "the tangents", "use fewer rows at a time")
        out = np.zeros((n, d, d), dtype=X.dtype)
        out[:, np.arange(d), np.arange(d)] = X
        return out

    def worst_case(
        self, X: ArrayLike, w: ArrayLike, sign: ArrayLike | None = None
    ) -> tuple[Any, Rows]:
        """Return, for each row, the scaled row with the least linear score, in time O(nnz).

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
        from invarlearn.transforms.compiled.scaling import scale_worst_sparse

        X = check_array(X, dtype=[np.float64, np.float32], accept_sparse="csr", estimator=self)
        self.resolve_shape(X.shape[1])
        w, signs = check_score(X, w, sign)
        low, high, budget = self.bounds()
        budget = min(budget, X.shape[1])
        if sparse.issparse(X):
            rows = X.copy()
            rows.sum_duplicates()
            data, columns, starts = rows.data, rows.indices, rows.indptr
        else:
            # treat a dense array as a sparse one that stores every feature
            rows = np.array(X, order="C")
            data = rows.reshape(-1)
            columns = np.tile(np.arange(X.shape[1], dtype=np.int32), len(X))
            starts = np.arange(len(X) + 1) * X.shape[1]
        scores = scale_worst_sparse(data, columns, starts, w, signs, low, high, budget)
        return rows, scores


class FeatureDropping(FeatureScaling):
    """Dropping of up to ``budget`` features of a row: they become zero (Teo et al., 2007, FDROP).

    This is :class:`FeatureScaling` between 0 and 1, with the same closed form of the worst case.
    Random elements set features to zero. There are no tangents. The family is neither unitary nor a
    group.

    Parameters
    ----------
    budget : int, default=10
        Largest number of features of a row that become zero.
    shape : int or tuple, optional
        Number of features of a row.

    Examples
    --------
    >>> rows, scores = FeatureDropping(budget=1).worst_case([[4.0, 1.0]], w=[1.0, -1.0])
    >>> rows, scores
    (array([[0., 1.]]), array([-1.]))
    """

    spec_name = "feature-dropping"

    def __init__(self, budget: int = 10, shape: Shape = None):
        self.budget = budget
        self.shape = shape

    low = 0.0
    high = 1.0

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(budget=3)]

    @property
    def n_directions(self) -> int:
        return 0

    flow = Family.flow
    scaled = Family.scaled
    tangents = Family.tangents

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        _, _, budget = self.bounds()
        seeds = rng.randint(2**31 - 1, size=k)
        return Functions([RandomScaling(0.0, 0.0, budget, seed) for seed in seeds])
