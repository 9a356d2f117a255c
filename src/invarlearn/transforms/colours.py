"""Changes of the colours of an image: saturation, hue, and both with brightness and contrast."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from invarlearn._utils.validation import Shape, check_number
from invarlearn.transforms.actions import Action, Composed, Joined, Rows
from invarlearn.transforms.base import Family
from invarlearn.transforms.grid import ImageFamily
from invarlearn.transforms.intensities import (
    Brightness,
    ChangeIntensity,
    Contrast,
    IntensityFamily,
    log_factor,
)


def colour_shape(family: Family, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape (height, width, 3); raise ValueError for any other."""
    if family.shape is None or len(shape) != 3 or shape[2] != 3:
        of_rows = "unknown" if family.shape is None else repr(shape)
        raise ValueError(
            f"{type(family).__name__} acts on images of three colours, but the shape of a row is "
            f"{of_rows}: pass shape=(height, width, 3)"
        )
    return shape


class ColourFamily(IntensityFamily):
    """Base class of families that change the colour of each pixel by one number t."""

    def resolve_shape(self, n_features: int) -> tuple[int, ...]:
        shape = super().resolve_shape(n_features) if self.shape is not None else ()
        return colour_shape(self, shape)

    def colours(self, X: Rows) -> Rows:
        """Return the colours of all pixels: (n_samples, n_pixels, 3)."""
        return X.reshape(len(X), -1, 3)


class Saturation(ColourFamily):
    """Saturation of an image: colours become paler or stronger.

    The element with factor f maps a colour c, whose mean over red, green and blue is g, to
    ``g + f (c - g)``. Values are not clipped. Random elements have any factor in the range, evenly
    distributed in the logarithm. The family is neither unitary nor a group.

    Parameters
    ----------
    factor : float, default=1.25
        The largest factor; the smallest is 1 / factor.
    n_steps : int, default=3
        Number of factors from 1 / factor to factor; odd.
    shape : tuple
        (height, width, 3); required.

    Examples
    --------
    >>> Saturation(2.0, shape=(1, 1, 3)).orbit([[0.0, 1.0, 2.0]])
    array([[[ 0. ,  1. ,  2. ],
            [ 0.5,  1. ,  1.5],
            [-1. ,  1. ,  3. ]]])
    """

    spec_name = "saturation"
    stored_types = (ChangeIntensity,)
    ranges_about_one = ("factor",)

    def __init__(self, factor: float = 1.25, n_steps: int = 3, shape: Shape = None):
        self.factor = factor
        self.n_steps = n_steps
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(shape=(4, 5, 3))]

    def limit(self) -> float:
        return log_factor(self.factor)

    def change(self, X: Rows, t: float) -> Rows:
        colours = self.colours(X)
        grey = colours.mean(axis=2, keepdims=True)
        return (grey + X.dtype.type(np.exp(t)) * (colours - grey)).reshape(X.shape)

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        rows = self.smooth(X, smoothing)
        colours = self.colours(rows)
        return (colours - colours.mean(axis=2, keepdims=True)).reshape(len(rows), 1, -1)


class Hue(ColourFamily):
    """Hue of an image: colours are rotated about the axis of greys.

    An element rotates the vector (red, green, blue) of each pixel about (1, 1, 1) by an angle.
    Greys stay, and 120 degrees turn red into green. Values are not clipped. Random elements have
    any angle in the range. The family is unitary.

    Parameters
    ----------
    degrees : float, default=15
        The largest angle, in both directions, below 180.
    n_steps : int, default=3
        Number of angles from -degrees to degrees; odd.
    shape : tuple
        (height, width, 3); required.

    Examples
    --------
    >>> Hue(120.0, shape=(1, 1, 3)).orbit([[1.0, 0.0, 0.0]])[0, 2].round(9) + 0.0
    array([0., 1., 0.])
    """

    spec_name = "hue"
    stored_types = (ChangeIntensity,)
    ranges_about_zero = ("degrees",)
    is_unitary = True

    def __init__(self, degrees: float = 15, n_steps: int = 3, shape: Shape = None):
        self.degrees = degrees
        self.n_steps = n_steps
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(shape=(4, 5, 3))]

    def scaled(self, factor: float) -> Hue:
        family = super().scaled(factor)
        return family.set_params(degrees=min(family.degrees, 179.0))

    def limit(self) -> float:
        return float(np.deg2rad(check_number(self.degrees, "degrees", low=0, high=179.9)))

    def change(self, X: Rows, t: float) -> Rows:
        matrix = about_grey(t).astype(X.dtype)
        return (self.colours(X) @ matrix.T).reshape(X.shape)

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        rows = self.smooth(X, smoothing)
        return (self.colours(rows) @ _CROSS.T.astype(rows.dtype)).reshape(len(rows), 1, -1)


