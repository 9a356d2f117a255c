"""Minimise with an expansion that grows: few representers first (paper 002, section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from sklearn import get_config

from invarlearn.solvers.representer import (
    COARSE,
    FINER,
    Numbers,
    Point,
    Problem,
    Solution,
    lbfgs_stage,
)


@dataclass(frozen=True)
class Within(Problem):
    """The problem with f in a subspace, by orthonormal coordinates there.

    Attributes
    ----------
    orthonormal : array of shape (n, k)
        The functionals of orthonormal functions.
    """

    orthonormal: Numbers = field(default_factory=lambda: np.empty((0, 0)))

    def lifted(self, slopes: Numbers) -> Point:
        c = self.orthonormal.T @ slopes
        values = self.orthonormal @ c
        return Point(c, np.zeros(self.basis.shape[1]), c, values, values)


def grow(
    problem: Problem,
    columns: Callable[[NDArray], Numbers],
    n_kept: int,
    strategy: str,
    rng: np.random.RandomState,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> Solution:
    """Solve with an expansion that grows: few representers first, the others as they are needed.

    In each round the objective, with all its losses, is minimised over the coefficients chosen so
    far (paper 002, section 5); then a quarter as many again are added. Worth it when there are many
    functionals and few of them matter.

    Parameters
    ----------
    problem : Problem
    columns : callable
        ``columns(indices)`` gives columns of the Gram matrix.
    n_kept : int
        So many representers, the first ones, are there from the beginning.
    strategy : {"steepest", "random"}
        Add those along which the objective falls fastest, or any.
    rng : RandomState
    tol : float
        As in :func:`newton`.
    max_iter : int
        Rounds.
    """
    n = len(problem)
    chosen = np.arange(n_kept)
    table = columns(chosen)
    beta, w = np.zeros(n_kept), np.zeros(problem.basis.shape[1])
    smoothing = COARSE
    for done in range(1, max_iter + 1):
        smooth = problem if problem.is_smooth else problem.rounded(smoothing)
        orthonormal, factor = _orthonormal(table, chosen)
        values = orthonormal @ beta
        at = Point(beta, w, beta, values, values + problem.basis @ w)
        within = Within(problem.product, problem.basis, smooth.terms, orthonormal=orthonormal)
        at, _ = lbfgs_stage(within, at, tol, 1000)
        beta, w = at.c, at.w
        c = np.zeros(n)
        c[chosen] = solve_triangular(factor, beta, trans="T", lower=True)
        at = Point(c, w, at.values, at.values, at.u)
        slopes = smooth.slopes(at.u)
        objective, gap = at.objective(problem), problem.gap(at, slopes)
        converged = gap <= tol * max(1.0, abs(objective))
        left = np.setdiff1d(np.arange(n), chosen, assume_unique=True)
        many = min(len(left), max(8, len(chosen) // 4))
        full = 8.0 * n * (len(chosen) + many) > get_config()["working_memory"] * 2**20
        # round more finely when that is what keeps the gap open
        fine = smooth.gap(at, slopes) < gap / 2 and smoothing > 1e-12
        if converged or done == max_iter or (not fine and (not many or full)):
            break
        if fine:
            smoothing *= FINER
            continue
        if strategy == "steepest":
            steep = np.abs(at.values + problem.product(slopes))[left]
            more = left[np.argsort(-steep, kind="stable")[:many]]
        else:
            more = rng.choice(left, many, replace=False)
        # in the new coordinates the old ones come first, unchanged
        chosen = np.concatenate([chosen, more])
        table = np.column_stack([table, columns(more)])
        beta = np.concatenate([beta, np.zeros(many)])
    found = Solution(c, w, objective, gap, done, converged)
    if full:
        found.why = "raise sklearn.set_config(working_memory=...), or tol, or use solver='lbfgs'"
    return found


def _orthonormal(table: Numbers, chosen: NDArray) -> tuple[Numbers, Numbers]:
    """Give coordinates in which chosen representers are orthonormal, and the factor that makes so.

    Jitter is far below what the losses can see.
    """
    gram = table[chosen]
    gram[np.diag_indices_from(gram)] += 1e-10 * np.trace(gram) / max(len(gram), 1)
    factor = cholesky(gram, lower=True)
    return solve_triangular(factor, table.T, lower=True).T, factor
