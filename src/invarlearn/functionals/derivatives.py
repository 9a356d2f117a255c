"""Derivatives as functionals: by every feature, and along transformations."""

from __future__ import annotations

import numpy as np

from invarlearn.functionals.base import Functional, Gradients, Rows, Slopes, Term
from invarlearn.transforms import Family


class Derivative(Functional):
    """All partial derivatives at each row (paper 002, section 4.1).

    Examples
    --------
    >>> import numpy as np
    >>> from invarlearn.functionals import Representers
    >>> from invarlearn.kernels import RBF
    >>> z = Representers(RBF(gamma=0.5), [Derivative()], np.zeros((1, 2)))
    >>> z.gram()
    array([[1., 0.],
           [0., 1.]])
    """

    def terms(self, X: Rows) -> list[Term]:
        return [Gradients(X)]


class Tangent(Functional):
    """Derivatives along the tangents of a family at each row (paper 002, section 4.2).

    Parameters
    ----------
    family : Family
    smoothing : float, optional
        As in :meth:`~invarlearn.transforms.Family.tangents`.
    normalize : bool, default=True
        Whether tangents are divided by their norms, so that directions in other units count alike.
    """

    def __init__(self, family: Family, smoothing: float | None = None, normalize: bool = True):
        self.family = family
        self.smoothing = smoothing
        self.normalize = normalize

    def terms(self, X: Rows) -> list[Term]:
        if not isinstance(self.family, Family):
            raise TypeError(
                f"family={self.family!r} is not a Family: build one from invarlearn.transforms"
            )
        tangents = self.family.tangents(X, self.smoothing).astype(float)
        n, k, d = tangents.shape
        if k == 0:
            raise ValueError(f"{self.family!r} has no tangents: choose a family that moves rows")
        directions = tangents.reshape(-1, d)
        if self.normalize:
            norms = np.linalg.norm(directions, axis=1, keepdims=True)
            directions = np.divide(
                directions, norms, out=np.zeros_like(directions), where=norms > 0
            )
        return [Slopes(X, np.repeat(np.arange(n), k), directions)]
