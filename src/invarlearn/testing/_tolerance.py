"""Tolerances of comparisons, by precision."""

from __future__ import annotations

from typing import Any

import numpy as np


def tolerance(dtype: Any) -> dict[str, Any]:
    """Return the tolerances of ``numpy.allclose`` for rows of a dtype."""
    return {"rtol": 1e-9, "atol": 1e-12} if dtype == np.float64 else {"rtol": 1e-4, "atol": 1e-5}
