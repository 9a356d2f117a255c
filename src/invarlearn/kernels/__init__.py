"""Kernels: similarities of rows, as objects over pure functions."""

from invarlearn.kernels.base import RBF, Kernel, Linear, Polynomial
from invarlearn.kernels.local import LocalPolynomial
from invarlearn.kernels.orbit import OrbitKernel

__all__ = ["RBF", "Kernel", "Linear", "LocalPolynomial", "OrbitKernel", "Polynomial"]
