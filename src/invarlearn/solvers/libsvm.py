"""libsvm for representer problems with the hinge loss and an intercept."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from sklearn.svm import SVC

from invarlearn.losses import Hinge
from invarlearn.solvers.base import Requirement, Run, Solution, Solver, register
from invarlearn.solvers.newton import Newton
from invarlearn.solvers.representer import Point, RepresenterProblem

HINGE_ALONE = Requirement(
    "loss='hinge' without penalised functionals",
    lambda p: len(p.terms) == 1 and p.terms[0].loss == Hinge(),
)
INTERCEPT = Requirement(
    "an intercept as the only basis function",
    lambda p: p.basis.shape[1] == 1 and bool((p.basis == 1).all()),
)


@register
@dataclass(frozen=True)
class LibSVM(Solver[RepresenterProblem]):
    """libsvm, by :class:`sklearn.svm.SVC`, refined by Newton's method where needed.

    libsvm stops when each optimality condition is violated by at most ``tol``. The duality gap can
    then still be too large. In that case, :class:`~invarlearn.solvers.newton.Newton` continues from
    the solution of libsvm.

    Parameters
    ----------
    newton : Newton
        The solver that continues.
    """

    name: ClassVar[str] = "libsvm"
    solves: ClassVar[type] = RepresenterProblem
    requires: ClassVar[tuple[Requirement, ...]] = (HINGE_ALONE, INTERCEPT)

    newton: Newton = field(default_factory=Newton)

    def run(self, problem: RepresenterProblem, run: Run) -> Solution:
        term = problem.terms[0]
        # libsvm needs contiguous weights
        weight = np.ascontiguousarray(np.broadcast_to(term.weight, len(problem)))
        svc = SVC(kernel="precomputed", C=1.0, tol=max(run.tol, 1e-12))
        svc.fit(problem.gram.matrix(), term.target, sample_weight=weight)
        c = np.zeros(len(problem))
        c[svc.support_] = svc.dual_coef_[0]
        at = Point.of(problem, c, svc.intercept_.copy())
        objective, gap = at.objective(problem), problem.gap(at, -c)
        converged = gap <= run.tol * problem.scale(objective)
        n_iter = int(svc.n_iter_.max())
        run.report(min(n_iter, run.max_iter), objective, gap)
        history = ((objective, gap),)
        solution = Solution(c, objective, gap, n_iter, converged, "", at.w, history)
        if converged:
            return solution
        refined = self.newton.run(problem, replace(run, start=(c, at.w)))
        if refined.gap < gap:
            return replace(refined, history=history + refined.history)
        return replace(solution, reason="raise max_iter or tol")
