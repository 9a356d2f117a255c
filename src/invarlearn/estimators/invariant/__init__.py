"""InvariantClassifier and InvariantRegressor, with one file for each stage of ``fit``."""

from invarlearn.estimators.invariant.budget import Budget
from invarlearn.estimators.invariant.estimator import InvariantClassifier, InvariantRegressor

__all__ = ["Budget", "InvariantClassifier", "InvariantRegressor"]
