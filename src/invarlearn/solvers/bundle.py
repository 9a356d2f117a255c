"""Bundle method for regularised risks: minimise ``lam |w|^2 / 2 + risk(w)``.

Every look at the risk gives a plane below it. The dual of the problem with planes instead of the
risk is a small quadratic program; its value is a lower bound, so the gap is certified. Each step
goes to the lowest point on the line from the best point to the solution with planes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from invarlearn.oracles.base import Floats, Risk
from invarlearn.transforms._threads import one_thread_of_blas

# Planes without weight are dropped after so many steps.
PATIENCE = 5


@dataclass
class Bundled:
    """What the bundle method found.

    Attributes
    ----------
    w : array of shape (n_weights,)
    objective, gap : float
        ``lam |w|^2 / 2 + risk``; the optimum is no more than the gap below it.
    n_iter, n_passes : int
        Steps, and passes over the data.
    """

    w: Floats
    objective: float
    gap: float
    n_iter: int
    n_passes: int
    converged: bool
    history: list[tuple[float, float, int]] = field(default_factory=list)


class Planes:
    """Planes below the risk, ``slope @ w + offset``, and the program over them.

    The first plane is zero, since risks are not negative.
    """

    def __init__(self, n_weights: int, lam: float):
        self.lam = lam
        self.slopes = [np.zeros(n_weights)]
        self.offsets = np.zeros(1)
        self.gram = np.zeros((1, 1))
        self.alpha = np.ones(1)
        self.idle = np.zeros(1, dtype=np.int64)

    def add(self, slope: Floats, offset: float) -> None:
        """Take in a plane."""
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
        """Forget planes that have had no weight for a while."""
        stay = np.flatnonzero(self.idle <= PATIENCE)
        if len(stay) == len(self.slopes):
            return
        self.slopes = [self.slopes[k] for k in stay]
        self.gram = self.gram[np.ix_(stay, stay)]
        for name in ("offsets", "alpha", "idle"):
            setattr(self, name, getattr(self, name)[stay])

    def solve(self, tol: float) -> tuple[Floats, float]:
        """Give the minimiser of ``lam |w|^2 / 2 + highest plane``, and a lower bound."""
        H = self.gram / self.lam
        self.alpha = on_simplex(H, self.offsets, self.alpha, tol)
        self.idle = np.where(self.alpha > 0, 0, self.idle + 1)
        self.idle[0] = 0  # the risk is never negative, whatever else is known
        w = np.zeros(len(self.slopes[0]))
        for weight, slope in zip(self.alpha, self.slopes, strict=True):
            if weight > 0:
                w -= weight / self.lam * slope
        return w, float(self.offsets @ self.alpha - self.alpha @ H @ self.alpha / 2)


def on_simplex(H: Floats, linear: Floats, start: Floats, tol: float, turns: int = 30) -> Floats:
    """Maximise ``linear @ a - a @ H @ a / 2`` over weights that are positive and add up to one.

    Pairs of weights are moved, which always gains something, and then all weights above zero at
    once, which gains much near the solution; until the gap is at most ``tol``.
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
            moved = _newton_step(H, alpha, scores)
            # half the sum of both scores along a step is what it gains
            if (moved - alpha) @ (scores + linear - H @ moved) <= 0:
                break
            alpha = moved
    return alpha


def _newton_step(H: Floats, alpha: Floats, scores: Floats) -> Floats:
    """Go to the best weights with the same ones at zero, or until the first falls to zero."""
    top = int(scores.argmax())
    free = np.flatnonzero((alpha > 0) | (np.arange(len(alpha)) == top))
    n = len(free)
    system = np.ones((n + 1, n + 1))
    ridge = 1e-12 * max(float(H.diagonal().max()), 1e-300)
    system[:n, :n] = H[np.ix_(free, free)] + ridge * np.eye(n)
    system[n, n] = 0.0
    step = np.linalg.solve(system, np.append(scores[free], 0.0))[:n]
    falling = np.flatnonzero(step < 0)
    reach = alpha[free[falling]] / -step[falling]
    length = min(1.0, float(reach.min(initial=1.0)))
    moved = alpha.copy()
    moved[free] += length * step
    moved[free[falling[reach == length]]] = 0.0
    moved = np.maximum(moved, 0.0)
    return moved / moved.sum()


