"""Teo et al. (2007), Convex learning with invariances: Table 1, spam filters."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import normalize

from invarlearn import WorstCaseLinearSVC
from invarlearn._utils.statistics import mcnemar_p_value
from invarlearn.datasets import fetch_spam
from invarlearn.experiments.base import Experiment
from invarlearn.transforms import Family, FeatureDropping, FeatureScaling


def log_counts(X: Any) -> Any:
    """Return log(1 + count) of word counts, in rows of norm one."""
    return normalize(X.log1p())


# Candidates for lam, from the most regularised on, and for each loss those for K, low and high. The
# first K is that at which lam is chosen.
LAMS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
GRID: dict[str, tuple[tuple[int, ...], float, float]] = {
    "hinge": ((0,), 1.0, 1.0),
    "FDROP": ((4, 1, 14, 30), 0.0, 1.0),
    "FSCALE": ((4, 1, 10, 20, 40), 0.5, 8.0),
}


def spam_machine(loss: str, lam: float, K: int, low: float, high: float) -> WorstCaseLinearSVC:
    """Return the classifier of a row of Table 1."""
    families: dict[str, Family | None] = {
        "hinge": None,
        "FDROP": FeatureDropping(K),
        "FSCALE": FeatureScaling(low, high, K),
    }
    return WorstCaseLinearSVC(families[loss], lam=lam, tol=0.01, max_iter=300)


def _out_of_fold(loss: str, setting: Any, X: Any, y: NDArray, seed: int) -> NDArray[np.float64]:
    """Return the scores of held-out e-mails in 3-fold cross-validation."""
    scores = np.empty(len(y))
    for train, test in StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y):
        scores[test] = (
            spam_machine(loss, *setting).fit(X[train], y[train]).decision_function(X[test])
        )
    return scores


def best_threshold(scores: NDArray, y: NDArray) -> float:
    """Return the threshold of the highest accuracy."""
    order = np.argsort(scores, kind="stable")
    # number of correct predictions for each threshold, up to a constant
    n_correct = np.concatenate([[0], np.cumsum(np.where(y[order] > 0, -1, 1))])
    i = int(n_correct.argmax())
    ends = np.concatenate([[scores[order[0]] - 1], scores[order], [scores[order[-1]] + 1]])
    return float(ends[i : i + 2].mean())


@lru_cache(maxsize=6)
def _tuned(task: str, train: str, loss: str, seed: int, few: bool) -> Any:
    """Return a fitted classifier, its threshold and its setting, chosen by cross-validation.

    lam is chosen first, and then K. Differences of the AUC below 1e-4 are ignored: smaller lam have
    the same limit, the largest margin, and the largest lam of equal ones is chosen.
    """
    X, y = _spam(task)[train]
    Ks, low, high = GRID[loss]
    scores: dict[Any, NDArray[np.float64]] = {}

    def best(settings: list[Any]) -> Any:
        """Return the first setting whose AUC is within 1e-4 of the largest."""
        for setting in settings:
            if setting not in scores:
                scores[setting] = _out_of_fold(loss, setting, X, y, seed)
        areas = [roc_auc_score(y, scores[setting]) for setting in settings]
        return settings[int(np.argmax(np.array(areas) >= max(areas) - 1e-4))]

    lam = best([(lam, Ks[0], low, high) for lam in LAMS[:: 2 if few else 1]])[0]
    setting = best([(lam, K, low, high) for K in Ks[: 2 if few else None]])
    threshold = best_threshold(scores[setting], y)
    return spam_machine(loss, *setting).fit(X, y), threshold, setting


@lru_cache(maxsize=2)
def _spam(task: str) -> dict[str, tuple[Any, NDArray]]:
    """Return the rows and labels of each set of e-mails."""
    data = fetch_spam(task)
    sets = dict(data.users)
    if data.train is not None:
        sets["train"] = data.train
    return {name: (log_counts(emails.X), emails.y) for name, emails in sets.items()}


def _scores(task: str, pair: str, loss: str, few: bool, seed: int) -> Any:
    """Return the scores of the test e-mails, whether they are classified correctly, the setting."""
    train, test = pair.split(" to ")
    X, y = _spam(task)[test]
    svc, threshold, setting = _tuned(task, train, loss, seed, few)
    scores = svc.decision_function(X)
    return scores, (scores > threshold) == (y > 0), setting


def run_spam(task: str, pair: str, loss: str, few: bool, seed: int) -> dict[str, float]:
    """Train on one set of e-mails; return the AUC and accuracy on another, and other numbers.

    For each loss before this one in ``GRID``, there are the p-value of McNemar's test, and the
    numbers of e-mails that only this loss and only the other loss classifies correctly.
    """
    _, y = _spam(task)[pair.split(" to ")[1]]
    scores, correct, (lam, K, low, high) = _scores(task, pair, loss, few, seed)
    results = {
        "AUC": 100 * roc_auc_score(y, scores),
        "accuracy": 100 * correct.mean(),
        "accuracy_at_zero": 100 * ((scores > 0) == (y > 0)).mean(),
        "lam": lam,
        "K": K,
        "low": low,
        "high": high,
    }
    losses = list(GRID)
    for other in losses[: losses.index(loss)]:
        _, other_correct, _ = _scores(task, pair, other, few, seed)
        results[f"McNemar p, {other}"] = mcnemar_p_value(correct, other_correct)
        results[f"correct, not by {other}"] = int((correct & ~other_correct).sum())
        results[f"correct only by {other}"] = int((other_correct & ~correct).sum())
    return results


_USERS = ("u00", "u01", "u02")
_TABLE_1: dict[str, Any] = {
    "paper": "Teo et al. (2007), Table 1",
    "run": run_spam,
    "x": "pair",
    "lines": "loss",
    "seeds": {"quick": 1, "full": 2},
    "settings": {"quick": {"few": True}, "full": {"few": False}},
    # since revision 2, the grids are wider
    "revision": 2,
    "note": "The labelled training file of task A is no longer available: classifiers are trained "
    "on one inbox and tested on another. Task B has its training file. Rows are log(1 + count), "
    "scaled to norm one. lambda, and then K, are chosen by the AUC of 3-fold cross-validation on "
    "the training e-mails, and so is the threshold, by accuracy; low and high are the paper's. "
    "Seeds are seeds of the folds. Stored results also have McNemar's test of each pair of losses, "
    "the accuracy at threshold zero, and the chosen settings. The paper's numbers, on other data: "
    "AUC 83.63 (hinge), 87.79 (FDROP), 89.14 (FSCALE); accuracy 74.75, 81.73, 83.71.",
}

TABLE_1 = Experiment(
    id="004-table1",
    title="Spam, trained on one user's inbox and tested on another's: AUC",
    metric="AUC",
    varies={
        "task": ["task_a"],
        "pair": [f"{a} to {b}" for a in _USERS for b in _USERS if a != b],
        "loss": list(GRID),
    },
    quick={"pair": ["u02 to u00", "u02 to u01"]},
    **_TABLE_1,
)

TABLE_1_ACCURACY = TABLE_1.view(
    id="004-table1-accuracy",
    title="Spam, trained on one user's inbox and tested on another's: accuracy",
    metric="accuracy",
)

TABLE_1_SHIFT = Experiment(
    id="004-table1-task-b",
    title="Spam, trained on 100 public e-mails and tested on 15 inboxes: AUC",
    metric="AUC",
    varies={
        "task": ["task_b"],
        "pair": [f"train to u{user:02d}" for user in range(15)],
        "loss": list(GRID),
    },
    quick={"pair": ["train to u04", "train to u09"]},
    **{**_TABLE_1, "seeds": {"quick": 1, "full": 5}},
)

TABLE_1_SHIFT_ACCURACY = TABLE_1_SHIFT.view(
    id="004-table1-task-b-accuracy",
    title="Spam, trained on 100 public e-mails and tested on 15 inboxes: accuracy",
    metric="accuracy",
)

EXPERIMENTS = [TABLE_1, TABLE_1_ACCURACY, TABLE_1_SHIFT, TABLE_1_SHIFT_ACCURACY]
