"""Tables, figures and pages of results, compared with the numbers of the papers."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from invarlearn._utils.files import atomic_write
from invarlearn.experiments.base import SMALL_IS_GOOD, Experiment, Row
from invarlearn.experiments.figures import plot_cost, plot_metric
from invarlearn.report import Page


def summarise(experiment: Experiment, size: str, records: list[dict[str, Any]]) -> list[Row]:
    """Return one row for each cell that has results.

    Parameters
    ----------
    experiment : Experiment
    size : {"quick", "full"}
    records : list of dict
        The result of ``run_experiment`` or ``kept_results``.

    Returns
    -------
    list of dict
        Values of the axes; number of draws; mean and standard deviation of the metric; mean cost,
        if there is one; the paper's number; ours minus the paper's.
    """
    axes = list(experiment.varies)
    rows = []
    for cell in experiment.cells(size):
        results = [
            record["result"]
            for record in records
            if all(record["run"][axis] == cell[axis] for axis in axes)
        ]
        if not results:
            continue
        values = [result[experiment.metric] for result in results]
        mean = fmean(values)
        costs = [result[experiment.cost] for result in results if experiment.cost]
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
    """Write the table (CSV and Markdown), the figures and the HTML page; return their paths."""
    rows = summarise(experiment, size, records)
    if not rows:
        raise ValueError(
            f"experiment {experiment.id!r} has no results of size {size!r}: run it first"
        )
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    table, text, figure = (folder / f"{size}.{kind}" for kind in ("csv", "md", "png"))
    lines = io.StringIO(newline="")
    writer = csv.DictWriter(lines, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    for path, content in ((table, lines.getvalue()), (text, markdown(experiment, size, rows))):
        with atomic_write(path) as file:
            file.write(content.encode())
    plot_metric(experiment, size, rows, figure)
    paths = [table, text, figure]
    if experiment.cost:
        paths.append(folder / f"{size}-cost.png")
        plot_cost(experiment, size, rows, paths[-1])
    figures = [path for path in paths if path.suffix == ".png"]
    paths.append(page(experiment, size, rows, figures).write(folder / f"{size}.html"))
    return paths


def page(experiment: Experiment, size: str, rows: list[Row], figures: list[Path]) -> Page:
    """Return the HTML page: the main finding first, then figures and the table."""
    result_page = Page(experiment.title, main_finding(experiment, size, rows))
    captions = [
        f"{experiment.metric} ({experiment.unit}) by {experiment.x.replace('_', ' ')}",
        f"{experiment.metric} against {experiment.cost.replace('_', ' ')}",
    ]
    for figure, caption in zip(figures, captions, strict=False):
        alt = f"{caption}: the numbers are in the table below"
        result_page.figure(figure, alt=alt, caption=caption)
    texts = formatted(rows)
    result_page.table([_sortable(row, text) for row, text in zip(rows, texts, strict=True)])
    if experiment.note:
        result_page.paragraph(experiment.note)
    if experiment.pictures is not None:
        result_page.heading("Pictures")
        for picture in experiment.pictures():
            result_page.figure(*picture)
    command = f"invarlearn reproduce {experiment.id} --{size}"
    draws = max(row["draws"] for row in rows)
    return result_page.made_by(command, source=experiment.paper, seeds=f"0 to {draws - 1}")


def main_finding(experiment: Experiment, size: str, rows: list[Row]) -> str:
    """Return a sentence on the differences from the paper, or on which line is best.

    Only cells with all their draws count, so that lines are compared on the same draws. A sentence
    on unfinished runs precedes it, if there are any.
    """
    complete = [row for row in rows if row["draws"] == experiment.seeds[size]]
    finding = _finding(experiment, complete) if complete else ""
    return "\n".join(filter(None, [unfinished(experiment, size, rows), finding]))


def unfinished(experiment: Experiment, size: str, rows: list[Row]) -> str:
    """Return a sentence with the number of finished runs, empty if all are finished."""
    n_done, n_runs = sum(row["draws"] for row in rows), len(experiment.runs(size))
    return "" if n_done == n_runs else f"{n_done} of {n_runs} runs are finished."


def _finding(experiment: Experiment, rows: list[Row]) -> str:
    """Return the sentence of :func:`main_finding` for complete cells."""
    differences = [row["difference"] for row in rows if row["difference"] is not None]
    if differences:
        mean_difference = fmean(abs(difference) for difference in differences)
        return (
            f"{len(differences)} numbers of the paper are compared: the mean absolute difference "
            f"is {mean_difference:.2f} {experiment.unit}, and differences (ours minus the paper's) "
            f"lie between {min(differences):+.2f} and {max(differences):+.2f}."
        )
    # lines are compared at each value of x, in each panel
    comparisons: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        key = tuple(row[name] for name in experiment.varies if name != experiment.lines)
        comparisons.setdefault(key, []).append(row)
    smaller_is_better = experiment.metric in SMALL_IS_GOOD
    best = min if smaller_is_better else max
    winners = [
        best(lines, key=lambda row: row["mean"])[experiment.lines] for lines in comparisons.values()
    ]
    counts = ", ".join(f"{line} in {n}" for line, n in Counter(winners).most_common())
    adjective = "Lowest" if smaller_is_better else "Highest"
    return f"{adjective} {experiment.metric} in {len(winners)} comparisons: {counts}."


def _sortable(row: Row, texts: dict[str, str]) -> dict[str, Any]:
    """Return pairs of a displayed text and the number that its column is sorted by."""
    numbers = {"ours": row["mean"], **{name: row.get(name) for name in ("cost", "paper")}}
    numbers |= {"draws": row["draws"], "difference": row["difference"]}
    return {
        name: (text, numbers[name]) if name in numbers else row.get(name, text)
        for name, text in texts.items()
    }


def formatted(rows: list[Row]) -> list[dict[str, str]]:
    """Return rows of formatted texts, with columns of the paper only if it has numbers."""
    has_published = any(row["paper"] is not None for row in rows)
    return [_formatted(row, has_published) for row in rows]


def _formatted(row: Row, has_published: bool) -> dict[str, str]:
    # two significant digits for small numbers, such as errors of a kernel
    digits = ".2f" if abs(row["mean"]) >= 0.5 or row["mean"] == 0 else ".2g"
    spread = "" if row["sd"] is None else f" ± {row['sd']:{digits}}"
    measured = {"draws", "mean", "sd", "cost", "paper", "difference"}
    texts = {name: str(value) for name, value in row.items() if name not in measured}
    texts |= {"ours": f"{row['mean']:{digits}}{spread}", "draws": str(row["draws"])}
    if "cost" in row:
        texts["cost"] = f"{row['cost']:.3g}"
    if has_published:
        texts["paper"] = "" if row["paper"] is None else f"{row['paper']:.2f}"
        texts["difference"] = "" if row["paper"] is None else f"{row['difference']:+.2f}"
    return texts


def markdown(experiment: Experiment, size: str, rows: list[Row]) -> str:
    """Return the comparison as a page of Markdown."""
    texts = formatted(rows)
    names = list(texts[0])
    progress = unfinished(experiment, size, rows)
    lines = [
        f"# {experiment.title}",
        "",
        f"{experiment.paper}. {experiment.metric} ({experiment.unit}), mean ± sd over draws"
        + (f", and cost, mean {experiment.cost}; " if experiment.cost else "; ")
        + f"`invarlearn reproduce {experiment.id} --{size}`"
        + (f". {progress}" if progress else ""),
        "",
        "| " + " | ".join(names) + " |",
        "| " + " | ".join("---" for _ in names) + " |",
        *("| " + " | ".join(row[name] for name in names) + " |" for row in texts),
        "",
    ]
    return "\n".join([*lines, experiment.note, ""] if experiment.note else lines)
