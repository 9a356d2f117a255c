"""Cases of the golden record: a name, a function that computes values, a tolerance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

# Each has one file of recorded values, and one or more files of declarations.
AREAS = (
    "families",
    "kernels",
    "functionals",
    "features",
    "losses_and_risks",
    "estimators",
    "invariant",
    "audits",
    "command_line",
)
# Further files of declarations of an area.
FURTHER = {"estimators": ("representers", "worst_case")}


@dataclass(frozen=True)
class Tolerance:
    """How far a number may be from the recorded one, relative to the largest of its array.

    Attributes
    ----------
    relative : float
        Arrays in single precision get at least that of ``SINGLE``.
    reason : str
        Why the number is not more precise.
    """

    relative: float
    reason: str


DOUBLE = Tolerance(1e-8, "a closed form in double precision")
SINGLE = Tolerance(1e-4, "a closed form in single precision")


def iterated(relative: float, solver: str) -> Tolerance:
    """Return the tolerance of a solver that iterates."""
    return Tolerance(relative, f"{solver}, which stops at a tolerance of its own")


@dataclass(frozen=True)
class Near:
    """A value with a tolerance of its own, such as a duality gap.

    Attributes
    ----------
    value : float or array
    absolute : float
        How far each number may be from the recorded one.
    reason : str
    """

    value: Any
    absolute: float
    reason: str


@dataclass(frozen=True)
class Labels:
    """Predicted labels, with the scores that decide where two labels are tied.

    Attributes
    ----------
    labels : array of shape (n_samples,)
    scores : array of shape (n_samples,) or (n_samples, n_classes), or None
        None: labels must be identical.
    """

    labels: Any
    scores: Any = None


@dataclass(frozen=True)
class Case:
    """One case of the record.

    Attributes
    ----------
    name : str
    area : str
    compute : callable
        Returns a dict of values: numbers, strings, arrays, :class:`Near`, :class:`Labels`.
    tolerance : Tolerance
    """

    name: str
    area: str
    compute: Callable[[], dict[str, Any]]
    tolerance: Tolerance


class Cases:
    """The cases of one area, in the order in which they are declared."""

    def __init__(self, area: str):
        self.area = area
        self.cases: list[Case] = []

    def add(
        self, name: str, compute: Callable[[], dict[str, Any]], tolerance: Tolerance = DOUBLE
    ) -> None:
        """Declare a case."""
        if any(case.name == name for case in self.cases):
            raise ValueError(f"case {name!r} of {self.area} is declared twice")
        self.cases.append(Case(name, self.area, compute, tolerance))

    def case(self, tolerance: Tolerance = DOUBLE) -> Callable[[Any], Any]:
        """Declare a case by decorating its function, whose name it takes."""

        def declare(function: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
            self.add(function.__name__, function, tolerance)
            return function

        return declare

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)


@cache
def declared_cases() -> tuple[Case, ...]:
    """Return all cases of all areas."""
    return tuple(case for name in declaring() for case in import_module(f"golden.{name}").CASES)


def declaring() -> tuple[str, ...]:
    """Return the names of the files that declare cases."""
    return tuple(name for area in AREAS for name in (area, *FURTHER.get(area, ())))


# Arrays with more numbers are stored as a few projections, entries and norms.
WHOLE = 24
PROJECTIONS, ENTRIES = 5, 8


@cache
def _directions(size: int) -> np.ndarray:
    # bits of the Mersenne Twister are the same on every machine
    signs = np.random.RandomState(size % 2**31).randint(0, 2, (PROJECTIONS, size), dtype=np.int8)
    return 2 * signs - 1


def stored(value: Any) -> dict[str, Any]:
    """Return the entries of the record for one value: a dict of JSON values by suffix."""
    if isinstance(value, Near):
        inner = _numbers(value.value)
        return {**inner, "absolute": value.absolute, "reason": value.reason}
    if isinstance(value, Labels):
        return _labels(value)
    if isinstance(value, dict | list | tuple | str | bool | int | np.bool_ | np.integer):
        return {"exact": _plain(value)}
    if value is None:
        return {"exact": None}
    array = value.toarray() if hasattr(value, "toarray") else np.asarray(value)
    if array.dtype.kind in "biuOUS":
        plain = array.ravel().tolist()
        return {"exact": plain if len(plain) <= 400 else _fold(array), "shape": list(array.shape)}
    return _numbers(array)


def _fold(array: np.ndarray) -> list[int]:
    """Return checksums of an array of integers."""
    numbers = array.ravel().astype(np.int64)
    return [int(numbers.sum()), int((numbers * (1 + np.arange(len(numbers)) % 9973)).sum())]


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def _numbers(value: Any) -> dict[str, Any]:
    array = np.asarray(value)
    single = array.dtype == np.float32
    entries: dict[str, Any] = {"shape": list(array.shape), "dtype": str(array.dtype)}
    flat = array.ravel()
    finite = flat[np.isfinite(flat)]
    scale = float(np.abs(finite).max()) if len(finite) else 0.0
    if len(flat) <= WHOLE:
        return {**entries, "scale": _short(scale, single), "values": _listed(flat, single)}
    chosen = np.linspace(0, len(flat) - 1, ENTRIES).round().astype(int)
    if len(finite) < len(flat):
        entries["not_finite"] = np.flatnonzero(~np.isfinite(flat)).tolist()
    numbers = np.where(np.isfinite(flat), flat, 0).astype(float)
    projected = [float(one @ numbers) / np.sqrt(len(flat)) for one in _directions(len(flat))]
    norm = float(np.linalg.norm(numbers)) / np.sqrt(len(flat))
    values = [*_listed(flat[chosen], single), *map(float, projected), norm]
    # digits beyond the precision carry no information, and make the record large
    values = [float(f"{one:.9g}") for one in values] if single else values
    return {**entries, "scale": _short(scale, single), "values": values}


def _short(number: float, single: bool) -> float:
    return float(str(np.float32(number))) if single else float(number)


def _listed(flat: np.ndarray, single: bool) -> list[float]:
    return [_short(one, single) for one in flat.tolist()]


def _labels(value: Labels) -> dict[str, Any]:
    labels = np.asarray(value.labels).tolist()
    if value.scores is None:
        return {"labels": labels}
    scores = np.asarray(value.scores, dtype=float)
    if scores.ndim == 1:
        margins = 2 * np.abs(scores)
    else:
        ordered = np.sort(scores, axis=1)
        margins = ordered[:, -1] - ordered[:, -2]
    scale = float(np.abs(scores).max())
    # three digits tell a tie
    return {
        "labels": labels,
        "margins": [float(f"{one:.3g}") for one in margins],
        "scale": float(f"{scale:.6g}"),
        "single": np.asarray(value.scores).dtype == np.float32,
    }


def differences(old: dict[str, Any], new: dict[str, Any], tolerance: Tolerance) -> str:
    """Describe how a value differs from the recorded one by more than its tolerance.

    Returns
    -------
    str
        Empty if it is within its tolerance.
    """
    if "labels" in old:
        return _label_differences(old, new, tolerance)
    if "exact" in old or "exact" in new:
        return "" if old == new else f"recorded {_brief(old)}, now {_brief(new)}"
    for name in ("shape", "dtype", "not_finite"):
        if old.get(name) != new.get(name):
            return f"its {name} is {new.get(name)}, recorded {old.get(name)}"
    far, allowed = distance(old, new), allowed_distance(old, tolerance)
    if far <= allowed:
        return ""
    before, after = np.array(old["values"], dtype=float), np.array(new["values"], dtype=float)
    at = int(np.argmax(_apart(before, after)))
    reason = old.get("reason", tolerance.reason)
    return (
        f"{after[at]!r} where {before[at]!r} is recorded (number {at} of {len(before)}): differs "
        f"by {far:.2e}, tolerance {allowed:.2e} ({reason})"
    )


def distance(old: dict[str, Any], new: dict[str, Any]) -> float:
    """Return the largest difference of the numbers of two values of one shape."""
    before, after = np.array(old["values"], dtype=float), np.array(new["values"], dtype=float)
    return float(_apart(before, after).max(initial=0.0))


def allowed_distance(old: dict[str, Any], tolerance: Tolerance) -> float:
    """Return how far numbers may be from recorded ones."""
    if "absolute" in old:
        return float(old["absolute"])
    single = old.get("dtype") == "float32" or old.get("single")
    relative = max(tolerance.relative, SINGLE.relative) if single else tolerance.relative
    return relative * float(old["scale"]) + 1e-13


def _apart(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(after - before))
    return np.where(np.isnan(apart), np.inf, apart)


def _label_differences(old: dict[str, Any], new: dict[str, Any], tolerance: Tolerance) -> str:
    before, after = old["labels"], new.get("labels", [])
    if len(before) != len(after):
        return f"{len(after)} labels, recorded {len(before)}"
    margins = old.get("margins", [np.inf] * len(before))
    tie = 2 * allowed_distance(old, tolerance) if "margins" in old else 0.0
    wrong = [
        i
        for i, (a, b, margin) in enumerate(zip(before, after, margins, strict=True))
        if a != b and margin > tie
    ]
    if not wrong:
        return ""
    i = wrong[0]
    return (
        f"{len(wrong)} of {len(before)} labels differ beyond ties (margins up to {tie:.1e}); the "
        f"first is number {i}: {after[i]!r}, recorded {before[i]!r} with a margin of {margins[i]}"
    )


def _brief(value: dict[str, Any]) -> str:
    text = repr(value.get("exact", value.get("values")))
    return text if len(text) < 200 else text[:200] + "…"
