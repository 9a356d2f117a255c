"""Checks and changes of the parameters of families."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import isfunction, signature
from typing import Any

import numpy as np

from invarlearn._utils.validation import as_tuple


def check_names(family: type) -> None:
    """Raise TypeError if a parameter or attribute of a class hides a method of its base classes."""
    parameters = [name for name in signature(family).parameters if name != "self"]
    attributes = [
        name
        for name, value in vars(family).items()
        if not callable(value) and not hasattr(value, "__get__")
    ]
    for name in (*parameters, *attributes):
        owners = [base for base in family.__mro__ if _is_method(vars(base).get(name))]
        if owners and (name in parameters or isfunction(vars(owners[0])[name])):
            what = "parameter" if name in parameters else "attribute"
            raise TypeError(
                f"{what} {name!r} of {family.__name__} hides {owners[0].__name__}.{name}, which "
                f"families need: choose another name for the {what}"
            )


def _is_method(value: Any) -> bool:
    return isfunction(value) or isinstance(value, (property, classmethod, staticmethod))


def declared_features(family: Any, what: str) -> int:
    """Return the number of features of the shape of a family; raise ValueError if it has none."""
    if family.shape is None:
        raise ValueError(
            f"{what} of {family!r} depends on the shape of a row: "
            "pass shape=, or use family.with_shape(shape)"
        )
    return int(np.prod(as_tuple(family.shape)))


def by_name(parts: Sequence[Any]) -> dict[str, Any]:
    """Return parts of a family by name: ``translation``; ``rotation-2`` for the second of two."""
    names = [type(part).__name__.lower() for part in parts]
    return {
        name if names.count(name) == 1 else f"{name}-{names[: i + 1].count(name)}": part
        for i, (name, part) in enumerate(zip(names, parts, strict=True))
    }


def scaled_ranges(family: Any, factor: float) -> dict[str, Any]:
    """Return the parameters of a family whose ranges are scaled, with their new values."""
    limits = {name: getattr(family, name) for name in family.ranges_about_zero}
    products = {name: limit * factor for name, limit in limits.items() if limit is not None}
    powers = {name: _raised(getattr(family, name), factor) for name in family.ranges_about_one}
    return products | powers


def _raised(value: Any, exponent: float) -> Any:
    """Return a number, or each number of a sequence, raised to a power."""
    powers = np.power(np.asarray(value, dtype=float), exponent)
    return float(powers) if powers.ndim == 0 else tuple(powers.tolist())
