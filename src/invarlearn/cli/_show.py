"""Tables and progress on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

console = Console()
errors = Console(stderr=True)


def show_table(rows: Sequence[dict[str, Any]], title: str, numbers: Sequence[str] = ()) -> None:
    """Print rows as a table; columns named in ``numbers`` are set to the right.

    Single words in the first column name the rows, and are never cut.
    """
    table = Table(title=title, title_justify="left", title_style="bold")
    first = next(iter(rows[0]))
    words = not any(" " in str(row[first]) for row in rows)
    for name in rows[0]:
        table.add_column(
            name.replace("_", " "),
            justify="right" if name in numbers else "left",
            no_wrap=words and name == first,
        )
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    console.print(table)


@contextmanager
def progress_of(title: str) -> Iterator[Callable[[int, int, float | None], None]]:
    """Give a function (done, total, seconds left) that shows a bar, or lines if not a terminal."""
    if not errors.is_terminal:
        yield lambda done, total, left: errors.print(
            f"{title}: {done} of {total} done{_time_left(left)}", highlight=False, soft_wrap=True
        )
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
