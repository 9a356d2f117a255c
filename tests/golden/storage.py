"""The files of the record: one JSON file for each area."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from golden.declare import Case, stored

FOLDER = Path(__file__).resolve().parent
VALUES = FOLDER / "values"
MODELS = FOLDER / "models"
RECORD_COMMAND = "python tests/golden/record.py"


def computed(case: Case) -> dict[str, dict[str, Any]]:
    """Return the values of a case as they are stored, after a round trip through JSON."""
    values = {name: stored(value) for name, value in case.compute().items()}
    return json.loads(json.dumps(values))


@cache
def recorded(area: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the recorded values of an area: case -> value -> stored entries."""
    path = VALUES / f"{area}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def write(area: str, values: dict[str, dict[str, dict[str, Any]]]) -> None:
    """Write the values of an area, one line for each, so that differences can be read."""
    VALUES.mkdir(exist_ok=True)
    lines = []
    for case, entries in values.items():
        inner = ",\n".join(f"  {json.dumps(n)}: {json.dumps(v)}" for n, v in entries.items())
        lines.append(f" {json.dumps(case)}: {{\n{inner}\n }}")
    (VALUES / f"{area}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    recorded.cache_clear()
