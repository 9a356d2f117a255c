"""Loaders of real data: the sample of MNIST in the package, and downloaded data sets."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch

from invarlearn._utils.validation import check_choice
from invarlearn.datasets.files import fetch_file, load_arrays

_SAMPLE = Path(__file__).parent / "data" / "mnist_sample.npz"
_SSL = ["bci", "digit1", "g241c", "g241n", "text", "usps"]
_UCI = ["australian", "bupa", "heart", "ionosphere", "sonar"]


def load_mnist_sample() -> Bunch:
    """Load the sample of MNIST in the package: 2,000 training and 2,000 test images.

    Returns
    -------
    Bunch
        ``X_train``, ``X_test``: float32 arrays of shape (2000, 784), pixels in [0, 1].
        ``y_train``, ``y_test``: int arrays of shape (2000,), the digits. Both parts have 200
        images of each digit, in random order.

    Examples
    --------
    >>> digits = load_mnist_sample()
    >>> digits.X_train.shape, digits.X_train.dtype
    ((2000, 784), dtype('float32'))
    """
    return _images(load_arrays(_SAMPLE), "2,000 + 2,000 digits of MNIST, 200 of each digit")


def fetch_mnist() -> Bunch:
    """Fetch MNIST: 60,000 training and 10,000 test images of digits.

    Returns
    -------
    Bunch
        The same attributes as for :func:`load_mnist_sample`, in the standard order and split.
    """
    return _images(load_arrays(fetch_file("mnist.npz")), "MNIST, standard split")


def fetch_letters() -> Bunch:
    """Fetch handwritten letters: 3,997 training and 997 test images of 26 classes, 28 x 28.

    The images are drawn from NIST Special Database 19; upper and lower case are one class. The
    data set is smaller than EMNIST Letters and has other images.

    Returns
    -------
    Bunch
        The same attributes as for :func:`load_mnist_sample`, with labels 0 to 25, and
        ``target_names`` "a" to "z".
    """
    arrays = load_arrays(fetch_file("nist_letters_subset_28.npz"))
    bunch = _images(arrays, "letters from NIST SD19, not EMNIST")
    bunch.target_names = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    return bunch


def fetch_spoken_digits() -> Bunch:
    """Fetch 6,000 spoken English digits: 60 speakers, 10 digits, 10 repeats (AudioMNIST).

    Returns
    -------
    Bunch
        ``X``: list of 6,000 float32 waveforms in [-1, 1], 0.34 to 1 s long. ``y`` (the digits),
        ``speaker`` (1 to 60), ``gender`` ("f" or "m") and ``repeat``: arrays of shape (6000,).
        ``sample_rate``: 8000.
    """
    arrays = load_arrays(fetch_file("audiomnist_8k.npz"))
    audio = arrays["audio"].astype(np.float32) / 32768
    return Bunch(
        X=np.split(audio, arrays["offsets"][1:-1]),
        y=arrays["digit"].astype(int),
        speaker=arrays["speaker"].astype(int),
        gender=arrays["gender"],
        repeat=arrays["repeat"].astype(int),
        sample_rate=8000,
        DESCR="AudioMNIST, 10 of 50 repeats, 8 kHz",
    )


def fetch_spam(task: str) -> Bunch:
    """Fetch the word counts of e-mails, by user (ECML/PKDD 2006 Discovery Challenge).

    Parameters
    ----------
    task : {"task_a", "task_b"}
        "task_a": three inboxes of 2,500 e-mails; the labelled training file of the challenge is no
        longer available. "task_b": 100 training e-mails and fifteen inboxes of 400.

    Returns
    -------
    Bunch
        ``users``: dict from user to a Bunch with counts ``X``, a sparse matrix of shape (n_emails,
        n_words), and ``y`` of shape (n_emails,), 1 for spam and -1 otherwise. ``train``: such a
        Bunch, or None in task A. ``tune_users`` and ``tune_train``: the same for the tuning sets,
        which have another dictionary and therefore other columns.
    """
    check_choice(task, ["task_a", "task_b"], "task")
    name = {"task_a": "ecml06_task_a_users.npz", "task_b": "ecml06_task_b.npz"}[task]
    arrays = load_arrays(fetch_file(name))
    sets = [key.removesuffix("_y") for key in arrays if key.endswith("_y")]
    evaluated = [key for key in sets if key.endswith("_eval") or key == "train"]
    tuned = [key for key in sets if key.endswith("_tune") or key == "tune"]
    main, tune = _bags(arrays, evaluated), _bags(arrays, tuned)
    return Bunch(
        train=main.pop("train", None),
        users={key.removesuffix("_eval"): main[key] for key in sorted(main)},
        tune_train=tune.pop("tune", None),
        tune_users={key.removesuffix("_tune"): tune[key] for key in sorted(tune)},
        DESCR=f"ECML/PKDD 2006 Discovery Challenge, {task}",
    )


def fetch_ssl(name: str) -> Bunch:
    """Fetch a benchmark of the book Semi-Supervised Learning (Chapelle et al., 2006).

    Parameters
    ----------
    name : {"bci", "digit1", "g241c", "g241n", "text", "usps"}
        Name of the data set.

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, n_features), sparse for "text"; ``y`` of shape (n_samples,), -1
        or 1. ``labeled10`` of shape (12, 10) and ``labeled100`` of shape (12, 100): indices of the
        labelled rows in each of the book's twelve splits.
    """
    arrays = load_arrays(fetch_file(f"ssl_{check_choice(name, _SSL, 'name')}.npz"))
    if "X" in arrays:
        X = arrays["X"]
    else:
        parts = (arrays["X_data"], arrays["X_indices"], arrays["X_indptr"])
        X = sparse.csr_matrix(parts, shape=tuple(arrays["X_shape"]))
    return Bunch(
        X=X,
        y=arrays["y"].astype(int),
        labeled10=arrays["labeled10"].astype(int),
        labeled100=arrays["labeled100"].astype(int),
        DESCR=f"{name}, semi-supervised learning benchmark",
    )


def fetch_uci(name: str) -> Bunch:
    """Fetch a table with two classes from the UCI repository.

    Parameters
    ----------
    name : {"australian", "bupa", "heart", "ionosphere", "sonar"}
        Name of the data set.

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, n_features); ``y`` of shape (n_samples,), 0 or 1;
        ``feature_names``; ``target_names``. The rows of some tables are sorted by class: shuffle
        them before splitting.
    """
    path = fetch_file(f"uci_{check_choice(name, _UCI, 'name')}.csv")
    with open(path, newline="") as file:
        header, *rows = list(csv.reader(file))
    names, y = np.unique([row[-1] for row in rows], return_inverse=True)
    return Bunch(
        X=np.array([row[:-1] for row in rows], dtype=float),
        y=y.astype(int),
        feature_names=header[:-1],
        target_names=names,
        DESCR=f"{name}, UCI repository",
    )


def _images(arrays: dict[str, NDArray], description: str) -> Bunch:
    """Return training and test images as rows of pixels in [0, 1]."""

    def rows(part: str) -> NDArray[np.float32]:
        images = arrays[f"X_{part}"]
        return np.divide(images.reshape(len(images), -1), 255, dtype=np.float32)

    return Bunch(
        X_train=rows("train"),
        y_train=arrays["y_train"].astype(int),
        X_test=rows("test"),
        y_test=arrays["y_test"].astype(int),
        DESCR=description,
    )


def _bags(arrays: dict[str, NDArray], sets: list[str]) -> dict[str, Bunch]:
    """Return the word counts of sets that share a dictionary, whose word ids start at 1."""
    n_columns = 1 + max(int(arrays[f"{key}_indices"].max()) for key in sets)
    bunches = {}
    for key in sets:
        parts = (
            arrays[f"{key}_counts"].astype(float),
            arrays[f"{key}_indices"],
            arrays[f"{key}_indptr"],
        )
        y = arrays[f"{key}_y"].astype(int)
        bunches[key] = Bunch(X=sparse.csr_matrix(parts, shape=(len(y), n_columns)), y=y)
    return bunches
