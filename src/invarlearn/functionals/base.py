"""Linear functionals on a reproducing kernel Hilbert space, and the terms that they consist of.

A linear functional L maps a function f to a number, for example its value at a point, a
directional derivative, a local average or a difference of two values (Zhang et al., 2013). Every
functional here is a sum of *terms*. A term is a linear map of the values, or of the gradients, of
f at given points. The representer z of L is the function with ``L f = <z, f>`` for all f.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import diags_array, eye_array

from invarlearn._utils.repr import ReprMixin

if TYPE_CHECKING:
    from invarlearn.functionals.basis import Basis

Rows = NDArray[np.float64]

# Maps rows to values of functions, or rows, directions and an order to derivatives: both of shape
# (n, n_functions).
ValuesOf = Callable[[Rows], Rows]
DerivativesOf = Callable[[Rows, Rows, int], Rows]


class FunctionalTerm(ABC):
    """Base class of terms, linear maps of the values or gradients of a function f at points.

    :class:`~invarlearn.functionals.Representers` has the inner products of :class:`Values`,
    :class:`Slopes` and :class:`Gradients`.

    Attributes
    ----------
    kind : str
        Key of the table of inner products.
    has_expansion : bool
        Whether the term is an :class:`ExpandedTerm`.
    order : int
        Order of the derivatives of f, 0 for values.
    points : array of shape (p, d)
    blur : float
        Variance of a Gaussian around each point over which f is averaged.
    """

    kind: ClassVar[str]
    has_expansion: ClassVar[bool] = False
    order: int
    points: Rows
    blur: float

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of functionals m."""

    @abstractmethod
    def check(self) -> None:
        """Raise a ValueError if the shapes of arrays do not agree."""

    @abstractmethod
    def subset(self, indices: NDArray) -> FunctionalTerm:
        """Return the functionals with these indices, and the points that they use."""

    @abstractmethod
    def scaled(self, weights: Rows) -> FunctionalTerm:
        """Return the functionals multiplied by weights, (m,)."""

    @abstractmethod
    def of_basis(self, basis: Basis) -> Rows:
        """Apply the functionals to basis functions: (m, n_functions)."""

    @abstractmethod
    def apply(self, values_of: ValuesOf, derivatives_of: DerivativesOf) -> Rows:
        """Apply the functionals to functions that are given by callables.

        Parameters
        ----------
        values_of : callable
            ``values_of(points)`` returns the values, (p, n_functions), already averaged if the term
            has ``blur``.
        derivatives_of : callable
            ``derivatives_of(points, directions, order)`` returns the derivatives of an order at
            each point along its direction, (p, n_functions).

        Returns
        -------
        array of shape (m, n_functions)
        """


class ExpandedTerm(FunctionalTerm):
    """Base class of linear maps of the values, or of the gradients, of f at points.

    A sum of their representers is a weighted sum of the kernel and its gradients at the points,
    which the kernel evaluates without its Gram matrix.

    Attributes
    ----------
    needs_gradients : bool
        Whether the term depends on gradients of f, in place of values.
    """

    has_expansion: ClassVar[bool] = True
    needs_gradients: ClassVar[bool]

    @abstractmethod
    def read(self, values: Rows, gradients: Rows | None) -> Rows:
        """Compute the functionals of f from its values and gradients at the points.

        Parameters
        ----------
        values : array of shape (p,)
        gradients : array of shape (p, d), or None
            None if the term does not need gradients.

        Returns
        -------
        array of shape (m,)
        """

    @abstractmethod
    def spread(self, coefficients: Rows) -> tuple[Rows | None, Rows | None]:
        """Return a sum of representers as weights of values and gradients at the points.

        Parameters
        ----------
        coefficients : array of shape (m,)

        Returns
        -------
        value_weights : array of shape (p,), or None
        gradient_weights : array of shape (p, d), or None
        """


