"""``invarlearn data``: which data files there are, and whether they are whole."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def data_command(
    names: Annotated[
        list[str] | None, typer.Argument(help="Files to fetch; none: show all.")
    ] = None,
) -> None:
    """Show where the data files are and whether they are whole, or fetch some."""
    from invarlearn.cli._show import console, show_table
    from invarlearn.datasets._files import SHA256, cache_folder, choose, data_folder, locate

    for name in names or []:
        path = locate(choose(name, list(SHA256), "data file"))
        console.print(f"{name}: whole, {path}", soft_wrap=True)
    if names:
        return
    folders = {"INVARLEARN_DATA": data_folder(), "cache": cache_folder()}
    rows = []
    for name in SHA256:
        places = [(place, folder / name) for place, folder in folders.items() if folder]
        found = next(((place, path) for place, path in places if path.exists()), None)
        state = "not here" if found is None else _state(found[1])
        rows.append({"file": name, "found_in": found[0] if found else "", "state": state})
    show_table(rows, "Data files")
    states = {row["state"] for row in rows}
    if "not here" in states:
        console.print(
            "`invarlearn data FILE` downloads a missing file; "
            "INVARLEARN_DATA names a folder that has them"
        )
    if "damaged" in states:
        console.print("delete a damaged file, so that it is downloaded again, or copy it anew")
        raise typer.Exit(1)


def _state(path: Path) -> str:
    from invarlearn.datasets._files import SHA256, DataError, verify

    try:
        verify(path, SHA256[path.name])
    except DataError:
        return "damaged"
    return "whole"
