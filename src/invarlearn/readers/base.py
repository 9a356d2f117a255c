"""What every reader gives: samples by name, read when they are asked for."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Rows that are read at a time take about so many bytes.
BLOCK_BYTES = 64 * 2**20


class ReadError(ValueError):
    """A file that cannot be read: which, where, and what to do."""


class Source(ABC):
    """Samples in files, as rows of numbers.

    Attributes
    ----------
    names : sequence of str
        Of the samples: files, or numbers of rows.
    labels : array of shape (n_samples,), or None
        Classes, if the files say them.
    shape : tuple of int, or None
        Shape of a row, if it has one.
    kind : {"images", "sounds", "rows"}
    groups : array of shape (n_samples,), or None
        The slide, patient or speaker of each, if that was asked for.
    settings : dict
        How the rows were made, in numbers and strings: what ``like`` of
        :func:`invarlearn.readers.open_samples` takes.
    note : str
        What was done to the samples that nobody asked for, if anything.
    """

    names: Sequence[str]
    labels: NDArray | None
    shape: tuple[int, ...] | None
    kind: str
    settings: dict[str, Any]
    groups: NDArray | None = None
    note: str = ""

    @abstractmethod
    def read(self, rows: slice) -> NDArray:
        """Give some of the rows: (n, n_features)."""
        raise NotImplementedError

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Numbers in a row."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.names)

    def blocks(self) -> Iterator[slice]:
        """Cut the samples into blocks that fit into memory."""
        step = max(1, BLOCK_BYTES // (4 * self.n_features))
        for start in range(0, len(self), step):
            yield slice(start, min(start + step, len(self)))

    def read_all(self) -> NDArray:
        """Give all rows."""
        return np.concatenate([self.read(some) for some in self.blocks()])


class Files(Source):
    """Files of a folder, a sample each, read one after the other."""

    def __init__(self, folder: Path, endings: tuple[str, ...]):
        self.paths, classes = class_files(folder, endings, self.kind)
        self.names = [printable(path.relative_to(folder)) for path in self.paths]
        self.labels = np.array(classes) if classes else None

    def group_by(self, pattern: str) -> None:
        """Take for the group what a regular expression finds in the name of each file.

        That is its first parenthesis, or all of it if it has none.
        """
        try:
            expression = re.compile(pattern)
        except re.error as error:
            raise ReadError(f"--groups {pattern!r} is no regular expression: {error}") from None
        found = [expression.search(name) for name in self.names]
        if None in found:
            name = self.names[found.index(None)]
            raise ReadError(
                f"--groups {pattern!r} is not in the name {name!r}: pass a regular expression for "
                "the part of a name that says the group, such as 'patient[0-9]+'"
            )
        self.groups = np.array([one[min(1, expression.groups)] or "" for one in found if one])

    @abstractmethod
    def _row(self, path: Path) -> NDArray:
        """Read one file, as an array of the shape of a row."""
        raise NotImplementedError

    @property
    def n_features(self) -> int:
        """Numbers in a row."""
        assert self.shape is not None
        return int(np.prod(self.shape))

    def read(self, rows: slice) -> NDArray[np.float32]:
        """Give some of the rows: numbers from 0 to 1, float32."""
        paths = self.paths[rows]
        out = np.empty((len(paths), self.n_features), dtype=np.float32)
        for row, path in zip(out, paths, strict=True):
            row[:] = self._row(path).ravel()
        return out


def class_files(folder: Path, endings: tuple[str, ...], what: str) -> tuple[list[Path], list[str]]:
    """List the files of a folder with a subfolder a class, and their classes, in order.

    Files beside the subfolders have no class; then there must be no subfolders with files.
    """
    flat = files_in(folder, endings)
    classes, paths = [], []
    for sub in class_folders(folder):
        found = files_in(sub, endings)
        paths += found
        classes += [printable(Path(sub.name))] * len(found)
    if flat and paths:
        raise ReadError(
            f"{folder} has {what} both beside and inside its subfolders, such as {flat[0].name}: "
            "put each into the subfolder of its class"
        )
    if not flat and not paths:
        raise ReadError(f"{folder} has no {what} ({', '.join(endings)}) in it or in its subfolders")
    return (flat, []) if flat else (paths, classes)


def printable(path: Path) -> str:
    """Give a name that can be written anywhere, whatever bytes it has on disk."""
    return os.fsencode(path).decode(errors="backslashreplace")


def class_folders(folder: Path) -> list[Path]:
    """List the subfolders, but for hidden ones."""
    return sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith("."))


def files_in(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    """List the files with some endings, but for hidden ones."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in endings and not path.name.startswith(".") and path.is_file()
    )
