"""Tables and figures of results, the paper's numbers beside ours."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, stdev
from textwrap import fill
from typing import Any

import numpy as np

from invarlearn._files import whole_file
from invarlearn.experiments.base import Experiment
from invarlearn.report import Page

Row = dict[str, Any]

# Metrics of which less is better.
SMALL_IS_GOOD = ("error", "errors", "seconds")


def summarise(experiment: Experiment, size: str, records: list[dict[str, Any]]) -> list[Row]:
    """Give one row a cell: its axes, draws, mean, standard deviation, the paper's, difference.

    Cells without any result yet have no row.
    """
    axes = list(experiment.varies)
    rows = []
    for cell in experiment.cells(size):
        chosen = [
            record for record in records if all(record["run"][axis] == cell[axis] for axis in axes)
        ]
        if not chosen:
            continue
        values = [record["result"][experiment.metric] for record in chosen]
        mean = fmean(values)
        costs = [record["result"][experiment.cost] for record in chosen if experiment.cost]
        published = experiment.published.get(tuple(cell[axis] for axis in axes))
        rows.append(
            {
                **cell,
                "draws": len(values),
                "mean": mean,
                "sd": stdev(values) if len(values) > 1 else None,
                **({"cost": fmean(costs)} if costs else {}),
                "paper": published,
                "difference": None if published is None else mean - published,
            }
        )
    return rows


def write_report(
    experiment: Experiment, size: str, records: list[dict[str, Any]], folder: Path | str
) -> list[Path]:
    """Write the table (CSV and Markdown), the figures and the page; give their paths."""
    rows = summarise(experiment, size, records)
    if not rows:
        raise ValueError(f"there are no results of {experiment.id}, {size}, to report")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    table, text, figure = (folder / f"{size}.{kind}" for kind in ("csv", "md", "png"))
    lines = io.StringIO(newline="")
    writer = csv.DictWriter(lines, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    for path, content in ((table, lines.getvalue()), (text, markdown(experiment, size, rows))):
        with whole_file(path) as file:
            file.write(content.encode())
    draw(experiment, size, rows, figure)
    paths = [table, text, figure]
    if experiment.cost:
        paths.append(folder / f"{size}-cost.png")
        draw_cost(experiment, size, rows, paths[-1])
    figures = [path for path in paths if path.suffix == ".png"]
    paths.append(page(experiment, size, rows, figures).write(folder / f"{size}.html"))
    return paths


def page(experiment: Experiment, size: str, rows: list[Row], figures: list[Path]) -> Page:
    """Give the page that people look at: the verdict first, then figures and the table."""
    built = Page(experiment.title, verdict(experiment, size, rows))
    what = f"{experiment.metric} ({experiment.unit}) by {experiment.x.replace('_', ' ')}"
    told = [what, f"{experiment.metric} against {experiment.cost.replace('_', ' ')}"]
    for figure, words in zip(figures, told, strict=False):
        built.figure(figure, alt=f"{words}: the numbers are in the table below", caption=words)
    built.table([_sortable(row, shown) for row, shown in zip(rows, formatted(rows), strict=True)])
    if experiment.note:
        built.paragraph(experiment.note)
    if experiment.pictures is not None:
        built.heading("What it looks like")
        for picture in experiment.pictures():
            built.figure(*picture)
    command = f"invarlearn reproduce {experiment.id} --{size}"
    draws = max(row["draws"] for row in rows)
    return built.made_by(command, source=experiment.paper, seeds=f"0 to {draws - 1}")


def verdict(experiment: Experiment, size: str, rows: list[Row]) -> str:
    """Say what a reader should know: how near the paper's numbers, or which line is highest.

    Only of cells that have all their draws, so that lines are compared on the same ones.
    """
    so_far = unfinished(experiment, size, rows)
    whole = [row for row in rows if row["draws"] == experiment.seeds[size]]
    return "\n".join(filter(None, [so_far, _finding(experiment, whole) if whole else ""]))


def unfinished(experiment: Experiment, size: str, rows: list[Row]) -> str:
    """Say how much is there, if not everything is."""
    n_done, n_runs = sum(row["draws"] for row in rows), len(experiment.runs(size))
    return "" if n_done == n_runs else f"So far: {n_done} of {n_runs} runs."


def _finding(experiment: Experiment, rows: list[Row]) -> str:
    compared = [row["difference"] for row in rows if row["difference"] is not None]
    if compared:
        near = fmean(abs(difference) for difference in compared)
        return (
            f"{len(compared)} of the paper's numbers: ours are {near:.2f} {experiment.unit} from "
            f"them on average, between {min(compared):+.2f} and {max(compared):+.2f}."
        )
    # one line wins at each value of x, in each panel
    rivals: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        place = tuple(row[name] for name in experiment.varies if name != experiment.lines)
        rivals.setdefault(place, []).append(row)
    low = experiment.metric in SMALL_IS_GOOD
    best = min if low else max
    winners = [
        best(some, key=lambda row: row["mean"])[experiment.lines] for some in rivals.values()
    ]
    counts = ", ".join(f"{line} in {n}" for line, n in Counter(winners).most_common())
    which = "Lowest" if low else "Highest"
    return f"{which} {experiment.metric} in {len(winners)} comparisons: {counts}."


def _sortable(row: Row, shown: dict[str, str]) -> dict[str, Any]:
    """Give cells as they are shown, with the numbers that they sort by."""
    numbers = {"ours": row["mean"], **{name: row.get(name) for name in ("cost", "paper")}}
    numbers |= {"draws": row["draws"], "difference": row["difference"]}
    return {
        name: (text, numbers[name]) if name in numbers else row.get(name, text)
        for name, text in shown.items()
    }


def formatted(rows: list[Row]) -> list[dict[str, str]]:
    """Give the columns as a reader wants them; the paper's only where it has numbers."""
    compared = any(row["paper"] is not None for row in rows)
    return [_formatted(row, compared) for row in rows]


