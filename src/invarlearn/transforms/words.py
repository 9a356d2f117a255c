"""Families in words: ``"translation:2 rotation:15 shear:0.3"``."""

from __future__ import annotations

import math
from functools import reduce
from inspect import Parameter, signature
from operator import mul
from typing import Any

from invarlearn.transforms.audio import PitchShift, TimeStretch
from invarlearn.transforms.bags import FeatureDropping, FeatureScaling
from invarlearn.transforms.base import Family, Identity
from invarlearn.transforms.elastic import Elastic
from invarlearn.transforms.images import (
    Hyperbolic,
    Reflection,
    Rotation,
    Scaling,
    Shear,
    Thickness,
    Translation,
)
from invarlearn.transforms.sequences import CyclicShift, Permutation

# One line makes a family a word.
_FAMILIES: tuple[type[Family], ...] = (
    Translation,
    Rotation,
    Scaling,
    Shear,
    Hyperbolic,
    Reflection,
    Thickness,
    Elastic,
    PitchShift,
    TimeStretch,
    CyclicShift,
    Permutation,
    FeatureScaling,
    FeatureDropping,
)
# What rows say of themselves, and words do not.
_LEFT_OUT = ("shape",)


def _word(family: type[Family]) -> str:
    """Give the name of a class in small letters, its parts joined by hyphens."""
    name = family.__name__
    return "".join("-" * (c.isupper() and i > 0) + c.lower() for i, c in enumerate(name))


WORDS: dict[str, type[Family]] = {_word(family): family for family in _FAMILIES}


def family_of_words(text: str, **usual: Any) -> Family:
    """Build a family from words: the product of what they name.

    A word is the name of a family and, after a colon, its parameters in order, or by name:
    ``rotation:15``, ``pitch-shift:400``, ``time-stretch:0.85,1.18``, ``reflection:axis=0``.

    Parameters
    ----------
    text : str
        Words between spaces; "nothing" for no invariance at all.
    **usual
        Parameters that families which have them take where their word says nothing of it.

    Returns
    -------
    Family

    Examples
    --------
    >>> family_of_words("translation:2 rotation:15,n_steps=5")
    Translation(radius=2) * Rotation(n_steps=5)
    >>> family_of_words("rotation:15 reflection", fill="edge")
    Rotation(fill='edge') * Reflection()
    >>> family_of_words("nothing")
    Identity()
    """
    words = text.split()
    if not words:
        raise ValueError(f"no word says what may change: try one of {', '.join(WORDS)}, or nothing")
    if words == ["nothing"]:
        return Identity()
    return reduce(mul, [_family(word, usual) for word in words])


def explain_words() -> list[dict[str, str]]:
    """Say of every word how it is written, and what it means.

    >>> explain_words()[1]["word"]
    'rotation:degrees,n_steps,fill'
    """
    rows = []
    for word, family in WORDS.items():
        names = ",".join(_parameters(family))
        meaning = (family.__doc__ or "").partition("\n")[0]
        rows.append({"word": f"{word}:{names}" if names else word, "of": family.domain})
        rows[-1]["what_may_change"] = meaning.rstrip(".")
    return rows


def _family(word: str, usual: dict[str, Any]) -> Family:
    name, _, rest = word.partition(":")
    key = name.lower().replace("_", "-")
    known = {one.replace("-", ""): family for one, family in WORDS.items()}
    family = known.get(key.replace("-", ""))
    if family is None:
        raise ValueError(f"{name!r} is no word for what may change: choose {', '.join(WORDS)}")
    parameters = _parameters(family)
    taken = {name: value for name, value in usual.items() if name in parameters}
    return family(**{**taken, **_values(word, rest, parameters)})


def _parameters(family: type[Family]) -> dict[str, Parameter]:
    found = signature(family).parameters
    return {name: one for name, one in found.items() if name not in _LEFT_OUT}


def _values(word: str, rest: str, parameters: dict[str, Parameter]) -> dict[str, Any]:
    """Sort values between commas to parameters; what has no name belongs to the next one."""
    # parameters that are lists take all values up to the next name
    lists = [name for name, one in parameters.items() if isinstance(one.default, tuple)]
    found: dict[str, list[Any]] = {}
    names, last = iter(parameters), ""
    for item in rest.split(",") if rest else []:
        name, named, value = item.rpartition("=")
        if named:
            last = name
        elif last not in lists:
            last = next(names, "")
        if last not in parameters:
            what = f"no parameter {last!r}" if named else "too many values"
            raise ValueError(f"{word!r}: {what}; there are {', '.join(parameters)}")
        if last in found and last not in lists:
            raise ValueError(f"{word!r} gives {last} twice")
        found.setdefault(last, []).append(_value(word, value))
    return {name: tuple(v) if name in lists else v[0] for name, v in found.items()}


_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "none": None}


def _value(word: str, text: str) -> Any:
    """Read a number, a truth value, or a name such as ``edge``."""
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    try:
        number = float(text)
    except ValueError:
        if text.isalpha():
            return text
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{word!r}: {text!r} is not a number")
    return int(number) if text.lstrip("+-").isdecimal() else number
