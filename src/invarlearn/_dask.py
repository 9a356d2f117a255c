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


def transformed(X: Any, transformer: Any, n_features_out: int, dtype: Any) -> Any:
    """Give a Dask array of what the transformer makes of each block."""
    from dask.delayed import delayed

    rows = as_rows(X)
    # one copy for each worker, so that what it keeps between blocks is of use
    shared = delayed(transformer, pure=True)
    return rows.map_blocks(
        _transform,
        transformer=shared,
        dtype=dtype,
        chunks=(rows.chunks[0], (n_features_out,)),
        meta=np.empty((0, n_features_out), dtype=dtype),
    )


def _transform(block: Any, transformer: Any) -> Any:
    return transformer.transform(np.asarray(block))


def blocks_of(*arrays: Any) -> tuple[list[tuple[Any, ...]], list[int]]:
    """Give the blocks of arrays that are cut alike, as delayed values, and their lengths."""
    from dask.base import compute
    from dask.delayed import delayed

    if len({array.numblocks[0] for array in arrays}) > 1:
        raise ValueError(
            "X and y are cut into different numbers of blocks "
            f"({', '.join(str(array.numblocks[0]) for array in arrays)}): rechunk them alike"
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
