"""Leave-one-group-out predictions, with all copies of a sample in the same fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.parallel import in_threads
from invarlearn.estimators.invariant.budget import Budget
from invarlearn.estimators.invariant.targets import TargetCoding
from invarlearn.kernels.gaussian import lower_rbf_plus_one, median_square
from invarlearn.solvers.ridge import ridge


@dataclass(frozen=True)
class HeldOutPredictions:
    """Predictions of held-out samples with one gamma.

    Attributes
    ----------
    gamma : float
    lams : array of shape (n_lams,)
    errors : array of shape (n_lams,)
        Mean squared error of each lam, over the counted samples.
    predicted : array of shape (n_samples, n_targets)
        Predictions with the best lam.
    counted : array of bool of shape (n_samples,)
        Mask of the samples that count in the errors, see :meth:`TargetCoding.counted`.
    """

    gamma: float
    lams: NDArray[np.float64]
    errors: NDArray[np.float64]
    predicted: NDArray
    counted: NDArray[np.bool_]

    @property
    def error(self) -> float:
        """The lowest error."""
        return float(self.errors.min())

    @property
    def lam(self) -> float:
        """The lam with the lowest error."""
        return float(self.lams[self.errors.argmin()])


@dataclass(frozen=True)
class HoldOut:
    """Settings of held-out predictions.

    Attributes
    ----------
    targets : TargetCoding
    lams : sequence of float
        Values of lam to compare.
    n_copies : int
        Number of copies of each sample in the final solution, itself included. If fewer copies are
        available, each of them gets a larger weight.
    budget : Budget
    """

    targets: TargetCoding
    lams: Sequence[float]
    n_copies: int
    budget: Budget

    def tune(self, copies: NDArray, Y: NDArray, groups: NDArray | None) -> HeldOutPredictions:
        """Return the held-out predictions with the best gamma and lam.

        Time grows with the cube of the number of rows. Therefore gamma is chosen on
        ``budget.gamma_rows`` rows, and lam on all rows.

        Parameters
        ----------
        copies : array of shape (n_copies, n_samples, n_components)
            Compressed augmented samples. The first copies are the samples themselves.
        Y : array of shape (n_samples, n_targets)
        groups : array of shape (n_samples,) or None
        """
        n_available = len(copies)
        min_copies = min(self.budget.min_search_copies, n_available)
        n_copies = int(np.clip(self.budget.gamma_rows // len(Y), min_copies, n_available))
        n = min(len(Y), self.budget.gamma_rows // n_copies)
        subset, Y_subset = copies[:n_copies, :n], Y[:n]
        groups_subset = None if groups is None else groups[:n]
        gammas = np.array(self.budget.gammas) / median_square(copies[0], self.budget.median_rows)
        trials = (self.predict(subset, Y_subset, groups_subset, float(gamma)) for gamma in gammas)
        best = min(trials, key=lambda trial: trial.error)
        if (n_copies, n) == copies.shape[:2]:
            return best
        return self.predict(copies, Y, groups, best.gamma)

    def predict(
        self,
        copies: NDArray,
        Y: NDArray,
        groups: NDArray | None,
        gamma: float,
        lam: float | None = None,
    ) -> HeldOutPredictions:
        """Return the held-out predictions with a given gamma.

        Parameters
        ----------
        copies, Y, groups : arrays
            As in :meth:`tune`.
        gamma : float
        lam : float, optional
            None: the best of ``lams``.
        """
        lams = self.lams if lam is None else (lam,)
        members = group_members(len(Y), groups)
        weight = (self.n_copies - 1) / (len(copies) - 1) if len(copies) > 1 else 1.0
        # the system is ill-conditioned with a small lam
        if min(lams) / weight < self.budget.min_single_lam:
            copies = copies.astype(float)
        predicted = predict_without_groups(
            gamma, copies, Y, members, lams, self.targets.about_mean, weight
        )
        counted = self.targets.counted(Y, members)
        errors = np.array([float(((P - Y)[counted] ** 2).mean()) for P in predicted])
        best = predicted[int(errors.argmin())]
        return HeldOutPredictions(gamma, np.array(lams), errors, best, counted)


def predict_without_groups(
    gamma: float,
    copies: NDArray,
    Y: NDArray,
    members: list[NDArray[np.intp]],
    lams: Sequence[float],
    about_mean: bool,
    weight: float,
) -> NDArray:
    """Predict the samples of each group by kernel ridge regression on all other groups.

    Parameters
    ----------
    gamma : float
    copies : array of shape (n_copies, n_samples, n_components)
    Y : array of shape (n_samples, n_targets)
    members : list of arrays
        The samples of each group.
    lams : sequence of float
    about_mean : bool
        Whether predictions shrink to the mean of the training targets instead of 0.
    weight : float
        Weight of an augmented copy, relative to that of the sample itself.

    Returns
    -------
    array of shape (n_lams, n_samples, n_targets)
    """
    n_copies, n, _ = copies.shape
    rows = np.arange(n_copies * n).reshape(n_copies, n)
    rows_of_groups = [rows[:, group].ravel() for group in members]
    K = lower_rbf_plus_one(copies.reshape(n_copies * n, -1), gamma)
    Y = np.asarray(Y, dtype=float)
    # Predictions f(Y) are linear in the targets. With the mean m of the training fold, predictions
    # that shrink to m are m + f(Y - m) = f(Y) + m (1 - f(1)); the last column is the target 1.
    columns = np.column_stack([Y, np.ones(n)]) if about_mean else Y
    targets = np.tile(columns, (n_copies, 1))
    weights = np.where(np.arange(n_copies * n) < n, 1.0, weight)
    predicted = np.empty((len(lams), *Y.shape), dtype=copies.dtype)

    def predict_for_lam(i: int) -> None:
        held_out = ridge(K, targets, lams[i] / weights).left_out(rows_of_groups)
        for group, values in zip(members, held_out, strict=True):
            # the first rows of a group are the samples themselves
            values = values[: len(group)]
            if about_mean:
                mean = (Y.sum(axis=0) - Y[group].sum(axis=0)) / (n - len(group))
                values = values[:, :-1] + mean * (1 - values[:, -1:])
            predicted[i, group] = values

    in_threads(predict_for_lam, range(len(lams)))
    return predicted


def spread_groups(order: NDArray[np.intp], groups: NDArray | None) -> NDArray[np.intp]:
    """Reorder samples so that the first ones come from all groups, in proportion to their sizes.

    Parameters
    ----------
    order : array of shape (n_samples,)
        A permutation of the samples. The order within each group is preserved.
    groups : array of shape (n_samples,) or None

    Returns
    -------
    array of shape (n_samples,)
    """
    if groups is None:
        return order
    # relative position within the group
    position = np.empty(len(order))
    for rows in group_members(len(order), groups[order]):
        position[rows] = np.arange(len(rows)) / len(rows)
    return order[np.argsort(position, kind="stable")]


def group_members(n: int, groups: NDArray | None) -> list[NDArray[np.intp]]:
    """Return the indices of the samples of each group, among the first n samples.

    Parameters
    ----------
    n : int
    groups : array of shape (n_samples,) or None
        None: each sample is a group.
    """
    if groups is None:
        return list(np.arange(n)[:, None])
    _, numbers = np.unique(groups[:n], return_inverse=True)
    return [np.flatnonzero(numbers == i) for i in range(numbers.max() + 1)]
