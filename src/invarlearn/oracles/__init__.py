"""Worst cases of a loss over labels and transformations (Teo et al. 2007, equation 2).

An oracle contains the samples, the family and the costs. For a function f it finds, for each
sample, the label and the transformation with the largest loss. Solvers access the data through
oracles only.
"""

from invarlearn.oracles.base import Risk, Worst
from invarlearn.oracles.costs import Costs
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
