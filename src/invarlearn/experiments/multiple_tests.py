"""Verdicts that several tests decide: Holm's correction, one margin, and complete results only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from invarlearn._utils.statistics import PairedComparison
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.claims import FAILS, HOLDS, Claim, Finding
from invarlearn.experiments.judging import LEVEL, Judge, Records

# Percentage points up to which two accuracies or errors are similar. The papers state no margin.
MARGIN = 2.0


def adjusted_p_values(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values with Holm's correction for their number; NaN (no difference) counts as 1."""
    p = np.nan_to_num(np.asarray(p_values, dtype=float), nan=1.0)
    order = np.argsort(p)
    adjusted = np.empty(len(p))
    steps = p[order] * np.arange(len(p), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def are_below(tests: Iterable[PairedComparison]) -> list[bool]:
    """Return whether the first method is significantly lower, in each of several comparisons."""
    tests = list(tests)
    adjusted = adjusted_p_values([test.p_value for test in tests])
    return [test.mean < 0 and bool(p <= LEVEL) for test, p in zip(tests, adjusted, strict=True)]


def are_above(tests: Iterable[PairedComparison]) -> list[bool]:
    """Return whether the first method is significantly higher, in each of several comparisons."""
    tests = list(tests)
    adjusted = adjusted_p_values([test.p_value for test in tests])
    return [test.mean > 0 and bool(p <= LEVEL) for test, p in zip(tests, adjusted, strict=True)]


def p_value_below(test: PairedComparison, limit: float) -> float:
    """Return the p-value of the one-sided t-test that the mean difference is below a limit."""
    if not test.sd:
        return 0.0 if test.mean < limit else 1.0
    return float(
        student.cdf((test.mean - limit) / test.sd * np.sqrt(test.n_pairs), test.n_pairs - 1)
    )


def p_value_within(test: PairedComparison, margin: float = MARGIN) -> float:
    """Return the p-value of the two one-sided tests that a difference is within a margin."""
    opposite = replace(test, mean=-test.mean)
    return max(p_value_below(test, margin), p_value_below(opposite, margin))


def are_similar(tests: Iterable[PairedComparison], margin: float = MARGIN) -> list[bool]:
    """Return whether differences are significantly within a margin, in several comparisons."""
    return [bool(p <= LEVEL) for p in adjusted_p_values([p_value_within(t, margin) for t in tests])]


def are_lower_or_similar(tests: Iterable[PairedComparison], margin: float = MARGIN) -> list[bool]:
    """Return whether differences are significantly below a margin, in several comparisons."""
    return [bool(p <= LEVEL) for p in adjusted_p_values([p_value_below(t, margin) for t in tests])]


def verdict_of_places(n_true: int, n_places: int) -> str:
    """Return the verdict on a statement that is true in some places."""
    if n_true == n_places:
        return HOLDS
    return FAILS if n_true == 0 else f"holds in {n_true} of {n_places} places"


def judged_when_complete(
    claims: Iterable[Claim], experiments: Iterable[Experiment]
) -> tuple[Claim, ...]:
    """Return claims whose judges return None until all full runs of their experiment are stored."""
    by_id = {experiment.id: experiment for experiment in experiments}
    return tuple(
        claim
        if claim.judge is None
        else replace(claim, judge=if_complete(by_id[claim.evidence], claim.judge))
        for claim in claims
    )


def if_complete(experiment: Experiment, judge: Judge) -> Judge:
    """Return a judge that returns None if a full run of the experiment is not stored."""

    def judge_complete(records: Records) -> Finding | None:
        stored = {experiment.key(record["run"]) for record in records}
        is_complete = all(experiment.key(run) in stored for run in experiment.runs("full"))
        return judge(records) if is_complete else None

    return judge_complete
