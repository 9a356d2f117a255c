"""InvSVCCV: folds, scores and errors of cross-validation."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from invarlearn import InvSVC, InvSVCCV
from invarlearn.datasets import make_two_moons
from invarlearn.functionals import (
    Coordinates,
    Laplacian,
)
from invarlearn.solvers import Auto, Eliminate, Newton, RepresenterProblem, Solver


def test_only_labels_are_held_out():
    moons = make_two_moons(80, 20, random_state=2)
    lams, nus = (1.0, 100.0), (0.001, 0.1)
    model = InvSVCCV(gamma=4.0, lams=lams, nus=nus, random_state=0).fit(moons.X, moons.y_partial)
    labelled = np.flatnonzero(moons.y_partial >= 0)
    y = moons.y_partial[labelled]
    scores = np.zeros((2, 2))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for train, test in folds.split(np.zeros((len(y), 1)), y):
        partial = np.full(80, -1)
        partial[labelled[train]] = y[train]
        for i, nu in enumerate(nus):
            for j, lam in enumerate(lams):
                fitted = InvSVC(gamma=4.0, lam=lam, nu=nu).fit(moons.X, partial)
                scores[i, j] += (fitted.predict(moons.X[labelled[test]]) == y[test]).sum()
    np.testing.assert_allclose(model.scores_, scores / len(labelled))
    whole = InvSVC(gamma=4.0, lam=model.lam_, nu=model.nu_).fit(moons.X, moons.y_partial)
    np.testing.assert_allclose(
        model.decision_function(moons.X), whole.decision_function(moons.X), atol=1e-4
    )
    # without elimination, along a path of warm starts
    path = InvSVCCV(gamma=4.0, lams=lams, nus=nus, random_state=0, solver="newton")
    path.fit(moons.X, moons.y_partial)
    np.testing.assert_allclose(path.scores_, model.scores_, atol=1e-9)


@dataclass(frozen=True)
class Recorded(Solver[RepresenterProblem]):
    """Newton's method, which records the sizes of the problems."""

    name: ClassVar[str] = "recorded"
    solves: ClassVar[type] = RepresenterProblem

    sizes: list = field(default_factory=list)

    def run(self, problem, run):
        self.sizes.append(len(problem))
        return Newton().run(problem, run)


@dataclass(frozen=True)
class Renamed(Auto):
    name: ClassVar[str] = "renamed"


def test_folds_use_the_settings_of_the_solver_that_eliminates():
    moons = make_two_moons(60, 20, random_state=2)
    options = {"gamma": 4.0, "lams": (1.0, 100.0), "nus": (0.01,), "cv": 2, "random_state": 0}
    auto = InvSVCCV(**options).fit(moons.X, moons.y_partial)
    # the inner solver sees the labelled rows of each fold, in place of all functionals
    inner = Recorded()
    solver = Eliminate(inner, max_factored=10)
    given = InvSVCCV(**options, solver=solver).fit(moons.X, moons.y_partial)
    assert inner.sizes[:4] == [10] * 4
    np.testing.assert_allclose(given.scores_, auto.scores_)
    atol = 1e-4
    Z = moons.X[:9]
    np.testing.assert_allclose(given.decision_function(Z), auto.decision_function(Z), atol=atol)
    # a solver is known by what it does, not by its name
    renamed = InvSVCCV(**options, solver=Renamed()).fit(moons.X, moons.y_partial)
    np.testing.assert_array_equal(renamed.decision_function(Z), auto.decision_function(Z))
    refitted = InvSVCCV(**options, solver=Recorded()).fit(moons.X, moons.y_partial)
    assert refitted.solver.sizes[0] == 10 + 2 * 60


def test_bad_input_gets_clear_errors():
    moons = make_two_moons(40, 2, random_state=2)
    with pytest.raises(ValueError, match="two labels of each class"):
        InvSVCCV().fit(moons.X, moons.y_partial)
    moons = make_two_moons(40, 8, random_state=2)
    with pytest.raises(ValueError, match="lists of numbers"):
        InvSVCCV(lams=()).fit(moons.X, moons.y_partial)
    with pytest.raises(ValueError, match="negative"):
        InvSVCCV(nus=(-1.0,)).fit(moons.X, moons.y_partial)


def test_every_pair_is_fitted_if_functionals_cannot_be_eliminated():
    """Functionals that do not vanish at basis functions cannot be eliminated."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((60, 2))
    y = np.where(np.arange(60) < 30, (X[:, 0] + 0.5 * rng.standard_normal(60) > 0).astype(int), -1)
    options = {"gamma": 1.0, "lams": (0.1, 10.0), "nus": (0.1, 10.0), "random_state": 0}
    for extra in ({"basis": [Coordinates()]}, {"functionals": [Laplacian(4)]}):
        auto = InvSVCCV(**options, **extra).fit(X, y)
        direct = InvSVCCV(**options, **extra, solver="newton").fit(X, y)
        np.testing.assert_allclose(auto.scores_, direct.scores_)
    with pytest.raises(ValueError, match=r"requires basis.*: choose one of auto, lbfgs"):
        InvSVCCV(**options, basis=[Coordinates()], solver="eliminate").fit(X, y)
    plain = InvSVC(Laplacian(4, normalize=False), nu=0.1, solver="eliminate").fit(X, y)
    assert plain.solver_ == "eliminate"


def test_the_global_random_state_does_not_change():
    moons = make_two_moons(40, 8, random_state=2)
    before = np.random.get_state()[1].copy()
    InvSVCCV(gamma=4.0).fit(moons.X, moons.y_partial)
    np.testing.assert_array_equal(np.random.get_state()[1], before)
