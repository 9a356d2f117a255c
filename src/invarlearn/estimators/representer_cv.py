"""InvSVC with lam and nu chosen by cross-validation over the labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedKFold, check_cv

from invarlearn._utils.progress import ProgressClock, progress_callback
from invarlearn._utils.validation import check_generator
from invarlearn.estimators._multiclass import winning_classes
from invarlearn.estimators._representer import (
    Objective,
    SolverSettings,
    fit_expansion,
    objective_of,
    of_bases,
    pose_problems,
    settings_of,
    with_unlabeled,
)
from invarlearn.estimators._representer_classifier import (
    PartialLabels,
    RepresenterClassifier,
    check_labels,
)
from invarlearn.functionals import Representers, Value
from invarlearn.functionals.elimination import Elimination
from invarlearn.losses import CLASSIFICATION_LOSSES, make_loss
from invarlearn.solvers import RepresenterProblem, Solver
from invarlearn.solvers.representer import Term

Fold = tuple[NDArray, NDArray]


class InvSVCCV(RepresenterClassifier):
    """InvSVC with lam and nu chosen by cross-validation.

    Only labelled rows are held out. The functionals are taken at all rows in every fold, as in the
    semi-supervised protocol of Zhang et al. (2013). With a squared penalty, the functionals are
    eliminated once for all folds and all values of lam. Among pairs with the same score, the
    smallest nu is chosen, and then the smallest lam.

    Parameters
    ----------
    functionals : Functional or sequence of Functional, optional
        As in :class:`InvSVC`, like all parameters that are not listed here.
    lams, nus : sequences of float
        The grid.
    cv : int or splitter, default=5
        Number of stratified folds of the labelled rows; fewer if a class has fewer labels.
    random_state : int, RandomState or None
        Seed of the folds and of the solver.

    Attributes
    ----------
    lam_, nu_ : float
        The chosen values.
    scores_ : array of shape (n_nus, n_lams)
        Held-out accuracy, weighted by ``class_weight``.
    coef_, intercept_, representers_, objective_, gap_, classes_, kernel_, solver_, n_iter_
        As in :class:`InvSVC`, fitted to all labels with the chosen lam and nu.

    Examples
    --------
    >>> from invarlearn import InvSVCCV
    >>> from invarlearn.datasets import make_two_moons
    >>> moons = make_two_moons(n_labeled=20, random_state=0)
    >>> svc = InvSVCCV(gamma=8.0, random_state=0).fit(moons.X, moons.y_partial)
    >>> svc.scores_.shape
    (5, 5)
    """

    def __init__(
        self,
        functionals: Any = None,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        loss: str = "logistic",
        penalty: str = "squared",
        lams: Sequence[float] = (0.1, 1.0, 10.0, 100.0, 1000.0),
        nus: Sequence[float] = (1e-4, 1e-3, 1e-2, 1e-1, 1.0),
        cv: Any = 5,
        epsilon: float = 0.1,
        smoothing: float = 0.0,
        fit_intercept: bool = True,
        basis: Any = None,
        class_weight: Any = None,
        solver: str | Solver = "auto",
        tol: float = 1e-6,
        max_iter: int = 2000,
        degree: int = 3,
        coef0: float = 1.0,
        random_state: Any = None,
        verbose: Any = False,
    ):
        self.functionals = functionals
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.penalty = penalty
        self.lams = lams
        self.nus = nus
        self.cv = cv
        self.epsilon = epsilon
        self.smoothing = smoothing
        self.fit_intercept = fit_intercept
        self.basis = basis
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.degree = degree
        self.coef0 = coef0
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, X_unlabeled: ArrayLike | None = None) -> InvSVCCV:
        """Choose lam and nu, and fit to all labelled rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes; -1 marks an unlabelled row, as in :meth:`InvSVC.fit`.
        X_unlabeled : array-like of shape (m, n_features), optional
            Further unlabelled rows.
        """
        X, labels = check_labels(self, X, y)
        rows = with_unlabeled(self, X, X_unlabeled)
        lams, nus = _check_grid(self.lams, self.nus)
        loss = make_loss(self.loss, CLASSIFICATION_LOSSES, "loss", self.smoothing, self.epsilon)
        objective = objective_of(self, rows, loss, 1.0, float(nus.max()))
        folds = _stratified_folds(self.cv, labels.y, self.random_state)
        settings = settings_of(self)
        search = GridSearch(objective, rows, labels, self.class_weight, settings, lams, nus)
        progress = progress_callback(self.verbose)
        correct = search.by_elimination(folds, progress) if search.eliminates() else None
        if correct is None:
            correct = search.by_refitting(folds, progress)
        best = np.unravel_index(correct.argmax(), correct.shape)
        chosen = replace(objective, nu=float(nus[best[0]]), lam=float(lams[best[1]]))
        fitted = fit_expansion(chosen, rows, labels.targets(self.class_weight), settings)
        self.scores_ = correct / labels.weights(self.class_weight).sum()
        self.nu_, self.lam_ = chosen.nu, chosen.lam
        self._publish(chosen, fitted)
        self._publish_classes(labels.classes, X[labels.labelled])
        return self


def _check_grid(lams: Any, nus: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the values of lam and of nu, each in increasing order."""
    grid = [np.sort(np.atleast_1d(np.asarray(values, float))) for values in (lams, nus)]
    if any(values.ndim != 1 or not values.size for values in grid) or not (grid[0] > 0).all():
        raise ValueError(f"lams={lams!r} and nus={nus!r} must be lists of numbers, lams above 0")
    if (grid[1] < 0).any():
        raise ValueError(f"nus={nus!r} must not contain negative numbers")
    return grid[0], grid[1]


