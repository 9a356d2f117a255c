"""Help texts that list the entries of tables: families, routes and kinds of samples."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from typer.core import TyperCommand


def family_names() -> str:
    """Return the names of all families, grouped by the kind of row that they transform."""
    from invarlearn.transforms.spec import FAMILIES, NOTHING

    groups = groupby(FAMILIES, key=lambda name: FAMILIES[name].domain)
    return "; ".join([*(f"{', '.join(names)} ({domain})" for domain, names in groups), NOTHING])


def route_names() -> str:
    """Return the names of all routes."""
    from invarlearn.app.routes import ROUTES

    *names, last = ROUTES
    return f"{', '.join(names)} or {last}"


def sample_kinds() -> str:
    """Return a text that lists all kinds of samples."""
    from invarlearn.app.readers import describe_samples

    return describe_samples()


# Placeholders in help texts, and the functions that return the texts in their place. They are
# replaced only when the help is shown, since importing the tables takes a second.
FAMILY_NAMES, ROUTE_NAMES, SAMPLE_KINDS = "{family names}", "{route names}", "{sample kinds}"
TEXTS = {FAMILY_NAMES: family_names, ROUTE_NAMES: route_names, SAMPLE_KINDS: sample_kinds}


class TableHelp(TyperCommand):
    """A command whose help lists entries of tables."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for option in self.params:
            text = getattr(option, "help", None) or ""
            for placeholder, current in TEXTS.items():
                if placeholder in text:
                    text = text.replace(placeholder, current())
                    setattr(option, "help", text)  # noqa: B010
        super().format_help(ctx, formatter)
