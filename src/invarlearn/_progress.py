"""How far long work has come, told to whoever asks."""

from __future__ import annotations

import time
from collections.abc import Callable

# Called with (done, total, seconds left or None).
Progress = Callable[[int, int, float | None], None]


class Clock:
    """Tell how far work of equal parts has come, and how long it may still take.

    Parameters
    ----------
    total, done : int
        Parts in all, and parts that were done before.
    progress : callable, optional
        Called now and with every tick.
    """

    def __init__(self, total: int, done: int, progress: Progress | None):
        self.total = total
        self.done = self.before = done
        self.progress = progress
        self.start = time.perf_counter()
        if progress:
            progress(done, total, None)

    def tick(self) -> None:
        """Say that one more part is done."""
        self.done += 1
        if self.progress:
            pace = (time.perf_counter() - self.start) / (self.done - self.before)
            self.progress(self.done, self.total, pace * (self.total - self.done))
