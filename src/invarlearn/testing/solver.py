"""Contract tests of solvers."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from invarlearn.solvers import Solution, Solver, resolve_solver, solver_names


def check_solver(
    solver: Solver, problem: Any, tol: float = 1e-4, max_iter: int = 10_000, rounding: float = 1e-8
) -> None:
    """Check a solver on a problem that meets its requirements.

    - The objective is that of the returned coefficients.
    - The duality gap is valid: no other solver, and no point near the solution, has an objective
      below ``objective - gap``.
    - The gap is at most ``tol`` times the scale of the problem, and the solution says so.
    - A run that stops early has a valid gap too, and gives the reason.
    - The same seed gives the same solution.
    - Progress is reported in increasing steps, and an interruption reaches the caller.
    - A run that starts from a solution ends at the same objective, and does not modify its start.

    Parameters
    ----------
    solver : Solver
    problem : RepresenterProblem or WorstCaseProblem
        A small problem of the kind that the solver solves.
    tol : float, default=1e-4
        The solver must reach this tolerance.
    max_iter : int, default=10_000
        The number of iterations in which it must do so.
    rounding : float, default=1e-8
        Tolerance of comparisons, relative to the scale of the problem.

    Raises
    ------
    AssertionError
        If a property does not hold. The message names it.
    ValueError
        If the problem does not meet the requirements of the solver.

    Examples
    --------
    >>> import numpy as np
    >>> from invarlearn.losses import Logistic
    >>> from invarlearn.solvers import Newton, RepresenterProblem
    >>> from invarlearn.solvers.representer import Term
    >>> labels = Term(slice(0, 3), Logistic(), np.array([1.0, -1.0, 1.0]), 2.0)
    >>> problem = RepresenterProblem.dense(np.eye(3), np.ones((3, 1)), [labels])
    >>> check_solver(Newton(), problem)
    """
    assert isinstance(solver, Solver), f"{solver!r} is not a Solver"
    assert isinstance(problem, solver.solves), (
        f"{solver!r} solves a {solver.solves.__name__}, but the problem is a "
        f"{type(problem).__name__}"
    )
    steps: list[tuple[int, int]] = []

    def record(done: int, total: int, seconds_left: float | None = None, message: str = "") -> None:
        steps.append((done, total))

    # every run has a problem of its own, because oracles store the rows of their columns
    solved: Any = deepcopy(problem)
    solution = solver.solve(solved, tol, max_iter, progress=record)
    slack = rounding * solved.scale(solution.objective)
    _check_certificate(solution, solved, tol, slack)
    assert solution.converged, f"the solver does not reach tol={tol:g}: {solution.reason}"
    _check_lower_bound(solution, _reference_objectives(solver, problem, tol), slack)
    _check_lower_bound(solution, _objectives_nearby(solution, solved), slack)
    _check_progress(steps, max_iter)
    _check_interruption(solver, deepcopy(problem), tol, max_iter, bool(steps))
    _check_short_run(solver, deepcopy(problem), tol, solution.objective, slack)
    np.testing.assert_array_equal(
        solver.solve(deepcopy(problem), tol, max_iter).coef,
        solution.coef,
        err_msg="the same seed gives another solution",
    )
    _check_warm_start(solver, deepcopy(problem), tol, max_iter, solution, slack)


def _check_certificate(solution: Solution, problem: Any, tol: float, slack: float) -> None:
    """Check that the fields of a solution agree with each other and with the problem."""
    objective = problem.objective(solution.coef, solution.offset)
    assert abs(objective - solution.objective) <= slack, (
        f"the objective is {objective:.10g} at the coefficients, but the solution says "
        f"{solution.objective:.10g}"
    )
    assert solution.gap >= -slack, f"the duality gap is negative: {solution.gap:.2e}"
    limit = tol * problem.scale(solution.objective) + slack
    if solution.converged:
        assert solution.gap <= limit, (
            f"the solution has converged with a gap of {solution.gap:.2e}, above {limit:.2e}"
        )
        assert not solution.reason, f"a converged solution has a reason: {solution.reason}"
    else:
        assert solution.reason, "the solution has not converged, but has no reason"


def _check_lower_bound(solution: Solution, objectives: list[float], slack: float) -> None:
    lowest = min(objectives, default=np.inf)
    bound = solution.objective - solution.gap
    assert lowest >= bound - slack, (
        f"the duality gap is too small: another point has the objective {lowest:.10g}, below the "
        f"lower bound {bound:.10g}"
    )


def _reference_objectives(solver: Solver, problem: Any, tol: float) -> list[float]:
    """Return the objectives that other solvers of this kind of problem reach, converged or not."""
    others = [resolve_solver(name, solver.solves) for name in solver_names(solver.solves)]
    usable = [
        other for other in others if type(other) is not type(solver) and not other.missing(problem)
    ]
    return [other.solve(deepcopy(problem), tol, 1000).objective for other in usable]


def _objectives_nearby(solution: Solution, problem: Any, n_points: int = 20) -> list[float]:
    """Return the objectives at zero, at scaled coefficients and at random points near them."""
    rng = np.random.RandomState(0)
    coef, offset = solution.coef, solution.offset
    points = [(scale * coef, scale * offset) for scale in (0.0, 0.9, 0.99, 1.01, 1.1)]
    size = max(float(np.abs(coef).max(initial=0.0)), 1e-3)
    for i in range(n_points):
        distance = size * 10.0 ** -(1 + i % 4)
        points.append(
            (
                coef + distance * rng.standard_normal(coef.shape),
                offset + distance * rng.standard_normal(offset.shape),
            )
        )
    return [problem.objective(*point) for point in points]


def _check_short_run(
    solver: Solver, problem: Any, tol: float, optimum: float, slack: float
) -> None:
    """Check the certificate after one iteration; ``optimum`` is the objective of a solution."""
    solution = solver.solve(problem, tol, 1)
    _check_certificate(solution, problem, tol, slack)
    _check_lower_bound(solution, [optimum], slack)


def _check_warm_start(
    solver: Solver, problem: Any, tol: float, max_iter: int, solution: Solution, slack: float
) -> None:
    start = (solution.coef.copy(), solution.offset.copy())
    for array in start:
        array.flags.writeable = False
    warm = solver.solve(problem, tol, max_iter, start=start)
    _check_certificate(warm, problem, tol, slack)
    assert warm.objective <= solution.objective + max(solution.gap, warm.gap) + slack, (
        "a run that starts from a solution ends at a higher objective"
    )


def _check_progress(steps: list[tuple[int, int]], max_iter: int) -> None:
    done = [step for step, _ in steps]
    assert done == sorted(done), "progress is reported in decreasing steps"
    assert all(total == max_iter for _, total in steps), "progress has another total than max_iter"


def _check_interruption(
    solver: Solver, problem: Any, tol: float, max_iter: int, reports: bool
) -> None:
    def interrupt(
        done: int, total: int, seconds_left: float | None = None, message: str = ""
    ) -> None:
        raise KeyboardInterrupt

    try:
        solver.solve(problem, tol, max_iter, progress=interrupt)
    except KeyboardInterrupt:
        return
    assert not reports, "an interruption in the progress callback does not reach the caller"
