"""Figures of results: the metric along an axis, and the metric against its cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from invarlearn._utils.files import atomic_write
from invarlearn.experiments.base import Experiment, Row


def plot_metric(experiment: Experiment, size: str, rows: list[Row], path: Path) -> None:
    """Plot means with error bars, and the paper's numbers as open markers.

    There is a panel for each combination of values of the axes other than ``x`` and ``lines``.
    """
    axes = experiment.axes(size)

    def plot_panel(plot: Any, panel_rows: list[Row]) -> None:
        _plot_metric_panel(plot, experiment, axes, panel_rows)

    _plot_panels(experiment, axes, rows, plot_panel, path)


def plot_cost(experiment: Experiment, size: str, rows: list[Row], path: Path) -> None:
    """Plot the metric against its cost; lines join the points in the order of ``x``."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullLocator

    axes = experiment.axes(size)
    is_numeric = all(isinstance(value, (int, float)) for value in axes[experiment.x])

    def plot_panel(plot: Any, panel_rows: list[Row]) -> None:
        for number, line in enumerate(axes[experiment.lines]):
            points = [row for row in panel_rows if row[experiment.lines] == line]
            if not points:
                continue
            costs, means = [row["cost"] for row in points], [row["mean"] for row in points]
            style = line_style(number, is_numeric)
            plot.plot(costs, means, style, color=f"C{number}", label=str(line), alpha=0.8)
            for row, cost, mean in zip(points, costs, means, strict=True):
                label = str(row[experiment.x])
                plot.annotate(label, (cost, mean), (3, 3), textcoords="offset points", fontsize=6)
        costs = [row["cost"] for row in panel_rows]
        if min(costs) > 0:
            plot.set_xscale("log")
            # over many decades, tick labels at 2 and 5 would overlap
            subs = (1, 2, 5) if max(costs) < 3000 * min(costs) else (1,)
            plot.xaxis.set_major_locator(LogLocator(subs=subs))
            plot.xaxis.set_major_formatter(FormatStrFormatter("%g"))
            plot.xaxis.set_minor_locator(NullLocator())
        _set_scale(plot, experiment, [row["mean"] for row in panel_rows])
        plot.set_xlabel(experiment.cost.replace("_", " "))
        plot.grid(alpha=0.3)

    _plot_panels(experiment, axes, rows, plot_panel, path)


