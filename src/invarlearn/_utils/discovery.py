"""Classes that the modules of a package define, so that a new class is one new file."""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import iter_modules
from typing import Any


def defined_classes(package: str, base: Any, skip: str = "") -> list[type]:
    """Return the subclasses of ``base`` that the modules of a package define, sorted by name.

    Private modules, private classes and subpackages are not searched.

    Parameters
    ----------
    package : str
        Name of an imported package.
    base : type
    skip : str
        Name of a module that is not imported, because it calls this function.
    """
    classes = []
    for module in iter_modules(sys.modules[package].__path__):
        name = f"{package}.{module.name}"
        if module.ispkg or module.name.startswith("_") or name == skip:
            continue
        for value in vars(import_module(name)).values():
            is_own_class = isinstance(value, type) and value.__module__ == name
            if is_own_class and issubclass(value, base) and not value.__name__.startswith("_"):
                classes.append(value)
    # a class may have two names in its module
    return sorted(dict.fromkeys(classes), key=lambda found: found.__name__)


def unlisted_classes(package: str, base: Any) -> dict[str, type]:
    """Return the classes of :func:`defined_classes` that the ``__all__`` of a package lacks."""
    listed = sys.modules[package].__all__
    classes = defined_classes(package, base)
    return {found.__name__: found for found in classes if found.__name__ not in listed}
