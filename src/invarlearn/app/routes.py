"""The routes: estimators with settings that suit most data, and their comparison."""

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

from invarlearn._utils.groups import fit_with_groups, stratified_splits
from invarlearn._utils.parallel import limit_blas_threads
from invarlearn._utils.progress import Progress, ProgressClock
from invarlearn.estimators.invariant import Budget, InvariantClassifier
from invarlearn.estimators.least_squares import RLSClassifier
from invarlearn.estimators.orbit import OrbitSVC
from invarlearn.estimators.representer_cv import InvSVCCV
from invarlearn.estimators.worst_case import WorstCaseSVC
from invarlearn.estimators.worst_case_linear import WorstCaseLinearSVC
from invarlearn.features.defaults import edge_settings
from invarlearn.features.invariant import InvariantFeatures
from invarlearn.features.oriented import OrientedGradients
from invarlearn.functionals import Change
from invarlearn.transforms import Family, Sampled, Translation
from invarlearn.transforms.domains import (
    BAG,
    IMAGE,
    POLAR_IMAGE,
    ROWS,
    SEQUENCE,
    SPECTROGRAM,
    Domain,
)


@dataclass(frozen=True)
class RouteSettings:
    """Limits on the work of the routes, and the constants of their methods.

    Attributes
    ----------
    max_elements : int
        Routes that need a list of elements use this many random elements of larger families.
    max_samples : int
        A comparison of routes omits the slow ones if there are more samples.
    n_splits : int
        Number of folds in the cross-validation that compares routes.
    budget : Budget, optional
        Limits on the work of the route invariant.
    n_templates, n_bins : int
        Parameters of :class:`InvariantFeatures`, for the route features.
    n_gradient_templates : int
        The same number of templates for gradients of images.
    gradient_shift : float
        Largest shift of the gradients of images that these features are invariant to, in pixels of
        the gradient maps.
    lams, nus : tuple of float
        Values that the route functionals compares: of the regularisation, and of the penalty on
        changes.
    n_grid_splits : int
        Number of folds of this comparison.
    C, tol : float
        Parameters of :class:`WorstCaseSVC`, for the route worst-case.
    """

    max_elements: int = 256
    max_samples: int = 1000
    n_splits: int = 3
    budget: Budget | None = None
    n_templates: int = 300
    n_bins: int = 12
    n_gradient_templates: int = 400
    gradient_shift: float = 2
    lams: tuple[float, ...] = (10.0, 100.0)
    nus: tuple[float, ...] = (10.0, 100.0)
    n_grid_splits: int = 3
    C: float = 30.0
    tol: float = 0.03


@dataclass(frozen=True)
class DomainTraits:
    """Properties of the families of a domain on which routes depend.

    Attributes
    ----------
    can_be_sampled : bool
        Whether a few hundred random elements can represent the family.
    has_linear_oracle : bool
        Whether the worst case of a linear function is known in closed form.
    """

    can_be_sampled: bool = True
    has_linear_oracle: bool = False


TRAITS: dict[Domain, DomainTraits] = {
    IMAGE: DomainTraits(),
    POLAR_IMAGE: DomainTraits(),
    SPECTROGRAM: DomainTraits(),
    SEQUENCE: DomainTraits(),
    BAG: DomainTraits(can_be_sampled=False, has_linear_oracle=True),
    ROWS: DomainTraits(),
}


def _traits(family: Family) -> DomainTraits:
    return TRAITS.get(family.domain, DomainTraits())


def unknown_domain_message(family: Family) -> str | None:
    """Return a warning if the routes do not know the domain of a family, otherwise None."""
    if TRAITS.get(family.domain) is not None:
        return None
    return (
        f"The routes do not know the domain {str(family.domain)!r} of {family!r}: its rows are "
        f"treated as numbers without a structure. The known domains are "
        f"{', '.join(map(str, TRAITS))}."
    )


def invariant_route(
    family: Family, n_features: int, seed: int, settings: RouteSettings = RouteSettings()
) -> Any:
    """Return the recommended estimator: local features and least squares on augmented copies."""
    return InvariantClassifier(family, random_state=seed, budget=settings.budget)


def features_route(
    family: Family, n_features: int, seed: int, settings: RouteSettings = RouteSettings()
) -> Any:
    """Return least squares on invariant features; for images also on those of gradients."""
    _check_can_be_sampled(family)
    is_small = family.size(n_features) <= settings.max_elements
    row_features = InvariantFeatures(
        family,
        settings.n_templates,
        settings.n_bins,
        n_elements=None if is_small else settings.max_elements,
        normalize=edge_settings(family, n_features) is not None,
        random_state=seed,
    )
    if edge_settings(family, n_features) is None:
        return make_pipeline(*_scaled(family), row_features, StandardScaler(), RLSClassifier())
    gradients = OrientedGradients(shape=family.resolve_shape(n_features))
    maps = gradients.fit(np.zeros((1, n_features), dtype=np.float32)).shape_
    map_features = InvariantFeatures(
        Translation(settings.gradient_shift, shape=maps),
        settings.n_gradient_templates,
        settings.n_bins,
        random_state=seed,
    )
    features = make_union(row_features, make_pipeline(gradients, map_features))
    return make_pipeline(features, RLSClassifier())


