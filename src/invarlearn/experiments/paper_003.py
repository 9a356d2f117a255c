"""Liu et al., Learning from few samples: transformation-invariant SVMs (paper 003).

The authors' settings are those of their released code: degree 8, inner products divided by the
number of pixels, C = 1, circular shifts, rotations by cubic splines, nothing tuned.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, cross_val_score
from sklearn.svm import SVC

from invarlearn import OrbitSVC, TangentDistanceClassifier
from invarlearn.datasets import rotated, translated
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.data import draw
from invarlearn.experiments.pictures import orbit, spectra
from invarlearn.features import OrientedGradients
from invarlearn.kernels import (
    RBF,
    Kernel,
    Linear,
    LocalPolynomial,
    OrbitKernel,
    Polynomial,
    definite_up_to,
)
from invarlearn.kernels.definiteness import spectrum_of
from invarlearn.transforms import Custom, Family, Rotation, Scaling, Shear, Translation

_SIZES = [100, 200, 500]
_METHODS = ["SVM", "L", "TI", "RI", "L-TI", "L-RI", "TI-RI", "L-TI-RI", "RI, average fit", "TD"]


def turned(X: NDArray, degrees: float) -> NDArray:
    """Rotate square images by cubic splines on the same canvas, as the authors do."""
    from scipy.ndimage import rotate

    side = int(np.sqrt(X.shape[1]))
    images = X.reshape(-1, side, side)
    return rotate(images, degrees, axes=(1, 2), reshape=False, order=3).reshape(X.shape)


def angles(first: int, last: int) -> Family:
    """Give the authors' rotations: every degree from first to last."""
    return Custom([partial(turned, degrees=d) for d in range(first, last + 1) if d])


def authors(method: str, data: str, n_features: int = 784) -> BaseEstimator:
    """Give a classifier of Table 2 as the authors have it."""
    if method == "TD":
        return TangentDistanceClassifier(Translation(1) * Rotation(10), sides=2, smoothing=0)
    width = {"L": 9, "L-RI": 3 if data == "MNIST" else 5}.get(method, 7)
    local = LocalPolynomial((width,), (2, 4))
    few = angles(-5, 5)
    families = {
        "TI": Translation(5, wrap=True),
        "RI": angles(-10, 9),
        "RI, average fit": angles(-10, 9),
        "L-TI": Translation(7, wrap=True),
        "L-RI": few if data == "MNIST" else angles(-10, 9),
        "TI-RI": Translation(7, wrap=True) * angles(-10, 9),
        "L-TI-RI": Translation(7, wrap=True) * few,
    }
    return OrbitSVC(
        families.get(method),
        kernel=local if method.startswith("L") else Polynomial(8, 1 / n_features),
        pooling="mean" if "average" in method else "max",
        normalize=False,
        C=1.0,
        psd=None,
    )


def run_authors(data: str, method: str, n_labels: int, n_test: int, seed: int) -> dict[str, float]:
    """Train on one draw and give the accuracy on the test images, in percent."""
    X, y, X_test, y_test = draw(data, n_labels, n_test, seed)
    return {"accuracy": 100 * authors(method, data).fit(X, y).score(X_test, y_test)}


_TABLE_2_PAPER = {
    "MNIST": {
        "SVM": (68.16, 78.67, 87.14),
        "L": (75.27, 82.11, 88.21),
        "TI": (69.34, 82.34, 91.00),
        "RI": (73.82, 83.60, 90.19),
        "L-TI": (78.86, 87.02, 91.01),
        "L-RI": (77.96, 83.96, 89.65),
        "TI-RI": (75.10, 86.47, 93.11),
        "L-TI-RI": (81.55, 89.23, 92.58),
        "RI, average fit": (68.05, 78.81, 87.21),
        "TD": (73.04, 81.68, 88.15),
    }
}

_DATA_NOTE = (
    "The paper has one draw and a random test set of 10,000 from the pooled images; ours is the "
    "standard test set. Its letters are EMNIST, ours other images of NIST SD19 (3,997 to draw "
    "from, 997 to test), so its numbers for letters are not set beside ours."
)

