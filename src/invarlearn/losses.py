"""Convex losses of one number: values, derivatives and conjugates.

A loss is a function of u, a value or a functional of f, given a target y. Hinge, absolute and
epsilon-insensitive losses have a kink, which ``smoothing`` rounds off; solvers round it more and
more finely, and measure how far they are from the sharp optimum by the duality gap.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from invarlearn.transforms._checks import check_number

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Loss(ABC):
    """A convex loss.

    Parameters
    ----------
    smoothing : float, default=0.0
        Half the width of what is rounded about a kink; losses without a kink do without.
    """

    smoothing: float = 0.0

    has_kink = False

    @abstractmethod
    def value(self, u: Numbers, y: Any) -> Numbers:
        """Give the loss of each number."""
        raise NotImplementedError

    @abstractmethod
    def slope(self, u: Numbers, y: Any) -> Numbers:
        """Give its derivative by u."""
        raise NotImplementedError

    @abstractmethod
    def curvature(self, u: Numbers, y: Any) -> Numbers:
        """Give its second derivative by u."""
        raise NotImplementedError

    @abstractmethod
    def conjugate(self, s: Numbers, y: Any) -> Numbers:
        """Give the largest ``s u - value(u)`` over all u, at slopes s that the loss can have."""
        raise NotImplementedError

    @property
    def is_smooth(self) -> bool:
        """Whether the loss has a derivative everywhere."""
        return not self.has_kink or self.smoothing > 0

    def rounded(self, smoothing: float) -> Loss:
        """Give this loss with its kink rounded off, if it has one that is not rounded yet."""
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
        share = np.clip(-y * s, 0, 1)
        return xlogy(share, share) + xlogy(1 - share, 1 - share)


class Hinge(Loss):
    """``max(0, 1 - y u)`` for y = -1 or 1; rounded it is at most smoothing / 4 larger."""

    has_kink = True

    def value(self, u: Numbers, y: Any) -> Numbers:
        return rounded_ramp(1 - y * u, self.smoothing)

    def slope(self, u: Numbers, y: Any) -> Numbers:
        return -y * rounded_step(1 - y * u, self.smoothing)

    def curvature(self, u: Numbers, y: Any) -> Numbers:
        return rounded_bump(1 - y * u, self.smoothing)

    def conjugate(self, s: Numbers, y: Any) -> Numbers:
        s = y * s
        return s * (1 + self.smoothing) + self.smoothing * s**2


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """``max(0, |u - y| - epsilon)``; rounded by no more than epsilon."""

    epsilon: float = 0.1
    has_kink = True

    def __post_init__(self) -> None:
        if check_number(self.epsilon, "epsilon", low=0) == 0:
            raise ValueError("epsilon=0 is the absolute loss: use Absolute")

    @property
    def _width(self) -> float:
        return min(self.smoothing, self.epsilon)

    def value(self, u: Numbers, y: Any) -> Numbers:
        return rounded_ramp(np.abs(u - y) - self.epsilon, self._width)

    def slope(self, u: Numbers, y: Any) -> Numbers:
        return np.sign(u - y) * rounded_step(np.abs(u - y) - self.epsilon, self._width)

    def curvature(self, u: Numbers, y: Any) -> Numbers:
        return rounded_bump(np.abs(u - y) - self.epsilon, self._width)

    def conjugate(self, s: Numbers, y: Any) -> Numbers:
        return np.abs(s) * (self.epsilon - self._width) + self._width * s**2 + s * y


class Absolute(Loss):
    """``|u - y|``; rounded, Huber's loss, it is at most smoothing / 2 smaller."""

    has_kink = True

    def value(self, u: Numbers, y: Any) -> Numbers:
        far = np.abs(u - y)
        if self.smoothing == 0:
            return far
        near = far**2 / (2 * self.smoothing)
        return np.where(far < self.smoothing, near, far - self.smoothing / 2)

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


def rounded_ramp(t: Numbers, h: float) -> Numbers:
    """Give max(0, t), with a parabola between -h and h."""
    if h == 0:
        return np.maximum(t, 0)
    return np.where(np.abs(t) < h, (t + h) ** 2 / (4 * h), np.maximum(t, 0))


def rounded_step(t: Numbers, h: float) -> Numbers:
    """Give its derivative."""
    return (t > 0).astype(float) if h == 0 else np.clip((t + h) / (2 * h), 0, 1)


def rounded_bump(t: Numbers, h: float) -> Numbers:
    """Give its second derivative."""
    return np.zeros_like(t) if h == 0 else np.where(np.abs(t) < h, 1 / (2 * h), 0.0)


# One line registers a loss: of labels in two classes, of numbers, and of functionals.
OF_CLASSES: dict[str, type[Loss]] = {"hinge": Hinge, "logistic": Logistic, "squared": Squared}
OF_NUMBERS: dict[str, type[Loss]] = {
    "absolute": Absolute,
    "epsilon_insensitive": EpsilonInsensitive,
    "squared": Squared,
}


def make_loss(
    name: Any, known: dict[str, type[Loss]], what: str, smoothing: float, epsilon: float
) -> Loss:
    """Give the loss of this name, or say which there are."""
    if name not in known:
        raise ValueError(f"{what}={name!r} is unknown: choose one of {', '.join(sorted(known))}")
    smoothing = check_number(smoothing, "smoothing", low=0)
    if known[name] is not EpsilonInsensitive:
        return known[name](smoothing)
    if check_number(epsilon, "epsilon", low=0) == 0:
        return Absolute(smoothing)
    return EpsilonInsensitive(smoothing, epsilon)
