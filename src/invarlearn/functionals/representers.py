"""Representers of functionals: their Gram matrix, and products without it.

The inner product of two representers is one functional applied to the representer of the other. It
consists of values, first derivatives and mixed derivatives of the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.utils import check_array

from invarlearn._utils.validation import check_memory
from invarlearn.functionals.base import (
    Functional,
    FunctionalTerm,
    Rows,
    Value,
    check_terms,
)
from invarlearn.functionals.basis import Basis
from invarlearn.functionals.gram_blocks import block_product, check_blur, gram_block, smoothed
from invarlearn.kernels.base import Kernel


class Representers:
    """The representers of functionals at rows, in the RKHS of a kernel.

    Parameters
    ----------
    kernel : Kernel
        A kernel with derivatives, such as :class:`~invarlearn.kernels.RBF` or any other
        RadialKernel or DotKernel.
    functionals : sequence of Functional
    X : array-like of shape (n, d), or list of them
        Rows at which the functionals are taken; a list has the rows of each functional. With
        float32 rows, products are computed in single precision, which is twice as fast.

    Examples
    --------
    >>> from invarlearn.functionals import Derivative
    >>> from invarlearn.kernels import RBF
    >>> z = Representers(RBF(0.5), [Derivative()], [[0.0, 0.0]])
    >>> z.gram()
    array([[1., 0.],
           [0., 1.]])
    >>> z.dot([1.0, 2.0])
    array([1., 2.])
    """

    def __init__(self, kernel: Kernel, functionals: Sequence[Functional], X: Any):
        is_list = isinstance(X, (list, tuple)) and all(np.ndim(array) == 2 for array in X)
        arrays = list(X) if is_list else [X] * len(functionals)
        # an array that is passed twice stays one array, so that products share computations
        precisions = [np.float64, np.float32]
        checked = {id(array): check_array(array, dtype=precisions) for array in arrays}
        rows = [checked[id(array)] for array in arrays]
        self.kernel = kernel
        parts = [f.terms(r) for f, r in zip(functionals, rows, strict=True)]
        for functional, terms in zip(functionals, parts, strict=True):
            check_terms(functional, terms)
            check_supported(kernel, functional, terms)
        self._set_parts(parts)

    def _set_parts(self, parts: list[list[FunctionalTerm]]) -> None:
        """Set the terms of each functional, and the places of their representers."""
        terms = [term for part in parts for term in part]
        if any(term.blur for term in terms) and any(term.order for term in terms):
            check_blur(self.kernel)
        self.parts = parts
        ends = np.cumsum([0, *(len(terms[0]) for terms in self.parts)])
        self.places = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        self._precomputed: dict[tuple[int, int, float], tuple[Rows, Rows, Rows]] = {}

    def joined(self, other: Representers) -> Representers:
        """Return these representers followed by others of the same kernel."""
        joint = Representers(self.kernel, [], [])
        joint._set_parts([*self.parts, *other.parts])
        return joint

    def __len__(self) -> int:
        return self.places[-1].stop if self.places else 0

    def __getstate__(self) -> dict[str, Any]:
        # keys are ids of arrays, which are others in a copy
        return {**self.__dict__, "_precomputed": {}}

    def gram(self, other: Representers | None = None) -> Rows:
        """Compute the Gram matrix of these representers, or their inner products with others.

        Parameters
        ----------
        other : Representers, optional
            None: these.

        Returns
        -------
        array of shape (m, len(other))

        Raises
        ------
        MemoryError
            If the matrix does not fit into scikit-learn's ``working_memory``.
        """
        other = self if other is None else other
        shape = (len(self), len(other))
        check_memory(shape, float, "the Gram matrix of representers", "use products, dot()")
        out = np.zeros(shape)
        for rows, terms in zip(self.places, self.parts, strict=True):
            for columns, others in zip(other.places, other.parts, strict=True):
                for left in terms:
                    for right in others:
                        out[rows, columns] += gram_block(self.kernel, left, right)
        return out

    def dot(self, coefficients: ArrayLike, other: Representers | None = None) -> Rows:
        """Apply the functionals to a sum of representers, without the Gram matrix.

        Parameters
        ----------
        coefficients : array-like of shape (len(other),)
            Coefficients of the sum.
        other : Representers, optional
            The representers that are summed. None: these.

        Returns
        -------
        array of shape (m,)
        """
        other = self if other is None else other
        coefficients = np.asarray(coefficients, dtype=float)
        out = np.zeros(len(self))
        for columns, others in zip(other.places, other.parts, strict=True):
            c = coefficients[columns]
            for right in others:
                # terms at the same points share values and gradients
                for placed_terms in self._terms_by_points():
                    left = placed_terms[0][1]
                    if self._has_expansion(left) and self._has_expansion(right):
                        self._add_expansion(out, placed_terms, right, c)
                        continue
                    for place, term in placed_terms:
                        out[place] += block_product(self.kernel, term, right, c)
        return out

    def _has_expansion(self, term: FunctionalTerm) -> bool:
        """Return whether sums of the representers of a term are evaluated by the kernel."""
        return term.has_expansion and (not term.blur or self.kernel.supports_blur)

    def _add_expansion(
        self, out: Rows, placed_terms: list[tuple[slice, Any]], right: Any, coefficients: Rows
    ) -> None:
        """Add the functionals of a sum of representers of ``right`` to ``out``, (m,).

        Parameters
        ----------
        out : array of shape (m,)
        placed_terms : list of (place, term)
            Terms that have the same points and blur.
        right : FunctionalTerm
        coefficients : array of shape (len(right),)
        """
        weights = right.spread(coefficients)
        needs_gradients = any(term.needs_gradients for _, term in placed_terms)
        left = placed_terms[0][1]
        values, gradients = self._evaluate_sum(left, right, weights, needs_gradients)
        for place, term in placed_terms:
            out[place] += term.read(values, gradients)

    def _terms_by_points(self) -> list[list[tuple[slice, FunctionalTerm]]]:
        """Group terms that have the same points and blur; return each with its place."""
        groups: dict[tuple[int, float, bool], list[tuple[slice, FunctionalTerm]]] = {}
        for place, terms in zip(self.places, self.parts, strict=True):
            for term in terms:
                key = id(term.points), term.blur, term.has_expansion
                groups.setdefault(key, []).append((place, term))
        return list(groups.values())

    def _evaluate_sum(
        self,
        left: FunctionalTerm,
        right: FunctionalTerm,
        weights: tuple[Rows | None, Rows | None],
        needs_gradients: bool,
    ) -> tuple[Rows, Rows | None]:
        """Evaluate a sum of representers of ``right`` at the points of ``left``.

        Parameters
        ----------
        left, right : FunctionalTerm
        weights : tuple of arrays
            Weights of values and of gradients at the points of ``right``.
        needs_gradients : bool

        Returns
        -------
        values : array of shape (p,)
        gradients : array of shape (p, d), or None
        """
        Z, X, variance = left.points, right.points, left.blur + right.blur
        scale, kernel = smoothed(self.kernel, variance, Z.shape[1])
        pairs = self._precomputed_pairs(kernel, Z, X, variance)
        values, gradients = kernel.expansion(Z, X, *weights, needs_gradients, pairs)
        return scale * values, None if gradients is None else scale * gradients

    def _precomputed_pairs(self, kernel: Any, Z: Rows, X: Rows, variance: float) -> Rows | None:
        """Return what the kernel precomputes for pairs of rows, cached; None if memory is short."""
        # the arrays are stored too, so that their ids are not reused
        key = (id(Z), id(X), variance)
        if key not in self._precomputed:
            needed = 8.0 * len(Z) * len(X)
            limit = get_config()["working_memory"] * 2**20 / 4
            if sum(pairs.nbytes for _, _, pairs in self._precomputed.values()) + needed > limit:
                return None
            self._precomputed[key] = Z, X, kernel.precompute(Z, X)
        return self._precomputed[key][2]

    def columns(self, indices: ArrayLike) -> Rows:
        """Compute the columns of the Gram matrix with these indices: (m, n_indices)."""
        indices = np.asarray(indices)
        out = np.zeros((len(self), len(indices)))
        for place, terms in zip(self.places, self.parts, strict=True):
            columns = np.flatnonzero((indices >= place.start) & (indices < place.stop))
            if not len(columns):
                continue
            for right in (term.subset(indices[columns] - place.start) for term in terms):
                for rows, lefts in zip(self.places, self.parts, strict=True):
                    for left in lefts:
                        out[rows, columns] += gram_block(self.kernel, left, right)
        return out

    def at(self, Z: ArrayLike) -> Rows:
        """Compute the values of the representers at rows Z, (n, d): (n, m)."""
        return Representers(self.kernel, [Value()], check_array(Z, dtype=float)).gram(self)

    def of_basis(self, basis: Basis) -> Rows:
        """Apply the functionals to basis functions: (m, n_functions)."""
        sums = [sum(term.of_basis(basis) for term in terms) for terms in self.parts]
        return np.concatenate(sums)

    def function(self, coefficients: ArrayLike, Z: ArrayLike) -> Rows:
        """Evaluate the sum of representers with coefficients (m,) at rows Z, (n, d): (n,)."""
        rows = check_array(Z, dtype=float)
        return Representers(self.kernel, [Value()], rows).dot(coefficients, self)


def check_supported(kernel: Kernel, functional: Functional, terms: list[FunctionalTerm]) -> None:
    """Raise an error if the kernel lacks derivatives or averages that a functional needs."""
    if not kernel.has_expansion:
        raise TypeError(
            f"{kernel!r} has no derivatives: functionals need a RadialKernel or a DotKernel, such "
            "as RBF or Polynomial"
        )
    order = max(term.order for term in terms)
    if order and not kernel.has_derivatives:
        raise TypeError(
            f"functions of {kernel!r} have no derivatives, which {functional!r} needs: choose "
            "another kernel, such as RBF"
        )
    if 2 * order > kernel.profile_orders:
        raise TypeError(
            f"{functional!r} needs {2 * order} derivatives of the profile of {kernel!r}, which has "
            f"{kernel.profile_orders}: choose a kernel with more profile_orders, such as RBF"
        )
    if any(term.blur for term in terms) and not (kernel.supports_blur or kernel.supports_averages):
        raise TypeError(
            f"{functional!r} averages functions over a Gaussian, for which {kernel!r} has no "
            "closed form: choose a kernel with supports_blur or supports_averages, such as RBF"
        )
