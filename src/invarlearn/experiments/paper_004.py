"""Paper 004 (Teo et al.: convex learning with invariances): Figure 1, Table 1, and sequences."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import normalize

from invarlearn import WorstCaseLinearSVC, WorstCaseSVC
from invarlearn.datasets import fetch_letters, fetch_mnist, fetch_spam
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.pictures import orbit, worst_cases
from invarlearn.structured import Chain, fit_structured
from invarlearn.transforms import (
    Custom,
    Family,
    FeatureDropping,
    FeatureScaling,
    Rotation,
    Scaling,
    Shear,
    Translation,
)


class _Shift:
    """Shift 28 x 28 images by one pixel, with zeros coming in."""

    def __init__(self, down: int, right: int):
        self.by = (down, right)

    def __call__(self, X: NDArray) -> NDArray:
        images = np.pad(X.reshape(-1, 28, 28), ((0, 0), (1, 1), (1, 1)))
        down, right = self.by
        return images[:, 1 - down : 29 - down, 1 - right : 29 - right].reshape(len(X), -1)


def twenty() -> Family:
    """Give the twenty transformations of section 5.1, after the identity."""
    steps = [(1, 0), (-1, 0), (0, 1), (0, -1)]
    family = (
        Custom([_Shift(*step) for step in steps])
        | Translation(2, step=2)
        | Rotation(10)
        | Scaling(1.15)
        | Shear(0.15)
        | Shear(0.15, axis=0)
    )
    return family.with_shape((28, 28))


# -- Figure 1 ------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _mnist() -> Any:
    return fetch_mnist()


def _draw(per_digit: int, seed: int) -> tuple[NDArray, NDArray, NDArray]:
    """Draw so many training images of each digit; give also the images that are left."""
    data = _mnist()
    order = np.random.RandomState(seed).permutation(len(data.X_train))
    rows = [order[data.y_train[order] == digit][:per_digit] for digit in range(10)]
    chosen = np.concatenate(rows)
    rest = order[~np.isin(order, chosen)]
    return data.X_train[chosen].astype(float), data.y_train[chosen], rest


def machine(method: str, gamma: float, C: float, seed: int) -> WorstCaseSVC:
    """Give the machine of a method; C is of a sample with all its copies."""
    svc = WorstCaseSVC(gamma=gamma, C=C, tol=0.01, cache_size=3000, random_state=seed)
    if method.startswith("VIR"):
        svc.set_params(C=C / 21)
    if method.startswith("Invar"):
        svc.set_params(family=twenty())
    if method.endswith("half"):
        svc.set_params(keep_support=0.5)
    return svc


def _fitted(method: str, X: NDArray, y: NDArray, gamma: float, C: float, seed: int) -> WorstCaseSVC:
    if method.startswith("VIR"):
        orbit = twenty().orbit(X)
        X, y = orbit.reshape(-1, X.shape[1]), np.repeat(y, orbit.shape[1])
    return machine(method, gamma, C, seed).fit(X, y)


# gamma and C of the smallest error in 004-figure1-tune (0.01 points from it, for Invar): on
# training images, never on test images
SETTINGS = {"STD": (0.03, 10.0), "VIR": (0.03, 100.0), "Invar": (0.03, 30.0)}


def run_figure_1(method: str, per_digit: int, n_test: int, seed: int) -> dict[str, float]:
    """Train on one draw; give the error on test images, in percent, and support vectors."""
    data = _mnist()
    X, y, _ = _draw(per_digit, seed)
    gamma, C = SETTINGS[method.split("-")[0]]
    svc = _fitted(method, X, y, gamma, C, seed)
    test = slice(None) if n_test >= len(data.X_test) else slice(None, None, 10000 // n_test)
    error = 100 * (1 - svc.score(data.X_test[test], data.y_test[test]))
    return {"error": error, "support_vectors": len(svc.support_), "gap": svc.gap_ / svc.objective_}


METHODS = ["STD-SVM", "VIR-SVM", "Invar-SVM", "VIR-SVM, half", "Invar-SVM, half"]

_FIGURE_1: dict[str, Any] = {
    "paper": "Paper 004, Figure 1",
    "varies": {"method": METHODS, "per_digit": [10, 20, 30, 40, 50]},
    "quick": {"per_digit": [10]},
    "run": run_figure_1,
    "x": "per_digit",
    "lines": "method",
    "seeds": {"quick": 1, "full": 2},
    "settings": {"quick": {"n_test": 2000}, "full": {"n_test": 10000}},
    "note": "Twenty transformations: shifts by 1 and 2 pixels, turns by 10 degrees, sizes and "
    "shears by 0.15. All machines are multiclass (one function a digit) with an RBF, without an "
    "intercept, solved to a gap of 1 %. Half: keep_support=0.5, those support vectors of the "
    "largest weight, found anew. Gamma and C as in 004-figure1-tune. The paper's figure has no "
    "numbers.",
    "pictures": lambda: [worst_cases(twenty()), orbit(twenty(), "the twenty transformations")],
    # 2: the dual moves all weights at once between sweeps
    "revision": 2,
}

FIGURE_1 = Experiment(
    id="004-figure1",
    title="Few digits with twenty transformations: error",
    metric="error",
    **_FIGURE_1,
)

FIGURE_1_SUPPORT = Experiment(
    id="004-figure1-support",
    title="Few digits with twenty transformations: support vectors",
    metric="support_vectors",
    unit="number",
    **_FIGURE_1,
)


def run_tune(method: str, gamma: float, C: float, n_test: int, seed: int) -> dict[str, float]:
    """Give the error on training images that were not drawn: nothing of the test set."""
    data = _mnist()
    # draws of their own
    X, y, rest = _draw(20, 1000 + seed)
    svc = _fitted(method, X, y, gamma, C, seed)
    rows = rest[:n_test]
    return {"error": 100 * (1 - svc.score(data.X_train[rows], data.y_train[rows]))}


FIGURE_1_TUNE = Experiment(
    id="004-figure1-tune",
    paper="Paper 004, Figure 1",
    title="Gamma and C for 20 images of each digit, on training images that were left out",
    varies={
        "method": ["STD-SVM", "VIR-SVM", "Invar-SVM"],
        "C": [10.0, 30.0, 100.0],
        "gamma": [0.02, 0.03, 0.04],
    },
    quick={"C": [10.0], "gamma": [0.03]},
    run=run_tune,
    metric="error",
    x="gamma",
    lines="method",
    seeds={"quick": 1, "full": 1},
    settings={"quick": {"n_test": 1000}, "full": {"n_test": 10000}},
    note="C is of a sample with all its copies.",
)


# -- Table 1 -------------------------------------------------------------------------------------


def words(X: Any) -> Any:
    """Give counts of words as logarithms, of length one."""
    return normalize(X.log1p())


# What is tried for each loss: (lam, K, low, high), as in the paper's last column.
GRID: dict[str, list[tuple[float, int, float, float]]] = {
    "hinge": [(lam, 0, 1.0, 1.0) for lam in (1e-2, 1e-3, 1e-4)],
    "FDROP": [(lam, K, 0.0, 1.0) for lam in (1e-2, 1e-3, 1e-4) for K in (4, 14)],
    "FSCALE": [(lam, K, 0.5, 8.0) for lam in (1e-2, 1e-3, 1e-4) for K in (4, 10)],
}


def spam_machine(loss: str, lam: float, K: int, low: float, high: float) -> WorstCaseLinearSVC:
    """Give the machine of a row of Table 1."""
    families: dict[str, Family | None] = {
        "hinge": None,
        "FDROP": FeatureDropping(K),
        "FSCALE": FeatureScaling(low, high, K),
    }
    return WorstCaseLinearSVC(families[loss], lam=lam, tol=0.01, max_iter=300)


def _out_of_fold(loss: str, setting: Any, X: Any, y: NDArray, seed: int) -> NDArray[np.float64]:
    scores = np.empty(len(y))
    for train, test in StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y):
        scores[test] = (
            spam_machine(loss, *setting).fit(X[train], y[train]).decision_function(X[test])
        )
    return scores


def best_threshold(scores: NDArray, y: NDArray) -> float:
    """Give the threshold at which most scores are on the side of their label."""
    order = np.argsort(scores, kind="stable")
    above = np.concatenate([[0], np.cumsum(np.where(y[order] > 0, -1, 1))])
    at = int(above.argmax())
    ends = np.concatenate([[scores[order[0]] - 1], scores[order], [scores[order[-1]] + 1]])
    return float(ends[at : at + 2].mean())


@lru_cache(maxsize=6)
def _chosen(task: str, train: str, loss: str, seed: int, few: bool) -> Any:
    """Choose the setting and the threshold by cross-validation of the training e-mails."""
    X, y = _spam(task)[train]
    found = []
    for setting in GRID[loss][:: 3 if few else 1]:
        scores = _out_of_fold(loss, setting, X, y, seed)
        found.append((roc_auc_score(y, scores), setting, best_threshold(scores, y)))
    # the first of equal ones: the most regularised
    _, setting, threshold = max(found, key=lambda one: one[0])
    return spam_machine(loss, *setting).fit(X, y), threshold, setting


@lru_cache(maxsize=2)
def _spam(task: str) -> dict[str, tuple[Any, NDArray]]:
    data = fetch_spam(task)
    sets = dict(data.users)
    if data.train is not None:
        sets["train"] = data.train
    return {name: (words(one.X), one.y) for name, one in sets.items()}


def run_spam(task: str, pair: str, loss: str, few: bool, seed: int) -> dict[str, float]:
    """Train on one set of e-mails and test on another; compare with the hinge by McNemar's test."""
    train, test = pair.split(" to ")
    X, y = _spam(task)[test]
    svc, threshold, setting = _chosen(task, train, loss, seed, few)
    scores = svc.decision_function(X)
    right = (scores > threshold) == (y > 0)
    plain, at, _ = _chosen(task, train, "hinge", seed, few)
    other = (plain.decision_function(X) > at) == (y > 0)
    differ = int((right != other).sum())
    p = binomtest(int((right & ~other).sum()), differ).pvalue if differ else 1.0
    lam, K, low, high = setting
    return {
        "AUC": 100 * roc_auc_score(y, scores),
        "accuracy": 100 * right.mean(),
        "accuracy_at_zero": 100 * ((scores > 0) == (y > 0)).mean(),
        "McNemar_p": float(p),
        "lam": lam,
        "K": K,
        "low": low,
        "high": high,
    }


