"""The exponential of the distance."""

from __future__ import annotations

import math

import numpy as np

from invarlearn._utils.validation import check_number
from invarlearn.kernels.base import Rows
from invarlearn.kernels.radial import RadialKernel
from invarlearn.kernels.rbf_mixture import RBFMixture


class AbsoluteExponential(RadialKernel):
    """The exponential kernel ``k(x, y) = exp(-|x - y| sqrt(2 gamma))``.

    This is the Matérn kernel with ``nu = 0.5``; ``gamma = 1 / (2 * length_scale ** 2)`` in
    scikit-learn's ``Matern``. Functions in its space are continuous and have no derivatives. Local
    averages are functionals on it (Zhang et al., 2013, Theorem 6), and derivatives are not.

    Parameters
    ----------
    gamma : float, default=1.0

    Examples
    --------
    >>> AbsoluteExponential(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.2431]])
    """

    name = "absolute_exponential"
    has_derivatives = False
    supports_blur = True

    def __init__(self, gamma: float = 1.0):
        self.gamma = gamma

    def profile(self, s: Rows, order: int) -> Rows:
        rate = s.dtype.type(math.sqrt(2 * check_number(self.gamma, "gamma", low=0)))
        distance = np.sqrt(s)
        values = np.exp(-rate * distance)
        if order == 0:
            return values
        # infinite at 0, but always multiplied by differences, which are 0 there
        numerator, denominator = (
            (-rate / 2 * values, distance)
            if order == 1
            else (rate / 4 * values * (rate * distance + 1), s * distance)
        )
        return np.divide(numerator, denominator, out=np.zeros_like(s), where=s > 0)

    def blurred(
        self, variance: float, n_features: int, step: float = 0.25, precision: float = 1e-15
    ) -> tuple[float, RBFMixture]:
        """Return the kernel averaged over a Gaussian, as a factor and another kernel.

        The kernel is a mixture of Gaussian kernels, each of which has a closed form:
        ``exp(-r |x - y|)`` is the integral over t of
        ``exp(-e^t |x - y|^2) r exp(-t / 2 - r^2 e^-t / 4) / (2 sqrt(pi))``. The trapezoidal rule
        converges exponentially fast.

        Parameters
        ----------
        variance : float
            Positive.
        n_features : int
        step : float
            Distance of the nodes.
        precision : float
            Weights below this number are left out.
        """
        rate = math.sqrt(2 * check_number(self.gamma, "gamma", low=0))
        if rate == 0:
            return 1.0, RBFMixture([0.0])
        digits = -math.log(precision)
        low = math.log(rate**2 / (4 * digits))
        # beyond 1 / variance, weights decrease like exp(-(n_features + 1) t / 2)
        high = max(low, -math.log(2 * variance)) + 2 * digits / (n_features + 1)
        t = np.arange(low, high + step, step)
        weights = step * rate / (2 * math.sqrt(math.pi)) * np.exp(-t / 2 - rate**2 * np.exp(-t) / 4)
        return RBFMixture(np.exp(t), weights).blurred(variance, n_features)
