"""Kernels: similarities of rows, as objects over pure functions."""

from invarlearn.kernels.base import RBF, Kernel, Linear, Polynomial
from invarlearn.kernels.definiteness import definite_bound, definite_up_to
from invarlearn.kernels.local import LocalPolynomial
from invarlearn.kernels.orbit import OrbitKernel

__all__ = [
    "RBF",
    "Kernel",
    "Linear",
    "LocalPolynomial",
    "OrbitKernel",
    "Polynomial",
    "definite_bound",
    "definite_up_to",
]
