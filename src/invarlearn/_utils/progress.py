"""Progress of long computations: a callback for estimators, solvers, audits and experiments."""

from __future__ import annotations

import time
from typing import Any, Protocol


class Progress(Protocol):
    """Signature of a progress callback, which is called after each part of a computation."""

    def __call__(
        self, done: int, total: int, seconds_left: float | None = None, message: str = ""
    ) -> None:
        """Report progress.

        Parameters
        ----------
        done, total : int
            Number of finished parts, and number of all parts. If the computation may end early, as
            in a solver that stops at its tolerance, ``total`` is the largest number of parts.
        seconds_left : float, optional
            Estimated time until the end. None: unknown.
        message : str
            State of the computation, such as the objective and the duality gap of a solver.
        """


class ProgressClock:
    """Report the progress of parts of equal length, with the estimated remaining time.

    Parameters
    ----------
    total, done : int
        Number of all parts, and number of parts that are already finished.
    progress : callable, optional
        Progress callback, called at once and after every :meth:`tick`.
    """

    def __init__(self, total: int, done: int, progress: Progress | None):
        self.total = total
        self.done = self.before = done
        self.progress = progress
        self.start = time.perf_counter()
        if progress:
            progress(done, total, None)

    def tick(self) -> None:
        """Report that one more part is finished."""
        self.done += 1
        if self.progress:
            seconds_per_part = (time.perf_counter() - self.start) / (self.done - self.before)
            self.progress(self.done, self.total, seconds_per_part * (self.total - self.done))


def progress_callback(verbose: Any) -> Progress | None:
    """Return the progress callback for the parameter ``verbose`` of an estimator.

    Parameters
    ----------
    verbose : bool or callable
        False: no callback. True: :func:`print_progress`. A callable is returned unchanged.
    """
    if callable(verbose):
        return verbose
    return print_progress if verbose else None


def print_progress(
    done: int, total: int, seconds_left: float | None = None, message: str = ""
) -> None:
    """Print progress as one line."""
    remaining = "" if seconds_left is None else f", {seconds_left:.0f} s left"
    print(f"{done} of {total}{remaining}{': ' * bool(message)}{message}", flush=True)
