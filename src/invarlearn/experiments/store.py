"""Results on disk: a file with one line of JSON for each run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout


class ResultStore:
    """A file of results that stays valid if the process is killed at any time.

    A result is one line, which is written and synced before the next result. A last line that was
    truncated by a kill is dropped when the file is opened again, and its run is repeated.

    Parameters
    ----------
    path : Path
        The file, which need not exist.
    """

    def __init__(self, path: Path):
        self.path = path

    def read(self) -> dict[str, dict[str, Any]]:
        """Return the results by the keys of their runs (see :func:`key_of`)."""
        if not self.path.exists():
            return {}
        # text after the last newline is a truncated line
        lines = self.path.read_bytes().split(b"\n")[:-1]
        records = {}
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
                records[without_version(record["key"])] = record
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(
                    f"line {number} of {self.path} is not a result ({error!r}): delete the line to "
                    "repeat its run, or the file to repeat all runs"
                ) from error
        return records

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the file against other writers, and drop a truncated last line.

        The lock is on a file beside this one, with the suffix ``.lock``.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock = FileLock(f"{self.path}.lock", timeout=0).acquire()
        except Timeout as error:
            raise RuntimeError(
                f"another process is writing {self.path}: wait for it, or write to another folder"
            ) from error
        with lock, open(self.path, "ab+") as self._file:
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
    """Return the key of a run, from its arguments and the revision of the experiment."""
    return json.dumps({"run": run, "revision": revision}, sort_keys=True)


def without_version(key: str) -> str:
    """Return the key of :func:`key_of` for a stored key, which may contain a version.

    Earlier checkouts stored the version of invarlearn in the key. It does not count.
    """
    parts = json.loads(key)
    return key_of(parts["run"], parts["revision"])


def _sync_folder(folder: Path) -> None:
    """Sync a folder, so that a new file in it survives a power cut."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
