"""Ratios of running times, which depend less on the machine than the times themselves."""

import math
import time
from dataclasses import dataclass


@dataclass
class Ratio:
    """One row of the table: our time divided by the time of the other method.

    If ``power`` is True, ``ratio`` is the power of the size by which time grows.
    """

    what: str
    against: str
    ratio: float
    must: str = ""
    power: bool = False

    def row(self):
        if self.power:
            shown = f"power {self.ratio:.2f}"
        elif self.ratio < 0.5:
            shown = f"{1 / self.ratio:.0f} x faster"
        else:
            shown = f"{self.ratio:.2f} x its time"
        return {"what": self.what, "against": self.against, "ours": shown, "must": self.must}


def ratio(ours, theirs, repeats=7):
    """Return the ratio of the shortest times of two functions, run in turn."""
    ours()
    theirs()
    best = {ours: float("inf"), theirs: float("inf")}
    for _ in range(repeats):
        for function in best:
            start = time.perf_counter()
            function()
            best[function] = min(best[function], time.perf_counter() - start)
    return best[ours] / best[theirs]


def growth(what, sizes, at, expected):
    """Return the power p in ``time ~ size^p``, from the times at the first and the last size.

    ``at(size)`` returns the function to time.
    """
    best = {size: float("inf") for size in sizes}
    functions = {size: at(size) for size in sizes}
    for function in functions.values():
        function()
    for _ in range(3):
        for size, function in functions.items():
            start = time.perf_counter()
            function()
            best[size] = min(best[size], time.perf_counter() - start)
    power = math.log(best[sizes[-1]] / best[sizes[0]]) / math.log(sizes[-1] / sizes[0])
    return Ratio(what, f"sizes {sizes[0]:,} to {sizes[-1]:,}", power, expected, power=True)
