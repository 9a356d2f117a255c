"""Sums of Gaussian kernels of several widths."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from invarlearn.kernels.base import Rows
from invarlearn.kernels.radial import RadialKernel


class RBFMixture(RadialKernel):
    """The kernel ``k(x, y) = sum_i weights[i] exp(-gammas[i] |x - y|^2)``.

    Parameters
    ----------
    gammas : array-like of shape (n_components,)
        Not negative.
    weights : array-like of shape (n_components,), optional
        Not negative. None: equal weights that sum to one.

    Examples
    --------
    >>> RBFMixture([0.5, 2.0])([[0.0, 0.0]], [[1.0, 0.0]]).round(4)
    array([[0.3709]])
    """

    profile_orders = math.inf
    supports_blur = True

    def __init__(self, gammas: ArrayLike = (0.1, 1.0, 10.0), weights: ArrayLike | None = None):
        self.gammas = gammas
        self.weights = weights

    def profile(self, s: Rows, order: int) -> Rows:
        out = np.zeros_like(s)
        for gamma, weight in zip(*self._components(), strict=True):
            out += s.dtype.type(weight * (-gamma) ** order) * np.exp(s.dtype.type(-gamma) * s)
        return out

    def blurred(self, variance: float, n_features: int) -> tuple[float, RBFMixture]:
        """Return the kernel averaged over a Gaussian: each component is averaged as in RBF."""
        gammas, weights = self._components()
        growth = 1 + 2 * gammas * variance
        return 1.0, RBFMixture(gammas / growth, weights * growth ** (-n_features / 2))

    def _components(self) -> tuple[Rows, Rows]:
        gammas = np.atleast_1d(np.asarray(self.gammas, dtype=float))
        equal = np.full(gammas.shape, 1 / max(1, gammas.size))
        weights = equal if self.weights is None else np.asarray(self.weights, dtype=float)
        valid = np.isfinite(gammas).all() and np.isfinite(weights).all()
        if gammas.ndim != 1 or weights.shape != gammas.shape or not gammas.size or not valid:
            raise ValueError(
                f"gammas and weights must be finite numbers, of equal length, but have shapes "
                f"{gammas.shape} and {weights.shape}"
            )
        if (gammas < 0).any() or (weights < 0).any():
            raise ValueError("gammas and weights must not be negative")
        return gammas, weights
