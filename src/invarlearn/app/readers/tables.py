"""Tables with named columns: CSV and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from invarlearn.app.messages import InputError, Message, Setting, first_line
from invarlearn.app.readers.arrays import RowSource, listed, row_numbers, row_shape
from invarlearn.app.readers.base import ReadOptions

# Names of columns that are used as the class if none is given.
LABELS = ("label", "class", "target", "y")
# Names of the column in which pandas writes row numbers, in CSV and in Parquet.
INDEX_NAMES = ("", "__index_level_0__")
# Characters that may separate the fields of a line.
DELIMITERS = (",", ";", "\t")
# Number of characters of an invalid value that an error shows.
SHOWN_CHARACTERS = 40


@dataclass(frozen=True)
class Columns:
    """The columns of a table: all, those of the features, that of the class, that of the group."""

    header: list[str]
    features: list[str]
    label: str | None
    groups: str | None

    @property
    def texts(self) -> list[str]:
        """Columns that are read as text: those of the class and of the group, if there are any."""
        return [name for name in (self.label, self.groups) if name is not None]


def open_csv(path: Path, options: ReadOptions, settings: dict[str, Any]) -> RowSource:
    """Read a CSV table whose first line has the names of the columns.

    The standard library splits lines into fields, and every value is checked. ``pandas.read_csv``
    is not used, since it replaces a value that is not a number by NaN, or reads the whole column
    as text; an error here names the line and the column.
    """
    lines = _csv_lines(path)
    header = next(lines, (0, []))[1]
    columns = choose_columns(path, header, options, settings)
    positions = {name: header.index(name) for name in (*columns.features, *columns.texts)}
    texts: dict[str, list[str]] = {name: [] for name in columns.texts}
    rows = []
    for number, fields in lines:
        if len(fields) != len(header):
            raise InputError(
                f"{path}, line {number}: there are {len(fields)} fields, but {len(header)} columns "
                "are named. Check whether a value is quoted wrongly."
            )
        values = [_number(path, number, name, fields[positions[name]]) for name in columns.features]
        # a list of floats would need four times the memory of an array
        rows.append(np.array(values))
        for name, column in texts.items():
            column.append(fields[positions[name]].strip())
            if not column[-1]:
                raise InputError(
                    f"{path}, line {number}: column {name!r} is empty. Fill it in or remove the "
                    "line."
                )
    if not rows:
        raise InputError(f"{path} has no rows below the names of its columns.")
    return _table(np.stack(rows), texts, columns, options, settings)


def open_parquet(path: Path, options: ReadOptions, settings: dict[str, Any]) -> RowSource:
    """Read a Parquet table."""
    table = _parquet_table(path)
    columns = choose_columns(path, table.column_names, options, settings)
    try:
        numbers = [table.column(name).to_numpy() for name in columns.features]
        texts = {name: table.column(name).to_pylist() for name in columns.texts}
    except Exception as error:  # a damaged file can fail anywhere in the reader
        raise _unreadable_parquet(path, error) from None
    if not len(table):
        raise InputError(f"{path} has no rows.")
    features = []
    for name, values in zip(columns.features, numbers, strict=True):
        if values.dtype.kind not in "buif":
            raise InputError(
                f"{path}: column {name!r} has values that are not numbers. Encode them as numbers, "
                "or leave the column out with ",
                Setting("ignore", [name]),
                ".",
            )
        features.append(values.astype(np.float64))
        invalid = np.flatnonzero(~np.isfinite(features[-1]))
        if len(invalid):
            raise InputError(
                f"{path}, row {invalid[0] + 1}: column {name!r} has no finite number. Fill it in."
            )
    for name, values in texts.items():
        if n_missing := sum(value is None or value != value for value in values):
            raise InputError(f"{path}: column {name!r} is empty in {n_missing} rows. Fill it in.")
    return _table(np.stack(features, axis=1), texts, columns, options, settings)


def _parquet_table(path: Path) -> Any:
    """Return a Parquet table, read by pyarrow."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            f"{path}: reading Parquet needs pyarrow. Install it with pip install "
            "'invarlearn[parquet]'."
        ) from None
    try:
        table = pyarrow.parquet.ParquetFile(path).read()
        # without validation, text that is not UTF-8 would fail later
        table.validate(full=True)
    except Exception as error:  # a damaged file can fail anywhere in the reader
        raise _unreadable_parquet(path, error) from None
    return table


def _unreadable_parquet(path: Path, error: Exception) -> InputError:
    return InputError(f"{path} cannot be read as a Parquet file: {first_line(error)}")


