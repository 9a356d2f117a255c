"""Transformers: features of rows for linear methods and kernels."""

from invarlearn.features.centred import Centred
from invarlearn.features.invariant import InvariantFeatures
from invarlearn.features.local import LocalKernelFeatures
from invarlearn.features.oriented import OrientedGradients
from invarlearn.features.patches import PatchFeatures
from invarlearn.features.whitened import WhitenedPatches

__all__ = [
    "Centred",
    "InvariantFeatures",
    "LocalKernelFeatures",
    "OrientedGradients",
    "PatchFeatures",
    "WhitenedPatches",
]
