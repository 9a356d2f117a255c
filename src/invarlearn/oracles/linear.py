"""Worst cases for functions that are linear in the features."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from invarlearn._utils.parallel import in_threads, slices
from invarlearn.oracles.base import Risk, Worst, check_shares
from invarlearn.oracles.costs import Costs, Floats
from invarlearn.transforms import Family, FeatureScaling
from invarlearn.transforms.base import BLOCK_BYTES


class LinearRisk(Risk):
    """Base class of risks of linear classifiers, whose weights are flat.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Class indices, from 0.
    family : Family
    costs : Costs
    weights : array of shape (n_samples,), optional
        Weights of samples. None: equal weights.
    bias : float, default=0.0
        Value of a constant feature, which is not transformed. 0: no constant feature.
    """

    def __init__(
        self,
        X: Any,
        y: NDArray,
        family: Family,
        costs: Costs,
        weights: Floats | None = None,
        bias: float = 0.0,
    ):
        self.X = X
        self.y = np.asarray(y, dtype=np.int64)
        self.family = family
        self.costs = costs
        self.bias = float(bias)
        self.n_examples = X.shape[0]
        self.n_weights = (X.shape[1] + (self.bias != 0)) * costs.n_functions
        self.shares = check_shares(weights, self.n_examples)
        self.at_zero = float(self.shares @ costs.most[self.y])

    def split(self, w: Floats) -> tuple[Floats, Floats]:
        """Return the weights, (n_features, n_functions), and constants, (n_functions,)."""
        K = self.costs.n_functions
        table = w.reshape(-1, K)
        n = self.X.shape[1]
        return table[:n], self.bias * table[n] if self.bias else np.zeros(K)

    def joined(self, table: Floats, constant: Floats) -> Floats:
        """Return flat weights, (n_weights,): the inverse of :meth:`split`."""
        rows = [table, constant[None] / self.bias] if self.bias else [table]
        return np.concatenate(rows).ravel()

    def _class_scores(self, scores: Floats) -> Floats:
        """Return scores of classes, (..., n_classes), from those of functions."""
        return scores if scores.shape[-1] > 1 else np.concatenate([-scores, scores], axis=-1) / 2

    def _difference(self, own: int, rival: int) -> Floats:
        """Return phi(x, rival) - phi(x, own) as factors of x, (n_functions,)."""
        factors = np.zeros(self.costs.n_functions)
        if len(factors) == 1:
            factors[0] = -1.0 if own == 1 else 1.0
        else:
            factors[[rival, own]] = 1.0, -1.0
        return factors

    def _psi(self, row: Floats, own: int, rival: int) -> Floats:
        """Return psi of a transformed row, (n_features,), with its scale: (n_weights,)."""
        psi = np.zeros((self.n_weights // self.costs.n_functions, self.costs.n_functions))
        factors = self.costs.scale[own, rival] * self._difference(own, rival)
        psi[: len(row)] = np.outer(row, factors)
        if self.bias:
            psi[-1] = self.bias * factors
        return psi.ravel()

    def _gradient(self, rows: Any, samples: NDArray, rivals: NDArray) -> Floats:
        """Return the sum of subgradients, weighted by shares, of some samples: (n_weights,).

        Parameters
        ----------
        rows : array or CSR matrix of shape (n, n_features)
            The samples at their worst transformation.
        samples, rivals : arrays of shape (n,)
            Indices of the samples, and of their worst classes.
        """
        own = self.y[samples]
        amount = self.shares[samples] * self.costs.scale[own, rivals]
        table = np.array([self._difference(a, b) for a, b in zip(own, rivals, strict=True)])
        table = amount[:, None] * table.reshape(len(samples), self.costs.n_functions)
        features = rows.T @ table
        if not self.bias:
            return np.asarray(features).ravel()
        return np.concatenate([features, self.bias * table.sum(axis=0)[None]]).ravel()


class ScaledRisk(LinearRisk):
    """Worst cases of :class:`FeatureScaling` in closed form, by one compiled pass over the rows.

    Also for :class:`FeatureDropping` and the identity. Rows are stored in CSR format; zeros take no
    time.
    """

    def __init__(self, X: Any, *args: Any, **kwargs: Any):
        X = sparse.csr_matrix(X, dtype=float)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        super().__init__(X, *args, **kwargs)
        self.family.resolve_shape(X.shape[1])
        low, high, budget = (1.0, 1.0, 0) if self.family.is_identity else self.family.bounds()
        self._guesses = np.zeros((self.n_examples, self.costs.n_classes))
        self._rows = (X.data, X.indices, X.indptr)
        cost = self.costs.cost[:, :, 0]
        self._margins = (
            self.costs.n_functions,
            self.bias,
            cost,
            self.costs.scale,
            float(low),
            float(high),
            int(min(budget, X.shape[1])),
        )
        # threads work on pieces; their number depends on the data alone, so that sums do not depend
        # on the number of threads
        pieces = int(np.clip(X.nnz // max(50_000, self.n_weights), 1, 4))
        self._pieces = slices(self.n_examples, -(-self.n_examples // pieces))
        # allocated once, since scattered writes to new memory are slow
        self._gradients = [np.empty(self.n_weights) for _ in self._pieces]

    def subgradient(self, w: Floats) -> tuple[Floats, Floats]:
        from invarlearn.oracles._scaled import Margins, SparseRows, scaled_pass

        losses = np.empty(self.n_examples)
        data, indices, indptr = self._rows
        margins = Margins(*self._margins)

        def pass_over(number: int) -> None:
            piece = self._pieces[number]
            gradient = self._gradients[number]
            gradient.fill(0)
            rows = SparseRows(data, indices, indptr[piece.start : piece.stop + 1], self.y[piece])
            shares, guesses = self.shares[piece], self._guesses[piece]
            scaled_pass(rows, margins, w, shares, guesses, losses[piece], gradient)

        in_threads(pass_over, range(len(self._pieces)))
        gradient = self._gradients[0].copy()
        for other in self._gradients[1:]:
            gradient += other
        return losses, gradient

    def worst(self, w: Floats, i: int) -> Worst:
        single = ScaledRisk(self.X[[i]], self.y[[i]], self.family, self.costs, bias=self.bias)
        losses, psi = single.subgradient(w)
        return Worst(psi, float(losses[0] - w @ psi))

    def walk(
        self, order: NDArray, lam: float, radius: float, v: Floats, u: Floats, state: Floats
    ) -> None:
        """Take a step of Pegasos for each sample in this order; update v, u and state in place.

        Parameters
        ----------
        order : array of int
            Indices of samples.
        lam, radius : float
        v, u : arrays of shape (n_weights,)
        state : array of shape (6,)
            As in :class:`invarlearn.solvers.pegasos.Walk`.
        """
        from invarlearn.oracles._scaled import Margins, SparseRows, Steps, WalkArrays, scaled_walk

        rows = SparseRows(*self._rows, self.y)
        steps = Steps(order, self.shares * self.n_examples, float(lam), float(radius))
        arrays = WalkArrays(v, u, state)
        scaled_walk(rows, Margins(*self._margins), self._guesses, steps, arrays)


class ListedRisk(LinearRisk):
    """Worst cases of families with listed elements, by trying all elements in blocks."""

    def subgradient(self, w: Floats) -> tuple[Floats, Floats]:
        best, element = self._search(self.X, self.y, w)
        losses, rivals = _worst_rivals(best, self.costs.null[self.y])
        samples = np.flatnonzero((rivals >= 0) & (self.shares > 0))
        gradient = np.zeros(self.n_weights)
        action = self.family.elements(self.X.shape[1])
        worst_element = element[samples, rivals[samples]]
        for s in np.unique(worst_element):
            same = samples[worst_element == s]
            for block in np.array_split(same, 1 + self.X[:1].nbytes * len(same) // BLOCK_BYTES):
                gradient += self._gradient(action.one(self.X[block], s), block, rivals[block])
        return losses, gradient

    def worst(self, w: Floats, i: int) -> Worst:
        own = self.y[i]
        row = self.X[[i]]
        best, element = self._search(row, self.y[[i]], w)
        _, rivals = _worst_rivals(best, self.costs.null[[own]])
        rival = rivals[0]
        if rival < 0:
            return Worst(np.zeros(self.n_weights), float(self.costs.null[own]))
        s = element[0, rival]
        transformed = self.family.elements(self.X.shape[1]).one(row, s)[0]
        costs = self.costs.cost[own, rival]
        return Worst(self._psi(transformed, own, rival), float(costs[s if len(costs) > 1 else 0]))

    def _search(self, X: NDArray, y: NDArray, w: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """Return the largest loss against each rival, (n_samples, n_classes), and its element."""
        from invarlearn.oracles._reduce import reduce_scores

        best = np.full((len(X), self.costs.n_classes), -np.inf)
        element = np.zeros(best.shape, dtype=np.int64)
        table, constant = self.split(w)
        for rows, elements, block in self.family.iter_orbit(X):
            scores = self._class_scores(block @ table + constant)
            costs = (self.costs.cost, self.costs.scale)
            reduce_scores(scores, y[rows], *costs, elements.start, best[rows], element[rows])
        return best, element


class RivalRisk(LinearRisk):
    """Worst cases by the method ``worst_case`` of the family, called for each pair of classes."""

    @cached_property
    def search(self) -> Callable[..., tuple[Any, Any]]:
        """The worst cases of rows by their indices, see :meth:`Family.prepare_worst_case`."""
        return self.family.prepare_worst_case(self.X)

    def subgradient(self, w: Floats) -> tuple[Floats, Floats]:
        losses = self.costs.null[self.y]
        rivals = np.full(self.n_examples, -1)
        candidates: dict[tuple[int, int], tuple[NDArray, Any]] = {}
        for own in np.unique(self.y):
            members = np.flatnonzero(self.y == own)
            for rival in range(self.costs.n_classes):
                if rival == own:
                    continue
                rows, values = self._losses_against(w, members, own, rival)
                larger = np.flatnonzero(values > losses[members])
                losses[members[larger]] = values[larger]
                rivals[members[larger]] = rival
                candidates[own, rival] = (members[larger], rows[larger])
        gradient = np.zeros(self.n_weights)
        for (_, rival), (samples, rows) in candidates.items():
            # a later rival may have a larger loss
            worst = np.flatnonzero((rivals[samples] == rival) & (self.shares[samples] > 0))
            if len(worst):
                gradient += self._gradient(rows[worst], samples[worst], rivals[samples[worst]])
        return losses, gradient

    def worst(self, w: Floats, i: int) -> Worst:
        single = RivalRisk(self.X[[i]], self.y[[i]], self.family, self.costs, bias=self.bias)
        losses, psi = single.subgradient(w)
        return Worst(psi, float(losses[0] - w @ psi))

    def _losses_against(
        self, w: Floats, samples: NDArray, own: int, rival: int
    ) -> tuple[Any, Floats]:
        """Return samples of class ``own`` at their worst for a rival, and their losses."""
        table, constant = self.split(w)
        factors = -self._difference(own, rival)
        rows, margins = self.search(samples, table @ factors)
        margins = np.asarray(margins, dtype=float) + constant @ factors
        scale, cost = self.costs.scale[own, rival], self.costs.cost[own, rival, 0]
        return rows, cost - scale * margins


def linear_risk(
    X: Any, y: NDArray, family: Family, costs: Costs, weights: Floats | None, bias: float
) -> LinearRisk:
    """Return the fastest risk for a family; parameters as in :class:`LinearRisk`."""
    listed = np.isfinite(family.size(X.shape[1]))
    if has_closed_form(family) or (family.is_identity and sparse.issparse(X)):
        kind: type[LinearRisk] = ScaledRisk
    elif listed and (type(family).worst_case is Family.worst_case or costs.cost.shape[2] > 1):
        kind = ListedRisk
    else:
        kind = RivalRisk
    return kind(X, y, family, costs, weights, bias)


def has_closed_form(family: Family) -> bool:
    """Return whether the worst cases of a family are those of :class:`FeatureScaling`."""
    return type(family).worst_case is FeatureScaling.worst_case


def _worst_rivals(best: Floats, null: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return the loss of each sample, and the rival class that attains it.

    Parameters
    ----------
    best : array of shape (n_samples, n_classes)
        Largest loss against each rival.
    null : array of shape (n_samples,)
        Costs of the correct classes.

    Returns
    -------
    losses, rivals : arrays of shape (n_samples,)
        The rival is -1 if no loss is above that of the correct class.
    """
    rivals = best.argmax(axis=1)
    losses = best[np.arange(len(best)), rivals]
    rivals[losses <= null] = -1
    return np.maximum(losses, null), rivals
