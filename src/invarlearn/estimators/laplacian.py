"""Laplacian SVM: the graph Laplacian as a penalised functional."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from invarlearn._utils.progress import progress_callback
from invarlearn.estimators._representer import (
    Objective,
    SolverSettings,
    fit_expansion,
    with_unlabeled,
)
from invarlearn.estimators._representer_classifier import RepresenterClassifier, check_labels
from invarlearn.functionals import Laplacian
from invarlearn.kernels import resolve_kernel
from invarlearn.losses import CLASSIFICATION_LOSSES, Squared, make_loss
from invarlearn.solvers import RepresenterProblem, resolve_solver


class LaplacianSVC(RepresenterClassifier):
    """Laplacian SVM: a semi-supervised classifier that penalises changes between neighbours.

    The objective is ``|f|^2 / 2 + lam * sum of losses at labels + nu * f' L f`` with the Laplacian
    L of the graph of nearest neighbours of all rows. The label -1 marks unlabelled rows.

    Parameters
    ----------
    n_neighbors : int, default=6
        Number of nearest neighbours that each row is joined with.
    weights : {"heat", "binary"}, default="heat"
        Weights of the edges, as in :class:`~invarlearn.functionals.Laplacian`.
    lam : float, default=1.0
        Weight of the losses, as C in SVC.
    nu : float, default=1.0
        Weight of the penalty.
    kernel, gamma, loss, class_weight, tol, max_iter, degree, coef0, verbose
        As in :class:`InvSVC`.
    normalize : bool, default=True
        Whether to normalise the Laplacian.
    power : int, default=1
        Power of the Laplacian.

    Attributes
    ----------
    coef_, intercept_, representers_, objective_, gap_, classes_, kernel_, n_iter_, n_features_in_
        As in :class:`InvSVC`.

    References
    ----------
    Belkin, Niyogi and Sindhwani, Manifold regularization (2006); Melacci and Belkin, Laplacian
    support vector machines trained in the primal (2011).

    Examples
    --------
    >>> from invarlearn import LaplacianSVC
    >>> from invarlearn.datasets import make_two_moons
    >>> moons = make_two_moons(noise=0.05, random_state=0)
    >>> svc = LaplacianSVC(gamma=8.0, nu=1e4).fit(moons.X, moons.y_partial)
    >>> float((svc.predict(moons.X) == moons.y).mean())
    1.0
    """

    def __init__(
        self,
        n_neighbors: int = 6,
        weights: str = "heat",
        lam: float = 1.0,
        nu: float = 1.0,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        loss: str = "hinge",
        class_weight: Any = None,
        tol: float = 1e-6,
        max_iter: int = 2000,
        degree: int = 3,
        coef0: float = 1.0,
        normalize: bool = True,
        power: int = 1,
        verbose: Any = False,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.lam = lam
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.degree = degree
        self.coef0 = coef0
        self.normalize = normalize
        self.power = power
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, X_unlabeled: ArrayLike | None = None) -> LaplacianSVC:
        """Fit to the labelled rows, with the neighbour graph of all rows.

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
        objective = Objective(
            resolve_kernel(
                self.kernel, rows, gamma=self.gamma, degree=self.degree, coef0=self.coef0
            ),
            [Laplacian(self.n_neighbors, self.weights, self.normalize, self.power)],
            bases=[],
            intercept=True,
            loss=make_loss(self.loss, CLASSIFICATION_LOSSES, "loss"),
            penalty=Squared(),
            lam=self.lam,
            nu=self.nu,
            # the intercept is not part of f' L f, as in the references
            penalises_basis=False,
        )
        settings = SolverSettings(
            resolve_solver("auto", RepresenterProblem),
            self.tol,
            self.max_iter,
            np.random.RandomState(0),
            progress_callback(self.verbose),
        )
        fitted = fit_expansion(objective, rows, labels.targets(self.class_weight), settings)
        self._publish(objective, fitted)
        self._publish_classes(labels.classes, X[labels.labelled])
        return self
