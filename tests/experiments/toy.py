"""A small experiment whose runs take a moment, for tests of the harness.

Run as a program, it is ``invarlearn`` with this experiment added.
"""

import os
import time

import numpy as np

from invarlearn.experiments import EXPERIMENTS, Experiment


def run(shade, size, pause, seed):
    if "TOY_LOG" in os.environ:
        with open(os.environ["TOY_LOG"], "a") as file:
            file.write(".")
    time.sleep(float(os.environ.get("TOY_PAUSE", pause)))
    rng = np.random.RandomState(seed)
    matrix = rng.randn(size, size) @ rng.randn(size, size)
    return {"accuracy": float(np.abs(np.linalg.eigvals(matrix)).mean() + len(shade))}


TOY = Experiment(
    id="toy",
    paper="Nobody, Table 0",
    title="A toy",
    varies={"shade": ["dark", "light"], "size": [5, 10, 20]},
    quick={"size": [5, 10]},
    run=run,
    x="size",
    lines="shade",
    seeds={"quick": 2, "full": 12},
    settings={"quick": {"pause": 0.0}, "full": {"pause": 0.08}},
    published={("dark", 5): 9.0, ("light", 10): 12.5},
)

if __name__ == "__main__":
    # under its own name, so that worker processes can import it
    from toy import TOY as IMPORTED

    from invarlearn.cli import main

    EXPERIMENTS["toy"] = IMPORTED
    main()
