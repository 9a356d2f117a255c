"""Write the golden record again: ``python tests/golden/record.py [area or case ...]``.

Prints which values change, and by how much. A commit that changes the record says why.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from golden.declare import AREAS, Case, declared_cases, differences, distance
from golden.storage import computed, recorded, write


def change(case: Case, name: str, old: Any, new: Any) -> str:
    """Return a line about a value that differs from the record, or an empty string."""
    if old is None:
        return f"new: {name}"
    if old == new:
        return ""
    difference = differences(old, new, case.tolerance)
    if difference:
        return f"CHANGED {name}: {difference}"
    by = f" by {distance(old, new):.1e}" if "values" in old else ""
    return f"within tolerance: {name}{by}"


def main(names: list[str]) -> int:
    """Record all cases, or those of which an area or a name is given."""
    cases = declared_cases()
    unknown = set(names) - set(AREAS) - {case.name for case in cases}
    if unknown:
        print(f"no area or case is called {', '.join(sorted(unknown))}; areas: {', '.join(AREAS)}")
        return 2
    if not names or "command_line" in names:
        from golden.command_line import record_models

        record_models()
    for area in AREAS:
        old, new = recorded(area), {}
        for case in (one for one in cases if one.area == area):
            if names and not {area, case.name} & set(names):
                if case.name in old:
                    new[case.name] = old[case.name]
                continue
            new[case.name] = computed(case)
            before = old.get(case.name, {})
            lines = [change(case, n, before.get(n), v) for n, v in new[case.name].items()]
            lines += [f"gone: {name}" for name in before if name not in new[case.name]]
            if any(lines):
                print(f"{area}: {case.name}")
            for line in filter(None, lines):
                print(f"    {line}")
        for name in old:
            if name not in new:
                print(f"{area}: {name} is gone")
        if new != old:
            write(area, new)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
