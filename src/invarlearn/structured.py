"""Structured outputs against the worst transformation: sequences, and whatever else you define.

The loss of paper 004 asks of an output only that its score is ``w @ features(x, y)`` and that
someone finds the worst output and transformation of an example. :class:`StructuredProblem` is what
you write; :class:`Chain` is one for labelling sequences; :func:`fit_structured` trains either with
the solvers of the classifiers.
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

from invarlearn.oracles.structured import StructuredProblem, StructuredRisk
from invarlearn.solvers.bundle import bundle
from invarlearn.solvers.columns import RiskColumns, generate
from invarlearn.solvers.pegasos import pegasos
from invarlearn.transforms import Family, Identity
from invarlearn.transforms._checks import check_generator, check_number

__all__ = ["Chain", "StructuredModel", "StructuredProblem", "fit_structured"]

SOLVERS = ("columns", "bundle", "pegasos")


class Chain(StructuredProblem):
    """Labels of the items of a sequence, each of which may be transformed.

    The score of labels y for a sequence x is the sum of ``u[y_t] @ x_t`` over items and of
    ``v[y_t, y_{t+1}]`` over neighbours. The cost of wrong labels is their number. Every item is
    transformed by an element of its own, the worst for it: that goes into the terms of items, and
    Viterbi's algorithm finds the worst labels.

    Parameters
    ----------
    n_labels : int
        Labels are numbers from 0.
    n_inputs : int
        Features of an item.
    family : Family, optional
        What may change in an item; its elements must be listed. None: nothing.

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
            raise TypeError(f"family={family!r} is not a Family")
        self.family = Identity() if family is None else family
        if not np.isfinite(self.family._size(self.n_inputs)):
            raise ValueError(f"the elements of {family!r} cannot be listed")

    @property
    def n_features(self) -> int:
        return self.n_labels * (self.n_inputs + self.n_labels)

    def _split(self, w: NDArray) -> tuple[NDArray, NDArray]:
        """Give the weights of items, (n_labels, n_inputs), and of neighbours."""
        cut = self.n_labels * self.n_inputs
        return w[:cut].reshape(self.n_labels, -1), w[cut:].reshape(self.n_labels, -1)

    def _checked(self, x: Any) -> NDArray[np.float64]:
        x = np.asarray(x)
        if x.ndim != 2 or not len(x) or x.dtype != np.float64 or not np.isfinite(x).all():
            x = check_array(x, dtype=float, input_name="a sequence")
        if x.shape[1] != self.n_inputs:
            raise ValueError(f"items of a sequence have {x.shape[1]} features, not {self.n_inputs}")
        return x

    def _labels(self, y: ArrayLike, length: int) -> NDArray[np.intp]:
        labels = np.asarray(y)
        right = labels.shape == (length,) and np.issubdtype(labels.dtype, np.integer)
        if not right or labels.min() < 0 or labels.max() >= self.n_labels:
            raise ValueError(
                f"labels of a sequence of {length} items must be as many whole numbers from 0 to "
                f"{self.n_labels - 1}"
            )
        return labels

    def features(self, x: Any, y: ArrayLike) -> NDArray[np.float64]:
        x = self._checked(x)
        y = self._labels(y, len(x))
        items = np.zeros((self.n_labels, self.n_inputs))
        np.add.at(items, y, x)
        neighbours = np.zeros((self.n_labels, self.n_labels))
        np.add.at(neighbours, (y[:-1], y[1:]), 1.0)
        return np.concatenate([items.ravel(), neighbours.ravel()])

    def worst(self, w: NDArray, x: Any, y: ArrayLike) -> tuple[NDArray, NDArray, float]:
        x = self._checked(x)
        y = self._labels(y, len(x))
        items, neighbours = self._split(w)
        orbit = self.family.orbit(x)
        scores = orbit @ items.T
        here = np.arange(len(x))
        # by how much a wrong label beats the right one, at the element that is worst for it
        rise = scores - scores[here, :, y][:, :, None]
        element = rise.argmax(axis=1)
        gain = np.take_along_axis(rise, element[:, None], axis=1)[:, 0] + 1.0
        gain[here, y], element[here, y] = 0.0, 0
        other = viterbi(gain, neighbours)
        return orbit[here, element[here, other]], other, float((other != y).sum())

    def predict(self, w: NDArray, x: Any) -> NDArray[np.intp]:
        items, neighbours = self._split(w)
        return viterbi(self._checked(x) @ items.T, neighbours)


