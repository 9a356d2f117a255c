"""Solvers of convex problems, with a duality gap as the certificate.

Each solver is one file. Its class declares the kind of problem that it solves and
what it requires of a problem. :func:`~invarlearn.solvers.base.solver_names` lists the solvers of a
kind of problem.
"""

from invarlearn._utils.discovery import unlisted_classes
from invarlearn.solvers.base import (
    Requirement,
    Run,
    Solution,
    Solver,
    SolverSetting,
    register,
    resolve_solver,
    solver_names,
)
from invarlearn.solvers.bundle import Bundle
from invarlearn.solvers.columns import ColumnGeneration
from invarlearn.solvers.eliminate import Auto, Eliminate, LabelledRows
from invarlearn.solvers.growing import RandomGrowth, SteepestGrowth
from invarlearn.solvers.lbfgs import LBFGS
from invarlearn.solvers.libsvm import LibSVM
from invarlearn.solvers.newton import Newton
from invarlearn.solvers.pegasos import Pegasos
from invarlearn.solvers.regret import regret_bound
from invarlearn.solvers.representer import RepresenterProblem
from invarlearn.solvers.worst_case import WorstCaseProblem

__all__ = [
    "LBFGS",
    "Auto",
    "Bundle",
    "ColumnGeneration",
    "Eliminate",
    "LabelledRows",
    "LibSVM",
    "Newton",
    "Pegasos",
    "RandomGrowth",
    "RepresenterProblem",
    "Requirement",
    "Run",
    "Solution",
    "Solver",
    "SolverSetting",
    "SteepestGrowth",
    "WorstCaseProblem",
    "register",
    "regret_bound",
    "resolve_solver",
    "solver_names",
]

# Classes of new files are exported automatically; the imports above are for type checkers.
_unlisted = unlisted_classes(__name__, Solver)
globals().update(_unlisted)
__all__ += list(_unlisted)