def kernel_route(
    family: Family, n_features: int, seed: int, settings: RouteSettings = RouteSettings()
) -> Any:
    """Return an SVM with the best-fit orbit kernel; for images, of oriented gradients."""
    listed = _listed(family, n_features, seed, settings)
    if edge_settings(family, n_features) is None:
        return make_pipeline(*_scaled(family), OrbitSVC(listed, break_ties=True))
    gradients = OrientedGradients(shape=family.resolve_shape(n_features))
    return OrbitSVC(listed, features=gradients, break_ties=True)


def functionals_route(
    family: Family, n_features: int, seed: int, settings: RouteSettings = RouteSettings()
) -> Any:
    """Return least squares with a penalty on changes of the function under transformations."""
    change = Change(_single_transformations(family, n_features, seed, settings))
    return InvSVCCV(
        change,
        lams=settings.lams,
        nus=settings.nus,
        gamma="median",
        loss="squared",
        cv=settings.n_grid_splits,
        random_state=seed,
    )


def worst_case_route(
    family: Family, n_features: int, seed: int, settings: RouteSettings = RouteSettings()
) -> Any:
    """Return an SVM whose loss is taken at the worst transformation of each sample."""
    if _traits(family).has_linear_oracle:
        return WorstCaseLinearSVC(family, random_state=seed)
    single = _single_transformations(family, n_features, seed, settings)
    return WorstCaseSVC(single, gamma="median", C=settings.C, tol=settings.tol, random_state=seed)


@dataclass(frozen=True)
class Route:
    """A method that trains a classifier, given a family.

    Attributes
    ----------
    build : callable
        ``build(family, n_features, seed, settings)`` returns the classifier, not fitted.
    classes : tuple of types
        Classes of the classifier, or of the last step of a pipeline.
    is_slow : bool
        Whether a fit solves for all augmented copies of all samples at once, unless the domain has
        a linear oracle.
    limits_blas : bool
        Whether a fit limits the threads of BLAS itself, where fewer are faster.
    estimates_itself : bool
        Whether a fit estimates the accuracy, as ``estimated_accuracy_`` and ``interval_``, so that
        no cross-validation is needed.
    """

    build: Callable[[Family, int, int, RouteSettings], Any]
    classes: tuple[type, ...]
    is_slow: bool = False
    limits_blas: bool = False
    estimates_itself: bool = False


# The routes by name; the recommended one comes first.
ROUTES: dict[str, Route] = {
    "invariant": Route(
        invariant_route, (InvariantClassifier,), limits_blas=True, estimates_itself=True
    ),
    "features": Route(features_route, (RLSClassifier,)),
    "kernel": Route(kernel_route, (OrbitSVC,)),
    "functionals": Route(functionals_route, (InvSVCCV,), is_slow=True),
    "worst-case": Route(worst_case_route, (WorstCaseSVC, WorstCaseLinearSVC), is_slow=True),
}


@dataclass(frozen=True)
class RouteScore:
    """Predictions of a route for held-out samples.

    Attributes
    ----------
    route : str
    correct : bool array of shape (n_samples,), or None
        Which samples are predicted correctly when held out; None if the route could not be used.
    scores : array of shape (n_samples, n_classes), or None
        Scores of the classes for held-out samples; None if the route could not be used.
    reason : str
        Why the route could not be used; empty if it could.
    """

    route: str
    correct: NDArray[np.bool_] | None = None
    scores: NDArray[np.float64] | None = None
    reason: str = ""

    @property
    def accuracy(self) -> float:
        """Cross-validated accuracy; -1 if the route could not be used."""
        return -1.0 if self.correct is None else float(self.correct.mean())


def compare_routes(
    routes: list[str],
    family: Family,
    X: NDArray,
    y: NDArray,
    seed: int = 0,
    n_splits: int = 3,
    progress: Progress | None = None,
    groups: NDArray | None = None,
    settings: RouteSettings | None = None,
) -> list[RouteScore]:
    """Compare routes by cross-validation.

    Parameters
    ----------
    routes : list of str
    family : Family
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    seed : int
    n_splits : int
        Number of folds, at most the number of samples of the largest class.
    progress : callable, optional
        Progress callback, called after each fit.
    groups : array of shape (n_samples,), optional
        Samples of one group are held out together.
    settings : RouteSettings, optional

    Returns
    -------
    list of RouteScore
        In the order of ``routes``.
    """
    settings = settings or RouteSettings()
    message = unknown_domain_message(family)
    if message is not None:
        warnings.warn(message, stacklevel=2)
    splits = stratified_splits(y, groups, n_splits, seed)
    for train, test in splits:
        _check_split(train, test, y, groups)
    clock = ProgressClock(len(routes) * len(splits), 0, progress)
    trials = [_Trial(route, family, X, y, seed, groups, settings) for route in routes]
    for trial in trials:
        is_slow = ROUTES[trial.route].is_slow and not _traits(family).has_linear_oracle
        if is_slow and len(routes) > 1 and len(y) > settings.max_samples:
            trial.reason = f"slow with more than {settings.max_samples:,} samples"
    # all routes on the first split before the second, so that the time left is estimated early
    for train, test in splits:
        for trial in trials:
            trial.hold_out(train, test)
            clock.tick()
    return [trial.score() for trial in trials]


