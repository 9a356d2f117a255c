"""Estimators that are printed as they are written."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


class Readable(BaseEstimator):
    """An estimator whose parameters are printed by their own repr.

    scikit-learn's repr looks into estimators that are parameters instead, ``a * b`` among them, and
    shortens what is long, so that it could not be read back.
    """

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        defaults = signature(type(self).__init__).parameters
        shown = [
            f"{name}={_plain(value)!r}"
            for name, value in self.get_params(deep=False).items()
            if not _same(value, defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def _plain(value: Any) -> Any:
    """Give numpy's numbers and arrays as Python's, so that a repr reads back; not large ones."""
    plain = isinstance(value, (np.ndarray, np.generic)) and value.size <= 1000
    return value.tolist() if plain else value


def _same(value: Any, default: Any) -> bool:
    try:
        return type(value) is type(default) and bool(np.all(value == default))
    except (TypeError, ValueError):
        return False
