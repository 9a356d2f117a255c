"""Compiled block coordinate ascent on the restricted dual of column generation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit


class KernelRows(NamedTuple):
    """Kernel values between rows: ``K[place[r]]`` are those of row r with all rows."""

    K: Any
    place: Any


class Blocks(NamedTuple):
    """Columns sorted by sample: those of sample i are ``starts[i]:starts[i + 1]``.

    The other arrays are those of :class:`~invarlearn.solvers.column_table.ColumnTable`.
    """

    starts: Any
    row: Any
    plus: Any
    minus: Any
    scale: Any
    delta: Any
    alpha: Any


class DualFunctions(NamedTuple):
    """Values F and coefficients A of f at the rows, (n_functions, n_rows)."""

    F: Any
    A: Any


@njit(cache=True, nogil=True)
def _unit_product(p, m, q, n):  # type: ignore[no-untyped-def]
    """Return the inner product of e_p - e_m and e_q - e_n, where e_-1 is zero."""
    value = 0.0
    if p >= 0:
        value += (p == q) - (p == n)
    if m >= 0:
        value += (m == n) - (m == q)
    return value


@njit(cache=True, nogil=True)
def _block_gram(kernel, first, size, columns, H):  # type: ignore[no-untyped-def]
    """Compute the inner products of the columns of one sample: H, (size, size)."""
    row, plus, minus, scale = columns.row, columns.plus, columns.minus, columns.scale
    for j in range(size):
        a = first + j
        for k in range(j + 1):
            b = first + k
            value = 0.0
            if row[a] >= 0 and row[b] >= 0:
                value = _unit_product(plus[a], minus[a], plus[b], minus[b]) * scale[a] * scale[b]
                value *= kernel.K[kernel.place[row[a]], row[b]]
            H[j, k] = H[k, j] = value


@njit(cache=True, nogil=True)
def _solve_block(H, size, alpha, s, tol):  # type: ignore[no-untyped-def]
    """Move weight between pairs of columns until all weight is near the highest score.

    The scores of columns with weight are then at most ``tol`` below the highest one. At most ``10 *
    size`` steps are taken.

    Parameters
    ----------
    H : array of shape (size, size)
        Inner products of the columns of one sample.
    size : int
    alpha, s : arrays of shape (size,)
        Weights and scores of the columns, updated in place.
    tol : float
    """
    for _ in range(10 * size):
        high = 0
        for j in range(1, size):
            if s[j] > s[high]:
                high = j
        # the partner with the largest gain
        low, best_gain, best_step = -1, 0.0, 0.0
        for j in range(size):
            difference = s[high] - s[j]
            if alpha[j] <= 0 or difference <= tol:
                continue
            curvature = max(H[high, high] + H[j, j] - 2 * H[high, j], 1e-12)
            step = min(difference / curvature, alpha[j])
            gain = step * (difference - 0.5 * step * curvature)
            if gain > best_gain:
                low, best_gain, best_step = j, gain, step
        if low < 0:
            return
        alpha[high] += best_step
        alpha[low] = 0.0 if best_step == alpha[low] else alpha[low] - best_step
        for j in range(size):
            s[j] -= best_step * (H[high, j] - H[low, j])


@njit(cache=True, nogil=True, fastmath={"contract"})
def _add_multiple(out, amount, values):  # type: ignore[no-untyped-def]
    """Add ``amount * values`` to ``out``."""
    for k in range(len(values)):
        out[k] += amount * values[k]


@njit(cache=True, nogil=True)
def sweep(kernel, examples, columns, functions, tol):  # type: ignore[no-untyped-def]
    """Optimise the weights of each sample in turn; return the gap of the restricted problem.

    The contribution of a sample to the gap is measured before its weights change.

    Parameters
    ----------
    kernel : KernelRows
    examples : array of int
        Samples in the order of the sweep.
    columns : Blocks
        ``columns.alpha`` is updated in place.
    functions : DualFunctions
        Updated in place.
    tol : float
        Samples whose scores differ by at most this much are skipped.
    """
    starts, row, plus, minus = columns.starts, columns.row, columns.plus, columns.minus
    scale, delta, alpha = columns.scale, columns.delta, columns.alpha
    F, A = functions.F, functions.A
    widest = 0
    for i in examples:
        widest = max(widest, starts[i + 1] - starts[i])
    s, before, H = np.empty(widest), np.empty(widest), np.empty((widest, widest))
    # change of the coefficient of each function at one row
    change = np.zeros(len(F))
    n_rows = F.shape[1]
    gap = 0.0
    for i in examples:
        first, size = starts[i], starts[i + 1] - starts[i]
        highest = -np.inf
        for j in range(size):
            a = first + j
            r = row[a]
            s[j] = delta[a]
            before[j] = alpha[a]
            if r >= 0:
                s[j] += scale[a] * F[plus[a], r]
                if minus[a] >= 0:
                    s[j] -= scale[a] * F[minus[a], r]
            highest = max(highest, s[j])
        block_gap, largest_difference = 0.0, 0.0
        for j in range(size):
            block_gap += alpha[first + j] * (highest - s[j])
            if alpha[first + j] > 0:
                largest_difference = max(largest_difference, highest - s[j])
        gap += block_gap
        if largest_difference <= tol:
            continue
        _block_gram(kernel, first, size, columns, H)
        _solve_block(H, size, alpha[first : first + size], s, tol)
        # columns of one row are adjacent, so that its kernel values are read once
        for j in range(size):
            a = first + j
            r = row[a]
            amount = (alpha[a] - before[j]) * scale[a]
            if r >= 0 and amount != 0.0:
                change[plus[a]] -= amount
                if minus[a] >= 0:
                    change[minus[a]] += amount
            if r >= 0 and (j == size - 1 or row[a + 1] != r):
                values = kernel.K[kernel.place[r], :n_rows]
                for c in range(len(F)):
                    if change[c] != 0.0:
                        A[c, r] += change[c]
                        _add_multiple(F[c], change[c], values)
                        change[c] = 0.0
    return gap


@njit(cache=True, nogil=True)
def move_pairs(H, alpha, s):  # type: ignore[no-untyped-def]
    """Move weight between pairs of columns in place.

    Parameters
    ----------
    H : array of shape (n, n)
        Inner products of the columns.
    alpha, s : arrays of shape (n,)
        Weights and scores of the columns, updated in place.
    """
    _solve_block(H, len(alpha), alpha, s, 0.0)