def _stratified_folds(cv: Any, y: NDArray, random_state: Any) -> list[Fold]:
    """Return the folds of labels y, (n_labelled,), not more than labels of the rarest class."""
    if not isinstance(cv, (int, np.integer)):
        return list(check_cv(cv, y, classifier=True).split(np.zeros((len(y), 1)), y))
    fewest = int(np.unique(y, return_counts=True)[1].min())
    if fewest < 2 or cv < 2:
        raise ValueError(
            f"cross-validation needs two labels of each class and cv >= 2; the rarest class has "
            f"{fewest} label(s), and cv={cv}: add labels, raise cv, or use InvSVC"
        )
    rng = check_generator(random_state)
    folds = StratifiedKFold(min(cv, fewest), shuffle=True, random_state=rng)
    return list(folds.split(np.zeros((len(y), 1)), y))


@dataclass(frozen=True)
class GridSearch:
    """Cross-validation of all pairs of lam and nu.

    Attributes
    ----------
    objective : Objective
        The objective with any lam, and with the largest nu.
    rows : array of shape (n_samples, n_features)
        All rows, at which functionals are taken in every fold.
    labels : PartialLabels
    class_weight : dict, "balanced" or None
    settings : SolverSettings
    lams, nus : arrays of shape (n_lams,) and (n_nus,)
    """

    objective: Objective
    rows: NDArray
    labels: PartialLabels
    class_weight: Any
    settings: SolverSettings
    lams: NDArray[np.float64]
    nus: NDArray[np.float64]

    def eliminates(self) -> bool:
        """Return whether functionals can be eliminated; raise ValueError for unusable solvers."""
        targets = self.labels.targets(self.class_weight)
        problem = pose_problems(self.objective, self.rows, targets)[0][0]
        solver = self.settings.solver
        solver.choose(problem).check(problem)
        eliminator = solver.eliminator()
        return eliminator is not None and not eliminator.missing(problem)

    def by_elimination(self, folds: list[Fold], progress: Any) -> NDArray[np.float64]:
        """Return the weight of correct held-out labels, with eliminated functionals.

        The functionals are eliminated once for all folds and all values of lam.

        Parameters
        ----------
        folds : list of (train, test)
            Indices of labels.
        progress : callable or None

        Returns
        -------
        array of shape (n_nus, n_lams)
        """
        objective, tol = self.objective, self.settings.tol
        rows = self.rows[self.labels.labelled]
        functionals = objective.functionals if self.nus.any() else []
        z = Representers(objective.kernel, functionals, self.rows)
        max_factored = self.settings.solver.eliminator().max_factored
        elimination = Elimination(z, min(1e-6, tol), max_factored=max_factored)
        grams = elimination.kernels(rows, rows, self.nus.tolist())
        grams = (grams + grams.transpose(0, 2, 1)) / 2
        values = Representers(objective.kernel, [Value()], rows)
        basis = of_bases(values, objective.all_bases)
        sizes = np.sqrt((basis**2).mean(axis=0))
        basis /= np.where(sizes > 0, sizes, 1.0)
        correct = np.zeros((len(self.nus), len(self.lams)))
        clock = ProgressClock(correct.size, 0, progress)
        for i, gram in enumerate(grams):
            for j, lam in enumerate(self.lams):
                for train, test in folds:
                    scores = self._held_out_scores(gram, basis, lam, train, test)
                    correct[i, j] += self._correct(scores, test)
                clock.tick()
        return correct

    def _held_out_scores(
        self, gram: NDArray, basis: NDArray, lam: float, train: NDArray, test: NDArray
    ) -> NDArray[np.float64]:
        """Return the functions of a fold at its held-out rows: (n_test, n_functions).

        Parameters
        ----------
        gram : array of shape (n_labelled, n_labelled)
        basis : array of shape (n_labelled, n_basis)
        lam : float
        train, test : arrays of int
            Indices of labels.
        """
        targets = self.labels.subset(train).targets(self.class_weight)
        own, between = gram[np.ix_(train, train)], gram[np.ix_(test, train)]
        # a low tolerance is enough for predictions of labels
        tol = max(self.settings.tol, 1e-5)
        columns, solver = [], self.settings.solver.eliminator().inner
        for target in targets.values.T:
            term = Term(slice(0, len(train)), self.objective.loss, target, lam * targets.weights)
            problem = RepresenterProblem.dense(own, basis[train], [term])
            solution = solver.solve(problem, tol, self.settings.max_iter)
            columns.append(between @ solution.coef + basis[test] @ solution.offset)
        return np.column_stack(columns)

    def by_refitting(self, folds: list[Fold], progress: Any) -> NDArray[np.float64]:
        """Return the weight of correct held-out labels, with a fit for each lam, nu and fold.

        Fits of increasing lam start from the solution for the previous lam. Parameters and result
        are those of :meth:`by_elimination`.
        """
        correct = np.zeros((len(self.nus), len(self.lams)))
        clock = ProgressClock(len(self.nus) * len(folds), 0, progress)
        settings = replace(self.settings, progress=None)
        for i, nu in enumerate(self.nus):
            for train, test in folds:
                labels, start = self.labels.subset(train), None
                targets = labels.targets(self.class_weight)
                for j, lam in enumerate(self.lams):
                    objective = replace(self.objective, nu=float(nu), lam=float(lam))
                    fitted = fit_expansion(objective, self.rows, targets, settings, start)
                    start = fitted.coef, fitted.offsets
                    held_out = self.rows[self.labels.labelled[test]]
                    correct[i, j] += self._correct(fitted.at(objective, held_out), test)
                clock.tick()
        return correct

    def _correct(self, scores: NDArray, test: NDArray) -> float:
        """Return the weight of the held-out labels that are predicted correctly."""
        is_correct = self.labels.classes[winning_classes(scores)] == self.labels.y[test]
        return float(self.labels.weights(self.class_weight)[test][is_correct].sum())
