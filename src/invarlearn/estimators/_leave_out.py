"""Predict samples that are left out, with all their copies, or with all of their group."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from invarlearn.kernels._gaussian import lower_similarity, median_square
from invarlearn.solvers.groups import ridge
from invarlearn.transforms._threads import in_threads

# Gamma is chosen with so many virtual samples, and copies of each at least, from these, which are
# divided by the median squared distance of samples.
GAMMA_ROWS, CHOICE_COPIES = 900, 3
GAMMAS = (0.25, 0.5, 1.0, 2.0, 4.0)
# Below, single precision errs too much.
SINGLE_LAM = 3e-4

# Says which samples count where things are chosen, if parts are left out in turn.
Counted = Callable[[NDArray, list[NDArray]], NDArray[np.bool_]]


class LeftOut:
    """What was predicted of samples that were left out, for one gamma and every lam."""

    def __init__(
        self, gamma: float, lams: NDArray, predicted: NDArray, Y: NDArray, counted: NDArray
    ):
        self.gamma = gamma
        self.lams = lams
        self.counted = counted
        self.errors = np.array([float(((P - Y)[counted] ** 2).mean()) for P in predicted])
        self.error = float(self.errors.min())
        self.lam = float(lams[self.errors.argmin()])
        self.predicted = predicted[int(self.errors.argmin())]


def left_out(
    F: NDArray,
    Y: NDArray,
    groups: NDArray | None,
    lams: Sequence[float],
    counted: Counted,
    about_mean: bool,
    n_copies: int,
    gamma: float | None = None,
) -> LeftOut:
    """Predict samples, each without its group and all copies, with the best gamma and lam.

    F has shape (copies, samples, numbers), the samples themselves first; the others stand for all
    copies of a sample that there will be, ``n_copies`` with itself. A gamma that is given is taken.
    Predictions about the mean are so about that of the targets that are not left out.
    """
    copies = len(F)
    gammas = np.array(GAMMAS) / median_square(F[0])
    # time grows with the cube of the rows: all pairs are tried on some of them
    fewest = min(CHOICE_COPIES, copies)
    few = int(np.clip(GAMMA_ROWS // len(Y), fewest, copies))
    n = min(len(Y), GAMMA_ROWS // few)

    def tried(gamma: float, F: NDArray, Y: NDArray) -> LeftOut:
        parts = _members(len(Y), groups)
        weight = (n_copies - 1) / (len(F) - 1) if len(F) > 1 else 1.0
        found = _predicted(gamma, F, Y, parts, lams, about_mean, weight)
        return LeftOut(float(gamma), np.array(lams), found, Y, counted(Y, parts))

    if gamma is not None:
        return tried(gamma, F, Y)
    best = min((tried(gamma, F[:few, :n], Y[:n]) for gamma in gammas), key=lambda one: one.error)
    return best if (few, n) == F.shape[:2] else tried(best.gamma, F, Y)


def _predicted(
    gamma: float,
    F: NDArray,
    Y: NDArray,
    parts: list[NDArray],
    lams: Sequence[float],
    about_mean: bool,
    weight: float,
) -> NDArray:
    """Predict samples, each part without itself and its copies: (lams, samples, targets).

    A copy counts so much, and a sample itself once.
    """
    copies, n, _ = F.shape
    rows = np.arange(copies * n).reshape(copies, n)
    groups = [rows[:, part].ravel() for part in parts]
    if min(lams) / weight < SINGLE_LAM:
        F = F.astype(float)
    K = lower_similarity(F.reshape(copies * n, -1), gamma)
    Y = np.asarray(Y, dtype=float)
    # a constant as well: where the mean of others is another, predictions follow
    known = np.column_stack([Y, np.ones(n)]) if about_mean else Y
    targets = np.tile(known, (copies, 1))
    weights = np.where(np.arange(copies * n) < n, 1.0, weight)
    found = np.empty((len(lams), *Y.shape), dtype=F.dtype)

    def leave_out(i: int) -> None:
        left = ridge(K, targets, lams[i] / weights).left_out(groups)
        for part, predicted in zip(parts, left, strict=True):
            predicted = predicted[: len(part)]
            if about_mean:
                mean = (Y.sum(axis=0) - Y[part].sum(axis=0)) / (n - len(part))
                predicted = predicted[:, :-1] + mean * (1 - predicted[:, -1:])
            found[i, part] = predicted

    in_threads(leave_out, range(len(lams)))
    return found


def evenly(order: NDArray[np.intp], groups: NDArray | None) -> NDArray[np.intp]:
    """Change an order so that its first samples are of all groups, and then as many of each."""
    if groups is None:
        return order
    numbers = np.unique(groups[order], return_inverse=True)[1]
    share = np.empty(len(order))
    for members in _members(len(order), numbers):
        share[members] = np.arange(len(members)) / len(members)
    return order[np.argsort(share, kind="stable")]


def _members(n: int, groups: NDArray | None) -> list[NDArray[np.intp]]:
    """Give which of the first n samples are of each group; of its own if nothing is said."""
    if groups is None:
        return list(np.arange(n)[:, None])
    _, numbers = np.unique(groups[:n], return_inverse=True)
    return [np.flatnonzero(numbers == i) for i in range(numbers.max() + 1)]
