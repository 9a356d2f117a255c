"""Expansions that grow: solvers that start with few representers, and add others in rounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from sklearn import get_config

from invarlearn.solvers.base import Numbers, Run, Solution, Solver, register
from invarlearn.solvers.lbfgs import lbfgs_stage
from invarlearn.solvers.representer import Point, RepresenterProblem, SmoothingSchedule


@dataclass(frozen=True)
class _ExpansionGrowth(Solver[RepresenterProblem]):
    """Base class of solvers that grow the expansion; parameters as in :class:`SteepestGrowth`."""

    growth: float = 0.25
    inner_iter: int = 1000
    schedule: SmoothingSchedule = field(default_factory=SmoothingSchedule)

    def pick(
        self, left: NDArray, count: int, gradient: Callable[[], Numbers], rng: RandomState
    ) -> NDArray:
        """Return the indices of representers to add, (count,).

        Parameters
        ----------
        left : array of int
            Indices of the representers that are not in the expansion.
        count : int
        gradient : callable
            Returns the derivative of the objective along each representer, (n,).
        rng : RandomState
        """
        raise NotImplementedError

    def run(self, problem: RepresenterProblem, run: Run) -> Solution:
        n = len(problem)
        chosen = np.arange(problem.n_labelled)
        table = problem.gram.columns(chosen)
        beta, w = np.zeros(len(chosen)), np.zeros(problem.basis.shape[1])
        smoothing = self.schedule.coarsest
        history: list[tuple[float, float]] = []
        while True:
            smooth = problem if problem.is_smooth else problem.smoothed(smoothing)
            orthonormal, factor = _orthonormal(table, chosen)
            beta, at = self._minimise(smooth, orthonormal, beta, w, run)
            w = at.w
            c = np.zeros(n)
            c[chosen] = solve_triangular(factor, beta, trans="T", lower=True)
            at = replace(at, c=c, dual=at.values)
            slopes = smooth.slopes(at.u)
            objective, gap = at.objective(problem), problem.gap(at, slopes)
            history.append((objective, gap))
            run.report(len(history), objective, gap)
            converged = gap <= run.tol * problem.scale(objective)
            left = np.setdiff1d(np.arange(n), chosen, assume_unique=True)
            count = min(len(left), max(8, int(len(chosen) * self.growth)))
            exceeds_memory = (
                8.0 * n * (len(chosen) + count) > get_config()["working_memory"] * 2**20
            )
            # smooth less if most of the gap is due to the smoothing
            smooths_less = smooth.gap(at, slopes) < gap / 2 and smoothing > self.schedule.finest
            exhausted = len(history) == run.max_iter
            can_grow = count and not exceeds_memory
            if converged or exhausted or not (smooths_less or can_grow):
                break
            if smooths_less:
                smoothing *= self.schedule.factor
                continue
            gradient = partial(_gradient, problem, at, slopes)
            added = self.pick(left, count, gradient, run.rng)
            # the first orthonormal coordinates do not change when representers are added
            chosen = np.concatenate([chosen, added])
            table = np.column_stack([table, problem.gram.columns(added)])
            beta = np.concatenate([beta, np.zeros(count)])
        reason = "raise max_iter or tol"
        if exceeds_memory:
            reason = "raise sklearn.set_config(working_memory=...), or tol, or use solver='lbfgs'"
        reason = "" if converged else reason
        return Solution(c, objective, gap, len(history), converged, reason, w, tuple(history))

    def _minimise(
        self,
        smooth: RepresenterProblem,
        orthonormal: Numbers,
        beta: Numbers,
        w: Numbers,
        run: Run,
    ) -> tuple[Numbers, Point]:
        """Minimise over the expansion by L-BFGS in orthonormal coordinates.

        Parameters
        ----------
        smooth : RepresenterProblem
            The problem with smoothed losses.
        orthonormal : array of shape (n, n_chosen)
            Functionals of the orthonormal basis functions.
        beta : array of shape (n_chosen,)
            Initial coordinates.
        w : array of shape (n_basis,)
            Initial weights of unpenalised basis functions.
        run : Run

        Returns
        -------
        beta : array of shape (n_chosen,)
        at : Point
        """

        def lift(slopes: Numbers) -> Point:
            c = orthonormal.T @ slopes
            values = orthonormal @ c
            return Point(c, np.zeros(len(w)), c, values, values)

        values = orthonormal @ beta
        at = Point(beta, w, beta, values, values + smooth.basis @ w)
        inner = replace(run, max_iter=self.inner_iter, progress=None)
        at, _ = lbfgs_stage(smooth, at, inner, 0, lift)
        return at.c, at


@register
@dataclass(frozen=True)
class SteepestGrowth(_ExpansionGrowth):
    """Grow the expansion by the representers with the steepest descent of the objective.

    The expansion starts with the labelled rows. In each round the objective, with all its losses,
    is minimised over the coefficients of the expansion (Zhang et al., 2013, section 5). Then
    representers are added. The solver is for problems with many functionals, few of which matter.
    Iterations are rounds.

    Parameters
    ----------
    growth : float, default=0.25
        Number of representers to add in a round, relative to the size of the expansion; at least 8
        are added.
    inner_iter : int, default=1000
        Largest number of iterations of L-BFGS in a round.
    schedule : SmoothingSchedule
        How losses with a kink are smoothed.
    """

    name: ClassVar[str] = "steepest"
    solves: ClassVar[type] = RepresenterProblem

    def pick(
        self, left: NDArray, count: int, gradient: Callable[[], Numbers], rng: RandomState
    ) -> NDArray:
        steepness = np.abs(gradient())[left]
        return left[np.argsort(-steepness, kind="stable")[:count]]


@register
@dataclass(frozen=True)
class RandomGrowth(_ExpansionGrowth):
    """Grow the expansion by random representers, otherwise as :class:`SteepestGrowth`.

    Parameters
    ----------
    growth, inner_iter, schedule
        As in :class:`SteepestGrowth`.
    """

    name: ClassVar[str] = "random"
    solves: ClassVar[type] = RepresenterProblem

    def pick(
        self, left: NDArray, count: int, gradient: Callable[[], Numbers], rng: RandomState
    ) -> NDArray:
        return rng.choice(left, count, replace=False)


def _gradient(problem: RepresenterProblem, at: Point, slopes: Numbers) -> Numbers:
    """Return the derivative of the objective along each representer, (n,)."""
    return at.values + problem.gram.dot(slopes)


def _orthonormal(table: Numbers, chosen: NDArray) -> tuple[Numbers, Numbers]:
    """Orthonormalise the chosen representers.

    Parameters
    ----------
    table : array of shape (n, n_chosen)
        Columns of the Gram matrix.
    chosen : array of shape (n_chosen,)
        Indices of the columns.

    Returns
    -------
    orthonormal : array of shape (n, n_chosen)
        Functionals of the orthonormal basis functions.
    factor : array of shape (n_chosen, n_chosen)
        Cholesky factor of the Gram matrix of the chosen representers.
    """
    gram = table[chosen]
    # a relative jitter, for representers that are linearly dependent
    gram[np.diag_indices_from(gram)] += 1e-10 * np.trace(gram) / max(len(gram), 1)
    factor = cholesky(gram, lower=True)
    return solve_triangular(factor, table.T, lower=True).T, factor
