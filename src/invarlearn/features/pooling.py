"""Poolings of the projections <x, g_1 t>, ..., <x, g_k t> on the orbit of a template."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ProjectionPooling:
    """A function from the k projections on the orbit of a template to features.

    Attributes
    ----------
    name : str
        Name of the compiled function in ``_pooling.py``.
    has_thresholds : bool
        Whether projections are compared with thresholds.
    count : callable
        ``count(n_thresholds, n_bins)`` returns the number of features of a template.
    """

    name: str
    has_thresholds: bool
    count: Callable[[int, int], int]

    def function(self) -> Any:
        """Return the compiled function ``pool(projections, k, thresholds, out)``."""
        from invarlearn.features import _pooling

        return getattr(_pooling, self.name)


PROJECTION_POOLINGS = {
    "cdf": ProjectionPooling("pool_cdf", True, lambda n_thresholds, n_bins: n_thresholds),
    "histogram": ProjectionPooling(
        "pool_histogram", True, lambda n_thresholds, n_bins: n_thresholds + 1
    ),
    "moments": ProjectionPooling("pool_moments", False, lambda n_thresholds, n_bins: n_bins),
    "max": ProjectionPooling("pool_largest", False, lambda n_thresholds, n_bins: 1),
}
