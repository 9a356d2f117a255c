"""Columns of kernel classifiers: transformed rows that are created on demand."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from invarlearn.kernels import Kernel
from invarlearn.oracles.base import ColumnSource, Priced, check_shares
from invarlearn.oracles.costs import Costs, Floats
from invarlearn.transforms import Family
from invarlearn.transforms.base import BLOCK_BYTES

Decider = Callable[[Any], Floats]


@dataclass(frozen=True)
class Column:
    """The worst column of one sample.

    Attributes
    ----------
    row : int
        Index of the transformed row; -1: the worst column is that of the correct label.
    plus, minus, scale, delta
        As in :class:`~invarlearn.oracles.base.Priced`.
    product : float
        The inner product ``<f, psi>``.
    squared : float
        The squared norm ``|psi|^2``.
    """

    row: int
    plus: int
    minus: int
    scale: float
    delta: float
    product: float
    squared: float


class KernelColumns(ColumnSource):
    """Base class of columns of kernel classifiers; subclasses search the transformations.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Class indices, from 0.
    kernel : Kernel
    costs : Costs
    weights : array of shape (n_samples,), optional
        Weights of samples. None: equal weights.
    """

    def __init__(
        self, X: Floats, y: NDArray, kernel: Kernel, costs: Costs, weights: Floats | None = None
    ):
        self.X, self.kernel, self.costs = X, kernel, costs
        self.y = np.asarray(y, dtype=np.int64)
        self.n_examples = len(X)
        self.n_functions = costs.n_functions
        self.null = costs.null[self.y]
        self.shares = check_shares(weights, len(X))
        self.at_zero = float(self.shares @ costs.most[self.y])
        self.rows = np.empty((0, X.shape[1]))
        self.origin = np.empty((0, 2), dtype=np.int64)
        self._row_of_key: dict[Any, int] = {}

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return len(self.rows)

    @abstractmethod
    def _search(self, A: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """Return the largest loss of f against each rival class, and its element.

        Parameters
        ----------
        A : array of shape (n_functions, n_rows)

        Returns
        -------
        best, element : arrays of shape (n_samples, n_classes)
        """
        raise NotImplementedError

    @abstractmethod
    def _transformed(self, example: NDArray, element: NDArray) -> Floats:
        """Return transformed samples: (n, n_features).

        Parameters
        ----------
        example, element : arrays of shape (n,)
            Index of a sample, and of the element that transforms it.
        """
        raise NotImplementedError

    def price(self, A: Floats, threshold: Floats, at_most: int) -> Priced:
        best, element = self._search(A)
        losses = np.maximum(best.max(axis=1), self.null)
        order = np.argsort(-best, axis=1, kind="stable")[:, :at_most]
        above = np.take_along_axis(best, order, axis=1) > threshold[:, None]
        example, place = np.nonzero(above)
        rival = order[example, place]
        chosen = element[example, rival]
        row = self._row_indices(example, chosen)
        own = self.y[example]
        cost_index = chosen if self.costs.cost.shape[2] > 1 else np.zeros_like(chosen)
        delta = self.costs.cost[own, rival, cost_index]
        plus, minus, scale = self._column_functions(own, rival)
        return Priced(losses, example, row, plus, minus, scale, delta)

    def worst_of(self, i: int, A: Floats) -> Column:
        """Return the worst column of sample i, and create its row if it is new.

        Parameters
        ----------
        i : int
        A : array of shape (n_functions, n_rows)
            Coefficients of f at the rows.
        """
        from invarlearn.oracles._reduce import reduce_scores

        own = self.y[i]
        candidates = self._candidates(i, self._decider(A))
        scores = self._class_scores(self._evaluate(candidates, A))[None]
        best = np.full((1, self.costs.n_classes), -np.inf)
        element = np.zeros(best.shape, dtype=np.int64)
        reduce_scores(scores, self.y[[i]], self.costs.cost, self.costs.scale, 0, best, element)
        rival = int(best[0].argmax())
        if best[0, rival] <= self.null[i]:
            return Column(-1, -1, -1, 0.0, float(self.null[i]), 0.0, 0.0)
        s = int(element[0, rival])
        row = self._row_index(i, s, candidates[s])
        costs = self.costs.cost[own, rival]
        delta = float(costs[s if len(costs) > 1 else 0])
        plus, minus, scale = self._column_functions(np.array([own]), np.array([rival]))
        n_functions = 1 if minus[0] < 0 else 2
        squared = n_functions * scale[0] ** 2 * float(self.kernel.diag(candidates[[s]])[0])
        product = float(best[0, rival]) - delta
        return Column(row, int(plus[0]), int(minus[0]), float(scale[0]), delta, product, squared)

    def losses_of(self, coef: Floats) -> tuple[Floats, float]:
        A = coef
        best, _ = self._search(A)
        losses = np.maximum(best.max(axis=1), self._losses_at_rows(A))
        n, step = A.shape[1], max(1, BLOCK_BYTES // (8 * max(1, A.shape[1])))
        norm = 0.0
        for start in range(0, n, step):
            block = slice(start, min(start + step, n))
            values = A @ self.kernel(self.rows[block], self.rows[:n]).T
            norm += float((A[:, block] * values).sum())
        return losses, norm

    def _losses_at_rows(self, A: Floats) -> Floats:
        """Return losses over the existing rows, which a search may not find again: (n_samples,)."""
        return self.null

    @abstractmethod
    def _candidates(self, i: int, decide: Decider) -> Floats:
        """Return all transformed rows of sample i: (k, n_features)."""
        raise NotImplementedError

    def _row_index(self, i: int, element: int, transformed: Floats) -> int:
        """Return the index of a transformed row of sample i; create the row if it is new."""
        return int(self._row_indices(np.array([i]), np.array([element]))[0])

    def _evaluate(self, rows: Floats, A: Floats) -> Floats:
        """Return f at rows: (n, n_functions)."""
        n = A.shape[1]
        if not n:
            return np.zeros((len(rows), self.n_functions))
        return self.kernel(rows, self.rows[:n]) @ A.T

    def _decider(self, A: Floats) -> Decider:
        """Return the function that maps rows to the scores of classes under f."""

        def decide(rows: Any) -> Floats:
            points = np.atleast_2d(np.asarray(rows, dtype=float))
            return self._class_scores(self._evaluate(points, A))

        return decide

    def _column_functions(self, own: NDArray, rival: NDArray) -> tuple[NDArray, NDArray, Floats]:
        """Return ``plus``, ``minus`` and ``scale`` of columns, see :class:`Priced`."""
        scale = self.costs.scale[own, rival]
        if self.n_functions > 1:
            return rival, own, scale
        plus = np.zeros_like(own)
        return plus, plus - 1, np.where(own == 1, -scale, scale)

    def gram(self, rows: NDArray | slice) -> Floats:
        return self.kernel(self.rows[rows], self.rows)

    def keep(self, rows: NDArray[np.int64]) -> None:
        self.rows, self.origin = self.rows[rows], self.origin[rows]
        new_index = {old: new for new, old in enumerate(rows.tolist())}
        items = self._row_of_key.items()
        self._row_of_key = {key: new_index[row] for key, row in items if row in new_index}

    def _row_indices(self, example: NDArray, element: NDArray) -> NDArray[np.int64]:
        """Return the indices of transformed rows, (n,); create rows that are new."""
        keys = list(zip(example.tolist(), element.tolist(), strict=True))
        new = [k for k in dict.fromkeys(keys) if k not in self._row_of_key]
        if new:
            first = self.n_rows
            origin = np.array(new, dtype=np.int64)
            self._row_of_key.update({key: first + k for k, key in enumerate(new)})
            self.rows = np.concatenate([self.rows, self._transformed(*origin.T)])
            self.origin = np.concatenate([self.origin, origin])
        return np.array([self._row_of_key[key] for key in keys], dtype=np.int64)

    def _class_scores(self, values: Floats) -> Floats:
        """Return scores of classes, (..., n_classes), from the values of functions."""
        return values if values.shape[-1] > 1 else np.concatenate([-values, values], axis=-1) / 2


class OrbitColumns(KernelColumns):
    """Columns of a family with listed elements, which are all tried in blocks.

    Kernel values between the orbit and the existing rows are cached up to ``cache_bytes``, and
    computed again beyond that.

    Parameters
    ----------
    X, y, kernel, costs, weights
        As in :class:`KernelColumns`.
    family : Family
        A family whose elements can be listed.
    cache_bytes : float
        Memory for the cache.
    """

    def __init__(
        self,
        X: Floats,
        y: NDArray,
        kernel: Kernel,
        costs: Costs,
        family: Family,
        cache_bytes: float,
        weights: Floats | None = None,
    ):
        super().__init__(X, y, kernel, costs, weights)
        self.family = family
        self._action = family.elements(X.shape[1])
        n_orbit = len(X) * len(self._action)
        self._orbit: list[tuple[slice, slice, Any]] | None = None
        if 8.0 * n_orbit * X.shape[1] <= cache_bytes / 4:
            self._orbit = list(family.iter_orbit(X))
        self._n_cached_rows = int(cache_bytes / (8.0 * n_orbit))
        # for each block of the orbit, its kernel values with the first rows, in pieces
        self._cache: dict[int, list[Floats]] = {}

    def _blocks(self) -> Iterator[tuple[slice, slice, Any]]:
        return iter(self._orbit if self._orbit is not None else self.family.iter_orbit(self.X))

    def _search(self, A: Floats) -> tuple[Floats, NDArray[np.int64]]:
        from invarlearn.oracles._reduce import reduce_scores

        best = np.full((self.n_examples, self.costs.n_classes), -np.inf)
        element = np.zeros(best.shape, dtype=np.int64)
        for number, (rows, elements, block) in enumerate(self._blocks()):
            values = self._values(number, block, A).reshape(*block.shape[:2], -1)
            costs = (self.costs.cost, self.costs.scale)
            scores = self._class_scores(values)
            reduce_scores(scores, self.y[rows], *costs, elements.start, best[rows], element[rows])
        return best, element

    def _values(self, number: int, block: Floats, A: Floats) -> Floats:
        """Return f at the rows of a block of the orbit: (rows * elements, n_functions)."""
        points = block.reshape(-1, block.shape[2])
        pieces = self._cache.setdefault(number, [])
        n_cached = sum(piece.shape[1] for piece in pieces)
        n_wanted = min(self._n_cached_rows, self.n_rows)
        if n_cached < n_wanted:
            pieces.append(self.kernel(points, self.rows[n_cached:n_wanted]))
        values = np.zeros((len(points), self.n_functions))
        start = 0
        for piece in pieces:
            values += piece @ A[:, start : start + piece.shape[1]].T
            start += piece.shape[1]
        step = max(1, BLOCK_BYTES // (8 * len(points)))
        for first in range(start, self.n_rows, step):
            uncached = slice(first, first + step)
            values += self.kernel(points, self.rows[uncached]) @ A[:, uncached].T
        return values

    def _candidates(self, i: int, decide: Decider) -> Floats:
        return self._action.act(self.X[[i]], 0, len(self._action))[0]

    def keep(self, rows: NDArray[np.int64]) -> None:
        super().keep(rows)
        for pieces in self._cache.values():
            ends = np.cumsum([0] + [piece.shape[1] for piece in pieces])
            for k, piece in enumerate(pieces):
                columns = rows[(rows >= ends[k]) & (rows < ends[k + 1])] - ends[k]
                pieces[k] = piece[:, columns]

    def _transformed(self, example: NDArray, element: NDArray) -> Floats:
        out = np.empty((len(example), self.X.shape[1]))
        for s in np.unique(element):
            same = np.flatnonzero(element == s)
            out[same] = self._action.one(self.X[example[same]], s)
        return out


class ProposedColumns(KernelColumns):
    """Columns that a user's function proposes.

    Parameters
    ----------
    X, y, kernel, costs, weights
        As in :class:`KernelColumns`.
    propose : callable
        ``propose(x, y, decide)`` returns transformed rows, (k, n_features), of a row x with the
        class index y. ``decide`` maps rows to scores of classes, (k, n_classes).
    """

    def __init__(
        self,
        X: Floats,
        y: NDArray,
        kernel: Kernel,
        costs: Costs,
        propose: Callable[..., Any],
        weights: Floats | None = None,
    ):
        super().__init__(X, y, kernel, costs, weights)
        self.propose = propose
        self._proposed: dict[tuple[int, int], Floats] = {}

    def _search(self, A: Floats) -> tuple[Floats, NDArray[np.int64]]:
        from invarlearn.oracles._reduce import reduce_scores

        decide = self._decider(A)
        self._proposed.clear()
        best = np.full((self.n_examples, self.costs.n_classes), -np.inf)
        number = np.zeros(best.shape, dtype=np.int64)
        for i in range(self.n_examples):
            sample = slice(i, i + 1)
            candidates = self._candidates(i, decide)
            scores = decide(candidates)[None]
            index = np.zeros((1, self.costs.n_classes), dtype=np.int64)
            costs = (self.costs.cost, self.costs.scale)
            reduce_scores(scores, self.y[sample], *costs, 0, best[sample], index)
            number[i] = [self._proposal_number(i, candidates[k]) for k in index[0]]
        return best, number

    def _candidates(self, i: int, decide: Decider) -> Floats:
        proposed = np.asarray(self.propose(self.X[i], int(self.y[i]), decide), dtype=float)
        fits = proposed.ndim == 2 and proposed.shape[1] == self.X.shape[1]
        if not fits or not np.isfinite(proposed).all():
            problem = "has values that are not finite" if fits else f"has shape {proposed.shape}"
            raise ValueError(
                f"oracle must return finite rows of shape (k, {self.X.shape[1]}); its result for "
                f"sample {i} {problem}"
            )
        # the untransformed row is always a candidate
        return np.concatenate([self.X[[i]], proposed])

    def _row_index(self, i: int, element: int, transformed: Floats) -> int:
        return super()._row_index(i, self._proposal_number(i, transformed), transformed)

    def _proposal_number(self, i: int, row: Floats) -> int:
        """Return a number for a proposed row: equal rows of a sample have the same number."""
        # unlike hash(), the digest is the same in every process, and so is the order of rows
        digest = blake2b(row.tobytes(), digest_size=8).digest()
        key = (i, int.from_bytes(digest, "big", signed=True))
        if key not in self._proposed:
            self._proposed[key] = row.copy()
        return key[1]

    def _losses_at_rows(self, A: Floats) -> Floats:
        losses = self.null.copy()
        n = A.shape[1]
        if not n:
            return losses
        scores = self._class_scores(self._evaluate(self.rows[:n], A))
        example = self.origin[:n, 0]
        own = self.y[example]
        margins = scores[np.arange(n), own][:, None] - scores
        values = self.costs.cost[own, :, 0] - self.costs.scale[own] * margins
        values[np.arange(n), own] = -np.inf
        np.maximum.at(losses, example, values.max(axis=1))
        return losses

    def _transformed(self, example: NDArray, element: NDArray) -> Floats:
        keys = zip(example.tolist(), element.tolist(), strict=True)
        return np.array([self._proposed[key] for key in keys])