def _formatted(row: Row, compared: bool) -> dict[str, str]:
    # numbers far below one, such as errors of a kernel, need digits of their own
    digits = ".2f" if abs(row["mean"]) >= 0.5 or row["mean"] == 0 else ".2g"
    spread = "" if row["sd"] is None else f" ± {row['sd']:{digits}}"
    measured = {"draws", "mean", "sd", "cost", "paper", "difference"}
    shown = {name: str(value) for name, value in row.items() if name not in measured}
    shown |= {"ours": f"{row['mean']:{digits}}{spread}", "draws": str(row["draws"])}
    if "cost" in row:
        shown["cost"] = f"{row['cost']:.3g}"
    if compared:
        shown["paper"] = "" if row["paper"] is None else f"{row['paper']:.2f}"
        shown["difference"] = "" if row["paper"] is None else f"{row['difference']:+.2f}"
    return shown


def markdown(experiment: Experiment, size: str, rows: list[Row]) -> str:
    """Give the comparison as a page of Markdown."""
    shown = formatted(rows)
    names = list(shown[0])
    so_far = unfinished(experiment, size, rows)
    lines = [
        f"# {experiment.title}",
        "",
        f"{experiment.paper}. {experiment.metric} ({experiment.unit}), mean ± sd over draws"
        + (f", and cost, mean {experiment.cost}; " if experiment.cost else "; ")
        + f"`invarlearn reproduce {experiment.id} --{size}`"
        + (f". {so_far}" if so_far else ""),
        "",
        "| " + " | ".join(names) + " |",
        "| " + " | ".join("---" for _ in names) + " |",
        *("| " + " | ".join(row[name] for name in names) + " |" for row in shown),
        "",
    ]
    return "\n".join([*lines, experiment.note, ""] if experiment.note else lines)


def draw(experiment: Experiment, size: str, rows: list[Row], path: Path) -> None:
    """Draw ours as lines with error bars, the paper's as open markers; a panel a further axis."""
    axes = experiment.axes(size)

    def panel(plot: Any, chosen: list[Row]) -> None:
        _draw_panel(plot, experiment, axes, chosen)

    _draw_panels(experiment, axes, rows, panel, path)


