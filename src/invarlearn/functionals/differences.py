"""Differences of values as functionals: of a mean around a row, and of neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, eye_array
from sklearn.neighbors import kneighbors_graph

from invarlearn.functionals.base import Functional, Rows, Term, Values
from invarlearn.transforms._checks import check_memory, check_number


class LocalAverage(Functional):
    """The mean of f around each row, less its value there (paper 002, section 4.3).

    The mean is over a Gaussian with standard deviation ``theta`` in every direction; for RBF
    kernels only. In many dimensions small ones are right, about the kernel's own width divided by
    the square root of the number of features.

    Parameters
    ----------
    theta : float, default=0.1
    """

    def __init__(self, theta: float = 0.1):
        self.theta = theta

    def terms(self, X: Rows) -> list[Term]:
        theta = check_number(self.theta, "theta", low=np.finfo(float).tiny)
        one = eye_array(len(X), format="csr")
        return [Values(X, one, theta**2), Values(X, -one)]


class Difference(Functional):
    """Differences of the values at neighbouring rows; squared they make the graph Laplacian.

    Parameters
    ----------
    n_neighbors : int, default=5
        Each row is joined with so many others.
    edges : array-like of shape (m, 2), optional
        Pairs of rows instead.
    weights : array-like of shape (m,), optional
        Of the edges; a difference is multiplied by the root of its weight.
    """

    def __init__(self, n_neighbors: int = 5, edges: Any = None, weights: Any = None):
        self.n_neighbors = n_neighbors
        self.edges = edges
        self.weights = weights

    def terms(self, X: Rows) -> list[Term]:
        edges = self._edges(X)
        roots = np.ones(len(edges))
        if self.weights is not None:
            given = np.asarray(self.weights, dtype=float)
            roots = np.sqrt(np.maximum(given, 0))
            if given.shape != (len(edges),) or not np.isfinite(given).all() or (given < 0).any():
                raise ValueError(f"weights must be {len(edges)} numbers, none negative")
        rows = np.repeat(np.arange(len(edges)), 2)
        signs = np.column_stack([roots, -roots]).ravel()
        return [Values(X, csr_array((signs, (rows, edges.ravel())), (len(edges), len(X))))]

    def _edges(self, X: Rows) -> np.ndarray:
        if self.edges is not None:
            edges = np.asarray(self.edges)
            whole = edges.dtype.kind in "iu" and edges.ndim == 2 and edges.shape[1] == 2
            if not whole or not len(edges) or edges.min() < 0 or edges.max() >= len(X):
                raise ValueError(f"edges must be pairs of rows, numbers from 0 to {len(X) - 1}")
            return edges
        return _pairs(kneighbors_graph(X, check_neighbors(self.n_neighbors, X)))


class Laplacian(Functional):
    """As many functionals as rows whose squares make the graph Laplacian, normalised or not.

    Under a squared penalty the same as :class:`Difference`, with fewer functionals: the root of the
    Laplacian takes the place of its edges.

    Parameters
    ----------
    n_neighbors : int, default=6
        Two rows are joined if one is among so many nearest of the other.
    weights : {"heat", "binary"}, default="heat"
        Of the edges: ``exp(-d^2 / (2 s^2))``, where s is the mean length of an edge, or 1.
    normalize : bool, default=True
        Whether values are divided by the root of the degree, so that every row counts alike.
    power : int, default=1
        The Laplacian is raised to this power.
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

    def terms(self, X: Rows) -> list[Term]:
        power = check_number(self.power, "power", low=1, whole=True)
        values, vectors = np.linalg.eigh(self.matrix(X))
        # what is zero but for rounding is to be so in the root too
        values[values < 1e-13 * len(X) * values.max(initial=0.0)] = 0.0
        roots = values ** (power / 2)
        return [Values(X, (vectors * roots) @ vectors.T)]

    def matrix(self, X: Rows) -> Rows:
        """Give the Laplacian of the neighbour graph: (n, n)."""
        if self.weights not in ("heat", "binary"):
            raise ValueError(f"weights={self.weights!r} is unknown: choose heat or binary")
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
            # a row so far away that its edges weigh nothing stands alone
            roots = np.sqrt(np.where(degrees > 0, degrees, 1.0))
            out /= np.outer(roots, roots)
        return out


def check_neighbors(n_neighbors: Any, X: Rows) -> int:
    """Give the number of neighbours, of which there must be so many."""
    k = int(check_number(n_neighbors, "n_neighbors", low=1, whole=True))
    if k >= len(X):
        raise ValueError(f"n_neighbors={k} must be below the number of rows, {len(X)}")
    return k


def _pairs(graph: Any) -> np.ndarray:
    """Give each edge of a neighbour graph once."""
    first, second = graph.nonzero()
    pairs = np.sort(np.column_stack([first, second]), axis=1)
    return np.unique(pairs, axis=0)
