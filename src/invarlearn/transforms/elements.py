"""Random elements of a family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from invarlearn.transforms._actions import Action, Rows
from invarlearn.transforms._checks import check_memory

if TYPE_CHECKING:
    from invarlearn.transforms.base import Family


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

    def __getitem__(self, i: Any) -> Any:
        chosen = range(self.k)[i]
        return Element(self, chosen) if isinstance(chosen, int) else [self[j] for j in chosen]

    def __deepcopy__(self, memo: Any) -> Elements:
        # nothing of it changes; scikit-learn copies the elements of a list one by one, and each
        # copy would draw all of them again
        return self

    def __repr__(self) -> str:
        return f"<{self.k} random elements of {self.family!r}>"

    def __call__(self, X: ArrayLike) -> Rows:
        """Apply all to every row: (n_samples, k, n_features)."""
        X = self.family._check(X)
        shape = (len(X), self.k, X.shape[1])
        check_memory(shape, X.dtype, "what they make of the rows", "use fewer rows at a time")
        return self._action(X.shape[1]).act(X, 0, self.k)

    def _action(self, n_features: int) -> Action:
        if n_features not in self._actions:
            rng = np.random.RandomState(self.seed)
            self._actions[n_features] = self.family._drawn(self.k, rng, n_features)
        return self._actions[n_features]


class Element:
    """One random element of a family: a function of rows, (n, d) to (n, d)."""

    def __init__(self, elements: Elements, i: int):
        self.elements = elements
        self.i = i

    def __call__(self, X: Any) -> Any:
        X = self.elements.family._check(X, one_element=True)
        return self.elements._action(X.shape[1]).one(X, self.i)

    def __repr__(self) -> str:
        return f"<element {self.i} of {self.elements!r}>"
