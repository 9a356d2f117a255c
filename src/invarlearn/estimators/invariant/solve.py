"""Kernel ridge regression on all augmented samples, exactly or by the Nyström method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.parallel import slices
from invarlearn._utils.progress import ProgressClock
from invarlearn.estimators.invariant.plan import Plan, RowPreparation, Samples
from invarlearn.estimators.invariant.search import Choice
from invarlearn.estimators.invariant.space import Space
from invarlearn.kernels.gaussian import BLOCK_ROWS, lower_rbf_plus_one, rbf_plus_one
from invarlearn.solvers.nystroem import nystroem_weights
from invarlearn.solvers.ridge import ridge


@dataclass(frozen=True)
class Machine:
    """The fitted function ``f(x) = sum_i alpha_i (1 + exp(-gamma |z(x) - z_i|^2))``.

    Attributes
    ----------
    preparation : RowPreparation
    space : Space
        The space with the map z.
    gamma : float
    rows : array of shape (n_rows, n_components)
        Compressed augmented samples z_i.
    sample_index : array of shape (n_rows,)
        The training sample that each row is a copy of.
    alpha : array of shape (n_rows, n_targets)
    """

    preparation: RowPreparation
    space: Space
    gamma: float
    rows: NDArray
    sample_index: NDArray[np.intp]
    alpha: NDArray

    def transform(self, X: NDArray) -> NDArray:
        """Return compressed rows: (n, n_components).

        Parameters
        ----------
        X : array of shape (n, n_features)
        """
        return self.space.transform(self.preparation(X))

    def scores(self, X: NDArray, elements: Sequence[Any] = ()) -> tuple[NDArray, int]:
        """Return predicted targets, averaged over the rows and their transformed copies.

        Parameters
        ----------
        X : array of shape (n, n_features)
        elements : sequence of callables
            Transformations of rows, for test-time augmentation.

        Returns
        -------
        scores : array of shape (n, n_targets)
        n_flat : int
            Number of flat images, if the default image features are used; otherwise 0.
        """
        sums = np.zeros((len(X), self.alpha.shape[1]), dtype=self.space.precision)
        n_flat = 0
        for block in slices(len(X), self.space.block_rows):
            rows = self.preparation(X[block])
            if self.preparation.background_shape is not None:
                n_flat += int((~rows.any(axis=1)).sum())
            self._add_scores(rows, sums[block])
            for element in elements:
                self._add_scores(element(rows), sums[block])
        return sums / (1 + len(elements)), n_flat

    def _add_scores(self, X: NDArray, sums: NDArray) -> None:
        def add(rows: slice) -> None:
            compressed = self.space.transform(X[rows])
            sums[rows] += rbf_plus_one(compressed, self.rows, self.gamma) @ self.alpha

        self.space.for_each(add, slices(len(X), BLOCK_ROWS), BLOCK_ROWS)


def solve(plan: Plan, space: Space, choice: Choice, samples: Samples, copies: NDArray) -> Machine:
    """Fit kernel ridge regression to all augmented samples.

    With more than ``budget.max_rows`` rows, the solution is an expansion in random rows that
    minimises the same objective over all rows (the Nyström method).

    Parameters
    ----------
    plan : Plan
    space : Space
    choice : Choice
    samples : Samples
    copies : array of shape (n_copies, n_samples, n_components)
        Compressed first copies of the first samples, which are not computed again.
    """
    if plan.nystroem_samples:
        rows, sample_index = _nystroem_rows(plan, space, choice, samples)
        K = rbf_plus_one(rows, rows, choice.gamma)
        blocks = _kernel_blocks(plan, space, choice, samples, rows)
        alpha = nystroem_weights(blocks, K, choice.lam).astype(plan.precision)
    else:
        augmentation = plan.augmentation(choice.family)
        compressed = space.transform_copies(augmentation, samples.X, plan.n_copies, copies)
        rows = compressed.reshape(len(samples) * plan.n_copies, -1)
        sample_index = np.tile(plan.order, plan.n_copies)
        K = lower_rbf_plus_one(rows, choice.gamma)
        alpha = ridge(K, np.tile(samples.Y, (plan.n_copies, 1)), choice.lam).alpha
    return Machine(plan.preparation, space, choice.gamma, rows, sample_index, alpha)


def _nystroem_rows(
    plan: Plan, space: Space, choice: Choice, samples: Samples
) -> tuple[NDArray, NDArray[np.intp]]:
    """Return compressed random augmented samples, and the sample that each is a copy of.

    The elements are numbered by positions among the chosen samples, not among all samples. A row
    may therefore be another random copy of a sample than the one in the sum over all copies.
    """
    copy_makers = plan.augmentation(choice.family).copy_makers(plan.n_copies)
    rows = [
        space.transform(make_copy(samples.X[chosen], 0))
        for make_copy, chosen in zip(copy_makers, plan.nystroem_samples, strict=True)
    ]
    # rounding up gives each copy the same number of samples; the last rows are too many
    n_rows = plan.budget.n_nystroem_rows
    sample_index = plan.order[np.concatenate(plan.nystroem_samples)]
    return np.concatenate(rows)[:n_rows], sample_index[:n_rows]


def _kernel_blocks(
    plan: Plan, space: Space, choice: Choice, samples: Samples, rows: NDArray
) -> Iterator[tuple[NDArray, NDArray]]:
    """Yield blocks of kernel values between all augmented samples and the rows, with targets."""
    copy_makers = plan.augmentation(choice.family).copy_makers(plan.n_copies)
    blocks = slices(len(samples), space.block_rows)
    clock = ProgressClock(len(copy_makers) * len(blocks), 0, plan.progress)
    for make_copy in copy_makers:
        for block in blocks:
            compressed = space.transform(make_copy(samples.X[block], block.start))
            yield rbf_plus_one(compressed, rows, choice.gamma), samples.Y[block]
            clock.tick()
