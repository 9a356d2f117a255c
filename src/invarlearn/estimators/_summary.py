"""What an estimator that learns from copies did, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from invarlearn.transforms import Identity, words_of_family

if TYPE_CHECKING:
    from invarlearn.estimators._copies import LearnsFromCopies


def summary_of(model: LearnsFromCopies) -> str:
    """Say what a fitted model did: a line each. Models that were saved earlier know less."""
    without = getattr(model, "_without", "")
    parts = ", ".join(f"{name} {seconds:.1f}" for name, seconds in model.seconds_.items())
    lines = [
        f"family: {_family(model)}",
        f"features{_pixels(model)}: {_features(model)}",
        f"copies: {_copies(model)}",
        f"lam: {model.lam_:g}, gamma: {model.gamma_:.3g}",
        f"{model._estimate_in_words()}, by leaving out {_left_out(model)}",
        *([f"without the family: {without}"] if without else []),
        f"seconds: {parts}",
    ]
    return "\n".join(lines)


def _family(model: LearnsFromCopies) -> str:
    words = words_of_family(model.family_)
    if model.family is None and isinstance(model.family_, Identity):
        shapes = "shape=(height, width) or (height, width, channels)"
        return f"{words}; if rows are images, pass {shapes}"
    return words


def _pixels(model: LearnsFromCopies) -> str:
    if not getattr(model, "_edges", False):
        return ""
    shape = model.family_.resolve_shape(model.n_features_in_)
    noisy = "noisy " * bool({"noisy", "smooth"} & getattr(model, "_options", {}).keys())
    kind = "spectrograms" if model.family_.domain == "spectrogram" else "images"
    return f" of {noisy}{kind} of {' x '.join(map(str, shape))}"


def _features(model: LearnsFromCopies) -> str:
    steps = getattr(model.features_, "steps", [("", model.features_)])
    names = ", then ".join(type(step).__name__ for _, step in steps)
    return f"{names}, then {model._directions.shape[1]} principal directions"


def _copies(model: LearnsFromCopies) -> str:
    n, copies, rows = len(model._order), model.n_copies_, len(model._rows)
    copied = f"{copies} of each of" if copies > 1 else "none of"
    weights = f"{rows:,} of them stand for all" if rows < n * copies else "each has a weight"
    return f"{copied} {n} samples; {weights}"


def _left_out(model: LearnsFromCopies) -> str:
    left, copies = model._left
    if model._n_groups is None:
        return f"each of {left} samples" + f" with its copies, {copies} of each" * (copies > 1)
    with_copies = f", with {copies} copies of each" * (copies > 1)
    return f"each of {model._n_groups} groups ({left} samples{with_copies})"
