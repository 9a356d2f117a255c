"""The rational quadratic kernel."""

from __future__ import annotations

from invarlearn._utils.validation import check_number
from invarlearn.kernels.base import Rows
from invarlearn.kernels.radial import RadialKernel


class RationalQuadratic(RadialKernel):
    """The rational quadratic kernel ``k(x, y) = (1 + gamma |x - y|^2 / alpha) ** -alpha``.

    This is a mixture of Gaussian kernels of different widths, with heavier tails than a Gaussian
    kernel. It tends to :class:`RBF` as alpha grows. scikit-learn's ``RationalQuadratic`` has
    ``gamma = 1 / (2 * length_scale ** 2)``.

    Parameters
    ----------
    gamma : float, default=1.0
    alpha : float, default=1.0
        Positive number; small values mix more widths.

    Examples
    --------
    >>> RationalQuadratic(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]])
    array([[0.5]])
    """

    name = "rational_quadratic"

    def __init__(self, gamma: float = 1.0, alpha: float = 1.0):
        self.gamma = gamma
        self.alpha = alpha

    def profile(self, s: Rows, order: int) -> Rows:
        gamma = check_number(self.gamma, "gamma", low=0)
        alpha = check_number(self.alpha, "alpha", low=1e-12)
        factor = (1.0, -gamma, gamma**2 * (alpha + 1) / alpha)[order]
        base = 1 + s * s.dtype.type(gamma / alpha)
        return s.dtype.type(factor) * base ** s.dtype.type(-alpha - order)
