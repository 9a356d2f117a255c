"""Ablation of InvariantClassifier, validated on held-out training images of MNIST."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from invarlearn import InvariantClassifier, InvariantFeatures
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.data import LabelledParts, validation_split
from invarlearn.features import LocalKernelFeatures, OrientedGradients
from invarlearn.features.defaults import default_family
from invarlearn.kernels.gaussian import rbf_plus_one
from invarlearn.solvers.ridge import ridge
from invarlearn.transforms import Elastic, Rotation, Translation

_DEFAULT = default_family(None, 784, "recipe")
# height, width and channels of the gradient maps of a digit
_MAPS = (16, 16, 8)


def two_layers() -> Any:
    """Return two layers of local kernel features of gradient maps."""
    first = LocalKernelFeatures(64, step=1, blur=0.7, shape=_MAPS, random_state=0)
    second = LocalKernelFeatures(256, shape=(14, 14, 64), random_state=0)
    return make_pipeline(OrientedGradients(), first, second)


def cdf_features(*envelopes: float, orbit: bool = True, **params: Any) -> Any:
    """Return invariant features of gradient maps.

    Parameters
    ----------
    *envelopes : float
        Widths of the windows of the templates; each has an equal share of 400 templates.
    orbit : bool, default=True
        Whether templates are transformed by shifts and rotations.
    **params
        Other parameters of :class:`InvariantFeatures`.
    """
    family = Translation(2, shape=_MAPS) * Rotation(15, shape=_MAPS) if orbit else None
    widths = envelopes or (1.6,)
    common: dict[str, Any] = {"n_templates": 400 // len(widths), "n_bins": 8, "random_state": 0}
    parts = [InvariantFeatures(family, envelope=e, **{**common, **params}) for e in widths]
    return make_pipeline(OrientedGradients(), make_union(*parts))


def landmarks(**params: Any) -> Any:
    """Return the default features with other parameters."""
    local = LocalKernelFeatures(shape=_MAPS, random_state=0).set_params(**params)
    return make_pipeline(OrientedGradients(), local)


# Parameters of InvariantClassifier that differ from the defaults, by variant.
VARIANTS: dict[str, Callable[[], dict[str, Any]]] = {
    "as it is": dict,
    "no copies": lambda: {"n_copies": 1},
    "15 copies": lambda: {"n_copies": 15},
    "30 copies": lambda: {"n_copies": 30},
    "no whitening": lambda: {"whitening": 0},
    "full whitening": lambda: {"whitening": 1},
    "half the range": lambda: {"ranges": (0.5,)},
    "1.5 times the range": lambda: {"ranges": (1.5,)},
    "range chosen": lambda: {"ranges": (0.5, 1, 1.5)},
    "elastic copies": lambda: {"family": Elastic(20.0, 4.0) * _DEFAULT},
    "average of 5": lambda: {"n_average": 5},
    "pixels": lambda: {"features": FunctionTransformer()},
    "gradients": lambda: {"features": OrientedGradients()},
    "CDF of gradients": lambda: {"features": cdf_features()},
    "two layers": lambda: {"features": two_layers()},
    "patches of 5": lambda: {"features": landmarks(width=5)},
    "512 landmarks": lambda: {"n_landmarks": 512},
    "64 landmarks": lambda: {"n_landmarks": 64},
}


def svm_accuracy(model: InvariantClassifier, y: NDArray, X_test: NDArray, y_test: NDArray) -> float:
    """Return the accuracy of an SVM that is fitted to the augmented samples of a fitted model."""
    machine = model.machine_
    svc = SVC(C=100.0, kernel="precomputed")
    gram = rbf_plus_one(machine.rows, machine.rows, machine.gamma)
    svc.fit(gram, y[machine.sample_index])
    kernel_values = rbf_plus_one(machine.transform(X_test), machine.rows, machine.gamma)
    return float(svc.score(kernel_values, y_test))


def worst_accuracy(model: Any, X: NDArray, y: NDArray, X_test: NDArray, y_test: NDArray) -> float:
    """Return the accuracy with the hardest augmented copies in place of random ones.

    The hardest copies of a sample have the smallest margins of a model with ten copies. They are
    chosen from four times as many copies as the fitted model has.
    """
    machine = model.machine_
    small_model = clone(model).set_params(n_copies=10).fit(X, y)
    elements = model.family_.sample(4 * (model.n_copies_ - 1), 1)
    class_indices = np.searchsorted(model.classes_, y)
    margins = np.empty((len(elements), len(X)))
    for i, element in enumerate(elements):
        scores = small_model.decision_function(element(X))
        own = scores[np.arange(len(X)), class_indices].copy()
        scores[np.arange(len(X)), class_indices] = -np.inf
        margins[i] = own - scores.max(axis=1)
    hardest = np.sort(np.argsort(margins, axis=0)[: model.n_copies_ - 1], axis=0)
    rows = [machine.transform(X)]
    for indices in hardest:
        copies = [elements[int(e)](X[i : i + 1])[0] for i, e in enumerate(indices)]
        rows.append(machine.transform(np.stack(copies)))
    F = np.concatenate(rows)
    Y = np.tile(model.targets_.encode_labels(y), (model.n_copies_, 1))
    alpha = ridge(rbf_plus_one(F, F, machine.gamma), Y, model.lam_).alpha
    scores = rbf_plus_one(machine.transform(X_test), F, machine.gamma) @ alpha
    return float(np.mean(model.classes_[scores.argmax(axis=1)] == y_test))


def changes_weights(K: NDArray, Y: NDArray, nu: float, lam: float) -> NDArray:
    """Return the weights of least squares with a penalty on changes to augmented copies.

    They minimise ``sum (f(x) - y)^2 + nu mean over copies of sum (f(copy) - f(x))^2
    + lam alpha' K alpha``, where f = K alpha.

    Parameters
    ----------
    K : array of shape (n_copies * n, n_copies * n)
        Gram matrix of the n samples, followed by their first copies, their second copies, ...
    Y : array of shape (n, n_targets)
    nu, lam : float

    Returns
    -------
    alpha : array of shape (n_copies * n, n_targets)
    """
    n, n_copies = len(Y), len(K) // len(Y)
    weight = nu / (n_copies - 1)
    system = np.empty_like(K)
    system[:n] = (1 + nu) * K[:n]
    for copy in range(1, n_copies):
        rows = slice(copy * n, (copy + 1) * n)
        system[:n] -= weight * K[rows]
        system[rows] = weight * (K[rows] - K[:n])
    system[np.diag_indices_from(system)] += lam
    return np.linalg.solve(system, np.concatenate([Y, np.zeros((len(K) - n, Y.shape[1]))]))


def changes_accuracy(
    model: Any, y: NDArray, X_test: NDArray, y_test: NDArray, max_rows: int = 4000
) -> float:
    """Return the accuracy of least squares with a penalty on changes to augmented copies."""
    machine = model.machine_
    n_copies = min(model.n_copies_, max_rows // len(y))
    F = machine.rows[: len(y) * n_copies].astype(float)
    labels = y[machine.sample_index[: len(y)]]
    Y = model.targets_.encode_labels(labels)
    gram = rbf_plus_one(F, F, machine.gamma)
    alpha = changes_weights(gram, Y, 10.0, model.lam_ / n_copies)
    scores = rbf_plus_one(machine.transform(X_test).astype(float), F, machine.gamma) @ alpha
    return float(np.mean(model.classes_[scores.argmax(axis=1)] == y_test))


# Other fits to the features of InvariantClassifier.
OTHERS = ["SVM", "worst copies", "changes penalised"]

# Invariant features (CDF) in place of the default features, by variant.
TEMPLATES: dict[str, Callable[[], dict[str, Any]]] = {
    "local kernel features": dict,
    "CDF, orbit and copies": lambda: {"features": cdf_features()},
    "CDF, orbit, no copies": lambda: {"features": cdf_features(), "n_copies": 1},
    "CDF, copies, no orbit": lambda: {"features": cdf_features(orbit=False)},
    "narrow templates": lambda: {"features": cdf_features(0.8)},
    "wide templates": lambda: {"features": cdf_features(4.0)},
    "mixed widths": lambda: {"features": cdf_features(0.8, 1.6, 3.2, 6.4)},
    "no blur": lambda: {"features": cdf_features(blur=0.0)},
    "more blur": lambda: {"features": cdf_features(blur=1.6)},
    "pieces of images": lambda: {"features": cdf_features(templates="data")},
    "3 bins": lambda: {"features": cdf_features(n_bins=3)},
    "20 bins": lambda: {"features": cdf_features(n_bins=20)},
}


def run_recipe(variant: str, n_labels: int, n_test: int, seed: int) -> dict[str, float]:
    """Fit to one draw of training images; return the accuracy on other ones, in percent."""
    changes = {**VARIANTS, **TEMPLATES}.get(variant, dict)()
    return score_variant(variant, changes, validation_split(n_labels, n_test, seed), seed)


def score_variant(
    variant: str, changes: dict[str, Any], parts: LabelledParts, seed: int
) -> dict[str, float]:
    """Return the accuracy of a variant in percent, and the seconds of the fit.

    Parameters
    ----------
    variant : str
        One of ``OTHERS`` is another fit to the features of the model; any other name is the model.
    changes : dict
        Parameters of :class:`InvariantClassifier` that differ from the defaults.
    parts : tuple of four arrays
        Training rows and labels, and test rows and labels.
    seed : int
    """
    X, y, X_test, y_test = parts
    model = InvariantClassifier(random_state=seed, **changes).fit(X, y)
    scores: dict[str, Callable[..., float]] = {
        "SVM": partial(svm_accuracy, model, y),
        "worst copies": partial(worst_accuracy, model, X, y),
        "changes penalised": partial(changes_accuracy, model, y),
    }
    score: Callable[..., float] = scores[variant] if variant in OTHERS else model.score
    return {"accuracy": 100 * score(X_test, y_test), "fit_seconds": sum(model.seconds_.values())}


_COMMON: dict[str, Any] = {
    "paper": "Ours",
    "run": run_recipe,
    "x": "n_labels",
    "lines": "variant",
    "cost": "fit_seconds",
    "seeds": {"quick": 1, "full": 4},
    "settings": {"quick": {"n_test": 500}, "full": {"n_test": 5000}},
}
_NOTE = (
    "Trained and tested on disjoint training images of MNIST; the test set is not used. "
    "fit_seconds is the fit time of InvariantClassifier, in one thread. "
)

PARTS = Experiment(
    id="recipe",
    title="Ablation of InvariantClassifier",
    varies={"variant": [*VARIANTS, *OTHERS], "n_labels": [100, 500]},
    quick={"variant": ["no copies", "15 copies"], "n_labels": [100]},
    note=_NOTE
    + (
        "Copies: augmented copies; without them there is no whitening. Ranges are those of the "
        "default family. SVM: fitted to the same augmented samples. Worst copies: the copies with "
        "the smallest margins of a model with 10 copies, out of four times as many. Changes "
        "penalised: least squares on the samples alone, with 10 times the mean squared change to "
        "the augmented copies as a penalty, on at most 4,000 rows."
    ),
    **_COMMON,
)

CDF = Experiment(
    id="recipe-templates",
    title="InvariantClassifier with invariant features: templates, orbits and augmented copies",
    varies={"variant": list(TEMPLATES), "n_labels": [100, 500]},
    quick={"variant": ["CDF, orbit, no copies"], "n_labels": [100]},
    note=_NOTE
    + (
        "CDF: the features of Mroueh et al. (2015) of gradient maps: 400 local templates with a "
        "window of 1.6 pixels, blurred by 0.8, under shifts by 2 pixels and rotations by 15 "
        "degrees, with 8 thresholds. Variants state what differs. Copies: augmented copies."
    ),
    **_COMMON,
)

EXPERIMENTS = [PARTS, CDF]
