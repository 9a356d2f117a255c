"""L-BFGS for representer problems, in the metric of the RKHS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np

from invarlearn.solvers.base import Numbers, Run, Solution, Solver, register
from invarlearn.solvers.line_search import balance_basis, line_search
from invarlearn.solvers.representer import (
    Point,
    RepresenterProblem,
    SmoothingSchedule,
    solve_by_smoothing,
)


@register
@dataclass(frozen=True)
class LBFGS(Solver[RepresenterProblem]):
    """L-BFGS in the metric of the RKHS, for any number of functionals.

    The method differs from ``method="L-BFGS-B"`` of :func:`scipy.optimize.minimize` in four points.

    - Inner products are those of functions, ``a' G b`` for coefficients a and b and the Gram matrix
      G. The iterates are those of L-BFGS in orthonormal coordinates, which a Cholesky factor of G
      would provide, but G is not factored. In the Euclidean metric of the coefficients, the Hessian
      contains G twice, and is much worse conditioned.
    - An iteration needs one product with G. The line search needs none, because the functionals of
      f change linearly along a direction.
    - The unpenalised weights of the basis functions are optimised after each step.
    - The solver stops at a duality gap. Losses with a kink are smoothed in stages.

    With 162 functionals of two moons, this solver takes 14 iterations. SciPy takes 1,422 iterations
    to a slightly higher objective (``python benchmarks/run.py libraries``).

    Since G is used through products, it need not fit into memory.
    ``python benchmarks/functionals.py`` fits :class:`InvSVC` with all 1,205,000 derivatives of
    5,000 rows by this solver, and prints the time and the peak memory.

    Parameters
    ----------
    history : int, default=10
        Number of previous steps that approximate the Hessian.
    schedule : SmoothingSchedule
        How losses with a kink are smoothed.
    """

    name: ClassVar[str] = "lbfgs"
    solves: ClassVar[type] = RepresenterProblem

    history: int = 10
    schedule: SmoothingSchedule = field(default_factory=SmoothingSchedule)

    def run(self, problem: RepresenterProblem, run: Run) -> Solution:
        def stage(smooth: RepresenterProblem, at: Point, run: Run, done: int) -> tuple[Point, int]:
            return lbfgs_stage(smooth, at, run, done, smooth.lift, self.history)

        return solve_by_smoothing(problem, run, stage, self.schedule)


def lbfgs_stage(
    problem: RepresenterProblem,
    at: Point,
    run: Run,
    done: int,
    lift: Callable[[Numbers], Point],
    n_remembered: int = 10,
) -> tuple[Point, int]:
    """Minimise a problem whose losses are smooth.

    Parameters
    ----------
    problem : RepresenterProblem
    at : Point
        The initial point.
    run : Run
    done : int
        Number of iterations before this stage.
    lift : callable
        ``lift(slopes)`` returns the gradient of the losses as a :class:`Point`, for slopes of shape
        (n,).
    n_remembered : int, default=10
        Number of previous steps that approximate the Hessian.

    Returns
    -------
    at : Point
        The solution.
    n_iter : int
        Number of iterations of this stage.
    """
    # a metric for the weights of basis functions, which are not part of the norm
    scale = np.maximum(problem.weights() @ problem.basis**2, 1e-12)
    history: list[tuple[Point, Point, float]] = []
    dot = partial(_inner_product, scale)

    def gradient_at(point: Point) -> Point:
        slopes = problem.slopes(point.u)
        w = problem.basis.T @ slopes / scale
        f = point.moved(lift(slopes), 1.0)
        return Point(f.c, w, f.dual, f.values, f.values + problem.basis @ w)

    at = balance_basis(problem, at)
    gradient = gradient_at(at)
    max_iter = run.max_iter - done
    for n_iter in range(max_iter):
        objective = at.objective(problem)
        imbalance = np.abs(scale * gradient.w) @ np.maximum(np.abs(at.w), 1.0)
        gap = 0.5 * float(gradient.c @ gradient.dual) + float(imbalance)
        run.report(done + n_iter, objective, gap)
        if gap <= 0.1 * run.tol * problem.scale(objective):
            return at, n_iter
        direction = _descent_direction(gradient, history, dot)
        step = line_search(problem, at, direction, slack=0.1)
        if step == 0:
            if not history:
                return at, n_iter
            history.clear()
            continue
        previous, at = at, balance_basis(problem, at.moved(direction, step))
        previous_gradient, gradient = gradient, gradient_at(at)
        change = at.moved(previous, -1.0)
        gradient_change = gradient.moved(previous_gradient, -1.0)
        curvature = dot(change, gradient_change)
        if curvature > 1e-14 * dot(gradient_change, gradient_change):
            history.append((change, gradient_change, 1 / curvature))
            del history[:-n_remembered]
    return at, max_iter


def _inner_product(scale: Numbers, a: Point, b: Point) -> float:
    return float(a.c @ b.dual + scale * a.w @ b.w)


def _descent_direction(
    gradient: Point,
    history: list[tuple[Point, Point, float]],
    dot: Callable[[Point, Point], float],
) -> Point:
    """Return the direction of descent by the two-loop recursion.

    Parameters
    ----------
    gradient : Point
    history : list of (change, gradient_change, inverse_curvature)
        The previous steps, oldest first.
    dot : callable
        The inner product of two points.
    """
    direction = gradient.times(-1.0)
    factors = []
    for change, gradient_change, inverse in reversed(history):
        factor = inverse * dot(change, direction)
        factors.append(factor)
        direction = direction.moved(gradient_change, -factor)
    if history:
        _, gradient_change, inverse = history[-1]
        direction = direction.times(1 / (inverse * dot(gradient_change, gradient_change)))
    for (change, gradient_change, inverse), factor in zip(history, reversed(factors), strict=True):
        direction = direction.moved(change, factor - inverse * dot(gradient_change, direction))
    return direction
