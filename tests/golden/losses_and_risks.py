"""Losses, risks at the worst transformation, and structured outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from golden import moving
from golden.declare import Cases, Near, iterated
from golden.rows import counts, normal
from invarlearn.estimators.strings import EditedStrings
from invarlearn.estimators.structured import Chain, fit_structured
from invarlearn.kernels import RBF
from invarlearn.oracles import (
    Costs,
    ListedRisk,
    OrbitColumns,
    RivalRisk,
    ScaledRisk,
    StructuredRisk,
    linear_risk,
)
from invarlearn.transforms import CyclicShift, FeatureDropping, FeatureScaling

CASES = Cases("losses_and_risks")


@CASES.case()
def losses() -> dict[str, Any]:
    """Return values, slopes, curvatures and conjugates of every loss, sharp and rounded."""
    module = moving.losses()
    u, values = np.linspace(-2.05, 2.1, 12), {}
    labels, numbers = np.where(np.arange(12) % 2, 1.0, -1.0), np.linspace(-1, 1.1, 12)
    for name in ("Squared", "Logistic", "Hinge", "EpsilonInsensitive", "Absolute"):
        y = labels if name in ("Logistic", "Hinge") else numbers
        for smoothing in (0.0, 0.05):
            loss = getattr(module, name)(smoothing)
            slope = loss.slope(u, y)
            values |= {
                f"{name}_{smoothing}_value": loss.value(u, y),
                f"{name}_{smoothing}_slope": slope,
                f"{name}_{smoothing}_curvature": loss.curvature(u, y),
                f"{name}_{smoothing}_conjugate": loss.conjugate(slope, y),
                f"{name}_{smoothing}_smooth": bool(loss.is_smooth),
            }
    return values


def _costs(n_classes: int, n_elements: int, rng: Any) -> Any:
    cost = rng.rand(n_classes, n_classes, n_elements) + 0.2
    cost[np.arange(n_classes), np.arange(n_classes)] = 0
    return Costs.check(cost, rng.rand(n_classes, n_classes) + 0.5, n_classes, n_elements)


@CASES.case()
def linear_risks() -> dict[str, Any]:
    """Return losses and slopes at the worst transformation, for linear functions."""
    rng = np.random.RandomState(0)
    values: dict[str, Any] = {}
    for classes in (2, 3):
        X, y, _ = counts(20, 8, classes)
        X = X + 0.1 * rng.rand(*X.shape)
        risks = {
            "listed": ListedRisk(X, y, CyclicShift(), _costs(classes, 8, rng), None, 1.0),
            "scaled": ScaledRisk(X, y, FeatureScaling(0.5, 3, 4), _costs(classes, 1, rng)),
            "rival": RivalRisk(X, y, FeatureScaling(0.5, 3, 4), _costs(classes, 1, rng)),
            "dropped": linear_risk(X, y, FeatureDropping(2), _costs(classes, 1, rng), None, 1.0),
        }
        for name, risk in risks.items():
            w = rng.standard_normal(risk.n_weights)
            worst_losses, slope = risk.subgradient(w)
            worst = risk.worst(w, 3)
            values |= {
                f"{name}_{classes}_losses": worst_losses,
                f"{name}_{classes}_slope": slope,
                f"{name}_{classes}_worst": np.append(worst.psi, worst.delta),
            }
    return values


@CASES.case()
def kernel_columns() -> dict[str, Any]:
    """Return losses at the worst elements of orbits, for functions of a kernel's space."""
    X, y = normal(9, 5), np.arange(9) % 3
    costs = _costs(3, 5, np.random.RandomState(0))
    source = OrbitColumns(X, y, RBF(0.2), costs, CyclicShift(), 1e6)
    first = source.price(np.zeros((3, 0)), np.full(9, -np.inf), 1)
    A = np.random.RandomState(1).standard_normal((3, source.n_rows))
    second = source.price(A, np.full(9, -np.inf), 1)
    return {"first": first.losses, "second": second.losses, "n_rows": int(source.n_rows)}


def _sequences() -> tuple[list[Any], list[Any]]:
    rng = np.random.RandomState(0)
    Y = [np.array([0, 0] + [1 if rng.rand() < 0.5 else 2] * 2) for _ in range(12)]
    X = [np.where(y == 0, 1.0, -1.0)[:, None] * np.ones(3) + 0.5 * rng.randn(4, 3) for y in Y]
    return X, Y


@CASES.case()
def chains() -> dict[str, Any]:
    """Return worst labels and transformations of sequences."""
    X, Y = _sequences()
    chain = Chain(3, 3, CyclicShift())
    w = np.random.RandomState(2).standard_normal(chain.n_features)
    rows, labels, cost = chain.worst(w, X[0], Y[0])
    losses, slope = StructuredRisk(chain, X, Y).subgradient(w)
    return {
        "features": chain.features(X[0], Y[0]),
        "rows": rows,
        "labels": np.asarray(labels),
        "cost": float(cost),
        "predicted": np.concatenate([chain.predict(w, x) for x in X]),
        "losses": losses,
        "slope": slope,
    }


@CASES.case(iterated(1e-3, "bundle and columns"))
def structured_models() -> dict[str, Any]:
    """Return objectives of chains that are trained by each solver."""
    X, Y = _sequences()
    values: dict[str, Any] = {}
    for solver, tol in (("columns", 1e-5), ("bundle", 1e-5)):
        model = fit_structured(
            Chain(3, 3), X, Y, lam=0.1, solver=solver, tol=tol, max_iter=2000, random_state=0
        )
        values |= {
            f"{solver}_objective": float(model.objective),
            f"{solver}_gap": Near(float(model.gap), tol * model.objective, "at most tol"),
            f"{solver}_w": Near(model.w, 1e-2, "sqrt(2 gap / lam)"),
            f"{solver}_predicted": np.concatenate(model.predict(X)),
        }
    walk = fit_structured(
        Chain(3, 3), X, Y, lam=0.1, solver="pegasos", tol=0.05, max_iter=300, random_state=0
    )
    values["pegasos_objective"] = Near(float(walk.objective), 0.05 * walk.objective, "its tol")
    return values


@CASES.case(iterated(1e-3, "column generation"))
def edited_strings() -> dict[str, Any]:
    """Return the worst edits of strings, and a classifier that is trained at them."""
    problem = EditedStrings(2, {"a": "@4", "i": "1"}, ".", "b", budget=2, width=2, n_buckets=32)
    weights = np.random.RandomState(0).standard_normal(32)
    text, score = problem.highest(weights, "abi")
    X, Y = ["abi", "iia", "bb", "bib"], [0, 1, 0, 1]
    model = fit_structured(problem, X, Y, lam=0.1, tol=1e-5, max_iter=2000, random_state=0)
    return {
        "counts": problem.counts("abi"),
        "edited": ", ".join(sorted(problem.edited("bi"))),
        "worst": text,
        "score": float(score),
        "objective": float(model.objective),
        "predicted": np.array(model.predict(["@b1", "bi.b"])),
    }