@one_thread_of_blas()
def bundle(
    risk: Risk,
    lam: float,
    tol: float = 1e-3,
    max_iter: int = 1000,
    start: Floats | None = None,
    progress: Callable[[int, float, float], None] | None = None,
) -> Bundled:
    """Minimise ``lam |w|^2 / 2 + risk(w)`` until the gap is below ``tol`` times it.

    Parameters
    ----------
    risk : Risk
    lam : float
    tol : float
    max_iter : int
    start : array of shape (n_weights,), optional
        Where to begin; at zero if not given.
    progress : callable, optional
        Called with step, objective and gap.

    Returns
    -------
    Bundled
    """
    planes = Planes(risk.n_weights, lam)
    n_passes = 0

    def look(w: Floats) -> tuple[float, Floats]:
        """Give the risk and its slope at w, and keep the plane."""
        nonlocal n_passes
        losses, slope = risk.subgradient(w)
        value = float(risk.shares @ losses)
        planes.add(slope, value - float(slope @ w))
        n_passes += 1
        return value, slope

    best = np.zeros(risk.n_weights) if start is None else np.asarray(start, dtype=float).copy()
    value, slope = look(best)
    objective = lam * float(best @ best) / 2 + value
    bound, gap = 0.0, objective
    history: list[tuple[float, float, int]] = []
    n_iter = 0
    while n_iter < max_iter and gap > tol * objective:
        n_iter += 1
        target, lower = planes.solve(0.01 * gap)
        bound = max(bound, lower)
        gap = objective - bound
        if gap > tol * objective:
            # where the planes are most wrong is near the best point, on the way to the target
            before = objective
            best, objective, slope = _line_search(
                look, best, objective, slope, target - best, lam, 0.03 * gap
            )
            if before - objective > 0.01 * gap:
                # only then: without progress, planes could come and go for ever
                planes.drop_idle()
            gap = objective - bound
        history.append((objective, gap, n_passes))
        if progress is not None:
            progress(n_iter, objective, gap)
    return Bundled(best, objective, gap, n_iter, n_passes, gap <= tol * objective, history)


def _line_search(
    look: Callable[[Floats], tuple[float, Floats]],
    best: Floats,
    objective: float,
    slope: Floats,
    direction: Floats,
    lam: float,
    tol: float,
    most: int = 10,
) -> tuple[Floats, float, Floats]:
    """Find a low point on the line, by planes on it alone: each look adds one.

    ``lam |w|^2 / 2`` is known along the line, so the lowest point above two planes is where they
    meet, or where one of them is lowest.
    """
    square = lam * float(direction @ direction)
    linear = lam * float(best @ direction)
    constant = lam * float(best @ best) / 2
    if square == 0:
        return best, objective, slope
    # planes on the line, value + rate * t, and the interval that holds the lowest point
    left = (objective - constant, float(slope @ direction))
    right: tuple[float, float] | None = None
    found, lowest, at = slope, objective, 0.0
    for _ in range(most):
        t, expected = _lowest(left, right, square, linear, constant)
        if lowest - expected <= tol and right is not None:
            break
        w = best + t * direction
        value, here = look(w)
        total = constant + linear * t + square * t * t / 2 + value
        rate = float(here @ direction)
        if total < lowest:
            found, lowest, at = here, total, t
        plane = (value - rate * t, rate)
        if rate + linear + square * t > 0:
            right = plane
        else:
            left = plane
    return best + at * direction, lowest, found


def _lowest(
    left: tuple[float, float],
    right: tuple[float, float] | None,
    square: float,
    linear: float,
    constant: float,
) -> tuple[float, float]:
    """Give the lowest point of ``square t^2 / 2 + linear t + constant + higher plane``."""

    def height(t: float) -> float:
        planes = [p for p in (left, right) if p is not None]
        return constant + linear * t + square * t * t / 2 + max(a + b * t for a, b in planes)

    points = [-(linear + left[1]) / square]
    if right is None:
        # the target itself first: it is where the known planes are lowest
        return min(max(points[0], 1.0), 1e6) if points[0] > 0 else 1.0, height(points[0])
    points.append(-(linear + right[1]) / square)
    if right[1] != left[1]:
        points.append((left[0] - right[0]) / (right[1] - left[1]))
    t = min((p for p in points if p > 0), key=height, default=1.0)
    return t, height(t)
