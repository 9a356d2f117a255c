"""Changes of the intensities of an image: brightness, contrast, gamma."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from invarlearn._utils.validation import Shape, check_number
from invarlearn.transforms.actions import Action, Functions, Rows
from invarlearn.transforms.base import Family
from invarlearn.transforms.grid import ImageFamily, steps


class ChangeIntensity:
    """A function of rows: the change of a family by t.

    Parameters
    ----------
    family : IntensityFamily
    t : float
    """

    def __init__(self, family: IntensityFamily, t: float):
        self.family = family
        self.t = t

    def __call__(self, X: Rows) -> Rows:
        return self.family.change(X, self.t) if self.t else X


class IntensityFamily(ImageFamily):
    """Base class of families that change the values of pixels by one number t.

    Random elements have any t between plus and minus the limit. A subclass defines :meth:`change`,
    :meth:`limit` and ``tangents``, and must have the parameter ``n_steps``.
    """

    n_steps: int = 3
    # tangents have no derivatives of pixels
    default_smoothing = 0.0

    @abstractmethod
    def change(self, X: Rows, t: float) -> Rows:
        """Return rows changed by t; 0 is the identity.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        t : float

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        raise NotImplementedError

    @abstractmethod
    def limit(self) -> float:
        """Return the largest t; the smallest is its negative."""
        raise NotImplementedError

    @property
    def n_elements(self) -> float:
        return len(steps(self.limit(), self.n_steps, "range"))

    @property
    def n_directions(self) -> int:
        return 1

    def elements(self, n_features: int) -> Action:
        return self._changes(steps(self.limit(), self.n_steps, "range"), n_features)

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        limit = self.limit()
        return self._changes(rng.uniform(-limit, limit, size=k), n_features)

    def _changes(self, sizes: NDArray[np.float64], n_features: int) -> Action:
        family = self.with_shape(self.resolve_shape(n_features))
        return Functions([ChangeIntensity(family, float(t)) for t in sizes])

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        return self.change(self.smooth(X, smoothing), t)[:, None]


class Brightness(IntensityFamily):
    """Brightness of an image: a number is added to all pixels.

    The element with amount t maps an image x to ``x + t``. Values are not clipped. Random elements
    have any amount in the range. The family is neither unitary nor a group.

    Parameters
    ----------
    amount : float, default=0.1
        The largest absolute value of t, in the unit of the pixels; the default is for pixels from 0
        to 1.
    n_steps : int, default=3
        Number of amounts from -amount to amount; odd.
    shape : tuple, optional
        Shape of a row, as in :class:`Translation`.

    Examples
    --------
    >>> Brightness(0.5).orbit([[0.0, 1.0, 2.0, 3.0]])
    array([[[ 0. ,  1. ,  2. ,  3. ],
            [-0.5,  0.5,  1.5,  2.5],
            [ 0.5,  1.5,  2.5,  3.5]]])
    """

    spec_name = "brightness"
    stored_types = (ChangeIntensity,)
    ranges_about_zero = ("amount",)

    def __init__(self, amount: float = 0.1, n_steps: int = 3, shape: Shape = None):
        self.amount = amount
        self.n_steps = n_steps
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(), cls(0.3, n_steps=5, shape=(4, 8, 2))]

    def limit(self) -> float:
        return check_number(self.amount, "amount", low=0)

    def change(self, X: Rows, t: float) -> Rows:
        return X + X.dtype.type(t)

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        return np.ones_like(self.validate_rows(X))[:, None]


class Contrast(IntensityFamily):
    """Contrast of an image: differences from its mean are multiplied by a factor.

    The element with factor f maps an image x with the mean m, over all pixels and channels, to
    ``m + f (x - m)``. Values are not clipped. Random elements have any factor in the range, evenly
    distributed in the logarithm. The family is neither unitary nor a group.

    Parameters
    ----------
    factor : float, default=1.25
        The largest factor; the smallest is 1 / factor.
    n_steps : int, default=3
        Number of factors from 1 / factor to factor; odd.
    shape : tuple, optional
        Shape of a row, as in :class:`Translation`.

    Examples
    --------
    >>> Contrast(2.0).orbit([[0.0, 0.0, 2.0, 2.0]])
    array([[[ 0. ,  0. ,  2. ,  2. ],
            [ 0.5,  0.5,  1.5,  1.5],
            [-1. , -1. ,  3. ,  3. ]]])
    """

    spec_name = "contrast"
    stored_types = (ChangeIntensity,)
    ranges_about_one = ("factor",)

    def __init__(self, factor: float = 1.25, n_steps: int = 3, shape: Shape = None):
        self.factor = factor
        self.n_steps = n_steps
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(), cls(1.5, n_steps=5, shape=(4, 8, 2))]

    def limit(self) -> float:
        return log_factor(self.factor)

    def change(self, X: Rows, t: float) -> Rows:
        mean = X.mean(axis=1, keepdims=True)
        return mean + X.dtype.type(np.exp(t)) * (X - mean)

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        rows = self.smooth(X, smoothing)
        return (rows - rows.mean(axis=1, keepdims=True))[:, None]


class Gamma(IntensityFamily):
    """Gamma of an image: pixels are raised to a power, so that shadows become lighter or darker.

    The element with exponent g maps a pixel x to ``sign(x) |x| ** g``. Zero and one stay, so that
    pixels should be between them. Random
    elements have any exponent in the range, evenly distributed in the logarithm. The family is
    neither unitary nor a group.

    Parameters
    ----------
    exponent : float, default=1.25
        The largest exponent; the smallest is 1 / exponent.
    n_steps : int, default=3
        Number of exponents from 1 / exponent to exponent; odd.
    shape : tuple, optional
        Shape of a row, as in :class:`Translation`.

    Examples
    --------
    >>> Gamma(2.0).orbit([[0.0, 0.25, 1.0, 4.0]])
    array([[[ 0.    ,  0.25  ,  1.    ,  4.    ],
            [ 0.    ,  0.5   ,  1.    ,  2.    ],
            [ 0.    ,  0.0625,  1.    , 16.    ]]])
    """

    spec_name = "gamma"
    stored_types = (ChangeIntensity,)
    ranges_about_one = ("exponent",)

    def __init__(self, exponent: float = 1.25, n_steps: int = 3, shape: Shape = None):
        self.exponent = exponent
        self.n_steps = n_steps
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(), cls(1.5, n_steps=5, shape=(4, 8, 2))]

    def limit(self) -> float:
        return log_factor(self.exponent, "exponent")

    def change(self, X: Rows, t: float) -> Rows:
        return np.sign(X) * np.abs(X) ** X.dtype.type(np.exp(t))

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        rows = self.smooth(X, smoothing)
        sizes = np.abs(rows)
        logarithms = np.log(sizes, out=np.zeros_like(rows), where=sizes > 0)
        return (rows * logarithms)[:, None]


def log_factor(factor: float, name: str = "factor") -> float:
    """Return the logarithm of a parameter that is a factor of at least one."""
    return float(np.log(check_number(factor, name, low=1)))
