"""``invarlearn reproduce``: the papers' tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def reproduce_command(
    ids: Annotated[
        list[str] | None,
        typer.Argument(help="Experiments, or what their names begin with; --list shows them."),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the experiments and exit.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Minutes (the default).")] = False,
    full: Annotated[bool, typer.Option("--full", help="The paper's size.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = Path("invarlearn-results"),
    n_jobs: Annotated[int, typer.Option(help="Processes; -1 means one a core.")] = -1,
    so_far: Annotated[
        bool, typer.Option("--so-far", help="Run nothing; report what is there.")
    ] = False,
) -> None:
    """Run tables and figures of the papers and compare with the papers' numbers.

    Every result is saved as it comes: stop at any time, and the same command goes on from there.
    """
    from invarlearn.cli._show import console, progress_of
    from invarlearn.experiments import EXPERIMENTS, kept_results, run_experiment

    if list_:
        _list(EXPERIMENTS)
        return
    if not ids:
        raise typer.BadParameter("name an experiment, or use --list to see them", param_hint="IDS")
    if quick and full:
        raise typer.BadParameter("choose one of --quick and --full")
    size = "full" if full else "quick"
    chosen = [experiment for name in ids for experiment in _named(name, EXPERIMENTS)]
    for experiment in chosen:
        try:
            if so_far:
                records = kept_results(experiment, size, out)
            else:
                with progress_of(experiment.id) as progress:
                    records = run_experiment(experiment, size, out, n_jobs, progress)
        except KeyboardInterrupt:
            console.print(
                f"stopped; finished runs are in {out}, the same command goes on, and with --so-far "
                "reports them"
            )
            raise typer.Exit(130) from None
        _report(experiment, size, records, out)


def _list(experiments: dict[str, Any]) -> None:
    from invarlearn.cli._show import show_table

    rows = [
        {
            "id": e.id,
            "title": e.title,
            "quick": len(e.runs("quick")),
            "full": len(e.runs("full")),
        }
        for e in experiments.values()
    ]
    show_table(rows, "Experiments, and how many runs each takes", numbers=("quick", "full"))


def _report(experiment: Any, size: str, records: list[dict[str, Any]], out: Path) -> None:
    """Print the table of results, and write the report."""
    from invarlearn.cli._show import console, show_table
    from invarlearn.experiments import summarise, write_report
    from invarlearn.experiments.report import formatted, unfinished

    rows = summarise(experiment, size, records)
    if not rows:
        console.print(f"{experiment.id}: no results of this size and version in {out} yet")
        return
    paths = write_report(experiment, size, records, out / experiment.id)
    title = f"{experiment.title}: {experiment.metric} ({experiment.unit}), mean ± sd"
    numbers = ("ours", "draws", "cost", "paper", "difference")
    show_table(formatted(rows), title, numbers=numbers)
    if some := unfinished(experiment, size, rows):
        console.print(some)
    if experiment.note:
        console.print(experiment.note)
    console.print("written: " + ", ".join(map(str, paths)), soft_wrap=True)


def _named(name: str, experiments: dict[str, Any]) -> list[Any]:
    """Give the experiment of a name, or all whose names go on from it."""
    from invarlearn.datasets._files import choose

    group = [one for known, one in experiments.items() if known.startswith(f"{name}-")]
    if group and name not in experiments:
        return group
    return [experiments[choose(name, list(experiments), "experiment")]]
