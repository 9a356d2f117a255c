"""Family specifications, such as ``"translation:2 rotation:15"``, and the table of families.

The table is built from the classes of this package that define a ``spec_name``. The specification
language, the command line, the types that model files may contain, the table in the documentation
and the contract tests read this table. A new family is therefore one new file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from difflib import get_close_matches
from functools import reduce
from inspect import Parameter, signature
from numbers import Integral, Real
from operator import mul
from typing import Any

import numpy as np

from invarlearn._utils.discovery import defined_classes
from invarlearn.transforms.actions import SingleElement
from invarlearn.transforms.base import Family
from invarlearn.transforms.combine import Product
from invarlearn.transforms.domains import DOMAINS, ROWS, Domain
from invarlearn.transforms.identity import Identity

PACKAGE = __name__.rpartition(".")[0]
# The shape depends on the rows, so that specifications do not contain it.
LEFT_OUT = ("shape",)
NOTHING = Identity.spec_name


def own_families() -> list[type[Family]]:
    """Return the families of this package: all classes that define ``spec_name`` in their body.

    They are sorted by domain and name; domains that ``DOMAINS`` lacks come last. Private modules
    and subpackages are not searched.
    """
    families = [
        family
        for family in defined_classes(PACKAGE, Family, skip=__name__)
        if "spec_name" in vars(family) and family is not Family
    ]
    ranks = {domain: rank for rank, domain in enumerate(DOMAINS)}

    def rank(family: type[Family]) -> tuple[int, str, str]:
        domain = _domain(family)
        return ranks.get(domain, len(ranks)), domain.name, family.__name__

    return sorted(families, key=rank)


def _domain(family: type[Family]) -> Domain:
    # the domain of a product depends on its parts
    return family.domain if isinstance(family.domain, Domain) else ROWS


def _by_name(families: list[type[Family]]) -> dict[str, type[Family]]:
    table: dict[str, type[Family]] = {}
    for family in families:
        if family.spec_name in table:
            names = f"{table[family.spec_name].__name__} and {family.__name__}"
            raise TypeError(f"{names} have the same spec_name {family.spec_name!r}: change one")
        if family.spec_name not in ("", NOTHING):
            table[family.spec_name] = family
    return table


# The families of specifications, by name.
FAMILIES: dict[str, type[Family]] = _by_name(own_families())


def stored_type_names() -> tuple[str, ...]:
    """Return the full names of all types of this package that a model file may contain.

    These are the families of the table, :class:`Identity`, and the ``stored_types`` of each family,
    which must be classes and functions of this package.
    """
    types: list[Any] = [SingleElement]
    families: list[type[Family]] = [Identity, *FAMILIES.values()]
    for family in families:
        types += [family, *family.stored_types]
    foreign = [value for value in types if not value.__module__.startswith(f"{PACKAGE}.")]
    if foreign:
        raise TypeError(f"stored_types may contain classes of {PACKAGE} only, not {foreign}")
    return tuple(dict.fromkeys(f"{value.__module__}.{value.__qualname__}" for value in types))


def parse_family(text: str, **defaults: Any) -> Family:
    """Build the family of a specification.

    A specification names families, separated by spaces; their product is returned. A colon and
    values separated by commas may follow a name: parameters in order, or ``name=value``, as in
    ``rotation:15``, ``pitch-shift:400``, ``time-stretch:0.85,1.18``, ``reflection:axis=0``.

    Parameters
    ----------
    text : str
        Specification; "nothing" stands for :class:`Identity`.
    **defaults
        Values of parameters that the specification does not set. They apply to the families that
        have these parameters.

    Returns
    -------
    Family

    Examples
    --------
    >>> parse_family("translation:2 rotation:15,n_steps=5")
    Translation(radius=2) * Rotation(n_steps=5)
    >>> parse_family("rotation:15 reflection", fill="edge")
    Rotation(fill='edge') * Reflection()
    >>> parse_family("nothing")
    Identity()
    """
    parts = text.split()
    if not parts:
        raise ValueError(
            f"the family specification is empty: choose families among {', '.join(FAMILIES)}, "
            f"such as 'translation:2 rotation:15', or {NOTHING!r}"
        )
    if parts == [NOTHING]:
        return Identity()
    return reduce(mul, [_parse_part(part, defaults) for part in parts])


def format_family(family: Family, **defaults: Any) -> str:
    """Return the specification of a family.

    The first parameter is always included, other parameters only if they differ from their default.
    Numbers are rounded to six significant digits.

    Parameters
    ----------
    family : Family
    **defaults
        Defaults that replace those of the class, as in :func:`parse_family`.

    Returns
    -------
    str
        The specification; the repr of the family if it has no specification.

    Examples
    --------
    >>> from invarlearn.transforms import Rotation, Translation
    >>> format_family(Translation(2) * Rotation(15, n_steps=5))
    'translation:2 rotation:15,n_steps=5'
    >>> format_family(Identity())
    'nothing'
    """
    if family.is_identity:
        return NOTHING
    parts = family.parts if isinstance(family, Product) else [family]
    texts = [_format_part(part, defaults) for part in parts]
    return " ".join(texts) if all(texts) else repr(family)


def _format_part(family: Family, defaults: dict[str, Any]) -> str:
    """Return the specification of one family, or an empty string if it has none."""
    if FAMILIES.get(family.spec_name) is not type(family):
        return ""
    values, items = family.get_params(deep=False), []
    for i, (name, parameter) in enumerate(_parameters(type(family)).items()):
        value = _format_value(values[name])
        if not value:
            return ""
        if i == 0 and values[name] is not None:
            items.append(value)
        elif value != _format_value(defaults.get(name, parameter.default)):
            items.append(f"{name}={value}")
    return f"{family.spec_name}:{','.join(items)}" if items else family.spec_name


def _format_value(value: Any) -> str:
    """Return a value in the syntax of specifications, or an empty string if there is none."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (tuple, list)):
        texts = [_format_value(item) for item in value]
        return ",".join(texts) if all(texts) else ""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, (str, Integral)):
        return str(value)
    return f"{value:g}" if isinstance(value, Real) else ""


