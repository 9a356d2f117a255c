"""Print the numbers of README.md, comparisons.md and routes.md: ``python docs/few_labels.py``.

They come from the stored results of ``invarlearn reproduce few-labels --full`` and ``recipe
--full``. If results of draws are missing, the printed number of draws is smaller.
"""

from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean, median, stdev

from scipy.stats import binomtest

from invarlearn._utils.statistics import compare_paired
from invarlearn.experiments import EXPERIMENTS, kept_results

RESULTS = Path(__file__).parent / "results"
# Number of test images of each experiment, in thousands.
THOUSANDS = {
    "few-labels-mnist": 10,
    "few-labels-routes": 5,
    "few-labels-letters": 0.997,
    "few-labels-moved": 2,
}
OURS, NETWORK = "InvariantClassifier", "CNN, augmented"


def results(name, *axes):
    """Return the results of an experiment by the values of axes, then by draw."""
    by_cell = defaultdict(dict)
    for record in kept_results(EXPERIMENTS[name], "full", RESULTS):
        run = record["run"]
        by_cell[tuple(run[axis] for axis in axes)][run["seed"]] = record["result"]
    return by_cell


def mean_sd(values, digits=1):
    """Format mean ± standard deviation, or a single value."""
    values = list(values)
    spread = f" ± {stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{fmean(values):.{digits}f}{spread}"


def paired(draws, baseline, key="accuracy"):
    """Compare two methods on the draws that both have."""
    seeds = [seed for seed in draws if seed in baseline]
    return compare_paired(
        [draws[seed][key] for seed in seeds], [baseline[seed][key] for seed in seeds]
    )


def show(name):
    print(f"\n{name}: accuracy, draws; median seconds to fit, and for 1,000 predictions")
    varies = EXPERIMENTS[name].varies
    x = next(axis for axis in ("n_labels", "n_speakers", "data") if axis in varies)
    axes = ("data", x) if name == "few-labels-moved" else (x,)
    by_cell = results(name, "method", *axes)
    for (method, *place), draws in sorted(
        by_cell.items(), key=lambda item: (str(item[0][1:]), item[0][0])
    ):
        accuracies = [result["accuracy"] for result in draws.values()]
        line = f"{', '.join(map(str, place))}, {method}: {mean_sd(accuracies)}, {len(draws)}"
        if "fit_seconds" in next(iter(draws.values())):
            line += f"; {median(result['fit_seconds'] for result in draws.values()):.1f}"
            if name in THOUSANDS:
                seconds = median(result["predict_seconds"] for result in draws.values())
                line += f", {seconds / THOUSANDS[name]:.2f}"
        print(line)
    for (method, *place), draws in by_cell.items():
        network = by_cell.get((NETWORK, *place))
        if method == OURS and network:
            gain = paired(draws, network)
            ties = f", level in {gain.n_equal}" if gain.n_equal else ""
            p = binomtest(gain.n_above, gain.n_pairs - gain.n_equal).pvalue
            print(
                f"{', '.join(map(str, place))}: above the network by {gain.mean:.2f}, "
                f"in {gain.n_above} of {gain.n_pairs} draws{ties}, two-sided sign test p = {p:.2g}"
            )


def show_breaks(name="few-labels-breaks"):
    print(f"\n{name}: accuracy, draws; estimated accuracy; draws with a warning")
    for place, draws in results(name, "n_labels", "question", "family").items():
        accuracies = [result["accuracy"] for result in draws.values()]
        estimated = fmean(result["estimated"] for result in draws.values())
        n_warned = sum(result["warned"] > 0 for result in draws.values())
        cell = ", ".join(map(str, place))
        print(f"{cell}: {mean_sd(accuracies)}, {len(draws)}; {estimated:.1f}; {n_warned}")


def show_estimates(name="few-labels-estimates"):
    print(f"\n{name}: estimated and measured accuracy, draws; draws with it in the interval")
    n_covered_in_all, n_draws_in_all = Counter(), Counter()
    for (n_speakers, left_out), draws in sorted(results(name, "n_speakers", "left_out").items()):
        columns = [
            mean_sd(result[key] for result in draws.values()) for key in ("estimated", "accuracy")
        ]
        n_covered = sum(
            result["low"] <= result["accuracy"] <= result["high"] for result in draws.values()
        )
        print(f"{n_speakers}, {left_out}: {', '.join(columns)}; {n_covered} of {len(draws)}")
        n_covered_in_all[left_out] += n_covered
        n_draws_in_all[left_out] += len(draws)
    for left_out, n_draws in n_draws_in_all.items():
        print(f"all, {left_out}: {n_covered_in_all[left_out]} of {n_draws}")


def show_parts(name, default):
    """Print the differences of variants from the default, draw by draw."""
    print(f"\n{name}: accuracy, draws; difference from {default!r}, mean ± sd")
    by_cell = results(name, "variant", "n_labels")
    for (variant, n_labels), draws in sorted(by_cell.items(), key=lambda item: item[0][1]):
        change = paired(draws, by_cell[default, n_labels])
        spread = f" ± {change.sd:.2f}" if change.n_pairs > 1 else ""
        mean = fmean(result["accuracy"] for result in draws.values())
        print(f"{n_labels}, {variant}: {mean:.2f}, {len(draws)}; {change.mean:+.2f}{spread}")


if __name__ == "__main__":
    show_parts("recipe", "as it is")
    show_parts("recipe-templates", "local kernel features")
    show_breaks()
    show_estimates()
    for folder in sorted(RESULTS.glob("few-labels-*")):
        if folder.name not in {"few-labels-breaks", "few-labels-estimates"}:
            show(folder.name)
