"""What the judges of all papers share: numbers of draws, and paired comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from invarlearn.experiments.claims import Finding

Records = list[dict[str, Any]]
Judge = Callable[[Records], Finding | None]

# Level of significance of paired tests.
LEVEL = 0.05


def values_of_draws(records: Records, metric: str = "accuracy", **cell: Any) -> NDArray[np.float64]:
    """Return the results of a cell in the order of its seeds: (n_draws,)."""
    by_seed = {
        record["run"]["seed"]: record["result"][metric]
        for record in records
        if all(record["run"][name] == value for name, value in cell.items())
    }
    return np.array([by_seed[seed] for seed in sorted(by_seed)])


def mean_of_draws(records: Records, metric: str = "accuracy", **cell: Any) -> float:
    """Return the mean of a cell over its draws; NaN if it has no stored runs."""
    values = values_of_draws(records, metric, **cell)
    return float(values.mean()) if len(values) else float("nan")
