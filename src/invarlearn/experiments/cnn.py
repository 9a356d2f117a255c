"""Choice of the network for the comparisons, on held-out training images of MNIST."""

from __future__ import annotations

import time
from typing import Any

from invarlearn.experiments.base import Experiment
from invarlearn.experiments.data import LabelledParts, validation_split
from invarlearn.experiments.rivals import SmallCNN, torch_module
from invarlearn.features.defaults import default_family

_SHAPE = (28, 28)
_DEFAULT = default_family(None, 784, "cnn").with_shape(_SHAPE)

_PLAIN = {"smoothing": 0.0, "deep": False}

# Parameters of SmallCNN that differ from the defaults, by variant. "at first" is the initial
# network; the variants up to "labels smoothed" change it in one respect. "smoothed, 3 x 3, twice"
# is the network of few-labels; the variants "the same, ..." change that one.
NETWORKS: dict[str, dict[str, Any]] = {
    "at first": _PLAIN,
    "rate 0.001": {**_PLAIN, "rate": 1e-3},
    "rate 0.01": {**_PLAIN, "rate": 1e-2},
    "no dropout": {**_PLAIN, "dropout": 0.0},
    "dropout 0.5": {**_PLAIN, "dropout": 0.5},
    "decay 0.1": {**_PLAIN, "decay": 0.1},
    "half the width": {**_PLAIN, "width": 16},
    "3,000 updates": {**_PLAIN, "n_steps": 3000},
    "3 x 3, twice": {**_PLAIN, "deep": True},
    "1.5 times the range": {**_PLAIN, "family": _DEFAULT.scaled(1.5)},
    "labels smoothed": {"deep": False},
    "smoothed, half the width": {"deep": False, "width": 16},
    "smoothed, 3 x 3, twice": {},
    "the same, 750 updates": {"n_steps": 750},
    "the same, half the width": {"width": 16},
    "the same, smoothed by 0.2": {"smoothing": 0.2},
    "the same, 1.5 times the range": {"family": _DEFAULT.scaled(1.5)},
}


def run_cnn(variant: str, n_labels: int, n_test: int, seed: int) -> dict[str, float]:
    """Train on one draw of training images; return the accuracy on other ones, in percent."""
    return score_network(NETWORKS[variant], validation_split(n_labels, n_test, seed), seed)


def score_network(changes: dict[str, Any], parts: LabelledParts, seed: int) -> dict[str, float]:
    """Return the accuracy of a network in percent, and its seconds of training.

    Parameters
    ----------
    changes : dict
        Parameters of :class:`SmallCNN` that differ from the defaults.
    parts : tuple of four arrays
        Training rows and labels, and test rows and labels.
    seed : int
    """
    torch_module()
    X, y, X_test, y_test = parts
    network = SmallCNN(_DEFAULT, _SHAPE, random_state=seed).set_params(**changes)
    start = time.perf_counter()
    network.fit(X, y)
    seconds = time.perf_counter() - start
    return {"accuracy": 100 * network.score(X_test, y_test), "fit_seconds": seconds}


EXPERIMENT = Experiment(
    id="cnn",
    paper="Ours",
    title="The augmented network of the comparisons, and its variants",
    varies={"variant": list(NETWORKS), "n_labels": [100, 500]},
    quick={"variant": ["half the width"], "n_labels": [100]},
    run=run_cnn,
    x="n_labels",
    lines="variant",
    cost="fit_seconds",
    seeds={"quick": 1, "full": 2},
    settings={"quick": {"n_test": 500}, "full": {"n_test": 5000}},
    note=(
        "Trained and tested on disjoint training images of MNIST; the test set is not used. "
        "Augmented by the default family of images. One thread."
    ),
)