TABLE_2 = Experiment(
    id="003-table2",
    paper="Paper 003, Table 2",
    title="Accuracy with few labels, in the authors' settings",
    varies={"data": ["MNIST", "letters"], "method": _METHODS, "n_labels": _SIZES},
    quick={"n_labels": [100], "data": ["MNIST"]},
    run=run_authors,
    x="n_labels",
    lines="method",
    settings={"quick": {"n_test": 1000}, "full": {"n_test": 10000}},
    published={
        (data, method, n): value
        for data, rows in _TABLE_2_PAPER.items()
        for method, values in rows.items()
        for n, value in zip(_SIZES, values, strict=True)
    },
    note=_DATA_NOTE,
    pictures=lambda: [orbit(Translation(5, wrap=True), "circular shifts (TI)"), spectra(5)],
    revision=2,
)


# Five rows of Table 2 are more than three points above the paper at 100 labels: is its one draw
# a poor one? Many draws of those rows, and of a local one, tell.
_DRAWN = ["SVM", "L", "TI", "TI-RI", "RI, average fit", "TD"]
TABLE_2_DRAWS = Experiment(
    id="003-table2-draws",
    paper="Paper 003, Table 2, at 100 labels",
    title="How much accuracy with 100 labels depends on the draw",
    varies={"data": ["MNIST"], "method": _DRAWN, "n_labels": [100]},
    run=run_authors,
    x="n_labels",
    lines="method",
    seeds={"quick": 5, "full": 50},
    settings={"quick": {"n_test": 1000}, "full": {"n_test": 5000}},
    published={("MNIST", method, 100): _TABLE_2_PAPER["MNIST"][method][0] for method in _DRAWN},
    note="Authors' settings. The rows of the paper share one draw of training images.",
)


def run_tangents(sides: int, n_labels: int, n_test: int, seed: int) -> dict[str, float]:
    """Give the accuracy of tangent distance with tangents on one side or both, in percent."""
    X, y, X_test, y_test = draw("MNIST", n_labels, n_test, seed)
    model = TangentDistanceClassifier(Translation(1) * Rotation(10), sides=sides, smoothing=0)
    return {"accuracy": 100 * model.fit(X, y).score(X_test, y_test)}


TANGENTS = Experiment(
    id="003-table2-tangents",
    paper="Paper 003, Table 2, tangent distance",
    title="Tangents of one image, or of both",
    varies={"sides": [1, 2], "n_labels": _SIZES},
    quick={"n_labels": [100]},
    run=run_tangents,
    x="n_labels",
    lines="sides",
    seeds={"quick": 2, "full": 10},
    settings={"quick": {"n_test": 1000}, "full": {"n_test": 5000}},
    published={
        (2, n): value for n, value in zip(_SIZES, _TABLE_2_PAPER["MNIST"]["TD"], strict=True)
    },
    note="Shifts and rotation, 1-NN. The paper says two-sided.",
)


# Ours: cosines of the best fit in a Gaussian kernel; L is oriented gradients instead of pixels.
_SHIFTS, _TURNS = Translation(2), Rotation(15, n_steps=5)
_OURS: dict[str, Family | None] = {
    "SVM": None,
    "TI": _SHIFTS,
    "RI": _TURNS,
    "TI-RI": _SHIFTS * _TURNS,
    "RI, average fit": _TURNS,
    "L": None,
    "L-TI": Translation(1),
    "L-RI": _TURNS,
    "L-TI-RI": Translation(1) * _TURNS,
}


def tuned(
    family: Family | None, features: Any, pooling: str, X: NDArray, y: NDArray, seed: int
) -> OrbitSVC:
    """Choose gamma and C by cross-validation within the training rows, and fit."""
    fitted = None if features is None else clone(features).fit(X)

    def gram(base: Kernel) -> NDArray:
        kernel = OrbitKernel(base, family, pooling, normalize=True, features=fitted)
        return kernel(X).astype(float)

    cosines = gram(Linear()) if pooling == "max" else None
    folds = KFold(5, shuffle=True, random_state=seed)
    best, chosen = -1.0, (3.0, 10.0)
    for gamma in (1.5, 3.0, 6.0):
        values = gram(RBF(gamma)) if cosines is None else np.exp(-2 * gamma * (1 - cosines))
        repaired = spectrum_of(values, "clip").repaired_gram(values)
        for C in (1.0, 10.0):
            svc = SVC(kernel="precomputed", C=C)
            score = float(cross_val_score(svc, repaired, y, cv=folds).mean())
            if score > best:
                best, chosen = score, (gamma, C)
    gamma, C = chosen
    return OrbitSVC(family, features=features, pooling=pooling, gamma=gamma, C=C).fit(X, y)


