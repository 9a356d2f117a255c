"""Where invariance breaks: families too wide or wrong, labels that depend on what they change."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from invarlearn import InvariantClassifier
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.data import draw
from invarlearn.features.defaults import default_family
from invarlearn.transforms import Family, Reflection, Rotation, Shear, Translation

# what InvariantClassifier takes if nothing is said
_MODEST = default_family(None, 784, "breaks")
FAMILIES: dict[str, Family] = {
    "half as much": _MODEST.scaled(0.5),
    "modest": _MODEST,
    "twice as much": _MODEST.scaled(2),
    "three times": _MODEST.scaled(3),
    "turns by 90": Rotation(90) * Translation(2.0),
    "any turn": Rotation(180) * Translation(2.0),
    "mirror images": Reflection(1) * _MODEST,
}


def asked(question: str, X: NDArray, y: NDArray, rng: np.random.RandomState) -> tuple:
    """Give images and what is asked of them."""
    if question == "which digit":
        return X, y
    if question == "6 or 9":
        keep = np.isin(y, [6, 9])
        return X[keep], y[keep]
    # leaning to the left or to the right: what the modest family says does not matter
    right = rng.randint(2, size=len(X))
    leaning = [Shear(0.3, shape=(28, 28)).flow(X, sign * 0.25)[:, 0] for sign in (-1, 1)]
    return np.where(right[:, None] == 1, leaning[1], leaning[0]).astype(np.float32), right


def run_breaks(question: str, family: str, n_labels: int, n_test: int, seed: int) -> dict:
    """Learn from one draw; give the accuracy, what the model expected, and whether it warned."""
    more = 8 if question == "6 or 9" else 1
    X, y, X_test, y_test = draw("MNIST", more * n_labels, more * n_test, seed)
    rng = np.random.RandomState(seed)
    X, y = asked(question, X, y, rng)
    X_test, y_test = asked(question, X_test, y_test, rng)
    model = InvariantClassifier(FAMILIES.get(family), random_state=seed)
    if family == "nothing":
        # the same features, no copies
        model.set_params(n_copies=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X[:n_labels], y[:n_labels])
    warned = any("seems to hurt" in str(warning.message) for warning in caught)
    return {
        "accuracy": 100 * model.score(X_test[:n_test], y_test[:n_test]),
        "estimated": 100 * model.estimated_accuracy_,
        "warned": 100 * warned,
    }


EXPERIMENT = Experiment(
    id="few-labels-breaks",
    paper="Ours",
    title="Where invariance breaks: digits, 6 or 9, and which way digits lean",
    varies={
        "question": ["which digit", "6 or 9", "left or right"],
        "family": ["nothing", *FAMILIES],
        "n_labels": [100, 300],
    },
    quick={"family": ["nothing", "modest", "any turn"], "n_labels": [100]},
    run=run_breaks,
    x="n_labels",
    lines="family",
    cost="warned",
    seeds={"quick": 1, "full": 5},
    settings={"quick": {"n_test": 500}, "full": {"n_test": 2000}},
    note=(
        "warned: in how many draws, in percent, the model warned that the family seems to hurt. "
        "Left or right: every digit is made to lean by 0.25 to one side or the other, and the "
        "side is asked for; the modest family declares that slant does not matter. Turns, mirror "
        "images: with shifts by 2 px, and with the modest family."
    ),
)
