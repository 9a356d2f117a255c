"""Pictures: orbits and tangents, samples beside what they become, spectra, boundaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from invarlearn.transforms import Family

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["show_boundaries", "show_family", "show_pairs", "show_spectra"]


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


def show_pairs(
    rows: ArrayLike,
    moved: ArrayLike,
    shape: tuple[int, ...],
    titles: Sequence[tuple[str, str]] = (),
    origin: str = "upper",
) -> Figure:
    """Draw samples as they are and, beside each, as they become.

    Parameters
    ----------
    rows, moved : array-like of shape (n, n_features)
        Of a pair, both are drawn in the same shades.
    shape : tuple
        (height, width), or with one or three channels.
    titles : sequence of pairs of str, default=()
        Above each pair, the first 14 letters.
    origin : {"upper", "lower"}, default="upper"
        Where the first row of pixels is: of spectrograms, below.

    Returns
    -------
    matplotlib.figure.Figure
        Up to four pairs in a line.

    Examples
    --------
    >>> from invarlearn.datasets import load_mnist_sample
    >>> from invarlearn.transforms import Rotation
    >>> X = load_mnist_sample().X_train[:3]
    >>> figure = show_pairs(X, Rotation(30).orbit(X)[:, 1], (28, 28))
    >>> sum(len(axis.images) for axis in figure.axes)
    6
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows, moved = np.asarray(rows), np.asarray(moved)
    if not len(rows):
        raise ValueError("there are no rows to draw")
    if rows.shape != moved.shape or rows.ndim != 2:
        raise ValueError(
            f"rows and moved must be tables of the same shape, not {rows.shape} and {moved.shape}"
        )
    if len(titles) not in (0, len(rows)):
        raise ValueError(f"{len(titles)} pairs of titles for {len(rows)} rows: give one for each")
    shape = shape[:2] if shape[2:] == (1,) else shape
    columns = min(4, len(rows))
    lines = -(-len(rows) // columns)
    figure = Figure(figsize=(2.1 * columns, 1.4 * lines + 0.1), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(lines, 2 * columns, squeeze=False).ravel()
    for axis in panels:
        axis.axis("off")
    for number, pair in enumerate(zip(rows, moved, strict=True)):
        low, high = (float(f(pair)) for f in (np.min, np.max))
        words = titles[number] if len(titles) else ("", "")
        for axis, row, title in zip(panels[2 * number :][:2], pair, words, strict=True):
            shades = (np.asarray(row).reshape(shape) - low) / ((high - low) or 1.0)
            axis.imshow(shades, cmap="gray", vmin=0, vmax=1, origin=origin)
            axis.set_title(title[:14], fontsize=9, parse_math=False)
    return figure


def show_spectra(grams: Mapping[str, ArrayLike]) -> Figure:
    """Draw the eigenvalues of Gram matrices by size, negative ones apart.

    Parameters
    ----------
    grams : dict from str to array-like of shape (n, n)
        Symmetric matrices by name.

    Returns
    -------
    matplotlib.figure.Figure
        Eigenvalues are divided by the largest. Crosses are negative ones, by their size.

    Examples
    --------
    >>> figure = show_spectra({"a swap": [[0.0, 1.0], [1.0, 0.0]]})
    >>> len(figure.axes[0].lines)
    2
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    plot = figure.subplots()
    for number, (name, gram) in enumerate(grams.items()):
        gram = np.asarray(gram, dtype=float)
        if gram.ndim != 2 or not gram.any() or not np.array_equal(gram.shape, gram.shape[::-1]):
            raise ValueError(f"{name!r} must be a square matrix that is not zero")
        if not np.allclose(gram, gram.T):
            raise ValueError(f"{name!r} is not symmetric: its eigenvalues may not be real")
        values = np.linalg.eigvalsh(gram)[::-1]
        values = values / np.abs(values).max()
        # rounding makes eigenvalues of nothing negative as often as positive
        noise = len(values) * np.finfo(float).eps
        place = np.arange(1, len(values) + 1)
        negative = values < -noise
        share = np.abs(values[negative]).sum() / np.abs(values).sum()
        above = values > noise
        colour = f"C{number}"
        plot.plot(place[above], values[above], ".", color=colour, label=f"{name}: {share:.1%}")
        plot.plot(place[negative], -values[negative], "x", color=colour)
    plot.set_yscale("log")
    plot.set_xlabel("eigenvalue, in order")
    plot.set_ylabel("size, relative to the largest")
    plot.grid(alpha=0.3)
    legend = plot.legend(title="negative share", loc="lower left", fontsize=9)
    legend.set_zorder(3)
    return figure


def show_boundaries(
    models: Mapping[str, Any], X: ArrayLike, y: ArrayLike, labeled: ArrayLike | None = None
) -> Figure:
    """Draw where classifiers of two classes in the plane change their mind, a panel each.

    Parameters
    ----------
    models : dict from str to classifier
        Fitted, with ``decision_function``.
    X : array-like of shape (n_samples, 2)
        Points to draw.
    y : array-like of shape (n_samples,)
        Their classes. How many of them each model has wrong is told above its panel.
    labeled : array-like of int or bool, optional
        Rows that had a label, drawn larger. None: all had one.

    Returns
    -------
    matplotlib.figure.Figure
        Up to four panels in a line; the boundary is black.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from invarlearn.datasets import make_two_moons
    >>> moons = make_two_moons(100, random_state=0)
    >>> svc = SVC().fit(moons.X, moons.y)
    >>> figure = show_boundaries({"SVC": svc}, moons.X, moons.y)
    >>> figure.axes[0].get_title()
    'SVC: 0.0% wrong'
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    X, y = np.asarray(X, dtype=float), np.asarray(y)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"boundaries are drawn in the plane: X has shape {X.shape}, not (n, 2)")
    classes = np.unique(y)
    if len(classes) != 2:
        raise ValueError(f"boundaries are drawn between two classes, not {len(classes)}")
    if not models:
        raise ValueError("there are no models to draw")
    rows = np.arange(len(X))[[] if labeled is None else np.asarray(labeled)]
    columns = min(4, len(models))
    lines = -(-len(models) // columns)
    figure = Figure(figsize=(3 * columns, 2.6 * lines), layout="constrained")
    FigureCanvasAgg(figure)
    low, high = X.min(axis=0), X.max(axis=0)
    low, high = low - 0.1 * (high - low), high + 0.1 * (high - low)
    across, up = np.meshgrid(np.linspace(low[0], high[0], 150), np.linspace(low[1], high[1], 100))
    places = np.column_stack([across.ravel(), up.ravel()])
    panels = list(figure.subplots(lines, columns, squeeze=False).flat)
    for axis in panels:
        axis.set_axis_off()
    for (name, model), plot in zip(models.items(), panels, strict=False):
        values = model.decision_function(places).reshape(across.shape)
        most = float(np.abs(values).max()) or 1.0
        plot.contourf(across, up, values, 20, cmap="RdBu_r", vmin=-most, vmax=most, alpha=0.6)
        if values.min() < 0 < values.max():
            plot.contour(across, up, values, [0.0], colors="black", linewidths=1.5)
        for label, mark in zip(classes, "os", strict=True):
            plot.scatter(*X[y == label].T, s=6, marker=mark, c="0.3")
        for row in rows:
            mark = "o" if y[row] == classes[0] else "s"
            plot.scatter(*X[row], s=70, marker=mark, c="gold", edgecolors="black", zorder=3)
        wrong = float((model.predict(X) != y).mean())
        plot.set_title(f"{name}: {wrong:.1%} wrong", fontsize=11)
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
