"""Mroueh et al. (2015), Learning with group invariant features: the speech figures."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from invarlearn import InvariantFeatures, RLSClassifier
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.counted import Counts, classify_by_gram, count_rows
from invarlearn.experiments.data import (
    SPECTROGRAM_SHAPE,
    speaker_split,
    spoken_cepstra,
    spoken_digits,
)
from invarlearn.features import OrientedGradients
from invarlearn.transforms import PitchShift, TimeStretch, Translation


def spectrogram_features(seed: int, n_templates: int = 400, n_bins: int = 12) -> BaseEstimator:
    """Return invariant features of spectrograms over pitch shifts and time stretches."""
    shape = SPECTROGRAM_SHAPE
    family = PitchShift(400, n_steps=5, shape=shape) * TimeStretch((0.85, 1.18), shape=shape)
    return InvariantFeatures(family, n_templates, n_bins, normalize=True, random_state=seed)


def gradient_map_features(seed: int, n_templates: int = 400, n_bins: int = 12) -> BaseEstimator:
    """Return invariant features of the oriented gradients of spectrograms, over translations."""
    gradients = OrientedGradients(shape=SPECTROGRAM_SHAPE)
    maps = gradients.fit(np.zeros((1, np.prod(SPECTROGRAM_SHAPE)))).shape_
    family = Translation(2, shape=maps)
    return make_pipeline(
        gradients,
        InvariantFeatures(family, n_templates, n_bins, normalize=True, random_state=seed),
    )


def run_speech(method: str, split: str, n_speakers: int, seed: int) -> dict[str, float]:
    """Train on the digits of some speakers; return the accuracy on others, in percent."""
    sound, spectrograms = spoken_digits()
    train, test = speaker_split(sound, split, n_speakers, seed)
    model: Any
    if method == "MFCC + SVC":
        rows, model = spoken_cepstra(), make_pipeline(StandardScaler(), SVC(C=10))
    else:
        rows, model = spectrograms, RLSClassifier()
        if method == "CDF + RLS":
            model = make_pipeline(spectrogram_features(seed), model)
        elif method == "CDF, also of gradients + RLS":
            both = make_union(spectrogram_features(seed), gradient_map_features(seed))
            model = make_pipeline(both, model)
    model.fit(rows[train], sound.y[train])
    return {"accuracy": 100 * model.score(rows[test], sound.y[test])}


_SPEECH_METHODS = ["MFCC + SVC", "raw + RLS", "CDF + RLS", "CDF, also of gradients + RLS"]
_SPEECH_NOTE = (
    "AudioMNIST instead of TIDIGITS, which needs a licence: isolated digits of 60 mostly "
    "non-native adults, each recorded in one room. Log-frequency spectrograms of 63 bins and 24 "
    "frames. Pitch: up to 400 cents up and down; durations: 0.85 and 1.18 times the original. 400 "
    "templates, 12 bins. Settings were chosen on men (trained on three or six, tested on others)."
)

FIGURE_3 = Experiment(
    id="000-figure3",
    paper="Mroueh et al. (2015), Figure 3",
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
    paper="Mroueh et al. (2015), Figure 3, right",
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


@lru_cache(maxsize=1)
def _counts_of_draw(
    split: str, n_bins: int, n_templates: int, n_speakers: int, seed: int
) -> tuple[Counts, NDArray, Counts, NDArray]:
    """Return counted features and digits of training and test clips."""
    sound, spectrograms = spoken_digits()
    train, test = speaker_split(sound, split, n_speakers, seed)
    features = paper_features(seed, n_templates, n_bins).fit(spectrograms[train])
    rows, test_rows = (count_rows(features, spectrograms[part]) for part in (train, test))
    return rows, sound.y[train], test_rows, sound.y[test]


def paper_features(seed: int, n_templates: int, n_bins: int) -> InvariantFeatures:
    """Return features over the paper's family: 400 cents up and down, half and double speed."""
    shape = SPECTROGRAM_SHAPE
    family = PitchShift(400, n_steps=5, shape=shape) * TimeStretch((0.5, 2.0), shape=shape)
    return InvariantFeatures(family, n_templates, n_bins, normalize=True, random_state=seed)


def run_speech_bins(
    split: str, n_bins: int, n_templates: int, most_templates: int, n_speakers: int, seed: int
) -> dict[str, float]:
    """Return the accuracy of RLS on spoken digits with the first of ``most_templates``."""
    rows, y, test, y_test = _counts_of_draw(split, n_bins, most_templates, n_speakers, seed)
    n_columns = n_templates * n_bins
    predicted = classify_by_gram(rows[:, :n_columns], y, test[:, :n_columns])
    return {"accuracy": 100 * float(np.mean(predicted == y_test))}


FIGURE_6 = Experiment(
    id="001-figure6",
    paper="Mroueh et al. (2015), Figures 3 and 6",
    title="Spoken digits: accuracy against the number of templates and bins",
    varies={
        "split": ["speakers", "men to women", "utterances"],
        "n_bins": [5, 25, 100],
        "n_templates": [10, 30, 100, 300, 1000],
    },
    quick={"n_templates": [10, 100], "split": ["speakers"]},
    run=run_speech_bins,
    x="n_templates",
    lines="n_bins",
    seeds={"quick": 2, "full": 30},
    settings={
        "quick": {"most_templates": 100, "n_speakers": 3},
        "full": {"most_templates": 1000, "n_speakers": 12},
    },
    published_draws=30,
    one_process=True,
    note=(
        "AudioMNIST instead of TIDIGITS, which needs a licence (001-tidigits is for those who have "
        "it). Twelve training speakers. Log-frequency spectrograms of 63 bins and 24 frames. "
        "Pitch: up to 400 cents up and down in 5 steps; durations: 0.5, 1 and 2 times the "
        "original, as in the paper. Each draw has its own speakers and templates; the templates "
        "of a draw are nested."
    ),
)

EXPERIMENTS = [FIGURE_3, FIGURE_3_GENDER, FIGURE_6]
