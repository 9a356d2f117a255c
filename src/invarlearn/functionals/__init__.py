"""Linear functionals on a reproducing kernel Hilbert space, and kernels that penalise them."""

from invarlearn._utils.discovery import unlisted_classes
from invarlearn.functionals.base import (
    Functional,
    FunctionalTerm,
    Gradients,
    HigherSlopes,
    Slopes,
    Value,
    Values,
)
from invarlearn.functionals.basis import Basis, Constant, Coordinates
from invarlearn.functionals.changes import Change
from invarlearn.functionals.derivatives import Derivative, Tangent
from invarlearn.functionals.differences import Difference, Laplacian, LocalAverage
from invarlearn.functionals.elimination import RepresenterKernel
from invarlearn.functionals.higher import HigherDerivative
from invarlearn.functionals.representers import Representers
from invarlearn.functionals.secants import Secant
from invarlearn.functionals.weighted import Weighted

__all__ = [
    "Basis",
    "Change",
    "Constant",
    "Coordinates",
    "Derivative",
    "Difference",
    "Functional",
    "FunctionalTerm",
    "Gradients",
    "HigherDerivative",
    "HigherSlopes",
    "Laplacian",
    "LocalAverage",
    "RepresenterKernel",
    "Representers",
    "Secant",
    "Slopes",
    "Tangent",
    "Value",
    "Values",
    "Weighted",
]

# Classes of new files are exported automatically; the imports above are for type checkers.
_unlisted = unlisted_classes(__name__, Functional)
globals().update(_unlisted)
__all__ += list(_unlisted)
