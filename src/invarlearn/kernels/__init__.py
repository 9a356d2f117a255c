"""Kernels: similarities of rows, as objects over pure functions."""

from invarlearn.kernels.base import RBF, DotKernel, Kernel, Linear, Polynomial
from invarlearn.kernels.definiteness import Spectrum, definite_bound, definite_up_to, spectrum_of
from invarlearn.kernels.local import LocalPolynomial
from invarlearn.kernels.orbit import HaarKernel, OrbitKernel

__all__ = [
    "RBF",
    "DotKernel",
    "HaarKernel",
    "Kernel",
    "Linear",
    "LocalPolynomial",
    "OrbitKernel",
    "Polynomial",
    "Spectrum",
    "definite_bound",
    "definite_up_to",
    "spectrum_of",
]
