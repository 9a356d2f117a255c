"""Basis functions without penalty (Zhang et al., 2013, Theorem 7)."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from invarlearn.functionals.base import Rows


class Basis(BaseEstimator, ABC):
    """Base class of basis functions without penalty.

    A model is the sum of a function of the RKHS and a linear combination of basis functions.
    Subclasses implement ``values``. They also implement ``gradients`` if functionals are
    derivatives, and ``averages`` if functionals are local averages.
    """

    @abstractmethod
    def values(self, X: Rows) -> Rows:
        """Return the values of the functions at rows X, (n, d): (n, p)."""
        raise NotImplementedError

    def gradients(self, X: Rows) -> Rows:
        """Return the gradients of the functions at rows X, (n, d): (n, p, d)."""
        raise TypeError(
            f"{self!r} has no gradients(X), which derivatives as functionals need: implement it"
        )

    def directional(self, X: Rows, V: Rows, order: int) -> Rows:
        """Return the derivatives of an order along a direction V at each row X, (n, d): (n, p)."""
        if order == 0:
            return self.values(X)
        if order == 1:
            return np.einsum("npd,nd->np", self.gradients(X), V)
        raise TypeError(
            f"{self!r} has no directional(X, V, order={order}), which functionals of higher "
            "derivatives need: implement it"
        )

    def averages(self, X: Rows, variance: float) -> Rows:
        """Return the averages of the functions over Gaussians around rows X, (n, d): (n, p)."""
        raise TypeError(
            f"{self!r} has no averages(X, variance), which local averages need: implement it"
        )


class Constant(Basis):
    """The constant function 1."""

    def values(self, X: Rows) -> Rows:
        return np.ones((len(X), 1))

    def gradients(self, X: Rows) -> Rows:
        return np.zeros((len(X), 1, X.shape[1]))

    def directional(self, X: Rows, V: Rows, order: int) -> Rows:
        return self.values(X) if order == 0 else np.zeros((len(X), 1))

    def averages(self, X: Rows, variance: float) -> Rows:
        return self.values(X)


class Coordinates(Basis):
    """Each feature as a function. Together with :class:`Constant` they span affine functions."""

    def values(self, X: Rows) -> Rows:
        return np.array(X, dtype=float)

    def gradients(self, X: Rows) -> Rows:
        n, d = X.shape
        return np.broadcast_to(np.eye(d), (n, d, d))

    def directional(self, X: Rows, V: Rows, order: int) -> Rows:
        return np.zeros_like(X) if order > 1 else np.array(V if order else X, dtype=float)

    def averages(self, X: Rows, variance: float) -> Rows:
        return self.values(X)
