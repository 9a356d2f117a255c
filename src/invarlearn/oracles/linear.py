"""Worst cases for functions that are linear in the features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from invarlearn.oracles.base import Costs, Floats, Risk, Worst, check_shares
from invarlearn.transforms import Family, FeatureScaling, Identity
from invarlearn.transforms._threads import in_threads, slices
from invarlearn.transforms.base import BLOCK_BYTES


class LinearRisk(Risk):
    """What linear risks share: flat weights, a constant feature, classes and costs.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Classes as numbers from 0.
    family : Family
    costs : Costs
    weights : array of shape (n_samples,), optional
    bias : float, default=0.0
        Value of a constant feature that no transformation touches; 0: there is none.
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
        """Give the weights of features, (n_features, n_functions), and of the constant."""
        K = self.costs.n_functions
        table = w.reshape(-1, K)
        n = self.X.shape[1]
        return table[:n], self.bias * table[n] if self.bias else np.zeros(K)

    def joined(self, table: Floats, constant: Floats) -> Floats:
        """Give flat weights: the inverse of :meth:`split`."""
        rows = [table, constant[None] / self.bias] if self.bias else [table]
        return np.concatenate(rows).ravel()

    def _of_classes(self, scores: Floats) -> Floats:
        """Give scores of functions as scores of classes."""
        return scores if scores.shape[-1] > 1 else np.concatenate([-scores, scores], axis=-1) / 2

    def _difference(self, own: int, rival: int) -> Floats:
        """Give phi(x, rival) - phi(x, own) as factors of x, one for each function."""
        factors = np.zeros(self.costs.n_functions)
        if len(factors) == 1:
            factors[0] = -1.0 if own == 1 else 1.0
        else:
            factors[[rival, own]] = 1.0, -1.0
        return factors

    def _psi(self, row: Floats, own: int, rival: int) -> Floats:
        psi = np.zeros((self.n_weights // self.costs.n_functions, self.costs.n_functions))
        factors = self.costs.scale[own, rival] * self._difference(own, rival)
        psi[: len(row)] = np.outer(row, factors)
        if self.bias:
            psi[-1] = self.bias * factors
        return psi.ravel()

    def _gradient(self, rows: Any, where: NDArray, rivals: NDArray) -> Floats:
        """Give the sum of subgradients, by shares, of rows transformed as is worst for them."""
        own = self.y[where]
        amount = self.shares[where] * self.costs.scale[own, rivals]
        table = np.array([self._difference(a, b) for a, b in zip(own, rivals, strict=True)])
        table = amount[:, None] * table.reshape(len(where), self.costs.n_functions)
        features = rows.T @ table
        if not self.bias:
            return np.asarray(features).ravel()
        return np.concatenate([features, self.bias * table.sum(axis=0)[None]]).ravel()


class ScaledRisk(LinearRisk):
    """Worst cases of :class:`FeatureScaling` and its like in closed form: one pass, compiled.

    Sparse rows stay sparse, and features that no row has cost nothing.
    """

    def __init__(self, X: Any, *args: Any, **kwargs: Any):
        X = sparse.csr_matrix(X, dtype=float)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        super().__init__(X, *args, **kwargs)
        self.family.resolve_shape(X.shape[1])
        low, high, budget = (
            (1.0, 1.0, 0) if isinstance(self.family, Identity) else self.family._range()
        )
        self._scaling = (low, high, min(budget, X.shape[1]))
        self._guesses = np.zeros((self.n_examples, self.costs.n_classes))
        self._rows = (X.data, X.indices, X.indptr)
        # pieces for threads, by the data alone: a sum must not depend on how many there are
        pieces = int(np.clip(X.nnz // max(50_000, self.n_weights), 1, 4))
        self._pieces = slices(self.n_examples, -(-self.n_examples // pieces))
        # kept: new memory, touched here and there, is slow
        self._gradients = [np.empty(self.n_weights) for _ in self._pieces]

    def subgradient(self, w: Floats) -> tuple[Floats, Floats]:
        from invarlearn.oracles._scaled import scaled_pass

        losses = np.empty(self.n_examples)
        data, indices, indptr = self._rows

        def look(number: int) -> None:
            here = self._pieces[number]
            self._gradients[number].fill(0)
            scaled_pass(
                data,
                indices,
                indptr[here.start : here.stop + 1],
                self.y[here],
                w,
                self.costs.n_functions,
                self.bias,
                self.costs.cost[:, :, 0],
                self.costs.scale,
                self.shares[here],
                self._scaling,
                self._guesses[here],
                losses[here],
                self._gradients[number],
            )

        in_threads(look, range(len(self._pieces)))
        gradient = self._gradients[0].copy()
        for more in self._gradients[1:]:
            gradient += more
        return losses, gradient

    def worst(self, w: Floats, i: int) -> Worst:
        one = ScaledRisk(self.X[[i]], self.y[[i]], self.family, self.costs, bias=self.bias)
        losses, psi = one.subgradient(w)
        return Worst(psi, float(losses[0] - w @ psi))

    def walk(
        self, order: NDArray, lam: float, radius: float, v: Floats, u: Floats, state: Floats
    ) -> None:
        """Take steps of Pegasos along rows in an order."""
        from invarlearn.oracles._scaled import scaled_walk

        scaled_walk(
            *self._rows,
            self.y,
            self.costs.n_functions,
            self.bias,
            self.costs.cost[:, :, 0],
            self.costs.scale,
            self.shares * self.n_examples,
            self._scaling,
            self._guesses,
            order,
            lam,
            radius,
            v,
            u,
            state,
        )


class ListedRisk(LinearRisk):
    """Worst cases of listed families by trying all elements, block by block."""

    def subgradient(self, w: Floats) -> tuple[Floats, Floats]:
        best, element = self._search(self.X, self.y, w)
        losses, rivals = _of_rivals(best, self.costs.null[self.y])
        where = np.flatnonzero((rivals >= 0) & (self.shares > 0))
        gradient = np.zeros(self.n_weights)
        action = self.family._listed(self.X.shape[1])
        # the rows that an element is worst for, an element at a time
        which = element[where, rivals[where]]
        for s in np.unique(which):
            here = where[which == s]
            for few in np.array_split(here, 1 + self.X[:1].nbytes * len(here) // BLOCK_BYTES):
                gradient += self._gradient(action.one(self.X[few], s), few, rivals[few])
        return losses, gradient

    def worst(self, w: Floats, i: int) -> Worst:
        own = self.y[i]
        row = self.X[[i]]
        best, element = self._search(row, self.y[[i]], w)
        _, rivals = _of_rivals(best, self.costs.null[[own]])
        rival = rivals[0]
        if rival < 0:
            return Worst(np.zeros(self.n_weights), float(self.costs.null[own]))
        s = element[0, rival]
        moved = self.family._listed(self.X.shape[1]).one(row, s)[0]
        costs = self.costs.cost[own, rival]
        return Worst(self._psi(moved, own, rival), float(costs[s if len(costs) > 1 else 0]))

    def _search(self, X: NDArray, y: NDArray, w: Floats) -> tuple[Floats, NDArray[np.int64]]:
        from invarlearn.oracles._reduce import reduce_scores

        best = np.full((len(X), self.costs.n_classes), -np.inf)
        element = np.zeros(best.shape, dtype=np.int64)
        table, constant = self.split(w)
        for rows, elements, block in self.family.iter_orbit(X):
            scores = self._of_classes(block @ table + constant)
            costs = (self.costs.cost, self.costs.scale)
            reduce_scores(scores, y[rows], *costs, elements.start, best[rows], element[rows])
        return best, element


class RivalRisk(LinearRisk):
    """Worst cases by the family's own ``worst_case``, asked once for each pair of classes."""

    def subgradient(self, w: Floats) -> tuple[Floats, Floats]:
        losses = self.costs.null[self.y]
        rivals = np.full(self.n_examples, -1)
        found: dict[tuple[int, int], tuple[NDArray, Any]] = {}
        for own in np.unique(self.y):
            here = np.flatnonzero(self.y == own)
            for rival in range(self.costs.n_classes):
                if rival == own:
                    continue
                rows, values = self._against(w, here, own, rival)
                better = np.flatnonzero(values > losses[here])
                losses[here[better]] = values[better]
                rivals[here[better]] = rival
                found[own, rival] = (here[better], rows[better])
        gradient = np.zeros(self.n_weights)
        for (_, rival), (where, rows) in found.items():
            still = np.flatnonzero((rivals[where] == rival) & (self.shares[where] > 0))
            if len(still):
                gradient += self._gradient(rows[still], where[still], rivals[where[still]])
        return losses, gradient

    def worst(self, w: Floats, i: int) -> Worst:
        one = RivalRisk(self.X[[i]], self.y[[i]], self.family, self.costs, bias=self.bias)
        losses, psi = one.subgradient(w)
        return Worst(psi, float(losses[0] - w @ psi))

    def _against(self, w: Floats, here: NDArray, own: int, rival: int) -> tuple[Any, Floats]:
        table, constant = self.split(w)
        factors = -self._difference(own, rival)
        rows, margins = self.family.worst_case(self.X[here], table @ factors)
        margins = np.asarray(margins, dtype=float) + constant @ factors
        scale, cost = self.costs.scale[own, rival], self.costs.cost[own, rival, 0]
        return rows, cost - scale * margins


def linear_risk(
    X: Any, y: NDArray, family: Family, costs: Costs, weights: Floats | None, bias: float
) -> LinearRisk:
    """Give the fastest oracle for a family."""
    listed = np.isfinite(family._size(X.shape[1]))
    if has_closed_form(family) or (isinstance(family, Identity) and sparse.issparse(X)):
        kind: type[LinearRisk] = ScaledRisk
    elif listed and (type(family).worst_case is Family.worst_case or costs.cost.shape[2] > 1):
        kind = ListedRisk
    else:
        kind = RivalRisk
    return kind(X, y, family, costs, weights, bias)


def has_closed_form(family: Family) -> bool:
    """Whether worst cases are those of :class:`FeatureScaling`, not of a user's own method."""
    return type(family).worst_case is FeatureScaling.worst_case


def _of_rivals(best: Floats, null: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Give the loss of each row, and the rival that has it; -1 if it is that of a right answer."""
    rivals = best.argmax(axis=1)
    losses = best[np.arange(len(best)), rivals]
    rivals[losses <= null] = -1
    return np.maximum(losses, null), rivals
