"""``invarlearn reproduce``: tables and figures of the papers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from invarlearn.app.cli._options import OutFolder


def reproduce_command(
    ids: Annotated[
        list[str] | None,
        typer.Argument(help="Names of experiments, or first parts such as 003; see --list."),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the experiments and exit.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few draws and test samples, in minutes (the default).")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Full size, as in the papers.")] = False,
    out: OutFolder = Path("invarlearn-results"),
    n_jobs: Annotated[int, typer.Option(help="Number of processes; -1: one per core.")] = -1,
    so_far: Annotated[
        bool, typer.Option("--so-far", help="Report the finished runs, and run nothing.")
    ] = False,
) -> None:
    """Reproduce tables and figures of the papers.

    Results are compared with the published numbers. Each finished run is saved. After an
    interruption, the same command does the remaining runs.
    """
    from invarlearn.app.cli._terminal import progress_bar, say
    from invarlearn.experiments import EXPERIMENTS, kept_results, run_experiment

    if list_:
        _list(EXPERIMENTS)
        return
    if not ids:
        raise typer.BadParameter("name an experiment, or use --list to see them", param_hint="IDS")
    if quick and full:
        raise typer.BadParameter("choose one of --quick and --full")
    size = "full" if full else "quick"
    chosen = [experiment for name in ids for experiment in select_experiments(name, EXPERIMENTS)]
    for experiment in chosen:
        try:
            if so_far:
                records = kept_results(experiment, size, out)
            else:
                with progress_bar(experiment.id) as progress:
                    records = run_experiment(experiment, size, out, n_jobs, progress)
        except KeyboardInterrupt:
            say(
                f"Stopped. The finished runs are in {out}. The same command does the remaining "
                "runs; with --so-far, it reports the finished ones."
            )
            raise typer.Exit(130) from None
        _report(experiment, size, records, out)


def _list(experiments: dict[str, Any]) -> None:
    """Print a table of the experiments."""
    from invarlearn.app.cli._terminal import show_table

    rows = [
        {
            "id": experiment.id,
            "title": experiment.title,
            "quick": len(experiment.runs("quick")),
            "full": len(experiment.runs("full")),
        }
        for experiment in experiments.values()
    ]
    show_table(rows, "Experiments, and the number of runs of each size", numbers=("quick", "full"))


def _report(experiment: Any, size: str, records: list[dict[str, Any]], out: Path) -> None:
    """Print the table of results, and write the report."""
    from invarlearn.app.cli._terminal import say, show_table
    from invarlearn.experiments import summarise, write_report
    from invarlearn.experiments.report import formatted, unfinished

    rows = summarise(experiment, size, records)
    if not rows:
        say(f"{experiment.id}: {out} has no results of this size and version.")
        return
    paths = write_report(experiment, size, records, out / experiment.id)
    title = f"{experiment.title}: {experiment.metric} ({experiment.unit}), mean ± sd"
    numbers = ("ours", "draws", "cost", "paper", "difference")
    show_table(formatted(rows), title, numbers=numbers)
    if remaining := unfinished(experiment, size, rows):
        say(remaining)
    if experiment.note:
        say(experiment.note)
    say("Written: " + ", ".join(map(str, paths)))


def select_experiments(name: str, experiments: dict[str, Any]) -> list[Any]:
    """Return the experiment of a name, or all experiments whose names begin with ``name-``."""
    from invarlearn._utils.validation import check_choice

    matches = [experiment for id_, experiment in experiments.items() if id_.startswith(f"{name}-")]
    if matches and name not in experiments:
        return matches
    return [experiments[check_choice(name, list(experiments), "experiment")]]
