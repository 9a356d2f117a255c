"""Mroueh et al. (2015), Figures 3 and 6 to 8 on TIDIGITS, for those who have its licence."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from invarlearn.datasets import DataError, load_tidigits
from invarlearn.datasets.files import data_folder
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.counted import Counts, classify_by_gram, count_rows
from invarlearn.experiments.data import SPECTROGRAM_SHAPE
from invarlearn.experiments.mroueh_speech import paper_features
from invarlearn.transforms import LogSpectrogram

_CHILDREN = ("boy", "girl")

# Groups of the training and the test speakers of the splits between groups.
_GROUPS = {
    "men to women": (("man",), ("woman",)),
    "women to children": (("woman",), _CHILDREN),
    "men to children": (("man",), _CHILDREN),
}


def tidigits_folder() -> Path:
    """Return the folder of the corpus: ``tidigits`` in the folder that ``INVARLEARN_DATA`` names.

    Raises
    ------
    DataError
        If there is no such folder.
    """
    data = data_folder()
    folder = None if data is None else data / "tidigits"
    if folder is None or not folder.is_dir():
        raise DataError(
            "TIDIGITS needs a licence of its publisher and is not downloaded: copy it to a folder "
            "named tidigits, and set INVARLEARN_DATA to the folder that contains it"
        )
    return folder


@lru_cache(maxsize=1)
def tidigits_spectrograms(folder: Path) -> tuple[Bunch, NDArray[np.float32]]:
    """Return the clips of the corpus and their log-frequency spectrograms, one row per clip."""
    sound = load_tidigits(folder)
    n_bins, n_frames = SPECTROGRAM_SHAPE
    spectrogram = LogSpectrogram(n_bins=n_bins, n_frames=n_frames, length="stretch")
    return sound, spectrogram.fit_transform(sound.X)


def split_tidigits(
    sound: Bunch, split: str, seed: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return masks of the clips for training and for testing.

    Parameters
    ----------
    sound : Bunch
        The result of :func:`invarlearn.datasets.load_tidigits`.
    split : str
        - "utterances": trained on the first take of each digit of all speakers, tested on the
          second.
        - "speakers": trained on a random half of the speakers of each group, tested on the others.
        - "men to women", "women to children", "men to children": trained on one group, tested on
          another.
    seed : int

    Returns
    -------
    train, test : bool arrays of shape (n_clips,)
    """
    if split == "utterances":
        return sound.take == "a", sound.take == "b"
    if split == "speakers":
        rng = np.random.RandomState(seed)
        # a speaker is a group and a code: codes may occur in several groups
        code = np.char.add(np.char.add(sound.group.astype(str), "/"), sound.speaker.astype(str))
        train = np.zeros(len(code), dtype=bool)
        for group in np.unique(sound.group):
            speakers = rng.permutation(np.unique(code[sound.group == group]))
            train |= np.isin(code, speakers[: len(speakers) // 2])
        return train, ~train
    groups = _GROUPS[split]
    return np.isin(sound.group, groups[0]), np.isin(sound.group, groups[1])


@lru_cache(maxsize=1)
def _counts_of_draw(
    folder: Path, split: str, n_bins: int, n_templates: int, seed: int
) -> tuple[Counts, NDArray, Counts, NDArray]:
    """Return counted features and digits of training and test clips."""
    sound, spectrograms = tidigits_spectrograms(folder)
    train, test = split_tidigits(sound, split, seed)
    features = paper_features(seed, n_templates, n_bins).fit(spectrograms[train])
    rows, test_rows = (count_rows(features, spectrograms[part]) for part in (train, test))
    return rows, sound.y[train], test_rows, sound.y[test]


def run_tidigits(
    split: str, n_bins: int, n_templates: int, most_templates: int, seed: int
) -> dict[str, float]:
    """Return the accuracy of RLS on TIDIGITS with the first of ``most_templates``, in percent."""
    folder = tidigits_folder()
    rows, y, test, y_test = _counts_of_draw(folder, split, n_bins, most_templates, seed)
    n_columns = n_templates * n_bins
    predicted = classify_by_gram(rows[:, :n_columns], y, test[:, :n_columns])
    return {"accuracy": 100 * float(np.mean(predicted == y_test))}


TIDIGITS = Experiment(
    id="001-tidigits",
    paper="Mroueh et al. (2015), Figures 3 and 6 to 8",
    title="TIDIGITS: accuracy against the number of templates and bins",
    varies={
        "split": ["speakers", "utterances", *_GROUPS],
        "n_bins": [5, 25, 100],
        "n_templates": [10, 30, 100, 300, 1000],
    },
    quick={"n_templates": [10, 100]},
    run=run_tidigits,
    x="n_templates",
    lines="n_bins",
    seeds={"quick": 2, "full": 30},
    settings={"quick": {"most_templates": 100}, "full": {"most_templates": 1000}},
    published_draws=30,
    one_process=True,
    note=(
        "Needs TIDIGITS, in the folder tidigits of INVARLEARN_DATA. Families, spectrograms and "
        "learner are those of 001-figure6. Figure 3: speakers, men to women; Figure 6: utterances; "
        "Figures 7 and 8: women and men to children."
    ),
)

EXPERIMENTS = [TIDIGITS]
