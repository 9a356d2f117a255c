"""Judges of the statements of Mroueh et al. (2015), from stored results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from invarlearn._utils.statistics import PairedComparison, compare_paired
from invarlearn.experiments.claims import FAILS, HOLDS, Finding
from invarlearn.experiments.judging import Judge, Records, values_of_draws
from invarlearn.experiments.multiple_tests import are_above, are_similar, verdict_of_places


def above_in_pairs(
    higher: dict[str, Any],
    lower: dict[str, Any],
    at: Sequence[dict[str, Any]],
    metric: str = "accuracy",
    unit: str = "points",
) -> Judge:
    """Return a judge of whether a cell is above another in each place, by paired t-tests.

    P-values in the text are without, the verdict is with Holm's correction.

    Parameters
    ----------
    higher, lower : dict
        Values of axes of both cells.
    at : sequence of dict
        Values of further axes, in which both cells agree: the places.
    metric, unit : str
    """

    def judge(records: Records) -> Finding | None:
        tests = []
        for place in at:
            test = compare_cells(records, {**higher, **place}, {**lower, **place}, metric)
            if test is None:
                return None
            tests.append(test)
        texts = [
            f"{text_of(place)}{test.mean:+.2f} ± {test.sd:.2f} {unit} ({test.n_pairs} draws, p = "
            f"{test.p_value:.1g})"
            for place, test in zip(at, tests, strict=True)
        ]
        differ = [name for name in higher if higher[name] != lower.get(name)]
        ours, others = (
            ", ".join(f"{name} = {cell[name]}" for name in differ) for cell in (higher, lower)
        )
        return Finding(
            f"Difference of {metric}, {ours} minus {others}: {'; '.join(texts)}.",
            verdict_of_places(sum(are_above(tests)), len(at)),
        )

    return judge


def compare_cells(
    records: Records, first: dict[str, Any], second: dict[str, Any], metric: str = "accuracy"
) -> PairedComparison | None:
    """Compare two cells draw by draw; return None if they have less than two common draws."""
    ours = values_of_draws(records, metric, **first)
    others = values_of_draws(records, metric, **second)
    n = min(len(ours), len(others))
    return None if n < 2 else compare_paired(ours[:n], others[:n])


def text_of(place: dict[str, Any]) -> str:
    """Return the values of axes as a text that ends with a colon; empty without axes."""
    return ", ".join(f"{name} = {value}" for name, value in place.items()) + ": " * bool(place)


def best_in_pairs(
    best: dict[str, Any], others: Sequence[dict[str, Any]], at: Sequence[dict[str, Any]]
) -> Judge:
    """Return a judge of whether a cell is above all others in each place, by paired t-tests."""

    def judge(records: Records) -> Finding | None:
        tests, texts = [], []
        for place in at:
            of_place = [
                compare_cells(records, {**best, **place}, {**other, **place}) for other in others
            ]
            complete = [test for test in of_place if test is not None]
            if len(complete) < len(others):
                return None
            tests += complete
            closest = min(complete, key=lambda test: test.mean)
            texts.append(f"{text_of(place)}{closest.mean:+.2f} ± {closest.sd:.2f}")
        return Finding(
            f"Points above the closest of {len(others)} others: {'; '.join(texts)} "
            f"({tests[0].n_pairs} draws).",
            verdict_of_places(sum(are_above(tests)), len(tests)),
        )

    return judge


def mean_at_least(limit: float, **cell: Any) -> Judge:
    """Return a judge of whether a mean accuracy is at least a limit, up to two standard errors."""

    def judge(records: Records) -> Finding | None:
        values = values_of_draws(records, **cell)
        if len(values) < 2:
            return None
        error = values.std(ddof=1) / np.sqrt(len(values))
        text = f"{values.mean():.2f} ± {values.std(ddof=1):.2f} % ({len(values)} draws)."
        return Finding(text, HOLDS if values.mean() >= limit - 2 * error else FAILS)

    return judge


def means_within(
    points: float,
    first: dict[str, Any],
    second: dict[str, Any],
    at: Sequence[dict[str, Any]] = ({},),
) -> Judge:
    """Return a judge of whether accuracies of two cells are at most some points apart.

    Two one-sided paired t-tests decide in each place, with Holm's correction.

    Parameters
    ----------
    points : float
    first, second : dict
        Values of axes of both cells.
    at : sequence of dict
        Values of further axes: the places. They replace those of ``first`` in the first cell, and
        those in the second that it does not have itself.
    """

    def judge(records: Records) -> Finding | None:
        tests = []
        for place in at:
            test = compare_cells(records, {**first, **place}, {**place, **second})
            if test is None:
                return None
            tests.append(test)
        texts = [
            f"{text_of(place)}{test.mean:+.2f} ± {test.sd:.2f} points"
            for place, test in zip(at, tests, strict=True)
        ]
        ours = f"Difference: {'; '.join(texts)} ({tests[0].n_pairs} draws)."
        return Finding(ours, verdict_of_places(sum(are_similar(tests, points)), len(tests)))

    return judge


def rates_of_convergence(records: Records) -> Finding | None:
    """Judge whether errors decrease at least as fast as in Theorem 2, on logarithmic axes."""
    texts, n_true = [], 0
    slowest = {"n_bins": -1.0, "n_templates": -0.5, "n_elements": -0.5}
    for what, rate in slowest.items():
        counts = sorted({r["run"]["count"] for r in records if r["run"]["what"] == what})
        if len(counts) < 2:
            return None
        means = [
            values_of_draws(records, "error", what=what, count=count).mean() for count in counts
        ]
        slope = np.polyfit(np.log(counts), np.log(means), 1)[0]
        n_true += slope <= rate + 0.1
        texts.append(f"{what}: slope {slope:.2f} (theorem {rate:g})")
    return Finding(f"{'; '.join(texts)}.", verdict_of_places(n_true, len(slowest)))


def templates_before_bins(records: Records) -> Finding | None:
    """Judge whether more templates help more than more bins, for equal factors (Figure 2, left).

    From CDF(5, 10), ten times the templates are compared with five times the bins, by the gain for
    each doubling. Gains decrease with the factor, so that this does not favour the templates.
    """
    kinds = sorted({record["run"]["templates"] for record in records})
    texts, tests = [], []
    for kind in kinds:
        few = values_of_draws(records, templates=kind, n_bins=5, n_templates=10)
        bins = values_of_draws(records, templates=kind, n_bins=25, n_templates=10)
        templates = values_of_draws(records, templates=kind, n_bins=5, n_templates=100)
        n = min(len(few), len(bins), len(templates))
        if n < 2:
            return None
        by_templates = (templates[:n] - few[:n]) / np.log2(10)
        by_bins = (bins[:n] - few[:n]) / np.log2(5)
        tests.append(compare_paired(by_templates, by_bins))
        texts.append(
            f"{kind}: from CDF(5, 10), each doubling of the templates adds "
            f"{by_templates.mean():.2f} points, of the bins {by_bins.mean():.2f} ({n} draws)"
        )
    if not kinds:
        return None
    return Finding(f"{'; '.join(texts)}.", verdict_of_places(sum(are_above(tests)), len(kinds)))
