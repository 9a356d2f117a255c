"""Families of transformations: what may change without changing the answer."""

from invarlearn.transforms.audio import LogSpectrogram, PitchShift, TimeStretch
from invarlearn.transforms.bags import FeatureDropping, FeatureScaling
from invarlearn.transforms.base import Family, Identity
from invarlearn.transforms.combine import Product, Union
from invarlearn.transforms.custom import Custom
from invarlearn.transforms.elastic import Elastic
from invarlearn.transforms.elements import Elements
from invarlearn.transforms.images import (
    Hyperbolic,
    PolarRotation,
    Reflection,
    Rotation,
    Scaling,
    Shear,
    Thickness,
    Translation,
    to_polar,
)
from invarlearn.transforms.sampled import Sampled
from invarlearn.transforms.sequences import CyclicShift, Permutation
from invarlearn.transforms.words import explain_words, family_of_words, words_of_family

__all__ = [
    "Custom",
    "CyclicShift",
    "Elastic",
    "Elements",
    "Family",
    "FeatureDropping",
    "FeatureScaling",
    "Hyperbolic",
    "Identity",
    "LogSpectrogram",
    "Permutation",
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
    "explain_words",
    "family_of_words",
    "to_polar",
    "words_of_family",
]
