"""Rows that lie on a cluster: Dask arrays and dataframes, block by block.

Dask is an extra; nothing here imports it unless something of Dask was passed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

# Sums are merged in a tree, so many at a time.
FAN_IN = 8


def is_dask(X: Any) -> bool:
    """Tell whether this is a collection of Dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def as_rows(X: Any) -> Any:
    """Give a Dask array whose blocks hold whole rows."""
    array = X.to_dask_array() if hasattr(X, "to_dask_array") else X
    if not hasattr(array, "chunks"):
        raise TypeError(f"{type(X).__name__} of Dask: pass a Dask array or dataframe")
    return array.rechunk({1: -1}) if array.ndim == 2 and array.numblocks[1] > 1 else array


def transformed(X: Any, transformer: Any, n_features_out: int, dtype: Any = None) -> Any:
    """Give a Dask array of what the transformer makes of each block.

    Without a dtype it is that of the rows, if these are of single precision, or else double.
    """
    from dask.delayed import delayed

    rows = as_rows(X)
    if dtype is None:
        dtype = np.float32 if rows.dtype == np.float32 else np.float64
    # one copy for each worker, so that what it keeps between blocks is of use
    shared = delayed(transformer, pure=True)
    return rows.map_blocks(
        _transform,
        transformer=shared,
        empty=np.empty((0, n_features_out), dtype=dtype),
        dtype=dtype,
        chunks=(rows.chunks[0], (n_features_out,)),
        meta=np.empty((0, n_features_out), dtype=dtype),
    )


def _transform(block: Any, transformer: Any, empty: Any) -> Any:
    return transformer.transform(np.asarray(block)) if len(block) else empty


def sampled(X: Any, size: int, n_blocks: int = 16) -> Any:
    """Give about ``size`` rows from blocks all over a Dask array, in memory."""
    from dask.base import compute
    from dask.delayed import delayed

    blocks = as_rows(X).to_delayed().ravel()
    chosen = np.unique(np.linspace(0, len(blocks) - 1, n_blocks).astype(int))
    parts = compute(*(delayed(_spread)(blocks[i], size // len(chosen) + 1) for i in chosen))
    if not any(map(len, parts)):
        raise ValueError("no rows were found in the blocks that were looked at: drop empty blocks")
    return np.concatenate(parts)


def _spread(block: Any, size: int) -> Any:
    """Give rows that lie evenly in a block."""
    rows = np.asarray(block)
    return rows[np.unique(np.linspace(0, max(0, len(rows) - 1), size).astype(int))[: len(rows)]]


def mapped(X: Any, function: Callable[..., Any], machine: Any, n_columns: int, dtype: Any) -> Any:
    """Give a Dask array of what a fitted estimator predicts: (n,), or (n, n_columns)."""
    from dask.delayed import delayed

    rows = as_rows(X)
    flat = n_columns == 0
    return rows.map_blocks(
        _predict,
        function=function,
        machine=delayed(machine, pure=True),
        empty=np.empty((0,) if flat else (0, n_columns), dtype=dtype),
        dtype=dtype,
        chunks=(rows.chunks[0],) if flat else (rows.chunks[0], (n_columns,)),
        drop_axis=1 if flat else None,
        meta=np.empty((0,) if flat else (0, n_columns), dtype=dtype),
    )


def _predict(block: Any, function: Callable[..., Any], machine: Any, empty: Any) -> Any:
    return function(machine, np.asarray(block)) if len(block) else empty


def blocks_of(*arrays: Any) -> tuple[list[tuple[Any, ...]], list[int]]:
    """Give the blocks of arrays that are cut alike, as delayed values, and their lengths."""
    from dask.base import compute
    from dask.delayed import delayed

    if len({array.numblocks[0] for array in arrays}) > 1:
        raise ValueError(
            "X and y are cut into different numbers of blocks "
            f"({', '.join(str(array.numblocks[0]) for array in arrays)}): rechunk them alike"
        )
    known = [array.chunks[0] for array in arrays]
    if len(set(known)) > 1 and not np.isnan(np.concatenate(known)).any():
        raise ValueError(
            f"X and y are cut into blocks of different lengths ({known[0][:3]}... and "
            f"{known[1][:3]}...): rechunk them alike"
        )
    lengths = arrays[0].chunks[0]
    blocks = [array.to_delayed().ravel() for array in arrays]
    if np.isnan(lengths).any():
        lengths = compute(*(delayed(len)(block) for block in blocks[0]))
    return list(zip(*blocks, strict=True)), [int(n) for n in lengths]


def reduced(parts: Sequence[Any], merge: Callable[[list[Any]], Any]) -> Any:
    """Merge delayed values in a tree, and compute the result."""
    from dask.base import compute
    from dask.delayed import delayed

    parts = list(parts)
    while len(parts) > 1:
        parts = [delayed(merge)(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    return compute(parts[0])[0]
