"""Estimators with functionals under a penalty."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np

from golden.declare import Cases, Near, iterated
from golden.rows import blobs, digits, line
from golden.scores import attributes, scored
from invarlearn import InvSVC, InvSVCCV, InvSVR, LaplacianSVC
from invarlearn.datasets import make_two_moons
from invarlearn.functionals import (
    Change,
    Coordinates,
    Derivative,
    Difference,
    Laplacian,
    LocalAverage,
    Tangent,
)
from invarlearn.kernels import RBF
from invarlearn.transforms import Rotation, Translation

CASES = Cases("estimators")

# decision values move by about the root of the gap
NEWTON = iterated(1e-6, "Newton or L-BFGS, to a gap of 1e-9 of the objective")
KINKED = iterated(1e-3, "Newton on rounded losses with kinks, to a gap of 1e-7 of the objective")


def certified(model: Any, tol: float) -> dict[str, Any]:
    """Return the objective and its duality gap, both known to the solver's tolerance."""
    absolute = 2 * tol * float(np.max(model.objective_))
    return {
        "objective": Near(model.objective_, absolute, "the duality gap that was asked for"),
        "gap": Near(model.gap_, absolute, "at most tol"),
    }


def inv_svc(loss: str, penalty: str) -> dict[str, Any]:
    """Return convex learning with derivatives under a penalty."""
    X, y, new = blobs(40)
    tol = 1e-7 if _has_kink(loss, penalty) else 1e-9
    options = {"gamma": 0.3, "lam": 2.0, "nu": 0.05, "epsilon": 0.05, "tol": tol}
    model = InvSVC(Derivative(), loss=loss, penalty=penalty, max_iter=20_000, **options)
    model.fit(X, y)
    return {**scored(model, new), **certified(model, tol), **attributes(model, "intercept_")}


def _has_kink(loss: str, penalty: str) -> bool:
    return loss not in ("logistic", "squared") or penalty != "squared"


for _loss, _penalty in product(
    ("logistic", "hinge", "squared"), ("squared", "absolute", "epsilon_insensitive")
):
    CASES.add(
        f"inv_svc_{_loss}_{_penalty}",
        partial(inv_svc, _loss, _penalty),
        KINKED if _has_kink(_loss, _penalty) else NEWTON,
    )


def inv_svc_solver(solver: str) -> dict[str, Any]:
    """Return convex learning by a solver."""
    X, y, new = blobs(40)
    model = InvSVC(Difference(2), gamma=0.3, lam=2.0, nu=0.5, solver=solver, tol=1e-9)
    model.fit(X, y)
    return {**scored(model, new), **certified(model, 1e-9)}


for _solver in ("auto", "newton", "lbfgs", "eliminate", "steepest", "random"):
    CASES.add(f"inv_svc_by_{_solver}", partial(inv_svc_solver, _solver), NEWTON)


@CASES.case(NEWTON)
def inv_svc_options() -> dict[str, Any]:
    """Return convex learning with other kernels, functionals, bases, weights, classes."""
    X, y, new = blobs(40)
    three = blobs(45, 3)
    partial_labels = np.where(np.arange(40) % 3 == 0, -1, y)
    options: dict[str, dict[str, Any]] = {
        "plain": {"nu": 0.0},
        "linear": {"kernel": "linear", "functionals": Derivative()},
        "polynomial": {"kernel": "poly", "degree": 2, "gamma": 0.5, "functionals": Derivative()},
        "object": {"kernel": RBF(0.2), "functionals": [Difference(3), Derivative()]},
        "median": {"gamma": "median", "functionals": Laplacian(3)},
        "average": {"functionals": LocalAverage(0.2)},
        "no_intercept": {"fit_intercept": False, "functionals": Derivative()},
        "basis": {"basis": Coordinates(), "functionals": Derivative()},
        "balanced": {"class_weight": "balanced", "functionals": Derivative()},
        "rounded": {"loss": "hinge", "smoothing": 0.1, "functionals": Derivative()},
    }
    values = {}
    for name, chosen in options.items():
        model = InvSVC(**{"gamma": 0.3, "tol": 1e-9, **chosen}).fit(X, y)
        results = {**scored(model, new), **certified(model, model.tol)}
        values |= {f"{name}_{one}": value for one, value in results.items()}
    for name, rows, labels, unseen in (("classes", *three), ("unlabelled", X, partial_labels, new)):
        model = InvSVC(Difference(2), gamma=0.3, tol=1e-9).fit(rows, labels)
        values |= {f"{name}_{one}": value for one, value in scored(model, unseen).items()}
    return values


@CASES.case(NEWTON)
def inv_svc_digits() -> dict[str, Any]:
    """Return convex learning with tangents, and with changes, of digits."""
    X, y, new, _ = digits(20, 20, 2, 14)
    values = {}
    for name, functional in (
        ("tangent", Tangent(Translation(1) * Rotation(15))),
        ("change", Change(Translation(1))),
    ):
        model = InvSVC(functional, gamma="median", lam=10.0, nu=1.0, tol=1e-9)
        model.fit(X.astype(float), y)
        results = {**scored(model, new.astype(float)), **attributes(model, "objective_")}
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values


@CASES.case(KINKED)
def inv_svr() -> dict[str, Any]:
    """Return regression with every loss and penalty."""
    X, y, new = line()
    values = {}
    for loss, penalty in product(("epsilon_insensitive", "absolute", "squared"), repeat=2):
        options = {"gamma": 0.3, "lam": 3.0, "nu": 0.05, "tol": 1e-6, "max_iter": 20_000}
        model = InvSVR(Derivative(), loss=loss, penalty=penalty, **options).fit(X, y)
        values[f"{loss}_{penalty}"] = model.predict(new)
        results = certified(model, 1e-6)
        values |= {f"{loss}_{penalty}_{name}": value for name, value in results.items()}
    return values


@CASES.case(KINKED)
def inv_svc_cv() -> dict[str, Any]:
    """Return convex learning with nu and lam chosen by cross-validation."""
    X, y, new = blobs(40)
    values = {}
    for loss in ("logistic", "hinge", "squared"):
        model = InvSVCCV(
            Derivative(),
            gamma=0.3,
            loss=loss,
            nus=(1e-3, 1.0),
            lams=(0.01, 3.0),
            cv=4,
            tol=1e-7,
            random_state=0,
        ).fit(X, y)
        results = {**scored(model, new), **attributes(model, "nu_", "lam_")}
        values |= {f"{loss}_{name}": value for name, value in results.items()}
    return values


@CASES.case(KINKED)
def laplacian_svc() -> dict[str, Any]:
    """Return semi-supervised learning on the graph of neighbours."""
    moons = make_two_moons(60, 6, random_state=1)
    values = {}
    for name, options in (
        ("default", {}),
        ("binary", {"weights": "binary", "normalize": False, "power": 2}),
        ("squared", {"loss": "squared", "n_neighbors": 4, "nu": 0.1}),
    ):
        model = LaplacianSVC(**{"gamma": 5.0, "tol": 1e-6, **options}).fit(moons.X, moons.y)
        results = {**scored(model, moons.X[:12]), **certified(model, 1e-6)}
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values
