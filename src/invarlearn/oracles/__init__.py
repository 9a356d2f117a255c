"""The worst case of a loss over labels and transformations (paper 004, equation 2).

An oracle knows the examples, the family and the costs, and finds for a function f, and each
example, the label and the transformation at which the loss is largest. Solvers know nothing else.
"""

from invarlearn.oracles.base import Costs, Risk, Worst
from invarlearn.oracles.linear import ListedRisk, RivalRisk, ScaledRisk, linear_risk
from invarlearn.oracles.orbits import OrbitColumns
from invarlearn.oracles.structured import StructuredRisk

__all__ = [
    "Costs",
    "ListedRisk",
    "OrbitColumns",
    "Risk",
    "RivalRisk",
    "ScaledRisk",
    "StructuredRisk",
    "Worst",
    "linear_risk",
]
