"""Mroueh et al., Learning with group invariant features (papers 000 and 001)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import Bunch

from invarlearn import InvariantFeatures, RLSClassifier
from invarlearn.datasets import fetch_mnist, fetch_spoken_digits, make_xperm
from invarlearn.experiments._mfcc import mfcc
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.pictures import templates
from invarlearn.features import OrientedGradients, PatchFeatures
from invarlearn.features.theory import kernel_error
from invarlearn.kernels import RBF, HaarKernel
from invarlearn.transforms import (
    CyclicShift,
    LogSpectrogram,
    Permutation,
    PitchShift,
    Rotation,
    TimeStretch,
    Translation,
)

# -- words whose letters may be permuted ----------------------------------------------------------


@lru_cache(maxsize=4)
def _words(seed: int) -> Bunch:
    return make_xperm(random_state=seed)


_PERMUTED = Permutation(block=8, shape=40)


def _drawn_words(n_per_class: int, n_test: int, seed: int) -> tuple[NDArray, ...]:
    words, rng = _words(seed), np.random.RandomState(seed)
    train = np.concatenate(
        [rng.choice(np.flatnonzero(words.y == c), n_per_class, replace=False) for c in (0, 1)]
    )
    rest = np.setdiff1d(np.arange(len(words.y)), train)
    test = rng.choice(rest, min(n_test, len(rest)), replace=False)
    return words.X[train], words.y[train], words.X[test], words.y[test]


def _cdf(n_templates: int, seed: int, n_bins: int = 25, n_elements: Any = None) -> Any:
    """Give the paper's features of words: standard normal templates, all 120 permutations."""
    return InvariantFeatures(
        _PERMUTED,
        n_templates,
        n_bins,
        templates="gaussian",
        n_elements=n_elements,
        random_state=seed,
    )


def _counts(X: NDArray) -> NDArray:
    """Count each letter: (n, 8)."""
    return X.reshape(len(X), 5, 8).sum(axis=1)


_WORD_FEATURES = ["raw", "bag of words", "Haar", "CDF(25,1)", "CDF(25,10)", "CDF(25,25)"]


def run_words(
    learner: str, features: str, n_per_class: int, n_test: int, seed: int
) -> dict[str, float]:
    """Learn from some words and give the accuracy on others, in percent."""
    X, y, X_test, y_test = _drawn_words(n_per_class, n_test, seed)
    if features == "bag of words":
        X, X_test = _counts(X), _counts(X_test)
    elif features.startswith("CDF"):
        m = int(features.split(",")[1].strip(")"))
        cdf = _cdf(m, seed).fit(X)
        X, X_test = cdf.transform(X), cdf.transform(X_test)
    haar = HaarKernel(RBF(0.5), _PERMUTED) if features == "Haar" else None
    model: Any = RLSClassifier(kernel=haar)
    if learner == "1-NN":
        model = KNeighborsClassifier(1)
        if haar is not None:
            distances, between = haar_distances(haar, X, X_test)
            model = KNeighborsClassifier(1, metric="precomputed")
            return {"accuracy": 100 * model.fit(distances, y).score(between, y_test)}
    return {"accuracy": 100 * model.fit(X, y).score(X_test, y_test)}


def haar_distances(kernel: HaarKernel, X: NDArray, Z: NDArray) -> tuple[NDArray, NDArray]:
    """Give distances in the kernel's space among rows X, and from rows Z to them."""
    gram, cross = kernel(X), kernel(Z, X)
    own, theirs = np.diag(gram), kernel.diag(Z)
    within = np.maximum(own[:, None] + own - 2 * gram, 0)
    return np.sqrt(within), np.sqrt(np.maximum(theirs[:, None] + own - 2 * cross, 0))


FIGURE_1 = Experiment(
    id="000-figure1",
    paper="Paper 000, Figure 1",
    title="Words that contain two letters, wherever they are",
    varies={
        "learner": ["RLS", "1-NN"],
        "features": _WORD_FEATURES,
        "n_per_class": [10, 30, 100, 300, 1000],
    },
    quick={"n_per_class": [10, 100]},
    run=run_words,
    x="n_per_class",
    lines="features",
    seeds={"quick": 3, "full": 10},
    settings={"quick": {"n_test": 1000}, "full": {"n_test": 1500}},
    note=(
        "X_perm: all words of 5 letters from 8; targets, training words, test words and templates "
        "are drawn anew each time (the paper: 100 draws). CDF(n, m): n thresholds at quantiles and "
        "m Gaussian templates under all 120 permutations. Haar: a Gaussian kernel (gamma 0.5) "
        "averaged over permutations. The paper gives a figure without numbers."
    ),
)


