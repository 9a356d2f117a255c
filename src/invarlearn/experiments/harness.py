"""Runs of experiments: resumable, parallel, and independent of ``n_jobs``."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from invarlearn._utils.parallel import single_threaded
from invarlearn._utils.progress import Progress, ProgressClock
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.store import ResultStore


def run_experiment(
    experiment: Experiment,
    size: str = "quick",
    out: Path | str = "invarlearn-results",
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Do the missing runs of an experiment, and return all results in the declared order.

    Parameters
    ----------
    experiment : Experiment
    size : {"quick", "full"}
    out : path
        Folder of results; they are appended to ``out / id / results.jsonl``. Those of a view
        are in the folder of the experiment that it shows.
    n_jobs : int
        Number of processes, unless the experiment has ``one_process``. Each uses one thread, so
        that results do not depend on ``n_jobs``.
    progress : callable, optional
        Progress callback, called before the first run and after each run.

    Returns
    -------
    list of dict
        With keys ``run``, ``result`` and ``seconds``.
    """
    runs = experiment.runs(size)
    store = ResultStore(Path(out) / experiment.folder / "results.jsonl")
    with store.writing():
        done = store.read()
        todo = [run for run in runs if experiment.key(run) not in done]
        clock = ProgressClock(len(runs), len(runs) - len(todo), progress)
        # workers of joblib are started again when their memory has grown, without their caches
        n_workers = 1 if experiment.one_process else n_jobs
        parallel = Parallel(n_jobs=n_workers, return_as="generator_unordered", batch_size=1)
        tasks = (delayed(_timed)(experiment.run, run, os.getpid()) for run in todo)
        for run, result, seconds in parallel(tasks):
            store.append(experiment.key(run), run, result, seconds)
            clock.tick()
    return kept_results(experiment, size, out)


def kept_results(
    experiment: Experiment, size: str = "quick", out: Path | str = "invarlearn-results"
) -> list[dict[str, Any]]:
    """Return the results of the finished runs, in the declared order, without running anything.

    Parameters
    ----------
    experiment, size, out :
        As for :func:`run_experiment`.

    Returns
    -------
    list of dict
    """
    records = ResultStore(Path(out) / experiment.folder / "results.jsonl").read()
    keys = (experiment.key(run) for run in experiment.runs(size))
    return [records[key] for key in keys if key in records]


def _timed(
    function: Callable[..., dict[str, float]], run: dict[str, Any], parent: int
) -> tuple[dict[str, Any], dict[str, float], float]:
    """Return a run, its result and its seconds; end with the process ``parent``."""
    _exit_with_parent(parent)
    start = time.perf_counter()
    try:
        with single_threaded():
            result = function(**run)
    except Exception as error:
        error.add_note(f"while running {run}")
        raise
    return run, {name: float(value) for name, value in result.items()}, time.perf_counter() - start


@cache
def _exit_with_parent(parent: int) -> None:
    """End this worker process soon after its parent, so that a kill of the parent ends both."""
    if os.getppid() != parent:
        return

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        # without clean-up, which would wait for the current run (Windows has no SIGKILL)
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

    threading.Thread(target=watch, daemon=True).start()