def draw_cost(experiment: Experiment, size: str, rows: list[Row], path: Path) -> None:
    """Draw the metric against what it costs, a line from the least to the most of ``x``."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullLocator

    axes = experiment.axes(size)
    numbers = all(isinstance(value, (int, float)) for value in axes[experiment.x])

    def panel(plot: Any, chosen: list[Row]) -> None:
        for number, line in enumerate(axes[experiment.lines]):
            those = [row for row in chosen if row[experiment.lines] == line]
            if not those:
                continue
            costs, means = [row["cost"] for row in those], [row["mean"] for row in those]
            style = _style(number, numbers)
            plot.plot(costs, means, style, color=f"C{number}", label=str(line), alpha=0.8)
            for row, cost, mean in zip(those, costs, means, strict=True):
                label = str(row[experiment.x])
                plot.annotate(label, (cost, mean), (3, 3), textcoords="offset points", fontsize=6)
        if min(row["cost"] for row in chosen) > 0:
            plot.set_xscale("log")
            # over many decades 2 and 5 would touch
            costs = [row["cost"] for row in chosen]
            subs = (1, 2, 5) if max(costs) < 3000 * min(costs) else (1,)
            plot.xaxis.set_major_locator(LogLocator(subs=subs))
            plot.xaxis.set_major_formatter(FormatStrFormatter("%g"))
            plot.xaxis.set_minor_locator(NullLocator())
        _scale(plot, experiment, [row["mean"] for row in chosen])
        plot.set_xlabel(experiment.cost.replace("_", " "))
        plot.grid(alpha=0.3)

    _draw_panels(experiment, axes, rows, panel, path)


def _draw_panels(
    experiment: Experiment,
    axes: dict[str, list],
    rows: list[Row],
    draw_panel: Callable[[Any, list[Row]], None],
    path: Path,
) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    others = [name for name in axes if name not in (experiment.x, experiment.lines)]
    panels = list(dict.fromkeys(tuple(row[name] for name in others) for row in rows))
    # high enough for a legend of all lines, and the paper's
    n_lines = len(axes[experiment.lines]) * (2 if any(row["paper"] for row in rows) else 1)
    height = max(4.2, 0.24 * n_lines + 0.3)
    # and wide enough for its longest name
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
        chosen = [row for row in rows if tuple(row[name] for name in others) == panel]
        draw_panel(plot, chosen)
        named = [
            value if isinstance(value, str) else f"{name.replace('_', ' ')} {value}"
            for name, value in zip(others, panel, strict=True)
        ]
        plot.set_title(", ".join(named) or fill(experiment.title, 45), fontsize=11)
    for plot in grid[:, 0]:
        plot.set_ylabel(f"{experiment.metric} ({experiment.unit})")
    legend: dict[str, Any] = {}
    for plot in plots:
        handles, labels = plot.get_legend_handles_labels()
        legend |= dict(zip(labels, handles, strict=True))
    shown = (list(legend.values()), list(legend))
    title = experiment.lines.replace("_", " ")
    figure.legend(*shown, loc="outside right upper", frameon=False, title=title)
    with whole_file(path) as file:
        figure.savefig(file, format="png", dpi=150)


def _style(number: int, joined: bool) -> str:
    """Give marker and line of the so-manyth line: there are ten colours, and lines may be more."""
    marker, line = [("o", "-"), ("^", "--"), ("D", ":")][number // 10 % 3]
    return marker + line if joined else marker


def _scale(plot: Any, experiment: Experiment, shown: list[float]) -> None:
    """Let small numbers be told apart, and accuracies near all."""
    if (experiment.metric, experiment.unit) == ("accuracy", "%") and 95 < max(shown) < 99.95:
        least = plot.get_ylim()[0]
        plot.set_yscale("function", functions=(_of_accuracy, _accuracy_of))
        ticks = [
            tick for tick in (0, 20, 40, 60, 80, 90, 95, 98, 99, 99.5, 99.8, 99.9) if tick > least
        ]
        plot.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        # halfway from the highest to all
        plot.set_ylim(least, 50 + max(shown) / 2)
    elif min(shown) > 0 and max(shown) > 50 * min(shown):
        plot.set_yscale("log")


def _of_accuracy(percent: Any) -> Any:
    """Give minus the logarithm of the errors."""
    return -np.log10(np.maximum(100 - np.asarray(percent), 0.01))


def _accuracy_of(place: Any) -> Any:
    return 100 - 10 ** -np.asarray(place)


def _draw_panel(plot: Any, experiment: Experiment, axes: dict[str, list], rows: list[Row]) -> None:
    positions = axes[experiment.x]
    numbers = all(isinstance(value, (int, float)) for value in positions)
    # numbers over many magnitudes with a zero among them are set side by side, as names are
    numeric = numbers and (min(positions) > 0 or len(positions) < 3 or max(positions) <= 1)
    place = dict(zip(positions, positions if numeric else range(len(positions)), strict=True))
    logarithmic = numeric and len(positions) > 1 and min(positions) > 0
    n_lines = len(axes[experiment.lines])
    for number, line in enumerate(axes[experiment.lines]):
        chosen = [row for row in rows if row[experiment.lines] == line]
        if not chosen:
            continue
        # a little to the side, so that equal lines do not hide each other
        aside = (0.02 if numeric else 0.06) * (number - (n_lines - 1) / 2)
        x = [place[row[experiment.x]] for row in chosen]
        x = [at * (1 + aside) if logarithmic else at + aside for at in x]
        colour = f"C{number}"
        plot.errorbar(
            x,
            [row["mean"] for row in chosen],
            yerr=[row["sd"] or 0 for row in chosen],
            fmt=_style(number, numbers),
            capsize=3,
            color=colour,
            label=str(line),
        )
        both = zip(x, (row["paper"] for row in chosen), strict=True)
        published = [(at, paper) for at, paper in both if paper is not None]
        if published:
            plot.plot(
                *zip(*published, strict=True),
                linestyle=":" if numbers else "none",
                marker="s",
                markerfacecolor="none",
                color=colour,
                label=f"{line}, paper",
            )
    if logarithmic:
        plot.set_xscale("log")
    shown = [value for row in rows for value in (row["mean"], row["paper"]) if value is not None]
    _scale(plot, experiment, shown)
    plot.set_xticks(list(place.values()), [str(value) for value in positions])
    plot.minorticks_off()
    plot.set_xlabel(experiment.x.replace("_", " "))
    plot.grid(alpha=0.3)
