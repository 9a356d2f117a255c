"""NPZ files with X and y, and tables: CSV and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from invarlearn.readers.base import ReadError, Source

# Columns that are taken for the class if nothing is said.
LABELS = ("label", "class", "target", "y")
# What pandas calls the numbers of rows when it writes them.
NAMELESS = ("", "__index_level_0__")


class Rows(Source):
    """Rows that are numbers already."""

    kind = "rows"

    def __init__(
        self,
        X: NDArray,
        labels: NDArray | None,
        names: Sequence[str],
        shape: tuple[int, ...] | None,
        settings: dict[str, Any],
        groups: NDArray | None = None,
    ):
        if shape is not None and int(np.prod(shape)) != X.shape[1]:
            raise ReadError(
                f"rows of {X.shape[1]} numbers cannot have the shape {'x'.join(map(str, shape))}"
            )
        self._X, self.labels, self.names, self.groups = X, labels, names, groups
        self.shape = shape
        self.settings = {"kind": self.kind, "shape": None if shape is None else list(shape)}
        self.settings |= settings

    @property
    def n_features(self) -> int:
        """Numbers in a row."""
        return int(self._X.shape[1])

    def read(self, rows: slice) -> NDArray:
        """Give some of the rows."""
        return self._X[rows]


def read_npz(
    path: Path,
    shape: tuple[int, ...] | None,
    like: dict[str, Any] | None = None,
    groups: str | None = None,
) -> Rows:
    """Read X, (n, d) or (n, height, width[, channels]), and y and groups if they are there."""
    wanted = ["X", "y"] if like else ["X", "y", groups or "groups"]
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: _array(path, file, name) for name in wanted if name in file.files}
            names = file.files
    except ReadError:
        raise
    except Exception as error:  # a damaged archive can fail anywhere in the reader
        raise ReadError(f"{path} is no NPZ file that can be read: {_first_line(error)}") from None
    if "X" not in found:
        raise ReadError(
            f"{path} has no array X, only {_some(names) or 'nothing'}: save with "
            "np.savez(path, X=rows, y=classes)"
        )
    X = found["X"]
    if X.ndim < 2 or 0 in X.shape or X.dtype.kind not in "buif":
        raise ReadError(
            f"{path}: X has shape {X.shape} and type {X.dtype}; it must be numbers, "
            "(n, features) or (n, height, width) or (n, height, width, channels)"
        )
    if X.ndim > 4:
        raise ReadError(f"{path}: X has {X.ndim} axes; at most four are understood")
    own = tuple(map(int, X.shape[1:])) if X.ndim > 2 else None
    kind = "bytes" if X.dtype == np.uint8 else "numbers"
    if like is not None and like.get("values", kind) != kind:
        raise ReadError(
            f"{path}: X is of type {X.dtype}, and the model was trained with {like['values']}: "
            "bytes are taken for brightness from 0 to 255, numbers as they are; save both alike"
        )
    X = X.reshape(len(X), -1)
    X = X / np.float32(255) if kind == "bytes" else X
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if len(bad):
        raise ReadError(f"{path}: row {bad[0]} of X has values that are not numbers: mend it")
    y = found.get("y")
    if y is not None and (y.shape != (len(X),) or y.dtype.kind not in "buifUS"):
        raise ReadError(
            f"{path}: y has shape {y.shape} and type {y.dtype}; it must be one class for each of "
            f"{len(X)} rows"
        )
    if y is not None and y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ReadError(f"{path}: y has values that are not numbers: mend or remove these rows")
    if y is not None and y.dtype.kind == "S":
        y = y.astype(str)
    if groups is not None and groups not in found:
        raise ReadError(f"{path} has no array {groups!r}; there are {_some(names)}")
    settings = {"columns": None, "values": kind}
    members = None if like else found.get(groups or "groups")
    return Rows(X, y, _numbers(len(X)), shape or own, settings, members)


def _array(path: Path, file: Any, name: str) -> NDArray:
    try:
        return file[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise ReadError(
            f"{path}: {name} has objects of Python in it, which are not read, since that can run "
            f"any code: save {name}.astype(str), or .astype(float)"
        ) from None


def read_csv(
    path: Path,
    label: str | None,
    columns: list[str] | None,
    shape: tuple[int, ...] | None,
    needed: bool = True,
    groups: str | None = None,
    ignore: Sequence[str] = (),
) -> Rows:
    """Read a table whose first line names the columns."""
    lines = _csv_lines(path)
    header = next(lines, (0, []))[1]
    wanted, label = _columns(path, header, label, columns, needed, groups, ignore)
    index = [header.index(name) for name in wanted]
    texts: dict[str, list[str]] = {name: [] for name in (label, groups) if name is not None}
    rows = []
    for number, fields in lines:
        if len(fields) != len(header):
            raise ReadError(
                f"{path}, line {number}: {len(fields)} fields where {len(header)} columns are "
                "named; is a value quoted that should not be, or the other way round?"
            )
        # an array each: lists of floats take four times as much
        rows.append(np.array(_floats(path, number, fields, index, header)))
        for name, values in texts.items():
            values.append(fields[header.index(name)].strip())
            if not values[-1]:
                raise ReadError(f"{path}, line {number}: no {name!r}; fill it in, or remove it")
    if not rows:
        raise ReadError(f"{path} has no rows under its header")
    return _table(np.stack(rows), texts, shape, header, wanted, label, groups)


def read_parquet(
    path: Path,
    label: str | None,
    columns: list[str] | None,
    shape: tuple[int, ...] | None,
    needed: bool = True,
    groups: str | None = None,
    ignore: Sequence[str] = (),
) -> Rows:
    """Read a table in Parquet's format."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise ReadError(
            f"{path}: reading Parquet needs pyarrow: pip install 'invarlearn[parquet]'"
        ) from None
    try:
        table = pyarrow.parquet.ParquetFile(path).read()
        # text that is no UTF-8 would fail later, where it is looked at
        table.validate(full=True)
        header = table.column_names
        wanted, label = _columns(path, header, label, columns, needed, groups, ignore)
        numbers = [table.column(name).to_numpy() for name in wanted]
        named = [name for name in (label, groups) if name is not None]
        texts = {name: table.column(name).to_pylist() for name in named}
    except ReadError:
        raise
    except Exception as error:  # a damaged file can fail anywhere in the reader
        raise ReadError(
            f"{path} is no Parquet file that can be read: {_first_line(error)}"
        ) from None
    if not len(table):
        raise ReadError(f"{path} has no rows")
    parts = []
    for name, values in zip(wanted, numbers, strict=True):
        if values.dtype.kind not in "buif":
            raise ReadError(
                f"{path}: column {name!r} has other things than numbers; code them, or pass "
                f"--ignore {name!r}"
            )
        parts.append(values.astype(np.float64))
        bad = np.flatnonzero(~np.isfinite(parts[-1]))
        if len(bad):
            raise ReadError(f"{path}, row {bad[0] + 1}: column {name!r} has no number: fill it in")
    for name, values in texts.items():
        if missing := sum(value is None or value != value for value in values):
            raise ReadError(f"{path}: {missing} rows have no {name!r}: fill it in")
    return _table(np.stack(parts, axis=1), texts, shape, header, wanted, label, groups)


