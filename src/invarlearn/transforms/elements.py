"""Random elements of a family, drawn by :meth:`Family.sample`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from invarlearn._utils.validation import check_memory
from invarlearn.transforms.actions import Action, Rows

if TYPE_CHECKING:
    from invarlearn.transforms.base import Family


class Elements(Sequence):
    """Random elements of a family, as a sequence of functions of rows.

    Indexing returns a single element, slicing a list of them; an element is a function that maps
    rows of shape (n_samples, n_features) to rows of the same shape. The elements are drawn at the
    first call, since some families draw by the number of features. With the same seed they are
    always the same.

    Parameters
    ----------
    family : Family
    k : int
        Number of elements.
    seed : int
        Seed of the draw.

    Examples
    --------
    >>> import numpy as np
    >>> from invarlearn.transforms import Rotation
    >>> elements = Rotation(30).sample(3, random_state=0)
    >>> elements(np.ones((2, 64))).shape, elements[0](np.ones((2, 64))).shape
    ((2, 3, 64), (2, 64))
    """

    def __init__(self, family: Family, k: int, seed: int):
        self.family = family
        self.k = k
        self.seed = seed
        self._actions: dict[int, Action] = {}

    def __len__(self) -> int:
        return self.k

    def __getitem__(self, i: Any) -> Any:
        index = range(self.k)[i]
        return Element(self, index) if isinstance(index, int) else [self[j] for j in index]

    def __deepcopy__(self, memo: Any) -> Elements:
        # elements are immutable; scikit-learn copies the items of a list one by one, and each copy
        # would draw all elements again
        return self

    def __repr__(self) -> str:
        return f"<{self.k} random elements of {self.family!r}>"

    def __call__(self, X: ArrayLike) -> Rows:
        """Apply all elements to every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, k, n_features)
        """
        X = self.family.validate_rows(X)
        shape = (len(X), self.k, X.shape[1])
        check_memory(shape, X.dtype, "the transformed rows", "use fewer rows at a time")
        return self.action(X.shape[1]).act(X, 0, self.k)

    def action(self, n_features: int) -> Action:
        """Return the elements as an action on rows of ``n_features`` numbers."""
        if n_features not in self._actions:
            rng = np.random.RandomState(self.seed)
            self._actions[n_features] = self.family.draw(self.k, rng, n_features)
        return self._actions[n_features]


class Element:
    """One random element of a family: a function of rows that keeps their shape."""

    def __init__(self, elements: Elements, i: int):
        self.elements = elements
        self.i = i

    def __call__(self, X: Any) -> Any:
        X = self.elements.family.validate_rows(X, one_element=True)
        return self.elements.action(X.shape[1]).one(X, self.i)

    def __repr__(self) -> str:
        return f"<element {self.i} of {self.elements!r}>"


@dataclass(frozen=True)
class WorstCaseSearch:
    """:meth:`Family.worst_case` of fixed rows by their indices.

    Solvers look for the worst cases of the same rows in every iteration. A family whose
    ``prepare_worst_case`` returns a function of its own computes only once what does not depend on
    the score.

    Attributes
    ----------
    worst_case : callable
        Method of the family.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    """

    worst_case: Callable[..., tuple[Any, Rows]]
    X: Any

    def __call__(
        self, indices: Any, w: ArrayLike, sign: ArrayLike | None = None
    ) -> tuple[Any, Rows]:
        """Return ``worst_case(X[indices], w, sign)``."""
        return self.worst_case(self.X[indices], w, sign)
