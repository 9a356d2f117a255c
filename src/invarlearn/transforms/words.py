"""Families in words: ``"translation:2 rotation:15 shear:0.3"``."""

from __future__ import annotations

import math
from difflib import get_close_matches
from functools import reduce
from inspect import Parameter, signature
from numbers import Integral, Real
from operator import mul
from typing import Any

import numpy as np

from invarlearn.transforms.audio import PitchShift, TimeStretch
from invarlearn.transforms.bags import FeatureDropping, FeatureScaling
from invarlearn.transforms.base import Family, Identity
from invarlearn.transforms.combine import Product
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


def words_of_family(family: Family, **usual: Any) -> str:
    """Give the words for a family, how far it goes always among them; numbers have six digits.

    Parameters
    ----------
    family : Family
    **usual
        Parameters that are not told if they have these values, as for :func:`family_of_words`.

    Returns
    -------
    str
        Families for which there are no words are given as in Python.

    Examples
    --------
    >>> words_of_family(Translation(2) * Rotation(15, n_steps=5))
    'translation:2 rotation:15,n_steps=5'
    >>> words_of_family(Identity())
    'nothing'
    """
    if isinstance(family, Identity):
        return "nothing"
    parts = family.parts if isinstance(family, Product) else [family]
    words = [_told(part, usual) for part in parts]
    return " ".join(words) if all(words) else repr(family)


def _told(family: Family, usual: dict[str, Any]) -> str:
    """Give the word of a family, or nothing if there is none."""
    word = next((one for one, known in WORDS.items() if type(family) is known), "")
    if not word:
        return ""
    values, told = family.get_params(deep=False), []
    for i, (name, one) in enumerate(_parameters(type(family)).items()):
        value, expected = _text(values[name]), _text(usual.get(name, one.default))
        if not value:
            return ""
        if i == 0 and values[name] is not None:
            told.append(value)
        elif value != expected:
            told.append(f"{name}={value}")
    return f"{word}:{','.join(told)}" if told else word


def _text(value: Any) -> str:
    """Write a value as words have it, numbers with six digits; nothing if that cannot be done."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (tuple, list)):
        texts = [_text(one) for one in value]
        return ",".join(texts) if all(texts) else ""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, (str, Integral)):
        return str(value)
    return f"{value:g}" if isinstance(value, Real) else ""


def explain_words(**usual: Any) -> list[dict[str, str]]:
    """Say of every word how it is written, what its value means, and what else can be said.

    Parameters
    ----------
    **usual
        As for :func:`family_of_words`.

    Examples
    --------
    >>> explain_words(fill="edge")[1]["word"], explain_words(fill="edge")[1]["further"]
    ('rotation:15', 'n_steps=3, fill=edge')
    """
    rows = []
    for word, family in WORDS.items():
        parameters = _parameters(family)
        first, *others = parameters
        defaults = {name: usual.get(name, parameters[name].default) for name in others}
        rows.append(
            {
                "word": _told(family(), {}) or word,
                "of": family.domain,
                "what_may_change": _plain((family.__doc__ or "").partition("\n")[0]),
                "value": _meaning(family, first),
                "further": ", ".join(f"{name}={_text(one)}" for name, one in defaults.items()),
            }
        )
    return rows


def _meaning(family: type[Family], parameter: str) -> str:
    """Give the first sentence of what the documentation says of a parameter, after its name."""
    lines, names = iter((family.__doc__ or "").splitlines()), ""
    for line in lines:
        names, found, _ = line.strip().partition(" : ")
        if found and parameter in names.split(", "):
            break
    told = ""
    for line in lines:
        told = f"{told} {line.strip()}".strip()
        if not line.strip() or ". " in told or told.endswith("."):
            break
    return f"{names}: {_plain(told.partition('. ')[0])}"


def _plain(text: str) -> str:
    return text.replace("``", "").rstrip(".")


def _family(word: str, usual: dict[str, Any]) -> Family:
    name, _, rest = word.partition(":")
    key = name.lower().replace("_", "-")
    known = {one.replace("-", ""): family for one, family in WORDS.items()}
    family = known.get(key.replace("-", ""))
    if family is None:
        raise ValueError(f"{name!r} is no word for what may change: {_hint(key)}")
    if ":" in rest:
        raise ValueError(
            f"{word!r}: values stand between commas, and words between spaces, as in "
            "'translation:2 rotation:15'"
        )
    parameters = _parameters(family)
    taken = {name: value for name, value in usual.items() if name in parameters}
    return family(**{**taken, **_values(word, rest, parameters)})


def _hint(name: str) -> str:
    near = get_close_matches(name, WORDS, n=1)
    if near:
        return f"did you mean {near[0]!r}? There are {', '.join(WORDS)}"
    if name.lstrip("+-").replace(".", "").isdecimal():
        return "write a value after its word and a colon, as in translation:2"
    return f"choose {', '.join(WORDS)}"


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
