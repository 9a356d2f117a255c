"""Derivatives as functionals: with respect to every feature, and along transformations."""

from __future__ import annotations

import numpy as np

from invarlearn.functionals.base import Functional, FunctionalTerm, Gradients, Rows, Slopes
from invarlearn.transforms import Family


class Derivative(Functional):
    """All partial derivatives at each row (Zhang et al., 2013, section 4.1).

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

    def terms(self, X: Rows) -> list[FunctionalTerm]:
        return [Gradients(X)]


class Tangent(Functional):
    """Derivatives along the tangents of a family at each row (Zhang et al., 2013, section 4.2).

    Parameters
    ----------
    family : Family
    smoothing : float, optional
        As in :meth:`~invarlearn.transforms.Family.tangents`.
    normalize : bool, default=True
        Whether to divide tangents by their norms. The functionals then do not depend on the units
        of the transformations, such as pixels or degrees.
    """

    def __init__(self, family: Family, smoothing: float | None = None, normalize: bool = True):
        self.family = family
        self.smoothing = smoothing
        self.normalize = normalize

    def terms(self, X: Rows) -> list[FunctionalTerm]:
        if not isinstance(self.family, Family):
            raise TypeError(
                f"family={self.family!r} is not a Family: build one from invarlearn.transforms"
            )
        tangents = self.family.tangents(X, self.smoothing).astype(float)
        n, k, d = tangents.shape
        if k == 0:
            raise ValueError(
                f"family={self.family!r} has no tangents: pass a family of continuous "
                "transformations, or use Change"
            )
        directions = tangents.reshape(-1, d)
        if self.normalize:
            norms = np.linalg.norm(directions, axis=1, keepdims=True)
            directions = np.divide(
                directions, norms, out=np.zeros_like(directions), where=norms > 0
            )
        return [Slopes(X, np.repeat(np.arange(n), k), directions)]
