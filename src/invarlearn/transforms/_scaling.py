"""The worst scaling of each row for a linear score, compiled.

On the nonzeros B = sign * w * x, scaling by ``high`` gains B (1 - high) where B < 0 and scaling by
``low`` gains B (1 - low) where B > 0. The budget goes to the largest positive gains, found by
selection, not sorting; ties go to the first feature.
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
def _scale_row(values, weights, low, high, budget):  # type: ignore[no-untyped-def]
    """Scale the values in place so that values @ weights is least; give the score."""
    size = len(values)
    gains = np.empty(size, dtype=values.dtype)
    positive = np.empty(size, dtype=values.dtype)
    count = 0
    score = 0.0
    for i in range(size):
        part = weights[i] * values[i]
        score += part
        gain = part * (1.0 - high) if part < 0 else part * (1.0 - low)
        gains[i] = gain
        if gain > 0:
            positive[count] = gain
            count += 1
    if count == 0 or budget == 0:
        return score
    if count <= budget:
        threshold, ties = values.dtype.type(0.0), 0
    else:
        threshold = _kth_largest(positive[:count], budget)
        ties = budget
        for i in range(size):
            if gains[i] > threshold:
                ties -= 1
    for i in range(size):
        if gains[i] > threshold or (gains[i] == threshold and ties > 0):
            if gains[i] == threshold:
                ties -= 1
            factor = high if weights[i] * values[i] < 0 else low
            values[i] = values[i] * factor
            score -= gains[i]
    return score


@njit(cache=True, nogil=True)
def scale_worst_sparse(data, indices, indptr, w, signs, low, high, budget):  # type: ignore[no-untyped-def]
    """Scale the rows of a CSR matrix in place; give sign * (row @ w) of each."""
    n = len(indptr) - 1
    scores = np.empty(n, dtype=data.dtype)
    for i in range(n):
        start, stop = indptr[i], indptr[i + 1]
        weights = signs[i] * w[indices[start:stop]]
        scores[i] = _scale_row(data[start:stop], weights, low, high, budget)
    return scores


@njit(cache=True, nogil=True)
def scale_worst_dense(X, w, signs, low, high, budget):  # type: ignore[no-untyped-def]
    """Scale the rows of a dense array in place; give sign * (row @ w) of each."""
    scores = np.empty(len(X), dtype=X.dtype)
    for i in range(len(X)):
        scores[i] = _scale_row(X[i], signs[i] * w, low, high, budget)
    return scores
