"""Print the comparisons of Teo et al. (2007) that worst_case.md quotes, from the stored results.

Run ``python docs/teo.py``: the statements of the paper with their verdicts, Figure 1 by size, the
hyperparameters that Table 1 chose, and McNemar's tests for each pair of inboxes.
"""

from collections import Counter
from pathlib import Path

import numpy as np

from invarlearn.experiments import EXPERIMENTS, kept_results
from invarlearn.experiments.paper_page import verdict_lines
from invarlearn.experiments.teo_claims import PAPER
from invarlearn.experiments.teo_judges import (
    by_cell,
    cells_of,
    compared,
    mean_over_draws,
    support_ratio,
)
from invarlearn.experiments.teo_spam import GRID, LAMS

RESULTS = Path(__file__).parent / "results"


def stored(name):
    """Return the stored full runs of an experiment."""
    return kept_results(EXPERIMENTS[name], "full", RESULTS)


def spread(values):
    """Return the mean and standard deviation of numbers as a text."""
    values = np.array(list(values))
    sd = f" ± {values.std(ddof=1):.2f}" if len(values) > 1 else ""
    return f"{values.mean():.2f}{sd}"


def verdicts():
    """Print each statement that stored results decide."""
    print("\n".join(verdict_lines(PAPER, EXPERIMENTS, lambda experiment: stored(experiment.id))))


def figure_1():
    """Print errors and support vectors by size, with paired tests of the errors."""
    records = [r for name in ("004-figure1", "004-figure1-half") for r in stored(name)]
    errors = by_cell(records, "error", "method", "per_digit")
    support = by_cell(records, "support_vectors", "method", "per_digit")
    for method, size in sorted(errors, key=lambda key: (key[1], key[0])):
        values = errors[method, size]
        print(
            f"Figure 1, {size} per digit, {method}: error {spread(values.values())}, support "
            f"vectors {spread(support[method, size].values())}, {len(values)} draws"
        )
    for method, other in (
        ("Invar-SVM", "VIR-SVM"),
        ("VIR-SVM, half", "VIR-SVM"),
        ("Invar-SVM, half", "Invar-SVM"),
    ):
        for size in sorted({size for _, size in errors}):
            if {(method, size), (other, size)} <= set(errors):
                test = compared(errors[method, size], errors[other, size])
                print(
                    f"Figure 1, {size} per digit, {method} minus {other}: {test.mean:+.2f} ± "
                    f"{test.sd:.2f} points, {test.n_pairs} draws, p = {test.p_value:.2g}"
                )


def grid(name, *axes):
    """Print errors and the ratio of support vectors at each setting of an experiment."""
    records = stored(name)
    errors = by_cell(records, "error", "method", *axes)
    support = by_cell(records, "support_vectors", "method", *axes)
    for cell in cells_of(errors, "VIR-SVM", "Invar-SVM"):
        test = compared(errors["Invar-SVM", *cell], errors["VIR-SVM", *cell])
        setting = ", ".join(f"{axis} = {value:g}" for axis, value in zip(axes, cell, strict=True))
        print(
            f"{name}, {setting}: error VIR {spread(errors['VIR-SVM', *cell].values())}, Invar "
            f"{spread(errors['Invar-SVM', *cell].values())}, p = {test.p_value:.2g}; "
            f"{support_ratio(support, *cell):.2f} of the support vectors; Invar minus VIR "
            f"{test.mean:+.2f} ± {test.sd:.2f} points; {test.n_pairs} draws"
        )
    for method in sorted({key[0] for key in errors}):
        cells = [key for key in errors if key[0] == method]
        best = min(cells, key=lambda key: np.mean(list(errors[key].values())))
        setting = ", ".join(f"{axis} = {v:g}" for axis, v in zip(axes, best[1:], strict=True))
        print(
            f"{name}, {method}, smallest error {spread(errors[best].values())} at {setting}: "
            f"{spread(support[best].values())} support vectors; {len(errors[best])} draws"
        )


def chosen(name):
    """Print how often each hyperparameter was chosen, and how often at an edge of its grid."""
    records = stored(name)
    for loss, (Ks, _, _) in GRID.items():
        # a choice serves all test sets of the same training e-mails and folds
        choices = {
            (run["pair"].split(" to ")[0], run["seed"]): (result["lam"], int(result["K"]))
            for run, result in ((r["run"], r["result"]) for r in records)
            if run["loss"] == loss
        }
        lams, budgets = (Counter(values) for values in zip(*choices.values(), strict=True))
        at_edge = sum(lams[edge] for edge in (LAMS[0], LAMS[-1]))
        counts = ", ".join(f"{lam:g} in {n}" for lam, n in sorted(lams.items()))
        budget = ", ".join(f"{K} in {n}" for K, n in sorted(budgets.items()))
        print(
            f"{name}, {loss}: lambda {counts}; at an edge of the grid in {at_edge} of "
            f"{len(choices)}; K {budget}" + (f" (largest {max(Ks)})" if len(Ks) > 1 else "")
        )


def spam(name):
    """Print means over the test sets, McNemar's tests and paired tests of the losses."""
    records = stored(name)
    for metric in ("AUC", "accuracy"):
        values = by_cell(mean_over_draws(records, metric), metric, "loss")
        by_draw = by_cell(records, metric, "loss", "seed")
        for loss in GRID:
            draws = [np.mean(list(by_draw[key].values())) for key in by_draw if key[0] == loss]
            print(f"{name}, {loss}: mean {metric} {spread(draws)}, {len(draws)} draws of folds")
        for loss, other in (("FDROP", "hinge"), ("FSCALE", "hinge"), ("FSCALE", "FDROP")):
            test = compared(values[loss,], values[other,])
            print(
                f"{name}, {metric}, {loss} minus {other}: {test.mean:+.2f} ± {test.sd:.2f}, higher "
                f"for {test.n_above} of {test.n_pairs} test sets, p = {test.p_value:.2g}"
            )
    for record in records:
        run, result = record["run"], record["result"]
        for other in GRID:
            if f"McNemar p, {other}" in result:
                print(
                    f"{name}, {run['pair']}, folds {run['seed']}, {run['loss']} against {other}: "
                    f"McNemar p = {result[f'McNemar p, {other}']:.2g}; correct only by "
                    f"{run['loss']} {result[f'correct, not by {other}']:.0f}, only by {other} "
                    f"{result[f'correct only by {other}']:.0f}"
                )


def main():
    verdicts()
    figure_1()
    if stored("004-figure1-grid"):
        grid("004-figure1-grid", "gamma", "C")
    if stored("004-figure1-small-c"):
        grid("004-figure1-small-c", "per_digit")
    for name in ("004-table1", "004-table1-task-b"):
        if stored(name):
            chosen(name)
            spam(name)


if __name__ == "__main__":
    main()
