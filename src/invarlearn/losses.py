"""Convex scalar losses: values, derivatives and conjugates.

A loss compares a number u, the value of a function or of a functional, with a target y. The hinge,
absolute and epsilon-insensitive losses have a kink, where they are not differentiable.
``smoothing`` replaces the loss by a parabola around the kink. Solvers decrease ``smoothing`` step
by step, and bound the distance to the optimum of the original loss by the duality gap.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from invarlearn._utils.validation import check_choice, check_number

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Loss(ABC):
    """Base class of convex losses.

    Methods take arrays ``u`` of shape (n,) and targets ``y``, an array of shape (n,) or a number.
    They return arrays of shape (n,).

    Parameters
    ----------
    smoothing : float, default=0.0
        Half-width of the interval around a kink in which a parabola replaces the loss. Losses
        without a kink ignore it.

    Attributes
    ----------
    has_kink : bool
        Whether the loss has a kink if ``smoothing`` is 0.
    """

    smoothing: float = 0.0

    has_kink = False

    @abstractmethod
    def value(self, u: Numbers, y: Any) -> Numbers:
        """Return the loss at u."""
        raise NotImplementedError

    @abstractmethod
    def slope(self, u: Numbers, y: Any) -> Numbers:
        """Return the derivative of the loss with respect to u."""
        raise NotImplementedError

    @abstractmethod
    def curvature(self, u: Numbers, y: Any) -> Numbers:
        """Return the second derivative of the loss with respect to u."""
        raise NotImplementedError

    @abstractmethod
    def conjugate(self, s: Numbers, y: Any) -> Numbers:
        """Return the convex conjugate, the largest ``s u - value(u, y)`` over all u.

        Parameters
        ----------
        s : array of shape (n,)
            Slopes that the loss attains. The conjugate is infinite at others, which is not checked.
        y : array of shape (n,), or float
        """
        raise NotImplementedError

    @property
    def is_smooth(self) -> bool:
        """Whether the loss is differentiable everywhere."""
        return not self.has_kink or self.smoothing > 0

    def smoothed(self, smoothing: float) -> Loss:
        """Return the loss with its kink smoothed; a loss that is smooth already stays the same."""
        return self if self.is_smooth else replace(self, smoothing=smoothing)


class Squared(Loss):
    """``(u - y) ** 2``."""

    def value(self, u: Numbers, y: Any) -> Numbers:
        return (u - y) ** 2

    def slope(self, u: Numbers, y: Any) -> Numbers:
        return 2 * (u - y)

    def curvature(self, u: Numbers, y: Any) -> Numbers:
        return np.full_like(u, 2.0)

    def conjugate(self, s: Numbers, y: Any) -> Numbers:
        return s * (s / 4 + y)


class Logistic(Loss):
    """``log(1 + exp(-y u))`` for y = -1 or 1."""

    def value(self, u: Numbers, y: Any) -> Numbers:
        return np.logaddexp(0, -y * u)

    def slope(self, u: Numbers, y: Any) -> Numbers:
        return -y * expit(-y * u)

    def curvature(self, u: Numbers, y: Any) -> Numbers:
        return expit(u) * expit(-u)

    def conjugate(self, s: Numbers, y: Any) -> Numbers:
        p = np.clip(-y * s, 0, 1)
        return xlogy(p, p) + xlogy(1 - p, 1 - p)


class Hinge(Loss):
    """``max(0, 1 - y u)`` for y = -1 or 1. Smoothing increases it by at most ``smoothing / 4``."""

    has_kink = True

    def value(self, u: Numbers, y: Any) -> Numbers:
        return smoothed_ramp(1 - y * u, self.smoothing)

    def slope(self, u: Numbers, y: Any) -> Numbers:
        return -y * rounded_step(1 - y * u, self.smoothing)

    def curvature(self, u: Numbers, y: Any) -> Numbers:
        return rounded_bump(1 - y * u, self.smoothing)

    def conjugate(self, s: Numbers, y: Any) -> Numbers:
        s = y * s
        return s * (1 + self.smoothing) + self.smoothing * s**2


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """``max(0, |u - y| - epsilon)``.

    Parameters
    ----------
    smoothing : float, default=0.0
        As in :class:`Loss`; values above ``epsilon`` act as ``epsilon``.
    epsilon : float, default=0.1
        Deviations up to this size have no loss.
    """

    epsilon: float = 0.1
    has_kink = True

    def __post_init__(self) -> None:
        if check_number(self.epsilon, "epsilon", low=0) == 0:
            raise ValueError("epsilon=0 makes this the absolute loss: use Absolute instead")

    @property
    def _width(self) -> float:
        return min(self.smoothing, self.epsilon)

    def value(self, u: Numbers, y: Any) -> Numbers:
        return smoothed_ramp(np.abs(u - y) - self.epsilon, self._width)

    def slope(self, u: Numbers, y: Any) -> Numbers:
        return np.sign(u - y) * rounded_step(np.abs(u - y) - self.epsilon, self._width)

    def curvature(self, u: Numbers, y: Any) -> Numbers:
        return rounded_bump(np.abs(u - y) - self.epsilon, self._width)

    def conjugate(self, s: Numbers, y: Any) -> Numbers:
        return np.abs(s) * (self.epsilon - self._width) + self._width * s**2 + s * y


class Absolute(Loss):
    """``|u - y|``. Smoothed, it is Huber's loss, smaller by at most ``smoothing / 2``."""

    has_kink = True

    def value(self, u: Numbers, y: Any) -> Numbers:
        deviation = np.abs(u - y)
        if self.smoothing == 0:
            return deviation
        parabola = deviation**2 / (2 * self.smoothing)
        return np.where(deviation < self.smoothing, parabola, deviation - self.smoothing / 2)

    def slope(self, u: Numbers, y: Any) -> Numbers:
        if self.smoothing == 0:
            return np.sign(u - y)
        return np.clip((u - y) / self.smoothing, -1, 1)

    def curvature(self, u: Numbers, y: Any) -> Numbers:
        if self.smoothing == 0:
            return np.zeros_like(u)
        return np.where(np.abs(u - y) < self.smoothing, 1 / self.smoothing, 0.0)

    def conjugate(self, s: Numbers, y: Any) -> Numbers:
        return s * y + self.smoothing / 2 * s**2


