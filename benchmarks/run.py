"""Print the ratio tables: ``make bench``. Arguments choose modules, such as ``imports``."""

import importlib
import sys
from pathlib import Path

MODULES = [
    "imports",
    "transforms",
    "kernels",
    "features",
    "functionals",
    "estimators",
    "invariant",
    "worst_case",
    "libraries",
]


def main():
    from invarlearn.app.cli._terminal import show_table

    sys.path.insert(0, str(Path(__file__).parent))
    chosen = sys.argv[1:] or MODULES
    for name in chosen:
        if name not in MODULES:
            sys.exit(f"benchmark {name!r} is unknown: choose from {', '.join(MODULES)}")
        rows = []
        for ratio in importlib.import_module(name).benchmarks():
            rows.append(ratio.row())
            print(f"{ratio.what}: {rows[-1]['ours']}", file=sys.stderr, flush=True)
        show_table(rows, name, numbers=("ours",))


if __name__ == "__main__":
    main()
