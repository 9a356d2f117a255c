"""The four routes as estimators with settings that do for most data, and a choice among them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler

from invarlearn._progress import Clock, Progress
from invarlearn.estimators._groups import fitted, stratified_splits
from invarlearn.estimators.invariant import InvariantClassifier
from invarlearn.estimators.orbit import OrbitSVC
from invarlearn.estimators.representer_cv import InvSVCCV
from invarlearn.estimators.rls import RLSClassifier
from invarlearn.estimators.worst_case import WorstCaseSVC
from invarlearn.estimators.worst_case_linear import WorstCaseLinearSVC
from invarlearn.features.defaults import has_edges
from invarlearn.features.invariant import InvariantFeatures
from invarlearn.features.oriented import OrientedGradients
from invarlearn.functionals import Change
from invarlearn.transforms import Family, Identity, Sampled, Translation
from invarlearn.transforms._threads import one_thread_of_blas
from invarlearn.transforms.combine import Combination

# Orbits are listed up to this many elements; of larger families random ones stand for them.
MOST_ELEMENTS = 256
# Where several routes are compared, those that solve for every copy at once are left out if there
# are more samples than this.
MOST_SAMPLES = 1000


def invariant_route(family: Family, n_features: int, seed: int) -> Any:
    """Give the estimator to begin with: features and copies of the samples."""
    return InvariantClassifier(family, random_state=seed)


def features_route(family: Family, n_features: int, seed: int) -> Any:
    """Give invariant features and least squares; of images also features of their gradients."""
    _check_not_bag(family)
    size = family._size(n_features)
    few = None if size <= MOST_ELEMENTS else MOST_ELEMENTS
    own = InvariantFeatures(
        family, 300, 12, n_elements=few, normalize=has_edges(family, n_features), random_state=seed
    )
    if not has_edges(family, n_features):
        return make_pipeline(*_scaled(family), own, StandardScaler(), RLSClassifier())
    gradients = OrientedGradients(shape=family.resolve_shape(n_features))
    maps = gradients.fit(np.zeros((1, n_features), dtype=np.float32)).shape_
    moved = InvariantFeatures(Translation(2, shape=maps), 400, 12, random_state=seed)
    return make_pipeline(make_union(own, make_pipeline(gradients, moved)), RLSClassifier())


def kernel_route(family: Family, n_features: int, seed: int) -> Any:
    """Give an SVM on the best fit; of images, of their gradients."""
    if not has_edges(family, n_features):
        return make_pipeline(*_scaled(family), OrbitSVC(_listed(family, n_features, seed)))
    gradients = OrientedGradients(shape=family.resolve_shape(n_features))
    return OrbitSVC(_listed(family, n_features, seed), features=gradients)


def functionals_route(family: Family, n_features: int, seed: int) -> Any:
    """Give least squares whose function changes little along each transformation."""
    grid: dict[str, Any] = {"lams": (10.0, 100.0), "nus": (10.0, 100.0)}
    change = Change(_one_at_a_time(family, n_features, seed))
    return InvSVCCV(change, gamma="median", loss="squared", cv=3, random_state=seed, **grid)


def worst_case_route(family: Family, n_features: int, seed: int) -> Any:
    """Give an SVM against the worst transformation of each sample."""
    if family.domain == "bag":
        return WorstCaseLinearSVC(family, random_state=seed)
    one = _one_at_a_time(family, n_features, seed)
    return WorstCaseSVC(one, gamma="median", C=30.0, tol=0.03, random_state=seed)


# One line registers a route; the one to begin with comes first.
ROUTES: dict[str, Callable[[Family, int, int], Any]] = {
    "invariant": invariant_route,
    "features": features_route,
    "kernel": kernel_route,
    "functionals": functionals_route,
    "worst-case": worst_case_route,
}


@dataclass(frozen=True)
class RouteScore:
    """How a route did at samples left out.

    Attributes
    ----------
    route : str
    right : array of shape (n_samples,), or None
        Which samples were right when they were left out; None if the route could not be used.
    scores : array of shape (n_samples, n_classes), or None
        Of the classes, for samples left out.
    reason : str
        Why it could not be used.
    """

    route: str
    right: NDArray[np.bool_] | None = None
    scores: NDArray[np.float64] | None = None
    reason: str = ""


def compare_routes(
    routes: list[str],
    family: Family,
    X: NDArray,
    y: NDArray,
    seed: int = 0,
    n_splits: int = 3,
    progress: Progress | None = None,
    groups: NDArray | None = None,
) -> list[RouteScore]:
    """Predict samples that are left out, by each of some routes.

    Parameters
    ----------
    routes : list of str
    family : Family
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    seed : int
    n_splits : int
        Parts of the samples, no more than the largest class has.
    progress : callable, optional
        Called with (done, total, seconds left) after each fit.
    groups : array of shape (n_samples,), optional
        Samples of a group are left out together.

    Returns
    -------
    list of RouteScore
        In the order of ``routes``.
    """
    splits = stratified_splits(y, groups, n_splits, seed)
    for train, test in splits:
        if groups is not None and (len(np.unique(y[train])) < 2 or not len(test)):
            raise ValueError(
                f"{len(np.unique(groups))} groups are too few, or too unlike, to leave some out: "
                "fewer than two classes remain; add groups, or use the route invariant"
            )
        if len(np.unique(y[train])) < 2:
            counts = dict(zip(*np.unique(y, return_counts=True), strict=True))
            rare = min(counts, key=lambda label: counts[label])
            raise ValueError(
                f"class {rare!s} has {counts[rare]} samples, too few to leave some out: add more, "
                "or use the route invariant"
            )
    clock = Clock(len(routes) * len(splits), 0, progress)
    trials = [_Trial(route, family, X, y, seed, groups) for route in routes]
    for trial in trials:
        slow = trial.route in ("functionals", "worst-case") and family.domain != "bag"
        if slow and len(routes) > 1 and len(y) > MOST_SAMPLES:
            trial.reason = f"slow with more than {MOST_SAMPLES:,} samples"
    # all routes in turn, so that after the first part one knows how long the others take
    for train, test in splits:
        for trial in trials:
            trial.leave_out(train, test)
            clock.tick()
    return [trial.score() for trial in trials]


class _Trial:
    """How a route does at samples that are left out; it ends with the first error."""

    def __init__(
        self,
        route: str,
        family: Family,
        X: NDArray,
        y: NDArray,
        seed: int,
        groups: NDArray | None,
    ):
        self.route, self.X, self.y, self.groups, self.reason = route, X, y, groups, ""
        self.classes = np.unique(y)
        self.scores = np.full((len(y), len(self.classes)), -np.inf)
        self.right = np.empty(len(y), dtype=bool)
        try:
            self.estimator = ROUTES[route](family, X.shape[1], seed)
        except (ValueError, TypeError) as error:
            self.reason = str(error) or type(error).__name__

    def leave_out(self, train: NDArray, test: NDArray) -> None:
        """Predict some samples from the others."""
        if self.reason:
            return
        # with few samples, threads of BLAS cost more than they bring; the first route knows itself
        few = self.route != "invariant" and len(self.y) <= MOST_SAMPLES
        with one_thread_of_blas() if few else nullcontext():
            self._leave_out(train, test)

    def _leave_out(self, train: NDArray, test: NDArray) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                some = None if self.groups is None else self.groups[train]
                model = fitted(clone(self.estimator), self.X[train], self.y[train], some)
            self.right[test] = model.predict(self.X[test]) == self.y[test]
            known = np.searchsorted(self.classes, model.classes_)
            self.scores[np.ix_(test, known)] = class_scores(model, self.X[test])
        except (ValueError, TypeError, MemoryError) as error:
            self.reason = str(error) or type(error).__name__

    def score(self) -> RouteScore:
        """Give what was found."""
        if self.reason:
            return RouteScore(self.route, reason=self.reason)
        # classes that a part does not have are less likely than all others
        self.scores[~np.isfinite(self.scores)] = self.scores[np.isfinite(self.scores)].min()
        return RouteScore(self.route, self.right, self.scores)


def class_scores(model: Any, X: NDArray) -> NDArray[np.float64]:
    """Give a score for each class: (n_samples, n_classes)."""
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=float)
        return np.stack([-scores, scores], axis=1) / 2 if scores.ndim == 1 else scores
    return np.log(np.maximum(model.predict_proba(X), np.finfo(float).tiny))


def _scaled(family: Family) -> list[Any]:
    """Give what standardises columns, if nothing moves values from one to another."""
    return [StandardScaler()] if isinstance(family, Identity) else []


def _listed(family: Family, n_features: int, seed: int) -> Family:
    """Give the family, or as many random elements of it as can be listed."""
    if family._size(n_features) <= MOST_ELEMENTS:
        return family
    _check_not_bag(family)
    return Sampled(family, MOST_ELEMENTS - 1, seed)


def _check_not_bag(family: Family) -> None:
    if family.domain == "bag":
        raise ValueError(
            f"{family!r} has too many elements to list, and random ones say little: take the "
            "route worst-case or invariant"
        )


def _one_at_a_time(family: Family, n_features: int, seed: int) -> Family:
    """Give the parts of a product as a union: each transformation alone."""
    if isinstance(family, Identity):
        raise ValueError("nothing may change: there is nothing to be robust against")
    parts = family._bound() if isinstance(family, Combination) else [family]
    return _listed(reduce(or_, parts), n_features, seed)
