"""The restricted dual of column generation, compiled: block by block, pair by pair."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _match(p, m, q, n):  # type: ignore[no-untyped-def]
    """Give the inner product of (e_p - e_m) and (e_q - e_n); index -1 is no vector."""
    value = 0.0
    if p >= 0:
        value += (p == q) - (p == n)
    if m >= 0:
        value += (m == n) - (m == q)
    return value


@njit(cache=True, nogil=True)
def _block_gram(K, place, first, size, row, plus, minus, scale, H):  # type: ignore[no-untyped-def]
    """Fill in the inner products of the columns of one example."""
    for j in range(size):
        z = first + j
        for k in range(j + 1):
            o = first + k
            value = 0.0
            if row[z] >= 0 and row[o] >= 0:
                value = _match(plus[z], minus[z], plus[o], minus[o]) * scale[z] * scale[o]
                value *= K[place[row[z]], row[o]]
            H[j, k] = H[k, j] = value


@njit(cache=True, nogil=True)
def _solve_block(H, size, alpha, s, tol):  # type: ignore[no-untyped-def]
    """Move weight between the columns of one example until no pair is more than ``tol`` apart.

    ``alpha`` and the scores ``s`` are those of the block, and kept up to date.
    """
    for _ in range(10 * size):
        high = 0
        for j in range(1, size):
            if s[j] > s[high]:
                high = j
        # the partner with which the step gains most
        low, most, best = -1, 0.0, 0.0
        for j in range(size):
            apart = s[high] - s[j]
            if alpha[j] <= 0 or apart <= tol:
                continue
            bend = max(H[high, high] + H[j, j] - 2 * H[high, j], 1e-12)
            step = min(apart / bend, alpha[j])
            gain = step * (apart - 0.5 * step * bend)
            if gain > most:
                low, most, best = j, gain, step
        if low < 0:
            return
        alpha[high] += best
        alpha[low] = 0.0 if best == alpha[low] else alpha[low] - best
        for j in range(size):
            s[j] -= best * (H[high, j] - H[low, j])


@njit(cache=True, nogil=True, fastmath={"contract"})
def _add(out, amount, values):  # type: ignore[no-untyped-def]
    for k in range(len(values)):
        out[k] += amount * values[k]


@njit(cache=True, nogil=True)
def sweep(K, place, examples, starts, row, plus, minus, scale, delta, alpha, F, A, tol):  # type: ignore[no-untyped-def]
    """Solve the blocks of some examples in turn; give the gap of the restricted problem.

    ``K[place[r]]`` are the kernel values of row r with all rows; ``F`` and ``A`` are the values and
    coefficients of f, (n_functions, n_rows). The gap is what it was when each block was reached.
    """
    widest = 0
    for i in examples:
        widest = max(widest, starts[i + 1] - starts[i])
    s, before, H = np.empty(widest), np.empty(widest), np.empty((widest, widest))
    # coefficients of functions at one row, and which functions they are of
    change = np.zeros(len(F))
    n_rows = F.shape[1]
    gap = 0.0
    for i in examples:
        first, size = starts[i], starts[i + 1] - starts[i]
        highest = -np.inf
        for j in range(size):
            z = first + j
            r = row[z]
            s[j] = delta[z]
            before[j] = alpha[z]
            if r >= 0:
                s[j] += scale[z] * F[plus[z], r]
                if minus[z] >= 0:
                    s[j] -= scale[z] * F[minus[z], r]
            highest = max(highest, s[j])
        part, furthest = 0.0, 0.0
        for j in range(size):
            part += alpha[first + j] * (highest - s[j])
            if alpha[first + j] > 0:
                furthest = max(furthest, highest - s[j])
        gap += part
        if furthest <= tol:
            continue
        _block_gram(K, place, first, size, row, plus, minus, scale, H)
        _solve_block(H, size, alpha[first : first + size], s, tol)
        # columns of one row follow each other: a row's kernel values are read once
        for j in range(size):
            z = first + j
            r = row[z]
            amount = (alpha[z] - before[j]) * scale[z]
            if r >= 0 and amount != 0.0:
                change[plus[z]] -= amount
                if minus[z] >= 0:
                    change[minus[z]] += amount
            if r >= 0 and (j == size - 1 or row[z + 1] != r):
                values = K[place[r], :n_rows]
                for c in range(len(F)):
                    if change[c] != 0.0:
                        A[c, r] += change[c]
                        _add(F[c], change[c], values)
                        change[c] = 0.0
    return gap


@njit(cache=True, nogil=True)
def move_pairs(H, alpha, s):  # type: ignore[no-untyped-def]
    """Move weight between pairs, ten times for each, in place; ``s`` are the scores."""
    _solve_block(H, len(alpha), alpha, s, 0.0)