def _table(
    X: NDArray,
    texts: dict[str, list[Any]],
    shape: tuple[int, ...] | None,
    header: list[str],
    wanted: list[str],
    label: str | None,
    groups: str | None,
) -> Rows:
    """Put together what was read of a table, and say which columns are learned from."""
    y, members = (
        None if name is None else np.array([str(value) for value in texts[name]])
        for name in (label, groups)
    )
    found = Rows(X, y, _numbers(len(X)), shape, {"columns": wanted, "label": label}, groups=members)
    found.note = f"columns: {_some(wanted)}"
    if left := [name for name in header if name in NAMELESS]:
        found.note += f"; {_some(left)}, numbers of rows as it seems, is left out"
    steps = np.diff(X, axis=0)
    for at, name in enumerate(wanted):
        if len(X) > 2 and (steps[:, at] == 1).all():
            found.note += f"; {name!r} counts the rows: leave it out, by --ignore {name!r}"
    return found


def _columns(
    path: Path,
    header: list[str],
    label: str | None,
    columns: list[str] | None,
    needed: bool,
    groups: str | None,
    ignore: Sequence[str],
) -> tuple[list[str], str | None]:
    """Give the names of the numbers' columns, and of the label's."""
    if not header:
        raise ReadError(f"{path} is empty: its first line must name the columns")
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise ReadError(f"{path} has two columns called {twice!r}: rename one")
    if columns is not None:
        missing = [name for name in columns if name not in header]
        if missing:
            raise ReadError(
                f"{path} has no column {missing[0]!r}, which the model was trained with; it has "
                f"{_some(header)}"
            )
        return columns, label if label in header else None
    for name in (label, groups, *ignore):
        if name is not None and name not in header:
            raise ReadError(f"{path} has no column {name!r}; there are {_some(header)}")
    header = [name for name in header if name not in (groups, *ignore, *NAMELESS)]
    if label is None and not needed:
        return [name for name in header if name.lower() not in LABELS], None
    if label is None:
        known = [name for name in header if name.lower() in LABELS]
        if len(known) != 1:
            raise ReadError(
                f"{path}: which column is the class? Say --label NAME; there are {_some(header)}"
            )
        label = known[0]
    if label not in header:
        raise ReadError(f"{path}: {label!r} is the class, and cannot be left out or the group")
    wanted = [name for name in header if name != label]
    if not wanted:
        raise ReadError(f"{path} has no columns but {label!r}")
    return wanted, label


def _csv_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Give the fields of every line, and its number."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            file.seek(0)
            # whatever the first line has most of lies between fields
            between = max((",", ";", "\t"), key=first.count)
            reader = csv.reader(file, delimiter=between, strict=True)
            for fields in reader:
                if fields:
                    yield reader.line_num, fields
    except (csv.Error, UnicodeDecodeError) as error:
        raise ReadError(f"{path} is no table in CSV that can be read: {error}") from None


def _floats(
    path: Path, number: int, fields: list[str], index: list[int], header: list[str]
) -> list[float]:
    values = []
    for at in index:
        try:
            value = float(fields[at]) if "_" not in fields[at] else np.nan
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise ReadError(
                f"{path}, line {number}: column {header[at]!r} has {fields[at][:40]!r}, which is "
                f"no number; mend the line, or leave the column out, by --ignore {header[at]!r}, "
                "or by --groups if it says whom a sample is of"
            )
        values.append(value)
    return values


def _numbers(n: int) -> list[str]:
    return [str(i) for i in range(1, n + 1)]


def _some(names: Sequence[str], most: int = 12) -> str:
    """Give names, of many the first and the last ones: classes stand at the end as often."""
    told = list(map(repr, names))
    if len(told) > most:
        told[most - 3 : -3] = [f"{len(told) - most} more"]
    return ", ".join(told)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
