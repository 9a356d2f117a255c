"""The library reproduces every result of the golden record."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from golden.declare import (
    AREAS,
    SINGLE,
    Labels,
    Near,
    declared_cases,
    declaring,
    differences,
    stored,
)
from golden.storage import FOLDER, MODELS, RECORD_COMMAND, VALUES, computed, recorded
from invarlearn.transforms import own_families

CASES = {f"{case.area}:{case.name}": case for case in declared_cases()}

PUBLIC = (
    "invarlearn",
    "invarlearn.transforms",
    "invarlearn.kernels",
    "invarlearn.functionals",
    "invarlearn.features",
    "invarlearn.oracles",
    "invarlearn.estimators.strings",
    "invarlearn.estimators.structured",
    "invarlearn.audit",
    "invarlearn.datasets",
    "invarlearn.app.persistence",
)
# Public names that no case uses, and why.
EXCEPTIONS = {
    "a base class": {
        *(
            "Family",
            "Action",
            "Kernel",
            "ProfileKernel",
            "RadialKernel",
            "DotKernel",
            "Functional",
            "FunctionalTerm",
            "Basis",
            "Risk",
            "StructuredProblem",
        ),
    },
    "the type of a result, whose values are in the record": {
        *(
            "Elements",
            "Domain",
            "FamilyDescription",
            "Spectrum",
            "Worst",
            "StructuredModel",
            "FamilyComparison",
            "FamilyChoice",
        ),
        *("InvarianceReport", "InvarianceScores", "Misclassification", "Proportion"),
        *("WorstCaseReport", "DataFile"),
    },
    "limits on the work of cases, whose values are in the record": {"Budget"},
    "an error": {"DataError", "ModelFileError"},
    "needs data that are not in the package": {
        *("fetch_letters", "fetch_mnist", "fetch_spam", "fetch_spoken_digits", "fetch_ssl"),
        *("fetch_uci", "load_tidigits", "data_files", "fetch_file"),
    },
    "a number that changes with every release": {"__version__"},
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_results_are_as_recorded(name):
    case = CASES[name]
    before = recorded(case.area).get(case.name)
    advice = f"If that is meant, run `{RECORD_COMMAND} {case.name}` and say why in the commit."
    assert before is not None, f"case {name} has no record. {advice}"
    after = computed(case)
    assert set(after) == set(before), (
        f"case {name} has other values: new {sorted(set(after) - set(before))}, gone "
        f"{sorted(set(before) - set(after))}. {advice}"
    )
    messages = {one: differences(before[one], after[one], case.tolerance) for one in before}
    wrong = [f"  {one}: {text}" for one, text in messages.items() if text]
    omitted = [f"  and {len(wrong) - 12} more"] if len(wrong) > 12 else []
    assert not wrong, "\n".join(
        [
            f"case {name}: {len(wrong)} of {len(messages)} values differ",
            *wrong[:12],
            *omitted,
            advice,
        ]
    )


@pytest.mark.parametrize("area", AREAS)
def test_every_record_has_a_case(area):
    declared = {case.name for case in CASES.values() if case.area == area}
    left = sorted(set(recorded(area)) - declared)
    assert not left, f"{area}: records without a case: {left}. Run `{RECORD_COMMAND} {area}`."


def test_there_are_no_other_files():
    assert {path.stem for path in VALUES.iterdir()} == set(AREAS)
    size = sum(path.stat().st_size for folder in (VALUES, MODELS) for path in folder.iterdir())
    assert size < 1.5e6


def used_names() -> set[str]:
    """Return the public names that files of cases import from the library and use."""
    used = set()
    for path in [FOLDER / f"{name}.py" for name in (*declaring(), "moving", "rows")]:
        tree = ast.parse(Path(path).read_text())
        imported = {
            alias.asname or alias.name: alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("invarlearn")
            for alias in node.names
        }
        loaded = {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        used |= {name for local, name in imported.items() if local in loaded}
    # cases of families are declared for the whole table
    return used | {family.__name__ for family in own_families()}


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_in_some_case(module):
    excepted = set().union(*EXCEPTIONS.values())
    public = set(import_module(module).__all__)
    left = sorted(public - used_names() - excepted)
    assert not left, f"no case uses {left} of {module}: declare one in tests/golden"


def test_exceptions_are_public_and_not_covered():
    public = {name for module in PUBLIC for name in import_module(module).__all__}
    excepted = set().union(*EXCEPTIONS.values())
    assert excepted <= public
    assert not excepted & used_names()


def test_private_names_are_not_used():
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                parts = (node.module or "").split(".")
                private = [one for one in parts if one.startswith("_") and one != "__future__"]
                assert not private, f"{path.name} imports from {node.module}"
            if isinstance(node, ast.Attribute):
                private = node.attr.startswith("_") and not node.attr.startswith("__")
                assert not private, f"{path.name} uses {node.attr}"


def test_differences_beyond_the_tolerance_are_reported():
    old = stored(np.linspace(0, 1, 100).astype(np.float32))
    near = stored((np.linspace(0, 1, 100) + 1e-5).astype(np.float32))
    far = stored((np.linspace(0, 1, 100) * 1.001).astype(np.float32))
    assert not differences(old, near, SINGLE)
    assert "tolerance 1.00e-04" in differences(old, far, SINGLE)
    assert "dtype" in differences(old, stored(np.linspace(0, 1, 100)), SINGLE)
    assert "shape" in differences(old, stored(np.zeros(3, dtype=np.float32)), SINGLE)
    assert differences(stored(np.array([1.0, np.nan])), stored(np.ones(2)), SINGLE)
    assert differences(stored("a"), stored("b"), SINGLE)
    scores = np.array([[0.5, 0.5 + 1e-6], [1.0, 0.0]])
    for labels, differ in (([0, 0], False), ([1, 1], True)):
        after = stored(Labels(np.array(labels), scores))
        assert bool(differences(stored(Labels(np.array([1, 0]), scores)), after, SINGLE)) is differ
    assert "at most" in differences(
        stored(Near(0.0, 0.1, "at most 0.1")), stored(Near(0.2, 0.1, "")), SINGLE
    )
