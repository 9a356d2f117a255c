"""Rows of numbers, and NPZ files with arrays X, y and groups."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from invarlearn.app.messages import InputError, Message, Setting, first_line
from invarlearn.app.readers.base import ReaderLimits, ReadOptions, Source
from invarlearn.transforms.domains import DOMAINS

# Messages show at most this many names: the first names and the last three.
MAX_NAMES = 12


class RowSource(Source):
    """Rows of numbers in memory.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    labels : array of shape (n_samples,), or None
    names : sequence of str
    shape : tuple or None
        Shape of a row.
    settings : dict
        Further ``settings`` of the source.
    groups : array of shape (n_samples,), optional
    limits : ReaderLimits, optional
    notes : list of Message, optional
    """

    kind = "rows"
    domains = DOMAINS

    def __init__(
        self,
        X: NDArray,
        labels: NDArray | None,
        names: Sequence[str],
        shape: tuple[int, ...] | None,
        settings: dict[str, Any],
        groups: NDArray | None = None,
        limits: ReaderLimits | None = None,
        notes: list[Message] | None = None,
    ):
        if shape is not None and int(np.prod(shape)) != X.shape[1]:
            raise InputError(
                Setting("shape", shape), f" does not fit rows of {X.shape[1]} features."
            )
        self._X, self.labels, self.names, self.groups = X, labels, names, groups
        self.shape = shape
        self.settings = {
            "kind": self.kind,
            "shape": None if shape is None else list(shape),
            "n_features": self.n_features,
            **settings,
        }
        self.limits = limits or ReaderLimits()
        self.notes = notes or []

    @property
    def n_features(self) -> int:
        """Number of features of a row."""
        return int(self._X.shape[1])

    def read(self, rows: slice) -> NDArray:
        """Return a slice of the rows, of shape (n, n_features)."""
        return self._X[rows]


def open_npz(path: Path, options: ReadOptions, settings: dict[str, Any]) -> RowSource:
    """Read the array X of an NPZ file, and the arrays y and groups if the file has them.

    X has the shape (n_samples, n_features), (n_samples, height, width) or (n_samples, height,
    width, channels). Arrays of type uint8 are divided by 255.
    """
    groups = options.groups
    wanted = ["X", "y"] if settings else ["X", "y", groups or "groups"]
    arrays, names = _read_arrays(path, wanted)
    if "X" not in arrays:
        raise InputError(
            f"{path} has no array X; its arrays are {listed(names) or 'none'}. Save it with "
            "np.savez(path, X=rows, y=classes)."
        )
    X, shape, values = _check_rows(path, arrays["X"], settings)
    y = arrays.get("y")
    if y is not None:
        y = _check_labels(path, y, len(X))
    if groups is not None and groups not in arrays:
        raise InputError(f"{path} has no array {groups!r}; its arrays are {listed(names)}.")
    group_labels = None if settings else arrays.get(groups or "groups")
    array_settings = {"columns": None, "values": values}
    shape = row_shape(options, settings) or shape
    return RowSource(X, y, row_numbers(len(X)), shape, array_settings, group_labels, options.limits)


def _read_arrays(path: Path, wanted: list[str]) -> tuple[dict[str, NDArray], list[str]]:
    """Return those of the wanted arrays that an NPZ file has, and the names of all its arrays."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: _array(path, file, name) for name in wanted if name in file.files}
            return arrays, file.files
    except InputError:
        raise
    except Exception as error:  # a damaged archive can fail anywhere in the reader
        raise InputError(f"{path} cannot be read as an NPZ file: {first_line(error)}") from None


def _array(path: Path, file: Any, name: str) -> NDArray:
    """Return an array of an NPZ file; raise if it contains Python objects."""
    try:
        return file[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise InputError(
            f"{path}: {name} contains Python objects, which are not read because that can run any "
            f"code. Save {name}.astype(str) or {name}.astype(float)."
        ) from None


def _check_rows(
    path: Path, X: NDArray, settings: dict[str, Any]
) -> tuple[NDArray, tuple[int, ...] | None, str]:
    """Return X as rows of floats, the shape of a row, and the type of X: "bytes" or "numbers"."""
    if X.ndim < 2 or 0 in X.shape or X.dtype.kind not in "buif":
        raise InputError(
            f"{path}: X has shape {X.shape} and type {X.dtype}. It must be an array of numbers of "
            "shape (n, features), (n, height, width) or (n, height, width, channels)."
        )
    if X.ndim > 4:
        raise InputError(f"{path}: X has {X.ndim} axes, but at most four are supported.")
    shape = tuple(map(int, X.shape[1:])) if X.ndim > 2 else None
    values = "bytes" if X.dtype == np.uint8 else "numbers"
    if settings.get("values", values) != values:
        raise InputError(
            f"{path}: X is of type {X.dtype}, but the model was trained on {settings['values']}. "
            "Bytes are read as brightness from 0 to 255, other numbers as they are. Save both as "
            "the same type."
        )
    X = X.reshape(len(X), -1)
    X = X / np.float32(255) if values == "bytes" else X
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    invalid = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if len(invalid):
        raise InputError(
            f"{path}: row {invalid[0]} of X has values that are not finite. Correct or remove it."
        )
    return X, shape, values


def _check_labels(path: Path, y: NDArray, n_rows: int) -> NDArray:
    """Return y as labels of the rows, with bytes converted to text."""
    if y.shape != (n_rows,) or y.dtype.kind not in "buifUS":
        raise InputError(
            f"{path}: y has shape {y.shape} and type {y.dtype}. It must have one class for each "
            f"of the {n_rows} rows."
        )
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise InputError(f"{path}: y has values that are not finite. Correct or remove these rows.")
    return y.astype(str) if y.dtype.kind == "S" else y


def row_shape(options: ReadOptions, settings: dict[str, Any]) -> tuple[int, ...] | None:
    """Return the shape of a row in ``settings`` of another source, or else in the options."""
    if settings.get("shape"):
        return tuple(map(int, settings["shape"]))
    return options.shape


def row_numbers(n: int) -> list[str]:
    """Return the names of rows: "1", "2", ..., "n"."""
    return [str(i) for i in range(1, n + 1)]


def listed(names: Sequence[str]) -> str:
    """Return names as text; of more than ``MAX_NAMES``, the first names and the last three.

    The last columns of a table are shown since they often have the class.
    """
    texts = list(map(repr, names))
    if len(texts) > MAX_NAMES:
        texts[MAX_NAMES - 3 : -3] = [f"{len(texts) - MAX_NAMES} more"]
    return ", ".join(texts)