# The cross product with the unit vector along (1, 1, 1).
_CROSS = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]]) / np.sqrt(3)


def about_grey(angle: float) -> NDArray[np.float64]:
    """Return the rotation of (red, green, blue) about (1, 1, 1): a 3 x 3 matrix."""
    return np.asarray(np.eye(3) + np.sin(angle) * _CROSS + (1 - np.cos(angle)) * (_CROSS @ _CROSS))


class ColourJitter(ImageFamily):
    """Colours of an image: brightness, contrast, saturation and hue together.

    The elements are the identity, and the darkest, brightest, flattest, sharpest, palest and most
    colourful images and both extremes of hue. Random elements change all four at once: brightness
    first, then contrast, saturation and hue. The family is neither unitary nor a group.

    Parameters
    ----------
    brightness : float, default=0.1
        As ``amount`` of :class:`Brightness`.
    contrast : float, default=1.25
        As ``factor`` of :class:`Contrast`.
    saturation : float, default=1.25
        As ``factor`` of :class:`Saturation`.
    hue : float, default=15
        As ``degrees`` of :class:`Hue`.
    shape : tuple
        (height, width, 3); required.

    Examples
    --------
    >>> import numpy as np
    >>> ColourJitter(shape=(8, 8, 3)).orbit(np.ones((2, 192))).shape
    (2, 9, 192)
    """

    spec_name = "colour-jitter"
    ranges_about_zero = ("brightness", "hue")
    ranges_about_one = ("contrast", "saturation")

    def __init__(
        self,
        brightness: float = 0.1,
        contrast: float = 1.25,
        saturation: float = 1.25,
        hue: float = 15,
        shape: Shape = None,
    ):
        self.brightness = brightness
        self.contrast = contrast
        self.saturation = saturation
        self.hue = hue
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(shape=(4, 5, 3))]

    default_smoothing = 0.0

    def resolve_shape(self, n_features: int) -> tuple[int, ...]:
        shape = super().resolve_shape(n_features) if self.shape is not None else ()
        return colour_shape(self, shape)

    def scaled(self, factor: float) -> ColourJitter:
        family = super().scaled(factor)
        return family.set_params(hue=min(family.hue, 179.0))

    def _changes(self) -> list[Family]:
        return [
            Brightness(check_number(self.brightness, "brightness", low=0), shape=self.shape),
            Contrast(check_number(self.contrast, "contrast", low=1), shape=self.shape),
            Saturation(check_number(self.saturation, "saturation", low=1), shape=self.shape),
            Hue(check_number(self.hue, "hue", low=0, high=179.9), shape=self.shape),
        ]

    @property
    def n_elements(self) -> float:
        return 1 + sum(change.n_elements - 1 for change in self._changes())

    @property
    def n_directions(self) -> int:
        return len(self._changes())

    def elements(self, n_features: int) -> Action:
        self.resolve_shape(n_features)
        return Joined([change.elements(n_features) for change in self._changes()])

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        self.resolve_shape(n_features)
        brightness, *others = [change.draw(k, rng, n_features) for change in self._changes()]
        action = brightness
        for outer in others:
            action = Composed(outer, action, pairwise=True)
        return action

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        X = self.validate_rows(X)
        flows = [change.flow(X, t, smoothing) for change in self._changes()]
        return np.concatenate(flows, axis=1)

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        X = self.validate_rows(X)
        tangents = [change.tangents(X, smoothing) for change in self._changes()]
        return np.concatenate(tangents, axis=1)
