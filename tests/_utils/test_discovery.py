"""A new kernel, functional or solver is one new file."""

import pytest

from invarlearn._utils.discovery import defined_classes
from invarlearn.kernels import Kernel, OrbitKernel, RadialKernel
from invarlearn.solvers import Newton, Solver

KERNEL = '''
import numpy as np

from invarlearn.kernels.radial import RadialKernel


class Cauchy(RadialKernel):
    """The kernel 1 / (1 + gamma |x - y|^2)."""

    name = "cauchy"
    name_parameters = ("gamma",)

    def __init__(self, gamma=1.0):
        self.gamma = gamma

    def profile(self, s, order):
        factor = float(np.prod(-np.arange(1.0, order + 1)))
        return factor * self.gamma**order * (1 + self.gamma * s) ** -(order + 1.0)
'''

USE_KERNEL = """
import numpy as np
from invarlearn import InvSVC
from invarlearn.kernels import *
from invarlearn.testing import check_kernel

rng = np.random.RandomState(0)
check_kernel(Cauchy(0.3), rng.randn(6, 3), rng.randn(4, 3))
X = rng.randn(20, 2)
model = InvSVC(kernel="cauchy", gamma=0.7, nu=0.01).fit(X, (X[:, 0] > 0).astype(int))
assert repr(model.kernel_) == "Cauchy(gamma=0.7)", model.kernel_
"""

FUNCTIONAL = '''
import numpy as np
from scipy import sparse

from invarlearn.functionals.base import Functional, Values


class Even(Functional):
    """The difference f(x) - f(-x)."""

    def terms(self, X):
        each = sparse.eye_array(len(X))
        return [Values(np.concatenate([X, -X]), sparse.hstack([each, -each], format="csr"))]
'''

USE_FUNCTIONAL = """
import numpy as np
from invarlearn import InvSVC
from invarlearn.functionals import *
from invarlearn.kernels import RBF
from invarlearn.testing import check_functional

rng = np.random.RandomState(0)
check_functional(Even(), RBF(0.5), rng.randn(4, 3))
X = rng.randn(20, 2)
InvSVC([Even()]).fit(X, (X[:, 0] > 0).astype(int))
"""

SOLVER = '''
from dataclasses import dataclass
from typing import ClassVar

from invarlearn.solvers.base import Solver, register
from invarlearn.solvers.newton import Newton
from invarlearn.solvers.representer import RepresenterProblem


@register
@dataclass(frozen=True)
class Copied(Solver[RepresenterProblem]):
    """Newton's method under another name."""

    name: ClassVar[str] = "copied"
    solves: ClassVar[type] = RepresenterProblem

    def run(self, problem, run):
        return Newton().run(problem, run)
'''

USE_SOLVER = """
import numpy as np
from invarlearn import InvSVC
from invarlearn.solvers import *

assert "copied" in solver_names(RepresenterProblem)
X = np.random.RandomState(0).randn(20, 2)
model = InvSVC(solver="copied").fit(X, (X[:, 0] > 0).astype(int))
assert model.solver_ == "copied", model.solver_
assert Copied.__module__ == "invarlearn.solvers.copied"
"""


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("kernels/cauchy.py", KERNEL, USE_KERNEL),
        ("functionals/even.py", FUNCTIONAL, USE_FUNCTIONAL),
        ("solvers/copied.py", SOLVER, USE_SOLVER),
    ],
    ids=["kernel", "functional", "solver"],
)
def test_a_new_class_is_one_new_file(name, text, code, run_with_files):
    result = run_with_files({name: text}, code)
    assert result.returncode == 0, result.stderr


def test_classes_are_found_where_they_are_defined():
    kernels = defined_classes("invarlearn.kernels", Kernel)
    assert RadialKernel in kernels
    # subpackages are not searched, and imported classes are those of another module
    assert OrbitKernel not in kernels
    assert Newton in defined_classes("invarlearn.solvers", Solver)
    assert all(not found.__name__.startswith("_") for found in kernels)
    assert defined_classes("invarlearn.kernels", Solver) == []