_USERS = ("u00", "u01", "u02")
_TABLE_1: dict[str, Any] = {
    "paper": "Paper 004, Table 1",
    "run": run_spam,
    "x": "pair",
    "lines": "loss",
    "seeds": {"quick": 1, "full": 2},
    "settings": {"quick": {"few": True}, "full": {"few": False}},
    "note": "The labelled training file of task A is not to be had: machines learn from one inbox, "
    "and are tested on others; task B has its training file. Logarithms of counts, rows of "
    "length one. lambda, K, low and high, and the threshold of accuracy, are chosen by 3-fold "
    "cross-validation (AUC) of the training e-mails alone; seeds are of its folds. Results "
    "also have McNemar's p against the hinge, accuracy at the threshold zero, and what was "
    "chosen. Paper, other data: hinge 83.63, FDROP 87.79, FSCALE 89.14 (AUC), 74.75, 81.73, "
    "83.71 (accuracy).",
}

TABLE_1 = Experiment(
    id="004-table1",
    title="Spam of one user's inbox to another's: AUC",
    metric="AUC",
    varies={
        "task": ["task_a"],
        "pair": [f"{a} to {b}" for a in _USERS for b in _USERS if a != b],
        "loss": list(GRID),
    },
    quick={"pair": ["u02 to u00", "u02 to u01"]},
    **_TABLE_1,
)

