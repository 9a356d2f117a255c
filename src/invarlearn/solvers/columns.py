"""Column generation for worst-case risks (Teo et al., 2007, Algorithm 1).

The objective is ``|f|^2 / 2`` plus the losses of the samples, each multiplied by its *mass* ``share
/ lam``. The loss of a sample is the largest ``<f, psi> + delta`` over its columns. The dual
variables alpha distribute the mass of each sample over its columns, and ``f = -sum(alpha psi)``.
The restricted dual contains the columns that were worst in an earlier round, and for each sample
the column of the correct label, with psi = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from invarlearn.oracles.base import ColumnSource, Priced
from invarlearn.oracles.costs import Floats
from invarlearn.solvers.base import Run, Solution, Solver, register
from invarlearn.solvers.column_table import ColumnTable
from invarlearn.solvers.worst_case import WorstCaseProblem


@register
@dataclass(frozen=True)
class ColumnGeneration(Solver[WorstCaseProblem]):
    """Column generation, for kernels and for any linear risk.

    In each round the oracle returns columns with large losses, and the dual is solved over all
    columns so far. The duality gap is computed in each round. Iterations are rounds.

    Parameters
    ----------
    keep : float, default=1.0
        Fraction of the rows with nonzero coefficients to keep. Rows with the smallest coefficients
        are dropped at the end, and the dual is solved again for the others. The gap is that of the
        final function.
    cache_bytes : float, default=5e8
        Memory for kernel values between rows. Values beyond it are computed again.
    at_most : int, default=2
        Largest number of columns that a sample gets in a round.
    patience : int, default=6
        Columns without weight for more rounds than this are dropped.
    sweeps : int, default=400
        Largest number of sweeps over the samples in a round.
    slide_after, slide_steps : int, default=10 and 30
        All weights are moved jointly after every ``slide_after`` sweeps, in at most ``slide_steps``
        steps of conjugate gradients.
    """

    name: ClassVar[str] = "columns"
    solves: ClassVar[type] = WorstCaseProblem

    keep: float = 1.0
    cache_bytes: float = 5e8
    at_most: int = 2
    patience: int = 6
    sweeps: int = 400
    slide_after: int = 10
    slide_steps: int = 30

    def run(self, problem: WorstCaseProblem, run: Run) -> Solution:
        lam, tol = problem.lam, run.tol
        source = problem.oracle.columns()
        dual = RestrictedDual(source, source.shares / lam, self, run.rng)
        total_mass = float(dual.mass.sum())
        # in units of the problem, whose objective is lam times the one here
        history: list[tuple[float, float]] = []
        reason, objective = "", 1.0
        while True:
            # smaller differences of losses do not matter for the gap
            slack = 0.5 * tol * objective / total_mass
            priced, objective, gap = dual.price(slack, self.at_most)
            history.append((objective * lam, gap * lam))
            run.report(len(history), *history[-1])
            if gap <= tol * objective:
                break
            if len(history) >= run.max_iter:
                reason = "raise max_iter"
                break
            n_added = dual.add(priced)
            restricted_gap = dual.restricted_gap()
            if not n_added and restricted_gap <= 0.01 * tol * objective:
                reason = (
                    "rounding errors prevent further progress: raise tol, or scale the features"
                )
                break
            # early rounds lack columns, so that a small gap of their dual is not worth its time
            target = max(0.1 * gap, 0.2 * tol * objective) if n_added else 0.1 * restricted_gap
            dual.solve(target, 0.01 * target / total_mass)
            dual.refresh()
            dual.prune()
        converged = gap <= tol * objective
        # drop the rows of columns that the last round returned but did not add
        source.keep(np.arange(dual.A.shape[1]))
        if self.keep < 1:
            n_rows = int((np.abs(dual.A).max(axis=0, initial=0.0) > 0).sum())
            target = 0.2 * tol * objective
            dual.thin(int(np.ceil(self.keep * n_rows)), target, 0.01 * target / total_mass)
            _, objective, gap = dual.price(np.inf, 1)
        return Solution(
            source.coefficients(dual.A),
            float(objective * lam),
            float(gap * lam),
            len(history),
            converged,
            reason,
            history=tuple(history),
        )


class RestrictedDual:
    """The dual restricted to the columns so far, and its function f.

    Parameters
    ----------
    source : ColumnSource
    mass : array of shape (n_examples,)
        Weight of each sample's loss relative to ``|f|^2 / 2``.
    settings : ColumnGeneration
    rng : RandomState
        Determines the order of samples in a sweep.

    Attributes
    ----------
    columns : ColumnTable
    A, F : arrays of shape (n_functions, n_rows)
        Coefficients and values of f at the rows.
    K : array of shape (n_allocated, n_allocated)
        Kernel values between rows, if all of them fit into the cache.
    """

    def __init__(
        self,
        source: ColumnSource,
        mass: Floats,
        settings: ColumnGeneration,
        rng: np.random.RandomState,
    ):
        self.source, self.mass, self.settings, self.rng = source, mass, settings, rng
        self.columns = ColumnTable.right_answers(source.null, mass)
        self.F = np.zeros((source.n_functions, 0))
        self.A = np.zeros((source.n_functions, 0))
        self.K = np.zeros((0, 0))

    @property
    def squared_norm(self) -> float:
        """The squared norm ``|f|^2``."""
        return float((self.A * self.F).sum())

    @property
    def scores(self) -> Floats:
        """The score ``<f, psi> + delta`` of every column: (n_columns,)."""
        columns = self.columns
        scores = columns.delta.copy()
        plus = np.flatnonzero(columns.row >= 0)
        scores[plus] += columns.scale[plus] * self.F[columns.plus[plus], columns.row[plus]]
        minus = np.flatnonzero(columns.minus >= 0)
        scores[minus] -= columns.scale[minus] * self.F[columns.minus[minus], columns.row[minus]]
        return scores

    def highest(self) -> Floats:
        """Return the largest score of each sample: (n_examples,)."""
        out = np.full(len(self.mass), -np.inf)
        np.maximum.at(out, self.columns.example, self.scores)
        return out

    def restricted_gap(self) -> float:
        """Return the duality gap of the restricted problem."""
        highest = self.highest()[self.columns.example]
        return float(self.columns.alpha @ (highest - self.scores))

    def price(self, slack: float, at_most: int) -> tuple[Priced, float, float]:
        """Return columns of the oracle that score above the columns so far, and the duality gap.

        Parameters
        ----------
        slack : float
            By how much a column must score above the highest score of its sample.
        at_most : int
            Largest number of columns of a sample.

        Returns
        -------
        priced : Priced
        objective, gap : float
            Objective and duality gap of the unrestricted problem.
        """
        highest, squared_norm = self.highest(), self.squared_norm
        priced = self.source.price(self.A, highest + slack, at_most)
        losses = np.maximum(priced.losses, highest)
        objective = squared_norm / 2 + float(self.mass @ losses)
        dual = float(self.columns.delta @ self.columns.alpha) - squared_norm / 2
        return priced, objective, objective - dual

    def add(self, priced: Priced) -> int:
        """Add the columns that are new, and return their number."""
        self._add_rows()
        columns = self.columns
        existing = set(zip(columns.row.tolist(), columns.plus.tolist(), strict=True))
        pairs = zip(priced.row.tolist(), priced.plus.tolist(), strict=True)
        new = np.array([pair not in existing for pair in pairs], dtype=bool)
        if new.any():
            self.columns = columns.merged(priced, new)
        return int(new.sum())

    def _add_rows(self) -> None:
        """Extend A, F and K by the rows that the source has created since the last call."""
        old, n = self.A.shape[1], self.source.n_rows
        if n == old:
            return
        zeros = np.zeros((self.source.n_functions, n - old))
        new = self.source.gram(slice(old, n))
        self.F = np.concatenate([self.F, self.A @ new[:, :old].T], axis=1)
        self.A = np.concatenate([self.A, zeros], axis=1)
        if not self._fits_into_cache(n):
            self.K = np.zeros((0, 0))
            return
        if len(self.K) < n:
            # allocate more than needed, so that K is not copied in each round
            side = n if not self._fits_into_cache(3 * n // 2) else 3 * n // 2
            K = np.empty((side, side))
            previous = self.K if len(self.K) >= old else self.source.gram(slice(0, old))
            K[:old, :old] = previous[:old, :old]
            self.K = K
        self.K[old:n, :n], self.K[:old, old:n] = new, new[:, :old].T

    @property
    def _has_full_gram(self) -> bool:
        """Whether K contains the kernel values of all rows."""
        return len(self.K) >= self.A.shape[1]

    def _fits_into_cache(self, n: int) -> bool:
        return 8.0 * n * n <= self.settings.cache_bytes

    def prune(self) -> None:
        """Drop columns that are idle for more than ``patience`` rounds, and unused rows."""
        columns = self.columns
        columns.idle = np.where(columns.alpha > 0, 0, columns.idle + 1)
        kept = (columns.row < 0) | (columns.idle <= self.settings.patience)
        if kept.all():
            return
        self.columns = columns = columns.take(kept)
        used = np.unique(columns.row[columns.row >= 0])
        if len(used) <= 0.8 * self.source.n_rows:
            self._keep_rows(used)

    def thin(self, n_rows: int, gap: float, tol: float) -> None:
        """Drop rows with the smallest coefficients, up to 5 % at a time, and solve in between.

        Parameters
        ----------
        n_rows : int
            Number of rows to keep.
        gap, tol : float
            As in :meth:`solve`.
        """
        while True:
            size = np.sqrt((self.A**2).sum(axis=0))
            used = np.flatnonzero(size > 0)
            columns = self.columns
            if len(used) <= n_rows:
                self.columns = columns.take(np.isin(columns.row, used) | (columns.row < 0))
                self._keep_rows(used)
                return
            count = max(1, min(len(used) - n_rows, len(used) // 20))
            smallest = used[np.argsort(size[used], kind="stable")[:count]]
            dropped = np.isin(columns.row, smallest)
            # the columns of the correct labels get their weight
            freed = np.bincount(columns.example[dropped], columns.alpha[dropped], len(self.mass))
            null = columns.row < 0
            columns.alpha[null] += freed[columns.example[null]]
            self.columns = columns.take(~dropped)
            self.set_weights(self.columns.alpha)
            self.solve(gap, tol)

    def set_weights(self, alpha: Floats) -> None:
        """Set the weights of all columns, (n_columns,), and compute f from them."""
        self.columns.alpha = alpha
        self.A[:] = 0.0
        self._add_coefficients(self.A, np.arange(len(alpha)), alpha)
        self.refresh()

    def _keep_rows(self, used: NDArray) -> None:
        """Drop all rows but those with these indices."""
        self.source.keep(used)
        # the last entry maps -1, the correct label, to itself
        new_index = np.full(self.A.shape[1] + 1, -1)
        new_index[used] = np.arange(len(used))
        self.columns.row = new_index[self.columns.row]
        self.A, self.F = self.A[:, used], self.F[:, used]
        if len(self.K):
            self.K[: len(used), : len(used)] = self.K[np.ix_(used, used)]

    def solve(self, gap: float, tol: float) -> None:
        """Optimise the weights by sweeps over the samples.

        Parameters
        ----------
        gap : float
            Stop when the restricted gap is at most this large.
        tol : float
            Samples whose scores differ by at most this much are skipped.
        """
        from invarlearn.solvers._blocks import Blocks, DualFunctions, KernelRows, sweep

        table, settings = self.columns, self.settings
        starts = np.searchsorted(table.example, np.arange(len(self.mass) + 1))
        arrays = table.row, table.plus, table.minus, table.scale, table.delta, table.alpha
        columns, functions = Blocks(starts, *arrays), DualFunctions(self.F, self.A)
        several = np.flatnonzero(np.diff(starts) > 1)
        chunks = self._chunks(several, starts)
        # kernel values of a chunk are computed again if there are several: sweep more often
        n_repeats = 1 if len(chunks) == 1 else 10
        for i in range(settings.sweeps // n_repeats):
            if i % settings.slide_after == settings.slide_after - 1:
                self.slide()
            restricted_gap = 0.0
            for chunk in chunks:
                kernel = KernelRows(*self._kernel_rows(chunk, starts))
                for repeat in range(n_repeats):
                    order = self.rng.permutation(chunk)
                    chunk_gap = sweep(kernel, order, columns, functions, tol)
                    if repeat == 0:
                        restricted_gap += chunk_gap
            if restricted_gap <= gap:
                return

    def slide(self) -> None:
        """Optimise all positive weights jointly, by conjugate gradients.

        Optimising one sample after the other is slow along directions that involve many samples. A
        weight that reaches zero stays there, and conjugate gradients restart with the others.
        """
        if not self._has_full_gram:
            return
        n = self.A.shape[1]
        K, columns = self.K[:n, :n], self.columns
        previous: tuple[Floats, float] | None = None
        for _ in range(self.settings.slide_steps):
            free = np.flatnonzero(columns.alpha > 0)
            example = columns.example[free]
            count = np.bincount(example, minlength=len(self.mass))
            gradient = self.scores[free]
            # project on changes that keep the mass of each sample; twice, because the projection is
            # far smaller than the scores near the solution, and rounding errors would change masses
            for _ in range(2):
                sums = np.bincount(example, gradient, len(count))
                gradient -= (sums / np.maximum(count, 1))[example]
            squared_norm = float(gradient @ gradient)
            if squared_norm == 0.0:
                return
            direction = gradient
            if previous is not None:
                direction = gradient + squared_norm / previous[1] * previous[0]
            change = np.zeros_like(self.A)
            self._add_coefficients(change, free, direction)
            values = change @ K
            curvature = float((change * values).sum())
            falling = np.flatnonzero(direction < 0)
            steps_to_zero = columns.alpha[free[falling]] / -direction[falling]
            largest_step = float(steps_to_zero.min(initial=np.inf))
            slope = float(gradient @ direction)
            step = slope / curvature if curvature * largest_step > slope else largest_step
            alpha = np.maximum(columns.alpha[free] + step * direction, 0.0)
            alpha[falling[steps_to_zero <= step]] = 0.0
            columns.alpha[free] = alpha
            self.A += step * change
            self.F += step * values
            previous = (direction, squared_norm) if (alpha > 0).all() else None

    def _add_coefficients(self, A: Floats, which: NDArray, weights: Floats) -> None:
        """Add the coefficients of ``-sum(weights psi)`` over columns to A, in place.

        Parameters
        ----------
        A : array of shape (n_functions, n_rows)
        which : array of shape (n,)
            Indices of columns.
        weights : array of shape (n,)
        """
        has_row = self.columns.row[which] >= 0
        columns = self.columns.take(which[has_row])
        amount = weights[has_row] * columns.scale
        np.add.at(A, (columns.plus, columns.row), -amount)
        minus = columns.minus >= 0
        np.add.at(A, (columns.minus[minus], columns.row[minus]), amount[minus])

    def _chunks(self, examples: NDArray, starts: NDArray) -> list[NDArray]:
        """Divide samples into chunks whose kernel values fit into the cache."""
        n = self.A.shape[1]
        if self._has_full_gram or not len(examples):
            return [examples]
        n_columns = max(1, int(self.settings.cache_bytes / (8.0 * n)))
        count = np.cumsum(np.diff(starts)[examples])
        return [examples[count // n_columns == k] for k in np.unique(count // n_columns)]

    def _kernel_rows(self, chunk: NDArray, starts: NDArray) -> tuple[Floats, NDArray[np.int64]]:
        """Return the kernel values of the rows of samples, and the place of each row in them."""
        n = self.A.shape[1]
        if self._has_full_gram:
            return self.K[:n, :n], np.arange(n)
        all_rows = np.concatenate([self.columns.row[starts[i] : starts[i + 1]] for i in chunk])
        rows = np.unique(all_rows[all_rows >= 0])
        place = np.zeros(n, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        return self.source.gram(rows), place

    def refresh(self) -> None:
        """Compute the values of f at the rows from its coefficients, to remove rounding errors."""
        n = self.A.shape[1]
        step = max(1, n if self._has_full_gram else int(self.settings.cache_bytes / (8.0 * n)))
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            K = self.K[rows, :n] if self._has_full_gram else self.source.gram(rows)
            self.F[:, rows] = self.A @ K.T
