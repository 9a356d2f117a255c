"""Print the verdict on each measured statement of Mroueh et al. (2015), from the stored results.

The page features.md quotes the numbers. Run ``python docs/mroueh.py``.
"""

from pathlib import Path

from invarlearn.experiments import EXPERIMENTS, kept_results
from invarlearn.experiments.mroueh_claims import PAPER
from invarlearn.experiments.paper_page import verdict_lines

RESULTS = Path(__file__).parent / "results"


if __name__ == "__main__":
    lines = verdict_lines(
        PAPER, EXPERIMENTS, lambda experiment: kept_results(experiment, "full", RESULTS)
    )
    print("\n".join(lines))
