"""Pictures of families: what an orbit and its tangents look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from invarlearn.transforms import Family

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["show_family"]


def show_family(family: Family, x: ArrayLike, n_shown: int = 24, n_columns: int = 12) -> Figure:
    """Draw the orbit of an image and its tangents.

    Parameters
    ----------
    family : Family
        Acting on images (grey, or with three channels) or spectrograms.
    x : array-like of shape (n_features,)
    n_shown : int, default=24
        How many elements of the orbit to draw, evenly chosen, the identity first.
    n_columns : int, default=12

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``savefig``. Tangents are drawn red where ink comes, blue where it goes.

    Examples
    --------
    >>> from invarlearn.datasets import load_mnist_sample
    >>> from invarlearn.transforms import Rotation
    >>> figure = show_family(Rotation(30, n_steps=5), load_mnist_sample().X_train[0])
    >>> len(figure.axes)
    10
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    X = np.asarray(x)[None]
    orbit, tangents = family.orbit(X)[0], family.tangents(X)[0]
    shape = family.resolve_shape(X.shape[1])
    if len(shape) < 2 or (len(shape) == 3 and shape[2] not in (1, 3)):
        raise ValueError(f"rows of shape {shape} are not images that can be drawn")
    shape = shape[:2] if shape[2:] == (1,) else shape
    low, high = float(X.min()), float(X.max())
    chosen = np.unique(np.linspace(0, len(orbit) - 1, min(n_shown, len(orbit))).astype(int))
    names = _direction_names(family)
    n_columns = min(n_columns, max(len(chosen), len(tangents)))
    n_rows = -(-len(chosen) // n_columns)
    n_tangent_rows = -(-len(tangents) // n_columns)
    heights = [n_rows] + ([1.25 * n_tangent_rows] if len(tangents) else [])
    figure = Figure(figsize=(n_columns, sum(heights) + 0.35), layout="constrained")
    FigureCanvasAgg(figure)
    parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False).ravel()
    for axis, image in zip(_panels(parts[0], n_rows, n_columns), orbit[chosen], strict=False):
        axis.set_visible(True)
        shades = (image.reshape(shape) - low) / ((high - low) or 1.0)
        axis.imshow(shades.clip(0, 1), cmap="gray_r", vmin=0, vmax=1)
    shown = "" if len(chosen) == len(orbit) else f": {len(chosen)} of {len(orbit)} elements"
    parts[0].suptitle(f"orbit{shown}", fontsize=9)
    if len(tangents):
        panels = _panels(parts[1], n_tangent_rows, n_columns)
        for axis, tangent, name in zip(panels, tangents, names, strict=False):
            axis.set_visible(True)
            axis.set_title(name, fontsize=7, pad=2)
            _draw_tangent(axis, tangent.reshape(shape))
        parts[1].suptitle("tangents", fontsize=9)
    return figure


def _panels(part: Any, n_rows: int, n_columns: int) -> list[Any]:
    """Give empty square panels without ticks, hidden until they are used."""
    panels = list(part.subplots(n_rows, n_columns, squeeze=False).flat)
    for axis in panels:
        axis.set_xticks([])
        axis.set_yticks([])
        axis.spines[:].set_color("0.8")
        axis.set_visible(False)
    return panels


def _direction_names(family: Family) -> list[str]:
    """Name the tangents after the parts of the family that they belong to."""
    parts = getattr(family, "parts", [family])
    names = []
    for part in parts:
        name = type(part).__name__.lower()
        if hasattr(part, "parts"):
            names += _direction_names(part)
        elif part.n_directions == 1:
            names.append(name)
        else:
            names += [f"{name} {j + 1}" for j in range(part.n_directions)]
    return names


def _draw_tangent(axis: Any, tangent: NDArray) -> None:
    flat = tangent if tangent.ndim == 2 else tangent.mean(axis=2)
    limit = np.abs(flat).max() or 1.0
    axis.imshow(flat, cmap="RdBu_r", vmin=-limit, vmax=limit)
