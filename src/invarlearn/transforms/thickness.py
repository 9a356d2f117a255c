"""Changes of the thickness of strokes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from invarlearn._utils.validation import Shape, check_number
from invarlearn.transforms.actions import Action, Functions, Rows
from invarlearn.transforms.base import Family
from invarlearn.transforms.grid import ImageFamily, steps


class Thicken:
    """A function of rows that adds t times the squared gradient of the smoothed image.

    Parameters
    ----------
    family : ImageFamily
        Family whose tangents are the squared gradients.
    t : float
    """

    def __init__(self, family: ImageFamily, t: float):
        self.family = family
        self.t = t

    def __call__(self, X: Rows) -> Rows:
        return X + X.dtype.type(self.t) * self.family.tangents(X)[:, 0] if self.t else X


class Thickness(ImageFamily):
    """Thickness of strokes: bolder and thinner, as in tangent distance.

    The element with amount t adds t times the squared length of the gradient of the smoothed image:
    ``x + t |grad x|^2``. Random elements have any amount in the range. The family is neither
    unitary nor a group.

    Parameters
    ----------
    amount : float, default=1.0
        The largest absolute value of t; bright strokes become bolder with positive t.
    n_steps : int, default=3
        Number of amounts from -amount to amount; odd.
    fill : {"zero", "edge", "wrap"}, default="zero"
        Values of pixels outside the image when it is smoothed.
    shape : tuple, optional
        Shape of a row, as in :class:`Translation`.

    Examples
    --------
    >>> import numpy as np
    >>> Thickness(0.5).orbit(np.eye(8).reshape(1, 64)).shape
    (1, 3, 64)
    """

    spec_name = "thickness"
    stored_types = (Thicken,)
    ranges_about_zero = ("amount",)

    def __init__(
        self, amount: float = 1.0, n_steps: int = 3, fill: str = "zero", shape: Shape = None
    ):
        self.amount = amount
        self.n_steps = n_steps
        self.fill = fill
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(0.5), cls(0.3, shape=(4, 8, 2))]

    @property
    def n_elements(self) -> float:
        return len(steps(self.amount, self.n_steps, "amount"))

    @property
    def n_directions(self) -> int:
        return 1

    def elements(self, n_features: int) -> Action:
        return self._thickened(steps(self.amount, self.n_steps, "amount"))

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        amount = check_number(self.amount, "amount", low=0)
        return self._thickened(rng.uniform(-amount, amount, size=k))

    def _thickened(self, amounts: NDArray[np.float64]) -> Action:
        return Functions([Thicken(self, float(t)) for t in amounts])

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        X = self.validate_rows(X)
        change = X.dtype.type(t) * self.tangents(X, smoothing)
        return self.smooth(X, smoothing)[:, None] + change

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        X = self.validate_rows(X)
        down, right = self.gradients(X, smoothing)
        return (down**2 + right**2).reshape(len(X), 1, -1)
