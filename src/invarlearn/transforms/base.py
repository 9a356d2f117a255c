"""What a family of transformations is, and how families combine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array, check_random_state

from invarlearn.transforms._actions import Action, Functions, Joined, Picked, Rows, compose

# Streaming hands out blocks of about this size: large enough for BLAS, small enough for caches.
BLOCK_BYTES = 16 * 2**20

Shape = int | tuple[int, ...] | None


class Family(BaseEstimator):
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

    # -- what a family provides ------------------------------------------------------------

    def _listed(self, n_features: int) -> Action:
        """Give all elements for rows of this length, the identity first."""
        raise NotImplementedError

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
        return len(self._listed(self._known_features("n_elements")))

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
        return _matching_shape(self, n_features)

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
        action = self._listed(X.shape[1])
        check_memory((len(X), len(action), X.shape[1]), X.dtype, "the orbit")
        out = np.empty((len(X), len(action), X.shape[1]), dtype=X.dtype)
        for rows, elements, block in _blocks(action, X, BLOCK_BYTES):
            out[rows, elements] = block
        return out

    def iter_orbit(
        self, X: ArrayLike, max_bytes: int | None = None
    ) -> Iterator[tuple[slice, slice, Rows]]:
        """Stream the orbit in blocks of at most ``max_bytes`` (at least one row and element).

        Yields
        ------
        rows, elements : slice
            Which part of the orbit this is.
        block : array of shape (rows, elements, n_features)
        """
        X = self._check(X)
        yield from _blocks(self._listed(X.shape[1]), X, max_bytes or BLOCK_BYTES)

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

        Ranges are drawn from continuously (any angle up to ``degrees``), groups uniformly.

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
        if k < 1:
            raise ValueError(f"k={k}: at least one element must be drawn")
        return Elements(self, int(k), check_random_state(random_state).randint(2**31 - 1))

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
        w, signs = _check_score(X, w, sign)
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

    def __mul__(self, other: Family) -> Family:
        return _combine(Product, self, other)

    def __or__(self, other: Family) -> Family:
        return _combine(Union, self, other)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        # scikit-learn's own repr shortens long ones: they could not be read back
        defaults = signature(type(self).__init__).parameters
        shown = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if not _same(value, defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    # -- helpers of subclasses -------------------------------------------------------------

    def _check(self, X: ArrayLike) -> Rows:
        X = check_array(X, dtype=[np.float64, np.float32], estimator=self)
        self.resolve_shape(X.shape[1])
        return X

    def _known_features(self, what: str) -> int:
        if self.shape is None:
            raise ValueError(
                f"{what} of {self!r} depends on the length of a row: "
                "pass shape=, or ask family.with_shape(n_features)"
            )
        return int(np.prod(self.shape))


class Identity(Family):
    """The family that changes nothing.

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


class Elements(Sequence):
    """Random elements of a family: a sequence of functions of rows.

    Drawn when first applied, since some families must know the length of a row; the same rows
    always meet the same elements.
    """

    def __init__(self, family: Family, k: int, seed: int):
        self.family = family
        self.k = k
        self.seed = seed
        self._actions: dict[int, Action] = {}

    def __len__(self) -> int:
        return self.k

    def __getitem__(self, i: int) -> Element:  # type: ignore[override]
        return Element(self, range(self.k)[i])

    def __repr__(self) -> str:
        return f"<{self.k} random elements of {self.family!r}>"

    def __call__(self, X: ArrayLike) -> Rows:
        """Apply all to every row: (n_samples, k, n_features)."""
        return self._apply(X, 0, self.k)

    def _apply(self, X: ArrayLike, start: int, stop: int) -> Rows:
        X = self.family._check(X)
        check_memory((len(X), stop - start, X.shape[1]), X.dtype, "the transformed rows")
        d = X.shape[1]
        if d not in self._actions:
            self._actions[d] = self.family._drawn(self.k, np.random.RandomState(self.seed), d)
        return self._actions[d].act(X, start, stop)


