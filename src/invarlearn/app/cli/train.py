"""``invarlearn train``: a model of samples in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from invarlearn.app.cli._options import (
    AsJson,
    Colour,
    Data,
    Groups,
    Ignore,
    Label,
    MayChange,
    ModelPath,
    Rate,
    RouteName,
    RowShape,
    Seed,
    Size,
    parse_sides,
)
from invarlearn.app.cli._paths import check_inputs, check_output

if TYPE_CHECKING:
    from invarlearn.app.models import Model


# Typer makes a command-line option of each parameter, so that there are many.
def train_command(
    context: typer.Context,
    data: Data,
    model: ModelPath = Path("model.skops"),
    may_change: MayChange = None,
    route: RouteName = "auto",
    size: Size = None,
    colour: Colour = False,
    rate: Rate = 8000,
    label: Label = None,
    shape: RowShape = None,
    groups: Groups = None,
    ignore: Ignore = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Train a classifier on samples in files, and write a model file.

    The default of --may-change is: for images, small shifts, rotations, scalings and shears; for
    sounds, shifts in pitch and time, and time stretches; for rows of tables, nothing.
    """
    check_inputs(data)
    from invarlearn.app.cli._terminal import print_json, progress_bar, report
    from invarlearn.app.persistence import save_model
    from invarlearn.app.readers import open_samples
    from invarlearn.app.training import train_model

    check_output(model, data)
    height_width = parse_sides(size, "--size")
    source = open_samples(
        data,
        size=None if height_width is None else (height_width[0], height_width[1]),
        colour=colour,
        rate=rate,
        label=label,
        shape=parse_sides(shape, "--shape", max_sides=3),
        groups=groups,
        ignore=ignore or [],
    )
    with progress_bar("train") as progress:
        trained = train_model(source, may_change, route, seed, progress, report, context.obj)
    save_model(trained, model)
    if as_json:
        print_json(_as_json(trained, model))
    else:
        _print_model(trained, model)


def _as_json(trained: Model, path: Path) -> dict[str, Any]:
    from invarlearn.app.families import specification_of

    value, low, high = trained.accuracy
    return {
        "model": str(path),
        "samples": trained.n_samples,
        "groups": trained.settings.get("n_groups"),
        "classes": trained.estimator.classes_.tolist(),
        "may_change": specification_of(trained.family),
        "route": trained.route,
        "accuracy": value,
        "interval": [low, high],
        "routes": trained.compared,
    }


def _print_model(trained: Model, path: Path) -> None:
    """Print the compared routes, the family, the estimated accuracy, and the model file."""
    from invarlearn.app.cli._terminal import say, show_table
    from invarlearn.app.families import specification_of

    if len(trained.compared) > 1:
        rows = [_route_row(record, trained.route) for record in trained.compared]
        show_table(rows, "Routes, by cross-validation", numbers=("accuracy_%",))
    say(f"Family: {specification_of(trained.family)}")
    say(_accuracy_text(trained))
    say(f"Model: {path}")


def _route_row(record: dict[str, Any], best: str) -> dict[str, str]:
    """Return a row of the table of routes."""
    accuracy = ""
    if record["accuracy"] is not None:
        low, high = record["interval"]
        accuracy = f"{100 * record['accuracy']:.1f} ({100 * low:.1f} to {100 * high:.1f})"
    remark = record["reason"] or ("best" if record["route"] == best else "")
    return {"route": record["route"], "accuracy_%": accuracy, "": remark}


def _accuracy_text(trained: Model) -> str:
    """Return the estimated accuracy, how it was estimated, and whether it is optimistic."""
    value, low, high = trained.accuracy
    n_groups = trained.settings.get("n_groups")
    count_text = f"{trained.n_samples:,} samples" if n_groups is None else f"{n_groups:,} groups"
    text = (
        f"Estimated accuracy {100 * value:.1f} % (95 % interval {100 * low:.1f} to "
        f"{100 * high:.1f} %), {trained.validation} over {count_text}."
    )
    n_usable = sum(record["accuracy"] is not None for record in trained.compared)
    if n_usable > 1:
        text += f" Expect slightly less: it is the best of {n_usable} routes."
    return text
