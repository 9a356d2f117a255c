"""Results on disk: one JSON line each, appended and synced as they come."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from invarlearn import __version__


class Store:
    """A file of results that survives a kill at any moment.

    A result is one line, written whole and synced before the next run starts. If a kill cuts a
    line short, it is dropped when the file is opened again, and that run is done anew.
    """

    def __init__(self, path: Path):
        self.path = path

    def read(self) -> dict[str, dict[str, Any]]:
        """Give the results by the key of their run."""
        if not self.path.exists():
            return {}
        # what follows the last newline was cut short by a kill
        lines = self.path.read_bytes().split(b"\n")[:-1]
        found = {}
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
                found[record["key"]] = record
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(
                    f"{self.path}, line {number}, is not a result ({error!r}): delete that line, "
                    "or the file to start anew"
                ) from error
        return found

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the file against other writers, and drop a line cut short."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab+") as self._file:
            _lock(self._file, self.path)
            self._file.seek(0)
            content = self._file.read()
            whole = content.rfind(b"\n") + 1
            if whole < len(content):
                self._file.truncate(whole)
            _sync_folder(self.path.parent)
            yield

    def append(
        self, key: str, run: dict[str, Any], result: dict[str, float], seconds: float
    ) -> None:
        """Write one result and wait until it is on disk."""
        record = {"key": key, "run": run, "result": result, "seconds": round(seconds, 3)}
        self._file.write(json.dumps(record, sort_keys=True).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def key_of(run: dict[str, Any], revision: int = 1) -> str:
    """Name a run: same arguments, revision of the experiment and version of the library."""
    return json.dumps({"run": run, "revision": revision, "version": __version__}, sort_keys=True)


def _lock(file: Any, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # no such locks on Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise RuntimeError(f"another run is writing {path}: wait for it, or use --out") from error


def _sync_folder(folder: Path) -> None:
    """Make sure that a new file is found after a power cut."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