class Element:
    """One random element of a family: a function of rows."""

    def __init__(self, elements: Elements, i: int):
        self.elements = elements
        self.i = i

    def __call__(self, X: ArrayLike) -> Rows:
        return self.elements._apply(X, self.i, self.i + 1)[:, 0]

    def __repr__(self) -> str:
        return f"<element {self.i} of {self.elements!r}>"


class _Combination(Family):
    """What products and unions share: named parts whose parameters can be searched."""

    sign = ""

    def __init__(self, parts: list[Family]):
        self.parts = parts

    @property
    def domain(self) -> str:  # type: ignore[override]
        domains = {part.domain for part in self.parts} - {"rows"}
        return domains.pop() if len(domains) == 1 else "rows"

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        """The shape that the parts agree on; parts without one take it over."""
        shapes = {_as_tuple(part.shape) for part in self.parts if part.shape is not None}
        if len({int(np.prod(shape)) for shape in shapes}) > 1:
            raise ValueError(f"the parts of {self!r} have different shapes: {sorted(shapes)}")
        return max(shapes, key=len) if shapes else None

    @property
    def is_unitary(self) -> bool:  # type: ignore[override]
        return all(part.is_unitary for part in self.parts)

    @property
    def n_directions(self) -> int:
        return sum(part.n_directions for part in self._bound())

    def named_parts(self) -> dict[str, Family]:
        """Name the parts as a scikit-learn pipeline would: ``translation``, ``rotation-2``..."""
        names = [type(part).__name__.lower() for part in self.parts]
        return {
            name if names.count(name) == 1 else f"{name}-{names[: i + 1].count(name)}": part
            for i, (name, part) in enumerate(zip(names, self.parts, strict=True))
        }

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params: dict[str, Any] = {"parts": self.parts}
        if deep:
            for name, part in self.named_parts().items():
                params[name] = part
                params |= {f"{name}__{key}": value for key, value in part.get_params().items()}
        return params

    def set_params(self, **params: Any) -> _Combination:
        if "parts" in params:
            self.parts = params.pop("parts")
        named = self.named_parts()
        for name in set(params) & set(named):
            self.parts = [params[name] if part is named[name] else part for part in self.parts]
        nested = {name: value for name, value in params.items() if name not in named}
        super().set_params(**nested)
        return self

    def with_shape(self, shape: int | tuple[int, ...]) -> Family:
        return type(self)([part.with_shape(shape) for part in self.parts])

    def resolve_shape(self, n_features: int) -> tuple[int, ...]:
        return max((part.resolve_shape(n_features) for part in self._bound()), key=len)

    def smooth(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        # the parts agree on how to smooth, but for those that do not smooth at all
        part = max(self._bound(), key=lambda part: part.default_smoothing)
        return part.smooth(self._check(X), smoothing)

    @property
    def default_smoothing(self) -> float:  # type: ignore[override]
        return max(part.default_smoothing for part in self.parts)

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        X = self._check(X)
        return np.concatenate([part.flow(X, t, smoothing) for part in self._bound()], axis=1)

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        X = self._check(X)
        return np.concatenate([part.tangents(X, smoothing) for part in self._bound()], axis=1)

    def _bound(self) -> list[Family]:
        """Give the parts, those without a shape having taken that of their siblings."""
        shape = self.shape
        if shape is None:
            return self.parts
        shaped = {part.domain for part in self.parts if part.shape is not None}
        return [
            part.with_shape(shape) if part.shape is None and part.domain in shaped else part
            for part in self.parts
        ]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        shown = [
            f"({part!r})" if isinstance(part, _Combination) else repr(part) for part in self.parts
        ]
        return f" {self.sign} ".join(shown)


class Product(_Combination):
    """All compositions: the last part acts first. Written ``a * b``.

    Affine parts are composed as matrices, so that an image is interpolated once.

    Parameters
    ----------
    parts : list of Family

    Examples
    --------
    >>> from invarlearn.transforms import Rotation, Translation
    >>> family = Translation(2) * Rotation(15, n_steps=3)
    >>> family.n_elements
    75
    >>> sorted(family.get_params())[-3:]
    ['translation__shape', 'translation__step', 'translation__wrap']
    """

    sign = "*"

    @property
    def n_elements(self) -> float:
        sizes = [part.n_elements for part in self._bound()]
        return np.inf if np.inf in sizes else int(np.prod(sizes))

    def _listed(self, n_features: int) -> Action:
        return self._fold([part._listed(n_features) for part in self._bound()], False)

    def _drawn(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        return self._fold([part._drawn(k, rng, n_features) for part in self._bound()], True)

    @staticmethod
    def _fold(actions: list[Action], pairwise: bool) -> Action:
        whole = actions[-1]
        for action in reversed(actions[:-1]):
            whole = compose(action, whole, pairwise)
        return whole


class Union(_Combination):
    """The elements of every part, the identity once. Written ``a | b``.

    Parameters
    ----------
    parts : list of Family

    Examples
    --------
    >>> from invarlearn.transforms import Reflection, Rotation
    >>> (Rotation(15, n_steps=3) | Reflection(axis=1)).n_elements
    4
    """

    sign = "|"

    @property
    def n_elements(self) -> float:
        sizes = [part.n_elements for part in self._bound()]
        return np.inf if np.inf in sizes else int(sum(sizes)) - len(sizes) + 1

    def _listed(self, n_features: int) -> Action:
        return Joined([part._listed(n_features) for part in self._bound()])

    def _drawn(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        drawn = [part._drawn(k, rng, n_features) for part in self._bound()]
        return Picked(drawn, rng.randint(len(drawn), size=k))


def check_memory(shape: tuple[int, ...], dtype: Any, what: str) -> None:
    """Refuse an array larger than scikit-learn's ``working_memory``."""
    needed = float(np.prod(shape, dtype=float)) * np.dtype(dtype).itemsize / 2**20
    limit = get_config()["working_memory"]
    if needed > limit:
        raise MemoryError(
            f"{what} ({' x '.join(map(str, shape))}) would take {needed:,.0f} MiB, more than the "
            f"working memory of {limit:,.0f} MiB: use fewer rows or elements, stream it with "
            "iter_orbit, or raise sklearn.set_config(working_memory=...)"
        )


def _blocks(action: Action, X: Rows, max_bytes: int) -> Iterator[tuple[slice, slice, Rows]]:
    cell = X.shape[1] * X.dtype.itemsize
    n_elements = min(len(action), max(1, max_bytes // cell))
    n_rows = max(1, max_bytes // (cell * n_elements))
    for first in range(0, len(X), n_rows):
        rows = slice(first, min(first + n_rows, len(X)))
        for start in range(0, len(action), n_elements):
            elements = slice(start, min(start + n_elements, len(action)))
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


def _combine(kind: type[_Combination], a: Family, b: Family) -> Family:
    if not isinstance(b, Family):
        return NotImplemented
    parts: list[Family] = []
    for side in (a, b):
        if isinstance(side, kind):
            parts += side.parts
        elif not isinstance(side, Identity):
            parts.append(side)
    if len(parts) < 2:
        return parts[0] if parts else a
    return kind(parts)


def _check_score(X: Any, w: ArrayLike, sign: ArrayLike | None) -> tuple[NDArray, NDArray]:
    w = np.asarray(w, dtype=X.dtype)
    if w.shape != (X.shape[1],):
        raise ValueError(f"w has shape {w.shape}; for these rows it must be ({X.shape[1]},)")
    signs = np.ones(X.shape[0], X.dtype) if sign is None else np.asarray(sign, dtype=X.dtype)
    if signs.shape != (X.shape[0],):
        raise ValueError(f"sign has shape {signs.shape}; it must be ({X.shape[0]},)")
    return w, signs


def _as_tuple(shape: Shape) -> tuple[int, ...]:
    return (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(shape or ())


def _matching_shape(family: Family, n_features: int) -> tuple[int, ...]:
    shape = _as_tuple(family.shape)
    if np.prod(shape) != n_features:
        raise ValueError(
            f"{type(family).__name__} has shape={shape}, that is {int(np.prod(shape))} features, "
            f"but X has {n_features}"
        )
    return shape


def _same(value: Any, default: Any) -> bool:
    try:
        return type(value) is type(default) and bool(np.all(value == default))
    except (TypeError, ValueError):
        return False
