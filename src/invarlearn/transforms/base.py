"""What a family of transformations is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_array

from invarlearn._readable import Readable
from invarlearn.transforms._actions import Action, Functions, Rows
from invarlearn.transforms._checks import (
    Shape,
    as_tuple,
    check_generator,
    check_memory,
    check_number,
    check_score,
    matching_shape,
)
from invarlearn.transforms.elements import Elements

# Streaming hands out blocks of about this size: large enough for BLAS, small enough for caches.
BLOCK_BYTES = 16 * 2**20


class Family(Readable):
    """A set of transformations of rows that should not matter.

    A family lists its elements, the identity first, and lets them act on rows of ``X``. It
    declares whether they form a group (:attr:`is_group`) and keep norms (:attr:`is_unitary`).
    Families combine: ``a * b`` does b and then a, in all pairs; ``a | b`` does one or the other.

    To write a new family, subclass this and give ``_listed`` (and, where they make sense,
    ``_drawn`` and ``flow``), or use :class:`Custom`; then run
    :func:`invarlearn.testing.check_family` on it.

    Attributes
    ----------
    is_group : bool
        Whether the listed elements are closed under composition and inverse.
    is_unitary : bool
        Whether every element keeps the norm of every row.
    n_elements : int or inf
        How many elements the orbit lists; ``inf`` if they cannot be listed.
    n_directions : int
        How many tangent directions the family has at the identity.
    """

    domain = "rows"
    default_smoothing: float = 0.0
    shape: Shape = None
    is_group: bool = False
    is_unitary: bool = False
    accepts_sparse: bool = False
    # Parameters that say how far the elements go: limits on either side of zero, and of one.
    _limits: tuple[str, ...] = ()
    _factors: tuple[str, ...] = ()
    # families are told apart by their repr
    _numbers_printed = np.inf

    # -- what a family provides ------------------------------------------------------------

    def _listed(self, n_features: int) -> Action:
        """Give all elements for rows of this length, the identity first."""
        raise ValueError(f"the elements of {self!r} cannot be listed")

    def _size(self, n_features: int) -> float:
        """Count the elements; families that may have very many do it without listing them."""
        return len(self._listed(n_features)) if self._has_list() else np.inf

    def _has_list(self) -> bool:
        return type(self)._listed is not Family._listed

    def _drawn(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        """Give k random elements; by default uniformly from the listed ones."""
        listed = self._listed(n_features)
        choice = rng.randint(len(listed), size=k)
        return Functions([_Single(listed, i) for i in choice])

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        """Move rows by ``t`` from the identity along each tangent direction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        t : float
            How far, in the unit of the direction (pixel, radian, log factor...).
        smoothing : float, optional
            As in :meth:`tangents`.

        Returns
        -------
        array of shape (n_samples, n_directions, n_features)
        """
        X = self._check(X)
        return np.empty((len(X), 0, X.shape[1]), dtype=X.dtype)

    def smooth(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        """Give the rows as :meth:`tangents` sees them: images after Gaussian smoothing."""
        return self._check(X)

    @property
    def n_elements(self) -> float:
        """How many elements the orbit lists."""
        return self._size(self._known_features("n_elements")) if self._has_list() else np.inf

    @property
    def n_directions(self) -> int:
        """How many tangent directions there are."""
        return 0

    def resolve_shape(self, n_features: int) -> tuple[int, ...]:
        """Give the shape of a row of ``n_features`` numbers, or say why there is none.

        >>> from invarlearn.transforms import Translation
        >>> Translation(1).resolve_shape(784)
        (28, 28)
        """
        if self.shape is None:
            return (n_features,)
        return matching_shape(self.shape, n_features, type(self).__name__)

    # -- what follows from it --------------------------------------------------------------

    def orbit(self, X: ArrayLike) -> Rows:
        """Apply every element to every row.

        For many rows use :meth:`iter_orbit`: an orbit larger than scikit-learn's
        ``working_memory`` is refused.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_elements, n_features)
            ``orbit(X)[:, 0]`` is ``X``.
        """
        X = self._check(X)
        advice = "use fewer rows, or stream it with iter_orbit"
        return self._whole_orbit(X, X.dtype, "the orbit", advice)

    def iter_orbit(
        self, X: ArrayLike, max_bytes: int | None = None
    ) -> Iterator[tuple[slice, slice, Rows]]:
        """Stream the orbit in blocks of at most ``max_bytes`` (at least one row and element).

        All rows come for some elements, then all rows for the next, so that what an element needs
        is built once.

        Yields
        ------
        rows, elements : slice
            Which part of the orbit this is.
        block : array of shape (rows, elements, n_features)
        """
        X = self._check(X)
        size = BLOCK_BYTES if max_bytes is None else check_number(max_bytes, "max_bytes", low=1)
        self._orbit_shape(X)
        yield from _blocks(self._listed(X.shape[1]), X, int(size))

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        """Give the directions in which rows move at the identity.

        Here by central differences of :meth:`flow`; families with a closed form override it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        smoothing : float, optional
            Standard deviation, in pixels, of the Gaussian that smooths images before their
            gradient is taken. None means the family's own choice; 0 means none.

        Returns
        -------
        array of shape (n_samples, n_directions, n_features)
        """
        X = self._check(X)
        step = 1e-3
        return (self.flow(X, step, smoothing) - self.flow(X, -step, smoothing)) / X.dtype.type(
            2 * step
        )

    def sample(self, k: int, random_state: Any = None) -> Elements:
        """Draw k random elements.

        Ranges are drawn from continuously (any angle up to ``degrees``), groups uniformly; a
        union picks one of its parts, and then an element of that.

        Parameters
        ----------
        k : int
        random_state : int, RandomState or None

        Returns
        -------
        Elements
            A sequence of k functions of rows; called itself, it applies all of them.

        Examples
        --------
        >>> import numpy as np
        >>> from invarlearn.transforms import CyclicShift
        >>> shifts = CyclicShift().sample(3, random_state=0)
        >>> shifts(np.arange(8.0).reshape(2, 4)).shape
        (2, 3, 4)
        >>> shifts[0](np.arange(8.0).reshape(2, 4)).shape
        (2, 4)
        """
        k = int(check_number(k, "k", low=1, whole=True))
        return Elements(self, k, check_generator(random_state).randint(2**31 - 1))

    def worst_case(
        self, X: ArrayLike, w: ArrayLike, sign: ArrayLike | None = None
    ) -> tuple[Any, Rows]:
        """Find the element that lowers a linear score most, for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        w : array-like of shape (n_features,)
            The score of a row is ``row @ w``.
        sign : array-like of shape (n_samples,), optional
            The score is multiplied by it: labels in {-1, 1} make it a margin.

        Returns
        -------
        rows : array of shape (n_samples, n_features)
            The transformed rows.
        scores : array of shape (n_samples,)
            ``sign * (rows @ w)``.
        """
        X = self._check(X)
        w, signs = check_score(X, w, sign)
        best = np.full(len(X), np.inf, dtype=X.dtype)
        worst = X.copy()
        for rows, _, block in self.iter_orbit(X):
            scores = signs[rows, None] * (block @ w)
            which = scores.argmin(axis=1)
            lowest = scores[np.arange(len(block)), which]
            better = np.flatnonzero(lowest < best[rows])
            best[rows][better] = lowest[better]
            worst[rows][better] = block[better, which[better]]
        return worst, best

    def with_shape(self, shape: int | tuple[int, ...]) -> Family:
        """Give a copy that knows the shape of a row."""
        return clone(self).set_params(shape=shape)

    def with_shape_of(self, n_features: int) -> Family:
        """Give a copy that knows the shape of rows with so many features, if this does not."""
        return self if self.shape is not None else self.with_shape(self.resolve_shape(n_features))

    def scaled(self, factor: float) -> Family:
        """Give the family with all of its ranges made wider or narrower.

        Turns go up to ``factor`` times as many degrees, magnifications up to that power of
        themselves, and so on. What has no range, such as mirror images or a whole group, stays.

        Parameters
        ----------
        factor : float
            Above 0.

        Examples
        --------
        >>> from invarlearn.transforms import Reflection, Rotation
        >>> (Rotation(20) * Reflection()).scaled(0.5)
        Rotation(degrees=10.0) * Reflection()
        """
        check_number(factor, "factor", low=np.finfo(float).tiny)
        known = {name: getattr(self, name) for name in (*self._limits, *self._factors)}
        limits = {name: known[name] * factor for name in self._limits if known[name] is not None}
        factors = {name: _power(known[name], factor) for name in self._factors}
        return clone(self).set_params(**limits, **factors)

    def __mul__(self, other: Family) -> Family:
        from invarlearn.transforms.combine import Product, combined

        return combined(Product, self, other)

    def __or__(self, other: Family) -> Family:
        from invarlearn.transforms.combine import Union, combined

        return combined(Union, self, other)

    # -- helpers of subclasses -------------------------------------------------------------

    def _check(self, X: Any, one_element: bool = False) -> Any:
        """Validate rows; sparse ones only where one element acts on them and keeps them so."""
        sparse = "csr" if one_element and self.accepts_sparse else False
        X = check_array(X, dtype=[np.float64, np.float32], accept_sparse=sparse, estimator=self)
        self.resolve_shape(X.shape[1])
        return X

    def _whole_orbit(self, X: Rows, dtype: Any, what: str, advice: str) -> Rows:
        """Fill an array with the orbit, block by block, if it is not too large."""
        shape = self._orbit_shape(X)
        check_memory(shape, dtype, what, advice)
        out = np.empty(shape, dtype=dtype)
        for rows, elements, block in _blocks(self._listed(X.shape[1]), X, BLOCK_BYTES):
            out[rows, elements] = block
        return out

    def _orbit_shape(self, X: Rows) -> tuple[int, int, int]:
        size = self._size(X.shape[1])
        if not np.isfinite(size):
            raise ValueError(
                f"the elements of {self!r} cannot be listed: family.sample(k) draws some, and "
                "Sampled(family, k) is a listed family of them"
            )
        return (len(X), int(size), X.shape[1])

    def _known_features(self, what: str) -> int:
        if self.shape is None:
            raise ValueError(
                f"{what} of {self!r} depends on the length of a row: "
                "pass shape=, or ask family.with_shape(n_features)"
            )
        return int(np.prod(as_tuple(self.shape)))


class Identity(Family):
    """The family that changes nothing.

    Parameters
    ----------
    shape : int or tuple, optional
        Shape of a row.

    Examples
    --------
    >>> Identity().orbit([[1.0, 2.0]])
    array([[[1., 2.]]])
    """

    is_group = True
    is_unitary = True

    def __init__(self, shape: Shape = None):
        self.shape = shape

    def _listed(self, n_features: int) -> Action:
        return Functions([_unchanged])

    @property
    def n_elements(self) -> float:
        return 1


def _blocks(action: Action, X: Rows, max_bytes: int) -> Iterator[tuple[slice, slice, Rows]]:
    cell = X.shape[1] * X.dtype.itemsize
    n_elements = min(len(action), action.piece(X.shape[1]), max(1, max_bytes // cell))
    n_rows = max(1, max_bytes // (cell * n_elements))
    for start in range(0, len(action), n_elements):
        elements = slice(start, min(start + n_elements, len(action)))
        for first in range(0, len(X), n_rows):
            rows = slice(first, min(first + n_rows, len(X)))
            yield rows, elements, action.act(X[rows], elements.start, elements.stop)


class _Single:
    """Element i of an action, as a function of rows."""

    def __init__(self, action: Action, i: int):
        self.action = action
        self.i = int(i)

    def __call__(self, X: Rows) -> Rows:
        return self.action.act(X, self.i, self.i + 1)[:, 0]


def _unchanged(X: Rows) -> Rows:
    return X


def _power(value: Any, exponent: float) -> Any:
    """Raise a number, or each of several, to a power."""
    powers = np.power(np.asarray(value, dtype=float), exponent)
    return float(powers) if powers.ndim == 0 else tuple(powers.tolist())
