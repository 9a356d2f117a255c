"""Print the tables of few labels that README and docs show: python docs/few_labels.py.

From the kept results of `invarlearn reproduce few-labels-… --full` and of `recipe`, also where some
draws are not run yet: their number is told.
"""

import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean, median, stdev

RESULTS = Path(__file__).parent / "results"
# Test images, in thousands.
THOUSANDS = {
    "few-labels-mnist": 10,
    "few-labels-routes": 5,
    "few-labels-letters": 0.997,
    "few-labels-moved": 2,
}
OURS, NETWORK = "InvariantClassifier", "CNN, augmented"


def cells(name, method="method"):
    """Give the results of an experiment by method and size, then by draw."""
    found = defaultdict(dict)
    for line in (RESULTS / name / "results.jsonl").read_text().splitlines():
        record = json.loads(line)
        run = record["run"]
        size = next(run[axis] for axis in ("n_labels", "n_speakers", "data") if axis in run)
        if name == "few-labels-moved":
            size = f"{run['data']}, {size}"
        found[run[method], size][run["seed"]] = record["result"]
    return found


def show(name):
    print(f"\n{name}: accuracy, draws; median seconds to fit, and for 1,000 predictions")
    found = cells(name)
    n_test = THOUSANDS.get(name)
    for (method, size), draws in sorted(found.items(), key=lambda one: (str(one[0][1]), one[0][0])):
        values = [one["accuracy"] for one in draws.values()]
        spread = f" ± {stdev(values):.1f}" if len(values) > 1 else ""
        told = f"{size}, {method}: {fmean(values):.1f}{spread}, {len(values)}"
        if "fit_seconds" in next(iter(draws.values())):
            told += f"; {median(one['fit_seconds'] for one in draws.values()):.1f}"
            if n_test:
                per = median(one["predict_seconds"] for one in draws.values()) / n_test
                told += f", {per:.2f}"
        print(told)
    for method, size in found:
        rival = found.get((NETWORK, size), {})
        if method == OURS and rival:
            ours = found[OURS, size]
            gains = [ours[i]["accuracy"] - rival[i]["accuracy"] for i in rival if i in ours]
            wins, ties = (sum(test) for test in zip(*((g > 0, g == 0) for g in gains), strict=True))
            told = f"in {wins} of {len(gains)} draws" + f", level in {ties}" * (ties > 0)
            print(f"{size}: above the network by {fmean(gains):.2f}, {told}")


def show_breaks(name="few-labels-breaks"):
    print(f"\n{name}: accuracy, draws; what was estimated; draws with a warning")
    found = defaultdict(list)
    for line in (RESULTS / name / "results.jsonl").read_text().splitlines():
        record = json.loads(line)
        run = record["run"]
        found[run["n_labels"], run["question"], run["family"]].append(record["result"])
    for (n_labels, question, family), draws in found.items():
        values = [one["accuracy"] for one in draws]
        spread = f" ± {stdev(values):.1f}" if len(values) > 1 else ""
        warned = sum(one["warned"] > 0 for one in draws)
        estimated = fmean(one["estimated"] for one in draws)
        told = f"{fmean(values):.1f}{spread}, {len(values)}; {estimated:.1f}; {warned}"
        print(f"{n_labels}, {question}, {family}: {told}")


def show_estimates(name="few-labels-estimates"):
    print(f"\n{name}: estimated and measured accuracy, draws; how often it is in the interval")
    found = defaultdict(list)
    for line in (RESULTS / name / "results.jsonl").read_text().splitlines():
        record = json.loads(line)
        found[record["run"]["n_speakers"], record["run"]["left_out"]].append(record["result"])
    for (n_speakers, left_out), draws in sorted(found.items()):
        told = [
            f"{fmean(values):.1f} ± {stdev(values):.1f}"
            for values in ([one[key] for one in draws] for key in ("estimated", "accuracy"))
        ]
        covered = sum(one["low"] <= one["accuracy"] <= one["high"] for one in draws)
        print(f"{n_speakers}, {left_out}: {', '.join(told)}, {len(draws)}; {covered}")


def show_parts(name, base):
    """Print what other choices change, draw by draw, against what is taken."""
    print(f"\n{name}: accuracy, draws; more than {base}, mean ± sd of differences")
    found = cells(name, "variant")
    for (variant, size), draws in sorted(found.items(), key=lambda one: one[0][1]):
        taken = found[base, size]
        gains = [one["accuracy"] - taken[i]["accuracy"] for i, one in draws.items() if i in taken]
        mean = fmean(one["accuracy"] for one in draws.values())
        spread = f" ± {stdev(gains):.2f}" if len(gains) > 1 else ""
        print(f"{size}, {variant}: {mean:.2f}, {len(draws)}; {fmean(gains):+.2f}{spread}")


if __name__ == "__main__":
    show_parts("recipe", "as it is")
    show_parts("recipe-templates", "local kernel features")
    show_breaks()
    show_estimates()
    others = {"few-labels-breaks", "few-labels-estimates"}
    for folder in sorted(RESULTS.glob("few-labels-*")):
        if folder.name not in others:
            show(folder.name)
