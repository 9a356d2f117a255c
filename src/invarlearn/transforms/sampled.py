"""Some random elements of a family, as a family of their own."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from invarlearn.transforms._actions import Action, Functions, Joined, Rows
from invarlearn.transforms._checks import Shape, check_number
from invarlearn.transforms.base import Family, _unchanged


class Sampled(Family):
    """So many random elements of a family, and the identity: always the same ones.

    What lists elements, such as :class:`invarlearn.OrbitSVC`, can use families with very many
    elements in this way, or with more than can be listed.

    Parameters
    ----------
    family : Family
    k : int, default=100
        How many elements, besides the identity.
    seed : int, default=0
        Of the draw.

    Examples
    --------
    >>> from invarlearn.transforms import Elastic
    >>> Sampled(Elastic(8.0, 3.0), 5).orbit(np.ones((2, 64))).shape
    (2, 6, 64)
    """

    def __init__(self, family: Family, k: int = 100, seed: int = 0):
        self.family = family
        self.k = k
        self.seed = seed

    @property
    def domain(self) -> str:  # type: ignore[override]
        return self.family.domain

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        """That of the family."""
        return self.family.shape

    @property
    def is_unitary(self) -> bool:  # type: ignore[override]
        return self.family.is_unitary

    @property
    def default_smoothing(self) -> float:  # type: ignore[override]
        return self.family.default_smoothing

    @property
    def n_elements(self) -> float:
        return 1 + self._count()

    @property
    def n_directions(self) -> int:
        return self.family.n_directions

    def _count(self) -> int:
        return int(check_number(self.k, "k", low=1, whole=True))

    def _size(self, n_features: int) -> float:
        return self.n_elements

    def _listed(self, n_features: int) -> Action:
        seed = int(check_number(self.seed, "seed", low=0, high=2**32 - 1, whole=True))
        # one more than needed: of the second list the first is dropped
        drawn = self.family._drawn(self._count() + 1, np.random.RandomState(seed), n_features)
        return Joined([Functions([_unchanged]), drawn])

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        return self.family.flow(X, t, smoothing)

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        return self.family.tangents(X, smoothing)

    def smooth(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        return self.family.smooth(X, smoothing)

    def resolve_shape(self, n_features: int) -> tuple[int, ...]:
        return self.family.resolve_shape(n_features)

    def with_shape(self, shape: int | tuple[int, ...]) -> Family:
        return Sampled(self.family.with_shape(shape), self.k, self.seed)

    def with_shape_of(self, n_features: int) -> Family:
        return Sampled(self.family.with_shape_of(n_features), self.k, self.seed)

    def scaled(self, factor: float) -> Family:
        return Sampled(self.family.scaled(factor), self.k, self.seed)
