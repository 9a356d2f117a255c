"""How families combine: products and unions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from invarlearn.transforms._actions import Action, Joined, Picked, Rows, compose
from invarlearn.transforms._checks import Shape, as_tuple
from invarlearn.transforms.base import Family, Identity


class Combination(Family):
    """What products and unions share: named parts whose parameters can be searched."""

    sign = ""

    def __init__(self, parts: list[Family]):
        self.parts = parts

    @property
    def domain(self) -> str:  # type: ignore[override]
        domains = {part.domain for part in self.parts} - {"rows"}
        if domains == {"image", "spectrogram"}:
            # what moves or bends images may do so to spectrograms
            return "spectrogram"
        return domains.pop() if len(domains) == 1 else "rows"

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        """The shape that the parts agree on; parts without one take it over."""
        shaped = [part for part in self._checked_parts() if part.shape is not None]
        shapes = {as_tuple(part.shape) for part in shaped}
        by_domain = {(part.domain, as_tuple(part.shape)) for part in shaped}
        sizes = {int(np.prod(shape)) for shape in shapes}
        if len(sizes) > 1 or len({domain for domain, _ in by_domain}) < len(by_domain):
            raise ValueError(f"the parts of {self!r} have different shapes: {sorted(shapes)}")
        return max(shapes, key=len) if shapes else None

    def _checked_parts(self) -> list[Family]:
        parts = list(self.parts)
        if not parts or not all(isinstance(part, Family) for part in parts):
            raise TypeError(f"parts={self.parts!r} must be a list of families")
        return parts

    @property
    def is_unitary(self) -> bool:  # type: ignore[override]
        return all(part.is_unitary for part in self._bound())

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

    def set_params(self, **params: Any) -> Combination:
        if "parts" in params:
            self.parts = params.pop("parts")
        named = self.named_parts()
        self.parts = [params.get(name, part) for name, part in named.items()]
        nested = {name: value for name, value in params.items() if name not in named}
        for name in nested:
            if name.split("__")[0] not in named:
                having = [part for part in named if name in named[part].get_params()]
                hint = f", so ask for {having[0]}__{name}" if having else ""
                raise ValueError(
                    f"Invalid parameter {name!r} for {self!r}: its parts are "
                    f"{', '.join(named)}{hint}"
                )
        super().set_params(**nested)
        return self

    def with_shape(self, shape: int | tuple[int, ...]) -> Family:
        return type(self)([part.with_shape(shape) for part in self.parts])

    def scaled(self, factor: float) -> Family:
        return type(self)([part.scaled(factor) for part in self.parts])

    def with_shape_of(self, n_features: int) -> Family:
        return type(self)([part.with_shape_of(n_features) for part in self._bound()])

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
            f"({part!r})" if isinstance(part, Combination) else repr(part) for part in self.parts
        ]
        return f" {self.sign} ".join(shown)


class Product(Combination):
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
        return _product([part.n_elements for part in self._bound()])

    def _size(self, n_features: int) -> float:
        return _product([part._size(n_features) for part in self._bound()])

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


class Union(Combination):
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
        return sum(part.n_elements - 1 for part in self._bound()) + 1

    def _size(self, n_features: int) -> float:
        return sum(part._size(n_features) - 1 for part in self._bound()) + 1

    def _listed(self, n_features: int) -> Action:
        return Joined([part._listed(n_features) for part in self._bound()])

    def _drawn(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        drawn = [part._drawn(k, rng, n_features) for part in self._bound()]
        return Picked(drawn, rng.randint(len(drawn), size=k))


def combined(kind: type[Combination], a: Family, b: Any) -> Family:
    """Give a product or union of two families, flat; the identity adds nothing."""
    if not isinstance(b, Family):
        return NotImplemented
    parts: list[Family] = []
    for side in (a, b):
        if isinstance(side, kind):
            parts += side.parts
        elif not isinstance(side, Identity) or side.shape is not None:
            parts.append(side)
    if len(parts) < 2:
        return parts[0] if parts else a
    return kind(parts)


def _product(sizes: list[float]) -> float:
    return math.inf if math.inf in sizes else math.prod(int(size) for size in sizes)
