"""Structured outputs with a worst-case loss, such as labels of sequences.

The loss of Teo et al. (2007) applies to any outputs y with a score ``w @ features(x, y)``, if the
worst output and transformation of an example can be found. Subclass :class:`StructuredProblem` to
define outputs. :class:`Chain` is the problem of labelling sequences. :func:`fit_structured` fits
the weights with the solvers of worst-case risks.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from invarlearn._utils.progress import progress_callback
from invarlearn._utils.validation import check_generator, check_number
from invarlearn.oracles.structured import StructuredProblem, StructuredRisk
from invarlearn.solvers import Solver, WorstCaseProblem, resolve_solver
from invarlearn.transforms import Family, Identity

__all__ = ["Chain", "StructuredModel", "StructuredProblem", "fit_structured"]


class Chain(StructuredProblem):
    """Labelling of the items of a sequence, each of which may be transformed.

    The score of labels y for a sequence x is the sum of ``u[y_t] @ x_t`` over items and of
    ``v[y_t, y_{t+1}]`` over neighbours. The cost is the number of wrong labels. Each item has its
    own worst element of the family, which depends only on the label of the item. Viterbi's
    algorithm finds the worst labels.

    Parameters
    ----------
    n_labels : int
        Number of labels; labels are numbers from 0.
    n_inputs : int
        Number of features of an item.
    family : Family, optional
        The transformations of an item; their elements must be listed. None: no transformations.

    Examples
    --------
    >>> import numpy as np
    >>> chain = Chain(n_labels=2, n_inputs=3)
    >>> chain.features(np.eye(3), [0, 1, 1])
    array([1., 0., 0., 0., 1., 1., 0., 1., 0., 1.])
    """

    def __init__(self, n_labels: int, n_inputs: int, family: Family | None = None):
        self.n_labels = int(check_number(n_labels, "n_labels", low=1, whole=True))
        self.n_inputs = int(check_number(n_inputs, "n_inputs", low=1, whole=True))
        if family is not None and not isinstance(family, Family):
            raise TypeError(
                f"family={family!r} is not a Family: pass one from invarlearn.transforms"
            )
        self.family = Identity() if family is None else family
        if not np.isfinite(self.family.size(self.n_inputs)):
            raise ValueError(
                f"the elements of family={family!r} cannot be listed: pass Sampled(family, k) for "
                "k random elements"
            )

    @property
    def n_features(self) -> int:
        return self.n_labels * (self.n_inputs + self.n_labels)

    def _split(self, w: NDArray) -> tuple[NDArray, NDArray]:
        """Return the weights of items, (n_labels, n_inputs), and pairs, (n_labels, n_labels)."""
        n_item_weights = self.n_labels * self.n_inputs
        items, pairs = w[:n_item_weights], w[n_item_weights:]
        return items.reshape(self.n_labels, -1), pairs.reshape(self.n_labels, -1)

    def _check_sequence(self, x: Any) -> NDArray[np.float64]:
        """Return a validated sequence: (n_items, n_inputs)."""
        x = np.asarray(x)
        if x.ndim != 2 or not len(x) or x.dtype != np.float64 or not np.isfinite(x).all():
            x = check_array(x, dtype=float, input_name="a sequence")
        if x.shape[1] != self.n_inputs:
            raise ValueError(f"items of a sequence have {x.shape[1]} features, not {self.n_inputs}")
        return x

    def _check_labels(self, y: ArrayLike, length: int) -> NDArray[np.intp]:
        """Return the validated labels of a sequence: (length,)."""
        labels = np.asarray(y)
        is_valid = labels.shape == (length,) and np.issubdtype(labels.dtype, np.integer)
        if not is_valid or labels.min() < 0 or labels.max() >= self.n_labels:
            raise ValueError(
                f"labels of a sequence of {length} items must be {length} whole numbers from 0 to "
                f"{self.n_labels - 1}"
            )
        return labels

    def features(self, x: Any, y: ArrayLike) -> NDArray[np.float64]:
        x = self._check_sequence(x)
        y = self._check_labels(y, len(x))
        items = np.zeros((self.n_labels, self.n_inputs))
        np.add.at(items, y, x)
        neighbours = np.zeros((self.n_labels, self.n_labels))
        np.add.at(neighbours, (y[:-1], y[1:]), 1.0)
        return np.concatenate([items.ravel(), neighbours.ravel()])

    def worst(self, w: NDArray, x: Any, y: ArrayLike) -> tuple[NDArray, NDArray, float]:
        x = self._check_sequence(x)
        y = self._check_labels(y, len(x))
        items, neighbours = self._split(w)
        orbit = self.family.orbit(x)
        scores = orbit @ items.T
        positions = np.arange(len(x))
        # (items, elements, labels): by how much a label scores above the correct one
        excess = scores - scores[positions, :, y][:, :, None]
        element = excess.argmax(axis=1)
        losses = np.take_along_axis(excess, element[:, None], axis=1)[:, 0] + 1.0
        losses[positions, y], element[positions, y] = 0.0, 0
        other = viterbi(losses, neighbours)
        return orbit[positions, element[positions, other]], other, float((other != y).sum())

    def predict(self, w: NDArray, x: Any) -> NDArray[np.intp]:
        items, neighbours = self._split(w)
        return viterbi(self._check_sequence(x) @ items.T, neighbours)


def viterbi(items: NDArray, neighbours: NDArray) -> NDArray[np.intp]:
    """Return the labels with the largest total score, by dynamic programming: (n_items,).

    Parameters
    ----------
    items : array of shape (n_items, n_labels)
        Score of each label at each item.
    neighbours : array of shape (n_labels, n_labels)
        Score of each pair of labels at neighbouring items.
    """
    total = items[0]
    predecessors = []
    for item in items[1:]:
        paths = total[:, None] + neighbours
        predecessors.append(paths.argmax(axis=0))
        total = paths.max(axis=0) + item
    labels = [int(total.argmax())]
    for predecessor in reversed(predecessors):
        labels.append(int(predecessor[labels[-1]]))
    return np.array(labels[::-1])


@dataclass(frozen=True)
class StructuredModel:
    """The fitted weights of a structured problem.

    Attributes
    ----------
    problem : StructuredProblem
    w : array of shape (n_features,)
    objective, gap : float
        The objective and its duality gap: the minimum is at least ``objective - gap``.
    n_iter : int
    """

    problem: StructuredProblem
    w: NDArray[np.float64]
    objective: float
    gap: float
    n_iter: int

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """Return the output with the largest score for each input."""
        return [self.problem.predict(self.w, x) for x in X]


def fit_structured(
    problem: StructuredProblem,
    X: Sequence[Any],
    Y: Sequence[Any],
    lam: float = 0.01,
    solver: str | Solver = "columns",
    tol: float = 1e-3,
    max_iter: int = 200,
    random_state: Any = None,
    verbose: Any = False,
) -> StructuredModel:
    """Fit the weights of a structured problem.

    The objective is ``lam |w|^2 / 2`` plus the mean worst-case loss of the examples.

    Parameters
    ----------
    problem : StructuredProblem
    X, Y : sequences
        Inputs and outputs of the problem.
    lam : float, default=0.01
        Regularisation.
    solver : {"columns", "bundle", "pegasos"} or Solver, default="columns"
    tol : float, default=1e-3
        Stop at a duality gap of ``tol`` times the objective.
    max_iter : int, default=200
        Largest number of rounds of column generation, steps of the bundle method, or passes of
        Pegasos.
    random_state : int, RandomState or None
        Determines the order of examples.
    verbose : bool or callable, default=False
        Whether to print progress after each iteration, or a callback that takes it.

    Returns
    -------
    StructuredModel

    Examples
    --------
    >>> import numpy as np
    >>> X = [np.eye(2)[[0, 1, 0]], np.eye(2)[[1, 1]]]
    >>> model = fit_structured(Chain(2, 2), X, [[0, 1, 0], [1, 1]])
    >>> model.predict(X)
    [array([0, 1, 0]), array([1, 1])]
    """
    if not isinstance(problem, StructuredProblem):
        raise TypeError(
            f"problem={problem!r} must be a StructuredProblem: pass a Chain, or subclass it"
        )
    if not len(X) or len(X) != len(Y):
        raise ValueError(
            f"there are {len(X)} inputs and {len(Y)} outputs: pass one output for each input, and "
            "at least one input"
        )
    if check_number(lam, "lam", low=0) == 0:
        raise ValueError("lam=0 must be above 0")
    risk = StructuredRisk(problem, X, Y)
    solution = resolve_solver(solver, WorstCaseProblem).solve(
        WorstCaseProblem(risk, lam),
        tol,
        max_iter,
        rng=check_generator(random_state),
        progress=progress_callback(verbose),
    )
    if not solution.converged:
        warnings.warn(
            f"solver {solver!r} stopped after {solution.n_iter} rounds with a duality gap of "
            f"{solution.gap:.1e} at an objective of {solution.objective:.4g}, above tol={tol:g}: "
            f"{solution.reason}",
            ConvergenceWarning,
            stacklevel=2,
        )
    return StructuredModel(
        problem, solution.coef, solution.objective, solution.gap, solution.n_iter
    )
