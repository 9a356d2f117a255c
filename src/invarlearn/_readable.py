"""Estimators that are printed as they are written."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator


class Readable(BaseEstimator):
    """An estimator whose parameters are printed by their own repr.

    scikit-learn's repr looks into estimators that are parameters instead, ``a * b`` among them, and
    shortens what is long, so that it could not be read back. That of a pipeline still does.
    """

    # arrays of more numbers are shortened
    _numbers_printed: float = 1000

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        defaults = signature(type(self).__init__).parameters
        changed_only = get_config()["print_changed_only"]
        shown = [
            f"{name}={_plain(value, self._numbers_printed)!r}"
            for name, value in self.get_params(deep=False).items()
            if not (changed_only and _same(value, defaults[name].default))
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def _plain(value: Any, most: float) -> Any:
    """Give numpy's numbers and arrays as Python's, so that a repr reads back; not large ones."""
    if type(value) in (list, tuple):
        return type(value)(_plain(one, most) for one in value)
    plain = isinstance(value, (np.ndarray, np.generic)) and value.size <= most
    return value.tolist() if plain else value


def _same(value: Any, default: Any) -> bool:
    try:
        return type(value) is type(default) and bool(np.all(value == default))
    except (TypeError, ValueError):
        return False
