"""InvSVC with its two weights chosen by cross-validation over the labelled rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv

from invarlearn.estimators._representer import make_kernel, of_bases, with_unlabeled
from invarlearn.estimators.representer import InvSVC
from invarlearn.functionals import Representers, Value
from invarlearn.functionals.elimination import Elimination
from invarlearn.losses import Squared
from invarlearn.solvers.representer import Problem, Term, small
from invarlearn.transforms._checks import check_generator

Fold = tuple[NDArray, NDArray]


class InvSVCCV(InvSVC):
    """InvSVC with lam and nu chosen by cross-validation.

    Only labelled rows are held out; the functionals are taken at all rows in every fold, as in the
    semi-supervised protocol of paper 002. With a squared penalty they are eliminated once for all
    folds and all lam. Of equally good pairs the smallest nu wins, then the smallest lam.

    Parameters
    ----------
    functionals : Functional or sequence of Functional, optional
        As in :class:`InvSVC`, as are all parameters that are not named here.
    lams, nus : sequences of float
        What to choose from.
    cv : int or splitter, default=5
        Folds of the labelled rows, stratified; fewer if a class has fewer labels.
    random_state : int, RandomState or None
        Of the folds, and of the solver.

    Attributes
    ----------
    lam_, nu_ : float
        The chosen ones.
    scores_ : array of shape (n_nus, n_lams)
        Share of held-out labels that were right; classes count as ``class_weight`` has it.
    coef_, intercept_, representers_, objective_, gap_, classes_, kernel_, solver_, n_iter_
        As in :class:`InvSVC`, fitted to all labels with the chosen pair.

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
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 2000,
        degree: int = 3,
        coef0: float = 1.0,
        random_state: Any = None,
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

    warm_start = False

    def fit(self, X: ArrayLike, y: ArrayLike, X_unlabeled: ArrayLike | None = None) -> InvSVCCV:
        """Choose lam and nu, and fit to all labelled rows with them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes; -1 marks a row without a label, as in :meth:`InvSVC.fit`.
        X_unlabeled : array-like of shape (m, n_features), optional
        """
        X, y, labelled = self._check(X, y)
        rows = with_unlabeled(self, X, X_unlabeled)
        lams, nus = (np.sort(np.atleast_1d(np.asarray(v, float))) for v in (self.lams, self.nus))
        if lams.ndim != 1 or nus.ndim != 1 or not (lams.size and nus.size and (lams > 0).all()):
            raise ValueError(f"lams={self.lams!r} and nus={self.nus!r} must be lists of numbers")
        if (nus < 0).any():
            raise ValueError(f"nus={self.nus!r}: none may be negative")
        folds = self._folds(y[labelled])
        if self._eliminates(rows, labelled, nus):
            right = self._eliminated(rows, labelled, y[labelled], folds, lams, nus)
        else:
            right = self._refitted(rows, labelled, y[labelled], folds, lams, nus)
        self.scores_ = right / self._coded(y[labelled])[1].sum()
        best = np.unravel_index(right.argmax(), right.shape)
        self.nu_, self.lam_ = float(nus[best[0]]), float(lams[best[1]])
        self._fit(rows, labelled, *self._coded(y[labelled]), self._loss(), self.lam_, self.nu_)
        self._warn_if_constant(X[labelled])
        return self

    def _folds(self, y: NDArray) -> list[Fold]:
        if not isinstance(self.cv, (int, np.integer)):
            return list(check_cv(self.cv, y, classifier=True).split(np.zeros((len(y), 1)), y))
        fewest = int(np.unique(y, return_counts=True)[1].min())
        if fewest < 2 or self.cv < 2:
            raise ValueError(
                f"cross-validation needs two labels of each class, and cv={self.cv} to be two or "
                f"more; the rarest class has {fewest} label(s): add labels, or use InvSVC"
            )
        rng = check_generator(self.random_state)
        folds = StratifiedKFold(min(self.cv, fewest), shuffle=True, random_state=rng)
        return list(folds.split(np.zeros((len(y), 1)), y))

    def _eliminates(self, X: NDArray, labelled: NDArray, nus: NDArray) -> bool:
        """Tell whether functionals can be eliminated, and refuse a solver that cannot."""
        can = isinstance(self._penalty(), Squared)
        if can and nus.any():
            kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0, X)
            values = Representers(kernel, [Value()], X[labelled])
            both = values.joined(Representers(kernel, self._functionals(), X))
            can = not self._of_bases(both, len(labelled))[len(labelled) :].any()
        self._choose(1, len(X), can, self._loss())
        return can and self.solver in ("auto", "eliminate")

    def _right(self, guessed: NDArray, y: NDArray, test: NDArray) -> float:
        """Give the weight of the held-out labels that are right."""
        return float(self._coded(y)[1][test][guessed == y[test]].sum())

    def _eliminated(
        self,
        X: NDArray,
        labelled: NDArray,
        y: NDArray,
        folds: list[Fold],
        lams: NDArray,
        nus: NDArray,
    ) -> NDArray:
        """Count held-out labels that are right, with kernels that have the functionals in them."""
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0, X)
        rows = X[labelled]
        z = Representers(kernel, self._functionals() if nus.any() else [], X)
        elimination = Elimination(z, min(1e-6, self.tol))
        grams = elimination.kernels(rows, rows, nus.tolist())
        grams = (grams + grams.transpose(0, 2, 1)) / 2
        basis = of_bases(Representers(kernel, [Value()], rows), self._all_bases())
        sizes = np.sqrt((basis**2).mean(axis=0))
        basis /= np.where(sizes > 0, sizes, 1.0)
        right = np.zeros((len(nus), len(lams)))
        for i, gram in enumerate(grams):
            for j, lam in enumerate(lams):
                for train, test in folds:
                    values = self._held_out(gram, basis, y, lam, train, test)
                    right[i, j] += self._right(self._class_of(values), y, test)
        return right

    def _held_out(
        self, gram: NDArray, basis: NDArray, y: NDArray, lam: float, train: NDArray, test: NDArray
    ) -> NDArray:
        """Give the functions of a fold at its held-out rows: (n, n_functions)."""
        targets, weights = self._coded(y[train])
        own, between = gram[np.ix_(train, train)], gram[np.ix_(test, train)]
        columns = []
        for target in targets.T:
            term = Term(slice(0, len(train)), self._loss(), target, lam * weights)
            problem = Problem.dense(own, basis[train], [term])
            # labels that are held out are few: no need for many digits
            found = small(problem, max(self.tol, 1e-5), self.max_iter)
            columns.append(between @ found.c + basis[test] @ found.w)
        return np.column_stack(columns)

    def _refitted(
        self,
        X: NDArray,
        labelled: NDArray,
        y: NDArray,
        folds: list[Fold],
        lams: NDArray,
        nus: NDArray,
    ) -> NDArray:
        """Count held-out labels that are right, with a fit for each pair, along paths of lam."""
        right = np.zeros((len(nus), len(lams)))
        for i, nu in enumerate(nus):
            for train, test in folds:
                for j, fitted in enumerate(self._path(X, labelled[train], y[train], lams, nu)):
                    guessed = fitted._class_of(fitted._functions(X[labelled[test]]))
                    right[i, j] += self._right(guessed, y, test)
        return right

    def _path(
        self, X: NDArray, rows: NDArray, y: NDArray, lams: NDArray, nu: float
    ) -> Iterator[InvSVC]:
        shared = {name: value for name, value in self.get_params(deep=False).items()}
        for name in ("lams", "nus", "cv"):
            del shared[name]
        one = InvSVC(**shared, nu=nu, warm_start=True)
        one = clone(one)
        one.classes_, one.n_features_in_ = self.classes_, X.shape[1]
        for lam in lams:
            one._fit(X, rows, *one._coded(y), one._loss(), lam, nu)
            yield one
