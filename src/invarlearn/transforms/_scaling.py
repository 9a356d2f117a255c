"""The worst scaling of each row for a linear score, compiled.

On the nonzeros B = sign * w * x, scaling by ``high`` gains B (1 - high) where B < 0 and scaling by
``low`` gains B (1 - low) where B > 0. The budget goes to the largest positive gains, found by
selection, not sorting, in time O(nnz); ties go to the first feature.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# The smallest gain that counts is guessed to be above this part of the last row's.
_SLACK = 0.6
# Up to so many values, comparing all pairs is faster than quickselect.
_FEW = 48


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


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _kth_of_few(values, n, k):  # type: ignore[no-untyped-def]
    """Give the k-th largest of few values by counting, for each, those above it: no branches."""
    smallest = np.inf
    for i in range(n):
        above = 0.0  # a float, and the loop becomes one of vectors
        for j in range(n):
            above += 1.0 if values[j] > values[i] else 0.0
        smallest = min(smallest, values[i] if above < k else np.inf)
    return smallest


@njit(cache=True, nogil=True)
def _above(gains, n, threshold, places):  # type: ignore[no-untyped-def]
    """Put the places of gains above a threshold first; give how many there are."""
    count = 0
    for k in range(n):
        # written each time and kept or not: no branch that could be foretold wrongly
        places[count] = k
        count += gains[k] > threshold
    return count


@njit(cache=True, nogil=True)
def choose_gains(gains, n, budget, guess, places, kept):  # type: ignore[no-untyped-def]
    """Find the ``budget`` largest positive gains: their places come first in ``places``.

    With a good guess of the smallest of them, one look at each gain is nearly all that it takes.
    Gives how many there are, and the smallest of them (or the guess, if there are no more).
    """
    if budget <= 0:
        return 0, 0.0
    count = _above(gains, n, guess, places)
    floor = 0.05 * guess
    while count < budget and guess > 0:
        guess = 0.5 * guess if guess > floor else 0.0
        count = _above(gains, n, guess, places)
    while count > _FEW and guess > 0:
        fewer = _above(gains, n, 2 * guess, places)
        if fewer < budget:
            count = _above(gains, n, guess, places)
            break
        guess, count = 2 * guess, fewer
    if count <= budget:
        return count, guess
    for j in range(count):
        kept[j] = gains[places[j]]
    if count <= _FEW:
        smallest = _kth_of_few(kept, count, budget)
    else:
        smallest = _kth_largest(kept[:count], budget)
    ties = budget
    for j in range(count):
        ties -= gains[places[j]] > smallest
    chosen = 0
    for j in range(count):
        gain = gains[places[j]]
        tie = gain == smallest
        places[chosen] = places[j]
        chosen += (gain > smallest) | (tie & (ties > 0))
        ties -= tie
    return chosen, smallest


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def gains_of(parts, n, low, high):  # type: ignore[no-untyped-def]
    """Turn the terms of a score into what scaling each of them would gain.

    Gives the score, and the sum of gains: of guesses, only parts of it are worth remembering.
    """
    score = 0.0
    total = 0.0
    for k in range(n):
        part = parts[k]
        # one of the two is positive, unless both are zero: low <= 1 <= high
        gain = max(part * (1.0 - high), part * (1.0 - low))
        parts[k] = gain
        score += part
        total += gain
    return score, total


@njit(cache=True, nogil=True)
def read_row(values, indices, w, sign, low, high, gains):  # type: ignore[no-untyped-def]
    """Give the score and the sum of gains, and note what scaling each value would gain."""
    # a loop of its own: reading weights here and there is no work for vectors, the rest is
    for k in range(len(values)):
        # unsigned, so that no one looks whether the index counts from the end
        gains[k] = sign * w[np.uint64(indices[k])] * values[k]
    return gains_of(gains, len(values), low, high)


@njit(cache=True, nogil=True)
def longest_row(indptr):  # type: ignore[no-untyped-def]
    """Give the number of values in the longest row."""
    longest = 0
    for i in range(len(indptr) - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    return longest


@njit(cache=True, nogil=True)
def scale_worst_sparse(data, indices, indptr, w, signs, low, high, budget):  # type: ignore[no-untyped-def]
    """Scale the rows of a CSR matrix in place; give sign * (row @ w) of each."""
    n = len(indptr) - 1
    longest = longest_row(indptr)
    gains, kept = np.empty(longest), np.empty(longest)
    places = np.empty(longest + 1, dtype=np.int64)
    scores = np.empty(n, dtype=data.dtype)
    guess = 0.0
    for i in range(n):
        row = data[indptr[i] : indptr[i + 1]]
        columns = indices[indptr[i] : indptr[i + 1]]
        score, total = read_row(row, columns, w, signs[i], low, high, gains)
        guess *= _SLACK * total
        count, guess = choose_gains(gains, len(row), budget, guess, places, kept)
        guess = guess / total if total > 0 else 0.0
        for j in range(count):
            k = places[j]
            score -= gains[k]
            row[k] *= high if signs[i] * w[np.uint64(columns[k])] * row[k] < 0 else low
        scores[i] = score
    return scores
