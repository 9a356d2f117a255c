"""The page of a paper: every statement and printed number, with a verdict, in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from invarlearn.experiments.base import Experiment, Row
from invarlearn.experiments.claims import (
    ABSENT,
    BETTER,
    EQUAL,
    WITHIN_NOISE,
    WORSE,
    Claim,
    Paper,
    n_decimals,
    standard_error,
    verdict_of,
)
from invarlearn.experiments.report import summarise

# Returns the stored full runs of an experiment.
StoredRuns = Callable[[Experiment], list[dict[str, Any]]]

NUMBER_VERDICTS = (EQUAL, WITHIN_NOISE, BETTER, WORSE, ABSENT)
# The verdict on what has no stored runs yet.
NOT_RUN = "not run yet"


def paper_page(
    paper: Paper, experiments: dict[str, Experiment], records: StoredRuns, command: str
) -> str:
    """Return the page of a paper.

    Parameters
    ----------
    paper : Paper
    experiments : dict
        All experiments by id.
    records : callable
    command : str
        The command that writes the page.
    """
    counts = count_numbers(paper, records)
    n_numbers = sum(counts.values())
    parts = [f"{n} {verdict}" for verdict, n in counts.items() if n]
    lines = [
        f"# {paper.short}",
        "",
        f"{paper.authors}: *{paper.title}*.",
        "",
        f"Written by `{command}` from the stored results. A verdict on a number is *equal* if our "
        "mean rounds to the printed number, *within noise* if they differ by at most two standard "
        "errors, and *better* or *worse* otherwise. The standard error is that of the difference "
        "of two means; the draws of the paper are taken to vary as much as ours if it does not "
        "print how much they do. Cells and statements whose runs are not finished have no verdict.",
        "",
        "## Printed numbers",
        "",
        f"{n_numbers} printed numbers: {', '.join(parts)}."
        if n_numbers
        else "The paper has no printed results.",
        "",
    ]
    for experiment in paper.tables:
        lines += _number_table(experiment, summarise(experiment, "full", records(experiment)))
    if paper.missing:
        lines += ["Numbers that cannot be had:", "", "| place | numbers | reason |"]
        lines += ["| --- | --- | --- |"]
        lines += [f"| {m.place} | {m.n_numbers} | {m.reason} |" for m in paper.missing] + [""]
    lines += ["## Statements", "", "| place | statement | code | evidence | ours | verdict |"]
    lines += ["| --- | --- | --- | --- | --- | --- |"]
    lines += [_claim_row(claim, experiments, records) for claim in paper.claims]
    return "\n".join([*lines, ""])


def count_numbers(paper: Paper, records: StoredRuns) -> Counter[str]:
    """Count the verdicts on the printed numbers of a paper, with those that are not run yet."""
    counts: Counter[str] = Counter({verdict: 0 for verdict in NUMBER_VERDICTS})
    for experiment in paper.tables:
        rows = _compared(experiment, summarise(experiment, "full", records(experiment)))
        counts.update(verdict_of(experiment, row) for row in rows)
        counts[NOT_RUN] += len(experiment.published) - len(rows)
    counts[ABSENT] += sum(missing.n_numbers for missing in paper.missing)
    return counts


def summary_table(papers: Iterable[Paper], records: StoredRuns) -> str:
    """Return a table with the number of verdicts of each paper."""
    all_counts = {paper.short: count_numbers(paper, records) for paper in papers}
    verdicts = [*NUMBER_VERDICTS]
    if any(counts[NOT_RUN] for counts in all_counts.values()):
        verdicts.append(NOT_RUN)
    all_counts["all"] = sum(all_counts.values(), Counter())
    lines = [
        f"| paper | printed numbers | {' | '.join(verdicts)} |",
        "| --- |" + " --- |" * (1 + len(verdicts)),
    ]
    for name, counts in all_counts.items():
        values = [sum(counts.values()), *(counts[verdict] for verdict in verdicts)]
        lines.append(f"| {name} | {' | '.join(map(str, values))} |")
    return "\n".join([*lines, ""])


def verdict_lines(
    paper: Paper, experiments: dict[str, Experiment], records: StoredRuns
) -> Iterator[str]:
    """Yield the verdict on each statement that stored results decide, for a terminal."""
    for claim in paper.claims:
        stored = records(experiments[claim.evidence]) if claim.judge is not None else []
        finding = claim.judge(stored) if claim.judge is not None and stored else None
        if finding is not None:
            n_runs = len(experiments[claim.evidence].runs("full"))
            yield f"{claim.place} ({claim.evidence}, {len(stored)} of {n_runs} runs): " + (
                f"{claim.statement}\n  {finding.verdict}: {finding.ours}"
            )


def _compared(experiment: Experiment, rows: Sequence[Row]) -> list[Row]:
    """Return the rows that have a printed number and all their draws."""
    n_draws = experiment.seeds["full"]
    return [row for row in rows if row["paper"] is not None and row["draws"] == n_draws]


def _number_table(experiment: Experiment, rows: Sequence[Row]) -> list[str]:
    """Return the lines of the table of an experiment: its printed numbers beside ours."""
    axes = list(experiment.varies)
    lines = [f"{experiment.paper} (`invarlearn reproduce {experiment.id} --full`):", ""]
    compared = _compared(experiment, rows)
    n_missing = len(experiment.published) - len(compared)
    if not compared:
        return [*lines, f"{n_missing} numbers: {NOT_RUN}.", ""]
    has_errors = any(row["sd"] for row in compared)
    header = [*axes, "paper", "ours", "draws", "difference"]
    header += ["standard error", "verdict"] if has_errors else ["verdict"]
    lines += [f"| {' | '.join(header)} |", "| " + " | ".join("---" for _ in header) + " |"]
    for row in compared:
        digits = n_decimals(experiment, row["paper"])
        error = standard_error(experiment, row)
        spread = "" if not row["sd"] else f" ± {row['sd']:.{digits}f}"
        texts = [
            *(str(row[axis]) for axis in axes),
            f"{row['paper']:.{digits}f}",
            f"{row['mean']:.{digits}f}{spread}",
            str(row["draws"]),
            f"{row['difference']:+.{digits}f}",
            *(["" if error is None else f"{error:.{digits}f}"] if has_errors else []),
            verdict_of(experiment, row),
        ]
        lines.append(f"| {' | '.join(texts)} |")
    if n_missing:
        lines += ["", f"{n_missing} further numbers: {NOT_RUN}."]
    return [*lines, ""]


def _claim_row(claim: Claim, experiments: dict[str, Experiment], records: StoredRuns) -> str:
    """Return the row of a statement."""
    ours, verdict = claim.remark, claim.verdict
    evidence = f"`{claim.evidence}`" if claim.evidence else ""
    if claim.judge is not None:
        experiment = experiments[claim.evidence]
        stored, n_runs = records(experiment), len(experiment.runs("full"))
        finding = claim.judge(stored) if len(stored) == n_runs else None
        verdict = NOT_RUN if not stored else f"{len(stored)} of {n_runs} runs"
        if finding is not None:
            ours = " ".join(filter(None, [finding.ours, claim.remark]))
            verdict = finding.verdict
        evidence = f"`invarlearn reproduce {claim.evidence} --full`"
    code = f"`{claim.code}`" if claim.code else ""
    texts = [claim.place, claim.statement, code, evidence, ours, verdict]
    # a bar would end the cell of the table
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"
