"""``invarlearn data``: the state of the data files on this machine, and downloads."""

from __future__ import annotations

from typing import Annotated

import typer


def data_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Files to download. Without files, the state of all is shown."),
    ] = None,
) -> None:
    """Show the state of the data files for experiments, or download them."""
    from invarlearn.app.cli._terminal import console, show_table
    from invarlearn.datasets import data_files, fetch_file

    for name in names or []:
        console.print(f"{name}: whole, {fetch_file(name)}", soft_wrap=True)
    if names:
        return
    files = data_files()
    rows = [{"file": file.name, "found_in": file.source, "state": file.state} for file in files]
    show_table(rows, "Data files")
    states = {file.state for file in files}
    if "missing" in states:
        console.print(
            "`invarlearn data FILE` downloads a missing file. If a folder has the files, set the "
            "environment variable INVARLEARN_DATA to this folder."
        )
    if "damaged" in states:
        console.print("Delete a damaged file, and download or copy it again.")
        raise typer.Exit(1)