FIGURE_1_FEW = Experiment(
    id="000-figure1-few",
    paper="Paper 000, Figure 1, left end",
    title="Words, 10 of each class: many draws, since they differ much",
    varies={"learner": ["RLS"], "features": _WORD_FEATURES, "n_per_class": [10]},
    run=run_words,
    x="n_per_class",
    lines="features",
    seeds={"quick": 3, "full": 60},
    settings={"quick": {"n_test": 1000}, "full": {"n_test": 1500}},
    note="As 000-figure1.",
)


def run_elements(
    n_elements: int, n_templates: int, n_bins: int, n_per_class: int, n_test: int, seed: int
) -> dict[str, float]:
    """Give the accuracy of RLS with some of the group, templates and bins, in percent."""
    X, y, X_test, y_test = _drawn_words(n_per_class, n_test, seed)
    cdf = _cdf(n_templates, seed, n_bins, None if n_elements == 120 else n_elements).fit(X)
    model = RLSClassifier().fit(cdf.transform(X), y)
    return {"accuracy": 100 * model.score(cdf.transform(X_test), y_test)}


FIGURE_4_LEFT = Experiment(
    id="001-figure4-elements",
    paper="Paper 001, Figure 4, left",
    title="Words: how many elements of the group are needed",
    varies={"n_elements": [1, 5, 10, 20, 40, 80, 120], "n_templates": [25], "n_bins": [25]},
    run=run_elements,
    x="n_elements",
    lines="n_templates",
    seeds={"quick": 3, "full": 20},
    settings={
        "quick": {"n_per_class": 500, "n_test": 1000},
        "full": {"n_per_class": 2000, "n_test": 5000},
    },
    note="120: every permutation once; fewer: drawn at random, with repetition.",
)

FIGURE_4_RIGHT = Experiment(
    id="001-figure4-templates",
    paper="Paper 001, Figure 4, right",
    title="Words: how many templates and bins are needed",
    varies={"n_elements": [120], "n_bins": [5, 25, 100], "n_templates": [1, 3, 10, 30, 100]},
    run=run_elements,
    x="n_templates",
    lines="n_bins",
    seeds={"quick": 3, "full": 20},
    settings={
        "quick": {"n_per_class": 500, "n_test": 1000},
        "full": {"n_per_class": 2000, "n_test": 5000},
    },
)

# -- digits ---------------------------------------------------------------------------------------

_PAPER_FAMILY = Translation(3) * Rotation(20, n_steps=5)


@lru_cache(maxsize=1)
def _mnist() -> Bunch:
    return fetch_mnist()


def drawn_digits(n_per_class: int, n_test: int, seed: int) -> tuple[NDArray, ...]:
    """Draw so many training images of each digit, and test images (all: in their order)."""
    digits, rng = _mnist(), np.random.RandomState(seed)
    train = np.concatenate(
        [rng.choice(np.flatnonzero(digits.y_train == c), n_per_class, False) for c in range(10)]
    )
    size = len(digits.X_test)
    test = np.arange(size) if n_test >= size else rng.choice(size, n_test, replace=False)
    return digits.X_train[train], digits.y_train[train], digits.X_test[test], digits.y_test[test]


def pixel_features(seed: int, n_templates: int = 300, n_bins: int = 12, **more: Any) -> Any:
    """Give invariant features of pixels over the paper's family."""
    return InvariantFeatures(
        _PAPER_FAMILY, n_templates, n_bins, normalize=True, random_state=seed, **more
    )


def gradient_features(seed: int, n_templates: int = 500, n_bins: int = 12) -> BaseEstimator:
    """Give invariant features of oriented gradients: shifts of two cells, turns of 15 degrees."""
    family = Translation(2, shape=(16, 16, 8)) * Rotation(15, n_steps=3, shape=(16, 16, 8))
    return make_pipeline(
        OrientedGradients(),
        InvariantFeatures(family, n_templates, n_bins, envelope=2.5, random_state=seed),
    )


def patch_features(seed: int) -> BaseEstimator:
    """Give two layers of invariant features: of patches, and of their maps."""
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
    """Learn from some digits and give the accuracy on others, in percent."""
    X, y, X_test, y_test = drawn_digits(n_per_class, n_test, seed)
    make = _DIGIT_FEATURES[features]
    if make is not None:
        transformer = make(seed).fit(X)
        X, X_test = transformer.transform(X), transformer.transform(X_test)
    return {"accuracy": 100 * RLSClassifier().fit(X, y).score(X_test, y_test)}