@dataclass(frozen=True)
class Values(ExpandedTerm):
    """Weighted sums of values of f, ``weights @ f(points)``.

    Attributes
    ----------
    points : array of shape (p, d)
    weights : sparse array of shape (m, p)
    blur : float, default=0.0
        Variance, in each direction, of a Gaussian around each point over which f is averaged. 0: f
        is evaluated at the points, without an average.
    """

    kind: ClassVar[str] = "values"
    needs_gradients: ClassVar[bool] = False
    order: ClassVar[int] = 0  # type: ignore[misc]

    points: Rows
    weights: Any
    blur: float = 0.0

    def __len__(self) -> int:
        return self.weights.shape[0]

    def check(self) -> None:
        if self.weights.shape[1] != len(self.points):
            raise ValueError(
                f"weights of Values have shape {self.weights.shape}; expected one column for each "
                f"of the {len(self.points)} points"
            )

    def read(self, values: Rows, gradients: Rows | None) -> Rows:
        return self.weights @ values

    def spread(self, coefficients: Rows) -> tuple[Rows, None]:
        return self.weights.T @ coefficients, None

    def subset(self, indices: NDArray) -> Values:
        weights = self.weights[indices]
        used = np.flatnonzero(np.asarray(abs(weights).sum(axis=0)).ravel())
        return Values(self.points[used], weights[:, used], self.blur)

    def scaled(self, weights: Rows) -> Values:
        """Return the functionals multiplied by weights, (m,)."""
        return Values(self.points, diags_array(weights) @ self.weights, self.blur)

    def of_basis(self, basis: Basis) -> Rows:
        if self.blur:
            return np.asarray(self.weights @ basis.averages(self.points, self.blur))
        return np.asarray(self.weights @ basis.values(self.points))

    def apply(self, values_of: ValuesOf, derivatives_of: DerivativesOf) -> Rows:
        return np.asarray(self.weights @ values_of(self.points))


@dataclass(frozen=True)
class Slopes(ExpandedTerm):
    """Derivatives of f along directions, ``<directions[i], grad f(points[at[i]])>``.

    Attributes
    ----------
    points : array of shape (p, d)
    at : array of shape (m,)
        Index of the point of each derivative.
    directions : array of shape (m, d)
    blur : float, default=0.0
        Must be 0: averages of derivatives are not implemented.
    """

    kind: ClassVar[str] = "slopes"
    needs_gradients: ClassVar[bool] = True
    order: ClassVar[int] = 1  # type: ignore[misc]

    points: Rows
    at: NDArray[np.intp]
    directions: Rows
    blur: float = 0.0

    def __len__(self) -> int:
        return len(self.at)

    def check(self) -> None:
        _check_directions(self)

    def read(self, values: Rows, gradients: Rows | None) -> Rows:
        assert gradients is not None
        return np.einsum("md,md->m", gradients[self.at], self.directions)

    def spread(self, coefficients: Rows) -> tuple[Rows | None, Rows]:
        gradient_weights = np.zeros_like(self.points)
        np.add.at(gradient_weights, self.at, coefficients[:, None] * self.directions)
        return None, gradient_weights

    def subset(self, indices: NDArray) -> Slopes:
        return Slopes(self.points, self.at[indices], self.directions[indices])

    def scaled(self, weights: Rows) -> Slopes:
        return Slopes(self.points, self.at, weights[:, None] * self.directions)

    def of_basis(self, basis: Basis) -> Rows:
        gradients = basis.gradients(self.points)[self.at]
        return np.einsum("mpd,md->mp", gradients, self.directions)

    def apply(self, values_of: ValuesOf, derivatives_of: DerivativesOf) -> Rows:
        return derivatives_of(self.points[self.at], self.directions, 1)


@dataclass(frozen=True)
class Gradients(ExpandedTerm):
    """All partial derivatives of f at points: ``p * d`` functionals, point by point.

    Attributes
    ----------
    points : array of shape (p, d)
    blur : float, default=0.0
        Must be 0: averages of derivatives are not implemented.
    weights : array of shape (p, d), optional
        Factors of the partial derivatives. None: they are 1.
    """

    kind: ClassVar[str] = "gradients"
    needs_gradients: ClassVar[bool] = True
    order: ClassVar[int] = 1  # type: ignore[misc]

    points: Rows
    blur: float = 0.0
    weights: Rows | None = None

    def __len__(self) -> int:
        return self.points.size

    def check(self) -> None:
        if self.weights is not None and np.shape(self.weights) != self.points.shape:
            raise ValueError(
                f"weights of Gradients have shape {np.shape(self.weights)}; expected "
                f"{self.points.shape}"
            )

    def weighted(self, values: Rows) -> Rows:
        """Return numbers of the partial derivatives, (p * d, ...), times the weights."""
        if self.weights is None:
            return values
        return self.weights.reshape(-1, *[1] * (values.ndim - 1)) * values

    def read(self, values: Rows, gradients: Rows | None) -> Rows:
        assert gradients is not None
        return self.weighted(gradients.ravel())

    def spread(self, coefficients: Rows) -> tuple[Rows | None, Rows]:
        return None, self.weighted(coefficients).reshape(self.points.shape)

    def subset(self, indices: NDArray) -> Slopes:
        at, feature = np.divmod(indices, self.points.shape[1])
        directions = np.zeros((len(at), self.points.shape[1]))
        directions[np.arange(len(at)), feature] = (
            1.0 if self.weights is None else self.weights[at, feature]
        )
        return Slopes(self.points, at, directions)

    def scaled(self, weights: Rows) -> Gradients:
        return Gradients(self.points, self.blur, self.weighted(weights).reshape(self.points.shape))

    def of_basis(self, basis: Basis) -> Rows:
        gradients = basis.gradients(self.points)
        return self.weighted(gradients.transpose(0, 2, 1).reshape(len(self), -1))

    def apply(self, values_of: ValuesOf, derivatives_of: DerivativesOf) -> Rows:
        n, d = self.points.shape
        axes = np.tile(np.eye(d), (n, 1))
        return self.weighted(derivatives_of(np.repeat(self.points, d, axis=0), axes, 1))


