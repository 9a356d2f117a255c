"""Zhang et al. (2013), Table 1: other readings of its protocol and of its solver."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from invarlearn import InvSVC
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.zhang_table import (
    SMALL_TABLES,
    TABLE_LABELS,
    labelled_rows,
    run_semi_supervised,
    table_kernels,
    table_rows,
)

TABLE_1_ROWS = Experiment(
    id="002-table1-rows",
    paper="Zhang et al. (2013), Table 1",
    title="Rows instead of features of zero mean and norm one",
    varies={"data": SMALL_TABLES, "method": ["SVM", "InvSVM"], "n_labels": TABLE_LABELS},
    quick={"data": ["ionosphere", "sonar"]},
    run=run_semi_supervised,
    metric="error",
    x="n_labels",
    lines="method",
    seeds={"quick": 3, "full": 10},
    settings={size: {"scaling": "rows"} for size in ("quick", "full")},
    note="As `002-table1`, with each row, instead of each feature, shifted to mean zero and "
    "scaled to norm one. The draws of labelled rows are the same.",
)

TABLE_1_REPEATED = replace(
    TABLE_1_ROWS,
    id="002-table1-repeated",
    title="Ten cross-validations instead of one",
    settings={size: {"n_repeats": 10} for size in ("quick", "full")},
    note="As `002-table1`, with the sum of the errors of ten 5-fold cross-validations, whose folds "
    "differ. The draws of labelled rows are the same.",
)


def run_coordinates(data: str, n_rounds: int, n_labels: int, seed: int) -> dict[str, float]:
    """Train InvSVM by steepest coordinates, with the lambda and nu of ``002-table1``.

    Parameters
    ----------
    data : str
    n_rounds : int
        Rounds of :class:`~invarlearn.solvers.SteepestGrowth`; 0 is the optimum.
    n_labels, seed : int

    Returns
    -------
    dict
        The error, in percent, and the number of coordinates.
    """
    chosen = run_semi_supervised(data, "InvSVM", n_labels, seed)
    X, y = table_rows(data)
    if n_rounds == 0:
        return {"error": chosen["error"], "coordinates": float(n_labels + X.size)}
    train = labelled_rows(data, n_labels, seed)
    test = np.setdiff1d(np.arange(len(y)), train)
    labels = np.full(len(y), -1)
    labels[train] = y[train] == 1
    gamma = table_kernels(data, "features", "InvSVM").kernel.gamma
    model = InvSVC(
        gamma=gamma,
        loss="hinge",
        lam=chosen["lam"],
        nu=chosen["nu"],
        solver="steepest",
        max_iter=n_rounds,
        tol=1e-3,
    )
    with warnings.catch_warnings():
        # the rounds end before convergence
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, labels)
    error = 100 * float((model.predict(X[test]) != (y[test] == 1)).mean())
    return {"error": error, "coordinates": float((model.coef_[0] != 0).sum())}


TABLE_1_COORDINATES = Experiment(
    id="002-table1-coordinates",
    paper="Zhang et al. (2013), section 5 and Table 1",
    title="InvSVM by steepest coordinates, stopped early",
    varies={"data": ["heart", "ionosphere", "sonar"], "n_rounds": [1, 6, 12, 0]},
    run=run_coordinates,
    metric="error",
    x="n_rounds",
    lines="data",
    seeds={"quick": 2, "full": 10},
    settings={size: {"n_labels": 30} for size in ("quick", "full")},
    note="30 labels, the parameters of `002-table1`. A round adds coordinates of steepest descent "
    "to those of the labelled rows, at least 8 or a quarter of those before, or smooths the hinge "
    "less, and minimises the objective over all of them. The paper adds one coordinate at a time, "
    "and does not state when it stops. 0 rounds: the optimum.",
)
