"""Accuracy with families that are too wide, or that contradict the labels."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from invarlearn import InvariantClassifier
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.data import random_split
from invarlearn.features.defaults import default_family
from invarlearn.transforms import Family, Reflection, Rotation, Shear, Translation

# the default family of InvariantClassifier for images
_DEFAULT = default_family(None, 784, "breaks")
DECLARED_FAMILIES: dict[str, Family] = {
    "half as much": _DEFAULT.scaled(0.5),
    "modest": _DEFAULT,
    "twice as much": _DEFAULT.scaled(2),
    "three times": _DEFAULT.scaled(3),
    "turns by 90": Rotation(90) * Translation(2.0),
    "any turn": Rotation(180) * Translation(2.0),
    "mirror images": Reflection(1) * _DEFAULT,
}


def asked(question: str, X: NDArray, y: NDArray, rng: np.random.RandomState) -> tuple:
    """Return the images and labels of a classification task.

    Parameters
    ----------
    question : {"which digit", "6 or 9", "left or right"}
        The classes: the digits, the digits 6 and 9, or the direction of a shear.
    X : array of shape (n_images, 784)
    y : array of shape (n_images,)
        Digits.
    rng : RandomState

    Returns
    -------
    X : array of shape (n_samples, 784)
    y : array of shape (n_samples,)
    """
    if question == "which digit":
        return X, y
    if question == "6 or 9":
        keep = np.isin(y, [6, 9])
        return X[keep], y[keep]
    # the default family declares that the class does not depend on shears
    is_right = rng.randint(2, size=len(X))
    left, right = (Shear(0.3, shape=(28, 28)).flow(X, sign * 0.25)[:, 0] for sign in (-1, 1))
    return np.where(is_right[:, None] == 1, right, left).astype(np.float32), is_right


def run_breaks(question: str, family: str, n_labels: int, n_test: int, seed: int) -> dict:
    """Fit to one draw; return the accuracy, the estimated one, and whether the model warned."""
    # a fifth of the digits are 6 or 9
    factor = 8 if question == "6 or 9" else 1
    X, y, X_test, y_test = random_split("MNIST", factor * n_labels, factor * n_test, seed)
    rng = np.random.RandomState(seed)
    X, y = asked(question, X, y, rng)
    X_test, y_test = asked(question, X_test, y_test, rng)
    model = InvariantClassifier(DECLARED_FAMILIES.get(family), random_state=seed)
    if family == "nothing":
        # the features of the default family, without augmented copies
        model.set_params(n_copies=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:n_labels], y[:n_labels])
    return {
        "accuracy": 100 * model.score(X_test[:n_test], y_test[:n_test]),
        "estimated": 100 * model.estimated_accuracy_,
        "warned": 100 * model.assessment_.lowers_score,
    }


EXPERIMENT = Experiment(
    id="few-labels-breaks",
    paper="Ours",
    title="Families that are too wide or contradict the labels: digits, 6 or 9, sheared digits",
    varies={
        "question": ["which digit", "6 or 9", "left or right"],
        "family": ["nothing", *DECLARED_FAMILIES],
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
        "warned: percentage of draws in which the model warned that the family lowers held-out "
        "accuracy. Left or right: digits are sheared by 0.25 to the left or to the right, and the "
        "class is the direction; the default family contradicts it. Families: nothing: no "
        "augmented copies; modest: the default family; half as much, twice as much, three times: "
        "its ranges multiplied by 0.5, 2 and 3; turns by 90, any turn: rotations by up to 90 or "
        "180 degrees, with shifts by 2 px; mirror images: reflections, with the default family."
    ),
)
