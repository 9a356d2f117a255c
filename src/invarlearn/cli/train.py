"""``invarlearn train``: a model from files, without code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from invarlearn.cli._samples import (
    MAY_CHANGE,
    AsJson,
    Data,
    check_inputs,
    check_output,
    print_json,
    sides,
)

if TYPE_CHECKING:
    from invarlearn.models import Model


def train_command(
    data: Data,
    model: Annotated[Path, typer.Option("--model", help="Where to write the model.")] = Path(
        "model.skops"
    ),
    may_change: Annotated[
        str | None,
        typer.Option(
            help=MAY_CHANGE + " Nothing said: modest shifts, turns, sizes and slants of images, "
            "pitch, tempo and beginning of sounds, nothing of tables."
        ),
    ] = None,
    route: Annotated[
        str,
        typer.Option(
            help="features, kernel, functionals, worst-case or invariant; auto takes the one that "
            "predicts samples best that are left out."
        ),
    ] = "auto",
    size: Annotated[
        str | None, typer.Option(help="Images: resize to height x width, such as 28x28.")
    ] = None,
    colour: Annotated[bool, typer.Option("--colour", help="Images: keep colours.")] = False,
    rate: Annotated[
        int, typer.Option(min=1000, max=96000, help="Sounds: samples a second.")
    ] = 8000,
    label: Annotated[str | None, typer.Option(help="Tables: the column with the class.")] = None,
    shape: Annotated[
        str | None,
        typer.Option(help="Tables, arrays: rows are images, such as 28x28 or 32x32x3."),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            help="What says the slide, patient or speaker of a sample, if several are of one: of "
            "tables the column; of folders a regular expression for file names, such as "
            "'patient[0-9]+'; of .npz files the array (groups, if nothing is said)."
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="Tables: a column to leave out. Can be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of everything that is random.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Learn the classes of samples in files, and write a model."""
    check_inputs(data)
    from invarlearn.cli._show import errors, progress_of
    from invarlearn.models import train_model
    from invarlearn.persistence import save_model
    from invarlearn.readers import open_samples

    check_output(model, data)
    height_width = sides(size, "--size")
    source = open_samples(
        data,
        size=None if height_width is None else (height_width[0], height_width[1]),
        colour=colour,
        rate=rate,
        label=label,
        shape=sides(shape, "--shape", most=3),
        groups=groups,
        ignore=ignore or [],
    )
    with progress_of("train") as progress:
        trained = train_model(
            source,
            may_change,
            route,
            seed,
            progress,
            told=lambda text: errors.print(text, highlight=False),
        )
    save_model(trained, model)
    if as_json:
        print_json(_in_json(trained, model))
    else:
        _tell(trained, model)


def _in_json(trained: Model, path: Path) -> dict[str, Any]:
    from invarlearn.models import told_family

    value, low, high = trained.accuracy
    return {
        "model": str(path),
        "samples": trained.n_samples,
        "groups": trained.settings.get("n_groups"),
        "classes": trained.estimator.classes_.tolist(),
        "may_change": told_family(trained.family),
        "route": trained.route,
        "accuracy": value,
        "interval": [low, high],
        "routes": trained.compared,
    }


def _by_groups(trained: Model) -> str:
    number = trained.settings.get("n_groups")
    return "" if number is None else f", all of a group together, of {number:,}"


def _tell(trained: Model, path: Path) -> None:
    """Say what was learned, and what accuracy to expect."""
    from invarlearn.cli._show import console, show_table
    from invarlearn.models import told_family

    value, low, high = trained.accuracy
    if len(trained.compared) > 1:
        rows = [
            {
                "route": one["route"],
                "accuracy_%": ""
                if one["accuracy"] is None
                else f"{100 * one['accuracy']:.1f} ({100 * one['interval'][0]:.1f} to "
                f"{100 * one['interval'][1]:.1f})",
                "": one["reason"] or ("taken" if one["route"] == trained.route else ""),
            }
            for one in trained.compared
        ]
        show_table(rows, "Samples that were left out", numbers=("accuracy_%",))
    text = f"may change: {told_family(trained.family)}"
    console.print(text, highlight=False, soft_wrap=True)
    console.print(
        f"expect {100 * value:.1f} % right (95 % interval {100 * low:.1f} to {100 * high:.1f}), by "
        f"leaving out parts of {trained.n_samples:,} samples{_by_groups(trained)}"
        + ("; a little less, since it is the best of several" if len(trained.compared) > 1 else ""),
        highlight=False,
        soft_wrap=True,
    )
    console.print(f"model: {path}", highlight=False, soft_wrap=True)
