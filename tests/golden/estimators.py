"""Similarity of orbits, least squares, augmented samples, tangent distance."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from golden.declare import SINGLE, Cases, Labels, Near, Tolerance, iterated
from golden.rows import blobs, digits, line, waves
from golden.scores import attributes, scored
from invarlearn import (
    BoundedClassifier,
    InvariantFeatures,
    OrbitSVC,
    OrbitSVR,
    RLSClassifier,
    RLSRegressor,
    TangentDistanceClassifier,
    VirtualSVC,
)
from invarlearn.features import OrientedGradients
from invarlearn.kernels import RBF
from invarlearn.transforms import CyclicShift, Rotation, Translation

CASES = Cases("estimators")

LIBSVM = iterated(1e-5, "libsvm")


# -- similarity of the best fit --------------------------------------------------------------


def orbit_svc(psd: str | None, pooling: str) -> dict[str, Any]:
    """Return an SVM on the similarity of orbits, with a repair of the spectrum."""
    X, y, new = waves(40)
    model = OrbitSVC(CyclicShift(3), pooling=pooling, psd=psd, tol=1e-8).fit(X, y)
    return {**scored(model, new), "svc_support": model.svc_.support_}


for _psd, _pooling in product(("clip", "flip", "shift", None), ("max", "mean", "softmax")):
    CASES.add(f"orbit_svc_{_psd}_{_pooling}", partial(orbit_svc, _psd, _pooling), LIBSVM)


@CASES.case(LIBSVM)
def orbit_svc_options() -> dict[str, Any]:
    """Return SVMs on the similarity of orbits with every kernel, weights, probabilities."""
    X, y, new = waves(40)
    options: dict[str, dict[str, Any]] = {
        "linear": {"kernel": "linear", "C": 1.0},
        "polynomial": {"kernel": "poly", "degree": 3, "gamma": 0.5},
        "object": {"kernel": RBF(0.7), "normalize": False},
        "gamma": {"gamma": 2.0, "class_weight": "balanced"},
        "no_family": {"family": None},
    }
    values = {}
    for name, chosen in options.items():
        model = OrbitSVC(**{"family": CyclicShift(3), "tol": 1e-8, **chosen}).fit(X, y)
        values |= {f"{name}_{one}": value for one, value in scored(model, new).items()}
    model = OrbitSVC(CyclicShift(3), probability=True).fit(X, y)
    values["probabilities"] = Near(
        model.predict_proba(new), 2e-3, "Platt's method, fitted to libsvm's default tolerance"
    )
    return values


@CASES.case(Tolerance(1e-4, "libsvm on a Gram matrix in single precision"))
def orbit_svc_digits() -> dict[str, Any]:
    """Return SVMs on the similarity of orbits of digits, with and without gradients."""
    X, y, new, _ = digits()
    values = {}
    for name, options in (
        ("pixels", {"family": Translation(1) * Rotation(15)}),
        ("all_shifts", {"family": Translation(None, wrap=True), "pooling": "mean"}),
        ("edges", {"family": Rotation(15), "features": OrientedGradients()}),
    ):
        model = OrbitSVC(**options, tol=1e-6).fit(X, y)
        values |= {f"{name}_{one}": value for one, value in scored(model, new).items()}
    return values


@CASES.case(LIBSVM)
def orbit_svr() -> dict[str, Any]:
    """Return regression on the similarity of orbits, with every repair."""
    X, _, new = waves(40)
    values = {}
    for psd in ("clip", "flip", "shift", None):
        model = OrbitSVR(CyclicShift(3), C=1.0, psd=psd, tol=1e-8).fit(X, X.max(axis=1))
        values[str(psd)] = model.predict(new)
    return values


# -- least squares ---------------------------------------------------------------------------


@CASES.case()
def rls_classifier() -> dict[str, Any]:
    """Return least squares of classes: primal, dual, with kernels and weights."""
    values = {}
    X, y, new = blobs(40, 3)
    wide, wide_y, wide_new = waves(12, 30)
    weights = 0.5 + np.random.RandomState(0).rand(40)
    cases = {
        "primal": (RLSClassifier(), X, y, new, None),
        "fixed": (RLSClassifier(0.1), X, y, new, None),
        "dual": (RLSClassifier(), wide, wide_y, wide_new, None),
        "kernel": (RLSClassifier(kernel=RBF(0.5)), X, y, new, None),
        "balanced": (RLSClassifier(class_weight="balanced"), X, y, new, None),
        "weighted": (RLSClassifier(), X, y, new, weights),
        "by_accuracy": (RLSClassifier(criterion="accuracy"), X, y, new, None),
    }
    for name, (model, rows, labels, unseen, weight) in cases.items():
        model.fit(rows, labels, sample_weight=weight)
        results = scored(model, unseen) | attributes(model, "lam_")
        if model.kernel is None:
            results |= attributes(model, "coef_", "intercept_")
        if model.lam is None:
            results |= attributes(model, "lams_", "cv_errors_")
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values


@CASES.case(iterated(1e-3, "L-BFGS-B to a duality gap"))
def bounded_classifier() -> dict[str, Any]:
    """Return linear functions with bounded weights, of two and three classes."""
    X, y, new = blobs(40, 3)
    values = {}
    for name, model in (
        ("logistic", BoundedClassifier(0.5, tol=1e-8)),
        ("hinge", BoundedClassifier(0.5, "hinge", tol=1e-4)),
        ("balanced", BoundedClassifier(0.5, class_weight="balanced", tol=1e-8)),
    ):
        model.fit(X, y)
        results = scored(model, new) | attributes(model, "objectives_")
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values


@CASES.case()
def rls_regressor() -> dict[str, Any]:
    """Return least squares of numbers: primal, dual, with a kernel, of several targets."""
    X, y, new = line()
    values = {}
    two = np.stack([y, y**2], axis=1)
    for name, model, target in (
        ("primal", RLSRegressor(), y),
        ("fixed", RLSRegressor(0.1), y),
        ("kernel", RLSRegressor(kernel=RBF(0.1)), y),
        ("several", RLSRegressor(), two),
    ):
        model.fit(X, target)
        values |= {f"{name}_prediction": model.predict(new), f"{name}_lam": model.lam_}
        if model.kernel is None:
            values |= {f"{name}_coef": model.coef_, f"{name}_intercept": model.intercept_}
        if model.lam is None:
            values |= {f"{name}_errors": model.cv_errors_, f"{name}_lams": model.lams_}
    wide = RLSRegressor().fit(np.hstack([X, X**2, X**3])[:6], y[:6])
    return {**values, "dual": wide.coef_, "dual_lam": wide.lam_}


@CASES.case()
def rls_stream() -> dict[str, Any]:
    """Return least squares fitted batch by batch, with rows held out for the choice of lam."""
    X, y, new = blobs(60, 3)
    model = RLSClassifier(n_held_out=20, random_state=1)
    for part in (slice(0, 25), slice(25, 40), slice(40, 60)):
        model.partial_fit(X[part], y[part], classes=[0, 1, 2])
    values = scored(model, new) | attributes(model, "coef_", "intercept_", "lam_", "cv_errors_")
    X, y, new = line()
    numbers = RLSRegressor(n_held_out=10, random_state=1)
    for part in (slice(0, 15), slice(15, 40)):
        numbers.partial_fit(X[part], y[part])
    results = {"prediction": numbers.predict(new), **attributes(numbers, "coef_", "lam_")}
    return values | {f"numbers_{name}": value for name, value in results.items()}


@CASES.case(Tolerance(2e-4, "least squares on features in single precision"))
def rls_on_invariant_features() -> dict[str, Any]:
    """Return the route of invariant features, on waves and on digits."""
    X, y, new = waves(40)
    features = InvariantFeatures(CyclicShift(), 30, 6, pooling="moments", random_state=0)
    values = scored(make_pipeline(features, StandardScaler(), RLSClassifier(0.1)).fit(X, y), new)
    X, y, new, _ = digits()
    features = InvariantFeatures(Translation(1), 30, pooling="max", random_state=0)
    model = make_pipeline(features, StandardScaler(), RLSClassifier(0.1)).fit(X, y)
    return values | {f"digits_{name}": value for name, value in scored(model, new).items()}


# -- augmented samples, tangent distance ------------------------------------------------------


@CASES.case(LIBSVM)
def virtual_svc() -> dict[str, Any]:
    """Return SVMs on augmented samples, and on augmented support vectors."""
    X, y, new = waves(40)
    values = {}
    options: dict[str, dict[str, Any]] = {
        "all": {},
        "support": {"support_only": True},
        "linear": {"kernel": "linear", "C": 1.0},
        "polynomial": {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.1},
        "balanced": {"class_weight": "balanced", "gamma": 0.2},
        "no_family": {"family": None},
    }
    for name, chosen in options.items():
        model = VirtualSVC(**{"family": CyclicShift(2), "tol": 1e-8, **chosen}).fit(X, y)
        results = {**scored(model, new), **attributes(model, "n_virtual_", "gamma_")}
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values


@CASES.case(Tolerance(1e-4, "libsvm on rows in single precision"))
def virtual_svc_digits() -> dict[str, Any]:
    """Return SVMs on augmented digits, both ways."""
    X, y, new, _ = digits()
    values = {}
    for support_only in (False, True):
        model = VirtualSVC(Translation(1), support_only=support_only, tol=1e-6).fit(X, y)
        results = scored(model, new)
        values |= {f"support_only_{support_only}_{one}": v for one, v in results.items()}
    return values


@CASES.case(SINGLE)
def tangent_distance() -> dict[str, Any]:
    """Return nearest neighbours between tangent planes."""
    X, y, new, _ = digits()
    rows, classes, unseen = waves(40)
    values = {}
    cases: dict[str, Any] = {
        "digits": (TangentDistanceClassifier(), X, y, new),
        "one_side": (TangentDistanceClassifier(sides=1, n_neighbors=3), X, y, new),
        "smooth": (TangentDistanceClassifier(Rotation(15), smoothing=1.5), X, y, new),
        "waves": (TangentDistanceClassifier(CyclicShift()), rows, classes, unseen),
    }
    for name, (model, training, labels, queries) in cases.items():
        distances, indices = model.fit(training, labels).kneighbors(queries, 3)
        values[f"{name}_distances"] = distances
        values[f"{name}_nearest"] = indices[:, 0]
        values[f"{name}_labels"] = Labels(model.predict(queries))
    return values
