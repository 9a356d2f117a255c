"""Linear functionals of functions in a kernel's space, and their representers (paper 002).

A functional gives a number for a function f: its value at a point, its derivative along a
direction there, a mean around it, a difference of two values. Every functional here is a sum of
*terms*, each a linear map of the values, or of the gradients, of f at some points. The inner
product of two representers is one functional applied to the representer of the other, so kernels
with two derivatives are all that is needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import eye_array
from sklearn import get_config
from sklearn.utils import check_array

from invarlearn._readable import Readable
from invarlearn.kernels.base import RBF, DotKernel, Kernel, ProfileKernel, squared_distances
from invarlearn.transforms._checks import check_memory
from invarlearn.transforms._threads import slices

if TYPE_CHECKING:
    from invarlearn.functionals.basis import Basis

Rows = NDArray[np.float64]

# Products run over blocks of about this many pairs of points.
PAIRS = 2**21


@dataclass(frozen=True)
class Values:
    """Weighted sums of values of f, after a Gaussian blur: ``weights @ f(points)``.

    Attributes
    ----------
    points : array of shape (p, d)
    weights : sparse array of shape (m, p)
    blur : float
        Variance of the Gaussian, in each direction, that f is averaged over; 0 for none.
    """

    points: Rows
    weights: Any
    blur: float = 0.0

    def __len__(self) -> int:
        return self.weights.shape[0]

    def read(self, values: Rows, gradients: Rows | None) -> Rows:
        """Give the functionals from values, (p,), and gradients of f at the points: (m,)."""
        return self.weights @ values

    def spread(self, coefficients: Rows) -> tuple[Rows, Rows | None]:
        """Give the weights of values, (p,), and of gradients, (p, d), that coefficients mean."""
        return self.weights.T @ coefficients, None

    def some(self, indices: NDArray) -> Values:
        """Give some of the functionals, at the points that they need."""
        weights = self.weights[indices]
        needed = np.flatnonzero(np.asarray(abs(weights).sum(axis=0)).ravel())
        return Values(self.points[needed], weights[:, needed], self.blur)

    def of_basis(self, basis: Basis) -> Rows:
        """Give the functionals of basis functions: (m, p)."""
        if self.blur:
            return np.asarray(self.weights @ basis.averages(self.points, self.blur))
        return np.asarray(self.weights @ basis.values(self.points))


@dataclass(frozen=True)
class Slopes:
    """Derivatives of f along directions, the i-th one at ``points[at[i]]``.

    Attributes
    ----------
    points : array of shape (p, d)
    at : array of shape (m,)
    directions : array of shape (m, d)
    """

    points: Rows
    at: NDArray[np.intp]
    directions: Rows
    blur: float = 0.0

    def __len__(self) -> int:
        return len(self.at)

    def read(self, values: Rows, gradients: Rows | None) -> Rows:
        """As in :class:`Values`."""
        assert gradients is not None
        return np.einsum("md,md->m", gradients[self.at], self.directions)

    def spread(self, coefficients: Rows) -> tuple[Rows | None, Rows]:
        """As in :class:`Values`."""
        along = np.zeros_like(self.points)
        np.add.at(along, self.at, coefficients[:, None] * self.directions)
        return None, along

    def some(self, indices: NDArray) -> Slopes:
        """As in :class:`Values`."""
        return Slopes(self.points, self.at[indices], self.directions[indices])

    def of_basis(self, basis: Basis) -> Rows:
        """As in :class:`Values`."""
        gradients = basis.gradients(self.points)[self.at]
        return np.einsum("mpd,md->mp", gradients, self.directions)


@dataclass(frozen=True)
class Gradients:
    """All partial derivatives of f at points, those of a point side by side: (p * d,)."""

    points: Rows
    blur: float = 0.0

    def __len__(self) -> int:
        return self.points.size

    def read(self, values: Rows, gradients: Rows | None) -> Rows:
        """As in :class:`Values`."""
        assert gradients is not None
        return gradients.ravel()

    def spread(self, coefficients: Rows) -> tuple[Rows | None, Rows]:
        """As in :class:`Values`."""
        return None, coefficients.reshape(self.points.shape)

    def some(self, indices: NDArray) -> Slopes:
        """As in :class:`Values`."""
        at, part = np.divmod(indices, self.points.shape[1])
        return Slopes(self.points, at, np.eye(self.points.shape[1])[part])

    def of_basis(self, basis: Basis) -> Rows:
        """As in :class:`Values`."""
        gradients = basis.gradients(self.points)
        return gradients.transpose(0, 2, 1).reshape(len(self), -1)


Term = Values | Slopes | Gradients


class Functional(Readable, ABC):
    """A kind of functional: what it is at given rows.

    To write a new one, subclass this and give ``terms``; then run
    :func:`invarlearn.testing.check_functional` on it.
    """

    @abstractmethod
    def terms(self, X: Rows) -> list[Term]:
        """Give the terms at rows X; all have the same number of functionals, and add up."""
        raise NotImplementedError


class Value(Functional):
    """The value of f at each row."""

    def terms(self, X: Rows) -> list[Term]:
        return [Values(X, eye_array(len(X), format="csr"))]


def field(
    kernel: Kernel,
    Z: Rows,
    X: Rows,
    along: tuple[Rows | None, Rows | None],
    blur: float = 0.0,
    gradients: bool = False,
    similar: Rows | None = None,
) -> tuple[Rows, Rows | None]:
    """Give f, and its gradient, at rows Z, for f a sum over rows X.

    f(z) is the sum over i of ``c_i k(x_i, z)`` and of the derivative of k(x_i, z) as x_i moves
    along ``a_i``. Without a dense matrix of derivatives: the cost is that of a few products of Z
    with X (paper 002, equation 11, and the like for other kernels).

    Parameters
    ----------
    kernel : RBF, Polynomial or Linear
    Z : array of shape (n, d)
    X : array of shape (p, d)
    along : pair of arrays
        c, of shape (p,), and a, of shape (p, d); None means zero.
    blur : float
        Variances of both sides, added up.
    gradients : bool
    similar : array of shape (n, p), optional
        What :func:`similarities` gives, if it is at hand.

    Returns
    -------
    values : array of shape (n,)
    gradients : array of shape (n, d), or None
    """
    scale, smooth = blurred(kernel, blur, X.shape[1])
    c, a = (None if part is None else part.astype(X.dtype, copy=False) for part in along)
    values = np.empty(len(Z))
    slopes = np.empty(Z.shape) if gradients else None
    of = _field_of_products if isinstance(smooth, DotKernel) else _field_of_distances
    for some in slices(len(Z), PAIRS // max(1, len(X))):
        base = similarities(smooth, Z[some], X) if similar is None else similar[some]
        values[some], found = of(smooth, base, Z[some], X, c, a, gradients)
        if slopes is not None:
            slopes[some] = found
    return scale * values, None if slopes is None else scale * slopes


def similarities(kernel: Any, Z: Rows, X: Rows) -> Rows:
    """Give what values and derivatives are made of: inner products, or values of an RBF."""
    if isinstance(kernel, DotKernel):
        return Z @ X.T
    return kernel.profile(squared_distances(Z, X), 0)


def _field_of_products(
    kernel: Any, inner: Rows, Z: Rows, X: Rows, c: Rows | None, a: Rows | None, gradients: bool
) -> tuple[Rows, Rows | None]:
    first = kernel.profile(inner, 1)
    moved = None if a is None else Z @ a.T
    values = np.zeros(len(Z)) if c is None else kernel.profile(inner, 0) @ c
    if moved is not None:
        values = values + np.einsum("zx,zx->z", first, moved)
    if not gradients:
        return values, None
    weight = np.zeros_like(first) if c is None else first * c
    if a is None or moved is None:
        return values, weight @ X
    moved *= kernel.profile(inner, 2)
    moved += weight
    return values, moved @ X + first @ a


def _field_of_distances(
    kernel: Any, similar: Rows, Z: Rows, X: Rows, c: Rows | None, a: Rows | None, gradients: bool
) -> tuple[Rows, Rows | None]:
    steep = 2 * kernel.gamma
    if a is None:
        weight = np.zeros_like(similar) if c is None else similar * c
    else:
        weight = Z @ (steep * a).T
        weight -= steep * np.einsum("xd,xd->x", X, a)
        if c is not None:
            weight += c
        weight *= similar
    # the weights of a row add up to the value there
    values = weight.sum(axis=1)
    if not gradients:
        return values, None
    slopes = weight @ X
    slopes -= Z * values[:, None]
    if a is not None:
        slopes += similar @ a
    return values, steep * slopes


def blurred(kernel: Kernel, blur: float, d: int) -> tuple[float, Any]:
    """Give a factor and the kernel between functions that are blurred by Gaussians.

    Variances add up: a Gaussian kernel of variance v becomes one of variance v + blur, times
    (v / (v + blur)) ** (d / 2).
    """
    if blur == 0:
        return 1.0, kernel
    assert isinstance(kernel, RBF)
    variance = 1 / (2 * kernel.gamma)
    wide = variance + blur
    return float((variance / wide) ** (d / 2)), RBF(1 / (2 * wide))


def block(kernel: Kernel, left: Term, right: Term) -> Rows:
    """Give the inner products of the representers of two terms: (len(left), len(right))."""
    order = (Values, Slopes, Gradients)
    if order.index(type(left)) > order.index(type(right)):
        return block(kernel, right, left).T
    scale, smooth = blurred(kernel, left.blur + right.blur, left.points.shape[1])
    return scale * _block(smooth, left, right)


def _block(kernel: Any, left: Term, right: Term) -> Rows:
    """Do so for kernels as they are; ``left`` is the simpler term."""
    if isinstance(left, Values):
        out = np.zeros((len(left), len(right)))
        # kernels have temporaries of their own
        for some in slices(len(left.points), PAIRS // 4 // max(1, len(right.points))):
            out += left.weights[:, some] @ _values_block(kernel, left.points[some], right)
        return out
    if isinstance(left, Slopes):
        points = left.points[left.at]
        if isinstance(right, Slopes):
            other = right.points[right.at]
            return kernel.mixed(points, other, left.directions, right.directions)
        return _mixed_partials(kernel, right.points, points, left.directions).T
    assert isinstance(right, Gradients)
    n, d = left.points.shape
    out = np.empty((n * d, len(right)))
    unit = np.eye(d)
    for i, point in enumerate(left.points):
        # all partial derivatives at one point are slopes there
        here = np.broadcast_to(point, (d, d))
        out[i * d : (i + 1) * d] = _mixed_partials(kernel, right.points, here, unit).T
    return out


def _values_block(kernel: Any, points: Rows, right: Term) -> Rows:
    """Give the inner products of values at points with the representers of a term."""
    if isinstance(right, Values):
        return np.asarray(kernel(points, right.points) @ right.weights.T)
    if isinstance(right, Slopes):
        return kernel.gradient(right.points[right.at], points, right.directions).T
    return _partials(kernel, right.points, points).T


def _partials(kernel: Any, X: Rows, Y: Rows) -> Rows:
    """Give the partial derivatives of k(x, y) by x: (n * d, m)."""
    if isinstance(kernel, DotKernel):
        first = kernel.profile(X @ Y.T, 1)
        return np.einsum("nm,md->ndm", first, Y).reshape(-1, len(Y))
    apart = X[:, None] - Y
    first = 2 * kernel.profile((apart**2).sum(axis=2), 1)
    return (first[..., None] * apart).transpose(0, 2, 1).reshape(-1, len(Y))


def _mixed_partials(kernel: Any, X: Rows, Y: Rows, W: Rows) -> Rows:
    """Give the derivatives of k(x, y) by every part of x, and as y moves along w: (n * d, m)."""
    if isinstance(kernel, DotKernel):
        inner = X @ Y.T
        first, second = kernel.profile(inner, 1), kernel.profile(inner, 2)
        out = np.einsum("nm,md->ndm", second * (X @ W.T), Y) + np.einsum("nm,md->ndm", first, W)
        return out.reshape(-1, len(Y))
    apart = X[:, None] - Y
    squared = (apart**2).sum(axis=2)
    first, second = kernel.profile(squared, 1), kernel.profile(squared, 2)
    along = np.einsum("nmd,md->nm", apart, W)
    out = -4 * (second * along)[..., None] * apart - 2 * first[..., None] * W
    return out.transpose(0, 2, 1).reshape(-1, len(Y))


class Representers:
    """The representers of functionals at rows, in the space of a kernel.

    Parameters
    ----------
    kernel : RBF, Polynomial or Linear
    functionals : sequence of Functional
    X : array-like of shape (n, d)
        Rows at which the functionals are taken; or one array for each functional. Rows of
        float32 make products twice as fast, in that precision.
    """

    def __init__(self, kernel: Kernel, functionals: Sequence[Functional], X: Any):
        each = isinstance(X, (list, tuple)) and all(np.ndim(one) == 2 for one in X)
        given = list(X) if each else [X] * len(functionals)
        # rows that are given twice are to stay one array, so that products share their work
        kinds = [np.float64, np.float32]
        checked = {id(one): check_array(one, dtype=kinds) for one in given}
        rows = [checked[id(one)] for one in given]
        self.kernel = kernel
        parts = [f.terms(r) for f, r in zip(functionals, rows, strict=True)]
        for functional, terms in zip(functionals, parts, strict=True):
            check_terms(functional, terms)
            check_supported(kernel, functional, terms)
        self._place(parts)

    def _place(self, parts: list[list[Term]]) -> None:
        self.parts = parts
        ends = np.cumsum([0, *(len(terms[0]) for terms in self.parts)])
        self.places = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        self._kept: dict[tuple[int, int, float], tuple[Rows, Rows, Rows]] = {}

    def joined(self, other: Representers) -> Representers:
        """Give these representers, followed by others of the same kernel."""
        both = Representers(self.kernel, [], [])
        both._place([*self.parts, *other.parts])
        return both

    def __len__(self) -> int:
        return self.places[-1].stop if self.places else 0

    def __getstate__(self) -> dict[str, Any]:
        # what is kept goes by the identity of arrays, which copies do not have
        return {**self.__dict__, "_kept": {}}

    def gram(self, other: Representers | None = None) -> Rows:
        """Give the inner products with each other, or with others, if they fit into memory."""
        other = self if other is None else other
        shape = (len(self), len(other))
        check_memory(shape, float, "the Gram matrix of representers", "use products, dot()")
        out = np.zeros(shape)
        for rows, terms in zip(self.places, self.parts, strict=True):
            for columns, others in zip(other.places, other.parts, strict=True):
                for left in terms:
                    for right in others:
                        out[rows, columns] += block(self.kernel, left, right)
        return out

    def dot(self, coefficients: ArrayLike, other: Representers | None = None) -> Rows:
        """Apply these functionals to a sum of representers, without their Gram matrix: (m,).

        Parameters
        ----------
        coefficients : array-like of shape (len(other),)
        other : Representers, optional
            Whose sum it is; None: these.
        """
        other = self if other is None else other
        coefficients = np.asarray(coefficients, dtype=float)
        out = np.zeros(len(self))
        for columns, others in zip(other.places, other.parts, strict=True):
            for right in others:
                along = right.spread(coefficients[columns])
                # terms at the same points read the same values and gradients
                for rows, left, needed in self._by_points():
                    blur = rows.blur + right.blur
                    similar = self._similar(rows, right, blur)
                    values, slopes = field(
                        self.kernel, rows.points, right.points, along, blur, needed, similar
                    )
                    for place, term in left:
                        out[place] += term.read(values, slopes)
        return out

    def _by_points(self) -> list[tuple[Term, list[tuple[slice, Term]], bool]]:
        """Group terms by their points: one of them, all with their places, need of gradients."""
        groups: dict[tuple[int, float], list[tuple[slice, Term]]] = {}
        for place, terms in zip(self.places, self.parts, strict=True):
            for term in terms:
                groups.setdefault((id(term.points), term.blur), []).append((place, term))
        return [
            (left[0][1], left, any(not isinstance(term, Values) for _, term in left))
            for left in groups.values()
        ]

    def _similar(self, left: Term, right: Term, blur: float) -> Rows | None:
        """Keep similarities between products, while all of them take little memory."""
        # the rows are kept too, so that no other rows can come to have their identity
        key = (id(left.points), id(right.points), blur)
        if key not in self._kept:
            more = 8.0 * len(left.points) * len(right.points)
            limit = get_config()["working_memory"] * 2**20 / 4
            if sum(kept.nbytes for _, _, kept in self._kept.values()) + more > limit:
                return None
            _, smooth = blurred(self.kernel, blur, left.points.shape[1])
            similar = similarities(smooth, left.points, right.points)
            self._kept[key] = left.points, right.points, similar
        return self._kept[key][2]

    def columns(self, indices: ArrayLike) -> Rows:
        """Give some columns of the Gram matrix: (m, len(indices))."""
        indices = np.asarray(indices)
        out = np.zeros((len(self), len(indices)))
        for place, terms in zip(self.places, self.parts, strict=True):
            here = np.flatnonzero((indices >= place.start) & (indices < place.stop))
            if not len(here):
                continue
            for right in (term.some(indices[here] - place.start) for term in terms):
                for rows, lefts in zip(self.places, self.parts, strict=True):
                    for left in lefts:
                        out[rows, here] += block(self.kernel, left, right)
        return out

    def at(self, Z: ArrayLike) -> Rows:
        """Give the values of the representers at rows: (n, m)."""
        return Representers(self.kernel, [Value()], check_array(Z, dtype=float)).gram(self)

    def of_basis(self, basis: Basis) -> Rows:
        """Give the functionals of basis functions: (m, p)."""
        return np.concatenate([sum(t.of_basis(basis) for t in terms) for terms in self.parts])

    def function(self, coefficients: ArrayLike, Z: ArrayLike) -> Rows:
        """Give the values of a sum of representers at rows: (n,)."""
        rows = check_array(Z, dtype=float)
        return Representers(self.kernel, [Value()], rows).dot(coefficients, self)


def check_terms(functional: Functional, terms: Any) -> None:
    """Say what is wrong with terms that a user's own functional gives."""
    kinds = (Values, Slopes, Gradients)
    if not isinstance(terms, (list, tuple)) or not terms:
        raise TypeError(f"terms of {functional!r} must give a list of terms, not {terms!r:.80}")
    for term in terms:
        if not isinstance(term, kinds):
            raise TypeError(
                f"terms of {functional!r} has {term!r:.80}: it may have Values, Slopes, Gradients"
            )
        if isinstance(term, Slopes):
            wanted = (len(term.at), term.points.shape[1])
            if np.shape(term.directions) != wanted:
                raise ValueError(
                    f"terms of {functional!r}: directions of Slopes have shape "
                    f"{np.shape(term.directions)}, and it must be {wanted}"
                )
        elif isinstance(term, Values) and term.weights.shape[1] != len(term.points):
            raise ValueError(
                f"terms of {functional!r}: weights of Values have shape {term.weights.shape}, and "
                f"need a column for each of {len(term.points)} points"
            )
    if len({len(term) for term in terms}) > 1:
        raise ValueError(
            f"terms of {functional!r} add up, so all must have as many functionals: here "
            f"{', '.join(str(len(term)) for term in terms)}"
        )


def check_functionals(given: Any) -> list[Functional]:
    """Give functionals as a list, or say what they must be."""
    if isinstance(given, Functional):
        return [given]
    if isinstance(given, (list, tuple)) and all(isinstance(one, Functional) for one in given):
        return list(given)
    raise TypeError(
        f"functionals={given!r} must be Functional objects: build them from "
        "invarlearn.functionals, such as Derivative() or Tangent(family)"
    )


def check_supported(kernel: Kernel, functional: Functional, terms: list[Term]) -> None:
    """Refuse what a kernel cannot do, before anything is computed."""
    if not isinstance(kernel, ProfileKernel):
        raise TypeError(
            f"{kernel!r} has no derivatives: functionals need RBF, Polynomial or Linear"
        )
    if any(term.blur for term in terms) and not isinstance(kernel, RBF):
        raise TypeError(f"{functional!r} is defined for RBF kernels only, not for {kernel!r}")