def viterbi(items: NDArray, neighbours: NDArray) -> NDArray[np.intp]:
    """Give the labels of the largest sum of terms of items, (T, K), and of neighbours, (K, K)."""
    total = items[0]
    back = []
    for item in items[1:]:
        paths = total[:, None] + neighbours
        back.append(paths.argmax(axis=0))
        total = paths.max(axis=0) + item
    labels = [int(total.argmax())]
    for before in reversed(back):
        labels.append(int(before[labels[-1]]))
    return np.array(labels[::-1])


@dataclass(frozen=True)
class StructuredModel:
    """A trained problem.

    Attributes
    ----------
    problem : StructuredProblem
    w : array of shape (n_features,)
    objective, gap : float
        ``lam |w|^2 / 2 + mean worst loss``, and how far above the optimum it is at most.
    n_iter : int
    """

    problem: StructuredProblem
    w: NDArray[np.float64]
    objective: float
    gap: float
    n_iter: int

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """Give the output of the largest score for each input."""
        return [self.problem.predict(self.w, x) for x in X]


def fit_structured(
    problem: StructuredProblem,
    X: Sequence[Any],
    Y: Sequence[Any],
    lam: float = 0.01,
    solver: str = "columns",
    tol: float = 1e-3,
    max_iter: int = 200,
    random_state: Any = None,
) -> StructuredModel:
    """Minimise ``lam |w|^2 / 2 + mean of worst losses`` over examples with structured outputs.

    Parameters
    ----------
    problem : StructuredProblem
    X, Y : sequences
        Inputs and outputs, of whatever kind the problem knows.
    lam : float, default=0.01
    solver : {"columns", "bundle", "pegasos"}, default="columns"
    tol : float, default=1e-3
        The duality gap, as part of the objective, at which to stop.
    max_iter : int, default=200
        Rounds of columns, steps of the bundle, or passes of Pegasos.
    random_state : int, RandomState or None
        For the order of examples.

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
        raise TypeError(f"problem={problem!r} must be a StructuredProblem: subclass it")
    if not len(X) or len(X) != len(Y):
        raise ValueError(
            f"there are {len(X)} inputs and {len(Y)} outputs: as many of both are needed, and one"
        )
    if check_number(lam, "lam", low=0) == 0:
        raise ValueError("lam=0 must be above 0")
    if solver not in SOLVERS:
        raise ValueError(f"solver={solver!r} is unknown: choose one of {', '.join(SOLVERS)}")
    tol = check_number(tol, "tol", low=0)
    max_iter = int(check_number(max_iter, "max_iter", low=1, whole=True))
    risk = StructuredRisk(problem, X, Y)
    rng = check_generator(random_state)
    if solver == "columns":
        source = RiskColumns(risk)
        found = generate(source, risk.shares / lam, tol, max_iter, rng=rng)
        w = found.A[0] @ source.rows
        model = StructuredModel(problem, w, found.objective * lam, found.gap * lam, found.n_iter)
    elif solver == "bundle":
        planes = bundle(risk, lam, tol, max_iter)
        model = StructuredModel(problem, planes.w, planes.objective, planes.gap, planes.n_iter)
    else:
        model = StructuredModel(problem, *pegasos(risk, lam, tol, max_iter, rng))
    if model.gap > tol * model.objective:
        warnings.warn(
            f"solver {solver!r} stopped after {model.n_iter} rounds with a duality gap of "
            f"{model.gap:.1e} at an objective of {model.objective:.4g}, above tol={tol:g}: raise "
            "max_iter",
            ConvergenceWarning,
            stacklevel=2,
        )
    return model
