"""Features of rows: what estimators compare instead of pixels."""

from invarlearn.features.centred import Centred
from invarlearn.features.invariant import InvariantFeatures
from invarlearn.features.local import LocalKernelFeatures
from invarlearn.features.oriented import OrientedGradients
from invarlearn.features.patches import PatchFeatures

__all__ = [
    "Centred",
    "InvariantFeatures",
    "LocalKernelFeatures",
    "OrientedGradients",
    "PatchFeatures",
]
