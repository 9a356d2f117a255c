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
    "Composed",
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
    "Gather",
    "Hyperbolic",
    "Identity",
    "ImageFamily",
    "Joined",
    "LogSpectrogram",
    "Permutation",
    "Picked",
    "PitchShift",
    "PolarRotation",
    "Product",
    "Reflection",
    "Rotation",
    "Sampled",
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