def _table(
    X: NDArray,
    texts: dict[str, list[Any]],
    columns: Columns,
    options: ReadOptions,
    settings: dict[str, Any],
) -> RowSource:
    """Return the rows of a table, with notes on its columns."""
    labels, groups = (
        None if name is None else np.array([str(value) for value in texts[name]])
        for name in (columns.label, columns.groups)
    )
    shape = row_shape(options, settings)
    column_settings = {"columns": columns.features, "label": columns.label}
    names = row_numbers(len(X))
    return RowSource(
        X, labels, names, shape, column_settings, groups, options.limits, _notes(X, columns)
    )


def _notes(X: NDArray, columns: Columns) -> list[Message]:
    """Return notes on the columns that are used, and on columns that seem to number the rows."""
    notes = [Message(f"Columns used as features: {listed(columns.features)}.")]
    if index := [name for name in columns.header if name in INDEX_NAMES]:
        notes.append(
            Message(f"Column {listed(index)} is left out, since it seems to hold row numbers.")
        )
    differences = np.diff(X, axis=0)
    for i, name in enumerate(columns.features):
        if len(X) > 2 and (differences[:, i] == 1).all():
            ignore = Setting("ignore", [name])
            notes.append(
                Message(f"Column {name!r} counts the rows. Leave it out with ", ignore, ".")
            )
    return notes


def choose_columns(
    path: Path, header: list[str], options: ReadOptions, settings: dict[str, Any]
) -> Columns:
    """Return the columns of the features, the class and the group.

    Parameters
    ----------
    path : path
        The table, for messages.
    header : list of str
        Names of the columns of the table.
    options : ReadOptions
    settings : dict
        Settings of another source, whose columns are used. If they are empty, the table must have
        a column for the class.

    Returns
    -------
    Columns
    """
    if not header:
        raise InputError(f"{path} is empty. Its first line must have the names of the columns.")
    if len(set(header)) < len(header):
        duplicate = next(name for name in header if header.count(name) > 1)
        raise InputError(f"{path} has two columns named {duplicate!r}. Rename one of them.")
    label = settings.get("label", options.label)
    features = settings.get("columns")
    if features is not None:
        if missing := [name for name in features if name not in header]:
            raise InputError(
                f"{path} has no column {missing[0]!r}, which the model was trained on; its columns "
                f"are {listed(header)}."
            )
        return Columns(header, features, label if label in header else None, options.groups)
    for name in (label, options.groups, *options.ignore):
        if name is not None and name not in header:
            raise InputError(f"{path} has no column {name!r}; its columns are {listed(header)}.")
    excluded = (options.groups, *options.ignore, *INDEX_NAMES)
    names = [name for name in header if name not in excluded]
    if label is None and settings:
        # the model was trained on an array, and classes are not needed
        features = [name for name in names if name.lower() not in LABELS]
        return Columns(header, features, None, options.groups)
    if label is None:
        label = _default_label(path, names)
    if label not in names:
        raise InputError(
            f"{path}: column {label!r} is the class, and cannot be left out or identify groups."
        )
    features = [name for name in names if name != label]
    if not features:
        raise InputError(f"{path} has no columns besides {label!r}.")
    return Columns(header, features, label, options.groups)


def _default_label(path: Path, names: list[str]) -> str:
    """Return the only column with a usual name for classes, or raise."""
    candidates = [name for name in names if name.lower() in LABELS]
    if len(candidates) != 1:
        raise InputError(
            f"{path}: it is not clear which column is the class. Pass ",
            Setting("label"),
            f", one of {listed(names)}.",
        )
    return candidates[0]


def _csv_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of every line that is not empty."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            file.seek(0)
            delimiter = max(DELIMITERS, key=first.count)
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            for fields in reader:
                if fields:
                    yield reader.line_num, fields
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as a CSV table: {error}") from None


def _number(path: Path, line: int, name: str, text: str) -> float:
    """Return the number in a field, or raise if it is not a finite number."""
    try:
        # Python reads 1_5 as 15, unlike other programs
        value = float(text) if "_" not in text else np.nan
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise InputError(
            f"{path}, line {line}: column {name!r} has {text[:SHOWN_CHARACTERS]!r}, which is not a "
            "number. Correct the line, leave the column out with ",
            Setting("ignore", [name]),
            ", or, if it identifies the group of a sample, pass ",
            Setting("groups", name),
            ".",
        )
    return value
