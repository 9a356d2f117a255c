"""A repr of estimators that can be evaluated."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator


class ReprMixin(BaseEstimator):
    """Mixin for estimators with a repr that can be evaluated.

    Each parameter is printed by its own repr. scikit-learn's repr shortens long values, and prints
    nested estimators by their parameters, so that a product of families is not printed as
    ``a * b``. Pipelines still use scikit-learn's repr.
    """

    # numpy abbreviates larger arrays
    max_printed_size: float = 1000

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        defaults = signature(type(self).__init__).parameters
        changed_only = get_config()["print_changed_only"]
        arguments = [
            f"{name}={_plain(value, self.max_printed_size)!r}"
            for name, value in self.get_params(deep=False).items()
            if not (changed_only and _is_default(value, defaults[name].default))
        ]
        return f"{type(self).__name__}({', '.join(arguments)})"


def _plain(value: Any, max_size: float) -> Any:
    """Return numpy scalars and small arrays as numbers and lists, whose repr can be evaluated."""
    if type(value) in (list, tuple):
        return type(value)(_plain(item, max_size) for item in value)
    is_converted = isinstance(value, (np.ndarray, np.generic)) and value.size <= max_size
    return value.tolist() if is_converted else value


def _is_default(value: Any, default: Any) -> bool:
    try:
        return type(value) is type(default) and bool(np.all(value == default))
    except (TypeError, ValueError):
        return False
