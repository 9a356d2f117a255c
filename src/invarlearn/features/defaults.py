"""Which features suit which rows, if nothing is said: by the domain of the family."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from invarlearn.features.centred import Centred
from invarlearn.features.invariant import InvariantFeatures
from invarlearn.features.local import LocalKernelFeatures
from invarlearn.features.oriented import OrientedGradients
from invarlearn.transforms import Family, Identity, Rotation, Scaling, Shear, Translation
from invarlearn.transforms._checks import Shape
from invarlearn.transforms.grid import image_shape

# Squares of this side and larger are taken for images if nothing is said.
SMALLEST_IMAGE = 8
# Windows along a side of an image: of large images they lie further apart, and are wider.
MOST_WINDOWS = 12
# Landmarks, pixels of the maps between windows at least, and how wide these are, as a part of that.
# Other speakers differ in where things lie, so that windows of spectrograms are wider; what lies
# there is then told apart more finely.
WINDOWS = {"image": (256, 3, 0.5), "spectrogram": (512, 4, 0.625)}
# Of families of sequences with more elements than this, so many random ones are used.
MOST_ELEMENTS = 256


def default_family(shape: Shape, n_features: int, name: str) -> Family:
    """Give what should not matter if nothing is said: for images, modest affine maps.

    Turns by 15 degrees, changes of size by 15 %, shears by 0.25 and shifts by a fourteenth of the
    side; of one line, shifts alone. Rows are images if ``shape`` says so, or if they are squares of
    8 x 8 or more.
    """
    side = isqrt(n_features)
    if shape is None and (side * side != n_features or side < SMALLEST_IMAGE):
        return Identity()
    shape = image_shape(shape, n_features, name)
    if min(shape[:2]) == 1:
        return Translation(max(1.0, max(shape[:2]) / 14), shape=shape)
    pixels = max(1.0, min(shape[:2]) / 14)
    family = Rotation(15) * Scaling(1.15) * Shear(0.25) * Translation(pixels)
    return family.with_shape(shape)


def has_edges(family: Family, n_features: int) -> bool:
    """Say whether a family acts on images, or spectrograms, of more than one line."""
    if family.domain not in ("image", "spectrogram"):
        return False
    return min(family.resolve_shape(n_features)[:2]) > 1


def default_features(
    family: Family,
    n_features: int,
    n_landmarks: int | None,
    random_state: Any,
    noisy: bool = False,
    centred: bool = False,
) -> Pipeline:
    """Give the features, not fitted, for rows that a family acts on.

    Images and spectrograms: oriented gradients, and local kernel features of these; gradients of
    spectrograms are divided by the contrast of a wider neighbourhood, and pooled under wider
    windows. ``n_landmarks=None`` are 256 for images and 512 for spectrograms. Sequences, and images
    of one line: invariant features. Anything else: the rows themselves. The last two are
    standardised. Noisy images are despiked and blurred a little before; faint gradients of them,
    and of spectrograms, are left out.
    """
    edges = has_edges(family, n_features)
    if family.domain in ("sequence", "image", "spectrogram") and not edges:
        few = family._size(n_features) <= MOST_ELEMENTS
        invariant = InvariantFeatures(
            family,
            n_templates=300,
            n_bins=12,
            n_elements=None if few else MOST_ELEMENTS,
            dtype="float64",
            random_state=random_state,
        )
        return make_pipeline(invariant, StandardScaler())
    if not edges:
        return make_pipeline(StandardScaler())
    shape = family.resolve_shape(n_features)
    gradients = OrientedGradients(shape=shape)
    usual, closest, width = WINDOWS[family.domain]
    if family.domain == "spectrogram":
        # faint parts of a sound are noise rather than strokes in a shadow
        gradients.set_params(contrast=12.0, floor=0.3, threshold=0.08)
    elif noisy:
        gradients.set_params(contrast=12.0, floor=0.6, smooth=0.7, threshold=0.25, despike=True)
    maps = gradients.fit(np.zeros((1, n_features), dtype=np.float32)).shape_
    step = max(closest, -(-max(maps[:2]) // MOST_WINDOWS))
    local = LocalKernelFeatures(
        usual if n_landmarks is None else n_landmarks,
        step=step,
        blur=width * step,
        shape=maps,
        random_state=random_state,
    )
    return make_pipeline(*([Centred(shape=shape)] if centred else []), gradients, local)
