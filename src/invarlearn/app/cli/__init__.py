"""The command line: ``invarlearn`` or ``python -m invarlearn``.

A program that calls ``app`` can limit the work of ``train`` and ``demo`` with a
:class:`RouteSettings`, as in ``app(arguments, obj=settings)``.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from invarlearn import __version__
from invarlearn.app.cli._help import TableHelp
from invarlearn.app.cli.audit import audit_command
from invarlearn.app.cli.data import data_command
from invarlearn.app.cli.demo import demo_command
from invarlearn.app.cli.families import families_command
from invarlearn.app.cli.predict import predict_command
from invarlearn.app.cli.reproduce import reproduce_command
from invarlearn.app.cli.train import train_command
from invarlearn.app.messages import InputError


class _InterruptibleGroup(TyperGroup):
    """A group of commands that end with a message and exit code 130 when interrupted."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("Stopped. No incomplete file was left.", err=True)
            raise typer.Exit(130) from None


app = typer.Typer(
    cls=_InterruptibleGroup,
    name="invarlearn",
    help="Learn from few labelled examples when you know what should not matter.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("train", cls=TableHelp)(train_command)
app.command("predict", cls=TableHelp)(predict_command)
app.command("audit", cls=TableHelp)(audit_command)
app.command("families")(families_command)
app.command("demo")(demo_command)
app.command("reproduce")(reproduce_command)
app.command("data")(data_command)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"invarlearn {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False,
        "--version",
        callback=_print_version,
        is_eager=True,
        help="Show the version and exit.",
    ),
) -> None:
    pass


def _text(error: BaseException) -> str:
    """Return the text of an error, with options of the command line in place of parameters."""
    if not isinstance(error, InputError):
        return str(error)
    from invarlearn.app.cli._terminal import with_options

    return with_options(error.message)


def main() -> None:
    """Run the command line; an expected error is printed without traceback, with exit code 1."""
    try:
        app()
    except (OSError, RuntimeError, TypeError, ValueError, MemoryError) as error:
        if os.environ.get("INVARLEARN_DEBUG"):
            raise
        typer.echo(f"invarlearn: error: {_text(error)}", err=True)
        for note in getattr(error, "__notes__", []):
            typer.echo(f"  {note}", err=True)
        typer.echo("  (set INVARLEARN_DEBUG=1 for the traceback)", err=True)
        sys.exit(1)
