"""Costs of mistakes and scales of margins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Costs:
    """The costs of predicting one class for another, and the scales of margins.

    The loss of an example x of class y is the largest of ``scale[y, y'] * (f(s(x), y') - f(s(x),
    y)) + cost[y, y', s]`` over classes y' and elements s of a family.

    Attributes
    ----------
    cost : array of shape (n_classes, n_classes, n_elements) or (n_classes, n_classes, 1)
        The last axis has length 1 if costs do not depend on the element. ``-inf`` excludes an
        element for a class.
    scale : array of shape (n_classes, n_classes)
        Not negative.
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
        """Return validated costs.

        Parameters
        ----------
        cost : array of shape (n_classes, n_classes) or (n_classes, n_classes, n_elements), optional
            None: 1 for every mistake.
        margin_scale : array of shape (n_classes, n_classes), optional
            None: 1.
        n_classes : int
        n_elements : float
            Number of elements of the family; infinite if they cannot be listed.

        Returns
        -------
        Costs
        """
        square = (n_classes, n_classes)
        scale = np.ones(square)
        if margin_scale is not None:
            scale = _as_floats(margin_scale, "margin_scale")
        if scale.shape != square:
            raise ValueError(
                f"margin_scale has shape {scale.shape}; for {n_classes} classes it must be {square}"
            )
        if not (scale >= 0).all() or not np.isfinite(scale).all():
            raise ValueError(
                "margin_scale must be finite, and zero or more: otherwise the loss is not convex"
            )
        costs = 1.0 - np.eye(n_classes) if cost is None else _as_floats(cost, "cost")
        if costs.ndim == 2:
            costs = costs[:, :, None]
        lengths = [1, int(n_elements)] if np.isfinite(n_elements) else [1]
        if costs.ndim != 3 or costs.shape[:2] != square or costs.shape[2] not in lengths:
            alternative = f", or {(*square, int(n_elements))}" if np.isfinite(n_elements) else ""
            raise ValueError(
                f"cost has shape {costs.shape}; for {n_classes} classes it must be "
                f"{square}{alternative}"
            )
        correct = costs[np.arange(n_classes), np.arange(n_classes)].max(axis=1)
        if np.isnan(costs).any() or (costs == np.inf).any() or (correct < 0).any():
            raise ValueError(
                "cost must be numbers, or -inf to exclude an element for a class; the cost of a "
                "class for itself must be zero or more"
            )
        mistakes = np.where(np.eye(n_classes, dtype=bool), -np.inf, costs.max(axis=2)).max(axis=1)
        without_margin = np.flatnonzero(mistakes <= correct)
        if len(without_margin):
            raise ValueError(
                f"cost of class number {without_margin[0]}: no mistake costs more than the correct "
                "class, so there is nothing to learn; cost=1 - np.eye(n_classes) is 1 for every "
                "mistake"
            )
        return cls(np.ascontiguousarray(costs), np.ascontiguousarray(scale))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.scale)

    @property
    def n_functions(self) -> int:
        """Number of functions: one for each class; one for two classes, positive for the second."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def null(self) -> Floats:
        """Cost of the correct class, a lower bound of the loss: (n_classes,)."""
        own = np.arange(self.n_classes)
        return self.cost[own, own].max(axis=1)

    @property
    def most(self) -> Floats:
        """Largest cost of each class, its loss at f = 0: (n_classes,)."""
        return self.cost.max(axis=(1, 2))


def _as_floats(values: ArrayLike, name: str) -> Floats:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers, not {values!r}") from error