def smoothed_ramp(t: Numbers, h: float) -> Numbers:
    """Return max(0, t), replaced by a parabola where |t| < h: (n,)."""
    if h == 0:
        return np.maximum(t, 0)
    return np.where(np.abs(t) < h, (t + h) ** 2 / (4 * h), np.maximum(t, 0))


def rounded_step(t: Numbers, h: float) -> Numbers:
    """Return the derivative of :func:`smoothed_ramp`: (n,)."""
    return (t > 0).astype(float) if h == 0 else np.clip((t + h) / (2 * h), 0, 1)


def rounded_bump(t: Numbers, h: float) -> Numbers:
    """Return the second derivative of :func:`smoothed_ramp`: (n,)."""
    return np.zeros_like(t) if h == 0 else np.where(np.abs(t) < h, 1 / (2 * h), 0.0)


# Losses by name: for labels of -1 and 1; for numbers and functionals.
CLASSIFICATION_LOSSES: dict[str, type[Loss]] = {
    "hinge": Hinge,
    "logistic": Logistic,
    "squared": Squared,
}
REGRESSION_LOSSES: dict[str, type[Loss]] = {
    "absolute": Absolute,
    "epsilon_insensitive": EpsilonInsensitive,
    "squared": Squared,
}


def make_loss(
    name: Any,
    known: dict[str, type[Loss]],
    what: str,
    smoothing: float = 0.0,
    epsilon: float = 0.1,
) -> Loss:
    """Return the loss with this name.

    Parameters
    ----------
    name : str
    known : dict
        Losses by name: ``CLASSIFICATION_LOSSES`` or ``REGRESSION_LOSSES``.
    what : str
        The parameter that ``name`` is the value of, for error messages.
    smoothing : float, default=0.0
    epsilon : float, default=0.1
        Of the epsilon-insensitive loss; 0 returns the absolute loss.
    """
    check_choice(name, sorted(known), what)
    smoothing = check_number(smoothing, "smoothing", low=0)
    if known[name] is not EpsilonInsensitive:
        return known[name](smoothing)
    if check_number(epsilon, "epsilon", low=0) == 0:
        return Absolute(smoothing)
    return EpsilonInsensitive(smoothing, epsilon)
