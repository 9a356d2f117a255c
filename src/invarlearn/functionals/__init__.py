"""Functionals: what a function of a kernel's space does at given rows, as linear maps."""

from invarlearn.functionals.base import Functional, Gradients, Representers, Slopes, Value, Values
from invarlearn.functionals.derivatives import Derivative, Tangent
from invarlearn.functionals.differences import Difference, LocalAverage

__all__ = [
    "Derivative",
    "Difference",
    "Functional",
    "Gradients",
    "LocalAverage",
    "Representers",
    "Slopes",
    "Tangent",
    "Value",
    "Values",
]
