"""Contract tests of families, kernels, functionals and solvers, also for classes of your own."""

from invarlearn.testing.family import check_family
from invarlearn.testing.functional import check_functional
from invarlearn.testing.kernel import check_kernel
from invarlearn.testing.solver import check_solver

__all__ = ["check_family", "check_functional", "check_kernel", "check_solver"]
