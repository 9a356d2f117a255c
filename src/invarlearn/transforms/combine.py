"""Products and unions of families."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from invarlearn._utils.validation import Shape, as_tuple
from invarlearn.transforms._parameters import by_name
from invarlearn.transforms.actions import Action, Joined, Picked, Rows, compose
from invarlearn.transforms.base import Family
from invarlearn.transforms.custom import Custom
from invarlearn.transforms.domains import IMAGE, ROWS, SPECTROGRAM, Domain


class Combination(Family):
    """Base class of products and unions.

    Parameters of the parts can be set by names such as ``translation__radius``, as in pipelines of
    scikit-learn.

    Parameters
    ----------
    parts : list of Family
    """

    sign = ""

    def __init__(self, parts: list[Family]):
        self.parts = parts

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        domains = {part.domain for part in self.parts} - {ROWS}
        if domains == {IMAGE, SPECTROGRAM}:
            # image families act on spectrograms too
            return SPECTROGRAM
        return domains.pop() if len(domains) == 1 else ROWS

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        """Shape of a row, from the parts that have one; None if no part has a shape."""
        shaped = [part for part in self._checked_parts() if part.shape is not None]
        shapes = {as_tuple(part.shape) for part in shaped}
        by_domain = {(part.domain, as_tuple(part.shape)) for part in shaped}
        sizes = {int(np.prod(shape)) for shape in shapes}
        if len(sizes) > 1 or len({domain for domain, _ in by_domain}) < len(by_domain):
            raise ValueError(
                f"the parts of {self!r} have different shapes, {sorted(shapes)}: set the same "
                "shape in all parts"
            )
        return max(shapes, key=len) if shapes else None

    def _checked_parts(self) -> list[Family]:
        parts = list(self.parts)
        if not parts or not all(isinstance(part, Family) for part in parts):
            raise TypeError(f"parts={self.parts!r} must be a list of families")
        return parts

    @property
    def is_unitary(self) -> bool:  # type: ignore[override]
        return all(part.is_unitary for part in self.bound_parts())

    @property
    def n_directions(self) -> int:
        return sum(part.n_directions for part in self.bound_parts())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params: dict[str, Any] = {"parts": self.parts}
        if deep:
            # the parts as they were passed, so that changes of their parameters are kept
            for name, part in by_name(self.parts).items():
                params[name] = part
                params |= {f"{name}__{key}": value for key, value in part.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Combination:
        if "parts" in params:
            self.parts = params.pop("parts")
        named = by_name(self.parts)
        self.parts = [params.get(name, part) for name, part in named.items()]
        part_params = {name: value for name, value in params.items() if name not in named}
        for name in part_params:
            if name.split("__")[0] not in named:
                owners = [part for part in named if name in named[part].get_params()]
                hint = f"; set {owners[0]}__{name}" if owners else ""
                raise ValueError(
                    f"Invalid parameter {name!r} for {self!r}: its parts are "
                    f"{', '.join(named)}{hint}"
                )
        super().set_params(**part_params)
        return self

    def with_shape(self, shape: int | tuple[int, ...]) -> Family:
        return type(self)([part.with_shape(shape) for part in self.parts])

    def scaled(self, factor: float) -> Family:
        return type(self)([part.scaled(factor) for part in self.parts])

    def with_shape_of(self, n_features: int) -> Family:
        return type(self)([part.with_shape_of(n_features) for part in self.bound_parts()])

    def resolve_shape(self, n_features: int) -> tuple[int, ...]:
        return max((part.resolve_shape(n_features) for part in self.bound_parts()), key=len)

    def smooth(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        # parts either do not smooth, or all smooth in the same way
        part = max(self.bound_parts(), key=lambda part: part.default_smoothing)
        return part.smooth(self.validate_rows(X), smoothing)

    @property
    def default_smoothing(self) -> float:  # type: ignore[override]
        return max(part.default_smoothing for part in self.parts)

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        X = self.validate_rows(X)
        return np.concatenate([part.flow(X, t, smoothing) for part in self.bound_parts()], axis=1)

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        X = self.validate_rows(X)
        return np.concatenate([part.tangents(X, smoothing) for part in self.bound_parts()], axis=1)

    def bound_parts(self) -> list[Family]:
        """Return the parts; parts without a shape get the shape of parts of the same domain."""
        shape = self.shape
        if shape is None:
            return self.parts
        shaped = {part.domain for part in self.parts if part.shape is not None}
        return [
            part.with_shape(shape) if part.shape is None and part.domain in shaped else part
            for part in self.parts
        ]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        reprs = [
            f"({part!r})" if isinstance(part, Combination) else repr(part) for part in self.parts
        ]
        return f" {self.sign} ".join(reprs)


class Product(Combination):
    """The product of families: all compositions of their elements, the last part acting first.

    Usually written ``a * b``: element (i, j) maps x to a_i (b_j x). Matrices of neighbouring affine
    parts are multiplied, so that an image is interpolated once. Tangents are those of all parts. A
    product is unitary if all parts are; ``is_group`` is always False.

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

    spec_name = ""
    sign = "*"

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls([Custom([np.fliplr]), Custom([np.negative, np.square])])]

    @property
    def n_elements(self) -> float:
        return _product([part.n_elements for part in self.bound_parts()])

    def size(self, n_features: int) -> float:
        return _product([part.size(n_features) for part in self.bound_parts()])

    def elements(self, n_features: int) -> Action:
        return self._fold([part.elements(n_features) for part in self.bound_parts()], False)

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        return self._fold([part.draw(k, rng, n_features) for part in self.bound_parts()], True)

    @staticmethod
    def _fold(actions: list[Action], pairwise: bool) -> Action:
        composed = actions[-1]
        for action in reversed(actions[:-1]):
            composed = compose(action, composed, pairwise)
        return composed


class Union(Combination):
    """The union of families: the elements of every part, the identity once.

    Usually written ``a | b``. Tangents are those of all parts. A union is unitary if all parts are;
    ``is_group`` is always False.

    Parameters
    ----------
    parts : list of Family

    Examples
    --------
    >>> from invarlearn.transforms import Reflection, Rotation
    >>> (Rotation(15, n_steps=3) | Reflection(axis=1)).n_elements
    4
    """

    spec_name = ""
    sign = "|"

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls([Custom([np.fliplr]), Custom([np.negative, np.square])])]

    @property
    def n_elements(self) -> float:
        return sum(part.n_elements - 1 for part in self.bound_parts()) + 1

    def size(self, n_features: int) -> float:
        return sum(part.size(n_features) - 1 for part in self.bound_parts()) + 1

    def elements(self, n_features: int) -> Action:
        return Joined([part.elements(n_features) for part in self.bound_parts()])

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        drawn = [part.draw(k, rng, n_features) for part in self.bound_parts()]
        return Picked(drawn, rng.randint(len(drawn), size=k))


def combined(kind: type[Combination], a: Family, b: Any) -> Family:
    """Return a product or union of two families.

    Products of products, and unions of unions, become flat lists of parts. :class:`Identity` is
    omitted unless it has a shape.

    Parameters
    ----------
    kind : {Product, Union}
    a : Family
    b : object
        NotImplemented is returned unless it is a Family.
    """
    if not isinstance(b, Family):
        return NotImplemented
    parts: list[Family] = []
    for side in (a, b):
        if isinstance(side, kind):
            parts += side.parts
        elif not side.is_identity or side.shape is not None:
            parts.append(side)
    if len(parts) < 2:
        return parts[0] if parts else a
    return kind(parts)


def _product(sizes: list[float]) -> float:
    return math.inf if math.inf in sizes else math.prod(int(size) for size in sizes)
