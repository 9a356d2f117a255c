"""Random elements of a family, as a family that lists them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from invarlearn._utils.validation import Shape, check_number
from invarlearn.transforms.actions import Action, Functions, Joined, Rows, unchanged
from invarlearn.transforms.base import Family
from invarlearn.transforms.domains import Domain
from invarlearn.transforms.elastic import Elastic
from invarlearn.transforms.images import Rotation, Scaling


class Sampled(Family):
    """The identity and k random elements of a family, the same ones every time.

    Use it with estimators that list all elements, such as :class:`invarlearn.OrbitSVC`, if the
    family has many elements or cannot be listed. Tangents are those of the family. The result is
    unitary if the family is; it is not a group.

    Parameters
    ----------
    family : Family
        Family whose elements are drawn.
    k : int, default=100
        Number of random elements, besides the identity.
    seed : int, default=0
        Seed of the draw.

    Examples
    --------
    >>> from invarlearn.transforms import Elastic
    >>> Sampled(Elastic(8.0, 3.0), 5).orbit(np.ones((2, 64))).shape
    (2, 6, 64)
    """

    # without a name in specifications, which cannot contain another family
    spec_name = ""

    def __init__(self, family: Family, k: int = 100, seed: int = 0):
        self.family = family
        self.k = k
        self.seed = seed

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(Rotation(20) * Scaling(1.2), 7), cls(Elastic(8.0, 3.0), 4, seed=3)]

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return self.family.domain

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        """Shape of a row, which is that of ``family``."""
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

    def size(self, n_features: int) -> float:
        return self.n_elements

    def elements(self, n_features: int) -> Action:
        seed = int(check_number(self.seed, "seed", low=0, high=2**32 - 1, whole=True))
        # one more than k, since Joined drops the first element of the second action
        drawn = self.family.draw(self._count() + 1, np.random.RandomState(seed), n_features)
        return Joined([Functions([unchanged]), drawn])

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
