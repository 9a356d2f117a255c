"""Compiled passes over sparse rows at their worst scaling.

Weights are flat: those of feature j for the K functions are ``w[j * K : (j + 1) * K]``. With two
classes there is one function, positive for the second. Related arrays are grouped in named tuples,
which compiled code unpacks at no cost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from invarlearn.transforms.compiled.scaling import choose_gains, gains_of, longest_row, read_row


class SparseRows(NamedTuple):
    """Rows in CSR format, and their class indices."""

    data: Any
    indices: Any
    indptr: Any
    y: Any


class Margins(NamedTuple):
    """Parameters of the losses of scaled rows.

    Attributes
    ----------
    n_functions : int
    bias : float
        Value of a constant last feature, which is not scaled. 0: no constant feature.
    cost, scale : arrays of shape (n_classes, n_classes)
        As in :class:`~invarlearn.oracles.costs.Costs`.
    low, high : float
        Smallest and largest scaling.
    budget : int
        Number of features that may be scaled.
    """

    n_functions: int
    bias: float
    cost: Any
    scale: Any
    low: float
    high: float
    budget: int


class Steps(NamedTuple):
    """Parameters of steps of Pegasos.

    Attributes
    ----------
    order : array of int
        The sample of each step.
    sizes : array of shape (n_samples,)
        Weights of samples, relative to their mean.
    lam : float
    radius : float
        Radius of the ball that contains the optimum.
    """

    order: Any
    sizes: Any
    lam: float
    radius: float


class WalkArrays(NamedTuple):
    """The state of :class:`invarlearn.solvers.pegasos.Walk`."""

    v: Any
    u: Any
    state: Any


@njit(cache=True, nogil=True)
def _buffers(indptr):  # type: ignore[no-untyped-def]
    """Allocate gains, places, kept gains and scaled values for the longest row."""
    n = longest_row(indptr)
    return np.empty(n), np.empty(n + 1, dtype=np.int64), np.empty(n), np.empty(n)


@njit(cache=True, nogil=True)
def _read_pair(values, indices, w, K, own, rival, low, high, gains):  # type: ignore[no-untyped-def]
    """Return the same as ``read_row``, for the difference of two functions."""
    for k in range(len(values)):
        at = np.uint64(indices[k]) * np.uint64(K)
        gains[k] = (w[at + np.uint64(own)] - w[at + np.uint64(rival)]) * values[k]
    return gains_of(gains, len(values), low, high)


@njit(cache=True, nogil=True)
def _margin(values, indices, w, margins, own, rival, guess, buffers):  # type: ignore[no-untyped-def]
    """Return the smallest margin over a rival, the number of scaled values, and the next guess."""
    K, bias, low, high = margins.n_functions, margins.bias, margins.low, margins.high
    gains, places, kept, _ = buffers
    end = len(w) - K
    if K == 1:
        sign = 1.0 if own == 1 else -1.0
        score, total = read_row(values, indices, w, sign, low, high, gains)
        score += sign * bias * w[end] if bias != 0 else 0.0
    else:
        score, total = _read_pair(values, indices, w, K, own, rival, low, high, gains)
        score += bias * (w[end + own] - w[end + rival]) if bias != 0 else 0.0
    # up to a factor, weights change little between two visits of a row
    limit = 0.97 * guess * total
    count, guess = choose_gains(gains, len(values), margins.budget, limit, places, kept)
    guess = guess / total if total > 0 else 0.0
    for j in range(count):
        score -= gains[places[j]]
    return score, count, guess


@njit(cache=True, nogil=True)
def _worst_rival(values, indices, w, margins, own, factor, guesses, buffers):  # type: ignore[no-untyped-def]
    """Return the loss of a row for ``factor * w``, its rival (-1: none) and the number scaled."""
    cost, scale = margins.cost, margins.scale
    best = cost[own, own]
    chosen, rival, last = 0, -1, -1
    for other in range(len(cost)):
        if other == own:
            continue
        margin, count, guesses[other] = _margin(
            values, indices, w, margins, own, other, guesses[other], buffers
        )
        value = cost[own, other] - scale[own, other] * factor * margin
        last = other
        if value > best:
            best, rival, chosen = value, other, count
    if rival >= 0 and rival != last:
        # the buffers contain the values of the last rival: restore those of the worst
        guess = guesses[rival]
        _, chosen, _ = _margin(values, indices, w, margins, own, rival, guess, buffers)
    return best, rival, chosen


@njit(cache=True, nogil=True)
def _scale_row(values, indices, w, margins, own, rival, count, buffers):  # type: ignore[no-untyped-def]
    """Write the scaled values of a row to the last buffer."""
    K = margins.n_functions
    _, places, _, scaled = buffers
    for k in range(len(values)):
        scaled[k] = values[k]
    for j in range(count):
        k = places[j]
        at = indices[k] * K
        if K == 1:
            part = w[at] * values[k] if own == 1 else -w[at] * values[k]
        else:
            part = (w[at + own] - w[at + rival]) * values[k]
        scaled[k] *= margins.high if part < 0 else margins.low


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _squared(values, n):  # type: ignore[no-untyped-def]
    """Return the sum of the squares of the first n values."""
    total = 0.0
    for k in range(n):
        total += values[k] * values[k]
    return total


@njit(cache=True, nogil=True)
def _add_row(out, amount, indices, margins, own, rival, scaled):  # type: ignore[no-untyped-def]
    """Add ``amount`` times phi(s(x), rival) - phi(s(x), own), flat, of a scaled row."""
    K, bias = margins.n_functions, margins.bias
    end, n = len(out) - K, len(indices)
    if K == 1:
        amount = -amount if own == 1 else amount
        for k in range(n):
            out[np.uint64(indices[k])] += amount * scaled[k]
        if bias != 0:
            out[end] += amount * bias
        return
    for k in range(n):
        at = np.uint64(indices[k]) * np.uint64(K)
        out[at + np.uint64(rival)] += amount * scaled[k]
        out[at + np.uint64(own)] -= amount * scaled[k]
    if bias != 0:
        out[end + rival] += amount * bias
        out[end + own] -= amount * bias


@njit(cache=True, nogil=True)
def scaled_pass(rows, margins, w, shares, guesses, losses, out):  # type: ignore[no-untyped-def]
    """Compute the losses of rows, and add their subgradients, weighted by shares, to ``out``."""
    indptr = rows.indptr
    buffers = _buffers(indptr)
    for i in range(len(indptr) - 1):
        values = rows.data[indptr[i] : indptr[i + 1]]
        columns = rows.indices[indptr[i] : indptr[i + 1]]
        own = rows.y[i]
        losses[i], rival, count = _worst_rival(
            values, columns, w, margins, own, 1.0, guesses[i], buffers
        )
        if rival >= 0 and shares[i] > 0:
            _scale_row(values, columns, w, margins, own, rival, count, buffers)
            amount = shares[i] * margins.scale[own, rival]
            _add_row(out, amount, columns, margins, own, rival, buffers[3])


@njit(cache=True, nogil=True)
def scaled_walk(rows, margins, guesses, steps, walk):  # type: ignore[no-untyped-def]
    """Take a step of :class:`invarlearn.solvers.pegasos.Walk` for each row in an order.

    f is ``c * v`` and its average is ``a * v + h * u``, so that a step changes only the weights of
    features in its row.
    """
    indptr, bias, cost = rows.indptr, margins.bias, margins.cost
    lam, radius = steps.lam, steps.radius
    v, u = walk.v, walk.u
    buffers = _buffers(indptr)
    t, c, n2, a, h, linear = walk.state
    for i in steps.order:
        values = rows.data[indptr[i] : indptr[i + 1]]
        columns = rows.indices[indptr[i] : indptr[i + 1]]
        own = rows.y[i]
        t += 1
        if t > 1:
            rho = 2.0 / (t + 1.0)
            a = (1.0 - rho) * a + rho * c
            h *= 1.0 - rho
        value, rival, count = _worst_rival(values, columns, v, margins, own, c, guesses[i], buffers)
        delta = cost[own, own] if rival < 0 else cost[own, rival]
        shrink, length = 1.0 - 1.0 / t, steps.sizes[i] / (lam * t)
        c = 1.0 if t == 1 else c * shrink
        n2 *= shrink * shrink
        linear = shrink * linear + steps.sizes[i] * delta / t
        if rival >= 0:
            gamma = margins.scale[own, rival]
            _scale_row(values, columns, v, margins, own, rival, count, buffers)
            scaled = buffers[3]
            squared = _squared(scaled, len(values))
            squared = (squared + bias * bias) * gamma * gamma
            squared *= 1.0 if margins.n_functions == 1 else 2.0
            amount = -length * gamma / c
            _add_row(v, amount, columns, margins, own, rival, scaled)
            # so that the average does not change with v
            _add_row(u, -amount * a / h, columns, margins, own, rival, scaled)
            n2 += length * length * squared - 2.0 * shrink * length * (value - delta)
        if n2 > radius * radius:
            factor = radius / np.sqrt(n2)
            c *= factor
            linear *= factor
            n2 = radius * radius
        if c < 1e-3 or h < 1e-6:
            # store the whole average in u, before a * v and h * u cancel each other
            for j in range(len(v)):
                u[j] = h * u[j] + a * v[j]
                v[j] *= c
            a, h, c = 0.0, 1.0, 1.0
    walk.state[:] = t, c, n2, a, h, linear
