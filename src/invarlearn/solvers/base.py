"""Base classes of solvers: problems, requirements, runs and certified solutions.

A problem is a frozen object that does not depend on estimators. A solver declares the kind of
problem that it solves, and its requirements, which are checked before it runs. It returns a
:class:`Solution` with a duality gap. Solvers are registered in one table, which estimators and
error messages use; :func:`solver_names` lists its names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.progress import Progress
from invarlearn._utils.validation import check_number

Numbers = NDArray[np.float64]


class Problem(Protocol):
    """Interface of problems."""

    def objective(self, coef: Numbers, offset: Numbers) -> float:
        """Return the objective at coefficients and offsets, see :class:`Solution`."""

    def scale(self, objective: float) -> float:
        """Return the scale that ``tol`` is relative to, given the value of the objective."""


P = TypeVar("P", bound=Problem)


@dataclass(frozen=True)
class Requirement:
    """A property of problems that some solvers need.

    Parameters
    ----------
    text : str
        The property, as the end of "solver='newton' requires ...".
    holds : callable
        ``holds(problem)`` returns whether the problem has the property.
    """

    text: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True)
class Solution:
    """The solution of a problem, with a certificate of its distance to the optimum.

    Attributes
    ----------
    coef : array
        Coefficients of the function. Their shape is (n_functionals,) for representer problems,
        (n_weights,) for linear worst-case risks, and (n_functions, n_rows) at the rows of the
        oracle for worst-case risks with a kernel.
    objective : float
    gap : float
        Duality gap: the optimum is at most this much below ``objective``.
    n_iter : int
        Number of iterations; each solver documents what it counts.
    converged : bool
        Whether the gap is at most ``tol`` times the scale of the problem.
    reason : str
        Advice on what to change if the solver has not converged; otherwise empty.
    offset : array of shape (n_basis,)
        Weights of unpenalised basis functions; empty if the problem has none.
    history : tuple of (objective, gap)
        Objectives and gaps during the run, oldest first.
    """

    coef: Numbers
    objective: float
    gap: float
    n_iter: int
    converged: bool
    reason: str = ""
    offset: Numbers = field(default_factory=lambda: np.zeros(0))
    history: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Run:
    """How one run of a solver starts, stops and reports.

    Attributes
    ----------
    tol : float
        The run stops at a gap of ``tol`` times the scale of the problem.
    max_iter : int
    start : pair of arrays, optional
        Coefficients and offsets to start from. None: zeros.
    rng : RandomState
    progress : callable, optional
        Called after each iteration.
    """

    tol: float
    max_iter: int
    start: tuple[Numbers, Numbers] | None
    rng: np.random.RandomState
    progress: Progress | None = None

    def report(self, n_iter: int, objective: float, gap: float) -> None:
        """Report an iteration to the progress callback."""
        if self.progress is not None:
            message = f"objective {objective:.6g}, gap {gap:.2g}"
            self.progress(n_iter, self.max_iter, None, message)


class Solver(ABC, Generic[P]):
    """Base class of solvers, which minimise the objective of a problem to a certified gap.

    Subclasses are frozen dataclasses whose fields are the settings of the solver. They set the
    class attributes and implement :meth:`run`. Pass an object of the class as ``solver=``, or make
    it available by its name with :func:`register`. Test it with
    :func:`invarlearn.testing.check_solver`.

    Attributes
    ----------
    name : str
        The name that ``solver=`` takes.
    solves : type
        The kind of problem: :class:`~invarlearn.solvers.representer.RepresenterProblem` or
        :class:`~invarlearn.solvers.worst_case.WorstCaseProblem`.
    requires : tuple of Requirement
        Properties of a problem without which the solver cannot run.
    """

    name: ClassVar[str]
    solves: ClassVar[type]
    requires: ClassVar[tuple[Requirement, ...]] = ()

    @abstractmethod
    def run(self, problem: P, run: Run) -> Solution:
        """Solve a problem that meets the requirements."""
        raise NotImplementedError

    def choose(self, problem: P) -> Solver[P]:
        """Return the solver that is run on a problem: this one, unless it delegates to others."""
        return self

    def eliminator(self) -> Any:
        """Return the :class:`~invarlearn.solvers.Eliminate` solver in use where possible, or None.

        Cross-validation then eliminates the functionals once for all folds.
        """
        return None

    def missing(self, problem: P) -> list[str]:
        """Return the texts of the requirements that a problem does not meet."""
        return [required.text for required in self.requires if not required.holds(problem)]

    def check(self, problem: P) -> None:
        """Raise a ValueError if a problem does not meet the requirements; name other solvers."""
        missing = self.missing(problem)
        if not missing:
            return
        kinds = _SOLVERS.get(self.solves, {})
        usable = sorted(name for name, kind in kinds.items() if not kind().missing(problem))
        advice = f"choose one of {', '.join(usable)}" if usable else "no registered solver fits it"
        raise ValueError(
            f"solver={self.name!r} requires {' and '.join(missing)}, which this problem does not "
            f"have: {advice}"
        )

    def solve(
        self,
        problem: P,
        tol: float = 1e-6,
        max_iter: int = 1000,
        start: tuple[Numbers, Numbers] | None = None,
        rng: np.random.RandomState | None = None,
        progress: Progress | None = None,
    ) -> Solution:
        """Check the requirements and solve.

        Parameters
        ----------
        problem : Problem
            A problem of the kind ``solves``.
        tol : float, default=1e-6
            Stop at a duality gap of ``tol`` times the scale of the problem.
        max_iter : int, default=1000
        start : pair of arrays, optional
            Coefficients and offsets to start from. None: zeros.
        rng : RandomState, optional
            The order of samples, for solvers that visit them in random order. None: seed 0.
        progress : callable, optional
            Called as ``progress(n_iter, max_iter, None, "objective ..., gap ...")``.

        Returns
        -------
        Solution
        """
        tol = check_number(tol, "tol", low=0)
        max_iter = int(check_number(max_iter, "max_iter", low=1, whole=True))
        solver = self.choose(problem)
        solver.check(problem)
        rng = np.random.RandomState(0) if rng is None else rng
        return solver.run(problem, Run(tol, max_iter, start, rng, progress))


_SOLVERS: dict[type, dict[str, type[Solver]]] = {}

S = TypeVar("S", bound=type[Solver])


def register(solver: S) -> S:
    """Register a solver under its name and its kind of problem (class decorator).

    All fields of the solver need default values.
    """
    names = _SOLVERS.setdefault(solver.solves, {})
    registered = names.get(solver.name)
    # a class that is defined again, as in notebooks, replaces the registered one
    if registered is not None and registered.__qualname__ != solver.__qualname__:
        raise ValueError(
            f"{solver.__qualname__} has the name {solver.name!r} of {registered.__qualname__}: "
            "choose another name"
        )
    names[solver.name] = solver
    return solver


def solver_names(kind: type) -> tuple[str, ...]:
    """Return the names of the solvers of a kind of problem, sorted."""
    return tuple(sorted(_SOLVERS.get(kind, {})))


@dataclass(frozen=True)
class SolverSetting:
    """A parameter of an estimator that sets a field of solvers.

    Attributes
    ----------
    parameter : str
        Name of the parameter.
    given, default : object
        Value and default of the parameter.
    value : object
        Value of the field.
    is_shared : bool, default=False
        Whether the parameter has an effect with solvers that do not have the field.
    """

    parameter: str
    given: Any
    default: Any
    value: Any
    is_shared: bool = False

    @property
    def is_default(self) -> bool:
        """Whether the parameter has its default value."""
        return bool(self.given == self.default)


def resolve_solver(solver: Any, kind: type, **settings: SolverSetting) -> Solver:
    """Return the solver with a name, or check a solver that is passed as an object.

    Parameters
    ----------
    solver : str or Solver
    kind : type
        The kind of problem.
    **settings
        Fields of a solver that is passed by name. A Solver object has its own settings.

    Raises
    ------
    ValueError
        If a setting that is not the default would have no effect: the solver does not have the
        field, or is an object.
    """
    names = solver_names(kind)
    if isinstance(solver, Solver) and solver.solves is kind:
        _check_no_settings(solver, settings)
        return solver
    if not isinstance(solver, str) or solver not in names:
        raise ValueError(
            f"solver={solver!r} is unknown: choose one of {', '.join(names)}, or pass a Solver "
            f"object for a {kind.__name__}"
        )
    chosen = _SOLVERS[kind][solver]
    values = {name: s.value for name, s in settings.items() if name in _fields(chosen)}
    for name, setting in settings.items():
        if name not in values and not (setting.is_shared or setting.is_default):
            usable = [repr(other) for other in names if name in _fields(_SOLVERS[kind][other])]
            raise ValueError(
                f"{setting.parameter}={setting.given!r} needs solver={' or '.join(usable)}, not "
                f"{solver!r}"
            )
    return chosen(**values)


def _fields(solver: type[Solver] | Solver) -> dict[str, Any]:
    return getattr(solver, "__dataclass_fields__", {})


def _check_no_settings(solver: Solver, settings: dict[str, SolverSetting]) -> None:
    """Raise a ValueError if a parameter of an estimator is set beside a Solver object."""
    for name, setting in settings.items():
        if not setting.is_default:
            advice = f", and pass {name} to the solver" if name in _fields(solver) else ""
            raise ValueError(
                f"{setting.parameter}={setting.given!r} has no effect on solver={solver!r}, which "
                f"has its own settings: leave {setting.parameter} at its default{advice}"
            )