def _check_split(train: NDArray, test: NDArray, y: NDArray, groups: NDArray | None) -> None:
    """Raise if the training part of a split has fewer than two classes, or no row is held out."""
    has_one_class = len(np.unique(y[train])) < 2
    if groups is not None and (has_one_class or not len(test)):
        raise ValueError(
            f"the {len(np.unique(groups))} groups are too few, or their classes too unequal, to "
            "hold some of them out: fewer than two classes remain. Add groups, or use the route "
            "invariant."
        )
    if has_one_class:
        counts = dict(zip(*np.unique(y, return_counts=True), strict=True))
        rarest = min(counts, key=lambda label: counts[label])
        raise ValueError(
            f"class {rarest!s} has {counts[rarest]} samples, which is too few to hold some of them "
            "out. Add samples, or use the route invariant."
        )


class _Trial:
    """Held-out predictions of one route; after an error, further splits are skipped."""

    def __init__(
        self,
        route: str,
        family: Family,
        X: NDArray,
        y: NDArray,
        seed: int,
        groups: NDArray | None,
        settings: RouteSettings,
    ):
        self.route, self.X, self.y, self.groups, self.reason = route, X, y, groups, ""
        self.settings = settings
        self.classes = np.unique(y)
        self.scores = np.full((len(y), len(self.classes)), -np.inf)
        self.correct = np.empty(len(y), dtype=bool)
        try:
            self.estimator = ROUTES[route].build(family, X.shape[1], seed, settings)
        except (ValueError, TypeError) as error:
            self.reason = str(error) or type(error).__name__

    def hold_out(self, train: NDArray, test: NDArray) -> None:
        """Fit on some samples and predict the others."""
        if self.reason:
            return
        # with few samples, BLAS is faster with one thread
        is_small = len(self.y) <= self.settings.max_samples
        limit = is_small and not ROUTES[self.route].limits_blas
        with limit_blas_threads() if limit else nullcontext():
            self._fit_and_predict(train, test)

    def _fit_and_predict(self, train: NDArray, test: NDArray) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                groups = None if self.groups is None else self.groups[train]
                model = fit_with_groups(clone(self.estimator), self.X[train], self.y[train], groups)
            self.correct[test] = model.predict(self.X[test]) == self.y[test]
            columns = np.searchsorted(self.classes, model.classes_)
            self.scores[np.ix_(test, columns)] = class_scores(model, self.X[test])
        except (ValueError, TypeError, MemoryError) as error:
            self.reason = str(error) or type(error).__name__

    def score(self) -> RouteScore:
        """Return the result of all splits."""
        if self.reason:
            return RouteScore(self.route, reason=self.reason)
        # a class that is absent from a training part gets the lowest score
        finite = np.isfinite(self.scores)
        self.scores[~finite] = self.scores[finite].min()
        return RouteScore(self.route, self.correct, self.scores)


def class_scores(model: Any, X: NDArray) -> NDArray[np.float64]:
    """Return the scores of the classes, of shape (n_samples, n_classes)."""
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=float)
        return np.stack([-scores, scores], axis=1) / 2 if scores.ndim == 1 else scores
    return np.log(np.maximum(model.predict_proba(X), np.finfo(float).tiny))


def _scaled(family: Family) -> list[Any]:
    """Return a list with a scaler of columns if no family is declared, otherwise an empty list."""
    return [StandardScaler()] if family.is_identity else []


def _listed(family: Family, n_features: int, seed: int, settings: RouteSettings) -> Family:
    """Return the family, or random elements of the family if it is too large to be listed."""
    if family.size(n_features) <= settings.max_elements:
        return family
    _check_can_be_sampled(family)
    return Sampled(family, settings.max_elements - 1, seed)


def _check_can_be_sampled(family: Family) -> None:
    if not _traits(family).can_be_sampled:
        raise ValueError(
            f"{family!r} has too many elements to list, and random elements do not represent it: "
            "use the route worst-case or invariant."
        )


def _single_transformations(
    family: Family, n_features: int, seed: int, settings: RouteSettings
) -> Family:
    """Return the union of the parts of a product: each transformation alone."""
    if family.is_identity:
        raise ValueError("the family has no transformation, so there is nothing to be invariant to")
    return _listed(reduce(or_, family.bound_parts()), n_features, seed, settings)
