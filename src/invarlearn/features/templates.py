"""Random templates: what rows are projected on (papers 000 and 001)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from invarlearn.transforms._checks import check_number
from invarlearn.transforms.grid import Grid

Rows = NDArray[np.float64]
# Windows end where they are lost in rounding, at this part of their largest number: products with
# subnormal numbers take up to a hundred times as long.
LOST = 1e-20


def gaussian_templates(m: int, d: int, epsilon: float, rng: np.random.RandomState) -> Rows:
    """Draw templates from N(0, I / d), again while their squared norm is 1 + epsilon or more."""
    check_number(epsilon, "epsilon", low=np.finfo(float).tiny)
    templates = rng.standard_normal((m, d)) / np.sqrt(d)
    while True:
        long = np.einsum("md,md->m", templates, templates) >= 1 + epsilon
        if not long.any():
            return templates
        templates[long] = rng.standard_normal((long.sum(), d)) / np.sqrt(d)


def sphere_templates(m: int, d: int, rng: np.random.RandomState) -> Rows:
    """Draw templates uniformly on the unit sphere."""
    return normalized(rng.standard_normal((m, d)))


def local_templates(
    m: int, grid: Grid, envelope: Sequence[float], blur: float, rng: np.random.RandomState
) -> Rows:
    """Draw smooth noise under a Gaussian window at a random place: (m, pixels), of norm one.

    Parameters
    ----------
    m : int
    grid : tuple (height, width, channels)
    envelope : two floats
        Standard deviation of the window along each side, in pixels.
    blur : float
        Standard deviation, in pixels, of the Gaussian that smooths the noise.
    rng : RandomState
    """
    noise = rng.standard_normal((m, *grid))
    sigmas = [0.0, *(blur if side > 1 else 0.0 for side in grid[:2]), 0.0]
    noise = gaussian_filter(noise, sigmas, mode="wrap")
    return normalized((noise * windows(m, grid, envelope, rng)).reshape(m, -1))


def data_templates(
    m: int,
    X: NDArray,
    grid: Grid | None,
    envelope: Sequence[float] | None,
    rng: np.random.RandomState,
) -> Rows:
    """Draw rows less their mean, or with an envelope pieces of them: (m, features), of norm one."""
    rows = rng.randint(len(X), size=m) if m > len(X) else rng.choice(len(X), m, replace=False)
    templates = X[rows].astype(float) - X.mean(axis=0, dtype=float)
    if grid is not None and envelope is not None:
        pieces = templates.reshape(m, *grid) * windows(m, grid, envelope, rng)
        templates = pieces.reshape(m, -1)
    return normalized(templates)


def windows(m: int, grid: Grid, envelope: Sequence[float], rng: np.random.RandomState) -> Rows:
    """Give Gaussian windows at random places: (m, height, width, 1)."""
    down, right = (
        np.exp(-0.5 * ((np.arange(side) - (side * rng.uniform(size=(m, 1)) - 0.5)) / sigma) ** 2)
        if side > 1
        else np.ones((m, 1))
        for side, sigma in zip(grid[:2], envelope, strict=True)
    )
    both = down[:, :, None] * right[:, None, :]
    both[both < LOST * both.max(axis=(1, 2), keepdims=True)] = 0.0
    return both[..., None]


def normalized(rows: Rows) -> Rows:
    """Divide rows by their norms; zero rows stay zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
