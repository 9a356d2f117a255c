"""Dask arrays and dataframes, processed block by block on a cluster.

Dask is an extra: it is imported only where a Dask collection was passed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def as_rows(X: Any) -> Any:
    """Return a Dask array whose blocks hold whole rows."""
    array = X.to_dask_array() if hasattr(X, "to_dask_array") else X
    if not hasattr(array, "chunks"):
        raise TypeError(
            f"a Dask {type(X).__name__} is not supported: pass a Dask array or dataframe"
        )
    return array.rechunk({1: -1}) if array.ndim == 2 and array.numblocks[1] > 1 else array


def transformed(X: Any, transformer: Any, n_features_out: int, dtype: Any = None) -> Any:
    """Return a Dask array of the transformed blocks of X.

    Parameters
    ----------
    X : Dask array or dataframe of shape (n_samples, n_features)
    transformer : transformer
        Fitted transformer.
    n_features_out : int
        Number of features of a transformed row.
    dtype : dtype, optional
        Dtype of the result. None: float32 if X is float32, otherwise float64.

    Returns
    -------
    Dask array of shape (n_samples, n_features_out)
    """
    from dask.delayed import delayed

    rows = as_rows(X)
    if dtype is None:
        dtype = np.float32 if rows.dtype == np.float32 else np.float64
    # delayed once, so that each worker has one copy, whose caches serve all of its blocks
    delayed_transformer = delayed(transformer, pure=True)
    return rows.map_blocks(
        _transform,
        transformer=delayed_transformer,
        empty=np.empty((0, n_features_out), dtype=dtype),
        dtype=dtype,
        chunks=(rows.chunks[0], (n_features_out,)),
        meta=np.empty((0, n_features_out), dtype=dtype),
    )


def _transform(block: Any, transformer: Any, empty: Any) -> Any:
    return transformer.transform(np.asarray(block)) if len(block) else empty


def sampled(X: Any, size: int, n_blocks: int = 16) -> Any:
    """Return about ``size`` rows, from ``n_blocks`` evenly spaced blocks of a Dask array."""
    from dask.base import compute
    from dask.delayed import delayed

    blocks = as_rows(X).to_delayed().ravel()
    block_indices = np.unique(np.linspace(0, len(blocks) - 1, n_blocks).astype(int))
    parts = compute(
        *(
            delayed(_evenly_spaced_rows)(blocks[i], size // len(block_indices) + 1)
            for i in block_indices
        )
    )
    if not any(map(len, parts)):
        raise ValueError(
            f"the {len(block_indices)} sampled blocks of X have no rows: remove empty blocks from X"
        )
    return np.concatenate(parts)


def _evenly_spaced_rows(block: Any, size: int) -> Any:
    """Return at most ``size`` evenly spaced rows of a block."""
    rows = np.asarray(block)
    return rows[np.unique(np.linspace(0, max(0, len(rows) - 1), size).astype(int))[: len(rows)]]


def mapped(X: Any, function: Callable[..., Any], estimator: Any, n_columns: int, dtype: Any) -> Any:
    """Return a Dask array of the predictions of a fitted estimator.

    Parameters
    ----------
    X : Dask array or dataframe of shape (n_samples, n_features)
    function : callable
        ``function(estimator, rows)`` returns the predictions for one block.
    estimator : estimator
        Fitted estimator.
    n_columns : int
        Number of columns of the predictions; 0 if they have one dimension.
    dtype : dtype
        Dtype of the predictions.

    Returns
    -------
    Dask array of shape (n_samples,) or (n_samples, n_columns)
    """
    from dask.delayed import delayed

    rows = as_rows(X)
    is_1d = n_columns == 0
    return rows.map_blocks(
        _predict,
        function=function,
        estimator=delayed(estimator, pure=True),
        empty=np.empty((0,) if is_1d else (0, n_columns), dtype=dtype),
        dtype=dtype,
        chunks=(rows.chunks[0],) if is_1d else (rows.chunks[0], (n_columns,)),
        drop_axis=1 if is_1d else None,
        meta=np.empty((0,) if is_1d else (0, n_columns), dtype=dtype),
    )


def _predict(block: Any, function: Callable[..., Any], estimator: Any, empty: Any) -> Any:
    return function(estimator, np.asarray(block)) if len(block) else empty


def blocks_of(*arrays: Any) -> tuple[list[tuple[Any, ...]], list[int]]:
    """Return the blocks of Dask arrays, as delayed tuples, and the numbers of rows of the blocks.

    The arrays must be divided into blocks of the same lengths.
    """
    from dask.base import compute
    from dask.delayed import delayed

    if len({array.numblocks[0] for array in arrays}) > 1:
        raise ValueError(
            "X and y have different numbers of blocks "
            f"({', '.join(str(array.numblocks[0]) for array in arrays)}): "
            "rechunk them to the same blocks"
        )
    chunks = [array.chunks[0] for array in arrays]
    if len(set(chunks)) > 1 and not np.isnan(np.concatenate(chunks)).any():
        raise ValueError(
            f"X and y have blocks of different lengths ({chunks[0][:3]}... and "
            f"{chunks[1][:3]}...): rechunk them to the same blocks"
        )
    lengths = arrays[0].chunks[0]
    blocks = [array.to_delayed().ravel() for array in arrays]
    if np.isnan(lengths).any():
        lengths = compute(*(delayed(len)(block) for block in blocks[0]))
    return list(zip(*blocks, strict=True)), [int(n) for n in lengths]


def tree_reduce(parts: Sequence[Any], merge: Callable[[list[Any]], Any], fan_in: int = 8) -> Any:
    """Merge delayed values in a tree, ``fan_in`` at a time, and compute the result."""
    from dask.base import compute
    from dask.delayed import delayed

    parts = list(parts)
    while len(parts) > 1:
        parts = [delayed(merge)(parts[i : i + fan_in]) for i in range(0, len(parts), fan_in)]
    return compute(parts[0])[0]
