"""Functionals: what a function of a kernel's space does at given rows, as linear maps."""

from invarlearn.functionals.base import (
    Functional,
    Gradients,
    Representers,
    Slopes,
    Value,
    Values,
)
from invarlearn.functionals.basis import Basis, Constant, Coordinates
from invarlearn.functionals.changes import Change
from invarlearn.functionals.derivatives import Derivative, Tangent
from invarlearn.functionals.differences import Difference, Laplacian, LocalAverage
from invarlearn.functionals.elimination import RepresenterKernel

__all__ = [
    "Basis",
    "Change",
    "Constant",
    "Coordinates",
    "Derivative",
    "Difference",
    "Functional",
    "Gradients",
    "Laplacian",
    "LocalAverage",
    "RepresenterKernel",
    "Representers",
    "Slopes",
    "Tangent",
    "Value",
    "Values",
]
