"""Mroueh et al. (2015): further features of digits, and convergence of inner products.

Ids begin with 000 and 001 for the two versions of the paper. The figures of words are in
``mroueh_words``, those of digits in ``mroueh_digits``, those of speech in ``mroueh_speech``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline, make_union

from invarlearn import InvariantFeatures, RLSClassifier
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.data import stratified_split
from invarlearn.experiments.pictures import templates
from invarlearn.features import OrientedGradients, PatchFeatures
from invarlearn.features.theory import kernel_error
from invarlearn.transforms import CyclicShift, Rotation, Translation

# -- digits ---------------------------------------------------------------------------------------

PAPER_FAMILY = Translation(3) * Rotation(20, n_steps=5)


def pixel_features(seed: int, n_templates: int = 300, n_bins: int = 12, **params: Any) -> Any:
    """Return invariant features of pixels over the paper's family."""
    return InvariantFeatures(
        PAPER_FAMILY, n_templates, n_bins, normalize=True, random_state=seed, **params
    )


def gradient_features(seed: int, n_templates: int = 500, n_bins: int = 12) -> BaseEstimator:
    """Return invariant features of gradients: shifts by 2 cells, rotations by 15 degrees."""
    family = Translation(2, shape=(16, 16, 8)) * Rotation(15, n_steps=3, shape=(16, 16, 8))
    return make_pipeline(
        OrientedGradients(),
        InvariantFeatures(family, n_templates, n_bins, envelope=2.5, random_state=seed),
    )


def patch_features(seed: int) -> BaseEstimator:
    """Return two layers of invariant features: of patches, and of the first layer's maps."""
    inner = InvariantFeatures(
        Translation(1) * Rotation(20, n_steps=3), 16, 3, templates="gaussian", random_state=seed
    )
    shape = (12, 12, 48)
    return make_pipeline(
        PatchFeatures(inner, width=9, step=2, random_state=seed),
        InvariantFeatures(Translation(2, shape=shape), 300, 12, random_state=seed),
    )


_DIGIT_FEATURES: dict[str, Any] = {
    "raw": None,
    "gradients": lambda seed: OrientedGradients(),
    "CDF, Gaussian templates": lambda seed: pixel_features(seed, templates="gaussian"),
    "CDF, local templates": pixel_features,
    "CDF of patches' CDF": patch_features,
    "CDF of gradients": gradient_features,
    "CDF of gradients, and of pieces of pixels": lambda seed: make_union(
        gradient_features(seed),
        pixel_features(seed + 1, templates="data", envelope=4.0),
    ),
}


def run_digits(features: str, n_per_class: int, n_test: int, seed: int) -> dict[str, float]:
    """Train on digits of one draw; return the accuracy on test digits, in percent."""
    X, y, X_test, y_test = stratified_split("MNIST", n_per_class, n_test, seed)
    make_features = _DIGIT_FEATURES[features]
    if make_features is not None:
        transformer = make_features(seed).fit(X)
        X, X_test = transformer.transform(X), transformer.transform(X_test)
    return {"accuracy": 100 * RLSClassifier().fit(X, y).score(X_test, y_test)}


SEVERAL_FEATURES = Experiment(
    id="000-figure2-samples",
    paper="Ours, beside Mroueh et al. (2015), Figure 2, right",
    title="MNIST, regularised least squares: invariant features of pixels, gradients and patches",
    varies={"features": list(_DIGIT_FEATURES), "n_per_class": [10, 100]},
    quick={"n_per_class": [10]},
    run=run_digits,
    x="n_per_class",
    lines="features",
    settings={"quick": {"n_test": 1000}, "full": {"n_test": 10000}},
    note=(
        "Pixels: shifts of 3 px and rotations by 20 degrees, as in the paper; 300 templates, 12 "
        "bins. Patches: 9 x 9 pixels every 2 px under rotations by 20 degrees, then shifts of 2. "
        "Gradients: shifts of 2 cells (4 px), rotations by 15 degrees, 500 templates, 12 bins. "
        "Settings were chosen on training images."
    ),
    pictures=lambda: [templates(Translation(3) * Rotation(20, n_steps=5))],
)

LARGE = Experiment(
    id="000-figure2-1000",
    paper="Ours, beside Mroueh et al. (2015), Figure 2, right, last point",
    title="MNIST, 1,000 training images of each class: invariant features of pixels and gradients",
    varies={
        "features": ["raw", "CDF, local templates", "CDF of gradients, and of pieces of pixels"],
        "n_per_class": [1000],
    },
    quick={"n_per_class": [100]},
    run=run_digits,
    x="n_per_class",
    lines="features",
    seeds={"quick": 1, "full": 1},
    settings={"quick": {"n_test": 1000}, "full": {"n_test": 10000}},
    note="Settings of 000-figure2-samples. The paper's settings are in 000-figure2-headline.",
)


# -- convergence of inner products -------------------------------------------------------------


def run_convergence(what: str, count: int, n_features: int, seed: int) -> dict[str, float]:
    """Return the mean and the largest error of inner products of features as values of K_s."""
    X = np.random.RandomState(1000).standard_normal((20, n_features))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    settings: dict[str, Any] = {
        "n_templates": 20000,
        "n_bins": 400,
        "thresholds": "midpoint",
        "s": 1.1,
        "n_elements": None,
    }
    settings[what] = count
    if what == "n_bins":
        # the thresholds of the paper, whose error is a bias
        settings["thresholds"] = "uniform"
    features = InvariantFeatures(
        CyclicShift(shape=n_features),
        templates="gaussian",
        dtype="float64",
        random_state=seed,
        **settings,
    ).fit(X)
    error = kernel_error(features, X)
    return {"error": error.mean, "largest": error.largest}


CONVERGENCE = Experiment(
    id="000-convergence",
    paper="Mroueh et al. (2015), Theorem 2",
    title="Convergence of inner products of features to the kernel",
    varies={
        "what": ["n_bins", "n_templates", "n_elements"],
        "count": [5, 10, 20, 40, 80, 160],
    },
    run=run_convergence,
    x="count",
    lines="what",
    metric="error",
    unit="mean error",
    seeds={"quick": 3, "full": 20},
    settings={"quick": {"n_features": 16}, "full": {"n_features": 16}},
    note=(
        "20 random rows on the unit sphere in 16 dimensions under cyclic shifts, with Gaussian "
        "templates. Quantities that are not varied: 20,000 templates, 400 thresholds at midpoints, "
        "all 16 shifts. Theorem 2 has slopes (on logarithmic axes) of -1 for bins, -1/2 for "
        "templates and -1/2 for sampled elements."
    ),
)

EXPERIMENTS = [
    SEVERAL_FEATURES,
    LARGE,
    CONVERGENCE,
]
