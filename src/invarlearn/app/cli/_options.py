"""Arguments and options that the commands share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from invarlearn.app.cli._help import FAMILY_NAMES, ROUTE_NAMES, SAMPLE_KINDS

Data = Annotated[Path, typer.Argument(help=SAMPLE_KINDS)]
NewData = Annotated[Path, typer.Argument(help=f"{SAMPLE_KINDS} Classes are optional.")]
ModelPath = Annotated[
    Path,
    typer.Option("--model", help="Model file, written by train and read by predict and audit."),
]
MayChange = Annotated[
    str | None,
    typer.Option(
        "--may-change",
        metavar="SPEC",
        help="Family specification: the transformations that do not change the class, such as "
        f'"translation:2 rotation:15 shear:0.3". Families: {FAMILY_NAMES}. `invarlearn families` '
        "explains them.",
    ),
]
RouteName = Annotated[
    str,
    typer.Option(
        "--route",
        help=f"{ROUTE_NAMES}; auto compares all routes and uses the one with the highest "
        "cross-validated accuracy.",
    ),
]
Size = Annotated[
    str | None,
    typer.Option(
        metavar="HEIGHTxWIDTH", help="Images: size that all are resized to, such as 28x28."
    ),
]
Colour = Annotated[bool, typer.Option("--colour", help="Images: keep colours.")]
Rate = Annotated[
    int,
    typer.Option(min=1000, max=96000, help="Sounds: sample rate that all are resampled to, in Hz."),
]
Label = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Tables: the column that has the class.")
]
RowShape = Annotated[
    str | None,
    typer.Option(
        metavar="HEIGHTxWIDTH",
        help="Tables and arrays: rows are images of this shape, such as 28x28 or 32x32x3.",
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The slide, patient or speaker of each sample; samples of one group are held out "
        "together. Tables: a column. Folders: a regular expression for the file name, such as "
        "'patient[0-9]+'. .npz files: an array; by default groups, if there is one.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Tables: a column that is not used. Can be repeated."),
]
ElementCount = Annotated[
    int, typer.Option(min=1, help="Number of random transformations of each sample.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all random choices.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
OutFile = Annotated[Path, typer.Option("--out", help="File to write.")]
OutFolder = Annotated[Path, typer.Option("--out", help="Folder to write to.")]


def parse_sides(text: str | None, option: str, max_sides: int = 2) -> tuple[int, ...] | None:
    """Return the sides of a size such as 28x28, 28 (a square) or, with three sides, 32x32x3."""
    if text is None:
        return None
    is_valid = re.fullmatch(r"[1-9]\d{0,4}(x[1-9]\d{0,4})*", text)
    if not is_valid or text.count("x") >= max_sides:
        raise typer.BadParameter(f"{text!r} is not a size such as 28x28", param_hint=option)
    sides = tuple(int(part) for part in text.split("x"))
    return sides * 2 if len(sides) == 1 else sides
