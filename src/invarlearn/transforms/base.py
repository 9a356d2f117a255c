"""The base class of families of transformations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_array

from invarlearn._utils.repr import ReprMixin
from invarlearn._utils.validation import (
    Shape,
    check_generator,
    check_memory,
    check_number,
    check_score,
    matching_shape,
)
from invarlearn.transforms._parameters import by_name, check_names, declared_features, scaled_ranges
from invarlearn.transforms.actions import Action, Functions, Rows, SingleElement, iter_blocks
from invarlearn.transforms.domains import ROWS, Domain
from invarlearn.transforms.elements import Elements, WorstCaseSearch

# Blocks of a stream have about this size: large enough for BLAS, small enough for caches.
BLOCK_BYTES = 16 * 2**20


class Family(ReprMixin):
    """A family of transformations of rows, which predictions should not depend on.

    A family has a list of elements g_1, ..., g_k that act on rows of ``X``; the first element is
    the identity. The orbit of a row x is g_1 x, ..., g_k x. Families can be combined: the product
    ``a * b`` has all compositions of an element of b followed by an element of a; the union
    ``a | b`` has the elements of both.

    To write a family, subclass this class, :class:`ImageFamily` or :class:`AffineFamily`, and
    define ``elements``. Define ``draw`` too if random elements are not uniform among the listed
    ones, and ``flow`` and ``n_directions`` if the family has tangents. Parameters follow the
    conventions of scikit-learn's estimators; one of them must be ``shape``. Test the family with
    :func:`invarlearn.testing.check_family`.

    Attributes
    ----------
    domain : Domain
        Kind of data in a row. Estimators choose default features by it.
    is_group : bool
        Whether the listed elements are closed under composition and inverse.
    is_unitary : bool
        Whether every element preserves the norm of every row.
    is_identity : bool
        Whether the family transforms nothing, as :class:`Identity`.
    accepts_sparse : bool
        Whether single elements act on sparse rows.
    n_elements : int or inf
        The number of listed elements; ``inf`` if they cannot be listed.
    n_directions : int
        The number of tangent directions at the identity.
    default_smoothing : float
        Default smoothing of :meth:`tangents`, in pixels.
    ranges_about_zero, ranges_about_one : tuple of str
        Names of the parameters that :meth:`scaled` changes: limits on either side of zero are
        multiplied, factors on either side of one are raised to a power.
    spec_name : str
        Name of the family in specifications such as ``"rotation:15"``; empty if it has none. The
        table of families lists the classes of this package that define ``spec_name`` in their body.
    stored_types : tuple
        Classes and functions of this package that model files may contain as part of the family's
        actions.

    Examples
    --------
    >>> import numpy as np
    >>> from invarlearn.transforms import Family, Functions
    >>> class Gain(Family):
    ...     def __init__(self, factor=2.0, shape=None):
    ...         self.factor = factor
    ...         self.shape = shape
    ...     def elements(self, n_features):
    ...         return Functions([np.copy, lambda X: X * X.dtype.type(self.factor)])
    >>> Gain().orbit([[1.0, 3.0]])
    array([[[1., 3.],
            [2., 6.]]])
    """

    spec_name: str = ""
    stored_types: tuple[Any, ...] = ()
    domain: Domain = ROWS
    default_smoothing: float = 0.0
    shape: Shape = None
    is_group: bool = False
    is_unitary: bool = False
    is_identity: bool = False
    accepts_sparse: bool = False
    ranges_about_zero: tuple[str, ...] = ()
    ranges_about_one: tuple[str, ...] = ()
    # families are identified by their repr, so that arrays are printed in full
    max_printed_size = np.inf

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_names(cls)

    # -- methods that families override ----------------------------------------------------

    @classmethod
    def examples(cls) -> list[Family]:
        """Return families for the contract tests: of rows of 64 numbers, or with a shape."""
        return [cls()]

    def elements(self, n_features: int) -> Action:
        """Return all elements, the identity first.

        Parameters
        ----------
        n_features : int

        Returns
        -------
        Action
        """
        if type(self).draw is Family.draw:
            raise NotImplementedError(f"{type(self).__name__} must define elements or draw")
        raise ValueError(
            f"the elements of {self!r} cannot be listed: use Sampled(family, k), a family of k "
            "random elements"
        )

    def size(self, n_features: int) -> float:
        """Return the number of elements for rows of ``n_features`` numbers.

        By default, the elements are listed and counted. Large families override this method.

        Parameters
        ----------
        n_features : int

        Returns
        -------
        int or inf
            ``inf`` if the elements cannot be listed.
        """
        return len(self.elements(n_features)) if self._has_list() else np.inf

    def _has_list(self) -> bool:
        return type(self).elements is not Family.elements

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        """Draw random elements; by default uniformly from the listed ones.

        Parameters
        ----------
        k : int
        rng : RandomState
        n_features : int

        Returns
        -------
        Action
            Action of length k; its first element need not be the identity.
        """
        listed = self.elements(n_features)
        choice = rng.randint(len(listed), size=k)
        return Functions([SingleElement(listed, i) for i in choice])

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        """Return rows moved by ``t`` along each tangent direction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        t : float
            Distance from the identity, in the unit of the direction: pixels, radians or logarithms
            of factors.
        smoothing : float, optional
            As in :meth:`tangents`.

        Returns
        -------
        array of shape (n_samples, n_directions, n_features)
        """
        X = self.validate_rows(X)
        return np.empty((len(X), 0, X.shape[1]), dtype=X.dtype)

    def smooth(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        """Return the rows that :meth:`tangents` differentiates: images after Gaussian smoothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        smoothing : float, optional
            As in :meth:`tangents`.

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        return self.validate_rows(X)

    @property
    def n_elements(self) -> float:
        """Number of listed elements."""
        return self.size(declared_features(self, "n_elements")) if self._has_list() else np.inf

    @property
    def n_directions(self) -> int:
        """Number of tangent directions."""
        return 0

    def resolve_shape(self, n_features: int) -> tuple[int, ...]:
        """Return the shape of a row of ``n_features`` numbers; raise ValueError if none fits.

        >>> from invarlearn.transforms import Translation
        >>> Translation(1).resolve_shape(784)
        (28, 28)
        """
        if self.shape is None:
            return (n_features,)
        return matching_shape(self.shape, n_features, type(self).__name__)

    def bound_parts(self) -> list[Family]:
        """Return the parts of a product or union, with its shape; other families: the family."""
        return [self]

    def named_parts(self) -> dict[str, Family]:
        """Return :meth:`bound_parts` by name, as in a pipeline: ``translation``, ``rotation-2``."""
        return by_name(self.bound_parts())

    # -- derived methods -------------------------------------------------------------------

    def orbit(self, X: ArrayLike) -> Rows:
        """Apply every element to every row.

        Orbits larger than scikit-learn's ``working_memory`` raise a MemoryError; use
        :meth:`iter_orbit` for many rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_elements, n_features)
            ``orbit(X)[:, 0]`` is ``X``.
        """
        X = self.validate_rows(X)
        return self.materialize_orbit(X, X.dtype, "the orbit", "use fewer rows, or iter_orbit")

    def iter_orbit(
        self, X: ArrayLike, max_bytes: int | None = None
    ) -> Iterator[tuple[slice, slice, Rows]]:
        """Yield the orbit in blocks.

        The blocks iterate over all rows before they proceed to the next elements, so that
        interpolation weights are computed once.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        max_bytes : int, optional
            Largest size of a block; a block has at least one row and one element. None: 16 MiB.

        Yields
        ------
        rows, elements : slice
            Slices of the rows and of the elements in the block.
        block : array of shape (n_rows, n_elements, n_features)
        """
        X = self.validate_rows(X)
        size = BLOCK_BYTES if max_bytes is None else check_number(max_bytes, "max_bytes", low=1)
        self.orbit_shape(X)
        yield from iter_blocks(self.elements(X.shape[1]), X, int(size))

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        """Return the tangents at each row: derivatives of the elements at the identity.

        By default these are central differences of :meth:`flow`; a family with a closed form
        overrides this method.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        smoothing : float, optional
            Standard deviation, in pixels, of the Gaussian that smooths images before their
            gradient is taken. None: ``default_smoothing``; 0: no smoothing.

        Returns
        -------
        array of shape (n_samples, n_directions, n_features)
        """
        X = self.validate_rows(X)
        h = 1e-3
        return (self.flow(X, h, smoothing) - self.flow(X, -h, smoothing)) / X.dtype.type(2 * h)

    def sample(self, k: int, random_state: Any = None) -> Elements:
        """Draw k random elements.

        For a family with a range, parameters are drawn continuously, such as any angle up to
        ``degrees``. Elements of a group are drawn uniformly; of a union, a part is drawn first.

        Parameters
        ----------
        k : int
        random_state : int, RandomState or None

        Returns
        -------
        Elements
            A sequence of k functions of rows. Calling the sequence applies all of them.

        Examples
        --------
        >>> import numpy as np
        >>> from invarlearn.transforms import CyclicShift
        >>> shifts = CyclicShift().sample(3, random_state=0)
        >>> shifts(np.arange(8.0).reshape(2, 4)).shape
        (2, 3, 4)
        """
        k = int(check_number(k, "k", low=1, whole=True))
        return Elements(self, k, check_generator(random_state).randint(2**31 - 1))

    def worst_case(
        self, X: ArrayLike, w: ArrayLike, sign: ArrayLike | None = None
    ) -> tuple[Any, Rows]:
        """Return, for each row, the transformed row with the least linear score.

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
        scores : array of shape (n_samples,)
            ``sign * (rows @ w)``.
        """
        X = self.validate_rows(X)
        w, signs = check_score(X, w, sign)
        least_scores = np.full(len(X), np.inf, dtype=X.dtype)
        worst_rows = X.copy()
        for rows, _, block in self.iter_orbit(X):
            scores = signs[rows, None] * (block @ w)
            elements = scores.argmin(axis=1)
            block_scores = scores[np.arange(len(block)), elements]
            improved = np.flatnonzero(block_scores < least_scores[rows])
            least_scores[rows][improved] = block_scores[improved]
            worst_rows[rows][improved] = block[improved, elements[improved]]
        return worst_rows, least_scores

    def prepare_worst_case(self, X: Any) -> Callable[..., tuple[Any, Rows]]:
        """Return :class:`WorstCaseSearch` of rows X, or a faster function of the same arguments."""
        return WorstCaseSearch(self.worst_case, X)

    def with_shape(self, shape: int | tuple[int, ...]) -> Family:
        """Return a copy of the family for rows of this shape."""
        return clone(self).set_params(shape=shape)

    def with_shape_of(self, n_features: int) -> Family:
        """Return the family, with the shape of rows of ``n_features`` numbers if it has none."""
        return self if self.shape is not None else self.with_shape(self.resolve_shape(n_features))

    def scaled(self, factor: float) -> Family:
        """Return a copy of the family with wider or narrower ranges.

        Limits about zero (degrees, pixels) are multiplied by ``factor``. Factors about one
        (magnifications, durations) are raised to the power ``factor``. Families without a range,
        such as reflections and groups, are unchanged.

        Parameters
        ----------
        factor : float
            Positive number; below 1 the ranges become narrower.

        Examples
        --------
        >>> from invarlearn.transforms import Reflection, Rotation
        >>> (Rotation(20) * Reflection()).scaled(0.5)
        Rotation(degrees=10.0) * Reflection()
        """
        check_number(factor, "factor", low=np.finfo(float).tiny)
        return clone(self).set_params(**scaled_ranges(self, factor))

    def __mul__(self, other: Family) -> Family:
        from invarlearn.transforms.combine import Product, combined

        return combined(Product, self, other)

    def __or__(self, other: Family) -> Family:
        from invarlearn.transforms.combine import Union, combined

        return combined(Union, self, other)

    # -- helpers for subclasses ------------------------------------------------------------

    def validate_rows(self, X: Any, one_element: bool = False) -> Any:
        """Return rows as an array of floats; raise an error if the family cannot act on them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        one_element : bool, default=False
            Whether a single element acts on the rows. Rows may then be sparse, if the family has
            ``accepts_sparse=True``.

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        sparse = "csr" if one_element and self.accepts_sparse else False
        X = check_array(X, dtype=[np.float64, np.float32], accept_sparse=sparse, estimator=self)
        self.resolve_shape(X.shape[1])
        return X

    def materialize_orbit(self, X: Rows, dtype: Any, what: str, advice: str) -> Rows:
        """Return the orbit as one array; raise MemoryError above scikit-learn's ``working_memory``.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows from :meth:`validate_rows`.
        dtype : dtype
        what, advice : str
            What the array is and what to do if it is too large, for the MemoryError.

        Returns
        -------
        array of shape (n_samples, n_elements, n_features)
        """
        shape = self.orbit_shape(X)
        check_memory(shape, dtype, what, advice)
        out = np.empty(shape, dtype=dtype)
        for rows, elements, block in iter_blocks(self.elements(X.shape[1]), X, BLOCK_BYTES):
            out[rows, elements] = block
        return out

    def orbit_shape(self, X: Rows) -> tuple[int, int, int]:
        """Return (n_samples, n_elements, n_features); raise if the elements cannot be listed."""
        size = self.size(X.shape[1])
        if not np.isfinite(size):
            raise ValueError(
                f"the elements of {self!r} cannot be listed: draw random elements with "
                "family.sample(k), or use Sampled(family, k), a family of k random elements"
            )
        return (len(X), int(size), X.shape[1])
