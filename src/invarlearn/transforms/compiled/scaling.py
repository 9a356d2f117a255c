"""The worst scaling of each row for a linear score, compiled.

The terms of the score are B = sign * w * x. Scaling by ``high`` lowers the score by the gain
B (1 - high) where B < 0, and scaling by ``low`` by the gain B (1 - low) where B > 0. The features
with the largest positive gains are scaled. They are found by selection, not by sorting, in time
O(nnz); among equal gains, the first features are selected.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# The guess of the smallest selected gain of a row is this multiple of that of the previous row. It
# affects the running time only.
_SLACK = 0.6
# Comparing all pairs is faster than quickselect for up to this number of values.
_FEW = 48


@njit(cache=True, nogil=True)
def _kth_largest(values, k):  # type: ignore[no-untyped-def]
    """Return the k-th largest value by quickselect with a median of three; reorder the values."""
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
    """Return the k-th largest of n values, by comparisons of all pairs without branches."""
    smallest = np.inf
    for i in range(n):
        above = 0.0  # a float, so that the loop is vectorised
        for j in range(n):
            above += 1.0 if values[j] > values[i] else 0.0
        smallest = min(smallest, values[i] if above < k else np.inf)
    return smallest


@njit(cache=True, nogil=True)
def _select_above(gains, n, threshold, places):  # type: ignore[no-untyped-def]
    """Write the indices of gains above a threshold to ``places``; return their number."""
    count = 0
    for k in range(n):
        # always written, and overwritten if not counted: there is no branch to mispredict
        places[count] = k
        count += gains[k] > threshold
    return count


@njit(cache=True, nogil=True)
def choose_gains(gains, n, budget, guess, places, kept):  # type: ignore[no-untyped-def]
    """Select the ``budget`` largest positive gains; write their indices to ``places``.

    With a good guess of the smallest selected gain, little more than one pass is needed.

    Parameters
    ----------
    gains : array of shape (n,) or longer
    n, budget : int
    guess : float
        Guess of the smallest selected gain.
    places : array of int of shape (n + 1,) or longer
        Overwritten; the selected indices come first.
    kept : array of shape (n,) or longer
        Buffer.

    Returns
    -------
    count : int
        Number of selected gains.
    smallest : float
        Smallest selected gain, or the final guess if no more than ``budget`` gains exceed it.
    """
    if budget <= 0:
        return 0, 0.0
    count = _select_above(gains, n, guess, places)
    floor = 0.05 * guess
    while count < budget and guess > 0:
        guess = 0.5 * guess if guess > floor else 0.0
        count = _select_above(gains, n, guess, places)
    while count > _FEW and guess > 0:
        count_at_double = _select_above(gains, n, 2 * guess, places)
        if count_at_double < budget:
            count = _select_above(gains, n, guess, places)
            break
        guess, count = 2 * guess, count_at_double
    if count <= budget:
        return count, guess
    for j in range(count):
        kept[j] = gains[places[j]]
    if count <= _FEW:
        smallest = _kth_of_few(kept, count, budget)
    else:
        smallest = _kth_largest(kept[:count], budget)
    n_ties = budget
    for j in range(count):
        n_ties -= gains[places[j]] > smallest
    n_selected = 0
    for j in range(count):
        gain = gains[places[j]]
        is_tie = gain == smallest
        places[n_selected] = places[j]
        n_selected += (gain > smallest) | (is_tie & (n_ties > 0))
        n_ties -= is_tie
    return n_selected, smallest


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def gains_of(terms, n, low, high):  # type: ignore[no-untyped-def]
    """Replace the first n terms of a score by the gains of scaling each of them.

    Returns
    -------
    score : float
        Sum of the terms.
    total : float
        Sum of the gains, to which guesses are relative.
    """
    score = 0.0
    total = 0.0
    for k in range(n):
        term = terms[k]
        # one of the two is positive, unless both are zero: low <= 1 <= high
        gain = max(term * (1.0 - high), term * (1.0 - low))
        terms[k] = gain
        score += term
        total += gain
    return score, total


@njit(cache=True, nogil=True)
def read_row(values, indices, w, sign, low, high, gains):  # type: ignore[no-untyped-def]
    """Return the score and the sum of gains of a row; write the gain of each value to ``gains``."""
    # a loop of its own, since gathering weights cannot be vectorised, unlike the rest
    for k in range(len(values)):
        # unsigned, so that no check for negative indices is compiled
        gains[k] = sign * w[np.uint64(indices[k])] * values[k]
    return gains_of(gains, len(values), low, high)


@njit(cache=True, nogil=True)
def longest_row(indptr):  # type: ignore[no-untyped-def]
    """Return the number of values in the longest row."""
    longest = 0
    for i in range(len(indptr) - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    return longest


@njit(cache=True, nogil=True)
def scale_worst_sparse(data, indices, indptr, w, signs, low, high, budget):  # type: ignore[no-untyped-def]
    """Scale the rows of a CSR matrix in place; return the scores sign * (row @ w): (n,)."""
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
