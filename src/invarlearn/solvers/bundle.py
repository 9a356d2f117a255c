"""Bundle method for regularised risks: minimise ``lam |w|^2 / 2 + risk(w)`` (Teo et al., 2007).

Each evaluation of the risk yields a cutting plane, a linear lower bound. The maximum of all planes
replaces the risk in a small quadratic program, whose dual value is a lower bound of the minimum. A
step is a line search from the best point so far to the solution of the quadratic program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from invarlearn._utils.parallel import limit_blas_threads
from invarlearn.oracles.base import Risk
from invarlearn.oracles.costs import Floats
from invarlearn.solvers.base import Requirement, Run, Solution, Solver, register
from invarlearn.solvers.worst_case import LINEAR, WorstCaseProblem


@register
@dataclass(frozen=True)
class Bundle(Solver[WorstCaseProblem]):
    """Bundle method with line search, for linear functions.

    Iterations are line searches.

    Parameters
    ----------
    patience : int, default=5
        Planes without dual weight for more steps than this are dropped.
    line_steps : int, default=10
        Largest number of evaluations of the risk in a line search.
    """

    name: ClassVar[str] = "bundle"
    solves: ClassVar[type] = WorstCaseProblem
    requires: ClassVar[tuple[Requirement, ...]] = (LINEAR,)

    patience: int = 5
    line_steps: int = 10

    @limit_blas_threads()
    def run(self, problem: WorstCaseProblem, run: Run) -> Solution:
        risk, lam, tol = problem.oracle, problem.lam, run.tol
        assert isinstance(risk, Risk)
        planes = Planes(risk.n_weights, lam, self.patience)

        def evaluate(w: Floats) -> tuple[float, Floats]:
            """Return the risk and a subgradient at w, and add the cutting plane."""
            losses, slope = risk.subgradient(w)
            value = float(risk.shares @ losses)
            planes.add(slope, value - float(slope @ w))
            return value, slope

        w = np.zeros(risk.n_weights) if run.start is None else run.start[0].astype(float)
        value, slope = evaluate(w)
        best = LowPoint(w, lam * float(w @ w) / 2 + value, slope)
        bound, gap = 0.0, best.objective
        history: list[tuple[float, float]] = []
        while len(history) < run.max_iter and gap > tol * best.objective:
            target, lower_bound = planes.solve(0.01 * gap)
            bound = max(bound, lower_bound)
            gap = best.objective - bound
            if gap > tol * best.objective:
                # planes are least accurate near the best point, between it and the target
                previous = best.objective
                direction = target - best.w
                best = _line_search(evaluate, best, direction, lam, 0.03 * gap, self.line_steps)
                if previous - best.objective > 0.01 * gap:
                    # without progress, dropped planes could be added again for ever
                    planes.drop_idle()
                gap = best.objective - bound
            history.append((best.objective, gap))
            run.report(len(history), best.objective, gap)
        converged = gap <= tol * best.objective
        reason = "" if converged else "raise max_iter, or scale the features"
        return Solution(
            best.w, best.objective, gap, len(history), converged, reason, history=tuple(history)
        )


@dataclass(frozen=True)
class LowPoint:
    """Weights w, (n_weights,), the objective at w, and a subgradient of the risk, (n_weights,)."""

    w: Floats
    objective: float
    slope: Floats


class Planes:
    """Cutting planes ``slope @ w + offset`` of a risk, and the quadratic program over them.

    The first plane is zero, because risks are not negative.

    Parameters
    ----------
    n_weights : int
    lam : float
    patience : int, default=5
        Planes without dual weight in more solutions than this may be dropped.

    Attributes
    ----------
    slopes : list of arrays of shape (n_weights,)
    offsets, alpha, idle : arrays of shape (n_planes,)
        Offsets of the planes, their dual weights, and the number of solutions since they had any.
    gram : array of shape (n_planes, n_planes)
        Inner products of the slopes.
    """

    def __init__(self, n_weights: int, lam: float, patience: int = 5):
        self.lam, self.patience = lam, patience
        self.slopes = [np.zeros(n_weights)]
        self.offsets = np.zeros(1)
        self.gram = np.zeros((1, 1))
        self.alpha = np.ones(1)
        self.idle = np.zeros(1, dtype=np.int64)

    def add(self, slope: Floats, offset: float) -> None:
        """Add a plane with a slope of shape (n_weights,)."""
        n = len(self.slopes)
        self.slopes.append(slope)
        gram = np.empty((n + 1, n + 1))
        gram[:n, :n] = self.gram
        gram[n] = gram[:, n] = [other @ slope for other in self.slopes]
        self.gram = gram
        self.offsets = np.append(self.offsets, offset)
        self.alpha = np.append(self.alpha, 0.0)
        self.idle = np.append(self.idle, 0)

    def drop_idle(self) -> None:
        """Drop planes without dual weight in more than ``patience`` solutions."""
        kept = np.flatnonzero(self.idle <= self.patience)
        if len(kept) == len(self.slopes):
            return
        self.slopes = [self.slopes[k] for k in kept]
        self.gram = self.gram[np.ix_(kept, kept)]
        for name in ("offsets", "alpha", "idle"):
            setattr(self, name, getattr(self, name)[kept])

    def solve(self, tol: float) -> tuple[Floats, float]:
        """Minimise ``lam |w|^2 / 2`` plus the highest plane.

        Parameters
        ----------
        tol : float
            Duality gap of the quadratic program.

        Returns
        -------
        w : array of shape (n_weights,)
        bound : float
            Lower bound of the minimum.
        """
        H = self.gram / self.lam
        self.alpha = on_simplex(H, self.offsets, self.alpha, tol)
        self.idle = np.where(self.alpha > 0, 0, self.idle + 1)
        self.idle[0] = 0  # the plane of zero is always valid
        w = np.zeros(len(self.slopes[0]))
        for weight, slope in zip(self.alpha, self.slopes, strict=True):
            if weight > 0:
                w -= weight / self.lam * slope
        return w, float(self.offsets @ self.alpha - self.alpha @ H @ self.alpha / 2)


def on_simplex(H: Floats, linear: Floats, start: Floats, tol: float, turns: int = 30) -> Floats:
    """Maximise ``linear @ a - a @ H @ a / 2`` over the simplex: ``a >= 0``, ``sum(a) = 1``.

    Steps on pairs of weights, which always improve the objective, alternate with Newton steps on
    all positive weights, which converge fast near the solution.

    Parameters
    ----------
    H : array of shape (n, n)
    linear : array of shape (n,)
    start : array of shape (n,)
        Initial weights.
    tol : float
        Stop at a duality gap of at most this.
    turns : int, default=30
        Largest number of alternations.

    Returns
    -------
    array of shape (n,)
    """
    from invarlearn.solvers._blocks import move_pairs

    alpha = start.copy()
    for _ in range(turns):
        scores = linear - H @ alpha
        move_pairs(H, alpha, scores)
        for _ in range(10):
            scores = linear - H @ alpha
            if alpha @ (scores.max() - scores) <= tol:
                return alpha
            candidate = _newton_step(H, alpha, scores)
            # twice the gain of the step, which is quadratic
            if (candidate - alpha) @ (scores + linear - H @ candidate) <= 0:
                break
            alpha = candidate
    return alpha


def _newton_step(H: Floats, alpha: Floats, scores: Floats) -> Floats:
    """Return the result of a Newton step on the positive weights, cut where one becomes zero."""
    top = int(scores.argmax())
    free = np.flatnonzero((alpha > 0) | (np.arange(len(alpha)) == top))
    n = len(free)
    system = np.ones((n + 1, n + 1))
    ridge = 1e-12 * max(float(H.diagonal().max()), 1e-300)
    system[:n, :n] = H[np.ix_(free, free)] + ridge * np.eye(n)
    system[n, n] = 0.0
    step = np.linalg.solve(system, np.append(scores[free], 0.0))[:n]
    falling = np.flatnonzero(step < 0)
    lengths_to_zero = alpha[free[falling]] / -step[falling]
    length = min(1.0, float(lengths_to_zero.min(initial=1.0)))
    result = alpha.copy()
    result[free] += length * step
    result[free[falling[lengths_to_zero == length]]] = 0.0
    result = np.maximum(result, 0.0)
    return result / result.sum()


def _line_search(
    evaluate: Callable[[Floats], tuple[float, Floats]],
    best: LowPoint,
    direction: Floats,
    lam: float,
    tol: float,
    max_steps: int,
) -> LowPoint:
    """Return a low point on a line, by cutting planes of the risk along the line.

    Two planes bound the risk from below, one on each side of the minimum. The next point minimises
    the highest of both plus ``lam |w|^2 / 2``, which is a known parabola along the line.

    Parameters
    ----------
    evaluate : callable
        Returns the risk and a subgradient at weights w, (n_weights,).
    best : LowPoint
    direction : array of shape (n_weights,)
    lam : float
    tol : float
        Stop when the objective is at most this much above the lower bound on the line.
    max_steps : int
        Largest number of evaluations.
    """
    square = lam * float(direction @ direction)
    linear = lam * float(best.w @ direction)
    constant = lam * float(best.w @ best.w) / 2
    if square == 0:
        return best
    # planes on the line, value + rate * t, on both sides of the minimum
    left = (best.objective - constant, float(best.slope @ direction))
    right: tuple[float, float] | None = None
    best_slope, best_objective, best_t = best.slope, best.objective, 0.0
    for _ in range(max_steps):
        t, lower_bound = _lowest_point(left, right, square, linear, constant)
        if best_objective - lower_bound <= tol and right is not None:
            break
        value, slope = evaluate(best.w + t * direction)
        objective = constant + linear * t + square * t * t / 2 + value
        rate = float(slope @ direction)
        if objective < best_objective:
            best_slope, best_objective, best_t = slope, objective, t
        plane = (value - rate * t, rate)
        if rate + linear + square * t > 0:
            right = plane
        else:
            left = plane
    return LowPoint(best.w + best_t * direction, best_objective, best_slope)


def _lowest_point(
    left: tuple[float, float],
    right: tuple[float, float] | None,
    square: float,
    linear: float,
    constant: float,
) -> tuple[float, float]:
    """Return the minimiser t > 0 of ``square t^2 / 2 + linear t + constant`` plus the higher plane.

    Returns
    -------
    t : float
        The point to evaluate next.
    lower_bound : float
        A lower bound of the objective on the line.
    """

    def height(t: float) -> float:
        planes = [p for p in (left, right) if p is not None]
        return constant + linear * t + square * t * t / 2 + max(a + b * t for a, b in planes)

    points = [-(linear + left[1]) / square]
    if right is None:
        # at least 1, the minimiser of all planes of the bundle
        return min(max(points[0], 1.0), 1e6) if points[0] > 0 else 1.0, height(points[0])
    points.append(-(linear + right[1]) / square)
    if right[1] != left[1]:
        points.append((left[0] - right[0]) / (right[1] - left[1]))
    t = min((p for p in points if p > 0), key=height, default=1.0)
    return t, height(t)
