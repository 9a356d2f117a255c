"""Thresholds that the projections on each template are compared with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.parallel import slices
from invarlearn.features.projections import TemplateOrbits


def uniform_thresholds(s: float, n_bins: int, n_templates: int) -> NDArray[np.float64]:
    """Return ``s k / n_bins`` for k from ``-n_bins`` to ``n_bins``: (m, 2 n_bins + 1)."""
    return np.tile(s * np.arange(-n_bins, n_bins + 1) / n_bins, (n_templates, 1))


def midpoint_thresholds(s: float, n_bins: int, n_templates: int) -> NDArray[np.float64]:
    """Return the midpoints between neighbouring uniform thresholds: (m, 2 n_bins)."""
    return np.tile(s * (np.arange(-n_bins, n_bins) + 0.5) / n_bins, (n_templates, 1))


def quantile_thresholds(
    rows: NDArray, orbits: TemplateOrbits, n_thresholds: int
) -> NDArray[np.float64]:
    """Return evenly spaced quantiles of the projections of rows on each template.

    Parameters
    ----------
    rows : array of shape (n, n_features)
    orbits : TemplateOrbits
        Orbits of m templates.
    n_thresholds : int
        Number of thresholds of each template.

    Returns
    -------
    array of shape (m, n_thresholds)
    """
    levels = (np.arange(n_thresholds) + 1) / (n_thresholds + 1)
    thresholds = np.empty((len(orbits.templates), n_thresholds))
    k = len(orbits.action)
    for block, elements in orbits.blocks(rows.dtype):
        for part in slices(block.stop - block.start, 2**24 // (k * len(rows))):
            projections = elements[part.start * k : part.stop * k] @ rows.T
            by_template = np.split(projections, len(projections) // k)
            thresholds[block.start + part.start : block.start + part.stop] = [
                separating_quantiles(values.ravel(), levels) for values in by_template
            ]
    return thresholds


def separating_quantiles(values: NDArray, levels: NDArray) -> NDArray[np.float64]:
    """Return quantiles halfway between distinct values, so that rounding errors do not matter.

    Parameters
    ----------
    values : array of shape (n,)
    levels : array of shape (n_levels,)
        Numbers between 0 and 1.

    Returns
    -------
    array of shape (n_levels,)
    """
    values = np.sort(values).astype(float)
    gap = 1e-5 * max(abs(values[0]), abs(values[-1]), np.finfo(float).tiny)
    below = values[np.ceil(levels * len(values)).astype(int) - 1]
    next_index = np.searchsorted(values, below + gap)
    above = np.where(
        next_index < len(values), values[np.minimum(next_index, len(values) - 1)], below + gap
    )
    return (below + above) / 2
