r"""Pegasos: stochastic subgradient steps on ``lam |f|^2 / 2 + risk(f)`` (Teo et al. 2007, Alg. 2).

Step t is :math:`f \leftarrow (1 - 1/t) f - \psi / (\lambda t)`, where :math:`\psi` is the worst
column of one sample. Then f is projected onto a ball that contains the optimum. The result is the
average of f over all steps, weighted by t. It converges faster than the last f and than the
unweighted average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from invarlearn.oracles.base import Risk
from invarlearn.oracles.costs import Floats
from invarlearn.oracles.orbits import KernelColumns
from invarlearn.solvers.base import Requirement, Run, Solution, Solver, register
from invarlearn.solvers.worst_case import SINGLE_SAMPLES, WorstCaseProblem


@register
@dataclass(frozen=True)
class Pegasos(Solver[WorstCaseProblem]):
    """Stochastic subgradient descent with one sample per step (Pegasos).

    An iteration is a pass over all samples. The average with the lowest objective is returned. The
    lower bound of the certificate is loose: expect a gap of a few per cent of the objective.
    """

    name: ClassVar[str] = "pegasos"
    solves: ClassVar[type] = WorstCaseProblem
    requires: ClassVar[tuple[Requirement, ...]] = (SINGLE_SAMPLES,)

    def run(self, problem: WorstCaseProblem, run: Run) -> Solution:
        oracle = problem.oracle
        if isinstance(oracle, Risk):
            walk: Walk | KernelWalk = Walk(oracle.n_weights, problem.lam, oracle.at_zero)
        else:
            assert isinstance(oracle, KernelColumns)
            walk = KernelWalk(oracle.n_functions, problem.lam, oracle.at_zero)
        best, objective, bound = walk.average, oracle.at_zero, 0.0
        history: list[tuple[float, float]] = []
        while len(history) < run.max_iter and objective - bound > run.tol * objective:
            walk.along(oracle, run.rng.permutation(oracle.n_examples))
            average = walk.average
            average_objective = problem.objective(average)
            if average_objective < objective:
                best, objective = average, average_objective
            bound = max(bound, walk.bound)
            history.append((objective, objective - bound))
            run.report(len(history), objective, objective - bound)
        gap = objective - bound
        converged = gap <= run.tol * objective
        reason = "" if converged else "raise max_iter, choose another solver, or scale the features"
        coef = walk.padded(best)
        return Solution(
            coef, objective, gap, len(history), converged, reason, history=tuple(history)
        )


class Walk:
    """The state of Pegasos, which can continue with the same samples or with others.

    f is ``c * v``, and its average is ``a * v + h * u``. A step changes v and u only at the nonzero
    features of its sample.

    Parameters
    ----------
    n_weights : int
    lam : float
    at_zero : float
        The risk at f = 0. It bounds the optimum: ``lam |f|^2 <= at_zero``.

    Attributes
    ----------
    radius : float
        Radius of the ball that contains the optimum.
    v, u : arrays of shape (n_weights,)
    state : array of shape (6,)
        t, c, ``|f|^2``, a, h, and the linear part of the dual.
    """

    def __init__(self, n_weights: int, lam: float, at_zero: float):
        self.lam = lam
        self.radius = float(np.sqrt(at_zero / lam))
        self.v, self.u = np.zeros(n_weights), np.zeros(n_weights)
        self.state = np.array([0.0, 1.0, 0.0, 0.0, 1.0, 0.0])

    def restart(self, w: Floats, t: int) -> None:
        """Set f and the average to weights w, (n_weights,), as if t steps had been taken."""
        self.v, self.u = w.copy(), np.zeros_like(w)
        self.state[:] = t, 1.0, float(w @ w), 1.0, 1.0, 0.0

    @property
    def average(self) -> Floats:
        """The average of f over all steps, the last one included: (n_weights,)."""
        t, c, _, a, h, _ = self.state
        if t == 0:
            return np.zeros_like(self.v)
        rho = 2.0 / (t + 2.0)
        return ((1 - rho) * a + rho * c) * self.v + (1 - rho) * h * self.u

    @property
    def bound(self) -> float:
        """Lower bound of the minimum, if every sample was visited equally often."""
        _, _, n2, _, _, linear = self.state
        return float(linear - self.lam * n2 / 2)

    def widen(self, at_zero: float) -> None:
        """Enlarge the ball to that of a larger risk at f = 0."""
        self.radius = max(self.radius, float(np.sqrt(at_zero / self.lam)))

    def padded(self, average: Floats) -> Floats:
        """Return an average in the coefficients at the end of the run; here they are the same."""
        return average

    def along(self, risk: Any, order: NDArray[np.int64]) -> None:
        """Take a step for each sample of a risk in this order, given by indices."""
        if risk.walk is not None:
            risk.walk(order, self.lam, self.radius, self.v, self.u, self.state)
            return
        for i in order:
            self._step(risk, int(i))

    def _step(self, risk: Risk, i: int) -> None:
        t, c, n2, a, h, linear = self.state
        t += 1
        if t > 1:
            rho = 2.0 / (t + 1.0)
            a, h = (1 - rho) * a + rho * c, (1 - rho) * h
        worst = risk.worst(c * self.v, i)
        size = risk.shares[i] * risk.n_examples
        shrink, length = 1 - 1 / t, size / (self.lam * t)
        product = c * float(self.v @ worst.psi)
        c = 1.0 if t == 1 else c * shrink
        n2 = shrink**2 * n2 - 2 * shrink * length * product + length**2 * (worst.psi @ worst.psi)
        linear = shrink * linear + size * worst.delta / t
        self.v -= length / c * worst.psi
        self.u += a / h * length / c * worst.psi
        if n2 > self.radius**2:
            factor = self.radius / np.sqrt(n2)
            c, linear, n2 = c * factor, linear * factor, self.radius**2
        if c < 1e-3 or h < 1e-6:
            # store the whole average in u, before a * v and h * u cancel each other
            self.u *= h
            self.u += a * self.v
            self.v *= c
            a, h, c = 0.0, 1.0, 1.0
        self.state[:] = t, c, n2, a, h, linear


class KernelWalk:
    """The state of Pegasos with a kernel: coefficients of f and its average at the rows so far.

    Parameters
    ----------
    n_functions : int
    lam, at_zero : float
        As in :class:`Walk`.

    Attributes
    ----------
    A : array of shape (n_functions, n_rows)
        Coefficients of f.
    """

    def __init__(self, n_functions: int, lam: float, at_zero: float):
        self.lam = lam
        self.radius = float(np.sqrt(at_zero / lam))
        self.A = np.zeros((n_functions, 0))
        self._previous_average = self.A.copy()
        self.t, self.n2, self.linear = 0, 0.0, 0.0

    @property
    def average(self) -> Floats:
        """The average of f over all steps, the last one included: (n_functions, n_rows)."""
        change = self.A - self._previous_average
        return self._previous_average + 2.0 / (self.t + 2.0) * change

    @property
    def bound(self) -> float:
        """Lower bound of the minimum, if every sample was visited equally often."""
        return float(self.linear - self.lam * self.n2 / 2)

    def padded(self, average: Floats) -> Floats:
        """Return an average with zeros for rows that were created after it."""
        return np.pad(average, ((0, 0), (0, self.A.shape[1] - average.shape[1])))

    def along(self, source: Any, order: NDArray[np.int64]) -> None:
        """Take a step for each sample of a source of columns in this order, given by indices."""
        sizes = source.shares * source.n_examples
        for i in order:
            self._step(source, int(i), float(sizes[i]))

    def _step(self, source: KernelColumns, i: int, size: float) -> None:
        self.t += 1
        self._previous_average += 2.0 / (self.t + 1.0) * (self.A - self._previous_average)
        column = source.worst_of(i, self.A)
        shrink, length = 1 - 1 / self.t, size / (self.lam * self.t)
        self.A *= shrink
        self.linear = shrink * self.linear + size * column.delta / self.t
        self.n2 *= shrink**2
        if column.row >= 0:
            if column.row >= self.A.shape[1]:
                new_column = ((0, 0), (0, 1))
                self.A = np.pad(self.A, new_column)
                self._previous_average = np.pad(self._previous_average, new_column)
            self.A[column.plus, column.row] -= length * column.scale
            if column.minus >= 0:
                self.A[column.minus, column.row] += length * column.scale
            self.n2 += length**2 * column.squared - 2 * shrink * length * column.product
        if self.n2 > self.radius**2:
            factor = self.radius / np.sqrt(self.n2)
            self.A *= factor
            self.linear, self.n2 = self.linear * factor, self.radius**2
