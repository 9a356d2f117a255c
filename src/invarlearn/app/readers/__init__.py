"""Readers of samples in files: folders of images and sounds, NPZ, CSV and Parquet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from invarlearn.app.messages import InputError, Setting
from invarlearn.app.readers.arrays import RowSource, open_npz
from invarlearn.app.readers.base import (
    Files,
    ReaderLimits,
    ReadOptions,
    Source,
    class_folders,
    files_in,
)
from invarlearn.app.readers.images import Images
from invarlearn.app.readers.sounds import Sounds
from invarlearn.app.readers.tables import open_csv, open_parquet

__all__ = [
    "FILES",
    "FOLDERS",
    "SOURCES",
    "Images",
    "ReaderLimits",
    "RowSource",
    "Sounds",
    "Source",
    "describe_samples",
    "open_samples",
]

Settings = dict[str, Any]


@dataclass(frozen=True)
class FileReader:
    """A reader of single files.

    Attributes
    ----------
    content : str
        What a file is in help texts, after its suffix.
    has_columns : bool
        Whether files have named columns, which can be ignored.
    open : callable
    """

    content: str
    has_columns: bool
    open: Callable[[Path, ReadOptions, Settings], Source]


ARRAYS, TABLE = "file with arrays X and y", "table with a column for the class"
# Sources of folders by their kind, and readers of files by suffix.
FOLDERS: dict[str, type[Files]] = {source.kind: source for source in (Images, Sounds)}
FILES = {
    ".npz": FileReader(ARRAYS, False, open_npz),
    ".csv": FileReader(TABLE, True, open_csv),
    ".parquet": FileReader(TABLE, True, open_parquet),
}
# All sources by their kind.
SOURCES: dict[str, type[Source]] = {**FOLDERS, RowSource.kind: RowSource}


def describe_samples() -> str:
    """Return a help text that lists all kinds of samples."""
    files = [
        f"a {_any_of([s for s, reader in FILES.items() if reader.content == content])} {content}"
        for content in dict.fromkeys(reader.content for reader in FILES.values())
    ]
    texts = [f"a folder of {_folder_formats()}, with a subfolder for each class", *files]
    text = "; ".join([*texts[:-1], f"or {texts[-1]}"])
    return f"{text[0].upper()}{text[1:]}."


def _folder_formats() -> str:
    return " or of ".join(source.formats for source in FOLDERS.values())


def _any_of(names: Sequence[str]) -> str:
    """Return names as text: "a, b or c"."""
    return " or ".join([*filter(None, [", ".join(names[:-1])]), names[-1]])


def open_samples(
    path: Path | str,
    like: Settings | None = None,
    size: tuple[int, int] | None = None,
    colour: bool = False,
    rate: int = 8000,
    label: str | None = None,
    shape: tuple[int, ...] | None = None,
    groups: str | None = None,
    ignore: Sequence[str] = (),
    limits: ReaderLimits | None = None,
) -> Source:
    """Open samples in a folder or a file of any supported kind.

    Parameters
    ----------
    path : path
        A folder of files of one of the kinds in ``FOLDERS``, such as images, with a subfolder for
        each class; or a file with one of the suffixes in ``FILES``, such as ``.npz`` or ``.csv``.
        :func:`describe_samples` lists all.
    like : dict, optional
        The attribute ``settings`` of another source. Samples are then read in the same way.
    size : tuple (height, width), optional
        Size that images are resized to. None: the size of nine in ten images, if there is one and
        it is not large, and otherwise a square (see :class:`ReaderLimits`).
    colour : bool, default=False
        Whether to keep the colours of images.
    rate : int, default=8000
        Sample rate that sounds are resampled to, in Hz.
    label : str, optional
        Column of a table that has the class. None: the column label, class, target or y.
    shape : tuple, optional
        Shape of the rows of tables and arrays, if rows are images: (height, width) or (height,
        width, channels).
    groups : str, optional
        Source of the group of a sample, such as its slide, patient or speaker: a column of a table,
        an array of an NPZ file (None: the array ``groups``, if there is one), or a regular
        expression that is searched in the names of files.
    ignore : sequence of str
        Columns of a table that are not used.
    limits : ReaderLimits, optional

    Returns
    -------
    Source

    Raises
    ------
    InputError
        If the samples cannot be read. The message names the file and what to do.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path} does not exist.")
    suffix = path.suffix.lower()
    if ignore and not (suffix in FILES and FILES[suffix].has_columns):
        raise InputError(Setting("ignore", list(ignore)), f" needs a table, but {path} is not one.")
    settings = like or {}
    options = ReadOptions(
        size, colour, rate, label, shape, groups, tuple(ignore), limits or ReaderLimits()
    )
    if path.is_dir():
        source: Source = _open_folder(path, options, settings)
    elif suffix in FILES:
        source = FILES[suffix].open(path, options, settings)
    else:
        raise InputError(
            f"{path} has {f'the suffix {suffix}' if suffix else 'no suffix'}, which is not "
            f"supported. Pass a folder of {_folder_formats()}, or a {_any_of(list(FILES))} file."
        )
    _check_n_features(path, source, settings)
    return source


def _open_folder(folder: Path, options: ReadOptions, settings: Settings) -> Files:
    """Open a folder of files of one kind."""
    kind = settings.get("kind") or _kind_of(folder)
    if kind not in FOLDERS:
        raise InputError(f"{folder} is a folder, but the model was trained on a table or an array.")
    source = FOLDERS[kind].open(folder, options, settings)
    if options.groups is not None:
        source.group_by(options.groups)
    return source


def _kind_of(folder: Path) -> str:
    """Return the kind of samples in a folder."""
    folders = [folder, *class_folders(folder)]
    kinds = [
        kind
        for kind, source in FOLDERS.items()
        if any(files_in(part, source.suffixes) for part in folders)
    ]
    if len(kinds) > 1:
        raise InputError(
            f"{folder} has both {kinds[0]} and {kinds[1]}. Put them into separate folders."
        )
    if not kinds:
        formats = " and ".join(f"no {source.formats}" for source in FOLDERS.values())
        raise InputError(f"{folder} has {formats}.")
    return kinds[0]


def _check_n_features(path: Path, source: Source, settings: Settings) -> None:
    """Raise if rows have another number of features than the settings."""
    expected = settings.get("n_features", source.n_features)
    if source.n_features != expected:
        raise InputError(
            f"{path}: rows have {source.n_features} features, but the model was trained on rows "
            f"of {expected}. Prepare both in the same way."
        )
