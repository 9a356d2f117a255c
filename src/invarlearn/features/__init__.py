"""Features of rows: what estimators compare instead of pixels."""

from invarlearn.features.invariant import InvariantFeatures
from invarlearn.features.oriented import OrientedGradients

__all__ = ["InvariantFeatures", "OrientedGradients"]
