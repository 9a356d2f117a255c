"""Elimination of functionals under a squared penalty, and the choice of the fastest solver."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from invarlearn.functionals.elimination import MAX_FACTORED
from invarlearn.solvers.base import Requirement, Run, Solution, Solver, register
from invarlearn.solvers.lbfgs import LBFGS
from invarlearn.solvers.libsvm import LibSVM
from invarlearn.solvers.newton import Newton
from invarlearn.solvers.representer import (
    SQUARED_PENALTY,
    UNSEEN_BASIS,
    RepresenterGram,
    RepresenterProblem,
)

FUNCTIONAL_ROWS = Requirement(
    "the rows at which the functionals are taken",
    lambda p: isinstance(p.gram, RepresenterGram),
)
ONE_WEIGHT = Requirement(
    "one weight nu and the target 0 for all functionals",
    lambda p: (
        len(p.terms) < 2
        or (len(p.terms) == 2 and np.ndim(p.terms[1].weight) == 0 and not np.any(p.terms[1].target))
    ),
)

# Up to this number of functionals, Newton's method with a factorisation in every step is faster
# than L-BFGS.
FACTORED = 1500


@dataclass(frozen=True)
class LabelledRows(Solver[RepresenterProblem]):
    """Choose libsvm, Newton's method or L-BFGS for a problem whose Gram matrix is in memory.

    Parameters
    ----------
    factored : int, default=1500
        Newton's method is used for up to this number of functionals.
    """

    name: ClassVar[str] = "labelled rows"
    solves: ClassVar[type] = RepresenterProblem

    factored: int = FACTORED

    def choose(self, problem: RepresenterProblem) -> Solver[RepresenterProblem]:
        libsvm = LibSVM()
        if not libsvm.missing(problem):
            return libsvm
        return Newton() if len(problem) <= self.factored else LBFGS()

    def run(self, problem: RepresenterProblem, run: Run) -> Solution:
        return self.choose(problem).run(problem, run)


@register
@dataclass(frozen=True)
class Eliminate(Solver[RepresenterProblem]):
    """Eliminate the functionals exactly, and solve the reduced problem of the labelled rows.

    With a squared penalty, the reduced problem has the kernel ``k - k_z (K_zz + I / (2 nu))^-1
    k_z'``, where K_zz is the Gram matrix of the functionals z. The objective and the gap are those
    of the reduced problem, which has the same minimum.

    Parameters
    ----------
    inner : Solver
        Solver of the reduced problem.
    residual : float, default=1e-8
        Relative residual of the elimination; ``tol`` if that is smaller.
    max_factored : int, default=4000
        Up to this number of functionals, their Gram matrix is factored; the elimination is then
        exact. Otherwise it is iterative, by products with the matrix.
    """

    name: ClassVar[str] = "eliminate"
    solves: ClassVar[type] = RepresenterProblem
    requires: ClassVar[tuple[Requirement, ...]] = (
        SQUARED_PENALTY,
        UNSEEN_BASIS,
        FUNCTIONAL_ROWS,
        ONE_WEIGHT,
    )

    inner: Solver[RepresenterProblem] = field(default_factory=LabelledRows)
    residual: float = 1e-8
    max_factored: int = MAX_FACTORED

    def eliminator(self) -> Eliminate:
        return self

    def run(self, problem: RepresenterProblem, run: Run) -> Solution:
        assert isinstance(problem.gram, RepresenterGram)
        nu = float(problem.terms[1].weight) if len(problem.terms) > 1 else 0.0
        gram = problem.gram.eliminated(nu, min(self.residual, run.tol), self.max_factored)
        rows = slice(0, problem.n_labelled)
        reduced = RepresenterProblem(gram, problem.basis[rows], problem.terms[:1])
        start = None if run.start is None else (run.start[0][rows], run.start[1])
        solution = self.inner.choose(reduced).run(reduced, replace(run, start=start))
        c = np.concatenate([solution.coef, gram.restore(solution.coef)])
        return replace(solution, coef=c)


@register
@dataclass(frozen=True)
class Auto(Solver[RepresenterProblem]):
    """Choose the solver that is usually the fastest for a problem.

    Functionals under a squared penalty are eliminated if there are at most ``factored`` of them, or
    if the loss has a kink. Otherwise Newton's method solves problems with at most ``factored``
    functionals, values at labelled rows included, and L-BFGS solves larger ones.

    Parameters
    ----------
    factored : int, default=1500
    max_factored : int, default=4000
        As in :class:`Eliminate`.
    """

    name: ClassVar[str] = "auto"
    solves: ClassVar[type] = RepresenterProblem

    factored: int = FACTORED
    max_factored: int = MAX_FACTORED

    def eliminator(self) -> Eliminate:
        return Eliminate(LabelledRows(self.factored), max_factored=self.max_factored)

    def choose(self, problem: RepresenterProblem) -> Solver[RepresenterProblem]:
        n_functionals = len(problem) - problem.n_labelled
        eliminate = self.eliminator()
        is_faster = n_functionals <= self.factored or not problem.terms[0].loss.is_smooth
        if n_functionals and is_faster and not eliminate.missing(problem):
            return eliminate
        return Newton() if len(problem) <= self.factored else LBFGS()

    def run(self, problem: RepresenterProblem, run: Run) -> Solution:
        return self.choose(problem).run(problem, run)
