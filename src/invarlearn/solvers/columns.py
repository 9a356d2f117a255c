"""Column generation: the dual over the columns that were worst at some time (paper 004, Alg. 1).

Minimises ``|f|^2 / 2 + sum of mass_i * loss_i(f)``, where ``loss_i`` is the largest ``<f, psi> +
delta`` over the columns of example i. The dual gives each example's mass to its columns,
``f = -sum of alpha psi``. A column with psi = 0 and the cost of a right answer is always there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from invarlearn.oracles.base import Floats, Risk
from invarlearn.oracles.orbits import Priced, Source

# Columns without weight are dropped after so many rounds.
PATIENCE = 6
# How many sweeps over the blocks a round has at most, between looks at the oracle.
SWEEPS = 400
# After so many sweeps, all weights are moved at once, in so many steps at most.
SLIDE_AFTER, SLIDE_STEPS = 10, 30


@dataclass
class Generated:
    """What column generation found.

    Attributes
    ----------
    A : array of shape (n_functions, n_rows)
        Coefficients of f at the rows of the source.
    objective, gap : float
        ``|f|^2 / 2 + sum of mass * loss``; the optimum is no more than the gap below it.
    n_iter : int
        Rounds: how often the oracle was asked.
    n_columns : int
        How many columns have weight.
    history : list of (objective, gap, columns)
        After each round.
    """

    A: Floats
    objective: float
    gap: float
    n_iter: int
    n_columns: int
    converged: bool
    why: str = ""
    history: list[tuple[float, float, int]] = field(default_factory=list)


class Working:
    """The columns in use, sorted by example, and the function they make."""

    def __init__(
        self, source: Source, mass: Floats, cache_bytes: float, rng: np.random.RandomState
    ):
        n = source.n_examples
        self.source, self.mass, self.rng = source, mass, rng
        self.cache_bytes = cache_bytes
        self.example = np.arange(n)
        self.row = np.full(n, -1)
        self.plus = np.full(n, -1)
        self.minus = np.full(n, -1)
        self.scale = np.zeros(n)
        self.delta = source.null.copy()
        self.alpha = mass.copy()
        self.idle = np.zeros(n, dtype=np.int64)
        self.F = np.zeros((source.n_functions, 0))
        self.A = np.zeros((source.n_functions, 0))
        self.K = np.zeros((0, 0))

    _COLUMNS = ("example", "row", "plus", "minus", "scale", "delta", "alpha", "idle")

    @property
    def squared_norm(self) -> float:
        """|f|^2."""
        return float((self.A * self.F).sum())

    @property
    def n_columns(self) -> int:
        """How many columns other than right answers have weight."""
        return int(((self.alpha > 0) & (self.row >= 0)).sum())

    @property
    def scores(self) -> Floats:
        """<f, psi> + delta of every column."""
        scores = self.delta.copy()
        real = np.flatnonzero(self.row >= 0)
        scores[real] += self.scale[real] * self.F[self.plus[real], self.row[real]]
        two = np.flatnonzero(self.minus >= 0)
        scores[two] -= self.scale[two] * self.F[self.minus[two], self.row[two]]
        return scores

    def highest(self) -> Floats:
        """Give the largest score of each example."""
        out = np.full(len(self.mass), -np.inf)
        np.maximum.at(out, self.example, self.scores)
        return out

    def add(self, priced: Priced) -> int:
        """Take in columns that are not there yet; give how many."""
        self._grow()
        there = set(zip(self.row.tolist(), self.plus.tolist(), strict=True))
        pairs = zip(priced.row.tolist(), priced.plus.tolist(), strict=True)
        new = np.array([pair not in there for pair in pairs], dtype=bool)
        count = int(new.sum())
        if not count:
            return 0
        self.example = np.concatenate([self.example, priced.example[new]])
        row = np.concatenate([self.row, priced.row[new]])
        # by example, and within it by row
        order = np.lexsort((row, self.example))
        self.example = self.example[order]
        for name in ("row", "plus", "minus", "scale", "delta"):
            joined = np.concatenate([getattr(self, name), getattr(priced, name)[new]])
            setattr(self, name, joined[order])
        self.alpha = np.concatenate([self.alpha, np.zeros(count)])[order]
        self.idle = np.concatenate([self.idle, np.zeros(count, dtype=np.int64)])[order]
        return count

    def _grow(self) -> None:
        """Make room for the rows that the source has made since."""
        old, n = self.A.shape[1], self.source.n_rows
        if n == old:
            return
        more = np.zeros((self.source.n_functions, n - old))
        new = self.source.gram(slice(old, n))
        self.F = np.concatenate([self.F, self.A @ new[:, :old].T], axis=1)
        self.A = np.concatenate([self.A, more], axis=1)
        if not self._fits(n):
            self.K = np.zeros((0, 0))
            return
        if len(self.K) < n:
            # with room to spare, so that it need not be moved each time
            side = n if not self._fits(3 * n // 2) else 3 * n // 2
            K = np.empty((side, side))
            known = self.K if len(self.K) >= old else self.source.gram(slice(0, old))
            K[:old, :old] = known[:old, :old]
            self.K = K
        self.K[old:n, :n], self.K[:old, old:n] = new, new[:, :old].T

    @property
    def _whole(self) -> bool:
        """Whether the kernel values of all rows are kept."""
        return len(self.K) >= self.A.shape[1]

    def _fits(self, n: int) -> bool:
        return 8.0 * n * n <= self.cache_bytes

    def prune(self) -> None:
        """Drop columns that had no weight for a while, and rows that no column is left for."""
        self.idle = np.where(self.alpha > 0, 0, self.idle + 1)
        stay = (self.row < 0) | (self.idle <= PATIENCE)
        if stay.all():
            return
        self._keep(stay)
        used = np.unique(self.row[self.row >= 0])
        if len(used) <= 0.8 * self.source.n_rows:
            self._keep_rows(used)

    def thin(self, n_rows: int, gap: float, tol: float) -> None:
        """Drop the rows of the smallest coefficients, a few at a time, and solve with the rest."""
        while True:
            size = np.sqrt((self.A**2).sum(axis=0))
            used = np.flatnonzero(size > 0)
            if len(used) <= n_rows:
                self._keep(np.isin(self.row, used) | (self.row < 0))
                self._keep_rows(used)
                return
            few = max(1, min(len(used) - n_rows, len(used) // 20))
            gone = np.isin(self.row, used[np.argsort(size[used], kind="stable")[:few]])
            # their weight goes back to right answers
            back = np.bincount(self.example[gone], self.alpha[gone], len(self.mass))
            null = self.row < 0
            self.alpha[null] += back[self.example[null]]
            self._keep(~gone)
            self.A[:] = 0.0
            self._put(self.A, np.arange(len(self.alpha)), self.alpha)
            self.refresh()
            self.solve(gap, tol)

    def _keep(self, columns: NDArray) -> None:
        for name in self._COLUMNS:
            setattr(self, name, getattr(self, name)[columns])

    def _keep_rows(self, used: NDArray) -> None:
        self.source.keep(used)
        renamed = np.full(self.A.shape[1] + 1, -1)
        renamed[used] = np.arange(len(used))
        self.row = renamed[self.row]
        self.A, self.F = self.A[:, used], self.F[:, used]
        if len(self.K):
            self.K[: len(used), : len(used)] = self.K[np.ix_(used, used)]

    def solve(self, gap: float, tol: float) -> None:
        """Improve the weights until the restricted gap is below ``gap``."""
        from invarlearn.solvers._blocks import sweep

        starts = np.searchsorted(self.example, np.arange(len(self.mass) + 1))
        columns = (self.row, self.plus, self.minus, self.scale, self.delta, self.alpha)
        several = np.flatnonzero(np.diff(starts) > 1)
        chunks = self._chunks(several, starts)
        # kernel rows that do not fit are made anew for each chunk: use them well
        rounds = 1 if len(chunks) == 1 else 10
        for turn in range(SWEEPS // rounds):
            if turn % SLIDE_AFTER == SLIDE_AFTER - 1:
                self.slide()
            total = 0.0
            for chunk in chunks:
                K, place = self._kernel_of(chunk, starts)
                for again in range(rounds):
                    order = self.rng.permutation(chunk)
                    left = sweep(K, place, order, starts, *columns, self.F, self.A, tol)
                    if again == 0:
                        total += left
            if total <= gap:
                return

    def slide(self) -> None:
        """Move all weights above zero at once, by conjugate gradients.

        Blocks alone crawl where the solution is far along a direction of many of them. A weight
        that falls to zero stays there, and the steps begin anew with the others.
        """
        if not self._whole:
            return
        n = self.A.shape[1]
        K = self.K[:n, :n]
        last: tuple[Floats, float] | None = None
        for _ in range(SLIDE_STEPS):
            free = np.flatnonzero(self.alpha > 0)
            example = self.example[free]
            count = np.bincount(example, minlength=len(self.mass))
            gain = self.scores[free]
            # twice: near the solution gains are far smaller than scores, and what rounding leaves
            # of their sum would move an example's weights away from its mass
            for _ in range(2):
                gain -= (np.bincount(example, gain, len(count)) / np.maximum(count, 1))[example]
            square = float(gain @ gain)
            if square == 0.0:
                return
            step = gain if last is None else gain + square / last[1] * last[0]
            change = np.zeros_like(self.A)
            self._put(change, free, step)
            values = change @ K
            bend = float((change * values).sum())
            falling = np.flatnonzero(step < 0)
            reach = self.alpha[free[falling]] / -step[falling]
            longest = float(reach.min(initial=np.inf))
            slope = float(gain @ step)
            length = slope / bend if bend * longest > slope else longest
            moved = np.maximum(self.alpha[free] + length * step, 0.0)
            moved[falling[reach <= length]] = 0.0
            self.alpha[free] = moved
            self.A += length * change
            self.F += length * values
            last = (step, square) if (moved > 0).all() else None

    def _put(self, A: Floats, columns: NDArray, weights: Floats) -> None:
        """Add what some columns of these weights are as coefficients of f."""
        real = self.row[columns] >= 0
        columns, amount = columns[real], weights[real] * self.scale[columns[real]]
        np.add.at(A, (self.plus[columns], self.row[columns]), -amount)
        two = self.minus[columns] >= 0
        np.add.at(A, (self.minus[columns][two], self.row[columns][two]), amount[two])

    def _chunks(self, examples: NDArray, starts: NDArray) -> list[NDArray]:
        n = self.A.shape[1]
        if self._whole or not len(examples):
            return [examples]
        # so many columns have their kernel rows in the cache
        room = max(1, int(self.cache_bytes / (8.0 * n)))
        count = np.cumsum(np.diff(starts)[examples])
        return [examples[count // room == k] for k in np.unique(count // room)]

    def _kernel_of(self, chunk: NDArray, starts: NDArray) -> tuple[Floats, NDArray[np.int64]]:
        """Give the kernel values of the rows of some examples, and where each row is."""
        n = self.A.shape[1]
        if self._whole:
            return self.K[:n, :n], np.arange(n)
        mine = np.concatenate([self.row[starts[i] : starts[i + 1]] for i in chunk])
        rows = np.unique(mine[mine >= 0])
        place = np.zeros(n, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        return self.source.gram(rows), place

    def refresh(self) -> None:
        """Compute the values of f at the rows anew: rounding errors add up."""
        n = self.A.shape[1]
        step = max(1, n if self._whole else int(self.cache_bytes / (8.0 * n)))
        for start in range(0, n, step):
            few = slice(start, min(start + step, n))
            K = self.K[few, :n] if self._whole else self.source.gram(few)
            self.F[:, few] = self.A @ K.T


def generate(
    source: Source,
    mass: Floats,
    tol: float = 1e-3,
    max_iter: int = 200,
    at_most: int = 2,
    keep: float = 1.0,
    cache_bytes: float = 5e8,
    rng: np.random.RandomState | None = None,
    progress: Callable[[int, float, float], None] | None = None,
) -> Generated:
    """Generate columns until the duality gap is below ``tol`` times the objective.

    Parameters
    ----------
    source : Source
    mass : array of shape (n_examples,)
        What an example's loss counts in the objective.
    tol : float
    max_iter : int
        Rounds.
    at_most : int
        Columns an example may get in a round.
    keep : float
        Which part of the rows with weight to keep in the end: those of the smallest weight are
        dropped, and weights are found anew for the rest. The gap is what it is after that.
    cache_bytes : float
        For kernel values between rows; beyond, they are computed again.
    rng : RandomState
        For the order of blocks.
    progress : callable, optional
        Called with round, objective and gap.

    Returns
    -------
    Generated
    """
    rng = np.random.RandomState(0) if rng is None else rng
    work = Working(source, np.asarray(mass, dtype=float), cache_bytes, rng)
    history: list[tuple[float, float, int]] = []
    why = ""
    total = float(work.mass.sum())
    n_iter = 0
    while True:
        # columns that matter for the gap
        slack = 0.5 * tol * (history[-1][0] if history else 1.0) / total
        priced, objective, gap = _priced(work, slack, at_most)
        history.append((objective, gap, work.n_columns))
        n_iter += 1
        if progress is not None:
            progress(n_iter, objective, gap)
        if gap <= tol * objective:
            break
        if n_iter >= max_iter:
            why = "raise max_iter"
            break
        added = work.add(priced)
        restricted = float(work.alpha @ (work.highest()[work.example] - work.scores))
        if not added and restricted <= 0.01 * tol * objective:
            why = "rounding errors leave no way to improve it: raise tol, or scale the features"
            break
        # the restricted problem as well as its columns deserve
        aim = max(0.1 * gap, 0.2 * tol * objective) if added else 0.1 * restricted
        work.solve(aim, 0.01 * aim / total)
        work.refresh()
        work.prune()
    converged = gap <= tol * objective
    # rows of columns that were found last, and are not needed any more
    source.keep(np.arange(work.A.shape[1]))
    if keep < 1:
        n_rows = int((np.abs(work.A).max(axis=0, initial=0.0) > 0).sum())
        aim = 0.2 * tol * objective
        work.thin(int(np.ceil(keep * n_rows)), aim, 0.01 * aim / total)
        _, objective, gap = _priced(work, np.inf, 1)
    return Generated(work.A, objective, gap, n_iter, work.n_columns, converged, why, history)


def _priced(work: Working, slack: float, at_most: int) -> tuple[Priced, float, float]:
    """Ask the oracle; give what it found, the objective and the gap."""
    known = work.highest()
    norm = work.squared_norm
    priced = work.source.price(work.A, known + slack, at_most)
    losses = np.maximum(priced.losses, known)
    objective = norm / 2 + float(work.mass @ losses)
    return priced, objective, objective - (float(work.delta @ work.alpha) - norm / 2)


class RiskColumns(Source):
    """Columns of a risk that is linear in weights: rows are the vectors psi themselves."""

    def __init__(self, risk: Risk):
        self.risk = risk
        self.n_examples = risk.n_examples
        self.n_functions = 1
        self.null = np.zeros(risk.n_examples)
        self.rows = np.empty((0, risk.n_weights))

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return len(self.rows)

    def price(self, A: Floats, known: Floats, at_most: int) -> Priced:
        w = A[0] @ self.rows
        losses = np.empty(self.n_examples)
        new: list[tuple[int, Floats, float]] = []
        for i in range(self.n_examples):
            worst = self.risk.worst(w, i)
            losses[i] = w @ worst.psi + worst.delta
            if losses[i] > known[i]:
                new.append((i, worst.psi, worst.delta))
        n, first = len(new), self.n_rows
        if n:
            self.rows = np.concatenate([self.rows, np.array([psi for _, psi, _ in new])])
        return Priced(
            losses,
            np.array([i for i, _, _ in new], dtype=np.int64),
            first + np.arange(n),
            np.zeros(n, dtype=np.int64),
            np.full(n, -1),
            np.ones(n),
            np.array([delta for _, _, delta in new]),
        )

    def gram(self, rows: NDArray | slice) -> Floats:
        return self.rows[rows] @ self.rows.T

    def keep(self, rows: NDArray[np.int64]) -> None:
        self.rows = self.rows[rows]
