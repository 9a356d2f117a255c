"""Functions that a model may use without penalty (paper 002, Theorem 7)."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from invarlearn.functionals.base import Rows


class Basis(BaseEstimator, ABC):
    """Functions that a model may use without penalty, beside those of the kernel's space.

    To write one, subclass this: functionals need ``gradients`` if they are derivatives and
    ``averages`` if they are local averages.
    """

    @abstractmethod
    def values(self, X: Rows) -> Rows:
        """Give the functions at rows: (n, p)."""
        raise NotImplementedError

    def gradients(self, X: Rows) -> Rows:
        """Give their gradients at rows: (n, p, d)."""
        raise TypeError(f"{self!r} gives no gradients(X), which derivatives as functionals need")

    def averages(self, X: Rows, variance: float) -> Rows:
        """Give their means over a Gaussian about each row: (n, p)."""
        raise TypeError(f"{self!r} gives no averages(X, variance), which local averages need")


class Constant(Basis):
    """The function that is 1 everywhere."""

    def values(self, X: Rows) -> Rows:
        return np.ones((len(X), 1))

    def gradients(self, X: Rows) -> Rows:
        return np.zeros((len(X), 1, X.shape[1]))

    def averages(self, X: Rows, variance: float) -> Rows:
        return self.values(X)


class Coordinates(Basis):
    """Each feature, as a function: with the constant they make all affine functions."""

    def values(self, X: Rows) -> Rows:
        return np.array(X, dtype=float)

    def gradients(self, X: Rows) -> Rows:
        n, d = X.shape
        return np.broadcast_to(np.eye(d), (n, d, d))

    def averages(self, X: Rows, variance: float) -> Rows:
        return self.values(X)
