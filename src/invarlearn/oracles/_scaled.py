"""Passes over sparse rows against their worst scaling, compiled.

Weights are flat: those of feature j for the K functions are ``w[j * K : (j + 1) * K]``. With two
classes there is one function, positive for the second. If ``bias`` is not zero, the last feature is
a constant of that value, which no scaling touches. ``scaling`` is (low, high, budget), ``buffers``
are arrays to work in.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from invarlearn.transforms._scaling import choose_gains, gains_of, longest_row, read_row


@njit(cache=True, nogil=True)
def _buffers(indptr):  # type: ignore[no-untyped-def]
    """Give gains, places, kept gains and scaled values, long enough for every row."""
    n = longest_row(indptr)
    return np.empty(n), np.empty(n + 1, dtype=np.int64), np.empty(n), np.empty(n)


@njit(cache=True, nogil=True)
def _read_pair(values, indices, w, K, own, rival, low, high, gains):  # type: ignore[no-untyped-def]
    """As ``read_row``, for the difference of two functions."""
    for k in range(len(values)):
        at = np.uint64(indices[k]) * np.uint64(K)
        gains[k] = (w[at + np.uint64(own)] - w[at + np.uint64(rival)]) * values[k]
    return gains_of(gains, len(values), low, high)


@njit(cache=True, nogil=True)
def _margin(values, indices, w, K, own, rival, bias, scaling, guess, buffers):  # type: ignore[no-untyped-def]
    """Give the smallest margin over a rival, how many values are scaled for it, and a guess."""
    low, high, budget = scaling
    gains, places, kept, _ = buffers
    end = len(w) - K
    if K == 1:
        sign = 1.0 if own == 1 else -1.0
        score, total = read_row(values, indices, w, sign, low, high, gains)
        score += sign * bias * w[end] if bias != 0 else 0.0
    else:
        score, total = _read_pair(values, indices, w, K, own, rival, low, high, gains)
        score += bias * (w[end + own] - w[end + rival]) if bias != 0 else 0.0
    # but for their size, weights change little from one look at a row to the next
    count, guess = choose_gains(gains, len(values), budget, 0.97 * guess * total, places, kept)
    guess = guess / total if total > 0 else 0.0
    for j in range(count):
        score -= gains[places[j]]
    return score, count, guess


@njit(cache=True, nogil=True)
def _worst_rival(values, indices, w, K, own, factor, bias, cost, scale, scaling, guesses, buffers):  # type: ignore[no-untyped-def]
    """Give the loss of a row for ``factor * w``, the rival (-1: none), how many are scaled."""
    best = cost[own, own]
    chosen, rival, last = 0, -1, -1
    for other in range(len(cost)):
        if other == own:
            continue
        margin, count, guesses[other] = _margin(
            values, indices, w, K, own, other, bias, scaling, guesses[other], buffers
        )
        value = cost[own, other] - scale[own, other] * factor * margin
        last = other
        if value > best:
            best, rival, chosen = value, other, count
    if rival >= 0 and rival != last:
        # what is in the buffers belongs to the last rival looked at
        _, chosen, _ = _margin(
            values, indices, w, K, own, rival, bias, scaling, guesses[rival], buffers
        )
    return best, rival, chosen


@njit(cache=True, nogil=True)
def _scale_row(values, indices, w, K, own, rival, scaling, count, buffers):  # type: ignore[no-untyped-def]
    """Put the scaled values into the last buffer."""
    low, high, _ = scaling
    _, places, _, moved = buffers
    for k in range(len(values)):
        moved[k] = values[k]
    for j in range(count):
        k = places[j]
        at = indices[k] * K
        if K == 1:
            part = w[at] * values[k] if own == 1 else -w[at] * values[k]
        else:
            part = (w[at + own] - w[at + rival]) * values[k]
        moved[k] *= high if part < 0 else low


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _squared(values, n):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(n):
        total += values[k] * values[k]
    return total


@njit(cache=True, nogil=True)
def _add_row(out, amount, n, indices, K, own, rival, bias, buffers):  # type: ignore[no-untyped-def]
    """Add ``amount`` times phi(s(x), rival) - phi(s(x), own), flat, of the scaled row."""
    moved = buffers[3]
    end = len(out) - K
    if K == 1:
        amount = -amount if own == 1 else amount
        for k in range(n):
            out[np.uint64(indices[k])] += amount * moved[k]
        if bias != 0:
            out[end] += amount * bias
        return
    for k in range(n):
        at = np.uint64(indices[k]) * np.uint64(K)
        out[at + np.uint64(rival)] += amount * moved[k]
        out[at + np.uint64(own)] -= amount * moved[k]
    if bias != 0:
        out[end + rival] += amount * bias
        out[end + own] -= amount * bias


@njit(cache=True, nogil=True)
def scaled_pass(  # type: ignore[no-untyped-def]
    data, indices, indptr, y, w, K, bias, cost, scale, shares, scaling, guesses, losses, out
):
    """Fill in the losses of rows, and add their subgradients, by shares, to ``out``."""
    buffers = _buffers(indptr)
    for i in range(len(indptr) - 1):
        values = data[indptr[i] : indptr[i + 1]]
        columns = indices[indptr[i] : indptr[i + 1]]
        own = y[i]
        losses[i], rival, count = _worst_rival(
            values, columns, w, K, own, 1.0, bias, cost, scale, scaling, guesses[i], buffers
        )
        if rival >= 0 and shares[i] > 0:
            _scale_row(values, columns, w, K, own, rival, scaling, count, buffers)
            amount = shares[i] * scale[own, rival]
            _add_row(out, amount, len(values), columns, K, own, rival, bias, buffers)


@njit(cache=True, nogil=True)
def scaled_walk(  # type: ignore[no-untyped-def]
    data,
    indices,
    indptr,
    y,
    K,
    bias,
    cost,
    scale,
    sizes,
    scaling,
    guesses,
    order,
    lam,
    radius,
    v,
    u,
    state,
):
    """Take steps of Pegasos along rows in an order: :class:`invarlearn.solvers.pegasos.Walk`.

    f is ``c * v`` and its average ``a * v + h * u``, so that a step costs no more than its row.
    """
    buffers = _buffers(indptr)
    t, c, n2, a, h, linear = state
    for i in order:
        values = data[indptr[i] : indptr[i + 1]]
        columns = indices[indptr[i] : indptr[i + 1]]
        own = y[i]
        t += 1
        if t > 1:
            rho = 2.0 / (t + 1.0)
            a = (1.0 - rho) * a + rho * c
            h *= 1.0 - rho
        value, rival, count = _worst_rival(
            values, columns, v, K, own, c, bias, cost, scale, scaling, guesses[i], buffers
        )
        delta = cost[own, own] if rival < 0 else cost[own, rival]
        shrink, length = 1.0 - 1.0 / t, sizes[i] / (lam * t)
        c = 1.0 if t == 1 else c * shrink
        n2 *= shrink * shrink
        linear = shrink * linear + sizes[i] * delta / t
        if rival >= 0:
            gamma = scale[own, rival]
            _scale_row(values, columns, v, K, own, rival, scaling, count, buffers)
            squared = _squared(buffers[3], len(values))
            squared = (squared + bias * bias) * gamma * gamma * (1.0 if K == 1 else 2.0)
            amount = -length * gamma / c
            _add_row(v, amount, len(values), columns, K, own, rival, bias, buffers)
            # the average does not move with v
            _add_row(u, -amount * a / h, len(values), columns, K, own, rival, bias, buffers)
            n2 += length * length * squared - 2.0 * shrink * length * (value - delta)
        if n2 > radius * radius:
            down = radius / np.sqrt(n2)
            c *= down
            linear *= down
            n2 = radius * radius
        if c < 1e-3 or h < 1e-6:
            # the average goes into u as a whole, before a * v and h * u cancel each other
            for j in range(len(v)):
                u[j] = h * u[j] + a * v[j]
                v[j] *= c
            a, h, c = 0.0, 1.0, 1.0
    state[:] = t, c, n2, a, h, linear
