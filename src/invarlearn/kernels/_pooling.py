"""Norms of rows, and pooling of similarities over an orbit, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def square_norms(rows, out):  # type: ignore[no-untyped-def]
    """Write the squared norm of each row to ``out``."""
    for i in range(len(rows)):
        row = rows[i]
        total = row.dtype.type(0)
        for j in range(len(row)):
            total += row[j] * row[j]
        out[i] = total


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def normalize_rows(rows, squares, least):  # type: ignore[no-untyped-def]
    """Divide rows by their norms, in place; rows with squared norms up to ``least`` become zero.

    ``squares`` has the squared norms, and is overwritten by the new ones, 0 or 1.
    """
    for i in range(len(rows)):
        row = rows[i]
        is_kept = squares[i] > least[i]
        scale = row.dtype.type(1 / np.sqrt(squares[i])) if is_kept else row.dtype.type(0)
        for j in range(len(row)):
            row[j] *= scale
        squares[i] = 1 if is_kept else 0


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def block_max(fits, k, out):  # type: ignore[no-untyped-def]
    """Write the largest of each k consecutive numbers in a row to ``out``."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            best = fits[i, j * k]
            for t in range(1, k):
                best = max(best, fits[i, j * k + t])
            out[i, j] = best


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def block_mean(fits, k, out):  # type: ignore[no-untyped-def]
    """Write the mean of each k consecutive numbers in a row to ``out``."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for t in range(k):
                total += fits[i, j * k + t]
            out[i, j] = total / k


@njit(cache=True, nogil=True)
def block_softmax(fits, k, sharpness, out):  # type: ignore[no-untyped-def]
    """Write a weighted mean of each k consecutive numbers in a row to ``out``.

    The weights are exp(sharpness * number / largest absolute number).
    """
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            best, largest_size = -np.inf, 0.0
            for t in range(k):
                best = max(best, fits[i, j * k + t])
                largest_size = max(largest_size, abs(fits[i, j * k + t]))
            scale = sharpness / largest_size if largest_size > 0 else 0.0
            total, weights = 0.0, 0.0
            for t in range(k):
                weight = np.exp(scale * (fits[i, j * k + t] - best))
                total += weight * fits[i, j * k + t]
                weights += weight
            out[i, j] = total / weights
