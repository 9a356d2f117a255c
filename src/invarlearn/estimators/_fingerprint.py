"""What joblib.Memory cannot see: that a function changed and kept its name."""

from __future__ import annotations

import sys
import sysconfig
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import joblib
from sklearn.base import BaseEstimator

_INSTALLED = tuple(
    Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib")
)


def fingerprint(thing: Any) -> str:
    """Give a hash of an object, with the code of the functions and classes of users in it.

    Installed packages count by name; what is imported from elsewhere, or written in a session,
    counts by its code and by the code and values that it uses.
    """
    try:
        return joblib.hash(_described(thing, set()))
    except Exception as error:
        raise ValueError(
            f"memory= cannot tell whether {thing!r} changes between two fits, so what is kept "
            f"could be out of date: leave memory= out ({type(error).__name__}: {error})"
        ) from error


def _described(thing: Any, seen: set[int]) -> Any:
    """Give nested tuples in which user functions and classes are replaced by their code."""
    if isinstance(thing, CodeType):
        constants = tuple(_described(one, seen) for one in thing.co_consts)
        return ("code", thing.co_code, constants, thing.co_names, thing.co_varnames)
    if isinstance(thing, ModuleType):
        return ("module", thing.__name__, _source(thing))
    if isinstance(thing, (set, frozenset)):
        return ("set", *sorted(joblib.hash(_described(one, seen)) for one in thing))
    if isinstance(thing, (list, tuple)):
        return (type(thing).__name__, *(_described(one, seen) for one in thing))
    if isinstance(thing, dict):
        return ("dict", *((_described(k, seen), _described(v, seen)) for k, v in thing.items()))
    if isinstance(thing, partial):
        return ("partial", *(_described(p, seen) for p in (thing.func, thing.args, thing.keywords)))
    if isinstance(thing, MethodType):
        return ("method", _described(thing.__func__, seen), _described(thing.__self__, seen))
    if isinstance(thing, (FunctionType, type)):
        name = ("named", thing.__module__, thing.__qualname__)
        if id(thing) in seen or _is_installed(thing.__module__):
            return name
        seen.add(id(thing))
        return (*name, _class(thing, seen) if isinstance(thing, type) else _function(thing, seen))
    if hasattr(thing, "__dict__") and not hasattr(thing, "__array__"):
        # a kernel, a family, a transformer; without what it would not pickle
        own = any(
            "__getstate__" in vars(base)
            for base in type(thing).__mro__
            if base not in (BaseEstimator, object)
        )
        state = thing.__getstate__() if own else vars(thing)
        return ("object", _described(type(thing), seen), _described(state, seen))
    return thing


def _function(function: FunctionType, seen: set[int]) -> tuple[Any, ...]:
    used = sorted(_names(function.__code__) & set(function.__globals__))
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return (
        _described(function.__code__, seen),
        _described(function.__defaults__, seen),
        _described(function.__kwdefaults__, seen),
        _described(cells, seen),
        tuple((name, _described(function.__globals__[name], seen)) for name in used),
    )


def _class(given: type, seen: set[int]) -> tuple[Any, ...]:
    members = {
        name: getattr(member, "fget", getattr(member, "__func__", member))
        for name, member in vars(given).items()
        if isinstance(member, FunctionType) or not name.startswith("_abc_")
    }
    unimportant = ("__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__")
    kept = {name: member for name, member in members.items() if name not in unimportant}
    return (_described(given.__bases__, seen), _described(kept, seen))


def _source(module: ModuleType) -> str:
    """Give the text of a user's module; nothing for those that are installed."""
    if _is_installed(module.__name__):
        return ""
    try:
        return Path(str(module.__file__)).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _names(code: CodeType) -> set[str]:
    """Give the names that code uses, also in functions within."""
    within = (_names(one) for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*within)


def _is_installed(module: str | None) -> bool:
    """Tell whether a module is of the standard library, a package that is installed, or ours."""
    if module is None or module.partition(".")[0] == "invarlearn":
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return module in sys.builtin_module_names
    return any(Path(file).resolve().is_relative_to(place) for place in _INSTALLED)
