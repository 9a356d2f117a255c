"""Self-contained HTML pages with a conclusion, figures, sortable tables, and their provenance."""

from __future__ import annotations

import base64
import io
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from invarlearn import __version__
from invarlearn._utils.files import atomic_write

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure

# Packages whose versions are on the page.
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


class Page:
    """An HTML page that is built from top to bottom and written as one file.

    The HTML is in ``report/templates``, one file for each kind of block. All text is escaped by
    jinja2: no text is interpreted as HTML.

    Parameters
    ----------
    title : str
    verdict : str
        The conclusion, which is shown at the top of the page.

    Attributes
    ----------
    blocks : list
        Content below the verdict: headings, paragraphs, figures, tables, provenance.
    """

    def __init__(self, title: str, verdict: str):
        self.title = title
        self.verdict = verdict
        self.blocks: list[Block] = []

    def heading(self, text: str) -> Page:
        """Add the heading of a section."""
        self.blocks.append(HeadingBlock(text))
        return self

    def paragraph(self, text: str) -> Page:
        """Add a paragraph."""
        self.blocks.append(ParagraphBlock(text))
        return self

    def figure(self, figure: Figure | Path, alt: str, caption: str = "") -> Page:
        """Add a figure.

        Parameters
        ----------
        figure : matplotlib Figure, or path of a PNG file
        alt : str
            Alternative text: what the figure shows, for readers who cannot see it.
        caption : str, optional
        """
        content = figure.read_bytes() if isinstance(figure, Path) else _png(figure)
        self.blocks.append(FigureBlock(base64.b64encode(content).decode(), alt, caption))
        return self

    def table(self, rows: Sequence[dict[str, Any]], caption: str = "") -> Page:
        """Add a table that can be sorted by a click on the heading of a column.

        Parameters
        ----------
        rows : sequence of dict
            Rows with the same keys, which are the headings. A value is a text, a number, or a pair
            of the shown text and the number to sort by. Columns of numbers are right-aligned, and
            floats are shown with four digits.
        caption : str, optional
        """
        if not rows:
            return self.paragraph("Nothing to show.")
        columns = [
            TableColumn(name.replace("_", " "), all(_is_number(row[name]) for row in rows))
            for name in rows[0]
        ]
        cells = [[_cell(row[name]) for name in rows[0]] for row in rows]
        self.blocks.append(TableBlock(columns, cells, caption))
        return self

    def made_by(self, command: str, **facts: Any) -> Page:
        """Add the provenance of the page.

        Parameters
        ----------
        command : str
            The command that makes the page.
        **facts
            Further values to show, such as the seed. Versions of packages are added.
        """
        versions = [f"invarlearn {__version__}", f"Python {platform.python_version()}"]
        versions += [f"{name} {metadata.version(name)}" for name in PACKAGES]
        rows = {**facts, "versions": ", ".join(versions)}
        named_texts = [(name.replace("_", " "), str(value)) for name, value in rows.items()]
        self.blocks.append(ProvenanceBlock(command, named_texts))
        return self

    def html(self) -> str:
        """Return the page as HTML."""
        return _templates().get_template("page.html").render(page=self)

    def write(self, path: Path | str) -> Path:
        """Write the page to a file and return its path.

        An existing file is replaced only when the new one is complete.
        """
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(self.html().encode())
        return path


@dataclass(frozen=True)
class HeadingBlock:
    """The title of a section."""

    template: ClassVar[str] = "heading.html"
    text: str


@dataclass(frozen=True)
class ParagraphBlock:
    """A paragraph of plain text."""

    template: ClassVar[str] = "paragraph.html"
    text: str


@dataclass(frozen=True)
class FigureBlock:
    """A PNG image, encoded in base64, with a text that describes it."""

    template: ClassVar[str] = "figure.html"
    data: str
    alt: str
    caption: str


@dataclass(frozen=True)
class TableColumn:
    """The heading of a column, and whether all its cells are numbers."""

    title: str
    numeric: bool


@dataclass(frozen=True)
class TableCell:
    """The text of a cell, and the key that its row is sorted by."""

    text: str
    key: str


@dataclass(frozen=True)
class TableBlock:
    """Columns and rows of cells."""

    template: ClassVar[str] = "table.html"
    columns: list[TableColumn]
    rows: list[list[TableCell]]
    caption: str


@dataclass(frozen=True)
class ProvenanceBlock:
    """The command that made a page, and pairs of names and values."""

    template: ClassVar[str] = "provenance.html"
    command: str
    facts: list[tuple[str, str]]


Block = HeadingBlock | ParagraphBlock | FigureBlock | TableBlock | ProvenanceBlock


@cache
def _templates() -> Environment:
    """Return the jinja2 environment of the templates, which escapes all text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("invarlearn.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.globals["zip"] = zip
    return environment


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    # without version and date, so that equal figures have equal bytes
    figure.savefig(buffer, format="png", dpi=150, metadata={"Software": None})
    return buffer.getvalue()


def _is_number(value: Any) -> bool:
    key = value[1] if isinstance(value, tuple) else value
    return key is None or (isinstance(key, (int, float)) and not isinstance(key, bool))


def _cell(value: Any) -> TableCell:
    shown, key = value if isinstance(value, tuple) else (value, value)
    if isinstance(shown, float):
        shown = f"{shown:.4g}"
    text, key_text = ("" if part is None else str(part) for part in (shown, key))
    return TableCell(text, key_text)
