"""A small experiment whose runs take a moment, for tests of the harness.

As a program it is ``invarlearn`` with this experiment added; with ``serve``, it starts a run for
each line of its input.
"""

import os
import sys
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


def serve(main):
    """Fork a run for every line of standard input, its folder and n_jobs.

    Print the process id and the exit status of each. Slow imports are done once, before the forks.
    """
    import matplotlib.pyplot  # noqa: F401

    import invarlearn.app.cli._terminal
    import invarlearn.app.cli.reproduce  # noqa: F401

    for line in sys.stdin:
        folder, n_jobs = line.rsplit(maxsplit=1)
        if pid := os.fork():
            print(pid, flush=True)
            # the process is reaped only after the next line, so that its id is not used again
            ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            print(ended.si_status, flush=True)
            sys.stdin.readline()
            os.waitpid(pid, 0)
            continue
        os.setsid()
        sys.argv[1:] = ["reproduce", "toy", "--full", "--out", folder, "--n-jobs", n_jobs]
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(main())


if __name__ == "__main__":
    # under its own name, so that worker processes can import it
    from toy import TOY as IMPORTED

    from invarlearn.app.cli import main

    EXPERIMENTS["toy"] = IMPORTED
    if sys.argv[1:] == ["serve"]:
        serve(main)
    else:
        main()
