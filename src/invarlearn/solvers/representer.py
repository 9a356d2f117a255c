"""Minimise half the squared norm of f plus convex losses of functionals of f (paper 002).

By Theorem 7, f is a sum of the representers of all functionals that have a loss, ``G c`` are the
functionals of that sum for the Gram matrix G, and a few basis functions with weights w go
unpenalised: ``u = G c + B w``. Minimised is ``c' G c / 2`` plus the losses of u.

All solvers work in the geometry of the space of functions, not in that of the coefficients, in
which the problem is hopelessly conditioned. There the gradient has coefficients ``c + slopes``, and
half its squared norm is the duality gap (for losses without a kink).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, lstsq
from scipy.optimize import brentq
from sklearn.svm import SVC

from invarlearn.losses import Hinge, Loss

Numbers = NDArray[np.float64]

# Kinks are first rounded to this width, then ever more finely.
COARSE, FINER = 0.5, 0.25

# Up to so many functionals in all, a factorisation in every step is the fastest way.
FACTORED = 1500


@dataclass(frozen=True)
class Term:
    """A loss of some of the functionals.

    Attributes
    ----------
    where : slice
        Which functionals.
    loss : Loss
    target : array of the same length, or float
    weight : array of the same length, or float
    """

    where: slice
    loss: Loss
    target: Any
    weight: Any

    def rounded(self, smoothing: float) -> Term:
        """Round the loss off."""
        return Term(self.where, self.loss.rounded(smoothing), self.target, self.weight)


@dataclass(frozen=True)
class Problem:
    """What is minimised.

    Attributes
    ----------
    product : callable
        ``product(c)`` gives the functionals of a sum of representers, G c.
    basis : array of shape (n, p)
        The functionals of the basis functions, B.
    terms : sequence of Term
        Together they cover all functionals, each once.
    gram : array of shape (n, n), optional
        G itself, for solvers that factor it.
    """

    product: Callable[[Numbers], Numbers]
    basis: Numbers
    terms: Sequence[Term]
    gram: Numbers | None = None

    @classmethod
    def dense(cls, gram: Numbers, basis: Numbers, terms: Sequence[Term]) -> Problem:
        """Make a problem whose Gram matrix is in memory."""
        return cls(gram.__matmul__, basis, terms, gram)

    def __len__(self) -> int:
        return len(self.basis)

    def lifted(self, slopes: Numbers) -> Point:
        """Give the function that has these slopes as coefficients: a gradient, but for f itself."""
        values = self.product(slopes)
        w = np.zeros(self.basis.shape[1])
        return Point(slopes, w, values, values, values)

    def loss(self, u: Numbers) -> float:
        """Give the sum of losses."""
        return float(sum((t.weight * t.loss.value(u[t.where], t.target)).sum() for t in self.terms))

    def slopes(self, u: Numbers) -> Numbers:
        """Give the derivative of each functional's loss, (n,)."""
        return self._each(lambda t: t.weight * t.loss.slope(u[t.where], t.target))

    def curvatures(self, u: Numbers) -> Numbers:
        """Give the second derivatives, (n,)."""
        return self._each(lambda t: t.weight * t.loss.curvature(u[t.where], t.target))

    def weights(self) -> Numbers:
        """Give the weight of each functional's loss, (n,)."""
        return self._each(lambda t: t.weight)

    def _each(self, of: Callable[[Term], Numbers]) -> Numbers:
        out = np.empty(len(self))
        for term in self.terms:
            out[term.where] = of(term)
        return out

    @property
    def is_smooth(self) -> bool:
        """Whether no loss has a kink."""
        return all(term.loss.is_smooth for term in self.terms)

    def rounded(self, smoothing: float) -> Problem:
        """Round off all kinks."""
        terms = [term.rounded(smoothing) for term in self.terms]
        return Problem(self.product, self.basis, terms, self.gram)

    def gap(self, at: Point, slopes: Numbers) -> float:
        """Give the duality gap at a point, with minus ``slopes`` as the dual variables.

        Half the squared distance of f to the sum that the dual variables make, how far the slopes
        are from those of the losses (Fenchel and Young), and how far basis functions are from
        balance.
        """
        apart = at.c + slopes
        gap = 0.5 * max(float(apart @ self.product(apart)), 0.0)
        u = at.u
        for t in self.terms:
            weight = np.broadcast_to(t.weight, u[t.where].shape)
            s = np.divide(slopes[t.where], weight, out=np.zeros(len(weight)), where=weight > 0)
            value = t.loss.value(u[t.where], t.target) + t.loss.conjugate(s, t.target)
            gap += float((weight * (value - s * u[t.where])).sum())
        return gap + float(np.abs(self.basis.T @ slopes) @ np.maximum(np.abs(at.w), 1.0))


