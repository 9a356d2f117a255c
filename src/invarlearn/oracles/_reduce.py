"""The worst label and element of scores, compiled."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def reduce_scores(scores, y, cost, scale, start, best, element):  # type: ignore[no-untyped-def]
    """Keep, for every row and rival class, the largest loss over elements and where it is.

    ``scores`` is (rows, elements, classes), of elements from ``start`` on; ``best`` and
    ``element`` are (rows, classes) and are updated where a loss is above what they have.
    """
    n, n_elements, n_classes = scores.shape
    same = cost.shape[2] == 1
    for i in range(n):
        own = y[i]
        for s in range(n_elements):
            here = 0 if same else start + s
            for rival in range(n_classes):
                if rival == own:
                    continue
                margin = scores[i, s, own] - scores[i, s, rival]
                value = cost[own, rival, here] - scale[own, rival] * margin
                if value > best[i, rival]:
                    best[i, rival] = value
                    element[i, rival] = start + s
