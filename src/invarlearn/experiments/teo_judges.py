"""Verdicts on statements of Teo et al. (2007), from stored results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.statistics import PairedComparison, compare_paired
from invarlearn.experiments.claims import FAILS, HOLDS, Finding
from invarlearn.experiments.judging import LEVEL, Records
from invarlearn.experiments.multiple_tests import (
    adjusted_p_values,
    are_above,
    are_below,
    verdict_of_places,
)

INVARIANT = ("VIR-SVM", "Invar-SVM")
# "Roughly half": at most this ratio of support vectors, which is midway between half and all.
ROUGHLY_HALF = 0.75


def by_cell(records: Records, metric: str, *axes: str) -> dict[tuple[Any, ...], dict[Any, float]]:
    """Return a number of each run, by the values of some axes and then by those of the others.

    Parameters
    ----------
    records : list of dict
    metric : str
    *axes : str
        Names of arguments of the runs.

    Returns
    -------
    dict from tuple to dict
        The inner keys are equal for runs that differ in ``axes`` only, so that they pair them.
    """
    cells: dict[tuple[Any, ...], dict[Any, float]] = defaultdict(dict)
    for record in records:
        others = sorted((k, v) for k, v in record["run"].items() if k not in axes)
        key = tuple(record["run"][axis] for axis in axes)
        cells[key][tuple(others)] = record["result"][metric]
    return dict(cells)


def paired(one: dict[Any, float], other: dict[Any, float]) -> tuple[NDArray, NDArray]:
    """Return the numbers of the runs that both have, in the same order."""
    shared = sorted(set(one) & set(other))
    return np.array([one[key] for key in shared]), np.array([other[key] for key in shared])


def compared(one: dict[Any, float], other: dict[Any, float]) -> PairedComparison:
    """Compare the numbers of two methods, run by run."""
    return compare_paired(*paired(one, other))


def cells_of(values: dict[tuple[Any, ...], Any], *methods: str) -> list[tuple[Any, ...]]:
    """Return the cells that have results of all methods, without the method, sorted.

    Parameters
    ----------
    values : dict
        The result of :func:`by_cell` whose first axis is the method.
    *methods : str
    """
    found = [{key[1:] for key in values if key[0] == method} for method in methods]
    cells = sorted(set.intersection(*found))
    if not cells:
        raise ValueError(f"no cell has results of all of {', '.join(methods)}: run the experiment")
    return cells


def support_ratio(support: dict[Any, Any], *cell: Any) -> float:
    """Return the number of support vectors of Invar-SVM, relative to VIR-SVM."""
    ours, virtual = paired(support["Invar-SVM", *cell], support["VIR-SVM", *cell])
    return float(ours.mean() / virtual.mean())


def judge_errors(records: Records) -> Finding:
    """Judge that both invariant methods have lower errors than the plain SVM (Figure 1, left)."""
    errors = by_cell(records, "error", "method", "per_digit")
    sizes = [size for (size,) in cells_of(errors, "STD-SVM", *INVARIANT)]
    tests = [
        compared(errors[method, size], errors["STD-SVM", size])
        for size in sizes
        for method in INVARIANT
    ]
    texts = []
    for size in sizes:
        means = [np.mean(list(errors[m, size].values())) for m in ("STD-SVM", *INVARIANT)]
        texts.append(f"{size} per digit: " + ", ".join(f"{mean:.1f}" for mean in means))
    draws = len(errors["STD-SVM", sizes[0]])
    ours = f"Error in % of STD, VIR, Invar; {'; '.join(texts)} ({draws} draws)."
    return Finding(ours, verdict_of_places(sum(are_below(tests)), len(tests)))


def judge_more_support(records: Records) -> Finding:
    """Judge that both invariant methods have more support vectors than the plain SVM (Figure 1)."""
    support = by_cell(records, "support_vectors", "method", "per_digit")
    texts, holds = [], True
    for cell in cells_of(support, "STD-SVM", *INVARIANT):
        means = [np.mean(list(support[m, *cell].values())) for m in ("STD-SVM", *INVARIANT)]
        holds &= bool(min(means[1:]) > means[0])
        texts.append(f"{cell[0]} per digit: " + ", ".join(f"{mean:,.0f}" for mean in means))
    ours = f"Support vectors of STD, VIR, Invar; {'; '.join(texts)}."
    return Finding(ours, HOLDS if holds else FAILS)


def best_settings(records: Records, *methods: str) -> dict[str, tuple[float, float]]:
    """Return the gamma and C of the smallest mean error of each method."""
    errors = by_cell(records, "error", "method", "gamma", "C")
    return {
        method: min(
            (cell[1:] for cell in errors if cell[0] == method),
            key=lambda setting: float(np.mean(list(errors[method, *setting].values()))),
        )
        for method in methods
    }


def judge_best_errors(records: Records) -> Finding:
    """Judge that both invariant methods have lower errors, each method at its best setting."""
    errors = by_cell(records, "error", "method", "gamma", "C")
    best = best_settings(records, "STD-SVM", *INVARIANT)
    tests = [compared(errors[m, *best[m]], errors["STD-SVM", *best["STD-SVM"]]) for m in INVARIANT]
    ours = "; ".join(_at_best(errors, method, setting) for method, setting in best.items())
    p_values = ", ".join(f"{test.p_value:.1g}" for test in tests)
    return Finding(
        f"Error in %: {ours}; p = {p_values} against STD-SVM.",
        verdict_of_places(sum(are_below(tests)), len(tests)),
    )


def judge_best_support(records: Records) -> Finding:
    """Judge that Invar-SVM has half of VIR-SVM's support vectors, each at its best setting."""
    support = by_cell(records, "support_vectors", "method", "gamma", "C")
    best = best_settings(records, *INVARIANT)
    ours, virtual = paired(*(support[m, *best[m]] for m in ("Invar-SVM", "VIR-SVM")))
    ratios = ours / virtual
    text = "; ".join(_at_best(support, method, setting) for method, setting in best.items())
    return Finding(
        f"Support vectors: {text}; {ratios.mean():.2f} ± {ratios.std(ddof=1):.2f} of VIR-SVM's "
        f"({len(ratios)} draws).",
        HOLDS if ratios.mean() <= ROUGHLY_HALF else FAILS,
    )


