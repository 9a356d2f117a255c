"""Compiled search for the element with the largest loss."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def reduce_scores(scores, y, cost, scale, start, best, element):  # type: ignore[no-untyped-def]
    """Update the largest loss over elements, and its element, for every row and rival class.

    Parameters
    ----------
    scores : array of shape (n, n_elements, n_classes)
        Scores of the elements from ``start`` on.
    y : array of shape (n,)
    cost : array of shape (n_classes, n_classes, n_elements) or (n_classes, n_classes, 1)
    scale : array of shape (n_classes, n_classes)
    start : int
    best, element : arrays of shape (n, n_classes)
        Updated in place where a loss is above ``best``.
    """
    n, n_elements, n_classes = scores.shape
    same = cost.shape[2] == 1
    for i in range(n):
        own = y[i]
        for s in range(n_elements):
            cost_index = 0 if same else start + s
            for rival in range(n_classes):
                if rival == own:
                    continue
                margin = scores[i, s, own] - scores[i, s, rival]
                value = cost[own, rival, cost_index] - scale[own, rival] * margin
                if value > best[i, rival]:
                    best[i, rival] = value
                    element[i, rival] = start + s
