"""Side-by-side timing: ratios, since machines are shared and noisy."""

import time
from dataclasses import dataclass


@dataclass
class Ratio:
    """One line of the table: time of ours over time of the other."""

    what: str
    against: str
    ratio: float
    must: str = ""

    def row(self):
        if self.ratio < 0.5:
            shown = f"{1 / self.ratio:.0f} x faster"
        else:
            shown = f"{self.ratio:.2f} x its time"
        return {"what": self.what, "against": self.against, "ours": shown, "must": self.must}


def ratio(ours, theirs, repeats=7):
    """Give the ratio of the shortest times of two functions, run in turn."""
    ours()
    theirs()
    best = {ours: float("inf"), theirs: float("inf")}
    for _ in range(repeats):
        for function in best:
            start = time.perf_counter()
            function()
            best[function] = min(best[function], time.perf_counter() - start)
    return best[ours] / best[theirs]
