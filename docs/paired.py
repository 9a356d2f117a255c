"""Compare methods of paper 002's Table 1 and Figure 2 draw by draw: see functionals.md."""

import json
import sys
from pathlib import Path

import numpy as np
from scipy.stats import ttest_rel

RESULTS = Path(__file__).parent / "results"


def errors(experiment, axes):
    """Give the errors of every cell, by method and then by draw."""
    found = {}
    for line in (RESULTS / experiment / "results.jsonl").read_text().splitlines():
        record = json.loads(line)
        run = record["run"]
        cell = found.setdefault(tuple(run[axis] for axis in axes), {})
        cell.setdefault(run["method"], {})[run["seed"]] = record["result"]["error"]
    return {
        cell: {method: np.array([e[s] for s in sorted(e)]) for method, e in methods.items()}
        for cell, methods in found.items()
    }


def table_1(level=0.05):
    """Count the cells in which a method is best, or not worse by a paired t-test."""
    cells = errors("002-table1", ("data", "n_labels"))
    methods = ("SVM", "LapSVM", "InvSVM")
    best, tied, lower, higher = ({m: 0 for m in methods} for _ in range(4))
    for found in cells.values():
        means = {method: found[method].mean() for method in methods}
        first = min(means, key=means.get)
        best[first] += 1
        for method in methods:
            same = method == first or ttest_rel(found[method], found[first]).pvalue > level
            tied[method] += bool(same)
            if method != "SVM" and ttest_rel(found[method], found["SVM"]).pvalue <= level:
                lower[method] += means[method] < means["SVM"]
                higher[method] += means[method] > means["SVM"]
    print(f"Table 1: {len(cells)} cells, {len(next(iter(cells.values()))['SVM'])} draws")
    for method in methods:
        mean = np.mean([found[method].mean() for found in cells.values()])
        print(
            f"  {method:7} mean error {mean:.2f}; lowest in {best[method]}, lowest or tied in "
            f"{tied[method]}; against the SVM significantly lower in {lower[method]}, higher in "
            f"{higher[method]}"
        )


def figure_2():
    """Compare with virtual samples, pair by pair."""
    for (pair,), found in errors("002-figure2", ("pair",)).items():
        virtual = found["VirSVM"]
        print(f"Figure 2, {pair}: VirSVM {virtual.mean():.2f} ± {virtual.std(ddof=1):.2f}")
        for method, values in found.items():
            if method != "VirSVM":
                apart = values - virtual
                print(
                    f"  {method:17} {values.mean():.2f} ± {values.std(ddof=1):.2f}, lower in "
                    f"{(apart < 0).sum()} of {len(apart)} draws, p = "
                    f"{ttest_rel(values, virtual).pvalue:.3f}; draws 5 on "
                    f"{values[5:].mean():.2f}, VirSVM {virtual[5:].mean():.2f}"
                )


if __name__ == "__main__":
    table_1(*map(float, sys.argv[1:]))
    figure_2()
