"""Matérn kernels, which have one or two derivatives at distance 0."""

from __future__ import annotations

import numpy as np

from invarlearn._utils.validation import check_number
from invarlearn.kernels.base import Rows
from invarlearn.kernels.radial import RadialKernel


class Matern(RadialKernel):
    """The Matérn kernel, which is less smooth than the Gaussian kernel.

    ``k(x, y) = (1 + r) exp(-r)`` for ``nu=1.5`` and ``(1 + r + r^2 / 3) exp(-r)`` for ``nu=2.5``,
    where ``r = 2 |x - y| sqrt(nu * gamma)``. scikit-learn's ``Matern`` has
    ``gamma = 1 / (2 * length_scale ** 2)``.

    Parameters
    ----------
    gamma : float, default=1.0
    nu : {1.5, 2.5}, default=2.5
        Smoothness. For both values, functions in the kernel's space have the first derivatives that
        functionals use.

    Examples
    --------
    >>> Matern(gamma=0.5, nu=1.5)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.2978]])
    """

    name = "matern"

    def __init__(self, gamma: float = 1.0, nu: float = 2.5):
        self.gamma = gamma
        self.nu = nu

    def profile(self, s: Rows, order: int) -> Rows:
        gamma = check_number(self.gamma, "gamma", low=0)
        if self.nu not in (1.5, 2.5):
            raise ValueError(f"nu={self.nu!r} is not supported: choose 1.5 or 2.5")
        scale = 4 * float(self.nu) * gamma
        r = np.sqrt(s * s.dtype.type(scale))
        decay = np.exp(-r)
        if self.nu == 2.5:
            factors = (1 + r + r**2 / 3, -scale / 6 * (1 + r), s.dtype.type(scale**2 / 12))
            return factors[order] * decay
        if order < 2:
            return (1 + r if order == 0 else s.dtype.type(-scale / 2)) * decay
        # infinite at 0, but always multiplied by squared differences, which are 0 there
        numerator = s.dtype.type(scale**2 / 4) * decay
        return np.divide(numerator, r, out=np.zeros_like(r), where=r > 0)
