"""Hashes of objects that include the code of the user's functions.

joblib.Memory identifies functions by name, and does not notice changes of their code.
"""

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
    """Return a hash of an object that includes the code of the user's functions and classes.

    Functions of installed packages are identified by name. Functions from other files, or defined
    in a session, are identified by their code and by the functions and global values that it uses.
    """
    try:
        return joblib.hash(_describe(thing, set()))
    except Exception as error:
        raise ValueError(
            f"memory cannot be used, because {thing!r} cannot be hashed: pass memory=None "
            f"({type(error).__name__}: {error})"
        ) from error


def _describe(thing: Any, seen: set[int]) -> Any:
    """Return nested tuples in which functions and classes of the user are replaced by their code.

    Parameters
    ----------
    thing : object
    seen : set of int
        Ids of functions and classes that are described already. Updated in place.
    """
    if isinstance(thing, CodeType):
        constants = tuple(_describe(constant, seen) for constant in thing.co_consts)
        return ("code", thing.co_code, constants, thing.co_names, thing.co_varnames)
    if isinstance(thing, ModuleType):
        return ("module", thing.__name__, _source(thing))
    if isinstance(thing, (set, frozenset)):
        return ("set", *sorted(joblib.hash(_describe(item, seen)) for item in thing))
    if isinstance(thing, (list, tuple)):
        return (type(thing).__name__, *(_describe(item, seen) for item in thing))
    if isinstance(thing, dict):
        return ("dict", *((_describe(k, seen), _describe(v, seen)) for k, v in thing.items()))
    if isinstance(thing, partial):
        return ("partial", *(_describe(p, seen) for p in (thing.func, thing.args, thing.keywords)))
    if isinstance(thing, MethodType):
        return ("method", _describe(thing.__func__, seen), _describe(thing.__self__, seen))
    if isinstance(thing, (FunctionType, type)):
        name = ("named", thing.__module__, thing.__qualname__)
        if id(thing) in seen or _is_installed(thing.__module__):
            return name
        seen.add(id(thing))
        return (*name, _class(thing, seen) if isinstance(thing, type) else _function(thing, seen))
    if hasattr(thing, "__dict__") and not hasattr(thing, "__array__"):
        # a kernel, a family or a transformer: the state that it pickles, without caches
        has_getstate = any(
            "__getstate__" in vars(base)
            for base in type(thing).__mro__
            if base not in (BaseEstimator, object)
        )
        state = thing.__getstate__() if has_getstate else vars(thing)
        return ("object", _describe(type(thing), seen), _describe(state, seen))
    return thing


def _function(function: FunctionType, seen: set[int]) -> tuple[Any, ...]:
    """Describe a function by its code, its defaults, and the global values that it uses."""
    used = sorted(_names(function.__code__) & set(function.__globals__))
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return (
        _describe(function.__code__, seen),
        _describe(function.__defaults__, seen),
        _describe(function.__kwdefaults__, seen),
        _describe(cells, seen),
        tuple((name, _describe(function.__globals__[name], seen)) for name in used),
    )


def _class(cls: type, seen: set[int]) -> tuple[Any, ...]:
    """Describe a class by its bases and its members."""
    ignored = ("__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__")
    members = {
        name: getattr(member, "fget", getattr(member, "__func__", member))
        for name, member in vars(cls).items()
        if name not in ignored
        and (isinstance(member, FunctionType) or not name.startswith("_abc_"))
    }
    return (_describe(cls.__bases__, seen), _describe(members, seen))


def _source(module: ModuleType) -> str:
    """Return the source of a user's module; empty for installed modules."""
    if _is_installed(module.__name__):
        return ""
    try:
        return Path(str(module.__file__)).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _names(code: CodeType) -> set[str]:
    """Return the names that code uses, including nested functions."""
    nested = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*nested)


def _is_installed(module: str | None) -> bool:
    """Return whether a module is part of the standard library or of an installed package."""
    if module is None or module.partition(".")[0] == "invarlearn":
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return module in sys.builtin_module_names
    return any(Path(file).resolve().is_relative_to(place) for place in _INSTALLED)
