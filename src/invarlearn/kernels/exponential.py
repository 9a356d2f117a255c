"""The exponential of the inner product."""

from __future__ import annotations

import math

import numpy as np

from invarlearn._utils.validation import check_number
from invarlearn.kernels.base import Rows
from invarlearn.kernels.dot import DotKernel, exponential_average


class Exponential(DotKernel):
    """The exponential kernel ``k(x, y) = exp(gamma <x, y>)``.

    It is a sum of polynomial kernels of all degrees. Normalised to k(x, x) = 1, it is the Gaussian
    kernel with ``gamma / 2``.

    Parameters
    ----------
    gamma : float, default=1.0

    Examples
    --------
    >>> Exponential(gamma=0.5)([[1.0, 2.0]], [[2.0, 0.0]]).round(4)
    array([[2.7183]])
    """

    name = "exponential"
    profile_orders = math.inf
    supports_averages = True

    def __init__(self, gamma: float = 1.0):
        self.gamma = gamma

    def profile(self, s: Rows, order: int) -> Rows:
        gamma = check_number(self.gamma, "gamma", low=0)
        return s.dtype.type(gamma**order) * np.exp(s.dtype.type(gamma) * s)

    def averages(self, X: Rows, Y: Rows, variance: float, other_variance: float) -> Rows:
        return exponential_average(X, Y, variance, other_variance, float(self.gamma))
