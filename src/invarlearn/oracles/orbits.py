"""Columns of kernel machines: rows transformed as is worst for them, made when they are needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from invarlearn.kernels import Kernel
from invarlearn.oracles.base import Costs, Floats
from invarlearn.transforms import Family
from invarlearn.transforms.base import BLOCK_BYTES

Decider = Callable[[Any], Floats]


@dataclass
class Priced:
    """The losses of all examples, and the columns that exceed what is known.

    A column of example i is ``psi = scale * phi(row) (e_plus - e_minus)`` with its cost ``delta``.
    Rows are numbered as in the source; ``minus`` may be -1: no second function.
    """

    losses: Floats
    example: NDArray[np.int64]
    row: NDArray[np.int64]
    plus: NDArray[np.int64]
    minus: NDArray[np.int64]
    scale: Floats
    delta: Floats


@dataclass
class Column:
    """The worst column of one example; row -1: a right answer is the worst there is.

    ``product`` is <f, psi> and ``squared`` is |psi|^2.
    """

    row: int
    plus: int
    minus: int
    scale: float
    delta: float
    product: float
    squared: float


class Source(ABC):
    """Where columns come from.

    Attributes
    ----------
    n_examples, n_functions : int
    null : array of shape (n_examples,)
        Costs of right answers: of the columns with psi = 0.
    n_rows : int
        How many rows have been made so far.
    """

    n_examples: int
    n_functions: int
    null: Floats
    n_rows: int

    @abstractmethod
    def price(self, A: Floats, known: Floats, at_most: int) -> Priced:
        """Find the worst columns of f, whose coefficients at the rows are A, (n_functions, n_rows).

        Those above ``known``, (n_examples,), are listed, ``at_most`` so many for an example.
        """
        raise NotImplementedError

    @abstractmethod
    def gram(self, rows: NDArray | slice) -> Floats:
        """Give inner products of some rows with all."""
        raise NotImplementedError

    @abstractmethod
    def keep(self, rows: NDArray[np.int64]) -> None:
        """Forget all but these rows."""
        raise NotImplementedError


class KernelColumns(Source):
    """What sources of classifiers with a kernel share.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Classes as numbers from 0.
    kernel : Kernel
    costs : Costs
    """

    def __init__(self, X: Floats, y: NDArray, kernel: Kernel, costs: Costs):
        self.X, self.kernel, self.costs = X, kernel, costs
        self.y = np.asarray(y, dtype=np.int64)
        self.n_examples = len(X)
        self.n_functions = costs.n_functions
        self.null = costs.null[self.y]
        self.rows = np.empty((0, X.shape[1]))
        self.origin = np.empty((0, 2), dtype=np.int64)
        self._known: dict[Any, int] = {}

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return len(self.rows)

    @abstractmethod
    def _search(self, A: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """Give the largest loss against each rival, (n_samples, n_classes), and its element."""
        raise NotImplementedError

    @abstractmethod
    def _transformed(self, example: NDArray, element: NDArray) -> Floats:
        """Give rows of examples transformed by elements."""
        raise NotImplementedError

    def price(self, A: Floats, known: Floats, at_most: int) -> Priced:
        best, element = self._search(A)
        losses = np.maximum(best.max(axis=1), self.null)
        order = np.argsort(-best, axis=1, kind="stable")[:, :at_most]
        found = np.take_along_axis(best, order, axis=1) > known[:, None]
        example, place = np.nonzero(found)
        rival = order[example, place]
        chosen = element[example, rival]
        row = self._rows_of(example, chosen)
        own = self.y[example]
        here = chosen if self.costs.cost.shape[2] > 1 else np.zeros_like(chosen)
        plus, minus, scale = self._signs(own, rival)
        return Priced(losses, example, row, plus, minus, scale, self.costs.cost[own, rival, here])

    def worst_of(self, i: int, A: Floats) -> Column:
        """Find the worst column of example i alone; its row is made if it is new."""
        from invarlearn.oracles._reduce import reduce_scores

        own = self.y[i]
        moved = self._candidates(i, self._decider(A))
        scores = self._of_classes(self._f(moved, A))[None]
        best = np.full((1, self.costs.n_classes), -np.inf)
        element = np.zeros(best.shape, dtype=np.int64)
        reduce_scores(scores, self.y[[i]], self.costs.cost, self.costs.scale, 0, best, element)
        rival = int(best[0].argmax())
        if best[0, rival] <= self.null[i]:
            return Column(-1, -1, -1, 0.0, float(self.null[i]), 0.0, 0.0)
        s = int(element[0, rival])
        row = self._row_of(i, s, moved[s])
        costs = self.costs.cost[own, rival]
        delta = float(costs[s if len(costs) > 1 else 0])
        plus, minus, scale = self._signs(np.array([own]), np.array([rival]))
        functions = 1 if minus[0] < 0 else 2
        squared = functions * scale[0] ** 2 * float(self.kernel.diag(moved[[s]])[0])
        product = float(best[0, rival]) - delta
        return Column(row, int(plus[0]), int(minus[0]), float(scale[0]), delta, product, squared)

    def losses_of(self, A: Floats) -> tuple[Floats, float]:
        """Give the losses of f, and |f|^2."""
        best, _ = self._search(A)
        losses = np.maximum(best.max(axis=1), self._losses_of_known(A))
        n, step = A.shape[1], max(1, BLOCK_BYTES // (8 * max(1, A.shape[1])))
        norm = 0.0
        for start in range(0, n, step):
            few = slice(start, min(start + step, n))
            norm += float((A[:, few] * (A @ self.kernel(self.rows[few], self.rows[:n]).T)).sum())
        return losses, norm

    def _losses_of_known(self, A: Floats) -> Floats:
        """Give the losses over the rows made so far: an oracle need not find them again."""
        return self.null

    @abstractmethod
    def _candidates(self, i: int, decide: Decider) -> Floats:
        """Give all transformed rows of example i: (k, n_features)."""
        raise NotImplementedError

    def _row_of(self, i: int, element: int, moved: Floats) -> int:
        """Give the number of a transformed row."""
        return int(self._rows_of(np.array([i]), np.array([element]))[0])

    def _f(self, rows: Floats, A: Floats) -> Floats:
        """Give f at rows: (n, n_functions)."""
        n = A.shape[1]
        if not n:
            return np.zeros((len(rows), self.n_functions))
        return self.kernel(rows, self.rows[:n]) @ A.T

    def _decider(self, A: Floats) -> Decider:
        def decide(rows: Any) -> Floats:
            return self._of_classes(self._f(np.atleast_2d(np.asarray(rows, dtype=float)), A))

        return decide

    def _signs(self, own: NDArray, rival: NDArray) -> tuple[NDArray, NDArray, Floats]:
        """Give which functions a column has, and with which scale."""
        scale = self.costs.scale[own, rival]
        if self.n_functions > 1:
            return rival, own, scale
        one = np.zeros_like(own)
        return one, one - 1, np.where(own == 1, -scale, scale)

    def gram(self, rows: NDArray | slice) -> Floats:
        return self.kernel(self.rows[rows], self.rows)

    def keep(self, rows: NDArray[np.int64]) -> None:
        self.rows, self.origin = self.rows[rows], self.origin[rows]
        renamed = {old: new for new, old in enumerate(rows.tolist())}
        self._known = {key: renamed[row] for key, row in self._known.items() if row in renamed}

    def _rows_of(self, example: NDArray, element: NDArray) -> NDArray[np.int64]:
        """Give the numbers of transformed rows, which are made if they are new."""
        keys = list(zip(example.tolist(), element.tolist(), strict=True))
        new = [k for k in dict.fromkeys(keys) if k not in self._known]
        if new:
            first = self.n_rows
            origin = np.array(new, dtype=np.int64)
            self._known.update({key: first + k for k, key in enumerate(new)})
            self.rows = np.concatenate([self.rows, self._transformed(*origin.T)])
            self.origin = np.concatenate([self.origin, origin])
        return np.array([self._known[key] for key in keys], dtype=np.int64)

    def _of_classes(self, values: Floats) -> Floats:
        """Give values of functions as scores of classes."""
        return values if values.shape[-1] > 1 else np.concatenate([-values, values], axis=-1) / 2


class OrbitColumns(KernelColumns):
    """Columns of a listed family: all elements of all rows are tried, block by block.

    Kernel values between the orbit and the rows made so far are kept up to ``cache_bytes``, and
    computed again beyond.

    Parameters
    ----------
    X, y, kernel, costs
        As in :class:`KernelColumns`.
    family : Family
    cache_bytes : float
    """

    def __init__(
        self,
        X: Floats,
        y: NDArray,
        kernel: Kernel,
        costs: Costs,
        family: Family,
        cache_bytes: float,
    ):
        super().__init__(X, y, kernel, costs)
        self.family = family
        self._action = family._listed(X.shape[1])
        n_orbit = len(X) * len(self._action)
        self._orbit: list[tuple[slice, slice, Any]] | None = None
        if 8.0 * n_orbit * X.shape[1] <= cache_bytes / 4:
            self._orbit = list(family.iter_orbit(X))
        self._room = int(cache_bytes / (8.0 * n_orbit))
        # for each block of the orbit, its kernel values with the first rows, piece by piece
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
            scores = self._of_classes(values)
            reduce_scores(scores, self.y[rows], *costs, elements.start, best[rows], element[rows])
        return best, element

    def _values(self, number: int, block: Floats, A: Floats) -> Floats:
        """Give f at the rows of a block of the orbit: (rows * elements, n_functions)."""
        points = block.reshape(-1, block.shape[2])
        pieces = self._cache.setdefault(number, [])
        known = sum(piece.shape[1] for piece in pieces)
        room = min(self._room, self.n_rows)
        if known < room:
            pieces.append(self.kernel(points, self.rows[known:room]))
        values = np.zeros((len(points), self.n_functions))
        start = 0
        for piece in pieces:
            values += piece @ A[:, start : start + piece.shape[1]].T
            start += piece.shape[1]
        step = max(1, BLOCK_BYTES // (8 * len(points)))
        for first in range(start, self.n_rows, step):
            few = slice(first, first + step)
            values += self.kernel(points, self.rows[few]) @ A[:, few].T
        return values

    def _candidates(self, i: int, decide: Decider) -> Floats:
        return self._action.act(self.X[[i]], 0, len(self._action))[0]

    def keep(self, rows: NDArray[np.int64]) -> None:
        super().keep(rows)
        for pieces in self._cache.values():
            ends = np.cumsum([0] + [piece.shape[1] for piece in pieces])
            for k, piece in enumerate(pieces):
                here = rows[(rows >= ends[k]) & (rows < ends[k + 1])] - ends[k]
                pieces[k] = piece[:, here]

    def _transformed(self, example: NDArray, element: NDArray) -> Floats:
        out = np.empty((len(example), self.X.shape[1]))
        for s in np.unique(element):
            here = np.flatnonzero(element == s)
            out[here] = self._action.one(self.X[example[here]], s)
        return out


class ProposedColumns(KernelColumns):
    """Columns that a user's function proposes.

    Parameters
    ----------
    X, y, kernel, costs
        As in :class:`KernelColumns`.
    propose : callable
        ``propose(x, y, decide)`` gives transformed rows, (k, n_features), of a row whose class has
        number y; ``decide`` maps rows to scores of classes, (k, n_classes).
    """

    def __init__(
        self, X: Floats, y: NDArray, kernel: Kernel, costs: Costs, propose: Callable[..., Any]
    ):
        super().__init__(X, y, kernel, costs)
        self.propose = propose
        self._proposed: dict[tuple[int, int], Floats] = {}

    def _search(self, A: Floats) -> tuple[Floats, NDArray[np.int64]]:
        from invarlearn.oracles._reduce import reduce_scores

        decide = self._decider(A)
        self._proposed.clear()
        best = np.full((self.n_examples, self.costs.n_classes), -np.inf)
        number = np.zeros(best.shape, dtype=np.int64)
        for i in range(self.n_examples):
            here = slice(i, i + 1)
            moved = self._candidates(i, decide)
            scores = decide(moved)[None]
            which = np.zeros((1, self.costs.n_classes), dtype=np.int64)
            costs = (self.costs.cost, self.costs.scale)
            reduce_scores(scores, self.y[here], *costs, 0, best[here], which)
            number[i] = [self._number(i, moved[k]) for k in which[0]]
        return best, number

    def _candidates(self, i: int, decide: Decider) -> Floats:
        # the row as it is, is always among them
        moved = np.asarray(self.propose(self.X[i], int(self.y[i]), decide), dtype=float)
        fits = moved.ndim == 2 and moved.shape[1] == self.X.shape[1]
        if not fits or not np.isfinite(moved).all():
            raise ValueError(
                f"the oracle must give finite rows of shape (k, {self.X.shape[1]}); for sample {i} "
                f"it gave {'some that are not finite' if fits else moved.shape}"
            )
        return np.concatenate([self.X[[i]], moved])

    def _row_of(self, i: int, element: int, moved: Floats) -> int:
        return super()._row_of(i, self._number(i, moved), moved)

    def _number(self, i: int, row: Floats) -> int:
        """Name a proposed row: the same row of an example has the same number."""
        name = (i, hash(row.tobytes()))
        if name not in self._proposed:
            self._proposed[name] = row.copy()
        return name[1]

    def _losses_of_known(self, A: Floats) -> Floats:
        losses = self.null.copy()
        n = A.shape[1]
        if not n:
            return losses
        scores = self._of_classes(self._f(self.rows[:n], A))
        example = self.origin[:n, 0]
        own = self.y[example]
        margins = scores[np.arange(n), own][:, None] - scores
        values = self.costs.cost[own, :, 0] - self.costs.scale[own] * margins
        values[np.arange(n), own] = -np.inf
        np.maximum.at(losses, example, values.max(axis=1))
        return losses

    def _transformed(self, example: NDArray, element: NDArray) -> Floats:
        found = zip(example.tolist(), element.tolist(), strict=True)
        return np.array([self._proposed[key] for key in found])
