"""``invarlearn data``: which data files there are, and whether they are whole."""

from __future__ import annotations

from typing import Annotated

import typer


def data_command(
    names: Annotated[
        list[str] | None, typer.Argument(help="Files to fetch; none: show all.")
    ] = None,
) -> None:
    """Show where the data files are and whether they are whole, or fetch some."""
    import os
    from pathlib import Path

    from invarlearn.cli._show import console, show_table
    from invarlearn.datasets._files import SHA256, cache_folder, choose, locate

    for name in names or []:
        path = locate(choose(name, list(SHA256), "data file"))
        console.print(f"{name}: whole, {path}", soft_wrap=True)
    if names:
        return
    folders = {"INVARLEARN_DATA": os.environ.get("INVARLEARN_DATA"), "cache": cache_folder()}
    rows = []
    for name in SHA256:
        places = [(place, Path(folder) / name) for place, folder in folders.items() if folder]
        found = next(((place, path) for place, path in places if path.exists()), None)
        rows.append({"file": name, "found_in": found[0] if found else "", "state": _state(found)})
    show_table(rows, "Data files")
    if any(row["state"] != "whole" for row in rows):
        console.print(
            "`invarlearn data NAME` downloads a missing file; "
            "INVARLEARN_DATA names a folder that has them"
        )


def _state(found: tuple[str, object] | None) -> str:
    from pathlib import Path

    from invarlearn.datasets._files import SHA256, DataError, verify

    if found is None:
        return "not here"
    path = Path(str(found[1]))
    try:
        verify(path, SHA256[path.name])
    except DataError:
        return "damaged"
    return "whole"
