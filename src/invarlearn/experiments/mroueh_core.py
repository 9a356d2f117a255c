"""Mroueh et al. (2015): the core set, risk minimisation of Theorem 3, templates of Remark 4."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from invarlearn import BoundedClassifier, InvariantFeatures, RLSClassifier
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.data import stratified_split
from invarlearn.experiments.mroueh_words import (
    ALL_WORDS,
    labelled_words,
    orbit_coordinates,
    split_words,
    word_features,
    word_orbits,
)
from invarlearn.features.theory import choose_templates, expected_kernel
from invarlearn.transforms import Translation

# -- train on one representative of each orbit ----------------------------------------------------


def run_core_set(features: str, n_orbits: int, test: str, seed: int) -> dict[str, float]:
    """Train on the sorted words of some orbits; return the accuracy on other words, in percent.

    Parameters
    ----------
    features : str
        "raw, all words" is trained on all words of the orbits instead.
    n_orbits : int
        Number of training orbits.
    test : {"same orbits", "other orbits"}
        Tested on all other words of the training orbits, or on the words of all other orbits.
    seed : int
    """
    words, orbit = labelled_words(seed), word_orbits()[1]
    n_all = len(word_orbits()[0])
    chosen = np.random.RandomState(seed).choice(n_all, n_orbits, replace=False)
    is_sorted = (np.diff(words.words, axis=1) >= 0).all(axis=1)
    in_chosen = np.isin(orbit, chosen)
    core = np.flatnonzero(in_chosen & is_sorted)
    tested = in_chosen & ~is_sorted if test == "same orbits" else ~in_chosen
    y_test = words.y[tested]
    if features.startswith("raw"):
        train = core if features == "raw" else np.flatnonzero(in_chosen)
        model = RLSClassifier().fit(words.X[train], words.y[train])
        return {"accuracy": 100 * model.score(words.X[tested], y_test)}
    coordinates = orbit_coordinates(features, words.X[core], seed)
    model = RLSClassifier().fit(coordinates[orbit[core]], words.y[core])
    predicted = model.predict(coordinates)
    return {
        "accuracy": 100 * float(np.mean(predicted[orbit[tested]] == y_test)),
        "accuracy_on_core": 100 * float(np.mean(predicted[orbit[core]] == words.y[core])),
    }


CORE_SET = Experiment(
    id="000-core-set",
    paper="Mroueh et al. (2015), section 1.1 and Theorem 3",
    title="Words: trained on one word of each orbit, tested on all words of the orbits",
    varies={
        "test": ["same orbits", "other orbits"],
        "features": ["raw", "raw, all words", "bag of words", "Haar", "CDF(25,25)", "CDF(25,100)"],
        "n_orbits": [50, 100, 200, 400],
    },
    quick={"n_orbits": [50, 200]},
    run=run_core_set,
    x="n_orbits",
    lines="features",
    seeds={"quick": 3, "full": 30},
    note=(
        "X_perm has 792 orbits. The core set has the word of each orbit whose letters are sorted. "
        "Same orbits: all other words of the training orbits. Other orbits: the words of all other "
        "orbits. 'raw, all words' is trained on all words of the training orbits."
    ),
)

_SHIFTS = Translation(None, wrap=True)


@lru_cache(maxsize=1)
def _shifted_digits(
    n_per_class: int, n_test: int, n_shifts: int, seed: int
) -> tuple[NDArray, NDArray, NDArray, NDArray, NDArray]:
    """Return training images, classes, test images, random shifts of these, and their classes."""
    X, y, X_test, y_test = stratified_split("MNIST", n_per_class, n_test, seed)
    action = _SHIFTS.draw(n_shifts, np.random.RandomState(seed), X.shape[1])
    shifted = action.act(X_test, 0, n_shifts).reshape(-1, X.shape[1])
    return X, y, X_test, shifted, y_test


@lru_cache(maxsize=1)
def _shift_features(
    n_per_class: int, n_test: int, n_shifts: int, seed: int
) -> tuple[NDArray, NDArray, NDArray]:
    """Return features over all cyclic shifts of training, test and shifted test images."""
    X, _, X_test, shifted, _ = _shifted_digits(n_per_class, n_test, n_shifts, seed)
    features = InvariantFeatures(_SHIFTS, 200, 12, normalize=True, random_state=seed).fit(X)
    return features.transform(X), features.transform(X_test), features.transform(shifted)


def run_core_digits(
    features: str, test: str, n_per_class: int, n_test: int, n_shifts: int, seed: int
) -> dict[str, float]:
    """Train on upright digits; return the accuracy on digits or their shifts, in percent."""
    draw = (n_per_class, n_test, n_shifts, seed)
    X, y, X_test, shifted, y_test = _shifted_digits(*draw)
    if features == "CDF":
        X, X_test, shifted = _shift_features(*draw)
    if features == "raw, 20 shifts":
        action = _SHIFTS.draw(20, np.random.RandomState(1000 + seed), X.shape[1])
        X, y = action.act(X, 0, 20).reshape(-1, X.shape[1]), np.repeat(y, 20)
    model = RLSClassifier().fit(X, y)
    if test == "core set":
        return {"accuracy": 100 * model.score(X_test, y_test)}
    return {"accuracy": 100 * model.score(shifted, np.repeat(y_test, n_shifts))}


CORE_DIGITS = Experiment(
    id="000-core-set-digits",
    paper="Mroueh et al. (2015), section 1.1 and Theorem 3",
    title="Digits: trained on centred images, tested on their cyclic shifts",
    varies={"features": ["raw", "raw, 20 shifts", "CDF"], "test": ["core set", "orbits"]},
    run=run_core_digits,
    x="test",
    lines="features",
    seeds={"quick": 2, "full": 10},
    settings={
        "quick": {"n_per_class": 10, "n_test": 200, "n_shifts": 2},
        "full": {"n_per_class": 100, "n_test": 1000, "n_shifts": 4},
    },
    note=(
        "The group has all 784 cyclic shifts of an image. Core set: other centred digits. Orbits: "
        "each of them under four random shifts. CDF: 200 local templates, 12 thresholds at "
        "quantiles. 'raw, 20 shifts' is trained on 20 random shifts of each training image."
    ),
)

# -- risk minimisation over the class of Theorem 3 ------------------------------------------------

# Bounds on weights, relative to the scale of the features, and C of logistic regression.
_BOUNDS, _CS = np.logspace(0.5, 3.5, 7), np.logspace(-1, 5, 7)


_HELD_OUT_LOSSES: dict[str, Any] = {
    "hinge": lambda margins: np.maximum(0, 1 - margins),
    "logistic": lambda margins: np.logaddexp(0, -margins),
}


def erm_candidates(learner: str, scale: float) -> Iterator[Any]:
    """Yield models of a learner, from strong to weak regularisation."""
    if learner == "Euclidean norm, logistic":
        for C in _CS:
            yield LogisticRegression(C=C, max_iter=1000)
    else:
        for bound in _BOUNDS:
            yield BoundedClassifier(bound * scale, learner.removeprefix("bounded, "), tol=1e-2)


def run_erm(learner: str, n_per_class: int, n_test: int, seed: int) -> dict[str, float]:
    """Return the accuracy on words of linear functions of CDF(25, 25), in percent."""
    words, train, test = split_words(n_per_class, n_test, seed)
    orbit = word_orbits()[1]
    cdf = word_features(25, seed).fit(words.X[train])
    by_orbit = cdf.transform(word_orbits()[0]).astype(float)
    y = words.y[train]
    if learner == "Euclidean norm, squared":
        model: Any = RLSClassifier().fit(by_orbit[orbit[train]], y)
    else:
        errors, held_out_loss = [0.0] * len(_BOUNDS), _HELD_OUT_LOSSES[learner.split(", ")[1]]
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        for fitted, held_out in folds.split(train, y):
            for i, candidate in enumerate(erm_candidates(learner, cdf.scale_)):
                fit_by_orbit(candidate, by_orbit, orbit[train[fitted]], y[fitted])
                values = candidate.decision_function(by_orbit)[orbit[train[held_out]]]
                # the held-out loss has fewer ties than the error
                margins = (2 * y[held_out] - 1) * values
                errors[i] += float(held_out_loss(margins).mean())
        model = list(erm_candidates(learner, cdf.scale_))[int(np.argmin(errors))]
        fit_by_orbit(model, by_orbit, orbit[train], y)
    values = model.decision_function(by_orbit)
    result = {"accuracy": 100 * float(np.mean((values[orbit[test]] > 0) == words.y[test]))}
    for name, rows, labels in (("empirical", train, y), ("expected", test, words.y[test])):
        margins = (2 * labels - 1) * values[orbit[rows]]
        result[f"{name}_hinge"] = float(np.maximum(0, 1 - margins).mean())
    return result


def fit_by_orbit(model: Any, by_orbit: NDArray, orbit: NDArray, y: NDArray) -> None:
    """Fit a model to one row for each orbit of the training words, with their number as weight."""
    used, first, counts = np.unique(orbit, return_index=True, return_counts=True)
    model.fit(by_orbit[used], y[first], sample_weight=counts)


THEOREM_3 = Experiment(
    id="000-theorem3",
    paper="Mroueh et al. (2015), Theorem 3 and section 6",
    title="Words: bounded weights, as in Theorem 3, beside Tikhonov regularisation",
    varies={
        "learner": [
            "Euclidean norm, squared",
            "Euclidean norm, logistic",
            "bounded, logistic",
            "bounded, hinge",
        ],
        "n_per_class": [10, 100, 1000],
    },
    quick={"n_per_class": [10, 100]},
    run=run_erm,
    x="n_per_class",
    lines="learner",
    seeds={"quick": 2, "full": 30},
    settings={"quick": {"n_test": 1000}, "full": {"n_test": ALL_WORDS}},
    note=(
        "CDF(25, 25) of Figure 1. Euclidean norm, squared: regularised least squares, as in the "
        "paper, with lam by leave-one-out. Bounds, and C of logistic regression, by the held-out "
        "loss in 5-fold cross-validation, out of seven values. Bounds are 3 to 3,000 times the "
        "scale of the features, which is C of the paper."
    ),
)

# -- templates with little distortion -------------------------------------------------------------

_DIGIT_SHIFTS = Translation(None, wrap=True, shape=(8, 8))


@lru_cache(maxsize=1)
def small_digits() -> NDArray[np.float64]:
    """Return scikit-learn's 8 x 8 digits, in random order, with rows of mean zero and norm one.

    With another mean, which no shift changes, all projections of a row on a template differ by a
    number from those of another template.
    """
    X = load_digits().data
    X = X[np.random.RandomState(0).permutation(len(X))]
    X = X - X.mean(axis=1, keepdims=True)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def run_distortion(
    templates: str, n_templates: int, n_candidates: int, n_rows: int, seed: int
) -> dict[str, float]:
    """Return the distortion of inner products of other rows, as a multiple of their spread.

    The distortion is the root mean square difference from the kernel of infinitely many templates
    of the distribution; the spread is the standard deviation of the values of this kernel.
    """
    X = small_digits()
    rows, new = X[:n_rows], X[n_rows : 2 * n_rows]
    kind = templates.removeprefix("chosen of ")
    settings: dict[str, Any] = {"thresholds": "midpoint", "s": 1.1, "dtype": "float64"}
    if kind != templates:
        candidates = InvariantFeatures(
            _DIGIT_SHIFTS, n_candidates, 100, templates=kind, random_state=seed, **settings
        ).fit(rows)
        # the closed form, if there is one; otherwise the mean over the candidates
        target = expected_kernel(candidates, rows).values if kind == "gaussian" else None
        given = choose_templates(candidates, rows, n_templates, target).templates
    else:
        given = (
            InvariantFeatures(
                _DIGIT_SHIFTS, n_templates, 2, templates=kind, random_state=seed, **settings
            )
            .fit(rows)
            .templates_
        )
    expected = _expected_of_digits(kind, n_rows)
    # with templates that are given, the kernel is their mean, with exact integrals
    fixed = InvariantFeatures(_DIGIT_SHIFTS, templates=given, n_bins=2, **settings).fit(rows)
    difference = expected_kernel(fixed, new).values - expected
    spread = expected[np.triu_indices(len(new), 1)].std()
    return {"error": float(np.sqrt(np.mean(difference**2)) / spread)}


@lru_cache(maxsize=4)
def _expected_of_digits(kind: str, n_rows: int) -> NDArray[np.float64]:
    """Return the kernel of infinitely many templates (2,000 for local ones) of other rows."""
    X = small_digits()
    features = InvariantFeatures(
        _DIGIT_SHIFTS, 2, 2, templates=kind, thresholds="midpoint", s=1.1, random_state=0
    ).fit(X[:n_rows])
    return expected_kernel(features, X[n_rows : 2 * n_rows], None, 2000, 0).values


REMARK_4 = Experiment(
    id="000-remark4",
    paper="Mroueh et al. (2015), Remark 4",
    title="Distortion of inner products by the distribution and the number of templates",
    varies={
        "templates": ["gaussian", "sphere", "local", "chosen of gaussian", "chosen of local"],
        "n_templates": [5, 10, 20, 40, 80, 160],
    },
    quick={"n_templates": [5, 20]},
    run=run_distortion,
    x="n_templates",
    lines="templates",
    metric="error",
    unit="multiple of the spread of the kernel",
    seeds={"quick": 2, "full": 20},
    settings={
        "quick": {"n_candidates": 100, "n_rows": 20},
        "full": {"n_candidates": 1000, "n_rows": 60},
    },
    note=(
        "scikit-learn's 8 x 8 digits, minus their means, under all 64 cyclic shifts. Distortion of "
        "the inner products of 60 other digits, relative to the standard deviation of the kernel "
        "that many templates of the same distribution have. Chosen: by choose_templates out of "
        "1,000 candidates, on 60 digits without their labels."
    ),
)

EXPERIMENTS = [CORE_SET, CORE_DIGITS, THEOREM_3, REMARK_4]
