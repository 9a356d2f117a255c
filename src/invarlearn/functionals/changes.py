"""Changes of f under transformations as functionals."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from invarlearn._utils.validation import check_memory
from invarlearn.functionals.base import Functional, FunctionalTerm, Rows, Values
from invarlearn.transforms import Family


class Change(Functional):
    """The change of f from each row to each of its transformed copies, ``f(g x) - f(x)``.

    Derivatives describe f only near a row. Use this functional instead of :class:`Tangent` where
    transformations are large relative to the width of the kernel.

    Parameters
    ----------
    family : Family
        Its orbits must be finite.

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

    def terms(self, X: Rows) -> list[FunctionalTerm]:
        orbit = transformed_copies(self.family, X)
        n, k, d = orbit.shape
        rows = np.repeat(np.arange(n * (k - 1)), 2)
        original = np.repeat(np.arange(n) * k, k - 1)
        transformed = (np.arange(n)[:, None] * k + np.arange(1, k)).ravel()
        signs = np.tile([1.0, -1.0], n * (k - 1))
        columns = np.column_stack([transformed, original]).ravel()
        weights = csr_array((signs, (rows, columns)), (n * (k - 1), n * k))
        return [Values(orbit.reshape(-1, d), weights)]


def transformed_copies(family: Family, X: Rows) -> Rows:
    """Return rows and their transformed copies, (n, k, d), the rows themselves first.

    Parameters
    ----------
    family : Family
        Its orbits must be finite.
    X : array of shape (n, d)
    """
    if not isinstance(family, Family):
        raise TypeError(f"family={family!r} is not a Family: build one from invarlearn.transforms")
    if family.n_elements < 2:
        raise ValueError(f"family={family!r} changes nothing: pass a family that transforms rows")
    shape = (len(X), int(min(family.n_elements, 2**40)), X.shape[1])
    advice = "use Tangent, fewer elements or fewer rows"
    check_memory(shape, float, "the transformed copies of all rows", advice)
    return family.orbit(X).astype(X.dtype, copy=False)
