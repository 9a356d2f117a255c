"""Run a benchmark and store what it prints: ``python benchmarks/keep.py run.py kernels``.

The documentation quotes the stored output. Run it on an idle machine.
"""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
KEPT = FOLDER / "kept"


def kept_path(words):
    """Return the file with the output of a command, without ``python benchmarks/``."""
    return KEPT / ("-".join(words) + ".txt")


def main():
    words = sys.argv[1:]
    if not words or not (FOLDER / words[0]).exists():
        sys.exit("name a program of benchmarks/, such as run.py kernels")
    command = [sys.executable, str(FOLDER / words[0]), *words[1:]]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    KEPT.mkdir(exist_ok=True)
    kept_path(words).write_text(output)
    print(output)


if __name__ == "__main__":
    main()