@dataclass
class Point:
    """A function: coefficients, weights of basis functions, and what they make.

    Attributes
    ----------
    c : array of shape (n,)
        Coordinates of f, here coefficients of representers.
    w : array of shape (p,)
    dual : array of shape (n,)
        ``a.c @ b.dual`` is the inner product of two functions: here G c.
    values : array of shape (n,)
        Functionals of f, here G c too.
    u : array of shape (n,)
        Those of basis functions added.
    """

    c: Numbers
    w: Numbers
    dual: Numbers
    values: Numbers
    u: Numbers

    @classmethod
    def of(cls, problem: Problem, c: Numbers, w: Numbers) -> Point:
        """Make a point from its coefficients."""
        values = problem.product(c)
        return cls(c, w, values, values, values + problem.basis @ w)

    def moved(self, by: Point, step: float) -> Point:
        """Give the point a step along a direction."""
        values = self.values + step * by.values
        # one array where both are the same, since there may be many functionals
        same = self.dual is self.values and by.dual is by.values
        dual = values if same else self.dual + step * by.dual
        c, w = self.c + step * by.c, self.w + step * by.w
        return Point(c, w, dual, values, self.u + step * by.u)

    def objective(self, problem: Problem) -> float:
        """Give what is minimised."""
        return 0.5 * float(self.c @ self.dual) + problem.loss(self.u)


@dataclass
class Solution:
    """Where a solver came to, and how far that is from the optimum.

    Attributes
    ----------
    c, w : arrays
        Coefficients of representers, and of basis functions.
    objective : float
    gap : float
        The optimum is no more than this below the objective (so far as basis functions are in
        balance, of which there is an estimate only).
    n_iter : int
    converged : bool
    why : str
        What to do if it has not converged.
    """

    c: Numbers
    w: Numbers
    objective: float
    gap: float
    n_iter: int
    converged: bool
    why: str = "raise max_iter or tol"


def newton(
    problem: Problem,
    tol: float = 1e-6,
    max_iter: int = 500,
    start: tuple[Numbers, Numbers] | None = None,
) -> Solution:
    """Solve by Newton's method, with a factorisation of the Gram matrix in every step.

    For losses that are squared a single step is the closed form. Only functionals where the loss
    is curved enter the factorisation.

    Parameters
    ----------
    problem : Problem
        With its Gram matrix.
    tol : float
        Stops at a gap of ``tol`` times the objective (or times one, if that is larger).
    max_iter : int
    start : pair of arrays, optional
        Coefficients c and w to begin with.
    """
    return _solve(problem, _newton_stage, tol, max_iter, start)


def small(problem: Problem, tol: float = 1e-6, max_iter: int = 2000) -> Solution:
    """Solve a problem with its Gram matrix the fastest way: libsvm, Newton or L-BFGS."""
    hinge = len(problem.terms) == 1 and problem.terms[0].loss == Hinge()
    if hinge and problem.basis.shape[1] == 1 and (problem.basis == 1).all():
        found = _libsvm(problem, tol)
        if found.converged:
            return found
        # libsvm stops at violations of the order of tol, of which there may be many
        better = newton(problem, tol, max_iter, start=(found.c, found.w))
        return better if better.gap < found.gap else found
    solve = newton if len(problem) <= FACTORED else lbfgs
    return solve(problem, tol, max_iter)


def _libsvm(problem: Problem, tol: float) -> Solution:
    term = problem.terms[0]
    weight = np.broadcast_to(term.weight, len(problem))
    svc = SVC(kernel="precomputed", C=1.0, tol=tol)
    svc.fit(problem.gram, term.target, sample_weight=weight)
    c = np.zeros(len(problem))
    c[svc.support_] = svc.dual_coef_[0]
    at = Point.of(problem, c, svc.intercept_.copy())
    objective, gap = at.objective(problem), problem.gap(at, -c)
    converged = gap <= tol * max(1.0, objective)
    return Solution(c, at.w, objective, gap, int(svc.n_iter_.max()), converged)


def lbfgs(
    problem: Problem,
    tol: float = 1e-6,
    max_iter: int = 2000,
    start: tuple[Numbers, Numbers] | None = None,
) -> Solution:
    """Solve by L-BFGS in the geometry of the space of functions: one product an iteration.

    The same iterates as L-BFGS in coordinates that a Cholesky factor of the Gram matrix makes
    orthonormal, without the factor. Parameters as in :func:`newton`.
    """
    return _solve(problem, lbfgs_stage, tol, max_iter, start)


