"""Line searches for representer problems, without products with the Gram matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lstsq
from scipy.optimize import brentq

from invarlearn.solvers.representer import Point, RepresenterProblem


def line_search(problem: RepresenterProblem, at: Point, along: Point, slack: float = 0.0) -> float:
    """Return the step that minimises the objective along a direction.

    Parameters
    ----------
    problem : RepresenterProblem
        With smooth losses.
    at : Point
        The initial point.
    along : Point
        The direction.
    slack : float, default=0.0
        Tolerance for the derivative at the end, relative to that at the start. 0: the exact
        minimum.

    Returns
    -------
    float
        The step; 0 if the objective does not decrease along the direction.
    """
    squared_norm = float(along.c @ along.dual)
    product = float(at.c @ along.dual)

    def derivative(step: float) -> float:
        losses = float(problem.slopes(at.u + step * along.u) @ along.u)
        return product + step * squared_norm + losses

    initial = derivative(0.0)
    if initial >= 0:
        return 0.0
    high, value = 1.0, derivative(1.0)
    if abs(value) <= slack * -initial:
        return 1.0
    while value < 0 and high < 1e12:
        high *= 4
        value = derivative(high)
    if value < 0:
        return high
    if slack:
        return _false_position(derivative, high, slack * -initial)
    return float(brentq(derivative, 0.0, high, xtol=1e-12, rtol=1e-10))


def _false_position(derivative: Callable[[float], float], high: float, tol: float) -> float:
    """Return a step between 0 and ``high`` at which an increasing derivative is small.

    Each third step bisects the interval; the others use the rule of false position.

    Parameters
    ----------
    derivative : callable
        Negative at 0 and not negative at ``high``.
    high : float
    tol : float
        Largest absolute value of the derivative.
    """
    low, low_value, high_value = 0.0, derivative(0.0), derivative(high)
    middle = high
    for iteration in range(60):
        middle = low - low_value * (high - low) / (high_value - low_value)
        if iteration % 3 == 2 or not low < middle < high:
            middle = (low + high) / 2
        value = derivative(middle)
        if abs(value) <= tol:
            break
        if value < 0:
            low, low_value = middle, value
        else:
            high, high_value = middle, value
    return middle


def balance_basis(problem: RepresenterProblem, at: Point, max_iter: int = 3) -> Point:
    """Optimise the weights of the basis functions for a fixed f, by Newton's method.

    Parameters
    ----------
    problem : RepresenterProblem
        With smooth losses.
    at : Point
    max_iter : int, default=3

    Returns
    -------
    Point
    """
    basis = problem.basis
    if not basis.shape[1]:
        return at
    for _ in range(max_iter):
        slopes = problem.slopes(at.u)
        gradient = basis.T @ slopes
        if np.abs(gradient).max() <= 1e-12 * np.abs(slopes).sum():
            break
        hessian = basis.T @ (problem.curvatures(at.u)[:, None] * basis)
        dw = -lstsq(hessian, gradient)[0] if hessian.any() else -gradient
        du = basis @ dw
        direction = Point(np.zeros_like(at.c), dw, np.zeros_like(at.dual), 0 * du, du)
        step = line_search(problem, at, direction, slack=0.1)
        if step == 0:
            break
        at = Point(at.c, at.w + step * dw, at.dual, at.values, at.u + step * du)
    return at
