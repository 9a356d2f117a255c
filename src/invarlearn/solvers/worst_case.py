r"""The problem of minimising a worst-case loss (Teo et al., 2007).

The objective is

.. math:: \frac{\lambda}{2} \|f\|^2 + \sum_i s_i \, \ell_i(f),

where :math:`\ell_i` is the loss of sample i at its worst label and transformation, which an oracle
finds. The shares :math:`s_i` add up to one.
"""

from __future__ import annotations

from dataclasses import dataclass

from invarlearn.oracles.base import Oracle, Risk
from invarlearn.oracles.orbits import KernelColumns
from invarlearn.solvers.base import Numbers, Requirement


@dataclass(frozen=True)
class WorstCaseProblem:
    """``lam |f|^2 / 2`` plus the mean worst-case loss.

    Attributes
    ----------
    oracle : Oracle
        A :class:`~invarlearn.oracles.base.Risk` for functions with a vector of weights, or a
        :class:`~invarlearn.oracles.base.ColumnSource`.
    lam : float
    """

    oracle: Oracle
    lam: float

    def objective(self, coef: Numbers, offset: Numbers | None = None) -> float:
        """Return the objective at coefficients; offsets are ignored.

        Parameters
        ----------
        coef : array of shape (n_weights,) or (n_functions, n_rows)
        offset : ignored
        """
        losses, squared_norm = self.oracle.losses_of(coef)
        return self.lam * squared_norm / 2 + float(self.oracle.shares @ losses)

    def scale(self, objective: float) -> float:
        """Return the scale that ``tol`` is relative to, which is the objective."""
        return objective


LINEAR = Requirement(
    "functions that are linear in the features", lambda p: isinstance(p.oracle, Risk)
)
SINGLE_SAMPLES = Requirement(
    "an oracle for single samples", lambda p: isinstance(p.oracle, (Risk, KernelColumns))
)
