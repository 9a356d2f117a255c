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
        faster = f"{self.ratio:.2f} x" if self.ratio > 0.1 else f"1/{1 / self.ratio:.0f} x"
        return {"what": self.what, "against": self.against, "time": faster, "must": self.must}


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
