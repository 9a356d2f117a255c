"""Paper 002 (Zhang, Lee, Teh: invariance via linear functionals): Figure 1, Table 1, Figure 2."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from invarlearn import InvSVC, InvSVCCV, VirtualSVC
from invarlearn.datasets import fetch_mnist, fetch_ssl, fetch_uci, make_two_moons
from invarlearn.estimators._representer import median_gamma
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.pictures import boundaries, orbit
from invarlearn.functionals import Change, Derivative, Functional, Laplacian, Representers, Tangent
from invarlearn.functionals.elimination import Elimination
from invarlearn.kernels import RBF
from invarlearn.transforms import Custom, Family, Rotation, Scaling, Shear, Translation

# Figure 1: sigma = 0.25, lambda = 1.
_MOONS = {
    "logistic, squared": ("logistic", "squared"),
    "hinge, epsilon-insensitive": ("hinge", "epsilon_insensitive"),
}


def moons_model(losses: str, nu: float) -> InvSVC:
    """Give the classifier of Figure 1."""
    loss, penalty = _MOONS[losses]
    return InvSVC(gamma=8.0, loss=loss, penalty=penalty, lam=1.0, nu=nu, epsilon=0.01, tol=1e-4)


def run_moons(losses: str, nu: float, n_samples: int, seed: int) -> dict[str, float]:
    """Give the error on all points, two of them labelled, in percent."""
    moons = make_two_moons(n_samples, 2, noise=0.05, random_state=seed)
    fitted = moons_model(losses, nu).fit(moons.X, moons.y_partial)
    return {"error": 100 * float((fitted.predict(moons.X) != moons.y).mean())}


FIGURE_1 = Experiment(
    id="002-figure1",
    paper="Paper 002, Figure 1",
    title="Two moons with two labels, derivatives penalised at all points",
    varies={"losses": list(_MOONS), "nu": [0.0, 0.01, 0.1, 1.0, 10.0]},
    run=run_moons,
    metric="error",
    x="nu",
    lines="losses",
    seeds={"quick": 3, "full": 20},
    settings={"quick": {"n_samples": 100}, "full": {"n_samples": 200}},
    note="The paper draws boundaries and gives no numbers; its points are not to be had, ours have "
    "noise of standard deviation 0.05.",
    pictures=lambda: [boundaries()],
)


_TABLES = {
    "heart": ("uci", "heart"),
    "BCI": ("ssl", "bci"),
    "bupa": ("uci", "bupa"),
    "g241c": ("ssl", "g241c"),
    "g241n": ("ssl", "g241n"),
    "Australian": ("uci", "australian"),
    "ionosphere": ("uci", "ionosphere"),
    "sonar": ("uci", "sonar"),
    "USPS": ("ssl", "usps"),
}
_LABELS = [30, 60, 90]
_LAMS = [0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0]
_NUS = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
_NEIGHBOURS = [3, 6, 12]
_EDGES = [1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4]


@lru_cache(maxsize=2)
def table_rows(data: str) -> tuple[NDArray, NDArray]:
    """Give a data set with every feature brought to zero mean and unit length, and labels."""
    kind, name = _TABLES[data]
    found = fetch_uci(name) if kind == "uci" else fetch_ssl(name)
    X = found.X - found.X.mean(axis=0)
    norms = np.linalg.norm(X, axis=0)
    return X / np.where(norms > 0, norms, 1.0), np.where(found.y == found.y.max(), 1, -1)


def table_order(y: NDArray, seed: int) -> NDArray:
    """Draw an order of rows of which the first are labelled, five of each class or more."""
    rng = np.random.RandomState(seed)
    while True:
        order = rng.permutation(len(y))
        if min(np.bincount(y[order[: _LABELS[0]]] == 1, minlength=2)) >= 5:
            return order


@lru_cache(maxsize=3)
def table_kernels(data: str, method: str, seed: int) -> NDArray:
    """Give all kernels that a method may choose from, between all rows and labelled ones.

    Rows with 30 labels are the first of those with 90, so that kernels serve all three.
    """
    X, y = table_rows(data)
    labelled = X[table_order(y, seed)[: _LABELS[-1]]]
    kernel = RBF(median_gamma(X))
    if method == "SVM":
        return kernel(X, labelled)[None]
    kinds: list[Functional] = [Derivative()]
    nus = _NUS
    if method == "LapSVM":
        kinds, nus = [Laplacian(n) for n in _NEIGHBOURS], _EDGES
    # four digits are plenty for classes, and single precision has them
    rows, few = X.astype(np.float32), labelled.astype(np.float32)
    found = [Representers(kernel, [kind], rows) for kind in kinds]
    return np.concatenate([Elimination(z, tol=1e-4).kernels(rows, few, nus) for z in found])


def run_table_1(data: str, method: str, n_labels: int, seed: int) -> dict[str, float]:
    """Choose by 5-fold cross-validation of the labelled rows; give the error on all others."""
    _, y = table_rows(data)
    order = table_order(y, seed)
    train, test = order[:n_labels], order[n_labels:]
    kernels = table_kernels(data, method, seed)[:, :, :n_labels]
    folds = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(train, y[train]))
    wrong = np.array(
        [[_held_out(kernel[train], y[train], lam, folds) for lam in _LAMS] for kernel in kernels]
    )
    # of equally good choices the first
    which, lam = np.unravel_index(wrong.argmin(), wrong.shape)
    svc = SVC(kernel="precomputed", C=_LAMS[lam]).fit(kernels[which][train], y[train])
    guessed = svc.predict(kernels[which][test])
    return {"error": 100 * float((guessed != y[test]).mean()), "chosen": float(which)}


def _held_out(gram: NDArray, y: NDArray, lam: float, folds: list[Any]) -> int:
    wrong = 0
    for kept, out in folds:
        svc = SVC(kernel="precomputed", C=lam).fit(gram[np.ix_(kept, kept)], y[kept])
        wrong += int((svc.predict(gram[np.ix_(out, kept)]) != y[out]).sum())
    return wrong


_TABLE_1_PAPER = {
    "heart": ((23.5, 21.4, 20.0), (23.2, 22.7, 20.7), (22.3, 20.2, 19.6)),
    "BCI": ((44.6, 39.0, 34.6), (44.8, 45.4, 36.1), (45.3, 38.4, 32.7)),
    "bupa": ((36.2, 37.9, 36.9), (36.6, 40.7, 37.1), (38.2, 35.4, 35.2)),
    "g241c": ((32.9, 27.1, 24.8), (37.1, 28.4, 29.7), (33.1, 26.4, 23.4)),
    "g241n": ((34.6, 28.3, 25.6), (37.7, 29.9, 25.9), (35.4, 28.4, 22.3)),
    "Australian": ((20.6, 21.7, 15.3), (21.9, 15.6, 14.7), (17.7, 16.4, 15.6)),
    "ionosphere": ((12.5, 8.71, 7.17), (14.9, 9.05, 7.66), (7.58, 7.90, 7.02)),
    "sonar": ((30.9, 22.7, 20.6), (29.4, 22.9, 24.9), (31.6, 24.1, 21.8)),
    "USPS": ((14.9, 12.6, 11.3), (15.3, 12.3, 11.1), (15.4, 12.2, 11.3)),
}
_METHODS = ["SVM", "LapSVM", "InvSVM"]

TABLE_1 = Experiment(
    id="002-table1",
    paper="Paper 002, Table 1",
    title="Few labels and many rows without: derivatives penalised at all rows",
    varies={"data": list(_TABLES), "method": _METHODS, "n_labels": _LABELS},
    quick={"data": ["heart", "ionosphere", "sonar"]},
    run=run_table_1,
    metric="error",
    x="n_labels",
    lines="method",
    seeds={"quick": 3, "full": 10},
    published={
        (data, method, n): value
        for data, rows in _TABLE_1_PAPER.items()
        for method, values in zip(_METHODS, rows, strict=True)
        for n, value in zip(_LABELS, values, strict=True)
    },
    note="Hinge loss and squared penalty, sigma the median distance, every feature brought to zero "
    "mean and unit length (the reading under which the SVM comes near the paper's). Lambda from "
    "0.1 to 10,000, nu from 1e-5 to 0.1, for LapSVM 3, 6 or 12 neighbours and weights from 0.01 to "
    "10,000, chosen on the same folds. The paper's draws are not known; its bupa has 245 rows and "
    "ours 345.",
)


# Figure 2: the transformations of section 6.3, as virtual samples and in functionals.
_PAIRS = ["4v9", "2v3", "6v5", "7v1"]
_GAMMAS = {"InvSVM, tangents": [3e-4, 1e-3, 3e-3]}
_LOSSES = {"InvSVM, tangents": "logistic", "InvSVM, changes": "hinge"}
_CS = [0.1, 0.3, 1.0, 3.0, 10.0, 100.0]


def shifted(X: NDArray, down: int, right: int) -> NDArray:
    """Shift square images by whole pixels; what comes in is zero."""
    side = int(np.sqrt(X.shape[1]))
    padded = np.pad(X.reshape(-1, side, side), ((0, 0), (2, 2), (2, 2)))
    moved = padded[:, 2 - down : 2 - down + side, 2 - right : 2 - right + side]
    return moved.reshape(X.shape)


def digits_family() -> Family:
    """Give shifts by 2 pixels in four directions, turns, scalings and shears: 12 in all."""
    ways = [(2, 0), (-2, 0), (0, 2), (0, -2)]
    shifts = Custom([partial(shifted, down=down, right=right) for down, right in ways])
    return shifts | Rotation(10) | Scaling(1.1) | Shear(0.1) | Shear(0.1, axis=0)


def digits_tangents() -> Family:
    """Give the same transformations as directions: six of them."""
    return Translation(2) | Rotation(10) | Scaling(1.1) | Shear(0.1) | Shear(0.1, axis=0)


@lru_cache(maxsize=1)
def digits() -> tuple[NDArray, NDArray]:
    """Give all images of MNIST."""
    mnist = fetch_mnist()
    X = np.concatenate([mnist.X_train, mnist.X_test])
    return X.astype(float), np.concatenate([mnist.y_train, mnist.y_test])


def run_figure_2(pair: str, method: str, seed: int) -> dict[str, float]:
    """Choose by 5-fold cross-validation, and give the error on all other images of the pair."""
    X, y = digits()
    rng = np.random.RandomState(seed)
    first, second = (rng.permutation(np.flatnonzero(y == int(d))) for d in pair.split("v"))
    train, test = (
        np.concatenate([first[:50], second[:10]]),
        np.concatenate([first[50:], second[10:]]),
    )
    gammas = _GAMMAS.get(method, [6e-3, 1e-2, 1.5e-2])
    choose = _chosen_virtual if method in ("SVM", "VirSVM") else _chosen_invariant
    found = [choose(method, gamma, X[train], y[train], seed) for gamma in gammas]
    model = max(found, key=lambda one: one[0])[1]
    return {"error": 100 * (1 - float(model.fit(X[train], y[train]).score(X[test], y[test])))}


def _chosen_invariant(
    method: str, gamma: float, X: NDArray, y: NDArray, seed: int
) -> tuple[float, Any]:
    tangents = method == "InvSVM, tangents"
    functional = Tangent(digits_tangents()) if tangents else Change(digits_family())
    found = InvSVCCV(
        [functional],
        gamma=gamma,
        loss=_LOSSES[method],
        lams=(3.0, 10.0, 30.0, 100.0),
        nus=(10.0, 100.0, 1000.0) if tangents else (10.0, 100.0),
        class_weight="balanced",
        random_state=seed,
        tol=1e-5,
    ).fit(X, y)
    model = InvSVC(
        [functional],
        gamma=gamma,
        loss=_LOSSES[method],
        lam=found.lam_,
        nu=found.nu_,
        class_weight="balanced",
        tol=1e-5,
    )
    return float(found.scores_.max()), model


def _chosen_virtual(
    method: str, gamma: float, X: NDArray, y: NDArray, seed: int
) -> tuple[float, Any]:
    family = digits_family() if method == "VirSVM" else None
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    search = GridSearchCV(
        VirtualSVC(family, gamma=gamma, class_weight="balanced"),
        {"C": _CS},
        scoring="balanced_accuracy",
        cv=folds,
        refit=False,
    ).fit(X, y)
    chosen = VirtualSVC(family, gamma=gamma, C=search.best_params_["C"], class_weight="balanced")
    return float(search.best_score_), chosen


FIGURE_2 = Experiment(
    id="002-figure2",
    paper="Paper 002, Figure 2",
    title="Pairs of digits with 50 and 10 labels: functionals against virtual samples",
    varies={
        "pair": _PAIRS,
        "method": ["SVM", "VirSVM", "InvSVM, tangents", "InvSVM, changes"],
    },
    quick={"pair": ["4v9", "2v3"]},
    run=run_figure_2,
    metric="error",
    x="pair",
    lines="method",
    seeds={"quick": 2, "full": 20},
    note="Shifts by 2 pixels, turns by 10 degrees, scalings and shears by 0.1: as virtual samples, "
    "as derivatives along them (tangents, the paper's functional), and as changes of f from a row "
    "to its copies. Loss balanced over classes, logistic with tangents as in the paper, hinge with "
    "changes as in the SVMs; squared penalty (the paper's is epsilon-insensitive). Gamma, lambda, "
    "nu and C are chosen by 5-fold cross-validation of the 60 labels; errors are on all other "
    "images of the pair. The paper's figure has no numbers.",
    pictures=lambda: [orbit(digits_tangents(), "shifts, turns, sizes, slants")],
)