def _plot_panels(
    experiment: Experiment,
    axes: dict[str, list],
    rows: list[Row],
    plot_panel: Callable[[Any, list[Row]], None],
    path: Path,
) -> None:
    """Draw the panels of a figure with one legend, and write it to a PNG file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    others = [name for name in axes if name not in (experiment.x, experiment.lines)]
    panels = list(dict.fromkeys(tuple(row[name] for name in others) for row in rows))
    # high enough for a legend of all lines, ours and the paper's
    n_lines = len(axes[experiment.lines]) * (2 if any(row["paper"] for row in rows) else 1)
    height = max(4.2, 0.24 * n_lines + 0.3)
    # wide enough for the longest name in the legend
    longest = max(len(str(line)) for line in axes[experiment.lines])
    n_columns = len(panels) if len(panels) <= 4 else 3
    n_rows = -(-len(panels) // n_columns)
    width = 5.2 * n_columns + max(1.8, 0.8 + 0.085 * (longest + 7))
    figure = Figure(figsize=(width, height * n_rows), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(n_rows, n_columns, squeeze=False)
    plots = grid.ravel()[: len(panels)]
    for empty in grid.ravel()[len(panels) :]:
        empty.set_axis_off()
    for plot, panel in zip(plots, panels, strict=True):
        panel_rows = [row for row in rows if tuple(row[name] for name in others) == panel]
        plot_panel(plot, panel_rows)
        names = [
            value if isinstance(value, str) else f"{name.replace('_', ' ')} {value}"
            for name, value in zip(others, panel, strict=True)
        ]
        plot.set_title(", ".join(names) or fill(experiment.title, 45), fontsize=11)
    for plot in grid[:, 0]:
        plot.set_ylabel(f"{experiment.metric} ({experiment.unit})")
    legend: dict[str, Any] = {}
    for plot in plots:
        handles, labels = plot.get_legend_handles_labels()
        legend |= dict(zip(labels, handles, strict=True))
    title = experiment.lines.replace("_", " ")
    figure.legend(
        list(legend.values()), list(legend), loc="outside right upper", frameon=False, title=title
    )
    with atomic_write(path) as file:
        figure.savefig(file, format="png", dpi=150)


def line_style(number: int, joined: bool) -> str:
    """Return the marker and style of a line, which change after ten lines, when colours repeat."""
    marker, line = [("o", "-"), ("^", "--"), ("D", ":")][number // 10 % 3]
    return marker + line if joined else marker


def _set_scale(plot: Any, experiment: Experiment, values: list[float]) -> None:
    """Use a logarithmic scale for errors over many decades, and for accuracies near 100 %."""
    if (experiment.metric, experiment.unit) == ("accuracy", "%") and 95 < max(values) < 99.95:
        lowest = plot.get_ylim()[0]
        plot.set_yscale("function", functions=(accuracy_scale, inverse_accuracy_scale))
        ticks = [
            tick for tick in (0, 20, 40, 60, 80, 90, 95, 98, 99, 99.5, 99.8, 99.9) if tick > lowest
        ]
        plot.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        # the upper end lies halfway between the highest value and 100 %
        plot.set_ylim(lowest, 50 + max(values) / 2)
    elif min(values) > 0 and max(values) > 50 * min(values):
        plot.set_yscale("log")


def accuracy_scale(percent: Any) -> Any:
    """Return -log10 of the error, 100 - accuracy, in percent; errors are at least 0.01 %."""
    return -np.log10(np.maximum(100 - np.asarray(percent), 0.01))


def inverse_accuracy_scale(position: Any) -> Any:
    """Return the accuracy in percent at a position on the scale of :func:`accuracy_scale`."""
    return 100 - 10 ** -np.asarray(position)


def _plot_metric_panel(
    plot: Any, experiment: Experiment, axes: dict[str, list], rows: list[Row]
) -> None:
    x_values = axes[experiment.x]
    is_numeric = all(isinstance(value, (int, float)) for value in x_values)
    # a logarithmic axis has no zero, so that numbers with a zero may be spaced evenly like names
    is_scaled = is_numeric and (min(x_values) > 0 or len(x_values) < 3 or max(x_values) <= 1)
    positions = dict(zip(x_values, x_values if is_scaled else range(len(x_values)), strict=True))
    is_logarithmic = is_scaled and len(x_values) > 1 and min(x_values) > 0
    n_lines = len(axes[experiment.lines])
    for number, line in enumerate(axes[experiment.lines]):
        points = [row for row in rows if row[experiment.lines] == line]
        if not points:
            continue
        # a small offset, so that equal lines do not hide each other
        offset = (0.02 if is_scaled else 0.06) * (number - (n_lines - 1) / 2)
        x = [positions[row[experiment.x]] for row in points]
        x = [value * (1 + offset) if is_logarithmic else value + offset for value in x]
        colour = f"C{number}"
        plot.errorbar(
            x,
            [row["mean"] for row in points],
            yerr=[row["sd"] or 0 for row in points],
            fmt=line_style(number, is_numeric),
            capsize=3,
            color=colour,
            label=str(line),
        )
        pairs = zip(x, (row["paper"] for row in points), strict=True)
        published = [pair for pair in pairs if pair[1] is not None]
        if published:
            plot.plot(
                *zip(*published, strict=True),
                linestyle=":" if is_numeric else "none",
                marker="s",
                markerfacecolor="none",
                color=colour,
                label=f"{line}, paper",
            )
    if is_logarithmic:
        plot.set_xscale("log")
    values = [value for row in rows for value in (row["mean"], row["paper"]) if value is not None]
    _set_scale(plot, experiment, values)
    plot.set_xticks(list(positions.values()), [str(value) for value in x_values])
    plot.minorticks_off()
    plot.set_xlabel(experiment.x.replace("_", " "))
    plot.grid(alpha=0.3)
