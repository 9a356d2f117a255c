"""Families of transformations that predictions should not depend on."""

from invarlearn.transforms.actions import (
    Action,
    Affine,
    Composed,
    Functions,
    Gather,
    Joined,
    Picked,
    compose,
)
from invarlearn.transforms.audio import LogSpectrogram, PitchShift, TimeStretch
from invarlearn.transforms.bags import FeatureDropping, FeatureScaling
from invarlearn.transforms.base import Family
from invarlearn.transforms.blur import Blur
from invarlearn.transforms.colours import ColourJitter, Hue, Saturation
from invarlearn.transforms.combine import Product, Union
from invarlearn.transforms.custom import Custom
from invarlearn.transforms.domains import (
    BAG,
    IMAGE,
    POLAR_IMAGE,
    ROWS,
    SEQUENCE,
    SPECTROGRAM,
    Domain,
)
from invarlearn.transforms.elastic import Elastic
from invarlearn.transforms.elements import Elements
from invarlearn.transforms.grid import AffineFamily, ImageFamily
from invarlearn.transforms.identity import Identity
from invarlearn.transforms.images import (
    Hyperbolic,
    Reflection,
    Rotation,
    Scaling,
    Shear,
    Translation,
)
from invarlearn.transforms.intensities import Brightness, Contrast, Gamma
from invarlearn.transforms.noise import Noise
from invarlearn.transforms.occlusion import Occlusion
from invarlearn.transforms.perspective import Perspective
from invarlearn.transforms.polar import PolarRotation, to_polar
from invarlearn.transforms.sampled import Sampled
from invarlearn.transforms.sequences import CyclicShift, Permutation
from invarlearn.transforms.spec import (
    FamilyDescription,
    describe_families,
    format_family,
    own_families,
    parse_family,
)
from invarlearn.transforms.thickness import Thickness

__all__ = [
    "BAG",
    "IMAGE",
    "POLAR_IMAGE",
    "ROWS",
    "SEQUENCE",
    "SPECTROGRAM",
    "Action",
    "Affine",
    "AffineFamily",
    "Blur",
    "Brightness",
    "ColourJitter",
    "Composed",
    "Contrast",
    "Custom",
    "CyclicShift",
    "Domain",
    "Elastic",
    "Elements",
    "Family",
    "FamilyDescription",
    "FeatureDropping",
    "FeatureScaling",
    "Functions",
    "Gamma",
    "Gather",
    "Hue",
    "Hyperbolic",
    "Identity",
    "ImageFamily",
    "Joined",
    "LogSpectrogram",
    "Noise",
    "Occlusion",
    "Permutation",
    "Perspective",
    "Picked",
    "PitchShift",
    "PolarRotation",
    "Product",
    "Reflection",
    "Rotation",
    "Sampled",
    "Saturation",
    "Scaling",
    "Shear",
    "Thickness",
    "TimeStretch",
    "Translation",
    "Union",
    "compose",
    "describe_families",
    "format_family",
    "own_families",
    "parse_family",
    "to_polar",
]

# Families of new files are exported automatically; the imports above are for type checkers.
_unlisted = {family.__name__: family for family in own_families() if family.__name__ not in __all__}
globals().update(_unlisted)
__all__ += list(_unlisted)