TABLE_1_ACCURACY = Experiment(
    id="004-table1-accuracy",
    title="Spam of one user's inbox to another's: accuracy",
    metric="accuracy",
    varies=TABLE_1.varies,
    quick=TABLE_1.quick,
    **_TABLE_1,
)

TABLE_1_SHIFT = Experiment(
    id="004-table1-task-b",
    title="Spam of public sources to 15 inboxes, 100 e-mails to learn from: AUC",
    metric="AUC",
    varies={
        "task": ["task_b"],
        "pair": [f"train to u{user:02d}" for user in range(15)],
        "loss": list(GRID),
    },
    quick={"pair": ["train to u04", "train to u09"]},
    **_TABLE_1,
)


# -- sequences: ours, no figure of the paper ------------------------------------------------------

_TEXT = (
    "the and you that was for are with his they this have from one had word but not what all "
    "were when your can said there use each which she how their will other about out many "
    "then them these some her would make like him into time has look two more write see "
    "number way could people than first water been call who oil its now find long down day "
    "did get come made may part over new sound take only little work know place year live "
    "back give most very after thing our just name good sentence man think say great where "
    "help through much before line right too mean old any same tell boy follow came want show "
    "also around form three small set put end does another well large must big even such "
    "because turn here why ask went men read need land different home move try kind hand "
    "picture again change off play spell air away animal house point page letter mother "
    "answer found study still learn should world "
)
WORDS = _TEXT.split()


