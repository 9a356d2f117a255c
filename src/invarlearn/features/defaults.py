"""Default families and default features, by the domain of the family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isqrt
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from invarlearn._utils.validation import Shape
from invarlearn.features.centred import Centred
from invarlearn.features.invariant import InvariantFeatures
from invarlearn.features.local import LocalKernelFeatures
from invarlearn.features.oriented import OrientedGradients
from invarlearn.transforms import Family, Identity, Rotation, Scaling, Shear, Translation
from invarlearn.transforms.domains import (
    BAG,
    IMAGE,
    POLAR_IMAGE,
    ROWS,
    SEQUENCE,
    SPECTROGRAM,
    Domain,
)
from invarlearn.transforms.grid import image_shape


@dataclass(frozen=True)
class EdgeSettings:
    """Settings of the features that describe edges, for one domain.

    Attributes
    ----------
    n_landmarks : int
        Number of landmarks of :class:`LocalKernelFeatures`.
    step : int
        Smallest distance between the centres of pooling windows, in pixels of the gradient maps.
    relative_blur : float
        Standard deviation of a pooling window, divided by the distance between windows.
    max_windows : int
        Largest number of windows along a side. In large images, windows are wider and further
        apart.
    has_background : bool
        Whether the border shows a background, whose brightness is irrelevant.
    gradients : dict
        Parameters of :class:`OrientedGradients`.
    """

    n_landmarks: int
    step: int
    relative_blur: float
    max_windows: int = 12
    has_background: bool = False
    gradients: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class InvariantFeatureSettings:
    """Settings of the default features that are invariant features.

    Attributes
    ----------
    n_templates, n_bins : int
        Parameters of :class:`InvariantFeatures`.
    max_elements : int
        Larger families are represented by this number of random elements.
    """

    n_templates: int = 300
    n_bins: int = 12
    max_elements: int = 256


# Settings of edge features by domain. Speakers differ in pitch and tempo, so that spectrograms are
# pooled over wider windows, and more landmarks distinguish the patches within a window. Faint parts
# of a sound are noise, so that small gradients are suppressed.
EDGES: Mapping[Domain, EdgeSettings] = {
    IMAGE: EdgeSettings(n_landmarks=256, step=3, relative_blur=0.5, has_background=True),
    SPECTROGRAM: EdgeSettings(
        n_landmarks=512,
        step=4,
        relative_blur=0.625,
        gradients={"contrast": 12.0, "floor": 0.3, "threshold": 0.08},
    ),
}
# Parameters of the oriented gradients of noisy images.
NOISY_GRADIENTS: Mapping[str, Any] = {
    "contrast": 12.0,
    "floor": 0.6,
    "smooth": 0.7,
    "threshold": 0.25,
    "despike": True,
}


def default_family(
    shape: Shape,
    n_features: int,
    name: str,
    rotation: float = 15,
    scaling: float = 1.15,
    shear: float = 0.25,
    shift_divisor: float = 14,
    smallest_image: int = 8,
) -> Family:
    """Return the family that is used if none is declared.

    Images get small affine maps: rotations, scalings, shears and shifts. Images of one line get
    shifts. Rows are treated as images if ``shape`` is given, or if they are large enough squares.
    Other rows get the identity.

    Parameters
    ----------
    shape : tuple or None
    n_features : int
    name : str
        Name of the caller, for error messages about the shape.
    rotation : float, default=15
        Largest angle, in degrees.
    scaling : float, default=1.15
        Largest factor.
    shear : float, default=0.25
    shift_divisor : float, default=14
        The largest shift is the shorter side, or the length of a line, divided by this number, and
        at least one pixel.
    smallest_image : int, default=8
        Without a shape, rows are treated as square grey images if their side is at least this long.

    Returns
    -------
    Family
    """
    side = isqrt(n_features)
    if shape is None and (side * side != n_features or side < smallest_image):
        return Identity()
    shape = image_shape(shape, n_features, name)
    if min(shape[:2]) == 1:
        return Translation(max(1.0, max(shape[:2]) / shift_divisor), shape=shape)
    pixels = max(1.0, min(shape[:2]) / shift_divisor)
    family = Rotation(rotation) * Scaling(scaling) * Shear(shear) * Translation(pixels)
    return family.with_shape(shape)


def edge_settings(
    family: Family, n_features: int, edges: Mapping[Domain, EdgeSettings] = EDGES
) -> EdgeSettings | None:
    """Return the settings of edge features; None if rows are no images of two or more lines."""
    settings = edges.get(family.domain)
    if settings is None or min(family.resolve_shape(n_features)[:2]) == 1:
        return None
    return settings


def default_features(
    family: Family,
    n_features: int,
    n_landmarks: int | None,
    random_state: Any,
    noisy: bool = False,
    centred: bool = False,
    edges: Mapping[Domain, EdgeSettings] = EDGES,
    noisy_gradients: Mapping[str, Any] = NOISY_GRADIENTS,
    invariant: InvariantFeatureSettings = InvariantFeatureSettings(),
) -> Pipeline:
    """Return the default features for rows that a family acts on, as an unfitted pipeline.

    Images and spectrograms get :class:`LocalKernelFeatures` of :class:`OrientedGradients`.
    Sequences, and images of one line, get standardised :class:`InvariantFeatures`. Other rows are
    standardised.

    Parameters
    ----------
    family : Family
    n_features : int
    n_landmarks : int or None
        Number of landmarks. None: 256 for images, 512 for spectrograms.
    random_state : int or RandomState
    noisy : bool, default=False
        Whether images are despiked and smoothed, and small gradients are suppressed.
    centred : bool, default=False
        Whether images are centred first.
    edges : dict from Domain to EdgeSettings
        Settings of edge features, by the domain of the family.
    noisy_gradients : dict
        Parameters of :class:`OrientedGradients` for noisy images.
    invariant : InvariantFeatureSettings
        Settings of invariant features.

    Returns
    -------
    Pipeline
    """
    settings = edge_settings(family, n_features, edges)
    if settings is not None:
        shape = family.resolve_shape(n_features)
        gradients = noisy_gradients if noisy else settings.gradients
        steps = edge_features(settings, shape, n_landmarks, random_state, gradients)
        return make_pipeline(*([Centred(shape=shape)] if centred else []), *steps)
    build = FEATURES.get(family.domain, standardised_rows)
    return build(family, n_features, random_state, invariant)


def edge_features(
    settings: EdgeSettings,
    shape: tuple[int, ...],
    n_landmarks: int | None,
    random_state: Any,
    gradient_params: Mapping[str, Any],
) -> tuple[OrientedGradients, LocalKernelFeatures]:
    """Return both steps of the edge features: oriented gradients and local kernel features."""
    gradients = OrientedGradients(shape=shape, **gradient_params)
    n_features = int(np.prod(shape))
    maps = gradients.fit(np.zeros((1, n_features), dtype=np.float32)).shape_
    step = max(settings.step, -(-max(maps[:2]) // settings.max_windows))
    local = LocalKernelFeatures(
        settings.n_landmarks if n_landmarks is None else n_landmarks,
        step=step,
        blur=settings.relative_blur * step,
        shape=maps,
        random_state=random_state,
    )
    return gradients, local


def standardised_invariant_features(
    family: Family, n_features: int, random_state: Any, invariant: InvariantFeatureSettings
) -> Pipeline:
    """Return standardised invariant features, with random elements of large families."""
    is_small = family.size(n_features) <= invariant.max_elements
    features = InvariantFeatures(
        family,
        n_templates=invariant.n_templates,
        n_bins=invariant.n_bins,
        n_elements=None if is_small else invariant.max_elements,
        dtype="float64",
        random_state=random_state,
    )
    return make_pipeline(features, StandardScaler())


def standardised_rows(
    family: Family, n_features: int, random_state: Any, invariant: InvariantFeatureSettings
) -> Pipeline:
    """Return a pipeline that standardises rows."""
    return make_pipeline(StandardScaler())


# The entries of images and spectrograms are for rows of one line only.
FEATURES: dict[Domain, Callable[..., Pipeline]] = {
    IMAGE: standardised_invariant_features,
    SPECTROGRAM: standardised_invariant_features,
    SEQUENCE: standardised_invariant_features,
    POLAR_IMAGE: standardised_rows,
    BAG: standardised_rows,
    ROWS: standardised_rows,
}


def missing_default_message(family: Family) -> str | None:
    """Return a warning message if the domain of a family has no default features, or None."""
    if FEATURES.get(family.domain) is not None:
        return None
    names = ", ".join(str(domain) for domain in FEATURES)
    return (
        f"There are no default features for the domain {str(family.domain)!r} of {family!r}: "
        f"rows are only standardised. Set features, or a family with one of the domains {names}."
    )
