"""The worst scaling of each row for a linear score, compiled.

On the nonzeros B = sign * w * x, scaling by ``high`` gains B (1 - high) where B < 0 and scaling by
``low`` gains B (1 - low) where B > 0. The budget goes to the largest positive gains, found by
selection, not sorting, in time O(nnz); ties go to the first feature.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _kth_largest(values, k):  # type: ignore[no-untyped-def]
    """Give the k-th largest of the values, which are reordered: quickselect, median of three."""
    low, high = 0, len(values) - 1
    target = k - 1
    while low < high:
        middle = (low + high) // 2
        a, b, c = values[low], values[middle], values[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if target <= j:
            high = j
        elif target >= i:
            low = i
        else:
            return values[target]
    return values[target]


@njit(cache=True, nogil=True)
def _threshold(gains, budget, kept):  # type: ignore[no-untyped-def]
    """Give the budget-th largest gain, or zero if fewer are positive.

    Gains above the threshold so far are put aside, and when there is no room for more, only the
    largest of them are kept: every gain is looked at about twice.
    """
    threshold = 0.0
    count = 0
    for i in range(len(gains)):
        if gains[i] > threshold:
            kept[count] = gains[i]
            count += 1
            if count == len(kept):
                threshold = _kth_largest(kept, budget)
                count = budget
    if count > budget:
        threshold = _kth_largest(kept[:count], budget)
    return threshold


@njit(cache=True, nogil=True)
def _scale_row(values, gains, threshold, raised, low, high, budget):  # type: ignore[no-untyped-def]
    """Scale the values with the largest gains in place; give by how much the score falls.

    Fewer than the budget are above the threshold; the first that equal it get the rest.
    """
    fall = 0.0
    for i in range(len(values)):
        if gains[i] > threshold:
            budget -= 1
            fall += gains[i]
            values[i] *= high if raised[i] else low
    if threshold > 0:
        for i in range(len(values)):
            if gains[i] == threshold and budget > 0:
                budget -= 1
                fall += threshold
                values[i] *= high if raised[i] else low
    return fall


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _read_row(values, indices, w, sign, low, high, gains, raised):  # type: ignore[no-untyped-def]
    """Give the score of a row, and note what scaling each of its values would gain."""
    score = 0.0
    for k in range(len(values)):
        part = sign * w[indices[k]] * values[k]
        # one of the two is positive, unless both are zero: low <= 1 <= high
        gains[k] = max(part * (1.0 - high), part * (1.0 - low))
        raised[k] = part < 0
        score += part
    return score


@njit(cache=True, nogil=True)
def scale_worst_sparse(data, indices, indptr, w, signs, low, high, budget):  # type: ignore[no-untyped-def]
    """Scale the rows of a CSR matrix in place; give sign * (row @ w) of each."""
    n = len(indptr) - 1
    longest = 0
    for i in range(n):
        longest = max(longest, indptr[i + 1] - indptr[i])
    gains = np.empty(longest)
    raised = np.empty(longest, dtype=np.bool_)
    kept = np.empty(max(4 * budget, 64))
    scores = np.empty(n, dtype=data.dtype)
    for i in range(n):
        start, stop = indptr[i], indptr[i + 1]
        row = data[start:stop]
        score = _read_row(row, indices[start:stop], w, signs[i], low, high, gains, raised)
        if budget > 0:
            threshold = _threshold(gains[: len(row)], budget, kept)
            score -= _scale_row(row, gains, threshold, raised, low, high, budget)
        scores[i] = score
    return scores
