"""Pegasos: stochastic subgradient steps on ``lam |f|^2 / 2 + risk(f)`` (paper 004, Algorithm 2).

At step t, ``f <- (1 - 1/t) f - psi / (lam t)`` with psi the worst column of one example; f is
scaled back into the ball that holds the optimum; and what is returned is the average of all f,
weighted by t, which converges faster than the last one and than the plain average.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from invarlearn.oracles.base import Floats, Risk
from invarlearn.oracles.orbits import KernelColumns

Progress = Callable[[int, float, float], None]


class Walk:
    """Where Pegasos is: it can be continued, with the same or other examples.

    f is ``c * v`` and its average ``a * v + h * u``: a step touches v and u only where the example
    has features. |f|^2 and the linear part of the dual are kept up to date as well.

    Parameters
    ----------
    n_weights : int
    lam : float
    at_zero : float
        The risk at f = 0: the optimum has ``lam |f|^2 <= at_zero``.
    """

    def __init__(self, n_weights: int, lam: float, at_zero: float):
        self.lam = lam
        self.radius = np.sqrt(at_zero / lam)
        self.v, self.u = np.zeros(n_weights), np.zeros(n_weights)
        # t, c, |f|^2, a, h, linear part of the dual
        self.state = np.array([0.0, 1.0, 0.0, 0.0, 1.0, 0.0])

    def restart(self, w: Floats, t: int) -> None:
        """Go on from weights, as if they were f and the average after t steps."""
        self.v, self.u = w.copy(), np.zeros_like(w)
        self.state[:] = t, 1.0, float(w @ w), 1.0, 1.0, 0.0

    @property
    def average(self) -> Floats:
        """The average of all f so far, the last one included."""
        t, c, _, a, h, _ = self.state
        if t == 0:
            return np.zeros_like(self.v)
        rho = 2.0 / (t + 2.0)
        return ((1 - rho) * a + rho * c) * self.v + (1 - rho) * h * self.u

    @property
    def bound(self) -> float:
        """A lower bound on the objective, if every example was seen equally often."""
        _, _, n2, _, _, linear = self.state
        return float(linear - self.lam * n2 / 2)

    def along(self, risk: Risk, order: NDArray[np.int64]) -> None:
        """Take a step for each example, in this order."""
        compiled = getattr(risk, "walk", None)
        if compiled is not None:
            compiled(order, self.lam, self.radius, self.v, self.u, self.state)
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
            down = self.radius / np.sqrt(n2)
            c, linear, n2 = c * down, linear * down, self.radius**2
        if c < 1e-3 or h < 1e-6:
            # the average goes into u as a whole, before a * v and h * u cancel each other
            self.u *= h
            self.u += a * self.v
            self.v *= c
            a, h, c = 0.0, 1.0, 1.0
        self.state[:] = t, c, n2, a, h, linear


class KernelWalk:
    """As :class:`Walk`, with a kernel: f and its average are coefficients at the rows made.

    Parameters
    ----------
    source : KernelColumns
    shares : array of shape (n_examples,)
    lam, at_zero : float
    """

    def __init__(self, source: KernelColumns, shares: Floats, lam: float, at_zero: float):
        self.source, self.lam = source, lam
        self.sizes = shares * source.n_examples
        self.radius = np.sqrt(at_zero / lam)
        self.A = np.zeros((source.n_functions, 0))
        self._before = self.A.copy()
        self.t, self.n2, self.linear = 0, 0.0, 0.0

    @property
    def average(self) -> Floats:
        """The average of all f so far, the last one included."""
        return self._before + 2.0 / (self.t + 2.0) * (self.A - self._before)

    @property
    def bound(self) -> float:
        """A lower bound on the objective, if every example was seen equally often."""
        return float(self.linear - self.lam * self.n2 / 2)

    def along(self, order: NDArray[np.int64]) -> None:
        """Take a step for each example, in this order."""
        for i in order:
            self._step(int(i))

    def _step(self, i: int) -> None:
        self.t += 1
        self._before += 2.0 / (self.t + 1.0) * (self.A - self._before)
        column = self.source.worst_of(i, self.A)
        shrink, length = 1 - 1 / self.t, self.sizes[i] / (self.lam * self.t)
        self.A *= shrink
        self.linear = shrink * self.linear + self.sizes[i] * column.delta / self.t
        self.n2 *= shrink**2
        if column.row >= 0:
            if column.row >= self.A.shape[1]:
                self.A, self._before = (
                    np.pad(one, ((0, 0), (0, 1))) for one in (self.A, self._before)
                )
            self.A[column.plus, column.row] -= length * column.scale
            if column.minus >= 0:
                self.A[column.minus, column.row] += length * column.scale
            self.n2 += length**2 * column.squared - 2 * shrink * length * column.product
        if self.n2 > self.radius**2:
            down = self.radius / np.sqrt(self.n2)
            self.A *= down
            self.linear, self.n2 = self.linear * down, self.radius**2


def _walked(
    walk: Walk | KernelWalk,
    one_pass: Callable[[], None],
    value_of: Callable[[Floats], float],
    at_zero: float,
    tol: float,
    max_iter: int,
    progress: Progress | None,
) -> tuple[Floats, float, float, int]:
    """Pass over all examples until the gap is below ``tol``; keep the best average."""
    best, objective, bound = walk.average, at_zero, 0.0
    n_iter = 0
    while n_iter < max_iter and objective - bound > tol * objective:
        n_iter += 1
        one_pass()
        average = walk.average
        value = value_of(average)
        if value < objective:
            best, objective = average, value
        bound = max(bound, walk.bound)
        if progress is not None:
            progress(n_iter, objective, objective - bound)
    return best, objective, objective - bound, n_iter


def pegasos(
    risk: Risk,
    lam: float,
    tol: float,
    max_iter: int,
    rng: np.random.RandomState,
    progress: Progress | None = None,
) -> tuple[Floats, float, float, int]:
    """Walk over all examples, in a new order each time, until the gap is below ``tol``.

    Returns
    -------
    w, objective, gap, n_iter
        The best average, and how many times all examples were seen.
    """
    walk = Walk(risk.n_weights, lam, risk.at_zero)

    def one_pass() -> None:
        walk.along(risk, rng.permutation(risk.n_examples))

    def value_of(w: Floats) -> float:
        return lam * float(w @ w) / 2 + float(risk.shares @ risk.subgradient(w)[0])

    return _walked(walk, one_pass, value_of, risk.at_zero, tol, max_iter, progress)


def kernel_pegasos(
    source: KernelColumns,
    shares: Floats,
    lam: float,
    tol: float,
    max_iter: int,
    rng: np.random.RandomState,
    progress: Progress | None = None,
) -> tuple[Floats, float, float, int]:
    """As :func:`pegasos`, with a kernel.

    Returns
    -------
    A, objective, gap, n_iter
        Coefficients of the best average at the rows of the source.
    """
    at_zero = float(shares @ source.costs.most[source.y])
    walk = KernelWalk(source, shares, lam, at_zero)

    def one_pass() -> None:
        walk.along(rng.permutation(source.n_examples))

    def value_of(A: Floats) -> float:
        losses, norm = source.losses_of(A)
        return lam * norm / 2 + float(shares @ losses)

    A, objective, gap, n_iter = _walked(walk, one_pass, value_of, at_zero, tol, max_iter, progress)
    # rows that came after the best average
    A = np.pad(A, ((0, 0), (0, source.n_rows - A.shape[1])))
    return A, objective, gap, n_iter
