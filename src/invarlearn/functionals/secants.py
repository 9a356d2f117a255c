"""Derivatives along the differences between rows and their transformed copies."""

from __future__ import annotations

import numpy as np

from invarlearn.functionals.base import Functional, FunctionalTerm, Rows, Slopes
from invarlearn.functionals.changes import transformed_copies
from invarlearn.transforms import Family


class Secant(Functional):
    """The derivative of f at each row along its change under each transformation.

    ``<grad f(x), g x - x>`` for each element g of the family. Zhang et al. (2013, section 6.3)
    approximate tangents by these differences. :class:`Tangent` has the derivatives of the
    transformations instead, and :class:`Change` the values of f at the transformed copies.

    Parameters
    ----------
    family : Family
        Its orbits must be finite.

    Examples
    --------
    >>> from invarlearn.functionals import Representers
    >>> from invarlearn.kernels import Polynomial
    >>> from invarlearn.transforms import Reflection
    >>> flip = Secant(Reflection(shape=(1, 2)))
    >>> z = Representers(Polynomial(degree=2, coef0=0.0), [flip], [[1.0, 3.0]])
    >>> z.at([[1.0, 0.0], [0.0, 1.0]])
    array([[  4.],
           [-12.]])
    """

    def __init__(self, family: Family):
        self.family = family

    def terms(self, X: Rows) -> list[FunctionalTerm]:
        copies = transformed_copies(self.family, X)
        n, k, d = copies.shape
        differences = (copies[:, 1:] - copies[:, :1]).reshape(-1, d)
        return [Slopes(X, np.repeat(np.arange(n), k - 1), differences)]