def _at_best(
    values: dict[tuple[Any, ...], dict[Any, float]], method: str, setting: tuple[float, float]
) -> str:
    """Return the mean and standard deviation of a method at its best setting, as a text."""
    numbers = np.array(list(values[method, *setting].values()))
    gamma, C = setting
    return (
        f"{method} {numbers.mean():,.1f} ± {numbers.std(ddof=1):.1f} (gamma = {gamma:g}, C = {C:g})"
    )


def judge_grid(records: Records) -> Finding:
    """Judge where Invar-SVM has far fewer support vectors and a significantly lower error.

    Both methods have the same gamma and C. P-values are corrected for the number of settings.
    """
    errors = by_cell(records, "error", "method", "gamma", "C")
    support = by_cell(records, "support_vectors", "method", "gamma", "C")
    cells = cells_of(errors, *INVARIANT)
    tests = [compared(errors["Invar-SVM", *cell], errors["VIR-SVM", *cell]) for cell in cells]
    ratios = [support_ratio(support, *cell) for cell in cells]
    n_few = sum(ratio <= ROUGHLY_HALF for ratio in ratios)
    texts = [
        f"gamma = {cell[0]:g}, C = {cell[1]:g}: {ratio:.2f} of the support vectors, error "
        f"{np.mean(list(errors['Invar-SVM', *cell].values())):.1f} %, {test.mean:+.1f} ± "
        f"{test.sd:.1f} points"
        for cell, ratio, test, below in zip(cells, ratios, tests, are_below(tests), strict=True)
        if ratio <= ROUGHLY_HALF and below
    ]
    summary = (
        f"At most {ROUGHLY_HALF} of the support vectors at {n_few} of {len(cells)} settings, and "
        f"also a significantly lower error at {len(texts)}"
    )
    ours = f"{summary}: {'; '.join(texts)}." if texts else f"{summary}."
    setting = best_settings(records, "Invar-SVM")["Invar-SVM"]
    ours += f" Lowest error of the grid, in %: {_at_best(errors, 'Invar-SVM', setting)}."
    return Finding(ours, verdict_of_places(len(texts), len(cells)))


def judge_rate(solver: str, stated: float) -> Callable[[Records], Finding]:
    """Return the judge that searches grow at most as precision to the power ``-stated``."""

    def judge(records: Records) -> Finding:
        exponents = by_cell(records, "exponent", "solver", "lam")
        texts, holds = [], True
        for (name, lam), values in sorted(exponents.items()):
            if name == solver:
                slopes = np.array(list(values.values()))
                error = slopes.std(ddof=1) / np.sqrt(len(slopes)) if len(slopes) > 1 else 0.0
                holds &= bool(slopes.mean() - 2 * error <= stated)
                texts.append(f"{slopes.mean():.2f} ± {error:.2f} with lam = {lam:g}")
        ours = f"Exponent {', '.join(texts)} (mean ± standard error)."
        return Finding(ours, HOLDS if holds else FAILS)

    return judge


def judge_spam(metric: str, *pairs: tuple[str, str]) -> Callable[[Records], Finding]:
    """Return the judge that losses are above others in the mean over test sets (Table 1).

    Parameters
    ----------
    metric : {"AUC", "accuracy"}
    *pairs : tuple (higher, lower)
        Losses to compare by a paired test over the test sets.
    """

    def judge(records: Records) -> Finding:
        values = by_cell(mean_over_draws(records, metric), metric, "loss")
        tests = [compared(values[higher,], values[lower,]) for higher, lower in pairs]
        texts = [
            f"{higher} {test.mean:+.2f} points against {lower}, higher for {test.n_above} of "
            f"{test.n_pairs} test sets, p = {test.p_value:.2g}"
            for (higher, lower), test in zip(pairs, tests, strict=True)
        ]
        verdict = verdict_of_places(sum(are_above(tests)), len(tests))
        return Finding(f"{metric}: {'; '.join(texts)}.", verdict)

    return judge


def mean_over_draws(records: Records, metric: str) -> Records:
    """Return one record for each test set and loss, with the mean over the draws of the folds."""
    groups: dict[tuple[str, str], list[float]] = defaultdict(list)
    for record in records:
        run = record["run"]
        groups[run["pair"], run["loss"]].append(record["result"][metric])
    return [
        {"run": {"pair": pair, "loss": loss}, "result": {metric: float(np.mean(values))}}
        for (pair, loss), values in groups.items()
    ]


def judge_mcnemar(records: Records) -> Finding:
    """Judge that McNemar's test finds FDROP and FSCALE better than the hinge loss everywhere."""
    results = [record["result"] for record in records if record["run"]["loss"] != "hinge"]
    p_values = adjusted_p_values([result["McNemar p, hinge"] for result in results])
    gained = [r["correct, not by hinge"] > r["correct only by hinge"] for r in results]
    n_better = sum(g and p <= LEVEL for g, p in zip(gained, p_values, strict=True))
    n_worse = sum(not g and p <= LEVEL for g, p in zip(gained, p_values, strict=True))
    ours = (
        f"Of {len(results)} tests, with Holm's correction, {n_better} significantly better and "
        f"{n_worse} significantly worse."
    )
    return Finding(ours, verdict_of_places(n_better, len(results)))
