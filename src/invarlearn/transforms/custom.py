"""Families of user-defined functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from invarlearn._utils.validation import Shape
from invarlearn.transforms.actions import Action, Functions, Rows, unchanged
from invarlearn.transforms.base import Family


class Custom(Family):
    """The identity and a list of functions of rows.

    The functions need not include the identity. The tangents are the differences ``g(x) - x``, one
    for each function g. The domain is rows of numbers; for images, subclass :class:`ImageFamily`
    instead, so that estimators choose image features.

    Parameters
    ----------
    functions : list of callable
        Functions that map an array of shape (n_samples, n_features) to an array of the same shape,
        row by row.
    is_group, is_unitary : bool, default=False
        Whether the functions and the identity form a group, and whether they preserve norms.
        :func:`invarlearn.testing.check_family` tests both.
    shape : int or tuple, optional
        Shape of a row, if the functions require one.

    Examples
    --------
    >>> import numpy as np
    >>> family = Custom([np.fliplr], is_group=True, is_unitary=True)
    >>> family.orbit([[1.0, 2.0, 3.0]])
    array([[[1., 2., 3.],
            [3., 2., 1.]]])
    """

    # without a name in specifications, which cannot contain functions
    spec_name = ""

    def __init__(
        self,
        functions: Sequence[Callable[[Rows], Rows]] = (),
        is_group: bool = False,
        is_unitary: bool = False,
        shape: Shape = None,
    ):
        self.functions = functions
        self.is_group = is_group
        self.is_unitary = is_unitary
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls([np.fliplr], is_group=True, is_unitary=True), cls([np.square])]

    @property
    def n_elements(self) -> float:
        return 1 + len(self.functions)

    @property
    def n_directions(self) -> int:
        return len(self.functions)

    def elements(self, n_features: int) -> Action:
        if not isinstance(self.functions, Sequence) or not all(map(callable, self.functions)):
            raise TypeError(f"functions={self.functions!r} must be a list of callables")
        return Functions([unchanged, *self.functions])

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        X = self.validate_rows(X)
        return X[:, None] + X.dtype.type(t) * self.tangents(X)

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        X = self.validate_rows(X)
        action = self.elements(X.shape[1])
        return action.act(X, 1, len(action)) - X[:, None]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        names = ", ".join(getattr(f, "__name__", repr(f)) for f in self.functions)
        other_params = "".join(
            f", {name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if name != "functions" and value not in (False, None)
        )
        return f"Custom([{names}]{other_params})"
