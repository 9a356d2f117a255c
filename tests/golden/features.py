"""Transformers of rows: every option of templates, thresholds and pooling; images; patches."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np

from golden import moving
from golden.declare import SINGLE, Cases, Tolerance
from golden.rows import digits, normal, uniform
from invarlearn import InvariantFeatures
from invarlearn.features import (
    Centred,
    LocalKernelFeatures,
    OrientedGradients,
    PatchFeatures,
    WhitenedPatches,
)
from invarlearn.transforms import (
    CyclicShift,
    FeatureScaling,
    PitchShift,
    Rotation,
    TimeStretch,
    Translation,
)

CASES = Cases("features")

# a projection on the other side of a threshold changes a share by one element
COUNTED = Tolerance(1e-8, "shares of elements below thresholds")


def invariant_values(X: Any, new: Any, **options: Any) -> dict[str, Any]:
    """Return invariant features of new rows, and fitted values."""
    options = {"n_templates": 12, "n_bins": 4, "random_state": 0, **options}
    features = InvariantFeatures(**options).fit(X)
    values = {
        "features": features.transform(new),
        "templates": features.templates_,
        "scale": float(features.scale_),
        "names": len(features.get_feature_names_out()),
    }
    if options.get("pooling", "cdf") in ("cdf", "histogram"):
        values["thresholds"] = features.thresholds_
    return values


def with_templates(templates: str, dtype: str) -> dict[str, Any]:
    """Return features with templates of a kind."""
    return invariant_values(
        uniform(9, 36),
        uniform(4, 36, 1),
        family=Translation(1) * Rotation(20),
        templates=templates,
        dtype=dtype,
    )


for _templates, _dtype in product(
    ("auto", "gaussian", "sphere", "local", "data"), ("float64", "float32")
):
    CASES.add(f"templates_{_templates}_{_dtype}", partial(with_templates, _templates, _dtype))


def pooled(pooling: str, thresholds: str) -> dict[str, Any]:
    """Return features with a pooling, over a group that needs no list."""
    return invariant_values(
        normal(9, 24),
        normal(4, 24, 1),
        family=CyclicShift(),
        pooling=pooling,
        thresholds=thresholds,
        normalize=True,
        dtype="float64",
    )


for _pooling, _thresholds in product(
    ("cdf", "histogram", "moments", "max"), ("quantile", "uniform", "midpoint")
):
    CASES.add(f"pooling_{_pooling}_{_thresholds}", partial(pooled, _pooling, _thresholds))


@CASES.case()
def invariant_options() -> dict[str, Any]:
    """Return features with other options: given templates, random elements, envelopes."""
    X, new = uniform(9, 36), uniform(4, 36, 1)
    images = Translation(1) * Rotation(20)
    cases: dict[str, dict[str, Any]] = {
        "no_family": {},
        "given": {"family": images, "templates": uniform(5, 36, 2)},
        "random_elements": {"family": images, "n_elements": 6},
        "not_listed": {"family": FeatureScaling(0.5, 2, 3), "n_elements": 5},
        "envelope": {"family": images, "templates": "local", "envelope": 1.5, "blur": 0.4},
        "data_envelope": {"family": images, "templates": "data", "envelope": (1.0, 2.0)},
        "span": {"family": images, "thresholds": "uniform", "s": 1.3, "epsilon": 0.2},
        "sounds": {"family": PitchShift(100) * TimeStretch((0.9, 1.1))},
    }
    values = {}
    for name, options in cases.items():
        results = invariant_values(X, new, dtype="float64", **options)
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values


@CASES.case(SINGLE)
def digits_invariant() -> dict[str, Any]:
    """Return invariant features of digits as estimators use them."""
    X, _, new, _ = digits()
    # maxima and moments, since shares jump where single precision falls beside a threshold
    family = Translation(1) * Rotation(15)
    values = {}
    for pooling in ("max", "moments"):
        results = invariant_values(X, new, family=family, pooling=pooling)
        values |= {f"{pooling}_{one}": value for one, value in results.items()}
    return values


@CASES.case()
def oriented_gradients() -> dict[str, Any]:
    """Return oriented gradients with every option."""
    options: dict[str, dict[str, Any]] = {
        "default": {},
        "few": {"n_orientations": 4, "blur": 0.5, "step": 3, "margin": 0},
        "contrast": {"contrast": 1.0, "floor": 0.3},
        "noisy": {"smooth": 1.0, "threshold": 0.1, "despike": True},
    }
    X, values = digits()[0][:5], {}
    for name, chosen in options.items():
        features = OrientedGradients(**chosen).fit(X)
        values[name], values[f"{name}_shape"] = features.transform(X), tuple(features.shape_)
        values[f"{name}_double"] = OrientedGradients(**chosen).fit_transform(uniform(3))
    colours = OrientedGradients(shape=(8, 4, 2)).fit(uniform(3))
    return {**values, "colours": colours.transform(uniform(3)), "colours_shape": colours.shape_}


@CASES.case()
def other_features_of_images() -> dict[str, Any]:
    """Return centred images and features of patches."""
    X, new = digits()[0][:8], digits()[2][:4]
    inner = InvariantFeatures(Rotation(20), 6, 3, pooling="max", random_state=0)
    patches = PatchFeatures(inner, width=8, step=4, random_state=0).fit(X)
    return {
        "centred": Centred().fit(X).transform(new),
        "centred_blur": Centred(blur=0.5, shape=(4, 16)).fit_transform(uniform(3)),
        "patches": patches.transform(new),
        "patches_shape": tuple(patches.shape_),
    }


@CASES.case(Tolerance(1e-6, "landmarks by k-means and the inverse root of their Gram matrix"))
def local_kernel_features() -> dict[str, Any]:
    """Return features of local patches, of maps of gradients and of raw rows."""
    X, new = digits()[0][:16], digits()[2][:4]
    gradients = OrientedGradients().fit(X)
    maps, seen = gradients.transform(X), gradients.transform(new)
    features = LocalKernelFeatures(16, shape=gradients.shape_, random_state=0).fit(maps)
    rows = LocalKernelFeatures(
        8, width=2, beta=3.0, step=2, blur=1.0, shape=(8, 8), random_state=0
    ).fit(uniform(12))
    return {"digits": features.transform(seen), "rows": rows.transform(uniform(4, 64, 1))}


@CASES.case(Tolerance(1e-6, "filters by k-means and the inverse root of a covariance matrix"))
def whitened_patches() -> dict[str, Any]:
    """Return features of whitened patches of digits, and of small colour images."""
    X, new = digits()[0][:16], digits()[2][:4]
    grey = WhitenedPatches(16, random_state=0).fit(X)
    colours = WhitenedPatches(8, 3, shape=(5, 4, 3), random_state=0).fit(uniform(12, 60))
    return {"digits": grey.transform(new), "colours": colours.transform(uniform(4, 60, 1))}


@CASES.case()
def theory() -> dict[str, Any]:
    """Return the bounds of the paper of invariant features, and its kernel in expectation."""
    bounds = moving.theory()
    X, Z = normal(4, 6), normal(3, 6, 1)
    X, Z = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (X, Z))
    features = InvariantFeatures(
        CyclicShift(), 8, 6, templates="gaussian", thresholds="uniform", random_state=0
    ).fit(X)
    expected = bounds.expected_kernel(features, X, Z, n_draws=20, random_state=0)
    return {
        "orbit_distance": bounds.orbit_distance(X, Z, CyclicShift()),
        "distance_weight": bounds.distance_weight(36, "sphere"),
        "expectation_bounds": np.array(bounds.expectation_bounds(36)),
        "sample_sizes": np.array([float(one) for one in bounds.sample_sizes(0.2, 0.1, 100)]),
        "risk_bound": bounds.risk_bound(100, 50, 20, 10),
        "expected_values": np.asarray(expected.values, dtype=float),
        "expected_errors": np.asarray(expected.errors, dtype=float),
    }


@CASES.case()
def lemmas() -> dict[str, Any]:
    """Return the bounds of the lemmas, and templates of small distortion."""
    bounds = moving.theory()
    X = normal(12, 6)
    features = InvariantFeatures(
        CyclicShift(), 30, 6, templates="gaussian", dtype="float64", random_state=0
    ).fit(X)
    choice = bounds.choose_templates(features, X, 5)
    return {
        "maximum": np.array(bounds.maximum_moments((0.3, -0.4), (1.0, 0.6), 0.5)),
        "chi2": np.array(bounds.chi2_tail_bounds(16, 0.3)),
        "distribution": bounds.distribution_bound(100, 0.05),
        "mean": bounds.mean_bound(100, 0.05, 2.0),
        "approximation": bounds.approximation_bound(50, 20, 10, 2.0, (0.05, 0.1)),
        "estimation": bounds.estimation_bound(100, 10, 2.0),
        "chosen": choice.indices,
        "distortions": choice.distortions,
    }