@dataclass(frozen=True)
class FamilyDescription:
    """A family of the specification language, for help texts and tables.

    Attributes
    ----------
    specification : str
        Specification of the family with its defaults, such as ``rotation:15``.
    class_name : str
    domain : str
        Name of the domain.
    summary : str
        First line of the docstring.
    value : str
        First parameter and its meaning; empty if there is none.
    options : str
        Other parameters with their defaults.
    """

    specification: str
    class_name: str
    domain: str
    summary: str
    value: str
    options: str


def describe_families(**defaults: Any) -> list[FamilyDescription]:
    """Return a description of each family of the specification language.

    Parameters
    ----------
    **defaults
        As in :func:`parse_family`.

    Returns
    -------
    list of FamilyDescription

    Examples
    --------
    >>> rows = {row.class_name: row for row in describe_families(fill="edge")}
    >>> rows["Rotation"].specification, rows["Rotation"].options
    ('rotation:15', 'n_steps=3, fill=edge')
    """
    return [_describe(family, defaults) for family in FAMILIES.values()]


def _describe(family: type[Family], defaults: dict[str, Any]) -> FamilyDescription:
    parameters = _parameters(family)
    first, others = list(parameters)[:1], list(parameters)[1:]
    values = {name: defaults.get(name, parameters[name].default) for name in others}
    return FamilyDescription(
        specification=_format_part(family(), {}) or family.spec_name,
        class_name=family.__name__,
        domain=family.domain.name,
        summary=_plain((family.__doc__ or "").partition("\n")[0]),
        value="".join(_meaning(family, name) for name in first),
        options=", ".join(f"{name}={_format_value(value)}" for name, value in values.items()),
    )


def _meaning(family: type[Family], parameter: str) -> str:
    """Return the name of a parameter, and the first sentence of its description."""
    lines = iter((family.__doc__ or "").splitlines())
    for line in lines:
        names, colon, _ = line.strip().partition(" : ")
        if colon and parameter in names.split(", "):
            break
    sentence = ""
    for line in lines:
        sentence = f"{sentence} {line.strip()}".strip()
        if not line.strip() or ". " in sentence or sentence.endswith("."):
            break
    return f"{parameter}: {_plain(sentence.partition('. ')[0])}"


def _plain(text: str) -> str:
    """Return a sentence without markup and without its full stop."""
    return text.replace("``", "").rstrip(".")


def _parse_part(part: str, defaults: dict[str, Any]) -> Family:
    name, _, rest = part.partition(":")
    key = name.lower().replace("_", "-")
    by_compact_name = {name.replace("-", ""): family for name, family in FAMILIES.items()}
    family = by_compact_name.get(key.replace("-", ""))
    if family is None:
        raise ValueError(f"unknown family {name!r} in the specification: {_hint(key)}")
    if ":" in rest:
        raise ValueError(
            f"{part!r} has two colons: separate values by commas and families by spaces, as in "
            "'translation:2 rotation:15'"
        )
    parameters = _parameters(family)
    applicable = {name: value for name, value in defaults.items() if name in parameters}
    return family(**{**applicable, **_parse_values(part, rest, parameters)})


def _hint(name: str) -> str:
    similar = get_close_matches(name, FAMILIES, n=1)
    if similar:
        return f"did you mean {similar[0]!r}? Families are {', '.join(FAMILIES)}"
    if name == NOTHING:
        return f"{NOTHING!r} cannot be combined with other families"
    if name.lstrip("+-").replace(".", "").isdecimal():
        return "write a value after the name of a family and a colon, as in 'translation:2'"
    return f"choose among {', '.join(FAMILIES)}"


def _parameters(family: type[Family]) -> dict[str, Parameter]:
    parameters = signature(family).parameters
    return {name: value for name, value in parameters.items() if name not in LEFT_OUT}


def _parse_values(part: str, text: str, parameters: dict[str, Parameter]) -> dict[str, Any]:
    """Return the values of parameters; values without a name are assigned in order."""
    # a parameter whose default is a tuple takes all values up to the next name
    lists = [name for name, value in parameters.items() if isinstance(value.default, tuple)]
    values: dict[str, list[Any]] = {}
    names, current = iter(parameters), ""
    for item in text.split(",") if text else []:
        name, equals, value = item.rpartition("=")
        if equals:
            current = name
        elif current not in lists:
            current = next(names, "")
        if current not in parameters:
            problem = f"has no parameter {current!r}" if equals else "has too many values"
            raise ValueError(f"{part!r} {problem}: its parameters are {', '.join(parameters)}")
        if current in values and current not in lists:
            raise ValueError(f"{part!r} states {current} twice: state it once")
        values.setdefault(current, []).append(_parse_value(part, value))
    return {name: tuple(v) if name in lists else v[0] for name, v in values.items()}


_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "none": None}


def _parse_value(part: str, text: str) -> Any:
    """Return a number, a bool, None, or a string of letters such as ``edge``."""
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    try:
        number = float(text)
    except ValueError:
        if text.isalpha():
            return text
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{part!r}: {text!r} is not a number; write one such as 15 or 0.3")
    return int(number) if text.lstrip("+-").isdecimal() else number
