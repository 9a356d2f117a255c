"""Changes of f under transformations as functionals."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from invarlearn.functionals.base import Functional, Rows, Term, Values
from invarlearn.transforms import Family
from invarlearn.transforms._checks import check_memory


class Change(Functional):
    """The change of f from each row to every transformed copy of it, ``f(g x) - f(x)``.

    Where transformations are large next to the kernel's width, derivatives at a row say little
    about its copies: then this is the functional to use. For families with a finite orbit.

    Parameters
    ----------
    family : Family

    Examples
    --------
    >>> from invarlearn.functionals import Representers
    >>> from invarlearn.kernels import Linear
    >>> from invarlearn.transforms import Reflection
    >>> flip = Change(Reflection(shape=(1, 2)))
    >>> Representers(Linear(), [flip], [[1.0, 3.0]]).at([[1.0, 0.0], [0.0, 1.0]])
    array([[ 2.],
           [-2.]])
    """

    def __init__(self, family: Family):
        self.family = family

    def terms(self, X: Rows) -> list[Term]:
        if not isinstance(self.family, Family):
            raise TypeError(
                f"family={self.family!r} is not a Family: build one from invarlearn.transforms"
            )
        n, d = X.shape
        copies = self.family.n_elements
        if copies < 2:
            raise ValueError(f"{self.family!r} changes nothing: choose a family that moves rows")
        advice = "use Tangent, fewer elements or fewer rows"
        check_memory((n, int(min(copies, 2**40)), d), float, "copies of all rows", advice)
        orbit = self.family.orbit(X).astype(X.dtype, copy=False)
        k = orbit.shape[1]
        rows = np.repeat(np.arange(n * (k - 1)), 2)
        first = np.repeat(np.arange(n) * k, k - 1)
        other = (np.arange(n)[:, None] * k + np.arange(1, k)).ravel()
        signs = np.tile([1.0, -1.0], n * (k - 1))
        columns = np.column_stack([other, first]).ravel()
        weights = csr_array((signs, (rows, columns)), (n * (k - 1), n * k))
        return [Values(orbit.reshape(-1, d), weights)]
