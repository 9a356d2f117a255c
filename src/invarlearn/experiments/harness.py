"""Run an experiment: in parallel, resumably, the same whatever n_jobs is."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from invarlearn._progress import Clock, Progress
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.store import Store
from invarlearn.transforms._threads import one_thread


def run_experiment(
    experiment: Experiment,
    size: str = "quick",
    out: Path | str = "invarlearn-results",
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Run what is not done yet, and give all results in the order of the declaration.

    Parameters
    ----------
    experiment : Experiment
    size : {"quick", "full"}
    out : path
        Results are appended to ``out / id / results.jsonl``.
    n_jobs : int
        Processes. Each works in one thread, so that neither results nor times depend on this
        number.
    progress : callable, optional

    Returns
    -------
    list of dict
        With keys ``run``, ``result`` and ``seconds``.
    """
    runs = experiment.runs(size)
    store = Store(Path(out) / experiment.id / "results.jsonl")
    with store.writing():
        done = store.read()
        todo = [run for run in runs if experiment.key(run) not in done]
        clock = Clock(len(runs), len(runs) - len(todo), progress)
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
        tasks = (delayed(_timed)(experiment.run, run, os.getpid()) for run in todo)
        for run, result, seconds in parallel(tasks):
            store.append(experiment.key(run), run, result, seconds)
            clock.tick()
    return kept_results(experiment, size, out)


def kept_results(
    experiment: Experiment, size: str = "quick", out: Path | str = "invarlearn-results"
) -> list[dict[str, Any]]:
    """Give the results that are there, in the order of the declaration, and run nothing.

    Parameters
    ----------
    experiment, size, out :
        As for :func:`run_experiment`.

    Returns
    -------
    list of dict
    """
    records = Store(Path(out) / experiment.id / "results.jsonl").read()
    keys = (experiment.key(run) for run in experiment.runs(size))
    return [records[key] for key in keys if key in records]


def _timed(
    function: Callable[..., dict[str, float]], run: dict[str, Any], parent: int
) -> tuple[dict[str, Any], dict[str, float], float]:
    _end_with(parent)
    start = time.perf_counter()
    try:
        with one_thread():
            result = function(**run)
    except Exception as error:
        error.add_note(f"while running {run}")
        raise
    return run, {name: float(value) for name, value in result.items()}, time.perf_counter() - start


@cache
def _end_with(parent: int) -> None:
    """Let this process end soon after its parent: a killed run must leave no one computing."""
    if os.getppid() != parent:
        return

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