FIGURE_2_RIGHT = Experiment(
    id="000-figure2-samples",
    paper="Paper 000, Figure 2, right",
    title="MNIST, regularised least squares: accuracy against training images",
    varies={"features": list(_DIGIT_FEATURES), "n_per_class": [10, 100]},
    quick={"n_per_class": [10]},
    run=run_digits,
    x="n_per_class",
    lines="features",
    settings={"quick": {"n_test": 1000}, "full": {"n_test": 10000}},
    note=(
        "Pixels: shifts of 3 px, turns of 20 degrees, as the paper; 300 templates, 12 bins. "
        "Patches: 9 x 9 every 2 px with turns of 20 degrees, then shifts of 2. Gradients: shifts "
        "of 2 cells (4 px), turns of 15 degrees, 500 templates, 12 bins. Choices were made on "
        "images of the training set."
    ),
    pictures=lambda: [templates(Translation(3) * Rotation(20, n_steps=5))],
)

LARGE = Experiment(
    id="000-figure2-1000",
    paper="Paper 000, Figure 2, right, last point",
    title="MNIST, regularised least squares: 1,000 training images a class",
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
    published={("CDF, local templates", 1000): 98.97},
    note="The paper's number is for CDF(50, 500).",
)


def run_bins(
    n_bins: int, n_templates: int, n_per_class: int, n_test: int, seed: int
) -> dict[str, float]:
    """Give the accuracy of RLS with some templates and bins on digits, in percent."""
    X, y, X_test, y_test = drawn_digits(n_per_class, n_test, seed)
    cdf = pixel_features(seed, n_templates, n_bins).fit(X)
    model = RLSClassifier().fit(cdf.transform(X), y)
    return {"accuracy": 100 * model.score(cdf.transform(X_test), y_test)}


FIGURE_2_LEFT = Experiment(
    id="000-figure2-templates",
    paper="Paper 000, Figure 2, left",
    title="MNIST, regularised least squares: accuracy against templates and bins",
    varies={"n_bins": [5, 25], "n_templates": [1, 3, 10, 30, 100]},
    quick={"n_templates": [1, 10, 100]},
    run=run_bins,
    x="n_templates",
    lines="n_bins",
    settings={
        "quick": {"n_per_class": 30, "n_test": 1000},
        "full": {"n_per_class": 1000, "n_test": 10000},
    },
    note="Local templates, shifts of 3 px and turns of 20 degrees.",
    pictures=FIGURE_2_RIGHT.pictures,
)

# -- spoken digits --------------------------------------------------------------------------------

_SHAPE = (63, 24)


@lru_cache(maxsize=1)
def _speech() -> tuple[Bunch, NDArray, NDArray]:
    sound = fetch_spoken_digits()
    spectrogram = LogSpectrogram(n_bins=63, n_frames=24, length="stretch")
    return sound, mfcc(sound.X), spectrogram.fit_transform(sound.X)


def speech_rows(sound: Bunch, split: str, n_speakers: int, seed: int) -> tuple[NDArray, NDArray]:
    """Give which clips to learn from and which to be tested on."""
    rng = np.random.RandomState(seed)
    everyone = np.unique(sound.speaker)
    men = np.unique(sound.speaker[sound.gender == "m"])
    women = np.setdiff1d(everyone, men)
    if split == "utterances":
        chosen = np.isin(sound.speaker, rng.permutation(everyone)[:n_speakers])
        early = sound.repeat < 25
        return chosen & early, chosen & ~early
    if split == "speakers":
        order = rng.permutation(everyone)
        learn, test = order[:n_speakers], order[30:]
    elif split == "men to women":
        learn, test = rng.permutation(men)[:n_speakers], women
    else:
        learn, test = rng.permutation(women)[:n_speakers], men
    return np.isin(sound.speaker, learn), np.isin(sound.speaker, test)


def speech_features(seed: int, n_templates: int = 400, n_bins: int = 12) -> BaseEstimator:
    """Give invariant features of spectrograms: pitch and tempo; and of their gradients."""
    gradients = OrientedGradients(shape=_SHAPE)
    maps = gradients.fit(np.zeros((1, _SHAPE[0] * _SHAPE[1]))).shape_
    family = PitchShift(400, n_steps=5, shape=_SHAPE) * TimeStretch((0.85, 1.18), shape=_SHAPE)
    settings: dict[str, Any] = {"normalize": True, "random_state": seed}
    return make_union(
        InvariantFeatures(family, n_templates, n_bins, **settings),
        make_pipeline(
            gradients,
            InvariantFeatures(Translation(2, shape=maps), n_templates, n_bins, **settings),
        ),
    )


