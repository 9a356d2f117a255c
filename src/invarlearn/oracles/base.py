"""Base classes of oracles, which find the worst label and transformation of each sample.

The *columns* of a sample (x, y) are the pairs of a label y' and an element s of the family. Each
has psi = phi(s(x), y') - phi(s(x), y) and the cost delta. The loss of a function f at the sample is
the largest ``<f, psi> + delta`` over its columns. A :class:`Risk` is for functions with a vector of
weights. A :class:`ColumnSource` is for functions that are sums over columns, as with a kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.validation import check_memory
from invarlearn.oracles.costs import Floats


@dataclass(frozen=True)
class Worst:
    """The worst case of one sample: its loss is ``w @ psi + delta``.

    Attributes
    ----------
    psi : array of shape (n_weights,)
    delta : float
    """

    psi: Floats
    delta: float


class Oracle(ABC):
    """The risk of a function f: its mean worst-case loss.

    Attributes
    ----------
    n_examples : int
    shares : array of shape (n_examples,)
        Weights of the samples in the mean; they add up to one.
    at_zero : float
        The risk at f = 0.
    """

    n_examples: int
    shares: Floats
    at_zero: float

    @abstractmethod
    def losses_of(self, coef: Floats) -> tuple[Floats, float]:
        """Return the losses of f, (n_examples,), and its squared norm.

        Parameters
        ----------
        coef : array of shape (n_weights,) or (n_functions, n_rows)
        """
        raise NotImplementedError

    @abstractmethod
    def columns(self) -> ColumnSource:
        """Return the source of columns for column generation."""
        raise NotImplementedError


class Risk(Oracle):
    """The risk of a function that is linear in a vector w of weights.

    Attributes
    ----------
    n_examples, n_weights : int
    shares : array of shape (n_examples,)
        Weights of the samples in the mean; they add up to one.
    at_zero : float
        The risk at w = 0.
    walk : callable or None
        ``walk(order, lam, radius, v, u, state)`` takes the steps of
        :class:`invarlearn.solvers.pegasos.Walk` in compiled code. None: the solver calls
        :meth:`worst` for each step.
    """

    n_weights: int
    walk: Any = None

    @abstractmethod
    def subgradient(self, w: Floats) -> tuple[Floats, Floats]:
        """Return the losses, (n_examples,), and a subgradient of the risk at w, (n_weights,)."""
        raise NotImplementedError

    @abstractmethod
    def worst(self, w: Floats, i: int) -> Worst:
        """Return the worst case of sample i at weights w, (n_weights,)."""
        raise NotImplementedError

    def losses_of(self, coef: Floats) -> tuple[Floats, float]:
        return self.subgradient(coef)[0], float(coef @ coef)

    def columns(self) -> ColumnSource:
        return RiskColumns(self)


@dataclass(frozen=True)
class Priced:
    """The losses of all samples, and the columns whose loss is above a threshold.

    A column is ``psi = scale * phi(row) (e_plus - e_minus)``, with the cost ``delta``.

    Attributes
    ----------
    losses : array of shape (n_examples,)
    example : array of shape (n_columns,)
        Index of the sample of each column.
    row : array of shape (n_columns,)
        Index of the transformed row in the source.
    plus, minus : arrays of shape (n_columns,)
        Indices of functions; ``minus`` is -1 if there is only one function.
    scale, delta : arrays of shape (n_columns,)
    """

    losses: Floats
    example: NDArray[np.int64]
    row: NDArray[np.int64]
    plus: NDArray[np.int64]
    minus: NDArray[np.int64]
    scale: Floats
    delta: Floats


class ColumnSource(Oracle):
    """Base class of columns that are created on demand, and the inner products of their rows.

    Attributes
    ----------
    n_examples, n_functions : int
    null : array of shape (n_examples,)
        Costs of the correct labels, whose columns have psi = 0.
    n_rows : int
        Number of rows created so far.
    """

    n_functions: int
    null: Floats
    n_rows: int

    @abstractmethod
    def price(self, A: Floats, threshold: Floats, at_most: int) -> Priced:
        """Return the losses of f, and its worst columns.

        Parameters
        ----------
        A : array of shape (n_functions, n_rows)
            Coefficients of f at the rows.
        threshold : array of shape (n_examples,)
            Only columns with larger losses are returned.
        at_most : int
            Largest number of columns of a sample.
        """
        raise NotImplementedError

    @abstractmethod
    def gram(self, rows: NDArray | slice) -> Floats:
        """Return the inner products of given rows with all rows: (len(rows), n_rows)."""
        raise NotImplementedError

    @abstractmethod
    def keep(self, rows: NDArray[np.int64]) -> None:
        """Drop all rows but these; their positions in ``rows`` become their indices."""
        raise NotImplementedError

    def coefficients(self, A: Floats) -> Floats:
        """Return the coefficients of the problem from those at the rows; by default the same."""
        return A

    def columns(self) -> ColumnSource:
        return self


class RiskColumns(ColumnSource):
    """Columns of a linear risk: the rows are the vectors psi themselves.

    Parameters
    ----------
    risk : Risk
    """

    n_functions: ClassVar[int] = 1  # type: ignore[misc]

    def __init__(self, risk: Risk):
        self.risk = risk
        self.n_examples, self.shares, self.at_zero = risk.n_examples, risk.shares, risk.at_zero
        shape = (risk.n_examples, risk.n_weights)
        check_memory(shape, float, "one column for each sample", "choose solver='bundle'")
        self.null = np.zeros(risk.n_examples)
        self.rows = np.empty((0, risk.n_weights))

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return len(self.rows)

    def losses_of(self, coef: Floats) -> tuple[Floats, float]:
        return self.risk.losses_of(self.coefficients(coef))

    def price(self, A: Floats, threshold: Floats, at_most: int) -> Priced:
        w = self.coefficients(A)
        losses = np.empty(self.n_examples)
        columns: list[tuple[int, Floats, float]] = []
        for i in range(self.n_examples):
            worst = self.risk.worst(w, i)
            losses[i] = w @ worst.psi + worst.delta
            if losses[i] > threshold[i]:
                columns.append((i, worst.psi, worst.delta))
        n, first = len(columns), self.n_rows
        if n:
            self.rows = np.concatenate([self.rows, np.array([psi for _, psi, _ in columns])])
        return Priced(
            losses,
            np.array([i for i, _, _ in columns], dtype=np.int64),
            first + np.arange(n),
            np.zeros(n, dtype=np.int64),
            np.full(n, -1),
            np.ones(n),
            np.array([delta for _, _, delta in columns]),
        )

    def gram(self, rows: NDArray | slice) -> Floats:
        return self.rows[rows] @ self.rows.T

    def keep(self, rows: NDArray[np.int64]) -> None:
        self.rows = self.rows[rows]

    def coefficients(self, A: Floats) -> Floats:
        return A[0] @ self.rows


def check_shares(weights: Any, n: int) -> Floats:
    """Return weights of n samples, divided by their sum; None: equal weights."""
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    return weights / weights.sum()