def _written(some: list[str], X: NDArray, y: NDArray, rng: np.random.RandomState) -> Any:
    """Write words with images of letters, drawn at random."""
    images = [np.flatnonzero(y == letter) for letter in range(26)]
    labels = [np.array([ord(c) - ord("a") for c in word]) for word in some]
    rows = [np.array([rng.choice(images[letter]) for letter in word]) for word in labels]
    return [normalize(X[one]) for one in rows], labels


@lru_cache(maxsize=1)
def _letters() -> Any:
    return fetch_letters()


def run_sequences(method: str, n_words: int, n_test: int, seed: int) -> dict[str, float]:
    """Read words letter by letter; give the error of letters, in percent."""
    data = _letters()
    rng = np.random.RandomState(seed)
    order = rng.permutation(len(WORDS))
    train = [WORDS[k] for k in order[:n_words]]
    test = [WORDS[k] for k in rng.choice(order[n_words:], n_test)]
    X, Y = _written(train, data.X_train, data.y_train, rng)
    X_test, Y_test = _written(test, data.X_test, data.y_test, rng)
    family = Translation(1).with_shape((28, 28)) if "worst" in method else None
    if method.startswith("letters"):
        # each letter a sequence of its own
        X, Y = [one[None] for x in X for one in x], [one[None] for y in Y for one in y]
        X_test = [one[None] for x in X_test for one in x]
        Y_test = [one[None] for y in Y_test for one in y]
    # the loss of a word is the sum of those of its letters: so much for each letter
    lam = 2e-4 * float(np.mean([len(y) for y in Y]))
    problem = Chain(26, 784, family)
    model = fit_structured(problem, X, Y, lam=lam, solver="columns", tol=0.05, max_iter=200)
    wrong = np.concatenate([p != y for p, y in zip(model.predict(X_test), Y_test, strict=True)])
    return {"error": 100 * wrong.mean()}


SEQUENCES = Experiment(
    id="004-sequences",
    paper="The structured outputs of paper 004, section 2; ours, no figure of the paper",
    title="Words written with images of letters",
    varies={
        "method": ["letters", "letters, worst shift", "chain", "chain, worst shift"],
        "n_words": [25, 50, 100],
    },
    quick={"n_words": [25]},
    run=run_sequences,
    metric="error",
    x="n_words",
    lines="method",
    seeds={"quick": 1, "full": 4},
    settings={"quick": {"n_test": 50}, "full": {"n_test": 200}},
    note="Common English words, each letter an image of NIST's drawn at random; words and images "
    "of the test set are others than in training. Linear in pixels (rows of length one), "
    "lam = 0.0002 a letter. A chain also has weights of letters that follow each other; worst "
    "shift: every letter may be shifted by a pixel in any direction, as is worst for it.",
)