def run_speech(method: str, split: str, n_speakers: int, seed: int) -> dict[str, float]:
    """Learn digits from some speakers and give the accuracy on others, in percent."""
    sound, cepstra, spectrograms = _speech()
    learn, test = speech_rows(sound, split, n_speakers, seed)
    y, y_test = sound.y[learn], sound.y[test]
    if method == "MFCC + SVC":
        model: Any = make_pipeline(StandardScaler(), SVC(C=10))
        return {"accuracy": 100 * model.fit(cepstra[learn], y).score(cepstra[test], y_test)}
    model = RLSClassifier()
    X, X_test = spectrograms[learn], spectrograms[test]
    if method != "raw + RLS":
        features: Any = speech_features(seed)
        if method == "CDF + RLS":
            features = features.transformer_list[0][1]
        features.fit(X)
        X, X_test = features.transform(X), features.transform(X_test)
    return {"accuracy": 100 * model.fit(X, y).score(X_test, y_test)}


_SPEECH_METHODS = ["MFCC + SVC", "raw + RLS", "CDF + RLS", "CDF, also of gradients + RLS"]
_SPEECH_NOTE = (
    "AudioMNIST instead of TIDIGITS, which is licensed: isolated digits of 60 mostly non-native "
    "adults, one room a speaker. Log-frequency spectrograms of 63 bins and 24 frames; pitch 400 "
    "cents up and down, tempo 0.85 and 1.18; 400 templates, 12 bins. Settings were chosen on men "
    "(three or six to learn from, others to test)."
)

FIGURE_3 = Experiment(
    id="000-figure3",
    paper="Paper 000, Figure 3",
    title="Spoken digits: unseen speakers",
    varies={"method": _SPEECH_METHODS, "split": ["speakers"], "n_speakers": [3, 6, 12, 30]},
    quick={"n_speakers": [3]},
    run=run_speech,
    x="n_speakers",
    lines="method",
    note="Tested on 30 other speakers. " + _SPEECH_NOTE,
)

FIGURE_3_GENDER = Experiment(
    id="000-figure3-gender",
    paper="Paper 000, Figure 3, right",
    title="Spoken digits: unseen gender",
    varies={
        "method": _SPEECH_METHODS,
        "split": ["men to women", "women to men"],
        "n_speakers": [3, 6, 12],
    },
    quick={"n_speakers": [3]},
    run=run_speech,
    x="n_speakers",
    lines="method",
    note=_SPEECH_NOTE,
)


def run_speech_bins(
    split: str, n_bins: int, n_templates: int, n_speakers: int, seed: int
) -> dict[str, float]:
    """Give the accuracy of RLS on spoken digits with some templates and bins, in percent."""
    sound, _, spectrograms = _speech()
    learn, test = speech_rows(sound, split, n_speakers, seed)
    features: Any = speech_features(seed, n_templates, n_bins)
    features = features.transformer_list[0][1].fit(spectrograms[learn])
    model = RLSClassifier().fit(features.transform(spectrograms[learn]), sound.y[learn])
    return {"accuracy": 100 * model.score(features.transform(spectrograms[test]), sound.y[test])}


FIGURE_6 = Experiment(
    id="001-figure6",
    paper="Paper 001, Figures 3 and 6 to 8",
    title="Spoken digits: accuracy against templates and bins",
    varies={
        "split": ["utterances", "speakers", "men to women", "women to men"],
        "n_bins": [5, 25],
        "n_templates": [10, 30, 100, 300],
    },
    quick={"n_templates": [10, 100], "split": ["speakers"]},
    run=run_speech_bins,
    x="n_templates",
    lines="n_bins",
    settings={"quick": {"n_speakers": 3}, "full": {"n_speakers": 12}},
    note=(
        "Twelve speakers to learn from. The paper's figures 7 and 8 are of children, whom "
        "AudioMNIST does not have. " + _SPEECH_NOTE
    ),
)

# -- how fast inner products converge -------------------------------------------------------------


def run_convergence(what: str, count: int, n_features: int, seed: int) -> dict[str, float]:
    """Give the root mean square and the largest error of inner products, against K_s."""
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
        # the paper's own thresholds, whose error is a bias
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
    paper="Paper 000, Theorem 2",
    title="How fast inner products of features approach the kernel",
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
        "20 random rows on the unit sphere in 16 dimensions under cyclic shifts, Gaussian "
        "templates; where it does not vary: 20,000 templates, 400 midpoints, all 16 shifts. "
        "Theorem 2 has slopes -1 for bins, -1/2 for templates and -1/2 for sampled elements."
    ),
)
