"""Base classes of the readers: named samples, which are read block by block."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from invarlearn.app.messages import InputError, Message, Setting
from invarlearn.features.defaults import default_family
from invarlearn.transforms import Family, Identity
from invarlearn.transforms.domains import Domain

# Bytes of a float32 number.
ITEM_BYTES = 4


@dataclass(frozen=True)
class ReaderLimits:
    """Limits of files that are read, and default sizes of images.

    Attributes
    ----------
    block_bytes : int
        Rows are read in blocks of at most this many bytes.
    max_pixels : int
        Images with more pixels are refused, since a small file can claim any number of pixels.
    max_sound_bytes : int
        Sound files with more bytes are refused.
    sample_rates : tuple of two ints
        Lowest and highest sample rate of a sound file, in Hz.
    common_share : float
        If at least this share of the images has the same size, which is not large, all images are
        resized to it.
    large_side : int
        Images are large if a side has more pixels than this.
    square_side : int
        Side of the square that other images are resized to, in pixels.
    n_colour_checks : int
        Approximate number of images that are examined for colours.
    grey_range : float
        Maximum difference between the channels of a grey pixel, on a scale from 0 to 1. It is not
        zero because of lossy compression.
    """

    block_bytes: int = 64 * 2**20
    max_pixels: int = 50_000_000
    max_sound_bytes: int = 2**28
    sample_rates: tuple[int, int] = (1_000, 768_000)
    common_share: float = 0.9
    large_side: int = 96
    square_side: int = 64
    n_colour_checks: int = 5
    grey_range: float = 0.1


@dataclass(frozen=True)
class ReadOptions:
    """Parameters of :func:`invarlearn.app.readers.open_samples` that readers use."""

    size: tuple[int, int] | None = None
    colour: bool = False
    rate: int = 8000
    label: str | None = None
    shape: tuple[int, ...] | None = None
    groups: str | None = None
    ignore: Sequence[str] = ()
    limits: ReaderLimits = ReaderLimits()


class Source(ABC):
    """Samples in files, as rows of numbers.

    Attributes
    ----------
    names : sequence of str
        Names of the samples: files, or row numbers.
    labels : array of shape (n_samples,), or None
        Classes, if the files have them.
    shape : tuple of int, or None
        Shape of a row, if it has one.
    kind : str
        Such as "images": the name of the samples in messages, and of their reader in ``settings``.
    domains : tuple of Domain
        Domains whose families can transform the samples.
    groups : array of shape (n_samples,), or None
        Group of each sample, such as its slide, patient or speaker, if groups are used.
    settings : dict
        How rows are made from the files, as numbers and strings. It can be passed as ``like`` to
        :func:`invarlearn.app.readers.open_samples`.
    notes : list of Message
        What is done to the samples by default, and which setting changes it.
    limits : ReaderLimits
    """

    names: Sequence[str]
    labels: NDArray | None
    shape: tuple[int, ...] | None
    kind: str
    domains: tuple[Domain, ...]
    settings: dict[str, Any]
    groups: NDArray | None = None
    notes: list[Message]
    limits: ReaderLimits

    @classmethod
    def accepts_settings(cls, settings: dict[str, Any]) -> bool:
        """Return whether settings, which may be forged, are those of a source of this kind.

        They can then be passed as ``like`` to :func:`invarlearn.app.readers.open_samples`.
        """
        columns, shape = settings.get("columns"), settings.get("shape")
        names = [] if columns is None else columns
        sides = [] if shape is None else shape
        return (
            are_counts(settings.get("n_features"))
            and isinstance(sides, list)
            and are_counts(*sides)
            and isinstance(names, list)
            and all(isinstance(name, str) for name in names)
            and isinstance(settings.get("label"), str | None)
        )

    def default_family(self) -> Family:
        """Return the family that is used if none is declared: that of images, if there is a shape.

        Without a shape, it is the identity.
        """
        if self.shape is None:
            return Identity()
        return default_family(self.shape, self.n_features, "a model")

    @abstractmethod
    def read(self, rows: slice) -> NDArray:
        """Return a slice of the rows, of shape (n, n_features)."""
        raise NotImplementedError

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features of a row."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.names)

    def blocks(self) -> Iterator[slice]:
        """Yield slices of consecutive samples, each of at most ``limits.block_bytes``."""
        n_rows = max(1, self.limits.block_bytes // (ITEM_BYTES * self.n_features))
        yield from gen_batches(len(self), n_rows)

    def read_all(self) -> NDArray:
        """Return all rows, of shape (n_samples, n_features)."""
        return np.concatenate([self.read(block) for block in self.blocks()])


class Files(Source):
    """Files in a folder, each of which is one sample.

    Attributes
    ----------
    suffixes : tuple of str
        Suffixes of the files, in lower case.
    formats : str
        The files in messages, such as "WAV files".
    """

    suffixes: tuple[str, ...]
    formats: str

    def __init__(self, folder: Path, limits: ReaderLimits):
        self.paths, classes = class_files(folder, self.suffixes, self.kind)
        self.names = [printable(path.relative_to(folder)) for path in self.paths]
        self.labels = np.array(classes) if classes else None
        self.limits = limits
        self.notes = []

    @classmethod
    @abstractmethod
    def open(cls, folder: Path, options: ReadOptions, settings: dict[str, Any]) -> Self:
        """Open a folder; ``settings`` of another source take precedence over options."""
        raise NotImplementedError

    def group_by(self, pattern: str) -> None:
        """Set the groups: the text in each file name that matches a regular expression.

        Parameters
        ----------
        pattern : str
            Regular expression. If it has parentheses, the group is the match of the first pair,
            and otherwise the whole match.
        """
        setting = Setting("groups", pattern)
        try:
            expression = re.compile(pattern)
        except re.error as error:
            raise InputError(setting, f" is not a regular expression: {error}.") from None
        matches = [expression.search(name) for name in self.names]
        if None in matches:
            name = self.names[matches.index(None)]
            raise InputError(
                setting,
                f" does not match the file name {name!r}. Pass a regular expression for the part "
                "of the name that identifies the group, such as 'patient[0-9]+'.",
            )
        part = min(1, expression.groups)
        self.groups = np.array([match[part] or "" for match in matches if match])

    @abstractmethod
    def decode(self, path: Path) -> NDArray:
        """Read a file as an array of the shape of a row."""
        raise NotImplementedError

    @property
    def n_features(self) -> int:
        """Number of features of a row."""
        assert self.shape is not None
        return int(np.prod(self.shape))

    def read(self, rows: slice) -> NDArray[np.float32]:
        """Return a slice of the rows, of shape (n, n_features), with values from 0 to 1."""
        paths = self.paths[rows]
        block = np.empty((len(paths), self.n_features), dtype=np.float32)
        for row, path in zip(block, paths, strict=True):
            row[:] = self.decode(path).ravel()
        return block


def are_counts(*values: Any) -> bool:
    """Return whether all values are positive integers that are not too large for an array."""
    return all(isinstance(value, int) and 0 < value < 2**31 for value in values)


def class_files(folder: Path, suffixes: tuple[str, ...], kind: str) -> tuple[list[Path], list[str]]:
    """Return the files of a folder with a subfolder for each class, and the class of each file.

    If the files are directly in the folder, they have no classes, and the list of classes is empty.
    Files both in the folder and in its subfolders raise an error.
    """
    direct_files = files_in(folder, suffixes)
    classes, paths = [], []
    for subfolder in class_folders(folder):
        class_paths = files_in(subfolder, suffixes)
        paths += class_paths
        classes += [printable(Path(subfolder.name))] * len(class_paths)
    if direct_files and paths:
        raise InputError(
            f"{folder} has {kind} both in its subfolders and beside them, such as "
            f"{direct_files[0].name}. Move each file into the subfolder of its class."
        )
    if not direct_files and not paths:
        raise InputError(
            f"{folder} and its subfolders have no {kind} ({', '.join(suffixes)} files)."
        )
    return (direct_files, []) if direct_files else (paths, classes)


def printable(path: Path) -> str:
    """Return the name of a path as text; bytes that are not UTF-8 are escaped."""
    return os.fsencode(path).decode(errors="backslashreplace")


def class_folders(folder: Path) -> list[Path]:
    """Return the subfolders in alphabetical order, without hidden ones."""
    return sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith("."))


def files_in(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files with one of the suffixes in alphabetical order, without hidden ones."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in suffixes and not path.name.startswith(".") and path.is_file()
    )
