"""Models that people train and use without writing code: an estimator, and how rows are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from invarlearn._progress import Progress
from invarlearn._shares import Share, share_of
from invarlearn.estimators._calibration import steepness_of
from invarlearn.estimators._groups import check_groups, fitted
from invarlearn.estimators.routes import ROUTES, RouteScore, class_scores, compare_routes
from invarlearn.features.defaults import default_family
from invarlearn.readers import ReadError, Source
from invarlearn.transforms import (
    Family,
    Identity,
    PitchShift,
    TimeStretch,
    Translation,
    family_of_words,
    words_of_family,
)
from invarlearn.transforms.combine import Combination

# Parts of the training samples that are left out in turn.
SPLITS = 3
# What comes in from outside a moved image: whatever the background is.
OUTSIDE = "edge"
# What is said of a model when nothing is.
AUTO, INVARIANT = "auto", "invariant"


@dataclass
class Model:
    """A trained classifier, and all that it takes to use it on files.

    Attributes
    ----------
    estimator : classifier
    steepness : float or None
        What scores are multiplied by before their softmax is a probability; None if the estimator
        knows probabilities itself.
    settings : dict
        How rows are read, for :func:`invarlearn.readers.open_samples`.
    family : Family
        What may change.
    route : str
    accuracy : tuple of three floats
        Of training samples that were left out, and its 95 % interval.
    n_samples : int
        That it was trained with.
    compared : list of dict
        The routes that were compared, with their accuracy, its interval, and why some could not be
        used.
    """

    estimator: Any
    steepness: float | None
    settings: dict[str, Any]
    family: Family
    route: str
    accuracy: tuple[float, float, float]
    n_samples: int
    compared: list[dict[str, Any]] = field(default_factory=list)

    def predict(self, X: NDArray) -> tuple[NDArray, NDArray[np.float64]]:
        """Give the class of each row, and how probable it is.

        A model that was damaged on disk, but could be read, may fail here in any way.
        """
        try:
            return self._predict(X)
        except Exception as error:
            raise RuntimeError(f"the model does not work: {error}; train it again") from error

    def known(self, labels: NDArray) -> NDArray:
        """Give classes as the model has them: names, or numbers of its type.

        Whole numbers are the same whether they have a point or not.
        """
        classes = self.estimator.classes_
        known = {_name(one): one for one in classes.tolist()}
        names = [_name(one) for one in np.asarray(labels).tolist()]
        unknown = sorted(set(names) - set(known))
        if unknown:
            raise ValueError(
                f"there are classes that the model does not know: {', '.join(unknown[:5])}; it "
                f"knows {', '.join(list(known)[:20])}"
            )
        return np.array([known[name] for name in names], dtype=classes.dtype)

    def _predict(self, X: NDArray) -> tuple[NDArray, NDArray[np.float64]]:
        # all routes predict the class with the highest score
        if self.steepness is None:
            chances = self.estimator.predict_proba(X)
        else:
            chances = softmax(self.steepness * class_scores(self.estimator, X), axis=1)
        return self.estimator.classes_[chances.argmax(axis=1)], chances.max(axis=1)


def told_family(family: Family) -> str:
    """Give what may change in the words of ``--may-change``; as in Python if there are none."""
    return words_of_family(family, fill=OUTSIDE)


def _name(label: Any) -> str:
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def family_for(source: Source, words: str | None) -> Family:
    """Give what may change: what words say, or what is usual for such samples.

    What comes in from outside a moved image is what lies at its edge, whatever the background.
    """
    shape = source.shape
    if words is not None:
        family = family_of_words(words, fill=OUTSIDE)
        _check_domain(family, source, words)
        if shape is not None and not isinstance(family, Identity):
            family = family.with_shape(shape)
        _check_values(family, source, words)
        return family
    if source.kind == "sounds":
        family = PitchShift(400, n_steps=5) * TimeStretch((0.85, 1.18)) * Translation(1)
    elif shape is not None:
        family = default_family(shape, source.n_features, "a model")
    else:
        return Identity()
    fills = [name for name in family.get_params() if name.split("__")[-1] == "fill"]
    return family.set_params(**dict.fromkeys(fills, OUTSIDE)).with_shape(shape)


def _check_domain(family: Family, source: Source, words: str) -> None:
    if isinstance(family, Combination):
        for part in family.parts:
            _check_domain(part, source, words)
    moves_images = family.domain in ("image", "spectrogram")
    if source.shape is None and moves_images:
        raise ReadError(
            f"--may-change {words!r} is for images or sounds, and these are rows of "
            f"{source.n_features} numbers: pass --shape, such as 28x28, if they are images"
        )
    if family.domain == "spectrogram" and source.kind == "images":
        raise ReadError(f"--may-change {words!r} is for sounds, and these are images")
    if family.domain == "sequence" and source.kind in ("images", "sounds"):
        raise ReadError(f"--may-change {words!r} is for sequences, and these are {source.kind}")


def _check_values(family: Family, source: Source, words: str) -> None:
    """Move a row of zeros, so that values that make no sense are told before the work."""
    try:
        family.sample(1, random_state=0)(np.zeros((1, source.n_features), dtype=np.float32))
    except (ValueError, TypeError) as error:
        raise ReadError(f"--may-change {words!r}: {error}") from None


def train_model(
    source: Source,
    words: str | None = None,
    route: str = AUTO,
    seed: int = 0,
    progress: Progress | None = None,
    told: Callable[[str], None] = lambda text: None,
) -> Model:
    """Learn the classes of samples.

    Parameters
    ----------
    source : Source
        With classes.
    words : str, optional
        What may change, as :func:`invarlearn.transforms.family_of_words` takes it. None: what is
        usual for images and for sounds, nothing for other rows.
    route : str
        One of :data:`invarlearn.estimators.routes.ROUTES`, or "auto": the one that predicts samples
        best that are left out.
    seed : int
    progress : callable, optional
        Called with (done, total, seconds left) while routes are compared, and by the route
        invariant where samples are many.
    told : callable, optional
        Called with what is done next.

    Returns
    -------
    Model
    """
    if route != AUTO and route not in ROUTES:
        raise ValueError(f"route {route!r} is unknown: choose {', '.join([AUTO, *ROUTES])}")
    y = _classes_of(source)
    family = family_for(source, words)
    groups = check_groups(source.groups, y)
    number = "" if groups is None else f", in {len(np.unique(groups)):,} groups"
    told(f"reading {len(source):,} samples of {len(np.unique(y))} classes{number}")
    if source.note:
        told(source.note)
    X = source.read_all()
    facts: dict[str, Any] = {"settings": source.settings, "family": family, "n_samples": len(y)}
    if groups is not None:
        facts["settings"] = {**source.settings, "n_groups": len(np.unique(groups))}
    if route == INVARIANT:
        # it leaves out samples itself, and far more quickly
        each = "each" if groups is None else "each group"
        told(f"learning from them, and leaving out {each} to see what accuracy to expect")
        estimator = ROUTES[route](family, X.shape[1], seed)
        estimator._progress = progress
        fitted(estimator, X, y, groups)
        # not to be saved
        del estimator._progress
        accuracy = (estimator.estimated_accuracy_, *estimator.interval_)
        compared = [{"route": route, "accuracy": accuracy[0], "interval": list(accuracy[1:])}]
        return Model(estimator, None, route=route, accuracy=accuracy, compared=compared, **facts)
    told("leaving out parts of them, to see what accuracy to expect")
    routes = list(ROUTES) if route == AUTO else [route]
    most = int(np.unique(y, return_counts=True)[1].max())
    n_splits = min(SPLITS, most if groups is None else len(np.unique(groups)))
    scores = compare_routes(routes, family, X, y, seed, n_splits, progress, groups)
    # of equals the first: the one to begin with
    best = max(scores, key=lambda one: -1.0 if one.right is None else float(one.right.mean()))
    if best.right is None or best.scores is None:
        raise ValueError(f"route {best.route}: {best.reason}")
    told(f"learning from all of them, by the route {best.route}")
    found = share_of(best.right, groups)
    return Model(
        estimator=fitted(ROUTES[best.route](family, X.shape[1], seed), X, y, groups),
        steepness=steepness_of(best.scores, np.searchsorted(np.unique(y), y)),
        route=best.route,
        accuracy=(found.value, found.low, found.high),
        compared=[_in_words(one, groups) for one in scores],
        **facts,
    )


def _in_words(score: RouteScore, groups: NDArray | None) -> dict[str, Any]:
    found: Share | None = None if score.right is None else share_of(score.right, groups)
    return {
        "route": score.route,
        "accuracy": None if found is None else found.value,
        "interval": None if found is None else [found.low, found.high],
        "reason": score.reason,
    }


def _classes_of(source: Source) -> NDArray:
    """Give the classes, of which there must be two, and more than one sample in some."""
    if source.labels is None:
        raise ReadError(
            "there are no classes to learn: put images and sounds into a subfolder for each class, "
            "and give arrays a y"
        )
    y = np.asarray(source.labels)
    if y.dtype.kind == "f" and (y != np.round(y)).any():
        raise ReadError("y has fractions: classes are whole numbers or names")
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise ReadError(f"there is one class only, {classes[0]!s}: a classifier needs at least two")
    if counts.max() < 2:
        raise ReadError("every class has one sample only: more samples are needed")
    return y
