"""One self-contained page: a verdict, figures, tables that sort, and how it was made."""

from __future__ import annotations

import base64
import io
import platform
from collections.abc import Sequence
from html import escape
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from invarlearn import __version__
from invarlearn._files import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


class Page:
    """A page of HTML that is built from top to bottom and written as one file.

    Everything that is said is plain text: nothing of it is taken for HTML.

    Parameters
    ----------
    title : str
    verdict : str
        What a reader should know who reads no further.
    """

    def __init__(self, title: str, verdict: str):
        self.title = title
        self._parts = [f"<h1>{escape(title)}</h1>", f'<p class="verdict">{escape(verdict)}</p>']

    def heading(self, text: str) -> Page:
        """Begin a section."""
        self._parts.append(f"<h2>{escape(text)}</h2>")
        return self

    def paragraph(self, text: str) -> Page:
        """Add a paragraph."""
        self._parts.append(f"<p>{escape(text)}</p>")
        return self

    def figure(self, figure: Figure | Path, alt: str, caption: str = "") -> Page:
        """Add a figure of matplotlib, or a PNG file, with what it shows in words."""
        if isinstance(figure, Path):
            content = figure.read_bytes()
        else:
            buffer = io.BytesIO()
            # nothing of the day or the machine: the same figure is the same bytes
            figure.savefig(buffer, format="png", dpi=150, metadata={"Software": None})
            content = buffer.getvalue()
        data = base64.b64encode(content).decode()
        words = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
        image = f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}">'
        self._parts.append(f"<figure>{image}{words}</figure>")
        return self

    def table(self, rows: Sequence[dict[str, Any]], caption: str = "") -> Page:
        """Add a table whose columns sort; numbers are set to the right, floats shortened.

        A cell may be a pair of what is shown and the number to sort by.
        """
        if not rows:
            return self.paragraph("Nothing to show.")
        names = list(rows[0])
        numeric = [all(_is_number(row[name]) for row in rows) for name in names]
        head = "".join(
            f'<th scope="col"{_class(number)}><button>{_words(name)}</button></th>'
            for name, number in zip(names, numeric, strict=True)
        )
        body = "".join(
            "<tr>"
            + "".join(_cell(row[name], number) for name, number in zip(names, numeric, strict=True))
            + "</tr>"
            for row in rows
        )
        words = f"<caption>{escape(caption)}</caption>" if caption else ""
        self._parts.append(
            f'<div class="wide" tabindex="0"><table>{words}<thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>"
        )
        return self

    def made_by(self, command: str, **facts: Any) -> Page:
        """Say how the page was made: the command, versions, and what else matters."""
        versions = [f"invarlearn {__version__}", f"Python {platform.python_version()}"]
        versions += [f"{name} {metadata.version(name)}" for name in PACKAGES]
        rows = [*facts.items(), ("versions", ", ".join(versions))]
        listed = "".join(
            f"<dt>{_words(name)}</dt><dd>{escape(str(value))}</dd>" for name, value in rows
        )
        self._parts.append(
            f"<footer><h2>How this was made</h2><pre>{escape(command)}</pre>"
            f"<dl>{listed}</dl></footer>"
        )
        return self

    def html(self) -> str:
        """Give the whole page."""
        here = files("invarlearn.report")
        style, script = ((here / name).read_text("utf-8") for name in ("page.css", "page.js"))
        head = [
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(self.title)}</title>",
            '<link rel="icon" href="data:,">',
            f"<style>\n{style}</style>",
        ]
        body = ["<main>", *self._parts, "</main>", f"<script>\n{script}</script>"]
        lines = ["<head>", *head, "</head>", "<body>", *body, "</body>", "</html>"]
        return "\n".join(["<!doctype html>", '<html lang="en">', *lines, ""])

    def write(self, path: Path | str) -> Path:
        """Write the page; a file of that name is replaced when the new one is whole."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(self.html().encode())
        return path


def _is_number(cell: Any) -> bool:
    value = cell[1] if isinstance(cell, tuple) else cell
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _words(name: str) -> str:
    return escape(name.replace("_", " "))


def _class(number: bool) -> str:
    return ' class="number"' if number else ""


def _cell(cell: Any, number: bool) -> str:
    shown, value = cell if isinstance(cell, tuple) else (cell, cell)
    if isinstance(shown, float):
        shown = f"{shown:.4g}"
    key, text = ("" if one is None else escape(str(one)) for one in (value, shown))
    return f'<td{_class(number)} data-key="{key}">{text}</td>'
