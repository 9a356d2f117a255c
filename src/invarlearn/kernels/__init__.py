"""Kernels: similarities of rows, as objects over pure functions."""

from invarlearn.kernels.base import RBF, Kernel, Linear, Polynomial

__all__ = ["RBF", "Kernel", "Linear", "Polynomial"]
