"""The command line: ``invarlearn`` or ``python -m invarlearn``."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from invarlearn import __version__
from invarlearn.cli.audit import audit_command
from invarlearn.cli.data import data_command
from invarlearn.cli.demo import demo_command
from invarlearn.cli.predict import predict_command
from invarlearn.cli.reproduce import reproduce_command
from invarlearn.cli.train import train_command
from invarlearn.cli.words import words_command


class _Stoppable(TyperGroup):
    """Commands that end with a word, and the code that scripts know, when they are interrupted."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("stopped; nothing was left half-written", err=True)
            raise typer.Exit(130) from None


app = typer.Typer(
    cls=_Stoppable,
    name="invarlearn",
    help="Learn from few labelled examples when you know what should not matter.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("train")(train_command)
app.command("predict")(predict_command)
app.command("audit")(audit_command)
app.command("words")(words_command)
app.command("demo")(demo_command)
app.command("reproduce")(reproduce_command)
app.command("data")(data_command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"invarlearn {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    pass


def main() -> None:
    """Run the command line; expected errors end it with one line and exit code 1."""
    try:
        app()
    except (OSError, RuntimeError, TypeError, ValueError, MemoryError) as error:
        if os.environ.get("INVARLEARN_DEBUG"):
            raise
        typer.echo(f"invarlearn: error: {error}", err=True)
        for note in getattr(error, "__notes__", []):
            typer.echo(f"  {note}", err=True)
        typer.echo("  (set INVARLEARN_DEBUG=1 for the traceback)", err=True)
        sys.exit(1)
