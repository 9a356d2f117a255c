"""Error of the accuracy that InvariantClassifier estimates, with and without groups."""

from __future__ import annotations

import numpy as np

from invarlearn import InvariantClassifier
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.few_labels import spoken_task


def run_estimates(
    left_out: str, n_speakers: int, n_test: int, seed: int, n_copies: int | None = None
) -> dict[str, float]:
    """Fit to the clips of some speakers; return the estimated and the measured accuracy.

    The accuracy is measured on other speakers.
    """
    task, _ = spoken_task("speakers", n_speakers, seed)
    model = InvariantClassifier(task.family, n_copies=n_copies, random_state=seed)
    model.fit(task.X, task.y, groups=task.groups if left_out == "speakers" else None)
    rows = np.random.RandomState(seed).permutation(len(task.X_test))[:n_test]
    accuracy = model.score(task.X_test[rows], task.y_test[rows])
    low, high = model.interval_
    return {
        "error": 100 * abs(model.estimated_accuracy_ - accuracy),
        "estimated": 100 * model.estimated_accuracy_,
        "low": 100 * low,
        "high": 100 * high,
        "accuracy": 100 * accuracy,
    }


EXPERIMENT = Experiment(
    id="few-labels-estimates",
    paper="Ours",
    title="Error of the estimated accuracy, measured on unseen speakers",
    varies={"left_out": ["clips", "speakers"], "n_speakers": [3, 6, 12]},
    quick={"n_speakers": [3]},
    run=run_estimates,
    x="n_speakers",
    lines="left_out",
    metric="error",
    revision=2,
    unit="points",
    seeds={"quick": 1, "full": 10},
    settings={"quick": {"n_test": 500, "n_copies": 3}, "full": {"n_test": 3000}},
    note=(
        "Spoken digits as in few-labels-voices, tested on 3,000 clips of 30 other speakers. error: "
        "absolute difference between the accuracy that InvariantClassifier estimates and the "
        "accuracy on these clips. left_out: clips: leave-one-sample-out cross-validation; "
        "speakers: leave-one-group-out cross-validation over speakers."
    ),
)
