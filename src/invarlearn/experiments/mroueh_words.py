"""Mroueh et al. (2015): words under permutations of their letters (Figures 1, 4 and 5).

The 32,768 words of X_perm have 792 orbits. Features and kernels that do not change under
permutations are computed once for each orbit, which changes no result and makes runs on all words
cheap.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import Bunch

from invarlearn import InvariantFeatures, RLSClassifier
from invarlearn.datasets import make_xperm
from invarlearn.experiments.base import Experiment
from invarlearn.kernels import RBF, HaarKernel
from invarlearn.transforms import Permutation

# Number of words in X_perm, as the number of test words: all words that are not trained on.
ALL_WORDS = 32768

_PERMUTED = Permutation(block=8, shape=40)


@lru_cache(maxsize=4)
def labelled_words(seed: int) -> Bunch:
    """Return the data set X_perm with the target letters of a seed."""
    return make_xperm(random_state=seed)


@lru_cache(maxsize=1)
def word_orbits() -> tuple[NDArray, NDArray[np.intp]]:
    """Return a word of each orbit, (792, 40), and the orbit of each word, (32768,).

    The word of an orbit is the one whose letters are sorted.
    """
    words = labelled_words(0)
    in_order, orbit = np.unique(np.sort(words.words, axis=1), axis=0, return_inverse=True)
    return np.eye(8, dtype=np.float32)[in_order].reshape(len(in_order), -1), orbit.ravel()


def split_words(n_per_class: int, n_test: int, seed: int) -> tuple[Bunch, NDArray, NDArray]:
    """Draw training words of each class, and test words.

    Returns
    -------
    words : Bunch
        X_perm.
    train : array of shape (2 * n_per_class,)
        Indices of words, in random order: nearest neighbours at equal distances are decided by it.
    test : array
        Indices of ``n_test`` other words, or of all others if there are fewer.
    """
    words, rng = labelled_words(seed), np.random.RandomState(seed)
    train = np.concatenate(
        [rng.choice(np.flatnonzero(words.y == c), n_per_class, replace=False) for c in (0, 1)]
    )
    others = np.setdiff1d(np.arange(len(words.y)), train)
    test = rng.choice(others, min(n_test, len(others)), replace=False)
    return words, rng.permutation(train), test


def word_features(n_templates: int, seed: int, n_bins: int = 25, n_elements: Any = None) -> Any:
    """Return invariant features of words: Gaussian templates under permutations of letters."""
    return InvariantFeatures(
        _PERMUTED,
        n_templates,
        n_bins,
        templates="gaussian",
        n_elements=n_elements,
        random_state=seed,
    )


def count_letters(X: NDArray) -> NDArray:
    """Return the number of occurrences of each letter, of shape (n_words, 8)."""
    return X.reshape(len(X), 5, 8).sum(axis=1)


@lru_cache(maxsize=1)
def haar_coordinates() -> NDArray[np.float64]:
    """Return coordinates of the orbits in the feature space of the Haar kernel: (792, 792).

    Inner products of rows are the values of the kernel, a Gaussian kernel with gamma 0.5 averaged
    over permutations.
    """
    values, vectors = eigh(HaarKernel(RBF(0.5), _PERMUTED)(word_orbits()[0].astype(float)))
    return vectors * np.sqrt(np.maximum(values, 0))


def orbit_coordinates(features: str, train: NDArray, seed: int) -> NDArray[np.float64]:
    """Return invariant coordinates of the orbits: (792, n_coordinates).

    Parameters
    ----------
    features : str
        "bag of words", "Haar", or "CDF(n_bins,n_templates)".
    train : array of shape (n, 40)
        Training words, for the thresholds of the features.
    seed : int
        Seed of the templates.
    """
    representatives = word_orbits()[0]
    if features == "bag of words":
        return count_letters(representatives).astype(float)
    if features == "Haar":
        return haar_coordinates()
    n_bins, n_templates = map(int, features.removeprefix("CDF(").removesuffix(")").split(","))
    cdf = word_features(n_templates, seed, n_bins).fit(train)
    return shorter_rows(cdf.transform(representatives).astype(float))


def shorter_rows(X: NDArray) -> NDArray:
    """Return rows with the same inner products and at most ``len(X)`` columns.

    Least squares with an isotropic penalty and nearest neighbours depend on inner products only.
    """
    if X.shape[1] <= len(X):
        return X
    (upper,) = qr(X.T, mode="r")
    return upper[: len(X)].T


def nearest_class(coordinates: NDArray, orbit: NDArray, y: NDArray) -> NDArray:
    """Return the class of the nearest training word for each orbit; the first of equals wins.

    Parameters
    ----------
    coordinates : array of shape (n_orbits, n_coordinates)
    orbit, y : arrays of shape (n,)
        Orbits and classes of the training words.
    """
    squares = (coordinates**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * coordinates @ coordinates.T
    # rounding errors must not decide between equal distances
    distances = distances.round(9)
    return y[np.argmin(distances[:, orbit], axis=1)]


_FEATURES = ["raw", "bag of words", "Haar", "CDF(25,1)", "CDF(25,10)", "CDF(25,25)"]


def run_words(
    learner: str, features: str, n_per_class: int, n_test: int, seed: int
) -> dict[str, float]:
    """Train on words of one draw; return the accuracy on other words, in percent."""
    words, train, test = split_words(n_per_class, n_test, seed)
    y, y_test = words.y[train], words.y[test]
    if features == "raw":
        model: Any = RLSClassifier() if learner == "RLS" else KNeighborsClassifier(1)
        return {"accuracy": 100 * model.fit(words.X[train], y).score(words.X[test], y_test)}
    orbit = word_orbits()[1]
    coordinates = orbit_coordinates(features, words.X[train], seed)
    if learner == "1-NN":
        of_orbit = nearest_class(coordinates, orbit[train], y)
    else:
        of_orbit = RLSClassifier().fit(coordinates[orbit[train]], y).predict(coordinates)
    return {"accuracy": 100 * np.mean(of_orbit[orbit[test]] == y_test)}


FIGURE_1 = Experiment(
    id="000-figure1",
    paper="Mroueh et al. (2015), Figure 1; second version, Figure 5",
    title="Words that contain two given letters, at any positions",
    varies={
        "learner": ["RLS", "1-NN"],
        "features": _FEATURES,
        "n_per_class": [10, 30, 100, 300, 1000],
    },
    quick={"n_per_class": [10, 100]},
    run=run_words,
    x="n_per_class",
    lines="features",
    seeds={"quick": 3, "full": 100},
    settings={"quick": {"n_test": 1000}, "full": {"n_test": ALL_WORDS}},
    published_draws=100,
    revision=2,
    note=(
        "X_perm: all words of 5 letters out of 8. Each draw has its own targets, training words "
        "and templates; all other words are tested. CDF(n, m): n thresholds at quantiles and "
        "m Gaussian templates under all 120 permutations. Haar: a Gaussian kernel (gamma 0.5) "
        "averaged over permutations. The paper's figure has no numbers."
    ),
)


def run_elements(
    n_elements: int, n_templates: int, n_bins: int, n_per_class: int, n_test: int, seed: int
) -> dict[str, float]:
    """Return the accuracy of RLS on words with ``n_elements`` permutations, in percent."""
    words, train, test = split_words(n_per_class, n_test, seed)
    if n_elements == 120:
        orbit = word_orbits()[1]
        coordinates = orbit_coordinates(f"CDF({n_bins},{n_templates})", words.X[train], seed)
        model = RLSClassifier().fit(coordinates[orbit[train]], words.y[train])
        predicted = model.predict(coordinates)[orbit[test]]
    else:
        cdf = word_features(n_templates, seed, n_bins, n_elements).fit(words.X[train])
        model = RLSClassifier().fit(cdf.transform(words.X[train]), words.y[train])
        predicted = model.predict(cdf.transform(words.X[test]))
    return {"accuracy": 100 * np.mean(predicted == words.y[test])}


FIGURE_4_LEFT = Experiment(
    id="001-figure4-elements",
    paper="Mroueh et al. (2015), second version, Figure 4, left",
    title="Words: accuracy against the number of elements of the group",
    varies={"n_elements": [1, 5, 10, 20, 40, 80, 120], "n_templates": [25], "n_bins": [25]},
    run=run_elements,
    x="n_elements",
    lines="n_templates",
    seeds={"quick": 3, "full": 20},
    settings={
        "quick": {"n_per_class": 500, "n_test": 1000},
        "full": {"n_per_class": 2000, "n_test": ALL_WORDS - 4000},
    },
    revision=2,
    note=(
        "120: all permutations, once each. Fewer: permutations drawn with replacement. 4,000 "
        "training words and 28,768 test words, as in the paper."
    ),
)

FIGURE_4_RIGHT = Experiment(
    id="001-figure4-templates",
    paper="Mroueh et al. (2015), second version, Figure 4, right",
    title="Words: accuracy against the number of templates and bins",
    varies={"n_elements": [120], "n_bins": [5, 25, 100], "n_templates": [1, 3, 10, 30, 100]},
    run=run_elements,
    x="n_templates",
    lines="n_bins",
    seeds={"quick": 3, "full": 20},
    settings=FIGURE_4_LEFT.settings,
    revision=2,
    note="4,000 training words and 28,768 test words, as in the paper.",
)

EXPERIMENTS = [FIGURE_1, FIGURE_4_LEFT, FIGURE_4_RIGHT]
