r"""The problem of learning with penalised linear functionals (Zhang et al., 2013).

A function f of a reproducing kernel Hilbert space, and weights w of unpenalised basis functions,
minimise half the squared norm of f plus convex losses of linear functionals of both. By Theorem 7
of the paper, f is a sum of the representers of the functionals. With their Gram matrix G, their
coefficients c and the functionals B of the basis functions, the functionals are ``u = G c + B w``.
The objective is

.. math:: \tfrac{1}{2} c^\top G c + \sum_j \omega_j \, \ell_j(u_j).

Solvers work in the metric of the RKHS, because the problem is badly conditioned in the metric of
the coefficients. The gradient in the RKHS has the coefficients ``c + slopes``. If losses are smooth
and w is optimal, half its squared norm is the duality gap. Losses with a kink are smoothed less and
less, see :func:`solve_by_smoothing`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from invarlearn._utils.validation import check_memory
from invarlearn.functionals import Representers, Value
from invarlearn.functionals.elimination import MAX_FACTORED, Elimination
from invarlearn.losses import Loss, Squared
from invarlearn.solvers.base import Numbers, Requirement, Run, Solution


class Gram(Protocol):
    """Interface of Gram matrices of representers."""

    def __len__(self) -> int:
        """Return the number of representers."""

    def dot(self, c: Numbers) -> Numbers:
        """Return the product with coefficients c, (n,): (n,)."""

    def matrix(self) -> Numbers:
        """Return the matrix, (n, n); raise MemoryError if it does not fit into memory."""

    def columns(self, indices: NDArray) -> Numbers:
        """Return the columns with given indices: (n, n_indices)."""


class DenseGram:
    """A Gram matrix in memory.

    Parameters
    ----------
    values : array of shape (n, n)
    """

    def __init__(self, values: Numbers):
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def dot(self, c: Numbers) -> Numbers:
        return self.values @ c

    def matrix(self) -> Numbers:
        return self.values

    def columns(self, indices: NDArray) -> Numbers:
        return self.values[:, indices]


class RepresenterGram:
    """The Gram matrix of values at labelled rows, followed by penalised functionals.

    Problems of several classes share one object, so that the matrix is computed once.

    Parameters
    ----------
    values : Representers
        Representers of the values at labelled rows.
    functionals : Representers
        Representers of the penalised functionals; may be empty.
    rows : array of shape (n_labelled, n_features)
        The labelled rows.
    dense_limit : int, default=4000
        The matrix is computed for products with up to this number of representers, if it fits into
        memory. Otherwise products are computed from the rows.
    """

    def __init__(
        self,
        values: Representers,
        functionals: Representers,
        rows: NDArray,
        dense_limit: int = 4000,
    ):
        self.values, self.functionals, self.rows = values, functionals, rows
        self.representers = values.joined(functionals)
        self.dense_limit = dense_limit
        self._eliminated: dict[tuple[float, float, int], EliminatedGram] = {}

    def __len__(self) -> int:
        return len(self.representers)

    @cached_property
    def _matrix(self) -> Numbers:
        return self.representers.gram()

    def matrix(self) -> Numbers:
        return self._matrix

    def dot(self, c: Numbers) -> Numbers:
        n = len(self)
        fits = 8.0 * n * n <= get_config()["working_memory"] * 2**20
        if "_matrix" in self.__dict__ or (n <= self.dense_limit and fits):
            return self._matrix @ c
        return self.representers.dot(c)

    def columns(self, indices: NDArray) -> Numbers:
        return self.representers.columns(indices)

    def eliminated(self, nu: float, tol: float, max_factored: int = MAX_FACTORED) -> EliminatedGram:
        """Return the Gram matrix of the labelled rows with the functionals eliminated, cached.

        The parameters are those of :class:`EliminatedGram`.
        """
        key = (nu, tol, max_factored)
        if key not in self._eliminated:
            self._eliminated[key] = EliminatedGram(self, nu, tol, max_factored)
        return self._eliminated[key]


class EliminatedGram(DenseGram):
    """The Gram matrix of labelled rows under a kernel that contains the squared penalty.

    Parameters
    ----------
    whole : RepresenterGram
        The Gram matrix with the functionals.
    nu : float
        Weight of the squared functionals.
    tol : float
        Relative residual of the elimination.
    max_factored : int, default=4000
        Largest number of functionals for which their Gram matrix is factored.
    """

    def __init__(
        self, whole: RepresenterGram, nu: float, tol: float, max_factored: int = MAX_FACTORED
    ):
        shape = (len(whole.values), len(whole.values))
        check_memory(shape, float, "the kernel of labelled rows", "choose solver='lbfgs'")
        self.whole, self.nu = whole, nu
        self.elimination = Elimination(whole.functionals, tol, max_factored=max_factored)
        gram = self.elimination.kernels(whole.rows, whole.rows, [nu])[0]
        super().__init__((gram + gram.T) / 2)

    def restore(self, c: Numbers) -> Numbers:
        """Return the coefficients of the functionals, (m,), given those of the labelled rows."""
        z = self.whole.functionals
        if not len(z):
            return np.zeros(0)
        labelled = Representers(z.kernel, [Value()], self.whole.rows)
        return -self.elimination.solve(z.dot(c, labelled)[:, None], self.nu)[:, 0]


@dataclass(frozen=True)
class Term:
    """A weighted loss of a range of the functionals.

    Attributes
    ----------
    where : slice
        The range of the functionals.
    loss : Loss
    target, weight : arrays of the length of the range, or floats
    """

    where: slice
    loss: Loss
    target: Any
    weight: Any

    def smoothed(self, smoothing: float) -> Term:
        """Return the term with its loss smoothed."""
        return replace(self, loss=self.loss.smoothed(smoothing))


@dataclass(frozen=True)
class RepresenterProblem:
    """Half the squared norm of f plus losses of linear functionals.

    Attributes
    ----------
    gram : Gram
        The Gram matrix G of the representers, (n, n).
    basis : array of shape (n, p)
        The functionals B of the basis functions.
    terms : sequence of Term
        The first term is the loss of the labels; the others are penalties. Their ranges cover each
        functional once.
    """

    gram: Gram
    basis: Numbers
    terms: Sequence[Term]

    @classmethod
    def dense(cls, gram: Numbers, basis: Numbers, terms: Sequence[Term]) -> RepresenterProblem:
        """Return a problem whose Gram matrix is in memory."""
        return cls(DenseGram(gram), basis, terms)

    def __len__(self) -> int:
        return len(self.basis)

    @property
    def n_labelled(self) -> int:
        """Number of functionals of the first term, the loss of labels."""
        return int(self.terms[0].where.stop)

    def objective(self, coef: Numbers, offset: Numbers) -> float:
        """Return the objective.

        Parameters
        ----------
        coef : array of shape (n,)
            Coefficients of the representers.
        offset : array of shape (p,)
            Weights of the basis functions.
        """
        return Point.of(self, coef, offset).objective(self)

    def scale(self, objective: float) -> float:
        """Return the scale that ``tol`` is relative to: the objective, but at least 1."""
        return max(1.0, abs(objective))

    def lift(self, slopes: Numbers) -> Point:
        """Return the gradient of the losses, the function with coefficients ``slopes``, (n,)."""
        values = self.gram.dot(slopes)
        w = np.zeros(self.basis.shape[1])
        return Point(slopes, w, values, values, values)

    def loss(self, u: Numbers) -> float:
        """Return the weighted sum of losses at functionals u, (n,)."""
        return float(sum((t.weight * t.loss.value(u[t.where], t.target)).sum() for t in self.terms))

    def slopes(self, u: Numbers) -> Numbers:
        """Return the derivative of the loss with respect to each functional at u: (n,)."""
        return self._concatenate(lambda t: t.weight * t.loss.slope(u[t.where], t.target))

    def curvatures(self, u: Numbers) -> Numbers:
        """Return the second derivative of the loss with respect to each functional at u: (n,)."""
        return self._concatenate(lambda t: t.weight * t.loss.curvature(u[t.where], t.target))

    def weights(self) -> Numbers:
        """Return the weight of the loss of each functional: (n,)."""
        return self._concatenate(lambda t: t.weight)

    def _concatenate(self, values_of: Callable[[Term], Numbers]) -> Numbers:
        """Return one value for each functional, (n,), from a function of terms."""
        out = np.empty(len(self))
        for term in self.terms:
            out[term.where] = values_of(term)
        return out

    @property
    def is_smooth(self) -> bool:
        """Whether all losses are differentiable."""
        return all(term.loss.is_smooth for term in self.terms)

    def smoothed(self, smoothing: float) -> RepresenterProblem:
        """Return the problem with all losses smoothed."""
        return replace(self, terms=[term.smoothed(smoothing) for term in self.terms])

    def gap(self, at: Point, slopes: Numbers) -> float:
        """Return the duality gap at a point, with minus ``slopes`` as the dual variables.

        The gap is the sum of three parts: half the squared norm of the function with coefficients
        ``c + slopes``, the Fenchel-Young gaps between ``slopes`` and the losses, and an estimate
        for the constraint ``B' slopes = 0`` of the basis functions.

        Parameters
        ----------
        at : Point
        slopes : array of shape (n,)
        """
        difference = at.c + slopes
        gap = 0.5 * max(float(difference @ self.gram.dot(difference)), 0.0)
        u = at.u
        for t in self.terms:
            weight = np.broadcast_to(t.weight, u[t.where].shape)
            s = np.divide(slopes[t.where], weight, out=np.zeros(len(weight)), where=weight > 0)
            value = t.loss.value(u[t.where], t.target) + t.loss.conjugate(s, t.target)
            gap += float((weight * (value - s * u[t.where])).sum())
        return gap + float(np.abs(self.basis.T @ slopes) @ np.maximum(np.abs(at.w), 1.0))


@dataclass(frozen=True)
class Point:
    """A function: coordinates of f, weights of basis functions, and functionals.

    Attributes
    ----------
    c : array of shape (n_coordinates,)
        Coordinates of f, as a rule the coefficients of representers.
    w : array of shape (p,)
        Weights of the basis functions.
    dual : array of shape (n_coordinates,)
        ``a.c @ b.dual`` is the inner product of functions a and b. For coefficients it is G c.
    values : array of shape (n,)
        Functionals of f, G c.
    u : array of shape (n,)
        Functionals of f plus those of the basis functions.
    """

    c: Numbers
    w: Numbers
    dual: Numbers
    values: Numbers
    u: Numbers

    @classmethod
    def of(cls, problem: RepresenterProblem, c: Numbers, w: Numbers) -> Point:
        """Return the point with coefficients c, (n,), and weights w, (p,)."""
        values = problem.gram.dot(c)
        return cls(c, w, values, values, values + problem.basis @ w)

    def moved(self, by: Point, step: float) -> Point:
        """Return ``self + step * by``."""
        values = self.values + step * by.values
        # dual and values share one array if they are equal, to save memory
        shared = self.dual is self.values and by.dual is by.values
        dual = values if shared else self.dual + step * by.dual
        c, w = self.c + step * by.c, self.w + step * by.w
        return Point(c, w, dual, values, self.u + step * by.u)

    def times(self, factor: float) -> Point:
        """Return ``factor * self``."""
        values = factor * self.values
        dual = values if self.dual is self.values else factor * self.dual
        return Point(factor * self.c, factor * self.w, dual, values, factor * self.u)

    def objective(self, problem: RepresenterProblem) -> float:
        """Return the objective of a problem at this point."""
        return 0.5 * float(self.c @ self.dual) + problem.loss(self.u)


@dataclass(frozen=True)
class SmoothingSchedule:
    """Schedule of the smoothing of losses with a kink, see :class:`~invarlearn.losses.Loss`.

    Attributes
    ----------
    coarsest : float
        ``smoothing`` of the first stage.
    factor : float
        Ratio of ``smoothing`` in a stage and in the one before.
    finest : float
        The solver stops after a stage with a smaller ``smoothing``.
    """

    coarsest: float = 0.5
    factor: float = 0.25
    finest: float = 1e-12

    def nearest(self, problem: RepresenterProblem, at: Point) -> float:
        """Return the ``smoothing`` with the smallest duality gap at a point, for warm starts."""
        if problem.is_smooth:
            return self.coarsest
        candidates = [self.coarsest * self.factor**k for k in range(12)]
        return min(candidates, key=lambda h: problem.gap(at, problem.smoothed(h).slopes(at.u)))


# Solves a smooth problem from a point, given a run and the number of iterations before. Returns the
# solution and the number of its iterations.
Stage = Callable[[RepresenterProblem, Point, Run, int], tuple[Point, int]]


def solve_by_smoothing(
    problem: RepresenterProblem, run: Run, stage: Stage, schedule: SmoothingSchedule
) -> Solution:
    """Solve a sequence of smoothed problems, until the gap of the original one is below ``tol``.

    Parameters
    ----------
    problem : RepresenterProblem
    run : Run
    stage : callable
        ``stage(problem, at, run, done)`` solves a smooth problem from a point. It returns the
        solution as a :class:`Point`, and its number of iterations.
    schedule : SmoothingSchedule

    Returns
    -------
    Solution
        The solution of the stage with the smallest gap.
    """
    smoothing, done = schedule.coarsest, 0
    if run.start is None:
        at = Point.of(problem, np.zeros(len(problem)), np.zeros(problem.basis.shape[1]))
    else:
        at = Point.of(problem, run.start[0].copy(), run.start[1].copy())
        smoothing = schedule.nearest(problem, at)
    best: Solution | None = None
    history: list[tuple[float, float]] = []
    while True:
        smooth = problem if problem.is_smooth else problem.smoothed(smoothing)
        at, steps = stage(smooth, at, run, done)
        done += steps
        at = Point.of(problem, at.c, at.w)
        objective = at.objective(problem)
        gap = problem.gap(at, smooth.slopes(at.u))
        history.append((objective, gap))
        converged = gap <= run.tol * problem.scale(objective)
        if best is None or gap <= best.gap:
            best = Solution(at.c, objective, gap, done, converged, offset=at.w)
        # smoothing below the size of rounding errors makes the gap worse
        stuck = gap > 10 * best.gap and smoothing < 1e-6
        exhausted = done >= run.max_iter
        if converged or stuck or exhausted or problem.is_smooth or smoothing < schedule.finest:
            reason = "raise max_iter or tol"
            if not exhausted:
                reason = "no further progress was made; raise tol, or scale the rows"
            reason = "" if best.converged else reason
            return replace(best, n_iter=done, reason=reason, history=tuple(history))
        smoothing *= schedule.factor


SQUARED_PENALTY = Requirement(
    "penalty='squared'", lambda p: all(isinstance(t.loss, Squared) for t in p.terms[1:])
)
UNSEEN_BASIS = Requirement(
    "basis functions on which the penalised functionals are zero",
    lambda p: not p.basis[p.n_labelled :].any(),
)
