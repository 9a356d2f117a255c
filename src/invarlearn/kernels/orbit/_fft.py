"""Inverse Fourier transforms for many pairs of images at once, compiled.

For every point of a transform, an array has the numbers of ``LANES`` pairs of images (lanes) side
by side, real parts first, then imaginary parts. Every step is then a loop over neighbours in
memory, which compilers vectorise for any length of the transform.

The transforms of a radix work in place on a buffer ``u``. The distances between its points are
fixed, so that the compiler knows that they do not overlap. The buffer ``v`` is ``u`` in the shape
(n_points, 2 * LANES).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

LANES = 64

_compiled = njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "contract", "reassoc"})

_COS_3, _SIN_3 = float(np.cos(2 * np.pi / 3)), float(np.sin(2 * np.pi / 3))
_COS_5 = tuple(float(np.cos(2 * np.pi * k / 5)) for k in (1, 2))
_SIN_5 = tuple(float(np.sin(2 * np.pi * k / 5)) for k in (1, 2))
_COS_7 = tuple(float(np.cos(2 * np.pi * k / 7)) for k in (1, 2, 3))
_SIN_7 = tuple(float(np.sin(2 * np.pi * k / 7)) for k in (1, 2, 3))


def factors_of(n: int) -> NDArray[np.int64]:
    """Return the radices of the transform of length n."""
    factors, remainder = [], n
    for radix in (7, 5, 3, 4, 2):
        while remainder % radix == 0:
            factors.append(radix)
            remainder //= radix
    radix = 11
    while remainder > 1:
        while remainder % radix == 0:
            factors.append(radix)
            remainder //= radix
        radix += 2
    return np.array(factors, dtype=np.int64)


def roots_of(n: int, dtype: np.dtype) -> NDArray:
    """Return cos(2 pi k / n) and sin(2 pi k / n) for k < n: (2, n)."""
    angles = 2 * np.pi * np.arange(n) / n
    return np.stack([np.cos(angles), np.sin(angles)]).astype(dtype)


@_compiled
def _dft_2(u):  # type: ignore[no-untyped-def]
    n = LANES
    for t in range(n):
        a, b, c, d = u[t], u[n + t], u[2 * n + t], u[3 * n + t]
        u[t] = a + c
        u[n + t] = b + d
        u[2 * n + t] = a - c
        u[3 * n + t] = b - d


@_compiled
def _dft_3(u):  # type: ignore[no-untyped-def]
    n = LANES
    cosine, sine = u.dtype.type(_COS_3), u.dtype.type(_SIN_3)
    for t in range(n):
        ar, ai = u[t], u[n + t]
        pr, pi = u[2 * n + t] + u[4 * n + t], u[3 * n + t] + u[5 * n + t]
        qr, qi = u[2 * n + t] - u[4 * n + t], u[3 * n + t] - u[5 * n + t]
        u[t] = ar + pr
        u[n + t] = ai + pi
        er, ei = ar + cosine * pr, ai + cosine * pi
        u[2 * n + t] = er - sine * qi
        u[3 * n + t] = ei + sine * qr
        u[4 * n + t] = er + sine * qi
        u[5 * n + t] = ei - sine * qr


@_compiled
def _dft_4(u):  # type: ignore[no-untyped-def]
    n = LANES
    for t in range(n):
        pr, pi = u[t] + u[4 * n + t], u[n + t] + u[5 * n + t]
        qr, qi = u[t] - u[4 * n + t], u[n + t] - u[5 * n + t]
        rr, ri = u[2 * n + t] + u[6 * n + t], u[3 * n + t] + u[7 * n + t]
        sr, si = u[2 * n + t] - u[6 * n + t], u[3 * n + t] - u[7 * n + t]
        u[t] = pr + rr
        u[n + t] = pi + ri
        u[2 * n + t] = qr - si
        u[3 * n + t] = qi + sr
        u[4 * n + t] = pr - rr
        u[5 * n + t] = pi - ri
        u[6 * n + t] = qr + si
        u[7 * n + t] = qi - sr


@_compiled
def _dft_5(u):  # type: ignore[no-untyped-def]
    n = LANES
    number = u.dtype.type
    c1, c2, s1, s2 = number(_COS_5[0]), number(_COS_5[1]), number(_SIN_5[0]), number(_SIN_5[1])
    for t in range(n):
        ar, ai = u[t], u[n + t]
        p1r, p1i = u[2 * n + t] + u[8 * n + t], u[3 * n + t] + u[9 * n + t]
        q1r, q1i = u[2 * n + t] - u[8 * n + t], u[3 * n + t] - u[9 * n + t]
        p2r, p2i = u[4 * n + t] + u[6 * n + t], u[5 * n + t] + u[7 * n + t]
        q2r, q2i = u[4 * n + t] - u[6 * n + t], u[5 * n + t] - u[7 * n + t]
        u[t] = ar + p1r + p2r
        u[n + t] = ai + p1i + p2i
        er, ei = ar + c1 * p1r + c2 * p2r, ai + c1 * p1i + c2 * p2i
        fr, fi = s1 * q1r + s2 * q2r, s1 * q1i + s2 * q2i
        u[2 * n + t] = er - fi
        u[3 * n + t] = ei + fr
        u[8 * n + t] = er + fi
        u[9 * n + t] = ei - fr
        er, ei = ar + c2 * p1r + c1 * p2r, ai + c2 * p1i + c1 * p2i
        fr, fi = s2 * q1r - s1 * q2r, s2 * q1i - s1 * q2i
        u[4 * n + t] = er - fi
        u[5 * n + t] = ei + fr
        u[6 * n + t] = er + fi
        u[7 * n + t] = ei - fr


@_compiled
def _dft_7(u):  # type: ignore[no-untyped-def]
    n = LANES
    number = u.dtype.type
    c1, c2, c3 = number(_COS_7[0]), number(_COS_7[1]), number(_COS_7[2])
    s1, s2, s3 = number(_SIN_7[0]), number(_SIN_7[1]), number(_SIN_7[2])
    for t in range(n):
        ar, ai = u[t], u[n + t]
        p1r, p1i = u[2 * n + t] + u[12 * n + t], u[3 * n + t] + u[13 * n + t]
        q1r, q1i = u[2 * n + t] - u[12 * n + t], u[3 * n + t] - u[13 * n + t]
        p2r, p2i = u[4 * n + t] + u[10 * n + t], u[5 * n + t] + u[11 * n + t]
        q2r, q2i = u[4 * n + t] - u[10 * n + t], u[5 * n + t] - u[11 * n + t]
        p3r, p3i = u[6 * n + t] + u[8 * n + t], u[7 * n + t] + u[9 * n + t]
        q3r, q3i = u[6 * n + t] - u[8 * n + t], u[7 * n + t] - u[9 * n + t]
        u[t] = ar + p1r + p2r + p3r
        u[n + t] = ai + p1i + p2i + p3i
        er, ei = ar + c1 * p1r + c2 * p2r + c3 * p3r, ai + c1 * p1i + c2 * p2i + c3 * p3i
        fr, fi = s1 * q1r + s2 * q2r + s3 * q3r, s1 * q1i + s2 * q2i + s3 * q3i
        u[2 * n + t] = er - fi
        u[3 * n + t] = ei + fr
        u[12 * n + t] = er + fi
        u[13 * n + t] = ei - fr
        er, ei = ar + c2 * p1r + c3 * p2r + c1 * p3r, ai + c2 * p1i + c3 * p2i + c1 * p3i
        fr, fi = s2 * q1r - s3 * q2r - s1 * q3r, s2 * q1i - s3 * q2i - s1 * q3i
        u[4 * n + t] = er - fi
        u[5 * n + t] = ei + fr
        u[10 * n + t] = er + fi
        u[11 * n + t] = ei - fr
        er, ei = ar + c3 * p1r + c1 * p2r + c2 * p3r, ai + c3 * p1i + c1 * p2i + c2 * p3i
        fr, fi = s3 * q1r - s1 * q2r + s2 * q3r, s3 * q1i - s1 * q2i + s2 * q3i
        u[6 * n + t] = er - fi
        u[7 * n + t] = ei + fr
        u[8 * n + t] = er + fi
        u[9 * n + t] = ei - fr


@_compiled
def _add_rotated(v, j, cosine, sine, k):  # type: ignore[no-untyped-def]
    n = LANES
    for t in range(n):
        re, im = v[j, t], v[j, n + t]
        v[k, t] += re * cosine - im * sine
        v[k, n + t] += re * sine + im * cosine


@_compiled
def _dft_any(v, r, roots, stride):  # type: ignore[no-untyped-def]
    """Transform the first r points of v by the definition; the next r points are a buffer."""
    v[r : 2 * r] = 0
    for k in range(r):
        for j in range(r):
            exponent = (j * k % r) * stride
            _add_rotated(v, j, roots[0, exponent], roots[1, exponent], r + k)
    v[:r] = v[r : 2 * r]


@_compiled
def _copy(source, i, one, out, k):  # type: ignore[no-untyped-def]
    # times one, since compilers replace a plain copy by a function call, which is slow here
    for t in range(2 * LANES):
        out[k, t] = source[i, t] * one


@_compiled
def _copy_rotated(source, k, cosine, sine, out, i):  # type: ignore[no-untyped-def]
    n = LANES
    for t in range(n):
        re, im = source[k, t], source[k, n + t]
        out[i, t] = re * cosine - im * sine
        out[i, n + t] = re * sine + im * cosine


@_compiled
def inverse(x, y, u, v, factors, roots):  # type: ignore[no-untyped-def]
    """Return the inverse transform of x, times its length, by Stockham's algorithm.

    x and y have the shape (length, 2 * LANES), and are both overwritten; one of them is returned.
    """
    n = roots.shape[1]
    one = roots[0, 0]
    remaining, done = n, 1
    for f in range(len(factors)):
        r = factors[f]
        m = remaining // r
        for p in range(m):
            for q in range(done):
                for k in range(r):
                    _copy(x, q + done * (p + m * k), one, v, k)
                if r == 2:
                    _dft_2(u)
                elif r == 3:
                    _dft_3(u)
                elif r == 4:
                    _dft_4(u)
                elif r == 5:
                    _dft_5(u)
                elif r == 7:
                    _dft_7(u)
                else:
                    _dft_any(v, r, roots, n // r)
                for k in range(r):
                    exponent, target = p * k * done, q + done * (r * p + k)
                    if exponent == 0:
                        _copy(v, k, one, y, target)
                    else:
                        _copy_rotated(v, k, roots[0, exponent], roots[1, exponent], y, target)
        x, y = y, x
        remaining = m
        done *= r
    return x


@_compiled
def _multiply(ar, ai, b, k, out, h):  # type: ignore[no-untyped-def]
    """Write a times the conjugate of b[k] to out[h]; a is one number, b[k] has all lanes."""
    n = LANES
    for t in range(n):
        br, bi = b[k, t], b[k, n + t]
        out[h, t] = ar * br + ai * bi
        out[h, n + t] = ai * br - ar * bi


@_compiled
def _add_multiplied(ar, ai, b, k, out, h):  # type: ignore[no-untyped-def]
    n = LANES
    for t in range(n):
        br, bi = b[k, t], b[k, n + t]
        out[h, t] += ar * br + ai * bi
        out[h, n + t] += ai * br - ar * bi


@_compiled
def _join(products, i, j, b, one, out, h):  # type: ignore[no-untyped-def]
    """Write real parts, row i of products, and imaginary parts, row j, to out[h]."""
    n = LANES
    re, im = products[i, b : b + n], products[j, b : b + n]
    for t in range(n):
        out[h, t] = re[t] * one
    for t in range(n):
        out[h, n + t] = im[t] * one


@_compiled
def _pack(half, i, j, mirrored, out, h):  # type: ignore[no-untyped-def]
    """Write a + ib of two Hermitian lines a and b to out[h]; ``mirrored=-1`` conjugates both."""
    n = LANES
    for t in range(n):
        re = half[i, t] - mirrored * half[j, n + t]
        im = mirrored * half[i, n + t] + half[j, t]
        out[h, t] = re
        out[h, n + t] = im


@_compiled
def _larger(z, i, best, p):  # type: ignore[no-untyped-def]
    """Write the maximum of real parts, imaginary parts and row p of best to its other row.

    The result is in another row, since compilers use slow masked stores for a maximum in place.
    """
    n = LANES
    for t in range(n):
        a, b, c = z[i, t], z[i, n + t], best[p, t]
        a = a if a > b else b
        best[1 - p, t] = a if a > c else c


@_compiled
def _larger_weighted(z, i, scale, offset, j, k, b, best, p):  # type: ignore[no-untyped-def]
    """Update row p of best as _larger does, after scale and offset j (real) and k (imaginary)."""
    n = LANES
    factor, term = scale[j, b : b + n], offset[j, b : b + n]
    for t in range(n):
        a, c = z[i, t] * factor[t] + term[t], best[p, t]
        best[1 - p, t] = a if a > c else c
    factor, term = scale[k, b : b + n], offset[k, b : b + n]
    for t in range(n):
        a, c = z[i, n + t] * factor[t] + term[t], best[1 - p, t]
        best[p, t] = a if a > c else c


@_compiled
def _collect(z, k, other, columns, scale, offset, b, i, best, every):  # type: ignore[no-untyped-def]
    """Update ``best``, or write to ``every``, columns of the real and imaginary parts of z."""
    n, count = LANES, len(columns)
    for q in range(count):
        if len(every):
            every[i, k * count + q, b : b + n] = z[columns[q], :n]
            every[i, other * count + q, b : b + n] = z[columns[q], n:]
        elif len(scale):
            first, second = k * count + q, other * count + q
            _larger_weighted(z, columns[q], scale, offset, first, second, b, best, 0)
        else:
            _larger(z, columns[q], best, q % 2)
    if count % 2 and not len(every) and not len(scale):
        best[0] = best[1]


@_compiled
def correlations(left, right, products, lags, plan, weights, best, every):  # type: ignore[no-untyped-def]
    """Correlate rows with canvases at all pairs of lags; write the largest or all values.

    Parameters
    ----------
    left : array of shape (n, channels, half_width * height, 2)
        Spectra of the rows, divided by the number of points.
    right : array of shape (n_blocks, channels, half_width * height, 2 * LANES)
        Spectra of the canvases, in blocks of LANES.
    products : array of shape (half_width * height, 2 * n, m), or empty
        Products of both, summed over channels, if they are computed before: real and imaginary
        parts of each row. ``left`` and ``right`` are then ignored.
    lags : two arrays of int
        Lags along rows and along columns.
    plan : four arrays
        Factors and roots of the height, then of the width.
    weights : two arrays of shape (n_lags, m), or empty
        Scale and offset of every value, for all pairs of lags.
    best : array of shape (n, m), or empty
        Replaced by the largest values, if they are larger.
    every : array of shape (n, n_lags, m), or empty
        Overwritten by all values.
    """
    rows, columns = lags
    row_factors, row_roots, column_factors, column_roots = plan
    scale, offset = weights
    height, width = row_roots.shape[1], column_roots.shape[1]
    half_width = width // 2 + 1
    n, m = max(len(best), len(every)), max(best.shape[1], every.shape[2])
    one, dtype = row_roots[0, 0], row_roots.dtype
    longest = max(height, width)
    x, y = np.empty((longest, 2 * LANES), dtype), np.empty((longest, 2 * LANES), dtype)
    radix = 1
    for factors in (row_factors, column_factors):
        for factor in factors:
            radix = max(radix, factor)
    u = np.empty(4 * radix * LANES, dtype)
    v = u.reshape(-1, 2 * LANES)
    half = np.empty((len(rows), half_width, 2 * LANES), dtype)
    flat = half.reshape(-1, 2 * LANES)
    largest = np.empty((2, LANES), dtype)
    for block in range(m // LANES):
        b = block * LANES
        for i in range(n):
            for c in range(half_width):
                for h in range(height):
                    f = c * height + h
                    if len(products):
                        _join(products[f], 2 * i, 2 * i + 1, b, one, x, h)
                    else:
                        _multiply(left[i, 0, f, 0], left[i, 0, f, 1], right[block, 0], f, x, h)
                        for k in range(1, right.shape[1]):
                            _add_multiplied(
                                left[i, k, f, 0], left[i, k, f, 1], right[block, k], f, x, h
                            )
                z = inverse(x, y, u, v, row_factors, row_roots)
                for k in range(len(rows)):
                    _copy(z, rows[k], one, flat, k * half_width + c)
            largest[:] = -np.inf
            for k in range(0, len(rows), 2):
                other = min(k + 1, len(rows) - 1)
                for c in range(width):
                    mirror = min(c, width - c)
                    sign = one if c == mirror else -one
                    _pack(flat, k * half_width + mirror, other * half_width + mirror, sign, x, c)
                z = inverse(x, y, u, v, column_factors, column_roots)
                _collect(z, k, other, columns, scale, offset, b, i, largest, every)
            if len(best):
                for t in range(LANES):
                    best[i, b + t] = max(best[i, b + t], largest[0, t])


@_compiled
def lay_out(spectra, scale, out):  # type: ignore[no-untyped-def]
    """Write spectra to ``out`` in the layout for matrix products with [real; imaginary] spectra.

    ``spectra`` has the shape (n, channels, height, half_width, 2), ``out`` the shape
    (half_width * height, n * 2, channels * 2). Each spectrum has two rows, for the real and for the
    imaginary part of its products with conjugates.
    """
    n, channels, height, half_width, _ = spectra.shape
    for i in range(n):
        for c in range(half_width):
            for h in range(height):
                f = c * height + h
                for k in range(channels):
                    re, im = scale * spectra[i, k, h, c, 0], scale * spectra[i, k, h, c, 1]
                    out[f, 2 * i, 2 * k] = re
                    out[f, 2 * i, 2 * k + 1] = im
                    out[f, 2 * i + 1, 2 * k] = im
                    out[f, 2 * i + 1, 2 * k + 1] = -re