def _solve(
    problem: Problem,
    stage: Callable[[Problem, Point, float, int], tuple[Point, int]],
    tol: float,
    max_iter: int,
    start: tuple[Numbers, Numbers] | None,
) -> Solution:
    """Solve with ever finer rounding, until the sharp problem is solved well enough."""
    smoothing, done = COARSE, 0
    if start is None:
        at = Point.of(problem, np.zeros(len(problem)), np.zeros(problem.basis.shape[1]))
    else:
        at = Point.of(problem, start[0].copy(), start[1].copy())
        smoothing = _fitting(problem, at)
    best: Solution | None = None
    while True:
        smooth = problem if problem.is_smooth else problem.rounded(smoothing)
        at, steps = stage(smooth, at, tol, max_iter - done)
        done += steps
        at = Point.of(problem, at.c, at.w)
        objective = at.objective(problem)
        gap = problem.gap(at, smooth.slopes(at.u))
        converged = gap <= tol * max(1.0, abs(objective))
        if best is None or gap <= best.gap:
            best = Solution(at.c, at.w, objective, gap, done, converged)
        # a kink that is finer than rounding errors tells nothing: what was found before is better
        stuck = gap > 10 * best.gap and smoothing < 1e-6
        if converged or stuck or done >= max_iter or problem.is_smooth or smoothing < 1e-12:
            best.n_iter = done
            if done < max_iter:
                best.why = "no further progress was made; raise tol, round the losses (smoothing)"
                best.why += ", or scale the rows"
            return best
        smoothing *= FINER


def _fitting(problem: Problem, at: Point) -> float:
    """Give the rounding at which a point is nearest to its optimum, so as to go on from there."""
    if problem.is_smooth:
        return COARSE
    widths = [COARSE * FINER**k for k in range(12)]
    return min(widths, key=lambda h: problem.gap(at, problem.rounded(h).slopes(at.u)))


def _newton_stage(problem: Problem, at: Point, tol: float, max_iter: int) -> tuple[Point, int]:
    for steps in range(max_iter):
        slopes = problem.slopes(at.u)
        if _is_flat(problem, at, slopes, 0.1 * tol):
            return at, steps
        along = _newton_direction(problem, at, slopes)
        step = _line_search(problem, at, along)
        if step == 0:
            return at, steps
        at = at.moved(along, step)
    return at, max_iter


def _is_flat(problem: Problem, at: Point, slopes: Numbers, tol: float) -> bool:
    objective = at.objective(problem)
    return problem.gap(at, slopes) <= tol * max(1.0, abs(objective))


def _newton_direction(problem: Problem, at: Point, slopes: Numbers) -> Point:
    """Give the step to the minimum of the second-order model.

    There c is minus the model's slopes, ``c + slopes + D (u_new - u) = 0``. With S the root of D,
    and c = -slopes where D is zero, what remains is ``(1 + S G S) q + S B dw = S r`` for c = S q,
    and the basis functions in balance, ``B' c = 0``.
    """
    gram = problem.gram
    assert gram is not None
    curved = problem.curvatures(at.u)
    active = np.flatnonzero(curved > 0)
    root = np.sqrt(curved[active])
    c = -slopes
    c[active] = 0.0
    basis = problem.basis
    # functionals at which the slope of the model is to vanish, with the straight ones in place
    reached = gram[active] @ c
    r = at.u[active] - slopes[active] / curved[active] - reached
    system = root[:, None] * gram[np.ix_(active, active)] * root
    system[np.diag_indices_from(system)] += 1.0
    factor = cho_factor(system, overwrite_a=True)
    scaled = root[:, None] * basis[active]
    inner = cho_solve(factor, np.column_stack([root * r - scaled @ at.w, scaled]))
    free, tied = inner[:, 0], inner[:, 1:]
    # B' c = 0 fixes the change of w; where it does not, the smallest change
    short = scaled.T @ free + basis.T @ c
    dw = lstsq(scaled.T @ tied, short)[0] if len(active) and basis.shape[1] else 0 * at.w
    if np.abs(short - scaled.T @ (tied @ dw)).max(initial=0) > 1e-6 * np.abs(slopes).max():
        # no loss is curved along some basis function: go down along these alone, as far as it goes
        dw, nothing = -basis.T @ slopes, np.zeros_like(c)
        return Point(nothing, dw, nothing, nothing, basis @ dw)
    c[active] = root * (free - tied @ dw)
    along = c - at.c
    values = gram @ along
    return Point(along, dw, values, values, values + basis @ dw)


