"""Audits: invariance reports, worst-case accuracy, the choice of a family."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from golden import moving
from golden.declare import Cases, Labels, Tolerance
from golden.rows import counts, digits, waves
from invarlearn import RLSClassifier, VirtualSVC
from invarlearn.audit import NestedCV, choose_family, invariance_report, worst_case_accuracy
from invarlearn.transforms import (
    CyclicShift,
    Elastic,
    FeatureScaling,
    Reflection,
    Rotation,
    Translation,
)

CASES = Cases("audits")

# margins of classifiers that scikit-learn fits by iteration
MARGINS = Tolerance(1e-3, "margins of scikit-learn's iterative classifiers")


def flips(misclassified: Any) -> dict[str, Any]:
    """Return values of misclassified rows."""
    return {
        "index": [int(one.index) for one in misclassified],
        "predicted": [int(one.predicted) for one in misclassified],
        "label": [int(one.label) for one in misclassified],
        "margin": np.array([one.margin for one in misclassified]),
        "transformed": np.array([one.transformed for one in misclassified]),
    }


def table_values(table: list[dict[str, Any]]) -> dict[str, Any]:
    """Return columns of a table."""
    columns: dict[str, Any] = {}
    for name in table[0]:
        column = [row[name] for row in table]
        numbers = all(isinstance(one, float) for one in column)
        columns[name] = np.array(column) if numbers else column
    return columns


@CASES.case(MARGINS)
def reports() -> dict[str, Any]:
    """Return invariance reports of classifiers of digits."""
    X, y, new, truth = digits(60, 40)
    model = RLSClassifier(10.0).fit(X.astype(float), y)
    values = {}
    for name, family in (
        ("listed", Translation(1) * Rotation(15)),
        ("drawn", Elastic(20.0, 4.0) * Rotation(10)),
        ("union", Reflection(1) | Rotation(10)),
    ):
        report = invariance_report(
            model, new.astype(float), truth, family, n_elements=12, n_flips=5, random_state=0
        )
        results = table_values(report.table())
        results |= {f"flips_{one}": value for one, value in flips(report.flips).items()}
        results |= {f"mistakes_{one}": value for one, value in flips(report.mistakes).items()}
        results["exhaustive"] = bool(report.overall.exhaustive)
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values


@CASES.case(MARGINS)
def worst_cases() -> dict[str, Any]:
    """Return accuracies at the worst transformation, listed and of scaled features."""
    X, y, new, truth = digits(60, 40)
    X, new = X.astype(float), new.astype(float)
    bags, classes, unseen = counts(40)
    cases: dict[str, Any] = {
        "svc": (SVC(C=10).fit(X, y), new, truth, Translation(1)),
        "linear": (RLSClassifier(10.0).fit(X, y), new, truth, Rotation(15)),
        "bags": (
            LogisticRegression(tol=1e-8).fit(bags, classes),
            unseen,
            np.arange(40, 50) % 2,
            FeatureScaling(0.5, 2, 3),
        ),
    }
    values = {}
    for name, (model, rows, labels, family) in cases.items():
        report = worst_case_accuracy(model, rows, labels, family)
        values |= {
            f"{name}_accuracy": report.worst_case_accuracy,
            f"{name}_plain": report.untransformed_accuracy,
            f"{name}_margins": report.margins,
            f"{name}_rows": report.rows,
        }
        if report.elements is not None:
            values[f"{name}_elements"] = Labels(report.elements)
            values[f"{name}_counts"] = {str(one): int(n) for one, n in report.counts().items()}
    return values


@CASES.case()
def choices() -> dict[str, Any]:
    """Return the chosen family, with the evidence."""
    X, y, _ = waves(60)
    values: dict[str, Any] = {}
    candidates = {"shift": CyclicShift(4), "mirror": Reflection(shape=(1, 16))}
    for name, groups in (("alone", None), ("groups", np.arange(60) // 3)):
        choice = choose_family(
            VirtualSVC(C=10), X, y, candidates, ranges=(0.5, 1.0), cv=NestedCV(3), groups=groups
        )
        values |= {
            f"{name}_family": moving.format_family(choice.family),
            f"{name}_best": moving.format_family(choice.best),
            f"{name}_helps": bool(choice.helps),
            f"{name}_p_value": float(choice.p_value),
        }
        recorded_as = {"accuracy": choice.accuracy, "plain_accuracy": choice.baseline_accuracy}
        for key, one in recorded_as.items():
            values[f"{name}_{key}"] = np.array([one.value, one.low, one.high])
        for i, one in enumerate(choice.evidence):
            accuracy = [one.accuracy.value, one.accuracy.low, one.accuracy.high]
            values[f"{name}_evidence_{i}_accuracy"] = np.array(accuracy)
            values[f"{name}_evidence_{i}"] = {
                "family": moving.format_family(one.family),
                "gained": int(one.gained),
                "lost": int(one.lost),
                "chosen": bool(one.chosen),
            }
    return values
