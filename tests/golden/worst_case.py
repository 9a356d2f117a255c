"""Estimators with a worst-case loss."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from golden.declare import Cases, Near, iterated
from golden.rows import blobs, counts, waves
from golden.scores import attributes, scored
from invarlearn import WorstCaseLinearSVC, WorstCaseSVC
from invarlearn.transforms import CyclicShift, FeatureDropping, FeatureScaling

CASES = Cases("estimators")

COLUMNS = iterated(2e-3, "column generation")


def _gap_of(model: Any) -> Near:
    return Near(model.gap_, 1.5 * model.tol * model.objective_, "at most tol")


def worst_case(solver: str, classes: int) -> dict[str, Any]:
    """Return an SVM against the worst element of an orbit."""
    X, y, new = waves(30) if classes == 2 else blobs(30, 3)
    family = CyclicShift(1) if classes == 2 else None
    tol = 0.05 if solver == "pegasos" else 1e-7
    model = WorstCaseSVC(
        family, gamma=0.1, C=1.0, solver=solver, tol=tol, max_iter=1000, random_state=0
    ).fit(X, y)
    if solver == "pegasos":
        return {"objective": Near(model.objective_, tol * model.objective_, "its tol")}
    results = attributes(model, "objective_", "lam_")
    return {**scored(model, new), **results, "gap": _gap_of(model)}


for _solver, _classes in product(("columns", "pegasos"), (2, 3)):
    CASES.add(f"worst_case_{_solver}_{_classes}", partial(worst_case, _solver, _classes), COLUMNS)


@CASES.case(COLUMNS)
def worst_case_options() -> dict[str, Any]:
    """Return worst-case SVMs with other kernels, costs, oracles and weights."""
    X, y, new = waves(30)
    cost = np.array([[0.0, 2.0], [1.0, 0.0]])

    def propose(x, y, decide):
        return np.stack([x, np.roll(x, 1), np.roll(x, -1)])

    options: dict[str, dict[str, Any]] = {
        "linear": {"kernel": "linear", "family": CyclicShift(1)},
        "polynomial": {"kernel": "poly", "degree": 2, "coef0": 1.0, "family": CyclicShift(1)},
        "costs": {"cost": cost, "margin_scale": cost + np.eye(2), "family": CyclicShift(1)},
        "oracle": {"oracle": propose},
        "lam": {"lam": 0.05, "class_weight": "balanced", "family": CyclicShift(1)},
    }
    values = {}
    for name, chosen in options.items():
        model = WorstCaseSVC(
            **{"gamma": 0.1, "C": 1.0, "tol": 1e-7, "max_iter": 1000, "random_state": 0, **chosen}
        ).fit(X, y)
        results = {**scored(model, new), **attributes(model, "objective_", "lam_")}
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values


def worst_case_linear(solver: str, classes: int, as_sparse: bool) -> dict[str, Any]:
    """Return a linear SVM against scaled and dropped features, and shifts."""
    X, y, new = counts(40, 12, classes)
    values = {}
    for name, family in (
        ("none", None),
        ("scaling", FeatureScaling(0.5, 3, 4)),
        ("dropping", FeatureDropping(2)),
        ("shifts", CyclicShift(1)),
    ):
        if name == "shifts" and as_sparse:
            continue
        rows, unseen = (sparse.csr_array(one) if as_sparse else one for one in (X, new))
        tol, lam = (1e-6, 0.05) if solver == "bundle" else (0.1, 0.5)
        model = WorstCaseLinearSVC(
            family, lam=lam, solver=solver, tol=tol, max_iter=2000, random_state=0
        ).fit(rows, y)
        if solver == "bundle":
            results = {
                **scored(model, unseen),
                **attributes(model, "objective_"),
                "lam": model.lam_,
            }
            results["gap"] = _gap_of(model)
        else:
            results = {"objective": Near(model.objective_, tol * model.objective_, "its tol")}
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values


# weights are accurate to sqrt(2 gap / lam), decision values of rows of norm 5 to 5 times that
BUNDLE = iterated(1e-2, "the bundle method")
for _solver, _classes, _sparse in product(("bundle", "pegasos"), (2, 3), (False, True)):
    if _solver == "bundle" or not _sparse:
        CASES.add(
            f"worst_case_linear_{_solver}_{_classes}_{'sparse' if _sparse else 'dense'}",
            partial(worst_case_linear, _solver, _classes, _sparse),
            BUNDLE,
        )


@CASES.case()
def worst_case_stream() -> dict[str, Any]:
    """Return a linear worst-case SVM after blocks of rows, a fixed number of Pegasos' steps."""
    X, y, new = counts(40)
    model = WorstCaseLinearSVC(
        FeatureScaling(0.5, 3, 4), lam=0.05, solver="pegasos", random_state=0
    )
    for part in (slice(0, 20), slice(20, 40)):
        model.partial_fit(X[part], y[part], classes=[0, 1])
    return {**scored(model, new), **attributes(model, "coef_", "intercept_", "lam_")}
