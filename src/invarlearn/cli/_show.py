"""Tables and progress on the terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

# names of files and classes may have brackets in them
console = Console(markup=False)
errors = Console(stderr=True, markup=False)


def show_table(rows: Sequence[dict[str, Any]], title: str, numbers: Sequence[str] = ()) -> None:
    """Print rows as a table; columns named in ``numbers`` are set to the right.

    Single words in the first column name the rows, and are never cut.
    """
    table = Table(title=Text(title), title_justify="left", title_style="bold")
    first = next(iter(rows[0]))
    words = not any(" " in str(row[first]) for row in rows)
    for name in rows[0]:
        table.add_column(
            name.replace("_", " "),
            justify="right" if name in numbers else "left",
            no_wrap=words and name == first,
        )
    for row in rows:
        table.add_row(*(Text(str(value)) for value in row.values()))
    console.print(table)


@contextmanager
def progress_of(title: str) -> Iterator[Callable[[int, int, float | None], None]]:
    """Give a function (done, total, seconds left) that shows a bar, or lines if not a terminal.

    Lines come for the first and last part, and a minute or a tenth of all after the last line.
    """
    if not errors.is_terminal:
        last = (-1.0, 0.0)

        def tell(done: int, total: int, left: float | None) -> None:
            nonlocal last
            if total < 2:
                return
            share, now = done / total, time.monotonic()
            if done in (0, total) or share - last[0] >= 0.1 or now - last[1] >= 60:
                last = (share, now)
                text = f"{title}: {done} of {total} done{_time_left(left)}"
                errors.print(text, highlight=False, soft_wrap=True)

        yield tell
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TextColumn("{task.fields[left]}"), console=errors) as bar:
        task = bar.add_task(title, total=None, left="")

        def advance(done: int, total: int, left: float | None) -> None:
            bar.update(task, completed=done, total=total, left=_time_left(left))

        yield advance


def _time_left(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 90:
        return f", about {seconds:.0f} s left"
    return f", about {seconds / 60:.0f} min left"
