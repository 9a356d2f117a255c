"""Least squares on batches of ``partial_fit`` and on blocks of Dask arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from invarlearn._utils.dask import as_rows, blocks_of, is_dask, tree_reduce
from invarlearn.estimators._weights import check_weights_of_batches
from invarlearn.solvers.least_squares import LamSearch, empty_equations
from invarlearn.solvers.normal_equations import NormalEquations

PRECISIONS = [np.float64, np.float32, np.float16]


class TargetEncoder(Protocol):
    """Interface of the encoding of labels, or of numbers, as targets of least squares."""

    @property
    def n_targets(self) -> int:
        """Number of targets."""

    def encode(self, y: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the targets, (n, n_targets), and the weight of the class of each sample, (n,)."""


@dataclass(frozen=True)
class RidgeStream:
    """Normal equations of the rows of all calls of ``partial_fit``, and the search for lam."""

    equations: NormalEquations
    search: LamSearch


def extend_stream(
    stream: RidgeStream | None, X: Any, Y: NDArray, weights: NDArray, search: LamSearch
) -> RidgeStream:
    """Add rows to a stream.

    Parameters
    ----------
    stream : RidgeStream, optional
        Its sums are modified in place. None: start a new stream.
    X, Y, weights : arrays of shape (n, n_features), (n, n_targets) and (n,)
    search : LamSearch

    Returns
    -------
    RidgeStream
    """
    equations = empty_equations(X, Y.shape[1], search) if stream is None else stream.equations
    return RidgeStream(equations.add(X, Y, weights), search)


def check_rows_in_parts(kernel: Any, class_weight: Any = None) -> None:
    """Raise ValueError for parameters that need all rows at once."""
    if kernel is not None:
        raise ValueError(
            f"kernel={kernel!r} needs all rows at once: pass kernel=None for partial_fit and Dask "
            "arrays"
        )
    check_weights_of_batches(class_weight)


def check_dask_weights(sample_weight: Any) -> None:
    """Raise ValueError if ``sample_weight`` is passed together with Dask arrays."""
    if sample_weight is not None:
        raise ValueError("sample_weight is not supported for Dask arrays: pass sample_weight=None")


def dask_targets(y: Any) -> Any:
    """Return labels or numbers as a Dask array; raise TypeError if they are not."""
    if not is_dask(y):
        raise TypeError("X is a Dask collection, but y is not: pass y as a Dask array or series")
    return as_rows(y)


def dask_classes(y: Any) -> NDArray:
    """Return the sorted classes in a Dask array of labels: (n_classes,)."""
    import dask.array as da

    if y.ndim != 1:
        raise ValueError(f"y has {y.ndim} dimensions; labels must have shape (n_samples,)")
    classes = da.unique(y).compute()
    if classes.dtype.kind == "f":
        check_array(classes, ensure_2d=False, input_name="y")
    return classes


def dask_equations(
    X: Any, y: Any, start: NormalEquations, coding: TargetEncoder
) -> NormalEquations:
    """Return the normal equations of all blocks, summed in a tree on the cluster.

    Parameters
    ----------
    X, y : Dask arrays of shape (n, n_features) and (n,) or (n, n_targets)
        Divided into the same blocks.
    start : NormalEquations
        Normal equations of no rows, with the origin and the seed for all blocks.
    coding : TargetEncoder
    """
    from dask.delayed import delayed

    blocks, lengths = blocks_of(as_rows(X), y)
    shared_start, shared_coding = delayed(start, pure=True), delayed(coding, pure=True)
    firsts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    equations = [
        delayed(_block_equations)(rows, labels, shared_start, shared_coding, int(first))
        for (rows, labels), first in zip(blocks, firsts, strict=True)
    ]
    return tree_reduce(equations, _merged)


def _block_equations(
    X: Any, y: Any, start: NormalEquations, coding: TargetEncoder, first: int
) -> NormalEquations:
    """Return the normal equations of one block, whose first row has the position ``first``."""
    X, y = np.asarray(X), np.asarray(y)
    if len(X) != len(y):
        raise ValueError(
            f"a block has {len(X)} rows in X and {len(y)} in y: divide both into the same blocks"
        )
    equations = replace(start.copy(), first=first)
    if not len(X):
        return equations
    X = check_array(X, dtype=PRECISIONS)
    if y.dtype.kind == "f":
        check_array(y, ensure_2d=False, input_name="y")
    return equations.add(X, *coding.encode(y))


def _merged(parts: list[NormalEquations]) -> NormalEquations:
    """Return the sum of normal equations."""
    # a new object, because Dask may use the parts again if a worker is lost
    total = parts[0].copy()
    for part in parts[1:]:
        total.merge(part)
    return total
