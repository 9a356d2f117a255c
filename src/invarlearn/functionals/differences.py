"""Differences of values as functionals: local averages, neighbours, the graph Laplacian."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, eye_array
from sklearn.neighbors import kneighbors_graph

from invarlearn._utils.validation import check_choice, check_memory, check_number
from invarlearn.functionals.base import Functional, FunctionalTerm, Rows, Values


class LocalAverage(Functional):
    """The average of f around each row, minus f at the row (Zhang et al., 2013, section 4.3).

    The average is over a Gaussian, and needs an RBF kernel.

    Parameters
    ----------
    theta : float, default=0.1
        Standard deviation of the Gaussian in every direction. In many dimensions choose a small
        one: about the width of the kernel divided by the square root of the number of features.
    """

    def __init__(self, theta: float = 0.1):
        self.theta = theta

    def terms(self, X: Rows) -> list[FunctionalTerm]:
        theta = check_number(self.theta, "theta", low=np.finfo(float).tiny)
        identity = eye_array(len(X), format="csr")
        return [Values(X, identity, theta**2), Values(X, -identity)]


class Difference(Functional):
    """Differences of the values at neighbouring rows.

    The sum of their squares is the quadratic form ``f' L f`` of the graph Laplacian L.

    Parameters
    ----------
    n_neighbors : int, default=5
        Each row is joined with this number of nearest neighbours.
    edges : array-like of shape (m, 2), optional
        Pairs of row indices to join, instead of nearest neighbours.
    weights : array-like of shape (m,), optional
        Weights of the edges. A difference is multiplied by the square root of its weight.
    """

    def __init__(self, n_neighbors: int = 5, edges: Any = None, weights: Any = None):
        self.n_neighbors = n_neighbors
        self.edges = edges
        self.weights = weights

    def terms(self, X: Rows) -> list[FunctionalTerm]:
        edges = self._edges(X)
        roots = np.ones(len(edges))
        if self.weights is not None:
            weights = np.asarray(self.weights, dtype=float)
            roots = np.sqrt(np.maximum(weights, 0))
            is_valid = np.isfinite(weights).all() and not (weights < 0).any()
            if weights.shape != (len(edges),) or not is_valid:
                raise ValueError(
                    f"weights must be {len(edges)} finite numbers, one for each edge and none "
                    "negative"
                )
        rows = np.repeat(np.arange(len(edges)), 2)
        signs = np.column_stack([roots, -roots]).ravel()
        return [Values(X, csr_array((signs, (rows, edges.ravel())), (len(edges), len(X))))]

    def _edges(self, X: Rows) -> np.ndarray:
        if self.edges is not None:
            edges = np.asarray(self.edges)
            are_pairs = edges.dtype.kind in "iu" and edges.ndim == 2 and edges.shape[1] == 2
            if not are_pairs or not len(edges) or edges.min() < 0 or edges.max() >= len(X):
                raise ValueError(
                    f"edges must be pairs of rows, as whole numbers from 0 to {len(X) - 1}"
                )
            return edges
        return _pairs(kneighbors_graph(X, check_neighbors(self.n_neighbors, X)))


class Laplacian(Functional):
    """Functionals whose squares add up to ``f' L f`` for a graph Laplacian L, one for each row.

    They are the rows of the square root of L, so there are fewer of them than there are edges in
    :class:`Difference`. With ``normalize=False`` and ``power=1``, a squared penalty is that of
    :class:`Difference` with the same edges and weights.

    Parameters
    ----------
    n_neighbors : int, default=6
        Two rows are joined if one is among this number of nearest neighbours of the other.
    weights : {"heat", "binary"}, default="heat"
        Weight of an edge of length d. "heat": ``exp(-d^2 / (2 s^2))``, where s is the mean length
        of the edges. "binary": 1.
    normalize : bool, default=True
        Whether to normalise the Laplacian: values are divided by the square root of the degree.
    power : int, default=1
        Power of the Laplacian.
    """

    def __init__(
        self,
        n_neighbors: int = 6,
        weights: str = "heat",
        normalize: bool = True,
        power: int = 1,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.normalize = normalize
        self.power = power

    def terms(self, X: Rows) -> list[FunctionalTerm]:
        power = check_number(self.power, "power", low=1, whole=True)
        values, vectors = np.linalg.eigh(self.matrix(X))
        # eigenvalues that are zero up to rounding are not small after the square root
        values[values < 1e-13 * len(X) * values.max(initial=0.0)] = 0.0
        roots = values ** (power / 2)
        return [Values(X, (vectors * roots) @ vectors.T)]

    def matrix(self, X: Rows) -> Rows:
        """Return the Laplacian of the neighbour graph: (n, n)."""
        check_choice(self.weights, ("heat", "binary"), "weights")
        check_memory((len(X), len(X)), float, "the Laplacian", "use Difference instead")
        graph = kneighbors_graph(X, check_neighbors(self.n_neighbors, X), mode="distance")
        lengths = graph.maximum(graph.T).toarray()
        joined = kneighbors_graph(X, int(self.n_neighbors)).toarray() > 0
        joined |= joined.T
        width = float(lengths[joined].mean())
        heat = np.exp(-(lengths**2) / (2 * width**2)) if width > 0 else 1.0
        edges = np.where(joined, heat if self.weights == "heat" else 1.0, 0.0)
        degrees = edges.sum(axis=1)
        out = np.diag(degrees) - edges
        if self.normalize:
            # heat weights of long edges can underflow, so that a row has the degree zero
            roots = np.sqrt(np.where(degrees > 0, degrees, 1.0))
            out /= np.outer(roots, roots)
        return out


def check_neighbors(n_neighbors: Any, X: Rows) -> int:
    """Return the number of neighbours; raise an error if there are too few rows."""
    k = int(check_number(n_neighbors, "n_neighbors", low=1, whole=True))
    if k >= len(X):
        raise ValueError(f"n_neighbors={k} must be below the number of rows, {len(X)}")
    return k


def _pairs(graph: Any) -> np.ndarray:
    """Return each edge of a neighbour graph once."""
    first, second = graph.nonzero()
    pairs = np.sort(np.column_stack([first, second]), axis=1)
    return np.unique(pairs, axis=0)
