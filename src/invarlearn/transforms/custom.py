"""A family from a user's own functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numpy.typing import ArrayLike

from invarlearn.transforms._actions import Action, Functions, Rows
from invarlearn.transforms._checks import Shape
from invarlearn.transforms.base import Family, _unchanged


class Custom(Family):
    """A family from a list of functions of rows.

    The identity is put first by itself. Tangents are the differences ``g(x) - x``, one for each
    function.

    Parameters
    ----------
    functions : list of callable
        Each maps an array of shape (n_samples, n_features) to another of the same shape.
    is_group, is_unitary : bool, default=False
        Whether the functions and the identity form a group, and keep norms;
        :func:`invarlearn.testing.check_family` tests such claims.
    shape : int or tuple, optional
        Shape of a row, if the functions want one in particular.

    Examples
    --------
    >>> import numpy as np
    >>> family = Custom([np.fliplr], is_group=True, is_unitary=True)
    >>> family.orbit([[1.0, 2.0, 3.0]])
    array([[[1., 2., 3.],
            [3., 2., 1.]]])
    """

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

    @property
    def n_elements(self) -> float:
        return 1 + len(self.functions)

    @property
    def n_directions(self) -> int:
        return len(self.functions)

    def _listed(self, n_features: int) -> Action:
        if not isinstance(self.functions, Sequence) or not all(map(callable, self.functions)):
            raise TypeError(f"functions={self.functions!r} must be a list of callables")
        return Functions([_unchanged, *self.functions])

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        X = self._check(X)
        return X[:, None] + X.dtype.type(t) * self.tangents(X)

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        X = self._check(X)
        action = self._listed(X.shape[1])
        return action.act(X, 1, len(action)) - X[:, None]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        names = ", ".join(getattr(f, "__name__", repr(f)) for f in self.functions)
        claims = "".join(
            f", {name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if name != "functions" and value not in (False, None)
        )
        return f"Custom([{names}]{claims})"
