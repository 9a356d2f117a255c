"""Compressed features: principal directions, whitened within the copies of each sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.parallel import in_threads, n_threads, slices
from invarlearn.estimators.invariant.augment import Augmentation
from invarlearn.estimators.invariant.plan import Plan, Samples
from invarlearn.features.compress import principal_directions, whitening


@dataclass(frozen=True)
class Space:
    """The space of compressed features, ``z = (features(x) - mean) @ directions``.

    Attributes
    ----------
    features : transformer
        The fitted features.
    mean : array of shape (n_features_out,)
    directions : array of shape (n_features_out, n_components)
    precision : dtype
        Precision of compressed rows.
    block_rows : int
        Largest number of rows whose features are in memory at a time.
    max_bytes : int
        Largest memory for features in several threads.
    thread_safe : bool
        Whether features may be computed in threads. This holds for the default features; a
        transformer of the user may not be thread-safe.
    """

    features: Any
    mean: NDArray
    directions: NDArray
    precision: np.dtype
    block_rows: int
    max_bytes: int
    thread_safe: bool

    def transform(self, X: NDArray) -> NDArray:
        """Return compressed rows: (n, n_components).

        Parameters
        ----------
        X : array of shape (n, n_features)
            Prepared rows.
        """
        compressed = np.empty((len(X), self.directions.shape[1]), dtype=self.precision)
        for rows in slices(len(X), self.block_rows):
            compressed[rows] = (self.features.transform(X[rows]) - self.mean) @ self.directions
        return compressed

    def transform_copies(
        self, augmentation: Augmentation, X: NDArray, n_copies: int, computed: NDArray
    ) -> NDArray:
        """Return compressed copies of samples: (n_copies, n_samples, n_components).

        Parameters
        ----------
        augmentation : Augmentation
        X : array of shape (n_samples, n_features)
        n_copies : int
        computed : array of shape (n_computed_copies, n_computed_samples, n_components)
            Compressed first copies of the first samples, which are not computed again. They may be
            more than are needed.
        """
        computed = computed[:n_copies, : len(X)]
        copy_makers = augmentation.copy_makers(n_copies)
        n_components = self.directions.shape[1]
        compressed = np.empty((n_copies, len(X), n_components), dtype=self.precision)

        def fill(copy: int) -> None:
            available = computed[copy] if copy < len(computed) else computed[0, :0]
            n = len(available)
            compressed[copy, :n] = available
            compressed[copy, n:] = self.transform(copy_makers[copy](X[n:], n))

        self.for_each(fill, range(n_copies), len(X))
        return compressed

    def for_each(self, function: Callable[[Any], None], items: Sequence[Any], rows: int) -> None:
        """Call a function on every item, in threads if the features fit into memory.

        Parameters
        ----------
        function : callable
        items : sequence
        rows : int
            Number of rows whose features are computed in one call.
        """
        n_bytes = min(n_threads(), len(items)) * rows * self.mean.nbytes
        if self.thread_safe and n_bytes <= self.max_bytes:
            in_threads(function, items)
            return
        for item in items:
            function(item)


def fit_space(plan: Plan, transformer: Any, samples: Samples) -> tuple[Space, NDArray]:
    """Compress features to principal directions, whitened within the copies of each sample.

    See :func:`invarlearn.features.compress.whitening`.

    Parameters
    ----------
    plan : Plan
    transformer : transformer
        The fitted features.
    samples : Samples

    Returns
    -------
    space : Space
    copies : array of shape (n_copies, n_samples, n_components)
        Compressed copies of the first samples by the widest candidate.
    """
    dtype, budget = plan.preparation.dtype, plan.budget
    width = transformer.transform(samples.X[:1]).shape[1]
    n_rows = budget.rows_in_memory(budget.search_rows, width, dtype.itemsize)
    rows, n_copies = plan.augmented_rows(samples, n_rows)
    return compress(plan, transformer, rows, n_copies)


def compress(plan: Plan, transformer: Any, rows: NDArray, n_copies: int) -> tuple[Space, NDArray]:
    """Return the whitened principal directions of features, and the compressed rows.

    Parameters
    ----------
    plan : Plan
    transformer : transformer
        The fitted features.
    rows : array of shape (n_copies * n_samples, n_features)
        All samples, followed by each copy of all samples.
    n_copies : int

    Returns
    -------
    space : Space
    copies : array of shape (n_copies, n_samples, n_components)
    """
    budget = plan.budget
    F = transformer.transform(rows)
    width, itemsize = F.shape[1], plan.preparation.dtype.itemsize
    mean, directions = principal_directions(F, plan.n_components)
    F = (F - mean) @ directions
    n = len(F) // n_copies
    sample_index = np.tile(np.arange(n), n_copies)
    white = whitening(F, sample_index, plan.whitening, budget.whitening_floor)
    space = Space(
        features=transformer,
        mean=mean,
        directions=directions @ white,
        precision=plan.precision,
        block_rows=budget.rows_in_memory(budget.block_rows, width, itemsize),
        max_bytes=budget.max_bytes,
        thread_safe=plan.features is None,
    )
    return space, (F @ white).astype(plan.precision).reshape(n_copies, n, -1)


def compress_unaugmented(plan: Plan, transformer: Any, X: NDArray) -> NDArray:
    """Return compressed samples without whitening: (1, n_samples, n_components)."""
    F = transformer.transform(X)
    mean, directions = principal_directions(F, plan.n_components)
    return ((F - mean) @ directions).astype(plan.precision)[None]
