"""Learn from few labelled examples when you know what should not matter.

Declare a *family* of transformations (:mod:`invarlearn.transforms`) and pass it to any estimator of
this package. Estimators are imported on first use, so that ``import invarlearn`` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# The module of each public name.
_MODULES = {
    "BoundedClassifier": "invarlearn.estimators.bounded",
    "Budget": "invarlearn.estimators.invariant",
    "InvSVC": "invarlearn.estimators.representer",
    "InvSVCCV": "invarlearn.estimators.representer_cv",
    "InvSVR": "invarlearn.estimators.representer",
    "InvariantClassifier": "invarlearn.estimators.invariant",
    "InvariantRegressor": "invarlearn.estimators.invariant",
    "InvariantFeatures": "invarlearn.features.invariant",
    "LaplacianSVC": "invarlearn.estimators.laplacian",
    "OrbitSVC": "invarlearn.estimators.orbit",
    "OrbitSVR": "invarlearn.estimators.orbit",
    "RLSClassifier": "invarlearn.estimators.least_squares",
    "RLSRegressor": "invarlearn.estimators.least_squares",
    "TangentDistanceClassifier": "invarlearn.estimators.tangent_distance",
    "VirtualSVC": "invarlearn.estimators.virtual",
    "WorstCaseLinearSVC": "invarlearn.estimators.worst_case_linear",
    "WorstCaseSVC": "invarlearn.estimators.worst_case",
}

if TYPE_CHECKING:
    from invarlearn.estimators.bounded import BoundedClassifier
    from invarlearn.estimators.invariant import Budget, InvariantClassifier, InvariantRegressor
    from invarlearn.estimators.laplacian import LaplacianSVC
    from invarlearn.estimators.least_squares import RLSClassifier, RLSRegressor
    from invarlearn.estimators.orbit import OrbitSVC, OrbitSVR
    from invarlearn.estimators.representer import InvSVC, InvSVR
    from invarlearn.estimators.representer_cv import InvSVCCV
    from invarlearn.estimators.tangent_distance import TangentDistanceClassifier
    from invarlearn.estimators.virtual import VirtualSVC
    from invarlearn.estimators.worst_case import WorstCaseSVC
    from invarlearn.estimators.worst_case_linear import WorstCaseLinearSVC
    from invarlearn.features.invariant import InvariantFeatures

__all__ = [
    "BoundedClassifier",
    "Budget",
    "InvSVC",
    "InvSVCCV",
    "InvSVR",
    "InvariantClassifier",
    "InvariantFeatures",
    "InvariantRegressor",
    "LaplacianSVC",
    "OrbitSVC",
    "OrbitSVR",
    "RLSClassifier",
    "RLSRegressor",
    "TangentDistanceClassifier",
    "VirtualSVC",
    "WorstCaseLinearSVC",
    "WorstCaseSVC",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'invarlearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
