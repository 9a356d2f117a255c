"""Laplacian SVM: InvSVC with the Laplacian of a neighbour graph."""

from __future__ import annotations

from typing import Any

from invarlearn.estimators.representer import InvSVC
from invarlearn.functionals import Functional, Laplacian


class LaplacianSVC(InvSVC):
    """Laplacian SVM: functions that change little along the edges of a neighbour graph.

    Minimises ``|f|^2 / 2 + lam * sum of losses at labels + nu * f' L f`` with the normalised
    Laplacian L of a neighbour graph of all rows. Rows with the label -1 have no label.

    Parameters
    ----------
    n_neighbors : int, default=6
    weights : {"heat", "binary"}, default="heat"
        As in :class:`~invarlearn.functionals.Laplacian`, as are ``normalize`` and ``power``.
    lam : float, default=1.0
        As C in SVC.
    nu : float, default=1.0
    kernel, gamma, loss, class_weight, tol, max_iter, degree, coef0
        As in :class:`InvSVC`.
    normalize : bool, default=True
    power : int, default=1

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

    # the constant stays out of f' L f, as it does where Laplacian SVMs come from
    _penalises_basis = False
    penalty = "squared"
    epsilon = 0.1
    smoothing = 0.0
    fit_intercept = True
    basis = None
    solver = "auto"
    warm_start = False
    random_state = None

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

    def _functionals(self) -> list[Functional]:
        return [Laplacian(self.n_neighbors, self.weights, self.normalize, self.power)]
