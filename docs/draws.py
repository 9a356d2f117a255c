"""Print what the kept draws of paper 003's Table 2 at 100 labels tell: see experiments.md."""

import json
from pathlib import Path

import numpy as np

PAPER = {
    "SVM": 68.16,
    "L": 75.27,
    "TI": 69.34,
    "TI-RI": 75.10,
    "RI, average fit": 68.05,
    "TD": 73.04,
}


def main():
    path = Path(__file__).parent / "results" / "003-table2-draws" / "results.jsonl"
    found = {}
    for line in path.read_text().splitlines():
        record = json.loads(line)
        run = record["run"]
        found.setdefault(run["method"], {})[run["seed"]] = record["result"]["accuracy"]
    near = [seed for seed, value in found["SVM"].items() if abs(value - PAPER["SVM"]) <= 1]
    print(f"{len(near)} draws have an SVM within a point of the paper's")
    for method, values in found.items():
        every = np.array(list(values.values()))
        print(
            f"{method:16} {every.mean():.1f} ± {every.std(ddof=1):.1f}, paper {PAPER[method]:.1f}; "
            f"at or below it {np.mean(every <= PAPER[method]):.0%}; "
            f"on those draws {np.mean([values[seed] for seed in near]):.1f}"
        )


if __name__ == "__main__":
    main()
