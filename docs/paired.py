"""Compare methods of Zhang et al. (2013) draw by draw, and print the verdicts on its statements.

The page functionals.md quotes the numbers. Run ``python docs/paired.py``. Experiments without
stored results are left out.
"""

from collections import Counter
from pathlib import Path

import numpy as np

from invarlearn.experiments import EXPERIMENTS, kept_results
from invarlearn.experiments.judging import LEVEL
from invarlearn.experiments.paper_page import verdict_lines
from invarlearn.experiments.zhang_claims import PAPER
from invarlearn.experiments.zhang_digits import grids
from invarlearn.experiments.zhang_judges import (
    Draws,
    excess,
    mean_of,
    printed_error,
)

RESULTS = Path(__file__).parent / "results"
TABLES = ("002-table1", "002-table1-large", "002-table1-rows", "002-table1-repeated")


def records_of(name):
    """Return the stored results of an experiment at full size."""
    return kept_results(EXPERIMENTS[name], "full", RESULTS)


def progress(name, records):
    """Return the name of an experiment, and the number of its runs if some are missing."""
    n_runs = len(EXPERIMENTS[name].runs("full"))
    return name if len(records) == n_runs else f"{name} ({len(records)} of {n_runs} runs)"


def is_below(test):
    """Return whether the first of two compared methods is significantly lower, by one test."""
    return test.mean < 0 and test.p_value <= LEVEL


def is_above(test):
    """Return whether the first of two compared methods is significantly higher, by one test."""
    return test.mean > 0 and test.p_value <= LEVEL


def table(name):
    """Count the cells in which a method is lowest, tied with it, or differs from the SVM."""
    records = records_of(name)
    draws = Draws(records, "method")
    methods = [m for m in ("SVM", "LapSVM", "InvSVM") if any(m in c for c in draws.cells.values())]
    cells = draws.complete(*methods) if methods else []
    if not cells:
        return
    print(f"{progress(name, records)}: {len(cells)} cells")
    best, tied, below, above = (Counter() for _ in range(4))
    for cell in cells:
        lowest = min(methods, key=lambda method: mean_of(draws, cell, method))
        best[lowest] += 1
        for method in methods:
            tied[method] += method == lowest or not is_above(draws.compare(cell, method, lowest))
            if method != "SVM":
                below[method] += is_below(draws.compare(cell, method, "SVM"))
                above[method] += is_above(draws.compare(cell, method, "SVM"))
    for method in methods:
        mean = np.mean([mean_of(draws, cell, method) for cell in cells])
        print(
            f"  {method:7} mean error {mean:.2f}; lowest in {best[method]} of {len(cells)} "
            f"cells, lowest or tied in {tied[method]}; significantly below / above the SVM in "
            f"{below[method]} / {above[method]}"
        )
    for method in methods[1:]:
        gain, error = draws.gain(cells, method, "SVM")
        print(f"  {method} minus SVM: {gain:+.2f} ± {error:.2f} (standard error)")
    if EXPERIMENTS[name].published:
        for method in methods:
            mean = np.mean([printed_error(cell, method) for cell in cells])
            print(f"  paper, {method}: mean error {mean:.2f}")
    for metric in ("weakest_error", "strongest_error", "lowest_error", "held_out_error"):
        gain, error = Draws(records, "method", metric).gain(cells, "InvSVM", "SVM")
        print(f"  InvSVM minus SVM, {metric}: {gain:+.2f} ± {error:.2f} (standard error)")


def explanations(name):
    """Print the cells in which InvSVM is more than two points above the paper."""
    records = records_of(name)
    draws = Draws(records, "method")
    lowest = Draws(records, "method", "lowest_error")
    for cell in draws.complete("SVM", "InvSVM"):
        if excess(draws, cell, "InvSVM") > 2:
            own, best = mean_of(draws, cell, "InvSVM"), mean_of(lowest, cell, "InvSVM")
            print(
                f"  {cell[0]} {cell[1]}: InvSVM {own:.1f}, paper {printed_error(cell, 'InvSVM')}; "
                f"SVM {mean_of(draws, cell, 'SVM'):.1f}, paper {printed_error(cell, 'SVM')}; "
                f"lowest test error of the grid, InvSVM {best:.1f}"
            )


def figure_2(name="002-figure2"):
    """Compare with virtual samples, pair by pair, and count parameters at an edge of their grid."""
    records = records_of(name)
    if records:
        print(progress(name, records))
    draws = Draws(records, "method")
    for cell in draws.complete("VirSVM"):
        for method in draws.cells[cell]:
            own, virtual = draws.pair(cell, method, "VirSVM")
            test = draws.compare(cell, method, "VirSVM")
            print(
                f"  {cell[0]} {method:17} {own.mean():.2f} ± {own.std(ddof=1):.2f}, VirSVM "
                f"{virtual.mean():.2f}, below it in {test.n_below} of {test.n_pairs} draws, p = "
                f"{test.p_value:.3f}"
            )
    for method in dict.fromkeys(record["run"]["method"] for record in records):
        chosen = [record["result"] for record in records if record["run"]["method"] == method]
        edges = [
            f"{parameter} {sum(r[parameter] == values[0] for r in chosen)} / "
            f"{sum(r[parameter] == values[-1] for r in chosen)}"
            for parameter, values in grids(method).items()
        ]
        print(
            f"  {method}: chosen at the low / high edge in {len(chosen)} runs: {', '.join(edges)}"
        )


def extensions():
    """Print the error by nu, and the mean error of imbalanced classes by weights."""
    for name, compared, metric in (
        ("002-orders", "order", "error"),
        ("002-imbalance", "weights", "error"),
        ("002-imbalance", "weights", "minority_error"),
    ):
        draws = Draws(records_of(name), compared, metric)
        for cell, by_value in draws.cells.items():
            means = ", ".join(f"{value} {mean_of(draws, cell, value):.1f}" for value in by_value)
            first, *others = by_value
            tests = {value: draws.compare(cell, value, first) for value in others if cell[1]}
            texts = [
                f"; {value} minus {first} {test.mean:+.2f} ± {test.sd:.2f}, p = {test.p_value:.2g}"
                for value, test in tests.items()
            ]
            print(f"{name}, {metric}, nu = {cell[1]:g}: {means}{''.join(texts)}")


def verdicts():
    """Print the verdict on each statement that stored results decide."""
    print("\n".join(verdict_lines(PAPER, EXPERIMENTS, lambda e: records_of(e.id))))


if __name__ == "__main__":
    for experiment in TABLES:
        table(experiment)
        if EXPERIMENTS[experiment].published:
            explanations(experiment)
    figure_2()
    extensions()
    verdicts()
