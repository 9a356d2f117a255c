"""Options that train, predict and audit share."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

Data = Annotated[
    Path,
    typer.Argument(
        help="A folder of PNG, JPEG or TIFF images, or of WAV files, with a subfolder a class; a "
        ".npz file with X and y; a .csv or .parquet table with a column for the class."
    ),
]
NewData = Annotated[
    Path,
    typer.Argument(
        help="A folder of PNG, JPEG or TIFF images, or of WAV files; a .npz file with X; a .csv or "
        ".parquet table. Classes may be there or not."
    ),
]
ModelPath = Annotated[Path, typer.Option("--model", help="The model, a .skops file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
# as in invarlearn.transforms, which takes long to import
WORDS = (
    "translation, rotation, scaling, shear, hyperbolic, reflection, thickness, elastic (images); "
    "pitch-shift, time-stretch (sounds); cyclic-shift, permutation (sequences); feature-scaling, "
    "feature-dropping (counts); nothing"
)
MAY_CHANGE = (
    'What may change without changing the answer, such as "translation:2 rotation:15 shear:0.3". '
    f"Words: {WORDS}. `invarlearn words` explains them."
)


def sides(text: str | None, option: str, most: int = 2) -> tuple[int, ...] | None:
    """Read 28x28, 28 (a square) or, where three are allowed, 32x32x3."""
    if text is None:
        return None
    if not re.fullmatch(r"[1-9]\d{0,4}(x[1-9]\d{0,4})*", text) or text.count("x") >= most:
        raise typer.BadParameter(f"{text!r} is not a size such as 28x28", param_hint=option)
    found = tuple(int(part) for part in text.split("x"))
    return found * 2 if len(found) == 1 else found


def check_inputs(data: Path, model: Path | None = None) -> None:
    """Say at once, before anything else is loaded, what is not there."""
    if not data.exists():
        raise ValueError(f"{data} does not exist")
    if model is not None and not model.exists():
        raise ValueError(f"{model} does not exist: train writes a model with --model {model}")


def check_output(path: Path, *inputs: Path) -> None:
    """Make sure, before the work, that a file can be written, and is none of those read."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name a file")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is no ordinary file: name one")
    for other in inputs:
        if path.exists() and other.exists() and path.samefile(other):
            raise ValueError(f"{path} is read, and would be replaced: name another file to write")
    # folders are made with the file
    folder = next(one for one in path.absolute().parents if one.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ValueError(f"{folder} cannot be written to: choose another place")


def command_line() -> str:
    """Give the command as it was typed, but for the path of the program."""
    return shlex.join(["invarlearn", *sys.argv[1:]])


def print_json(content: Any) -> None:
    """Print an answer for machines, and nothing else, on standard output."""
    typer.echo(json.dumps(content, indent=2, default=_plain))


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)
