"""What a paper states, where the library has it, and a verdict from tests or stored results."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from invarlearn.experiments.base import SMALL_IS_GOOD, Experiment, Row

# Verdicts on printed numbers, in the order of the summary table.
EQUAL, WITHIN_NOISE, BETTER, WORSE, ABSENT = (
    "equal",
    "within noise",
    "better",
    "worse",
    "cannot be had",
)
# Verdicts on statements without numbers.
HOLDS, CORRECTED, FAILS = "holds", "holds as corrected", "does not hold"


@dataclass(frozen=True)
class Finding:
    """What stored results say of a statement.

    Attributes
    ----------
    ours : str
        Our numbers, with their uncertainty.
    verdict : str
    """

    ours: str
    verdict: str


@dataclass(frozen=True)
class Claim:
    """A theorem, lemma, algorithm, figure or statement of a paper.

    Parameters
    ----------
    place : str
        Where it is in the paper, such as "Theorem 2".
    statement : str
        What the paper states, in one sentence.
    code : str
        The public class or function, such as "invarlearn.features.theory.required_sizes".
    evidence : str
        Name of a test, or id of an experiment. Empty: the statement cannot be checked.
    judge : callable, optional
        ``judge(records)`` returns a :class:`Finding` from the stored full runs of the experiment
        ``evidence``, or None if runs that it needs are missing.
    verdict : str
        The verdict if there is no ``judge``: ``HOLDS`` if the test shows it, ``CORRECTED`` if the
        printed form is wrong (see the errata), ``FAILS`` if the test shows the contrary, or
        ``ABSENT``.
    remark : str
        What a reader needs to know, such as why something cannot be had.
    """

    place: str
    statement: str
    code: str
    evidence: str
    judge: Callable[[list[dict[str, Any]]], Finding | None] | None = None
    verdict: str = HOLDS
    remark: str = ""

    def __post_init__(self) -> None:
        has_test = self.evidence.startswith("test_")
        if (has_test or not self.evidence) != (self.judge is None):
            raise ValueError(
                f"claim {self.place!r}: pass judge with the id of an experiment as evidence, or "
                f"the name of a test without judge; evidence is {self.evidence!r}"
            )


@dataclass(frozen=True)
class Missing:
    """Printed numbers that cannot be had.

    Parameters
    ----------
    place : str
    n_numbers : int
    reason : str
    """

    place: str
    n_numbers: int
    reason: str


@dataclass(frozen=True)
class Paper:
    """A paper: its printed numbers, its other statements, and what cannot be had.

    Parameters
    ----------
    name : str
        Name of its page, such as "liu".
    short : str
        Such as "Liu et al. (2022)".
    authors, title : str
    tables : sequence of Experiment
        The experiments whose published numbers are the paper's. Each printed number is in one only.
    claims : sequence of Claim
    missing : sequence of Missing
    """

    name: str
    short: str
    authors: str
    title: str
    tables: Sequence[Experiment]
    claims: Sequence[Claim]
    missing: Sequence[Missing] = ()


def n_decimals(experiment: Experiment, number: float) -> int:
    """Return the number of decimals of a printed number, such as 2 for 68.16 and 0 for 375."""
    if experiment.published_decimals is not None:
        return experiment.published_decimals
    return max(0, -int(Decimal(repr(number)).as_tuple().exponent))


def standard_error(experiment: Experiment, row: Row) -> float | None:
    """Return the standard error of the difference of two means; None without a spread.

    Draws of the paper are taken to vary as much as ours if it does not print how much they do.

    Parameters
    ----------
    experiment : Experiment
    row : dict
        A row of :func:`~invarlearn.experiments.report.summarise`.
    """
    if not row["sd"]:
        return None
    cell = tuple(row[axis] for axis in experiment.varies)
    published_sd = experiment.published_sd.get(cell, row["sd"])
    return math.sqrt(row["sd"] ** 2 / row["draws"] + published_sd**2 / experiment.published_draws)


def verdict_of(experiment: Experiment, row: Row) -> str:
    """Return the verdict on a printed number.

    It is "equal" if our mean rounds to it, "within noise" if the difference is at most two
    standard errors, and otherwise "better" or "worse".
    """
    published, difference = row["paper"], row["difference"]
    if round(row["mean"], n_decimals(experiment, published)) == published:
        return EQUAL
    error = standard_error(experiment, row)
    if error is not None and abs(difference) <= 2 * error:
        return WITHIN_NOISE
    return BETTER if (difference < 0) == (experiment.metric in SMALL_IS_GOOD) else WORSE
