"""Newton's method for representer problems."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lstsq

from invarlearn.solvers.base import Numbers, Run, Solution, Solver, register
from invarlearn.solvers.line_search import line_search
from invarlearn.solvers.representer import (
    Point,
    RepresenterProblem,
    SmoothingSchedule,
    solve_by_smoothing,
)


@register
@dataclass(frozen=True)
class Newton(Solver[RepresenterProblem]):
    """Newton's method, for Gram matrices that fit into memory.

    Each step factors the block of the Gram matrix whose functionals have a loss with positive
    curvature. With squared losses, the first step is the solution.

    Parameters
    ----------
    schedule : SmoothingSchedule
        How losses with a kink are smoothed.
    """

    name: ClassVar[str] = "newton"
    solves: ClassVar[type] = RepresenterProblem

    schedule: SmoothingSchedule = field(default_factory=SmoothingSchedule)

    def run(self, problem: RepresenterProblem, run: Run) -> Solution:
        problem.gram.matrix()  # cached, so that products use it too
        return solve_by_smoothing(problem, run, _newton_stage, self.schedule)


def _newton_stage(problem: RepresenterProblem, at: Point, run: Run, done: int) -> tuple[Point, int]:
    """Minimise a problem whose losses are smooth; return the solution and the number of steps."""
    max_iter = run.max_iter - done
    for steps in range(max_iter):
        slopes = problem.slopes(at.u)
        objective, gap = at.objective(problem), problem.gap(at, slopes)
        run.report(done + steps, objective, gap)
        if gap <= 0.1 * run.tol * problem.scale(objective):
            return at, steps
        direction = _newton_direction(problem, at, slopes)
        step = line_search(problem, at, direction)
        if step == 0:
            return at, steps
        at = at.moved(direction, step)
    return at, max_iter


def _newton_direction(problem: RepresenterProblem, at: Point, slopes: Numbers) -> Point:
    """Return the step to the minimum of the second-order model.

    With the curvatures D, the minimum fulfils ``c + slopes + D (u_new - u) = 0`` and ``B' c = 0``.
    Where D is zero, ``c = -slopes``. Elsewhere, with S the square root of D and ``c = S q``, the
    system is ``(I + S G S) q + S B dw = S r``.

    Parameters
    ----------
    problem : RepresenterProblem
    at : Point
    slopes : array of shape (n,)
        Derivatives of the losses at the point.
    """
    gram = problem.gram.matrix()
    curvatures = problem.curvatures(at.u)
    active = np.flatnonzero(curvatures > 0)
    root = np.sqrt(curvatures[active])
    c = -slopes
    c[active] = 0.0
    basis = problem.basis
    # values of f at active functionals that are due to the inactive ones
    fixed = gram[active] @ c
    r = at.u[active] - slopes[active] / curvatures[active] - fixed
    system = root[:, None] * gram[np.ix_(active, active)] * root
    system[np.diag_indices_from(system)] += 1.0
    factor = cho_factor(system, overwrite_a=True)
    scaled = root[:, None] * basis[active]
    inner = cho_solve(factor, np.column_stack([root * r - scaled @ at.w, scaled]))
    q, q_per_weight = inner[:, 0], inner[:, 1:]
    # B' c = 0 determines dw; of several solutions lstsq returns the smallest
    imbalance = scaled.T @ q + basis.T @ c
    has_system = len(active) and basis.shape[1]
    dw = lstsq(scaled.T @ q_per_weight, imbalance)[0] if has_system else 0 * at.w
    remainder = imbalance - scaled.T @ (q_per_weight @ dw)
    if np.abs(remainder).max(initial=0) > 1e-6 * np.abs(slopes).max():
        # the model has no curvature along a basis function: steepest descent in w alone
        dw, zeros = -basis.T @ slopes, np.zeros_like(c)
        return Point(zeros, dw, zeros, zeros, basis @ dw)
    c[active] = root * (q - q_per_weight @ dw)
    change = c - at.c
    values = gram @ change
    return Point(change, dw, values, values, values + basis @ dw)