@dataclass(frozen=True)
class HigherSlopes(FunctionalTerm):
    """Weighted derivatives of f of any order along directions.

    ``factors[i] * d^order/dt^order f(points[at[i]] + t directions[i])`` at ``t = 0``. Sums of such
    terms are mixed partial derivatives. Products with them use blocks of the Gram matrix.

    Attributes
    ----------
    points : array of shape (p, d)
    at : array of shape (m,)
        Index of the point of each derivative.
    directions : array of shape (m, d)
    factors : array of shape (m,)
    order : int
    blur : float, default=0.0
        Must be 0: averages of derivatives are not implemented.
    """

    kind: ClassVar[str] = "higher_slopes"

    points: Rows
    at: NDArray[np.intp]
    directions: Rows
    factors: Rows
    order: int
    blur: float = 0.0

    def __len__(self) -> int:
        return len(self.at)

    def check(self) -> None:
        _check_directions(self)

    def subset(self, indices: NDArray) -> HigherSlopes:
        at, directions = self.at[indices], self.directions[indices]
        return HigherSlopes(self.points, at, directions, self.factors[indices], self.order)

    def scaled(self, weights: Rows) -> HigherSlopes:
        factors = self.factors * weights
        return HigherSlopes(self.points, self.at, self.directions, factors, self.order)

    def of_basis(self, basis: Basis) -> Rows:
        derivatives = basis.directional(self.points[self.at], self.directions, self.order)
        return self.factors[:, None] * derivatives

    def apply(self, values_of: ValuesOf, derivatives_of: DerivativesOf) -> Rows:
        derivatives = derivatives_of(self.points[self.at], self.directions, self.order)
        return self.factors[:, None] * derivatives


class Functional(ReprMixin, ABC):
    """Base class of functionals that are defined in the same way at every row.

    Subclasses implement ``terms``. Test them with :func:`invarlearn.testing.check_functional`.
    """

    @abstractmethod
    def terms(self, X: Rows) -> list[FunctionalTerm]:
        """Return the terms at rows X, which add up to the functionals.

        Parameters
        ----------
        X : array of shape (n, d)

        Returns
        -------
        list of Values, Slopes, Gradients or HigherSlopes
            All of the same length, the number of functionals.
        """
        raise NotImplementedError


class Value(Functional):
    """The value ``f(x)`` at each row."""

    def terms(self, X: Rows) -> list[FunctionalTerm]:
        return [Values(X, eye_array(len(X), format="csr"))]


def _check_directions(term: Slopes | HigherSlopes) -> None:
    """Raise a ValueError unless there is one direction for each derivative."""
    expected = (len(term.at), term.points.shape[1])
    if np.shape(term.directions) != expected:
        raise ValueError(
            f"directions of {type(term).__name__} have shape {np.shape(term.directions)}; "
            f"expected {expected}"
        )


def check_terms(functional: Functional, terms: Any) -> None:
    """Raise an error if the terms that a functional returns are malformed."""
    if not isinstance(terms, (list, tuple)) or not terms:
        raise TypeError(f"terms of {functional!r} must be a list of terms, not {terms!r:.80}")
    for term in terms:
        if not isinstance(term, FunctionalTerm):
            raise TypeError(
                f"terms of {functional!r} contain {term!r:.80}: they must be Values, Slopes, "
                "Gradients or HigherSlopes"
            )
        try:
            term.check()
        except ValueError as error:
            raise ValueError(f"terms of {functional!r}: {error}") from error
    if len({len(term) for term in terms}) > 1:
        raise ValueError(
            f"terms of {functional!r} are added, so each must have the same number of functionals; "
            f"they have {', '.join(str(len(term)) for term in terms)}"
        )


def check_functionals(functionals: Any) -> list[Functional]:
    """Return one functional or a sequence of functionals as a list."""
    if isinstance(functionals, Functional):
        return [functionals]
    if isinstance(functionals, (list, tuple)) and all(
        isinstance(functional, Functional) for functional in functionals
    ):
        return list(functionals)
    raise TypeError(
        f"functionals={functionals!r} must be Functional objects: build them from "
        "invarlearn.functionals, such as Derivative() or Tangent(family)"
    )
