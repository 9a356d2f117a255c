"""Figures of orbits and tangents, of transformed samples, of spectra and of boundaries."""

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
        A family of images (grey, or with three channels) or spectrograms.
    x : array-like of shape (n_features,)
        The image.
    n_shown : int, default=24
        Maximum number of elements that are drawn. They are evenly spaced in the orbit, and the
        first is the identity.
    n_columns : int, default=12
        Maximum number of images in a row of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Tangents are red where pixel values increase and blue where they decrease.

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
        raise ValueError(
            f"rows of shape {shape} cannot be drawn: the shape must be (height, width), or "
            "(height, width, channels) with one or three channels"
        )
    shape = shape[:2] if shape[2:] == (1,) else shape
    low, high = float(X.min()), float(X.max())
    indices = np.unique(np.linspace(0, len(orbit) - 1, min(n_shown, len(orbit))).astype(int))
    names = _direction_names(family)
    n_columns = min(n_columns, max(len(indices), len(tangents)))
    n_rows = -(-len(indices) // n_columns)
    n_tangent_rows = -(-len(tangents) // n_columns)
    heights = [n_rows] + ([1.25 * n_tangent_rows] if len(tangents) else [])
    figure = Figure(figsize=(n_columns, sum(heights) + 0.35), layout="constrained")
    FigureCanvasAgg(figure)
    subfigures = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False).ravel()
    panels = _panels(subfigures[0], n_rows, n_columns)
    for axis, image in zip(panels, orbit[indices], strict=False):
        axis.set_visible(True)
        shades = (image.reshape(shape) - low) / ((high - low) or 1.0)
        axis.imshow(shades.clip(0, 1), cmap="gray_r", vmin=0, vmax=1)
    counts = "" if len(indices) == len(orbit) else f": {len(indices)} of {len(orbit)} elements"
    subfigures[0].suptitle(f"orbit{counts}", fontsize=9)
    if len(tangents):
        panels = _panels(subfigures[1], n_tangent_rows, n_columns)
        for axis, tangent, name in zip(panels, tangents, names, strict=False):
            axis.set_visible(True)
            axis.set_title(name, fontsize=7, pad=2)
            _draw_tangent(axis, tangent.reshape(shape))
        subfigures[1].suptitle("tangents", fontsize=9)
    return figure


def show_pairs(
    rows: ArrayLike,
    transformed: ArrayLike,
    shape: tuple[int, ...],
    titles: Sequence[tuple[str, str]] = (),
    origin: str = "upper",
) -> Figure:
    """Draw pairs of images: each sample beside its transformed version.

    Parameters
    ----------
    rows, transformed : array-like of shape (n_samples, n_features)
        Samples and transformed samples. The two images of a pair have the same grey scale.
    shape : tuple
        (height, width), or (height, width, channels) with one or three channels.
    titles : sequence of pairs of str, default=()
        Titles of the two images of each pair, cut to 14 characters.
    origin : {"upper", "lower"}, default="upper"
        Where the first row of pixels is drawn: "lower" suits spectrograms.

    Returns
    -------
    matplotlib.figure.Figure
        With up to four pairs in a row.

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

    rows, transformed = np.asarray(rows), np.asarray(transformed)
    if not len(rows):
        raise ValueError("there are no rows to draw: pass at least one sample")
    if rows.shape != transformed.shape or rows.ndim != 2:
        raise ValueError(
            f"rows and transformed have shapes {rows.shape} and {transformed.shape}: they must be "
            "2-D arrays of the same shape"
        )
    if len(titles) not in (0, len(rows)):
        raise ValueError(
            f"there are {len(titles)} pairs of titles for {len(rows)} rows: pass one for each row"
        )
    shape = shape[:2] if shape[2:] == (1,) else shape
    n_columns = min(4, len(rows))
    n_rows = -(-len(rows) // n_columns)
    figure = Figure(figsize=(2.1 * n_columns, 1.4 * n_rows + 0.1), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(n_rows, 2 * n_columns, squeeze=False).ravel()
    for axis in panels:
        axis.axis("off")
    for number, pair in enumerate(zip(rows, transformed, strict=True)):
        low, high = (float(f(pair)) for f in (np.min, np.max))
        pair_titles = titles[number] if len(titles) else ("", "")
        for axis, row, title in zip(panels[2 * number :][:2], pair, pair_titles, strict=True):
            shades = (np.asarray(row).reshape(shape) - low) / ((high - low) or 1.0)
            axis.imshow(shades, cmap="gray", vmin=0, vmax=1, origin=origin)
            axis.set_title(title[:14], fontsize=9, parse_math=False)
    return figure


def show_spectra(grams: Mapping[str, ArrayLike]) -> Figure:
    """Draw the absolute eigenvalues of Gram matrices, and mark the negative ones.

    Parameters
    ----------
    grams : dict from str to array-like of shape (n, n)
        Symmetric matrices by name.

    Returns
    -------
    matplotlib.figure.Figure
        Eigenvalues in decreasing order, divided by the largest absolute value. Dots are positive
        eigenvalues and crosses are negative ones. The legend has the sum of the absolute negative
        eigenvalues in percent of the sum of all absolute eigenvalues.

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
            raise ValueError(
                f"grams[{name!r}] has shape {gram.shape}, or is zero: it must be a nonzero square "
                "matrix"
            )
        if not np.allclose(gram, gram.T):
            raise ValueError(
                f"grams[{name!r}] is not symmetric: Gram matrices of kernels are symmetric"
            )
        values = np.linalg.eigvalsh(gram)[::-1]
        values = values / np.abs(values).max()
        # rounding makes zero eigenvalues slightly positive or negative
        rounding = len(values) * np.finfo(float).eps
        ranks = np.arange(1, len(values) + 1)
        negative, positive = values < -rounding, values > rounding
        share = np.abs(values[negative]).sum() / np.abs(values).sum()
        colour, label = f"C{number}", f"{name}: {share:.1%}"
        plot.plot(ranks[positive], values[positive], ".", color=colour, label=label)
        plot.plot(ranks[negative], -values[negative], "x", color=colour)
    plot.set_yscale("log")
    plot.set_xlabel("rank of the eigenvalue")
    plot.set_ylabel("absolute value, relative to the largest")
    plot.grid(alpha=0.3)
    legend = plot.legend(title="negative share", loc="lower left", fontsize=9)
    legend.set_zorder(3)
    return figure


def show_boundaries(
    models: Mapping[str, Any], X: ArrayLike, y: ArrayLike, labeled: ArrayLike | None = None
) -> Figure:
    """Draw the decision boundaries of binary classifiers in the plane, one panel each.

    Parameters
    ----------
    models : dict from str to classifier
        Fitted classifiers with ``decision_function``, by name.
    X : array-like of shape (n_samples, 2)
        Points to draw.
    y : array-like of shape (n_samples,)
        Classes of the points. The title of a panel has the share that its model misclassifies.
    labeled : array-like of int, or of bool and shape (n_samples,), optional
        Labelled points, which are drawn larger. None: no point is drawn larger.

    Returns
    -------
    matplotlib.figure.Figure
        With up to four panels in a row. Boundaries are black.

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
        raise ValueError(
            f"X has shape {X.shape}: boundaries are drawn for points in the plane, (n_samples, 2)"
        )
    classes = np.unique(y)
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes: boundaries are drawn between two classes")
    if not models:
        raise ValueError("there are no models to draw: pass at least one")
    labeled_rows = np.arange(len(X))[[] if labeled is None else np.asarray(labeled)]
    n_columns = min(4, len(models))
    n_rows = -(-len(models) // n_columns)
    figure = Figure(figsize=(3 * n_columns, 2.6 * n_rows), layout="constrained")
    FigureCanvasAgg(figure)
    low, high = X.min(axis=0), X.max(axis=0)
    low, high = low - 0.1 * (high - low), high + 0.1 * (high - low)
    x_grid, y_grid = np.meshgrid(
        np.linspace(low[0], high[0], 150), np.linspace(low[1], high[1], 100)
    )
    points = np.column_stack([x_grid.ravel(), y_grid.ravel()])
    panels = list(figure.subplots(n_rows, n_columns, squeeze=False).flat)
    for axis in panels:
        axis.set_axis_off()
    for (name, model), plot in zip(models.items(), panels, strict=False):
        scores = model.decision_function(points).reshape(x_grid.shape)
        limit = float(np.abs(scores).max()) or 1.0
        plot.contourf(x_grid, y_grid, scores, 20, cmap="RdBu_r", vmin=-limit, vmax=limit, alpha=0.6)
        if scores.min() < 0 < scores.max():
            plot.contour(x_grid, y_grid, scores, [0.0], colors="black", linewidths=1.5)
        for label, mark in zip(classes, "os", strict=True):
            plot.scatter(*X[y == label].T, s=6, marker=mark, c="0.3")
        for row in labeled_rows:
            mark = "o" if y[row] == classes[0] else "s"
            plot.scatter(*X[row], s=70, marker=mark, c="gold", edgecolors="black", zorder=3)
        wrong = float((model.predict(X) != y).mean())
        plot.set_title(f"{name}: {wrong:.1%} wrong", fontsize=11)
    return figure


def _panels(figure: Any, n_rows: int, n_columns: int) -> list[Any]:
    """Return empty square panels without ticks, hidden until they are used."""
    panels = list(figure.subplots(n_rows, n_columns, squeeze=False).flat)
    for axis in panels:
        axis.set_xticks([])
        axis.set_yticks([])
        axis.spines[:].set_color("0.8")
        axis.set_visible(False)
    return panels


def _direction_names(family: Family) -> list[str]:
    """Return names of the tangents, after the parts of the family that they belong to."""
    names = []
    for part in family.bound_parts():
        name = type(part).__name__.lower()
        if len(part.bound_parts()) > 1:
            names += _direction_names(part)
        elif part.n_directions == 1:
            names.append(name)
        else:
            names += [f"{name} {j + 1}" for j in range(part.n_directions)]
    return names


def _draw_tangent(axis: Any, tangent: NDArray) -> None:
    grey = tangent if tangent.ndim == 2 else tangent.mean(axis=2)
    limit = np.abs(grey).max() or 1.0
    axis.imshow(grey, cmap="RdBu_r", vmin=-limit, vmax=limit)
