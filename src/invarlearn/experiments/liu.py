"""Liu et al. (2022), Learning from few samples: its method in our settings, and Example 2.

Table 2 and Figure 2 in the authors' settings are in ``liu_authors``, definiteness is in
``liu_definiteness``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_score
from sklearn.svm import SVC

from invarlearn import OrbitSVC, TangentDistanceClassifier
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.data import random_split
from invarlearn.experiments.liu_authors import TABLE_SIZES
from invarlearn.experiments.pictures import orbit, spectra
from invarlearn.features import OrientedGradients
from invarlearn.kernels import (
    RBF,
    Kernel,
    Linear,
    OrbitKernel,
)
from invarlearn.kernels.definiteness import spectrum_of
from invarlearn.transforms import Family, Rotation, Scaling, Shear, Translation

# Our settings: a Gaussian kernel of best-fit cosines. L: oriented gradients instead of pixels.
_SHIFTS, _ROTATIONS = Translation(2), Rotation(15, n_steps=5)
_OURS: dict[str, Family | None] = {
    "SVM": None,
    "TI": _SHIFTS,
    "RI": _ROTATIONS,
    "TI-RI": _SHIFTS * _ROTATIONS,
    "RI, average fit": _ROTATIONS,
    "L": None,
    "L-TI": Translation(1),
    "L-RI": _ROTATIONS,
    "L-TI-RI": Translation(1) * _ROTATIONS,
}


def tuned(
    family: Family | None, features: Any, pooling: str, X: NDArray, y: NDArray, seed: int
) -> OrbitSVC:
    """Return a fitted OrbitSVC, with gamma and C chosen by cross-validation of the rows X."""
    transformer = None if features is None else clone(features).fit(X)

    def gram(base: Kernel) -> NDArray:
        kernel = OrbitKernel(base, family, pooling, normalize=True, features=transformer)
        return kernel(X).astype(float)

    cosines = gram(Linear()) if pooling == "max" else None
    folds = KFold(5, shuffle=True, random_state=seed)
    best_score, best_params = -1.0, (3.0, 10.0)
    for gamma in (1.5, 3.0, 6.0):
        values = gram(RBF(gamma)) if cosines is None else np.exp(-2 * gamma * (1 - cosines))
        repaired = spectrum_of(values, "clip").repaired_gram(values)
        for C in (1.0, 10.0):
            svc = SVC(kernel="precomputed", C=C)
            score = float(cross_val_score(svc, repaired, y, cv=folds).mean())
            if score > best_score:
                best_score, best_params = score, (gamma, C)
    gamma, C = best_params
    svc = OrbitSVC(family, features=features, pooling=pooling, gamma=gamma, C=C, break_ties=True)
    return svc.fit(X, y)


def run_ours(data: str, method: str, n_labels: int, n_test: int, seed: int) -> dict[str, float]:
    """Tune and train on one draw; return the accuracy on the test images, in percent."""
    X, y, X_test, y_test = random_split(data, n_labels, n_test, seed)
    if method == "TD":
        return {"accuracy": 100 * TangentDistanceClassifier().fit(X, y).score(X_test, y_test)}
    features = OrientedGradients() if method.startswith("L") else None
    pooling = "mean" if "average" in method else "max"
    model = tuned(_OURS[method], features, pooling, X, y, seed)
    return {"accuracy": 100 * model.score(X_test, y_test)}


TABLE_2_OURS = Experiment(
    id="003-table2-ours",
    paper="Liu et al. (2022), Table 2, in our settings",
    title="Accuracy with few labels: normalised Gaussian kernels, tuned on the training set",
    varies={"data": ["MNIST", "letters"], "method": [*_OURS, "TD"], "n_labels": TABLE_SIZES},
    quick={"n_labels": [100], "data": ["MNIST"]},
    run=run_ours,
    x="n_labels",
    lines="method",
    settings={"quick": {"n_test": 1000}, "full": {"n_test": 10000}},
    note=(
        "Here L means oriented gradients instead of pixels. gamma (1.5, 3, 6) and C (1, 10) are "
        "chosen by five-fold cross-validation of the training rows. TD has all seven tangents, of "
        "smoothed images. "
    ),
)


# Larger families, with shears and scalings.
_BEST_PIXELS = _SHIFTS * Rotation(15) * Shear(0.3)
_BEST: dict[str, tuple[Family | None, Any]] = {
    "SVC": (None, None),
    "OrbitSVC, pixels": (_BEST_PIXELS, None),
    "OrbitSVC, oriented gradients": (
        Translation(1) * Rotation(15) * Scaling(1.15) * Shear(0.25),
        OrientedGradients(),
    ),
}


def run_best(method: str, n_labels: int, n_test: int, seed: int) -> dict[str, float]:
    """Tune and train on one draw of MNIST; return the accuracy, in percent."""
    X, y, X_test, y_test = random_split("MNIST", n_labels, n_test, seed)
    family, features = _BEST[method]
    return {"accuracy": 100 * tuned(family, features, "max", X, y, seed).score(X_test, y_test)}


BEST = Experiment(
    id="003-best",
    paper="The method of Liu et al. (2022), with our families",
    title="MNIST with few labels: the best fit over shifts, rotations, shears and scalings",
    varies={"method": list(_BEST), "n_labels": TABLE_SIZES},
    quick={"n_labels": [100]},
    run=run_best,
    x="n_labels",
    lines="method",
    seeds={"quick": 2, "full": 10},
    settings={"quick": {"n_test": 1000}, "full": {"n_test": 10000}},
    note=(
        "Gaussian kernels of normalised rows; gamma (1.5, 3, 6) and C (1, 10) are chosen by "
        "five-fold cross-validation of the training rows. Pixels: shifts of up to 2 px, rotations "
        "by 15 degrees, shears by 0.3. Oriented gradients: shifts of 1 px, rotations by 15 "
        "degrees, shears by 0.25, scalings by 1.15."
    ),
    pictures=lambda: [orbit(_BEST_PIXELS, "shifts, rotations and shears"), spectra()],
)


def run_example_2(method: str, seed: int) -> dict[str, float]:
    """Return the smaller distance of the samples (1, 2) and (5, 2) from the decision boundary."""
    X, y = np.array([[1.0, 2.0], [5.0, 2.0]]), np.array([0, 1])
    family = Translation(None, wrap=True, shape=(1, 2))
    if method == "best fit":
        model: Any = OrbitSVC(family, kernel="linear", normalize=False, C=1e6, psd=None, tol=1e-9)
        model.fit(X, y)
    else:
        orbit = family.orbit(X).reshape(-1, 2)
        model = SVC(kernel="linear", C=1e6, tol=1e-9).fit(orbit, np.repeat(y, 2))
    step = 1e-4
    neighbours = [X + step * np.array(axis) for axis in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    up, down, right, left = (model.decision_function(rows) for rows in neighbours)
    gradient_norm = np.hypot((up - down) / (2 * step), (right - left) / (2 * step))
    return {"margin": float((np.abs(model.decision_function(X)) / gradient_norm).min())}


EXAMPLE_2 = Experiment(
    id="003-example2",
    paper="Liu et al. (2022), Example 2",
    title="Margins of two images of two pixels under circular shifts",
    varies={"method": ["best fit", "augmented data"]},
    run=run_example_2,
    x="method",
    lines="method",
    metric="margin",
    unit="pixels",
    seeds={"quick": 1, "full": 1},
    published={
        # the square root of 10, halved, and that of 2
        ("best fit",): 1.5811,
        ("augmented data",): 1.4142,
    },
)

EXPERIMENTS = [TABLE_2_OURS, BEST, EXAMPLE_2]