def _line_search(problem: Problem, at: Point, along: Point, slack: float = 0.0) -> float:
    """Give the step that minimises the objective along a direction, which costs no product."""
    bend = float(along.c @ along.dual)
    tilt = float(at.c @ along.dual)

    def slope(step: float) -> float:
        return tilt + step * bend + float(problem.slopes(at.u + step * along.u) @ along.u)

    first = slope(0.0)
    if first >= 0:
        return 0.0
    high, value = 1.0, slope(1.0)
    if abs(value) <= slack * -first:
        return 1.0
    while value < 0 and high < 1e12:
        high *= 4
        value = slope(high)
    if value < 0:
        return high
    if slack:
        return _between(slope, high, slack * -first)
    return float(brentq(slope, 0.0, high, xtol=1e-12, rtol=1e-10))


def _between(slope: Callable[[float], float], high: float, small: float) -> float:
    """Give a step where the slope is small, by the rule of false position, bisecting at times."""
    low, low_value, high_value = 0.0, slope(0.0), slope(high)
    middle = high
    for turn in range(60):
        middle = low - low_value * (high - low) / (high_value - low_value)
        if turn % 3 == 2 or not low < middle < high:
            middle = (low + high) / 2
        value = slope(middle)
        if abs(value) <= small:
            break
        if value < 0:
            low, low_value = middle, value
        else:
            high, high_value = middle, value
    return middle


# Pairs of steps and changes of the gradient that L-BFGS remembers.
HISTORY = 10


def lbfgs_stage(problem: Problem, at: Point, tol: float, max_iter: int) -> tuple[Point, int]:
    # a scale for basis functions, whose weights have no norm of their own
    weights = problem.weights()
    scale = np.maximum(weights @ problem.basis**2, 1e-12)
    history: list[tuple[Point, Point, float]] = []

    def dot(a: Point, b: Point) -> float:
        return float(a.c @ b.dual + scale * a.w @ b.w)

    def gradient(here: Point) -> Point:
        slopes = problem.slopes(here.u)
        w = problem.basis.T @ slopes / scale
        up = problem.lifted(slopes)
        both = here.moved(up, 1.0)
        return Point(both.c, w, both.dual, both.values, both.values + problem.basis @ w)

    at = _balanced(problem, at)
    steep = gradient(at)
    for steps in range(max_iter):
        small = 0.1 * tol * max(1.0, abs(at.objective(problem)))
        off = np.abs(scale * steep.w) @ np.maximum(np.abs(at.w), 1.0)
        if 0.5 * float(steep.c @ steep.dual) + off <= small:
            return at, steps
        along = _two_loops(steep, history, dot)
        step = _line_search(problem, at, along, slack=0.1)
        if step == 0:
            if not history:
                return at, steps
            history.clear()
            continue
        before, at = at, _balanced(problem, at.moved(along, step))
        old, steep = steep, gradient(at)
        moved, changed = _less(at, before), _less(steep, old)
        curve = dot(moved, changed)
        if curve > 1e-14 * dot(changed, changed):
            history.append((moved, changed, 1 / curve))
            del history[:-HISTORY]
    return at, max_iter


def _balanced(problem: Problem, at: Point, max_iter: int = 3) -> Point:
    """Bring basis functions to their best for this f, by Newton's method: no product is needed."""
    basis = problem.basis
    if not basis.shape[1]:
        return at
    for _ in range(max_iter):
        slopes = problem.slopes(at.u)
        down = basis.T @ slopes
        if np.abs(down).max() <= 1e-12 * np.abs(slopes).sum():
            break
        curved = basis.T @ (problem.curvatures(at.u)[:, None] * basis)
        dw = -lstsq(curved, down)[0] if curved.any() else -down
        moved = basis @ dw
        along = Point(np.zeros_like(at.c), dw, np.zeros_like(at.dual), 0 * moved, moved)
        step = _line_search(problem, at, along, slack=0.1)
        if step == 0:
            break
        at = Point(at.c, at.w + step * dw, at.dual, at.values, at.u + step * moved)
    return at


def _two_loops(
    steep: Point,
    history: list[tuple[Point, Point, float]],
    dot: Callable[[Point, Point], float],
) -> Point:
    along = _times(steep, -1.0)
    shares = []
    for moved, changed, inverse in reversed(history):
        share = inverse * dot(moved, along)
        shares.append(share)
        along = along.moved(changed, -share)
    if history:
        moved, changed, inverse = history[-1]
        shrink = 1 / (inverse * dot(changed, changed))
        along = _times(along, shrink)
    for (moved, changed, inverse), share in zip(history, reversed(shares), strict=True):
        along = along.moved(moved, share - inverse * dot(changed, along))
    return along


def _less(a: Point, b: Point) -> Point:
    return a.moved(b, -1.0)


def _times(a: Point, factor: float) -> Point:
    values = factor * a.values
    dual = values if a.dual is a.values else factor * a.dual
    return Point(factor * a.c, factor * a.w, dual, values, factor * a.u)
