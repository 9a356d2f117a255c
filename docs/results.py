"""Write the pages of results, or check them: ``python docs/results.py [--check]``.

The pages are made from the stored results: a page for each experiment (``results/ID/full.md``), a
page for each paper (``papers/``), and the table of verdicts in ``papers.md``. The check fails if

- an experiment lacks stored full runs of its present revision, and is not in ``unfinished.txt``,
- an experiment in ``unfinished.txt`` is finished or does not exist,
- stored runs belong to no experiment, or to an earlier revision,
- a page, table or figure of an experiment without stored runs exists,
- a written page differs from what the stored results give,
- a number in README.md or in a page of the documentation is not printed by a command that the same
  section names.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numbers_of_pages

from invarlearn.experiments import EXPERIMENTS, PAPERS, Experiment, kept_results, summarise
from invarlearn.experiments.paper_page import paper_page, summary_table
from invarlearn.experiments.report import markdown
from invarlearn.experiments.store import without_version

DOCS = Path(__file__).parent
RESULTS = DOCS / "results"
COMMAND = "python docs/results.py"


def records(experiment: Experiment) -> list[dict]:
    """Return the stored full runs of an experiment."""
    return kept_results(experiment, "full", RESULTS)


def unfinished() -> set[str]:
    """Return the ids of the experiments whose full runs are known to be unfinished."""
    lines = (DOCS / "unfinished.txt").read_text().splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


def state() -> Iterator[str]:
    """Yield what is wrong with the stored results."""
    listed = unfinished()
    for name in sorted(listed - set(EXPERIMENTS)):
        yield f"docs/unfinished.txt: there is no experiment {name}"
    for name, experiment in EXPERIMENTS.items():
        n_missing = len(experiment.runs("full")) - len(records(experiment))
        if n_missing and name not in listed:
            yield f"{name}: {n_missing} full runs are missing: invarlearn reproduce {name} --full"
        if not n_missing and name in listed:
            yield f"{name}: all runs are finished: remove it from docs/unfinished.txt"
    for path in sorted(RESULTS.glob("*/results.jsonl")):
        yield from foreign_runs(path)
    for folder in sorted(RESULTS.iterdir()):
        experiment = EXPERIMENTS.get(folder.name)
        if experiment is None or not records(experiment):
            yield f"docs/results/{folder.name}: no runs of a present declaration: delete the folder"


def foreign_runs(path: Path) -> Iterator[str]:
    """Yield a message if a file has runs that the declaration of its experiment does not have."""
    name = path.parent.name
    if name not in EXPERIMENTS:
        yield f"docs/results/{name}: there is no experiment of this name"
        return
    experiment = EXPERIMENTS[name]
    declared = {experiment.key(run) for run in experiment.runs("full")}
    lines = path.read_text().splitlines()
    stored = [without_version(json.loads(line)["key"]) for line in lines]
    n_foreign = len(set(stored) - declared)
    if n_foreign:
        yield f"docs/results/{name}: {n_foreign} runs are not declared, or of another revision"
    if len(stored) > len(set(stored)):
        yield f"docs/results/{name}: runs are stored twice"


def pages() -> dict[Path, str]:
    """Return the pages that are made from the stored results."""
    texts = {}
    for name, experiment in EXPERIMENTS.items():
        rows = summarise(experiment, "full", records(experiment))
        if rows:
            texts[RESULTS / name / "full.md"] = markdown(experiment, "full", rows)
    for paper in PAPERS:
        texts[DOCS / "papers" / f"{paper.name}.md"] = paper_page(
            paper, EXPERIMENTS, records, COMMAND
        )
    begin, end = "<!-- begin: verdicts, written by docs/results.py -->\n", "<!-- end: verdicts -->"
    before, _, rest = (DOCS / "papers.md").read_text().partition(begin)
    _, _, after = rest.partition(end)
    texts[DOCS / "papers.md"] = before + begin + summary_table(PAPERS, records) + end + after
    return texts


def check() -> list[str]:
    """Return all that is wrong."""
    problems = list(state())
    for path, text in pages().items():
        if not path.exists() or path.read_text() != text:
            problems.append(f"{path.relative_to(DOCS.parent)} is not current: {COMMAND}")
    return problems + list(numbers_of_pages.check())


def write() -> None:
    """Write all pages."""
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    if "--check" in sys.argv:
        found = check()
        print("\n".join(found) or "All stored results, pages and numbers agree.")
        for name in sorted(unfinished()):
            experiment = EXPERIMENTS[name]
            n_done, n_runs = len(records(experiment)), len(experiment.runs("full"))
            print(f"unfinished: {name}, {n_done} of {n_runs} runs")
        own = [e for e in EXPERIMENTS.values() if not e.stored_as]
        hours = sum(record["seconds"] for e in own for record in records(e)) / 3600
        print(f"The stored runs took {hours:.0f} hours on one core.")
        sys.exit(bool(found))
    write()
