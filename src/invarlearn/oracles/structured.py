"""Worst cases of structured outputs, by a user's joint feature map and oracle."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from invarlearn.oracles.base import Floats, Risk, Worst, check_shares


class StructuredProblem(ABC):
    """What a structured output is: subclass this, and give ``n_features`` and three methods.

    The score of an output y for an input x is ``w @ features(x, y)``. Inputs and outputs may be
    anything: sequences, trees, rankings.
    """

    @property
    @abstractmethod
    def n_features(self) -> int:
        """How long a joint feature vector is."""
        raise NotImplementedError

    @abstractmethod
    def features(self, x: Any, y: Any) -> Floats:
        """Give the joint feature vector, (n_features,)."""
        raise NotImplementedError

    @abstractmethod
    def worst(self, w: Floats, x: Any, y: Any) -> tuple[Any, Any, float]:
        """Find the transformed input s(x) and the output y' that hurt most.

        They maximise ``w @ features(s(x), y') - w @ features(s(x), y) + cost`` over all outputs,
        y itself included, and all transformations.

        Returns
        -------
        s_x, y_other, cost
        """
        raise NotImplementedError

    @abstractmethod
    def predict(self, w: Floats, x: Any) -> Any:
        """Give the output of the largest score."""
        raise NotImplementedError


class StructuredRisk(Risk):
    """The mean worst-case loss of a structured problem.

    Parameters
    ----------
    problem : StructuredProblem
    X, Y : sequences of inputs and of outputs
    """

    def __init__(self, problem: StructuredProblem, X: Sequence[Any], Y: Sequence[Any]):
        self.problem = problem
        self.X, self.Y = X, Y
        self.n_examples = len(X)
        self.n_weights = problem.n_features
        self.shares = check_shares(None, self.n_examples)
        zero = np.zeros(self.n_weights)
        self.at_zero = float(np.mean([self.worst(zero, i).delta for i in range(self.n_examples)]))

    def worst(self, w: Floats, i: int) -> Worst:
        x, y = self.X[i], self.Y[i]
        answer = self.problem.worst(w, x, y)
        if not isinstance(answer, tuple) or len(answer) != 3:
            raise ValueError(
                f"worst of {self.problem!r} must give three things: the transformed input, the "
                f"other output, and the cost; for example {i} it gave {answer!r:.100}"
            )
        moved, other, cost = answer
        psi = self.problem.features(moved, other) - self.problem.features(moved, y)
        found = Worst(np.asarray(psi, dtype=float), float(cost))
        finite = np.isfinite(found.psi).all() and np.isfinite(found.delta)
        if found.psi.shape != (self.n_weights,) or not finite:
            raise ValueError(
                f"features of {self.problem!r} must be {self.n_weights} finite numbers, and costs "
                f"finite; for example {i} it gave {found.psi.shape} features and the cost {cost}"
            )
        # y itself, as it is, costs nothing: the worst case cannot be better than that
        return found if w @ psi + cost > 0 else Worst(np.zeros(self.n_weights), 0.0)

    def subgradient(self, w: Floats) -> tuple[Floats, Floats]:
        losses, gradient = np.empty(self.n_examples), np.zeros(self.n_weights)
        for i in range(self.n_examples):
            worst = self.worst(w, i)
            losses[i] = w @ worst.psi + worst.delta
            gradient += self.shares[i] * worst.psi
        return losses, gradient
