"""Features of rows: what estimators compare instead of pixels."""

from invarlearn.features.oriented import OrientedGradients

__all__ = ["OrientedGradients"]
