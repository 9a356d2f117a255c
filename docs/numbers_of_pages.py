"""Check that numbers in README.md and docs are printed by the commands that their section names.

A section is the text below a heading. Its commands are the code spans such as ``python
docs/few_labels.py``, ``invarlearn reproduce 003-best --full`` and ``python benchmarks/run.py
kernels``; if it has any, those before the first section of the page count too.

The following must be
printed by one of the commands, rounded to the decimals of the page: every decimal number, with its
sign if it has one; every pair "mean ± sd"; every p-value, as "p = 0.02"; and every count such as "6
of 18". Sections without a command are not checked, nor are code, links and formulas. Benchmarks
print other numbers on another machine: their stored output in ``benchmarks/kept/`` counts (``python
benchmarks/keep.py run.py kernels``). A comment lists what no command prints, such as settings:
``<!-- not measured: 0.05 -->``.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = re.compile(
    r"`(python docs/(?!results|make_figures|class_tables)\w+\.py|python benchmarks/[\w.]+(?: \w+)?"
    r"|(?:invarlearn reproduce )?[\w-]+ --full)`"
)
NUMBER = r"[-+−]?\d+(?:,\d{3})*(?:\.\d+)?"
PAIR = re.compile(rf"({NUMBER}) ± ({NUMBER})")
DECIMAL = re.compile(r"(?<![\w.])[-+−]?\d+(?:,\d{3})*\.\d+(?![\w.]*\w)")
P_VALUE = re.compile(r"\bp = (\d[\d.e-]*\d)")
COUNT = re.compile(r"(?<![\d.,])(\d+(?:,\d{3})*) of (\d+(?:,\d{3})*)(?![\d.,]*\d)")
# Numbers that no command prints, such as settings.
EXCEPT = re.compile(r"<!-- not measured: ([^>]*) -->")
LEFT_OUT = re.compile(r"```.*?```|\$\$.*?\$\$|\$[^$\n]+\$|`[^`]*`|\]\([^)]*\)", re.DOTALL)


def pages() -> list[Path]:
    """Return the pages whose numbers are checked: those that people write."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield the heading and the text of each section."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    parts = re.split(r"^(#+ .*)$", text, flags=re.MULTILINE)
    for heading, body in zip(["", *parts[1::2]], parts[::2], strict=True):
        yield heading.strip("# "), body


@cache
def output(command: str) -> str:
    """Return what a command prints."""
    words = command.split()
    if words[0] == "python" and words[1].startswith("benchmarks/"):
        name = "-".join([Path(words[1]).name, *words[2:]])
        path = ROOT / "benchmarks" / "kept" / f"{name}.txt"
        return path.read_text() if path.exists() else ""
    if words[0] == "python":
        process = [sys.executable, str(ROOT / words[1]), *words[2:]]
        return subprocess.run(process, capture_output=True, text=True, check=True).stdout
    name = words[-2]
    folder = ROOT / "docs" / "results" / name
    return "\n".join(path.read_text() for path in sorted(folder.glob("full.*s*v"))) + "\n".join(
        path.read_text() for path in sorted(folder.glob("full.md"))
    )


def value(text: str) -> float:
    """Return a printed number."""
    return float(text.replace("−", "-").replace(",", ""))


def decimals(text: str) -> int:
    """Return the number of decimals of a printed number."""
    return len(text.partition(".")[2])


def agrees(page: str, printed: float) -> bool:
    """Return whether a number of a page is a printed number, rounded.

    A number without a sign may be the size of a negative one, whose sign is in the words.
    """
    number = value(page)
    if page[0] not in "+-−":
        printed = abs(printed)
    return abs(number - printed) <= 0.5 * 10 ** -decimals(page) + 1e-9


def commands_in(body: str) -> list[str]:
    """Return the commands that a section names."""
    return COMMAND.findall(" ".join(body.split()))


def wrong_numbers(body: str, introduction: str) -> list[str]:
    """Return the numbers of a section that no command prints, of the section or introduction."""
    commands = commands_in(body)
    if not commands:
        return []
    printed = "\n".join(map(output, [*commands, *commands_in(introduction)]))
    allowed = {n for group in EXCEPT.findall(body) for n in group.split()}
    text = LEFT_OUT.sub(" ", EXCEPT.sub(" ", body))
    wrong = []
    pairs = [(value(a), value(b)) for a, b in PAIR.findall(printed)]
    for a, b in PAIR.findall(text):
        if not any(agrees(a, x) and agrees(b, y) for x, y in pairs):
            wrong.append(f"{a} ± {b}")
    text = PAIR.sub(" ", text)
    p_values = [value(p) for p in P_VALUE.findall(printed)]
    wrong += [f"p = {p}" for p in P_VALUE.findall(text) if not any(agrees(p, x) for x in p_values)]
    text = P_VALUE.sub(" ", text)
    counts = set(COUNT.findall(printed))
    wrong += [f"{n} of {m}" for n, m in COUNT.findall(text) if (n, m) not in counts]
    numbers = [value(n) for n in re.findall(NUMBER, printed)]
    for number in DECIMAL.findall(text):
        if number not in allowed and not any(agrees(number, x) for x in numbers):
            wrong.append(number)
    return wrong


def check() -> Iterator[str]:
    """Yield a message for each section with wrong numbers."""
    for path in pages():
        parts = list(sections(path.read_text()))
        # the text below the title
        introduction = "".join(body for _, body in parts[:2])
        for heading, body in parts:
            wrong = wrong_numbers(body, introduction)
            if wrong:
                place = f"{path.relative_to(ROOT)}, {heading!r}"
                yield f"{place}: no command of this section prints {', '.join(wrong)}"


if __name__ == "__main__":
    problems = list(check())
    print("\n".join(problems))
    sys.exit(bool(problems))
