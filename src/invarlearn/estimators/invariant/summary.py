"""The summary of a fitted estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from invarlearn.estimators.invariant.assess import Assessment
from invarlearn.transforms import format_family

if TYPE_CHECKING:
    from invarlearn.estimators.invariant.estimator import InvariantEstimator


def format_summary(model: InvariantEstimator) -> str:
    """Return the summary of a fitted estimator: one line for each stage."""
    seconds = ", ".join(f"{stage} {spent:.1f}" for stage, spent in model.seconds_.items())
    return "\n".join(
        [
            f"family: {_family(model)}",
            f"features{_images(model)}: {_features(model)}",
            f"augmentation: {_augmentation(model)}",
            f"lam: {model.lam_:g}, gamma: {model.gamma_:.3g}",
            *_estimate(model),
            f"seconds: {seconds}",
        ]
    )


def _family(model: InvariantEstimator) -> str:
    text = format_family(model.family_)
    if model.family is None and model.family_.is_identity:
        shapes = "shape=(height, width) or (height, width, channels)"
        return f"{text}; if rows are images, pass {shapes}"
    return text


def _images(model: InvariantEstimator) -> str:
    """Return the domain and shape of rows, if the default features describe edges."""
    if model.edges_ is None:
        return ""
    shape = model.family_.resolve_shape(model.n_features_in_)
    noisy = "noisy " if model.feature_options_.get("noisy") else ""
    return f" of {noisy}{model.family_.domain}s of {' x '.join(map(str, shape))}"


def _features(model: InvariantEstimator) -> str:
    steps = getattr(model.features_, "steps", [("", model.features_)])
    names = ", then ".join(type(step).__name__ for _, step in steps)
    return f"{names}, then {model.machine_.space.directions.shape[1]} principal directions"


def _augmentation(model: InvariantEstimator) -> str:
    n, n_copies, n_rows = model.n_samples_, model.n_copies_, len(model.machine_.rows)
    if n_copies == 1:
        return f"none, {n} samples"
    text = f"{n_copies} augmented copies of each of {n} samples"
    return text if n_rows == n * n_copies else f"{text}, represented by {n_rows} random ones"


def _estimate(model: InvariantEstimator) -> list[str]:
    assessment, targets = model.assessment_, model.targets_
    low, high = (targets.format_score(end) for end in assessment.estimate.interval)
    name, score = targets.score_name, targets.format_score(assessment.estimate.score)
    is_defined = not np.isnan(assessment.estimate.score)
    interval = f" (95 % interval {low.removesuffix(' %')} to {high})" if is_defined else ""
    lines = [f"estimated {name}: {score}{interval}, {_validation(assessment)}"]
    if assessment.score_without is not None:
        without = targets.format_score(assessment.score_without)
        lines.append(f"estimated {name} without the family: {without}")
    return lines


def _validation(assessment: Assessment) -> str:
    """Return the kind of cross-validation, and the numbers of samples and groups."""
    n, n_copies = assessment.n_samples, assessment.n_copies
    copies = f" with {n_copies} augmented copies each" if n_copies > 1 else ""
    if assessment.n_groups is None:
        return f"leave-one-sample-out over {n} samples{copies}"
    return f"leave-one-group-out over {assessment.n_groups} groups ({n} samples{copies})"
