"""Derivatives of second and higher order as functionals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from math import comb, factorial, prod

import numpy as np

from invarlearn._utils.validation import check_memory, check_number
from invarlearn.functionals.base import Functional, FunctionalTerm, HigherSlopes, Rows


class HigherDerivative(Functional):
    """All partial derivatives of an order at each row (Zhang et al., 2013, after Theorem 4).

    The kernel must be smooth enough: RBF, Polynomial, Linear, Exponential or RBFMixture. A
    mixed partial derivative is a sum of derivatives along directions, by polarisation:

    ``d_1 ... d_r f = sum over signs with s_1 = 1 of s_1 ... s_r D^r f / (2^(r-1) r!)``,

    where ``D^r f`` is the derivative of order r along ``s_1 e_1 + ... + s_r e_r``.

    The sum of the squares of the functionals at a row is the squared Frobenius norm of the tensor
    of all derivatives, which does not depend on the axes. Therefore a mixed partial derivative is
    multiplied by the square root of the number of its orders of differentiation: d12 and d21 count
    as two.

    Parameters
    ----------
    order : int, default=2
        Order r of the derivatives; 1 has the functionals of :class:`Derivative`.
    mixed : bool, default=True
        Whether to include mixed partial derivatives. With d features there are then
        (d + r - 1 choose r) functionals at each row, each a sum of 2^(r - 1) terms, which is slow
        for more than about five features or an order above 3. False: one functional for each
        feature; penalties then depend on the axes.
    isotropic : bool, default=True
        Whether to multiply mixed partial derivatives by the square root of their multinomial
        coefficient. False: each counts once, and penalties depend on the axes.

    Examples
    --------
    >>> from invarlearn.functionals import Representers
    >>> from invarlearn.kernels import Polynomial
    >>> kernel = Polynomial(degree=2, coef0=0.0)
    >>> z = Representers(kernel, [HigherDerivative()], [[1.0, 2.0]])
    >>> z.at([[1.0, 3.0]]).round(2)  # d11, sqrt(2) d12 and d22
    array([[ 2.  ,  8.49, 18.  ]])
    """

    def __init__(self, order: int = 2, mixed: bool = True, isotropic: bool = True):
        self.order = order
        self.mixed = mixed
        self.isotropic = isotropic

    def terms(self, X: Rows) -> list[FunctionalTerm]:
        order = int(check_number(self.order, "order", low=1, whole=True))
        n, d = X.shape
        if not self.mixed or d == 1:
            directions = np.tile(np.eye(d), (n, 1))
            at = np.repeat(np.arange(n), d)
            return [HigherSlopes(X, at, directions, np.ones(n * d), order)]
        m, n_terms = comb(d + order - 1, order), 2 ** (order - 1)
        advice = "use mixed=False, a smaller order or fewer rows"
        check_memory((n_terms, n, m, d), float, "directions of derivatives", advice)
        features = np.array(list(combinations_with_replacement(range(d), order)))
        at = np.repeat(np.arange(n), m)
        scales = np.full(m, 1 / (2 ** (order - 1) * factorial(order)))
        if self.isotropic:
            scales *= np.sqrt([multinomial(indices) for indices in features.tolist()])
        terms: list[FunctionalTerm] = []
        for signs in product([1.0, -1.0], repeat=order - 1):
            weights = np.array([1.0, *signs])
            directions = np.zeros((m, d))
            np.add.at(directions, (np.arange(m)[:, None], features), weights)
            factors = np.tile(scales * weights.prod(), n)
            terms.append(HigherSlopes(X, at, np.tile(directions, (n, 1)), factors, order))
        return terms


def multinomial(indices: Sequence[int]) -> int:
    """Return the number of different orders of indices, some of which are equal."""
    return factorial(len(indices)) // prod(factorial(n) for n in Counter(indices).values())
