"""Linear functions with bounded weights: mean loss minimised over a box, with a duality gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from invarlearn.losses import Loss

# Number of steps of L-BFGS-B between two computations of the gap.
STEPS_BETWEEN_GAPS = 50

# The first half-width of the parabola that replaces a kink, and the factor between two of them.
FIRST_SMOOTHING, SMOOTHING_FACTOR = 0.5, 0.2


@dataclass(frozen=True)
class BoundedFunction:
    """A linear function with bounded weights.

    Attributes
    ----------
    coef : array of shape (n_features,)
    intercept : float
    objective : float
        Weighted mean loss.
    gap : float
        Duality gap: the minimum is at least ``objective - gap``.
    n_iter : int
        Number of steps of L-BFGS-B.
    """

    coef: NDArray[np.float64]
    intercept: float
    objective: float
    gap: float
    n_iter: int


class BoxProblem:
    """Minimise ``sum_i q_i loss(w' x_i + b, y_i)`` over ``|w_j| <= bound``.

    Parameters
    ----------
    X : array of shape (n, n_features)
    y : array of shape (n,)
        -1 or 1.
    shares : array of shape (n,)
        Weights q_i, of sum 1.
    loss : Loss
        A loss whose slope lies between 0 and ``-y``, such as hinge and logistic.
    bound : float
    fit_intercept : bool
        Whether b is free. Otherwise it is 0.
    """

    def __init__(
        self,
        X: NDArray,
        y: NDArray,
        shares: NDArray,
        loss: Loss,
        bound: float,
        fit_intercept: bool,
    ):
        self.y, self.shares, self.loss = y, shares, loss
        self.bound, self.fit_intercept = bound, fit_intercept
        self.mean = shares @ X if fit_intercept else np.zeros(X.shape[1])
        # in a unit in which weights are between -1 and 1
        self.rows = bound * (X - self.mean)

    def value_and_slope(self, v: NDArray, loss: Loss) -> tuple[float, NDArray]:
        """Return the objective and its gradient for a loss; the last entry of v is b."""
        u = self.rows @ v[:-1] + v[-1]
        slopes = self.shares * loss.slope(u, self.y)
        last = slopes.sum() if self.fit_intercept else 0.0
        return float(self.shares @ loss.value(u, self.y)), np.append(slopes @ self.rows, last)

    def gap(self, v: NDArray, loss: Loss) -> tuple[float, float]:
        """Return the objective of the loss itself, and its duality gap.

        Slopes of the (smoothed) loss at the rows, balanced between the classes, are dual variables
        s_i; the dual objective is ``-sum_i q_i conjugate(s_i) - |sum_i q_i s_i rows_i|_1``.
        """
        u = self.rows @ v[:-1] + v[-1]
        slopes = loss.slope(u, self.y)
        if self.fit_intercept:
            slopes = self._balanced(slopes)
        dual = -float(self.shares @ self.loss.conjugate(slopes, self.y))
        dual -= float(np.abs((self.shares * slopes) @ self.rows).sum())
        objective = float(self.shares @ self.loss.value(u, self.y))
        return objective, objective - dual

    def _balanced(self, slopes: NDArray) -> NDArray:
        """Return slopes whose weighted sum is zero: those of one class are scaled down."""
        is_positive = self.y > 0
        sums = {
            side: abs(self.shares[side == is_positive] @ slopes[side == is_positive])
            for side in (True, False)
        }
        smaller = min(sums.values())
        factors = {side: smaller / total if total > 0 else 0.0 for side, total in sums.items()}
        return slopes * np.where(is_positive, factors[True], factors[False])

    def function(self, v: NDArray, objective: float, gap: float, n_iter: int) -> BoundedFunction:
        """Return the function of weights in the unit of the rows."""
        coef = self.bound * v[:-1]
        return BoundedFunction(coef, float(v[-1] - self.mean @ coef), objective, gap, n_iter)


def solve_box(problem: BoxProblem, tol: float, max_iter: int) -> BoundedFunction:
    """Minimise by L-BFGS-B, and smooth a kink less and less, until the duality gap is small.

    Parameters
    ----------
    problem : BoxProblem
    tol : float
        Stop at a duality gap of ``tol`` times the loss at zero.
    max_iter : int
        Largest number of steps.

    Returns
    -------
    BoundedFunction
    """
    n_features = problem.rows.shape[1]
    bounds = [(-1.0, 1.0)] * n_features + [(None, None) if problem.fit_intercept else (0.0, 0.0)]
    v, smoothing, n_iter = np.zeros(n_features + 1), FIRST_SMOOTHING, 0
    at_zero = float(problem.loss.value(np.zeros(1), 1.0)[0])
    best: BoundedFunction | None = None
    while True:
        loss = problem.loss.smoothed(smoothing)
        steps = max(1, min(STEPS_BETWEEN_GAPS, max_iter - n_iter))
        result = minimize(
            problem.value_and_slope,
            v,
            args=(loss,),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": steps, "maxcor": 20, "ftol": 1e-15, "gtol": 1e-12},
        )
        v, n_iter = result.x, n_iter + max(1, result.nit)
        objective, gap = problem.gap(v, loss)
        if best is None or gap < best.gap:
            best = problem.function(v, objective, gap, n_iter)
        is_minimum = result.nit < steps
        if best.gap <= tol * at_zero or n_iter >= max_iter:
            break
        if is_minimum:
            if problem.loss.is_smooth or smoothing < tol * at_zero / 100:
                break
            smoothing *= SMOOTHING_FACTOR
    return BoundedFunction(best.coef, best.intercept, best.objective, best.gap, n_iter)
