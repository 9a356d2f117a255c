"""Training of models: a family, a route, and an estimate of the accuracy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.groups import check_groups, fit_with_groups
from invarlearn._utils.progress import Progress
from invarlearn._utils.statistics import estimate_proportion
from invarlearn.app.families import family_for
from invarlearn.app.messages import InputError, Message, Setting
from invarlearn.app.models import Model
from invarlearn.app.readers import Source
from invarlearn.app.routes import ROUTES, RouteScore, RouteSettings, compare_routes
from invarlearn.estimators.calibration import fit_inverse_temperature
from invarlearn.transforms import Family

# Compares all routes.
AUTO = "auto"


@dataclass(frozen=True)
class Training:
    """The training rows of a model, and the settings of its training.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    groups : array of shape (n_samples,), or None
        Samples of one group are held out together.
    family : Family
    seed : int
    settings : RouteSettings
    progress : callable or None
        Progress callback.
    report : callable
        Called with a :class:`Message` before each step.
    """

    X: NDArray
    y: NDArray
    groups: NDArray | None
    family: Family
    seed: int
    settings: RouteSettings
    progress: Progress | None
    report: Callable[[Message], None]

    @property
    def n_groups(self) -> int | None:
        """Number of groups, if there are any."""
        return None if self.groups is None else len(np.unique(self.groups))

    def estimator(self, route: str) -> Any:
        """Return the unfitted estimator of a route."""
        return ROUTES[route].build(self.family, self.X.shape[1], self.seed, self.settings)


def train_model(
    source: Source,
    family: str | None = None,
    route: str = AUTO,
    seed: int = 0,
    progress: Progress | None = None,
    report: Callable[[Message], None] = lambda message: None,
    settings: RouteSettings | None = None,
) -> Model:
    """Train a classifier on samples in files.

    Parameters
    ----------
    source : Source
        Samples with classes.
    family : str, optional
        Family specification, as for :func:`invarlearn.transforms.parse_family`. None: the default
        for the kind of samples, see :func:`invarlearn.app.families.family_for`.
    route : str
        One of :data:`invarlearn.app.routes.ROUTES`, or "auto" for the route with the highest
        cross-validated accuracy.
    seed : int
        Seed of all random choices.
    progress : callable, optional
        Progress callback. It is called while routes are compared, and by a route that estimates
        its accuracy itself if there are many samples.
    report : callable, optional
        Called with a :class:`Message` before each step.
    settings : RouteSettings, optional

    Returns
    -------
    Model
    """
    if route != AUTO and route not in ROUTES:
        choices = ", ".join([AUTO, *ROUTES])
        raise InputError(Setting("route", route), f" is unknown: choose one of {choices}.")
    y = _check_labels(source)
    parsed_family = family_for(source, family)
    groups = check_groups(source.groups, y)
    groups_text = "" if groups is None else f" in {len(np.unique(groups)):,} groups"
    n_classes = len(np.unique(y))
    report(Message(f"Reading {len(source):,} samples of {n_classes} classes{groups_text}."))
    for note in source.notes:
        report(note)
    X = source.read_all()
    training = Training(
        X, y, groups, parsed_family, seed, settings or RouteSettings(), progress, report
    )
    model_settings = dict(source.settings)
    if groups is not None:
        model_settings["n_groups"] = training.n_groups
    estimates_itself = route != AUTO and ROUTES[route].estimates_itself
    train = _train_self_estimated if estimates_itself else _train_compared
    results = train(training, route)
    return Model(settings=model_settings, family=parsed_family, n_samples=len(y), **results)


def _train_self_estimated(training: Training, route: str) -> dict[str, Any]:
    """Train a route that computes its own leave-one-out estimate."""
    validation = "leave-one-out" if training.groups is None else "leave-one-group-out"
    training.report(Message(f"Training the route {route}, with {validation} cross-validation."))
    estimator = training.estimator(route).set_params(verbose=training.progress or False)
    fit_with_groups(estimator, training.X, training.y, training.groups)
    # a model file cannot contain the callback
    estimator.set_params(verbose=False)
    value, (low, high) = estimator.estimated_accuracy_, estimator.interval_
    return {
        "estimator": estimator,
        "inverse_temperature": None,
        "route": route,
        "accuracy": (value, low, high),
        "compared": [{"route": route, "accuracy": value, "interval": [low, high]}],
        "validation": validation,
    }


def _train_compared(training: Training, route: str) -> dict[str, Any]:
    """Train a route, or the best of all routes, and estimate its accuracy by cross-validation."""
    y, groups = training.y, training.groups
    largest_class = int(np.unique(y, return_counts=True)[1].max())
    n_splits = min(training.settings.n_splits, training.n_groups or largest_class)
    routes = list(ROUTES) if route == AUTO else [route]
    validation = f"{n_splits}-fold cross-validation"
    if route == AUTO:
        training.report(Message(f"Comparing {len(routes)} routes by {validation}."))
    else:
        training.report(Message(f"Estimating the accuracy of the route {route} by {validation}."))
    scores = compare_routes(
        routes,
        training.family,
        training.X,
        y,
        training.seed,
        n_splits,
        training.progress,
        groups,
        training.settings,
    )
    # max returns the first of equally accurate routes, and the recommended route comes first
    best = max(scores, key=lambda score: score.accuracy)
    if best.correct is None or best.scores is None:
        raise InputError(Setting("route", best.route), f" cannot be used: {best.reason}")
    training.report(Message(f"Training the route {best.route} on all samples."))
    accuracy = estimate_proportion(best.correct, groups)
    return {
        "estimator": fit_with_groups(training.estimator(best.route), training.X, y, groups),
        "inverse_temperature": fit_inverse_temperature(
            best.scores, np.searchsorted(np.unique(y), y)
        ),
        "route": best.route,
        "accuracy": (accuracy.value, accuracy.low, accuracy.high),
        "compared": [_as_record(score, groups) for score in scores],
        "validation": validation,
    }


def _as_record(score: RouteScore, groups: NDArray | None) -> dict[str, Any]:
    """Return the result of a route for ``Model.compared``."""
    accuracy = None if score.correct is None else estimate_proportion(score.correct, groups)
    return {
        "route": score.route,
        "accuracy": None if accuracy is None else accuracy.value,
        "interval": None if accuracy is None else [accuracy.low, accuracy.high],
        "reason": score.reason,
    }


def _check_labels(source: Source) -> NDArray:
    """Return the labels; raise unless there are two classes, one of them with two samples."""
    if source.labels is None:
        raise InputError(
            "the samples have no classes. Put images and sounds into a subfolder for each class, "
            "or save an array y beside X."
        )
    y = np.asarray(source.labels)
    if y.dtype.kind == "f" and (y != np.round(y)).any():
        raise InputError("y has fractions, but classes must be integers or names.")
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise InputError(
            f"all samples are of class {classes[0]!s}: at least two classes are needed."
        )
    if counts.max() < 2:
        raise InputError(
            "every class has only one sample: at least one class needs two. Add samples."
        )
    return y
