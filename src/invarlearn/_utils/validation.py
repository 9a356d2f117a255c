"""Validation of parameters and input."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.utils import check_array, check_random_state

Shape = int | tuple[int, ...] | None


def check_number(
    value: Any, name: str, low: float = -np.inf, high: float = np.inf, whole: bool = False
) -> float:
    """Return a parameter as a float; raise unless it is a finite number within bounds.

    Parameters
    ----------
    value : object
        Value of the parameter.
    name : str
        Name of the parameter, for the error.
    low, high : float
        Bounds, both allowed.
    whole : bool, default=False
        Whether the number must be an integer.
    """
    kind = "a whole number" if whole else "a number"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} must be {kind}")
    number = float(value)
    allowed = np.isfinite(number) and low <= number <= high
    if not allowed or (whole and not isinstance(value, Integral)):
        if np.isfinite(low) and np.isfinite(high):
            kind += f" between {low:g} and {high:g}"
        elif np.isfinite(low):
            kind += f", at least {low:g}"
        elif np.isfinite(high):
            kind += f", at most {high:g}"
        raise ValueError(f"{name}={value!r} must be {kind}")
    return number


def check_choice(value: Any, choices: Sequence[str | None], name: str) -> Any:
    """Return a parameter that must be one of several values; otherwise raise and list them.

    Parameters
    ----------
    value : object
    choices : sequence of str or None
    name : str
        Name of the parameter.
    """
    if value not in choices:
        names = [str(choice) for choice in choices]
        similar = get_close_matches(str(value).lower(), names, n=1)
        hint = f" (did you mean {similar[0]!r}?)" if similar else ""
        raise ValueError(f"{name}={value!r} is unknown: choose one of {', '.join(names)}{hint}")
    return value


def check_memory(shape: tuple[int, ...], dtype: Any, what: str, advice: str) -> None:
    """Raise MemoryError if an array would exceed scikit-learn's ``working_memory``.

    Parameters
    ----------
    shape : tuple of int
    dtype : dtype
    what, advice : str
        What the array is and how to avoid it, for the error.
    """
    needed = float(np.prod(shape, dtype=float)) * np.dtype(dtype).itemsize / 2**20
    limit = get_config()["working_memory"]
    if needed > limit:
        raise MemoryError(
            f"{what} ({' x '.join(map(str, shape))}) would take {needed:,.0f} MiB, more than the "
            f"working memory of {limit:,.0f} MiB: {advice}, or raise "
            "sklearn.set_config(working_memory=...)"
        )


def check_score(X: Any, w: ArrayLike, sign: ArrayLike | None) -> tuple[NDArray, NDArray]:
    """Return the validated weights and signs of a linear score of the rows X.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
    w : array-like of shape (n_features,)
    sign : array-like of shape (n_samples,) or None
        None: all signs are 1.

    Returns
    -------
    w : array of shape (n_features,)
    signs : array of shape (n_samples,)
    """
    w = check_array(w, dtype=X.dtype, ensure_2d=False, input_name="w")
    if w.shape != (X.shape[1],):
        raise ValueError(f"w has shape {w.shape}; for these rows it must be ({X.shape[1]},)")
    sign = np.ones(X.shape[0]) if sign is None else sign
    signs = check_array(sign, dtype=X.dtype, ensure_2d=False, input_name="sign")
    if signs.shape != (X.shape[0],):
        raise ValueError(f"sign has shape {signs.shape}; it must be ({X.shape[0]},)")
    return w, signs


def check_generator(random_state: Any) -> np.random.RandomState:
    """Return a RandomState; None: a new one, never numpy's global generator."""
    return np.random.RandomState() if random_state is None else check_random_state(random_state)


def as_tuple(shape: Shape) -> tuple[int, ...]:
    """Return a shape as a tuple of positive whole numbers."""
    sides = (shape,) if isinstance(shape, Integral) else shape
    if (
        not isinstance(sides, (tuple, list))
        or not sides
        or not all(isinstance(side, Integral) and side > 0 for side in sides)
    ):
        raise ValueError(f"shape={shape!r} must be a positive whole number or a tuple of them")
    return tuple(int(side) for side in sides)


def matching_shape(shape: Shape, n_features: int, name: str) -> tuple[int, ...]:
    """Return a shape as a tuple; raise unless it has ``n_features`` elements in all."""
    sides = as_tuple(shape)
    if np.prod(sides) != n_features:
        raise ValueError(
            f"{name} has shape={sides}, that is {int(np.prod(sides))} features, "
            f"but X has {n_features}"
        )
    return sides