def run_ours(data: str, method: str, n_labels: int, n_test: int, seed: int) -> dict[str, float]:
    """Tune and train on one draw and give the accuracy on the test images, in percent."""
    X, y, X_test, y_test = draw(data, n_labels, n_test, seed)
    if method == "TD":
        return {"accuracy": 100 * TangentDistanceClassifier().fit(X, y).score(X_test, y_test)}
    features = OrientedGradients() if method.startswith("L") else None
    pooling = "mean" if "average" in method else "max"
    model = tuned(_OURS[method], features, pooling, X, y, seed)
    return {"accuracy": 100 * model.score(X_test, y_test)}


TABLE_2_OURS = Experiment(
    id="003-table2-ours",
    paper="Paper 003, Table 2, in our settings",
    title="Accuracy with few labels: normalised Gaussian kernels, tuned on the training set",
    varies={"data": ["MNIST", "letters"], "method": [*_OURS, "TD"], "n_labels": _SIZES},
    quick={"n_labels": [100], "data": ["MNIST"]},
    run=run_ours,
    x="n_labels",
    lines="method",
    settings={"quick": {"n_test": 1000}, "full": {"n_test": 10000}},
    note=(
        "L means oriented gradients instead of pixels here. gamma (1.5, 3, 6) and C (1, 10) by "
        "five-fold cross-validation within the training rows. TD has all seven tangents, on "
        "smoothed images. " + _DATA_NOTE
    ),
)


# The families that do best: slant and size as well.
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
    """Tune and train on one draw of MNIST and give the accuracy, in percent."""
    X, y, X_test, y_test = draw("MNIST", n_labels, n_test, seed)
    family, features = _BEST[method]
    return {"accuracy": 100 * tuned(family, features, "max", X, y, seed).score(X_test, y_test)}


BEST = Experiment(
    id="003-best",
    paper="Paper 003's idea, our best families",
    title="MNIST with few labels: the best fit over shifts, turns, slant and size",
    varies={"method": list(_BEST), "n_labels": _SIZES},
    quick={"n_labels": [100]},
    run=run_best,
    x="n_labels",
    lines="method",
    seeds={"quick": 2, "full": 10},
    settings={"quick": {"n_test": 1000}, "full": {"n_test": 10000}},
    note=(
        "Gaussian kernels of normalised rows; gamma (1.5, 3, 6) and C (1, 10) by five-fold "
        "cross-validation within the training rows. Pixels: shifts of up to 2 px, turns of 15 "
        "degrees, slant 0.3. Oriented gradients: 1 px, 15 degrees, slant 0.25, sizes by 1.15."
    ),
    pictures=lambda: [orbit(_BEST_PIXELS, "shifts, turns and slant"), spectra()],
)


def run_table_1(data: str, kernel: str, n_max: int, seed: int) -> dict[str, float]:
    """Give up to how many rows the best-fit kernel over all circular shifts is definite."""
    X, _, _, _ = draw("letters" if data == "letters" else "MNIST", n_max, 1, seed)
    if data == "Translated MNIST":
        X = translated(X, random_state=seed).astype(np.float32)
    gamma = (10 if "x 10" in kernel else 1) / X.shape[1]
    base = Linear(gamma) if kernel == "linear" else Polynomial(8, gamma)
    # single precision is too coarse for the last eigenvalue
    best_fit = OrbitKernel(base, Translation(None, wrap=True))
    return {"n": float(definite_up_to(best_fit, X.astype(float)))}


