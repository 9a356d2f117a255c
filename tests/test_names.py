"""A public name stands for one thing in the whole library."""

import ast
from collections import defaultdict
from pathlib import Path

import invarlearn

SOURCE = Path(invarlearn.__file__).parent
# Names with the same meaning wherever they are: sizes of blocks, aliases of arrays, type variables,
# a term of a sum.
SHARED = {"BLOCK_BYTES", "BLOCK_ROWS", "PAIRS", "Matrix", "Numbers", "Rows", "P", "T", "Term"}
# Declarations that each module of experiments has for itself.
DECLARED = ("EXPERIMENT", "FIGURE_", "TABLE_", "PAPER", "CLAIMS", "PUBLISHED", "NOTE")


def defined_names(path):
    """Return the public names that a module defines at its top level."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        for target in filter(None, targets):
            names |= {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def test_no_public_name_is_defined_in_two_modules():
    modules = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        in_experiments = "experiments" in path.parts
        for name in defined_names(path) - SHARED:
            if not (in_experiments and name.startswith(DECLARED)):
                modules[name].append(path.relative_to(SOURCE).as_posix())
    assert {name: paths for name, paths in modules.items() if len(paths) > 1} == {}
