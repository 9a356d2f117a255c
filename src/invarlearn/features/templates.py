"""Random templates that rows are projected on (Mroueh et al., 2015)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from scipy.sparse import issparse

from invarlearn._utils.validation import check_number
from invarlearn.transforms.domains import (
    BAG,
    IMAGE,
    POLAR_IMAGE,
    ROWS,
    SEQUENCE,
    SPECTROGRAM,
    Domain,
)
from invarlearn.transforms.grid import Grid

Rows = NDArray[np.float64]

# The kind of templates for templates="auto", by the domain of the family.
TEMPLATES_OF_DOMAIN: dict[Domain, str] = {
    IMAGE: "local",
    SPECTROGRAM: "local",
    POLAR_IMAGE: "gaussian",
    SEQUENCE: "gaussian",
    BAG: "gaussian",
    ROWS: "gaussian",
}

# Values of windows below this fraction of their maximum are set to zero. They are below rounding
# errors, and products with subnormal numbers take up to a hundred times as long.
NEGLIGIBLE = 1e-20


@dataclass(frozen=True)
class TemplateSampler:
    """A distribution of templates.

    Attributes
    ----------
    kind : {"gaussian", "sphere", "local", "data"}
        Kind of templates, as in :class:`InvariantFeatures`.
    epsilon : float
        Gaussian templates of squared norm ``1 + epsilon`` or more are drawn again.
    grid : tuple (height, width, channels) or None
        Shape of a row; None for templates without windows.
    envelope : pair of float or None
        Standard deviation of the windows along each side, in pixels; None for templates without
        windows.
    blur : float
        Standard deviation, in pixels, of the Gaussian that smooths the noise of local templates.
    """

    kind: str
    epsilon: float = 0.1
    grid: Grid | None = None
    envelope: tuple[float, float] | None = None
    blur: float = 0.8

    @property
    def depends_on_data(self) -> bool:
        """Whether templates are drawn from training rows."""
        return self.kind == "data"

    @property
    def norm_bound(self) -> float:
        """Upper bound of the norms of templates."""
        return float(np.sqrt(1 + self.epsilon)) if self.kind == "gaussian" else 1.0

    def draw(self, m: int, X: Any, rng: np.random.RandomState) -> Rows:
        """Draw templates.

        Parameters
        ----------
        m : int
            Number of templates.
        X : array or sparse matrix of shape (n, n_features)
            Training rows. Only ``kind="data"`` uses their values; other kinds use their number of
            features.
        rng : RandomState

        Returns
        -------
        array of shape (m, n_features)
        """
        return _DRAW[self.kind](self, m, X, rng)


def gaussian_templates(m: int, d: int, epsilon: float, rng: np.random.RandomState) -> Rows:
    """Draw from N(0, I / d), again for squared norms of 1 + epsilon or more: (m, d)."""
    check_number(epsilon, "epsilon", low=np.finfo(float).tiny)
    templates = rng.standard_normal((m, d)) / np.sqrt(d)
    while True:
        is_rejected = np.einsum("md,md->m", templates, templates) >= 1 + epsilon
        if not is_rejected.any():
            return templates
        templates[is_rejected] = rng.standard_normal((is_rejected.sum(), d)) / np.sqrt(d)


def sphere_templates(m: int, d: int, rng: np.random.RandomState) -> Rows:
    """Draw templates uniformly on the unit sphere: (m, d)."""
    return unit_norm_rows(rng.standard_normal((m, d)))


def local_templates(
    m: int, grid: Grid, envelope: Sequence[float], blur: float, rng: np.random.RandomState
) -> Rows:
    """Draw smooth noise under a Gaussian window at a random position.

    Parameters
    ----------
    m : int
        Number of templates.
    grid : tuple (height, width, channels)
    envelope : pair of float
        Standard deviation of the window along each side, in pixels.
    blur : float
        Standard deviation, in pixels, of the Gaussian that smooths the noise.
    rng : RandomState

    Returns
    -------
    array of shape (m, height * width * channels)
        Templates of norm one.
    """
    noise = rng.standard_normal((m, *grid))
    sigmas = [0.0, *(blur if side > 1 else 0.0 for side in grid[:2]), 0.0]
    noise = gaussian_filter(noise, sigmas, mode="wrap")
    return unit_norm_rows((noise * random_windows(m, grid, envelope, rng)).reshape(m, -1))


def data_templates(
    m: int,
    X: NDArray,
    grid: Grid | None,
    envelope: Sequence[float] | None,
    rng: np.random.RandomState,
) -> Rows:
    """Draw centred rows of X, or parts of them under Gaussian windows.

    Parameters
    ----------
    m : int
        Number of templates.
    X : array of shape (n, n_features)
    grid : tuple (height, width, channels) or None
    envelope : pair of float or None
        Standard deviation of the windows along each side, in pixels. None: no windows.
    rng : RandomState

    Returns
    -------
    array of shape (m, n_features)
        Templates of norm one; rows that equal the mean are zero.
    """
    rows = rng.randint(len(X), size=m) if m > len(X) else rng.choice(len(X), m, replace=False)
    templates = X[rows].astype(float) - X.mean(axis=0, dtype=float)
    if grid is not None and envelope is not None:
        windowed = templates.reshape(m, *grid) * random_windows(m, grid, envelope, rng)
        templates = windowed.reshape(m, -1)
    return unit_norm_rows(templates)


def random_windows(
    m: int, grid: Grid, envelope: Sequence[float], rng: np.random.RandomState
) -> Rows:
    """Return Gaussian windows at random positions: (m, height, width, 1)."""
    down, right = (
        np.exp(-0.5 * ((np.arange(side) - (side * rng.uniform(size=(m, 1)) - 0.5)) / sigma) ** 2)
        if side > 1
        else np.ones((m, 1))
        for side, sigma in zip(grid[:2], envelope, strict=True)
    )
    windows = down[:, :, None] * right[:, None, :]
    windows[windows < NEGLIGIBLE * windows.max(axis=(1, 2), keepdims=True)] = 0.0
    return windows[..., None]


def unit_norm_rows(rows: NDArray) -> NDArray:
    """Return rows divided by their Euclidean norms; rows of zeros stay zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)


def _draw_local(sampler: TemplateSampler, m: int, X: Any, rng: np.random.RandomState) -> Rows:
    if sampler.grid is None or sampler.envelope is None:
        raise ValueError("local templates need a grid and an envelope")
    return local_templates(m, sampler.grid, sampler.envelope, sampler.blur, rng)


def _draw_from_data(sampler: TemplateSampler, m: int, X: Any, rng: np.random.RandomState) -> Rows:
    rows = X[np.sort(rng.permutation(X.shape[0])[: max(m, 1000)])]
    rows = rows.toarray() if issparse(rows) else rows
    return data_templates(m, rows, sampler.grid, sampler.envelope, rng)


_DRAW: dict[str, Callable[[TemplateSampler, int, Any, np.random.RandomState], Rows]] = {
    "gaussian": lambda sampler, m, X, rng: gaussian_templates(m, X.shape[1], sampler.epsilon, rng),
    "sphere": lambda sampler, m, X, rng: sphere_templates(m, X.shape[1], rng),
    "local": _draw_local,
    "data": _draw_from_data,
}
