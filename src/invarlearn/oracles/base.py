"""What an oracle is, and what mistakes cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Costs:
    """What it costs to take one class for another, and how margins count.

    The loss of an example of class y is the largest of ``scale[y, y'] * (f(s(x), y') - f(s(x), y))
    + cost[y, y', s]`` over classes y' and elements s of a family.

    Attributes
    ----------
    cost : array of shape (n_classes, n_classes, n_elements), or (n_classes, n_classes, 1)
        The latter if all elements cost the same. ``-inf``: an element does not apply to a class.
    scale : array of shape (n_classes, n_classes)
        Zero or more.
    """

    cost: Floats
    scale: Floats

    @classmethod
    def check(
        cls,
        cost: ArrayLike | None,
        margin_scale: ArrayLike | None,
        n_classes: int,
        n_elements: float,
    ) -> Costs:
        """Validate costs: None means 1 for every mistake, and no scaling of margins."""
        square = (n_classes, n_classes)
        scale = np.ones(square) if margin_scale is None else _numbers(margin_scale, "margin_scale")
        if scale.shape != square:
            raise ValueError(
                f"margin_scale has shape {scale.shape}; for {n_classes} classes it must be {square}"
            )
        if not (scale >= 0).all() or not np.isfinite(scale).all():
            raise ValueError("margin_scale must be finite, and zero or more: the loss is convex so")
        given = 1.0 - np.eye(n_classes) if cost is None else _numbers(cost, "cost")
        if given.ndim == 2:
            given = given[:, :, None]
        allowed = [1, int(n_elements)] if np.isfinite(n_elements) else [1]
        if given.ndim != 3 or given.shape[:2] != square or given.shape[2] not in allowed:
            more = f", or {(*square, int(n_elements))}" if np.isfinite(n_elements) else ""
            raise ValueError(
                f"cost has shape {given.shape}; for {n_classes} classes it must be {square}{more}"
            )
        right = given[np.arange(n_classes), np.arange(n_classes)].max(axis=1)
        if np.isnan(given).any() or (given == np.inf).any() or (right < 0).any():
            raise ValueError(
                "cost must be numbers, with -inf for elements that do not apply, and of a class "
                "for itself zero (or more)"
            )
        others = np.where(np.eye(n_classes, dtype=bool), -np.inf, given.max(axis=2)).max(axis=1)
        useless = np.flatnonzero(others <= right)
        if len(useless):
            raise ValueError(
                f"cost of class number {useless[0]}: no mistake costs more than the right answer, "
                "so there is nothing to learn; use 1 - np.eye(n_classes) for 1 for every mistake"
            )
        return cls(np.ascontiguousarray(given), np.ascontiguousarray(scale))

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.scale)

    @property
    def n_functions(self) -> int:
        """One for each class; with two classes a single one, f for the second, -f for the first."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def null(self) -> Floats:
        """The cost of a right answer, by class: the loss is never below it."""
        own = np.arange(self.n_classes)
        return self.cost[own, own].max(axis=1)

    @property
    def most(self) -> Floats:
        """The largest cost of each class: its loss at f = 0."""
        return self.cost.max(axis=(1, 2))


def _numbers(values: ArrayLike, name: str) -> Floats:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers, not {values!r}") from error


@dataclass(frozen=True)
class Worst:
    """The worst case of one example: the loss is ``w @ psi + delta`` there."""

    psi: Floats
    delta: float


class Risk(ABC):
    """The mean worst-case loss of a function that is linear in weights.

    Attributes
    ----------
    n_examples, n_weights : int
    shares : array of shape (n_examples,)
        What part each example has in the mean: they add up to one.
    at_zero : float
        The risk of the function that is zero.
    """

    n_examples: int
    n_weights: int
    shares: Floats
    at_zero: float

    @abstractmethod
    def subgradient(self, w: Floats) -> tuple[Floats, Floats]:
        """Give the losses, (n_examples,), and a subgradient of the risk, (n_weights,)."""
        raise NotImplementedError

    @abstractmethod
    def worst(self, w: Floats, i: int) -> Worst:
        """Give the worst case of example i."""
        raise NotImplementedError


def check_shares(weights: Any, n: int) -> Floats:
    """Give weights of examples as parts of one."""
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    return weights / weights.sum()
