"""Data of the experiments: training and test splits of images, and spoken digits."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from invarlearn.datasets import fetch_letters, fetch_mnist, fetch_spoken_digits
from invarlearn.experiments.mfcc import mfcc
from invarlearn.transforms import LogSpectrogram

# Training rows and labels, and test rows and labels.
LabelledParts = tuple[NDArray, NDArray, NDArray, NDArray]

_FETCH = {"MNIST": fetch_mnist, "letters": fetch_letters}

# Numbers of frequency bins and frames in the spectrograms of the spoken digits.
SPECTROGRAM_SHAPE = (63, 24)


@lru_cache(maxsize=2)
def image_data(name: str) -> Bunch:
    """Return a data set of images, "MNIST" or "letters", loaded once per process."""
    return _FETCH[name]()


def random_split(name: str, n_labels: int, n_test: int, seed: int) -> LabelledParts:
    """Draw training images uniformly at random (classes are not balanced), and test images.

    Returns
    -------
    X_train : array of shape (n_labels, n_features)
    y_train : array of shape (n_labels,)
    X_test, y_test : arrays of shape (n_test, n_features) and (n_test,)
        All test images if there are at most ``n_test``, and otherwise random ones, since the first
        test images of MNIST are harder than the others.
    """
    data = image_data(name)
    rng = np.random.RandomState(seed)
    rows = rng.choice(len(data.X_train), n_labels, replace=False)
    return data.X_train[rows], data.y_train[rows], *_test_images(data, n_test, rng)


def stratified_split(name: str, n_per_class: int, n_test: int, seed: int) -> LabelledParts:
    """Draw ``n_per_class`` training images of each class, and test images.

    Returns
    -------
    X_train : array of shape (n_classes * n_per_class, n_features)
    y_train : array of shape (n_classes * n_per_class,)
    X_test, y_test : arrays of shape (n_test, n_features) and (n_test,)
        As in :func:`random_split`.
    """
    data = image_data(name)
    train, test = stratified_rows(data, n_per_class, n_test, seed)
    return data.X_train[train], data.y_train[train], data.X_test[test], data.y_test[test]


def stratified_rows(
    data: Bunch, n_per_class: int, n_test: int, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the indices of the training and test images of :func:`stratified_split`.

    Draws of one seed are nested: those of a smaller ``n_per_class`` belong to those of a larger.
    """
    rng = np.random.RandomState(seed)
    rows = np.concatenate(
        [
            rng.choice(np.flatnonzero(data.y_train == label), n_per_class, replace=False)
            for label in np.unique(data.y_train)
        ]
    )
    return rows, _test_rows(data, n_test, rng)


def _test_images(data: Bunch, n_test: int, rng: np.random.RandomState) -> tuple[NDArray, NDArray]:
    """Return ``n_test`` random test images and their labels, or all if there are fewer."""
    rows = _test_rows(data, n_test, rng)
    return data.X_test[rows], data.y_test[rows]


def _test_rows(data: Bunch, n_test: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Return the indices of ``n_test`` random test images, or of all if there are fewer."""
    size = len(data.X_test)
    return np.arange(size) if n_test >= size else rng.choice(size, n_test, replace=False)


def validation_split(n_labels: int, n_test: int, seed: int) -> LabelledParts:
    """Draw training images of MNIST, and other images of its training set to validate choices."""
    data = image_data("MNIST")
    order = np.random.RandomState(1000 + seed).permutation(len(data.X_train))
    rows, others = order[:n_labels], order[50000 : 50000 + n_test]
    return data.X_train[rows], data.y_train[rows], data.X_train[others], data.y_train[others]


@lru_cache(maxsize=1)
def spoken_digits() -> tuple[Bunch, NDArray[np.float32]]:
    """Return the clips of AudioMNIST and their log-frequency spectrograms, one row per clip."""
    sound = fetch_spoken_digits()
    n_bins, n_frames = SPECTROGRAM_SHAPE
    spectrogram = LogSpectrogram(n_bins=n_bins, n_frames=n_frames, length="stretch")
    return sound, spectrogram.fit_transform(sound.X)


@lru_cache(maxsize=1)
def spoken_cepstra() -> NDArray[np.float32]:
    """Return the mel-frequency cepstral coefficients of the clips, one row per clip."""
    return mfcc(spoken_digits()[0].X)


def speaker_split(
    sound: Bunch, split: str, n_speakers: int, seed: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return masks of the clips for training and for testing.

    Parameters
    ----------
    sound : Bunch
        The result of :func:`invarlearn.datasets.fetch_spoken_digits`.
    split : {"utterances", "speakers", "men to women", "women to men"}
        The test clips: other clips of the training speakers ("utterances"), clips of 30 other
        speakers ("speakers"), or all clips of the other gender.
    n_speakers : int
        Number of training speakers, drawn at random.
    seed : int

    Returns
    -------
    train, test : bool arrays of shape (n_clips,)
    """
    rng = np.random.RandomState(seed)
    speakers = np.unique(sound.speaker)
    men = np.unique(sound.speaker[sound.gender == "m"])
    women = np.setdiff1d(speakers, men)
    if split == "utterances":
        is_chosen = np.isin(sound.speaker, rng.permutation(speakers)[:n_speakers])
        is_early = sound.repeat < 25
        return is_chosen & is_early, is_chosen & ~is_early
    if split == "speakers":
        order = rng.permutation(speakers)
        train, test = order[:n_speakers], order[30:]
    elif split == "men to women":
        train, test = rng.permutation(men)[:n_speakers], women
    else:
        train, test = rng.permutation(women)[:n_speakers], men
    return np.isin(sound.speaker, train), np.isin(sound.speaker, test)
