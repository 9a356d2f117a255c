"""Worst cases of structured outputs, by a user's joint feature map and oracle."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from invarlearn.oracles.base import Risk, Worst, check_shares
from invarlearn.oracles.costs import Floats


class StructuredProblem(ABC):
    """Base class of problems with structured outputs, such as sequences, trees or rankings.

    The score of an output y for an input x is ``w @ features(x, y)``. Subclasses implement
    ``n_features``, ``features``, ``worst`` and ``predict``.
    """

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Length of a joint feature vector."""
        raise NotImplementedError

    @abstractmethod
    def features(self, x: Any, y: Any) -> Floats:
        """Return the joint feature vector, (n_features,)."""
        raise NotImplementedError

    @abstractmethod
    def worst(self, w: Floats, x: Any, y: Any) -> tuple[Any, Any, float]:
        """Find the transformed input s(x) and the output y' with the largest loss.

        They maximise ``w @ features(s(x), y') - w @ features(s(x), y) + cost`` over all
        transformations and all outputs, including y.

        Parameters
        ----------
        w : array of shape (n_features,)
        x, y
            An input and its correct output.

        Returns
        -------
        s_x, y_other
            The transformed input and the output.
        cost : float
            The cost of predicting ``y_other`` for y.
        """
        raise NotImplementedError

    @abstractmethod
    def predict(self, w: Floats, x: Any) -> Any:
        """Return the output with the largest score."""
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
                f"worst of {self.problem!r} must return three values, the transformed input, the "
                f"output and the cost; for example {i} it returned {answer!r:.100}"
            )
        transformed, other, cost = answer
        psi = self.problem.features(transformed, other) - self.problem.features(transformed, y)
        worst = Worst(np.asarray(psi, dtype=float), float(cost))
        finite = np.isfinite(worst.psi).all() and np.isfinite(worst.delta)
        if worst.psi.shape != (self.n_weights,) or not finite:
            raise ValueError(
                f"features of {self.problem!r} must be {self.n_weights} finite numbers, and costs "
                f"must be finite; for example {i} the features have shape {worst.psi.shape} and "
                f"the cost is {cost}"
            )
        # the loss of y itself is zero, a lower bound of the worst case
        return worst if w @ psi + cost > 0 else Worst(np.zeros(self.n_weights), 0.0)

    def subgradient(self, w: Floats) -> tuple[Floats, Floats]:
        losses, gradient = np.empty(self.n_examples), np.zeros(self.n_weights)
        for i in range(self.n_examples):
            worst = self.worst(w, i)
            losses[i] = w @ worst.psi + worst.delta
            gradient += self.shares[i] * worst.psi
        return losses, gradient
