"""Output on the terminal: messages, tables, progress, JSON."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from invarlearn._utils.progress import Progress
from invarlearn.app.messages import Message, Setting

# without markup, since names of files and classes may contain brackets
console = Console(markup=False)
errors = Console(stderr=True, markup=False)

# Options with other names than their parameters.
OPTIONS = {"family": "--may-change"}
# Without a terminal, a line of progress is printed after this share of the work, or these seconds.
PROGRESS_SHARE, PROGRESS_SECONDS = 0.1, 60
# Longer times are shown in minutes.
MAX_SECONDS = 90


def say(text: str | Message) -> None:
    """Print a line of the result on standard output, without wrapping it."""
    console.print(with_options(text), highlight=False, soft_wrap=True)


def report(text: str | Message) -> None:
    """Print a message about the progress of a command on standard error."""
    errors.print(with_options(text), highlight=False)


def with_options(text: str | Message) -> str:
    """Return a message as text, with options in place of parameters."""
    return text.text(option_of) if isinstance(text, Message) else text


def option_of(setting: Setting) -> str:
    """Return the option that sets a parameter, with its value."""
    option = OPTIONS.get(setting.name, f"--{setting.name.replace('_', '-')}")
    value = setting.value
    if value is None or value is True:
        return option
    if isinstance(value, tuple):
        return f"{option} {'x'.join(map(str, value))}"
    values = value if isinstance(value, list) else [value]
    return " ".join(f"{option} {shlex.quote(str(part))}" for part in values)


def command_line() -> str:
    """Return the command as it was typed, without the path of the program."""
    return shlex.join(["invarlearn", *sys.argv[1:]])


def print_json(content: Any) -> None:
    """Print JSON on standard output."""
    typer.echo(json.dumps(content, indent=2, default=_plain))


def _plain(value: Any) -> Any:
    """Return a numpy scalar as a Python number, and other objects as text."""
    return value.item() if hasattr(value, "item") else str(value)


def show_table(rows: Sequence[dict[str, Any]], title: str, numbers: Sequence[str] = ()) -> None:
    """Print rows as a table.

    Parameters
    ----------
    rows : sequence of dict
        Rows with the same keys, which are the headings. If the first column has single words only,
        they are never wrapped.
    title : str
    numbers : sequence of str
        Columns that are right-aligned.
    """
    table = Table(title=Text(title), title_justify="left", title_style="bold")
    first = next(iter(rows[0]))
    has_single_words = not any(" " in str(row[first]) for row in rows)
    for name in rows[0]:
        table.add_column(
            name.replace("_", " "),
            justify="right" if name in numbers else "left",
            no_wrap=has_single_words and name == first,
        )
    for row in rows:
        table.add_row(*(Text(str(value)) for value in row.values()))
    console.print(table)


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """Yield a progress callback that draws a bar, or prints lines if there is no terminal.

    Lines are printed at the start, at the end, and whenever a tenth of the work or a minute has
    passed since the previous line.
    """
    if not errors.is_terminal:
        yield _line_printer(title)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bar(*columns, TextColumn("{task.fields[left]}"), console=errors) as bar:
        task = bar.add_task(title, total=None, left="")

        def advance(
            done: int, total: int, seconds_left: float | None = None, message: str = ""
        ) -> None:
            bar.update(task, completed=done, total=total, left=_time_left(seconds_left))

        yield advance


def _line_printer(title: str) -> Progress:
    """Return a progress callback that prints lines."""
    last_share, last_time = -1.0, 0.0

    def print_line(
        done: int, total: int, seconds_left: float | None = None, message: str = ""
    ) -> None:
        nonlocal last_share, last_time
        if total < 2:
            return
        share, now = done / total, time.monotonic()
        is_due = share - last_share >= PROGRESS_SHARE or now - last_time >= PROGRESS_SECONDS
        if done in (0, total) or is_due:
            last_share, last_time = share, now
            text = f"{title}: {done} of {total} done{_time_left(seconds_left)}"
            errors.print(text, highlight=False, soft_wrap=True)

    return print_line


def _time_left(seconds: float | None) -> str:
    """Return the estimated time left as text, empty if it is unknown."""
    if seconds is None:
        return ""
    if seconds < MAX_SECONDS:
        return f", about {seconds:.0f} s left"
    return f", about {seconds / 60:.0f} min left"