TABLE_1 = Experiment(
    id="003-table1",
    paper="Paper 003, Table 1",
    title="Up to how many rows best-fit kernels are positive definite",
    varies={
        "data": ["MNIST", "letters", "Translated MNIST"],
        "kernel": ["linear", "polynomial", "polynomial, gamma x 10"],
    },
    run=run_table_1,
    x="kernel",
    lines="data",
    metric="n",
    unit="rows",
    settings={"quick": {"n_max": 500}, "full": {"n_max": 1500}},
    published={
        ("MNIST", "linear"): 45,
        ("MNIST", "polynomial"): 375,
        ("letters", "linear"): 35,
        ("letters", "polynomial"): 395,
        ("Translated MNIST", "linear"): 455,
        ("Translated MNIST", "polynomial"): 15000,
    },
    note=(
        "Over all circular shifts, degree 8. Searched up to 500 rows (quick) or 1,500 (full): that "
        "number means that the kernel was definite throughout. The paper does not tell its gamma, "
        "on which much depends: 1 / pixels is that of its accuracies. Its letters are EMNIST."
    ),
    pictures=lambda: [spectra(None)],
)


def run_figure_2(data: str, method: str, n_labels: int, n_test: int, seed: int) -> dict[str, float]:
    """Give the accuracy on moved images, in percent."""
    X, y, X_test, y_test = draw("MNIST", 2 * n_labels + 50, 2 * n_test, seed)
    if data == "Rotated MNIST":
        # a turned 6 is a 9
        keep, keep_test = (~np.isin(z, [6, 9]) for z in (y, y_test))
        X, y, X_test, y_test = X[keep], y[keep], X_test[keep_test], y_test[keep_test]
    make = translated if data == "Translated MNIST" else rotated
    X, y = make(X[:n_labels], random_state=2 * seed), y[:n_labels]
    X_test, y_test = make(X_test[:n_test], random_state=2 * seed + 1), y_test[:n_test]
    moved = (
        Translation(None, wrap=True) if data == "Translated MNIST" else Rotation(180, n_steps=36)
    )
    local = method.startswith("L")
    model = OrbitSVC(
        None if method == "SVM" else moved,
        kernel=LocalPolynomial((5,), (2, 4)) if local else Polynomial(8, 1 / X.shape[1]),
        normalize=False,
        C=1.0,
        psd=None,
    )
    return {"accuracy": 100 * model.fit(X, y).score(X_test, y_test)}


FIGURE_2 = Experiment(
    id="003-figure2",
    paper="Paper 003, Figure 2",
    title="Digits anywhere on a canvas, and turned by any angle",
    varies={
        "data": ["Translated MNIST", "Rotated MNIST"],
        "method": ["SVM", "invariant", "L-invariant"],
        "n_labels": [100, 300, 500, 700, 1000],
    },
    quick={"n_labels": [100, 300]},
    run=run_figure_2,
    x="n_labels",
    lines="method",
    settings={"quick": {"n_test": 300}, "full": {"n_test": 1000}},
    note=(
        "Authors' kernels. Invariant: all circular shifts of the 64 x 64 canvas, or 36 angles on "
        "the full circle (bilinear); without 6 and 9 where digits are turned. The paper gives a "
        "figure without numbers."
    ),
)


def run_example_2(method: str, seed: int) -> dict[str, float]:
    """Give the distance of the two samples (1, 2) and (5, 2) from the decision boundary."""
    X, y = np.array([[1.0, 2.0], [5.0, 2.0]]), np.array([0, 1])
    family = Translation(None, wrap=True, shape=(1, 2))
    if method == "best fit":
        model: Any = OrbitSVC(family, kernel="linear", normalize=False, C=1e6, psd=None, tol=1e-9)
        model.fit(X, y)
    else:
        orbit = family.orbit(X).reshape(-1, 2)
        model = SVC(kernel="linear", C=1e6, tol=1e-9).fit(orbit, np.repeat(y, 2))
    step = 1e-4
    around = [X + step * np.array(move) for move in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    up, down, right, left = (model.decision_function(rows) for rows in around)
    slope = np.hypot((up - down) / (2 * step), (right - left) / (2 * step))
    return {"margin": float((np.abs(model.decision_function(X)) / slope).min())}


EXAMPLE_2 = Experiment(
    id="003-example2",
    paper="Paper 003, Example 2",
    title="Margins of two pixels under circular shifts",
    varies={"method": ["best fit", "augmented data"]},
    run=run_example_2,
    x="method",
    lines="method",
    metric="margin",
    unit="pixels",
    seeds={"quick": 1, "full": 1},
    published={
        ("best fit",): float(np.sqrt(10) / 2),
        ("augmented data",): float(np.sqrt(2)),
    },
)
