"""The engine for whole-pixel shifts: all of them at once, by Fourier transforms.

The similarity of x to every shift of y is a correlation, and so is the sum over windows that a
local kernel of inner degree two needs: multiplied out, the square of a window sum is a sum of
products of two pixels of x and the same two of y, one correlation for each distance of the two.
Correlations are products of spectra; a pair of images then costs one inverse transform, whatever
the number of shifts and the width of the windows are. Other transformations, such as rotations,
are applied to y once each, and shifted from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from invarlearn.kernels._listed import NORM_FLOOR, normalized
from invarlearn.kernels._windows import SquaredWindows
from invarlearn.kernels.base import RBF, DotKernel, Rows
from invarlearn.kernels.local import LocalPolynomial
from invarlearn.transforms._shifts import Shifted, shifted
from invarlearn.transforms._threads import in_threads, slices

if TYPE_CHECKING:
    from invarlearn.kernels.orbit import OrbitKernel

# With more channels than this, products of spectra are matrix products.
FEW_CHANNELS = 4

# Spectra of transformed rows are held up to about this size, those of others in blocks.
SPECTRA_BYTES = 192 * 2**20
BLOCK_BYTES = 64 * 2**20

# Nanoseconds, as measured: of an operation in a large matrix product and in many small ones, of a
# place in a step of an inverse transform, and of a pixel in sums over windows.
GEMM, SPECTRUM, TRANSFORM, WINDOWS = 0.014, 0.03, 0.5, 6.0

# A radix beyond those written out costs this share of its size more.
RADIX = 0.7


@dataclass(frozen=True)
class Spectra:
    """What :class:`Spectral` keeps of some rows: spectra and weights, a list of canvases."""

    n: int
    spectra: list[Rows]
    weights: list[tuple[Rows, Rows]]
    offsets: list[Rows | None]
    origin: float

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in self.spectra) + sum(2 * w[0].nbytes for w in self.weights)


class Products:
    """Inner products: the channels of both images as they are."""

    def __init__(self, shifts: Shifted):
        self.n_channels = shifts.grid[2]

    def left(self, images: Rows) -> Rows:
        return images.transpose(0, 3, 1, 2)

    def right(self, canvases: Rows) -> Rows:
        return canvases.transpose(0, 3, 1, 2)


class Spectral:
    """Pools similarities to all shifts of rows by Fourier transforms.

    Parameters
    ----------
    kernel : OrbitKernel
    shifts : Shifted
    """

    row_chunk = 2048

    def __init__(self, kernel: OrbitKernel, shifts: Shifted):
        self.kernel = kernel
        self.base: Any = kernel._base()
        self.shifts = shifts
        local = isinstance(self.base, LocalPolynomial)
        self.terms: Any = SquaredWindows(self.base, shifts.grid) if local else Products(shifts)
        self.size = shifts.size if shifts.periodic else tuple(map(smooth_length, shifts.size))
        height, width = self.size
        self.places = height * (width // 2 + 1)
        self.lags = (
            (shifts.down - shifts.origin[0]) % height,
            (shifts.right - shifts.origin[1]) % width,
        )

    def cost(self) -> float:
        """Estimate the time of a pair of rows."""
        from invarlearn.kernels._fft import factors_of

        places = self.size[0] * self.size[1]
        radices = [int(radix) for side in self.size for radix in factors_of(side)]
        steps = sum(RADIX * radix if radix > 7 else 1.0 for radix in radices)
        products = SPECTRUM * 4 * self.places * self.terms.n_channels
        return self.shifts.n_canvases * (TRANSFORM * places * steps + products)

    def bytes_of_row(self, itemsize: int) -> int:
        """Say what is held of a row: the spectra of all canvases, and their weights."""
        spectra = 2 * self.terms.n_channels * self.places * itemsize
        weighed = isinstance(self.base, RBF) or self.kernel.normalize
        weights = 2 * self.shifts.n_shifts * itemsize if weighed else 0
        return self.shifts.n_canvases * (spectra + weights)

    def column_chunk(self, itemsize: int) -> int:
        """Say of how many rows to hold the spectra at a time."""
        from invarlearn.kernels._fft import LANES

        limit = min(SPECTRA_BYTES, get_config()["working_memory"] * 2**20 / 8)
        return LANES * max(1, int(limit // (self.bytes_of_row(itemsize) * LANES)))

    # -- rows that are transformed ---------------------------------------------------------

    def prepare(self, Y: Rows) -> Spectra:
        """Give the spectra of all canvases of rows."""
        origin = self._origin(Y)
        spectra: list[Any] = [None] * self.shifts.n_canvases
        weights, offsets = spectra.copy(), spectra.copy()
        squares = (Y.astype(float) ** 2).sum(axis=1)

        def some(g: int) -> None:
            canvases = self._whole(self.shifts.canvases(Y, g)) - Y.dtype.type(origin)
            weights[g], offsets[g], canvases = self._weights(canvases, squares)
            spectra[g] = self._right(canvases)

        in_threads(some, range(self.shifts.n_canvases))
        return Spectra(len(Y), spectra, weights, offsets, origin)

    def _whole(self, canvases: Rows) -> Rows:
        """Fill canvases up with zeros to the size of the transforms."""
        height, width = (self.size[axis] - canvases.shape[1 + axis] for axis in (0, 1))
        if height == width == 0:
            return canvases
        return np.pad(canvases, ((0, 0), (0, height), (0, width), (0, 0)))

    def _origin(self, Y: Rows) -> float:
        """Give a grey level near all pixels: distances are more precise from there."""
        plain = isinstance(self.base, RBF) and not self.kernel.normalize
        return float(Y.mean(dtype=float)) if plain else 0.0

    def _weights(
        self, canvases: Rows, squares: NDArray[np.float64]
    ) -> tuple[tuple[Rows, Rows], Rows | None, Rows]:
        """Give scale and offset of every shift, an offset of all shifts, and the canvases."""
        gaussian, normalize = isinstance(self.base, RBF), self.kernel.normalize
        empty = np.empty((0, 0), dtype=canvases.dtype)
        if not (gaussian or normalize):
            return (empty, empty), None, canvases
        energies = np.concatenate(
            [self._energies(canvases[rows]) for rows in slices(len(canvases), 64)], axis=1
        )
        if normalize:
            energies[energies <= NORM_FLOOR**2 * squares] = 0
        norms = np.sqrt(energies)
        inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
        scale = inverse if normalize else np.ones_like(norms)
        offset = -0.5 * energies * scale**2 if gaussian else np.zeros_like(norms)
        if self.shifts.periodic:
            canvases = canvases * scale[0][:, None, None, None].astype(canvases.dtype)
            return (empty, empty), offset[0].astype(canvases.dtype), canvases
        padded = np.zeros((2, len(energies), _lanes(len(canvases))), dtype=canvases.dtype)
        padded[0, :, : len(canvases)], padded[1, :, : len(canvases)] = scale, offset
        return (padded[0], padded[1]), None, canvases

    def _energies(self, canvases: Rows) -> NDArray[np.float64]:
        """Give the squared norm of every shift, (shifts, n); one row if they are all alike."""
        squares = (canvases.astype(float) ** 2).sum(axis=3)
        if self.shifts.periodic:
            return squares.sum(axis=(1, 2))[None]
        height, width, _ = self.shifts.grid
        # once around, so that no window is cut
        squares = np.pad(squares, ((0, 0), (1, height), (1, width)), mode="wrap")
        squares[:, 0] = squares[:, :, 0] = 0
        total = squares.cumsum(axis=1).cumsum(axis=2)
        top, left = (-lag % side for lag, side in zip(self.lags, self.size, strict=True))
        corner = [
            total[:, (top + a)[:, None], (left + b)[None, :]]
            for a, b in ((height, width), (0, width), (height, 0), (0, 0))
        ]
        energies = corner[0] - corner[1] - corner[2] + corner[3]
        return np.maximum(energies, 0).reshape(len(canvases), -1).T

    def _right(self, canvases: Rows) -> Rows:
        """Give spectra as the products need them, with rows padded to whole lanes."""
        from invarlearn.kernels._fft import LANES

        n, n_channels, dtype = len(canvases), self.terms.n_channels, canvases.dtype
        many = n_channels > FEW_CHANNELS
        if many:
            out = np.zeros((self.places, 2 * n_channels, _lanes(n)), dtype=dtype)
        else:
            out = np.zeros((_lanes(n) // LANES, n_channels, self.places, 2 * LANES), dtype=dtype)

        def some(rows: slice) -> None:
            spectra = self._spectra(self.terms.right(canvases[rows]))
            if many:
                lay_out = spectra.transpose(2, 1, 3, 0)
                out[:, :, rows] = lay_out.reshape(self.places, 2 * n_channels, -1)
            else:
                lanes = out[rows.start // LANES].reshape(n_channels, self.places, 2, LANES)
                lanes[..., : len(spectra)] = spectra.transpose(1, 2, 3, 0)

        in_threads(some, slices(n, LANES))
        return out

    def _spectra(self, channels: Rows) -> Rows:
        """Give the spectra of (n, channels, height, width): (n, channels, places, 2)."""
        found = self._transform(channels)
        flat = found.transpose(0, 1, 3, 2).reshape(*found.shape[:2], self.places)
        return flat.view(channels.dtype).reshape(*flat.shape, 2)

    def _transform(self, channels: Rows) -> NDArray[np.complexfloating]:
        from scipy.fft import rfft2

        return rfft2(channels, s=self.size)

    # -- rows that are compared with them --------------------------------------------------

    def pool(self, X: Rows, known: Spectra) -> Rows:
        """Pool k(x, Ty) over T, for the rows y whose spectra these are: (n, m)."""
        x = X - X.dtype.type(known.origin)
        if self.kernel.normalize:
            normalized(x, 1)
        squared = np.einsum("nd,nd->n", x, x)[:, None]
        images = x.reshape(len(x), *self.shifts.grid)
        out = np.empty((len(x), known.n), dtype=X.dtype)
        m = _lanes(known.n)

        def some(rows: slice) -> None:
            left = self._left(self.terms.left(images[rows]))
            if self.kernel.pooling == "max":
                fits = self._best(left, known, rows.stop - rows.start, m)[:, : known.n]
                out[rows] = self._finish(fits, squared[rows])
            else:
                fits = self._every(left, known, rows.stop - rows.start, m)[..., : known.n]
                out[rows] = self._pool_every(self._finish(fits, squared[rows, None]))

        in_threads(some, slices(len(x), self._rows_at_a_time(m, X.itemsize)))
        return out

    def _left(self, channels: Rows) -> Rows:
        """Give spectra over the number of places, as the products need them."""
        from invarlearn.kernels._fft import lay_out

        scale = channels.dtype.type(1 / (self.size[0] * self.size[1]))
        n = len(channels)
        if self.terms.n_channels <= FEW_CHANNELS:
            return self._spectra(channels) * scale
        found = self._transform(channels)
        pairs = found.view(channels.dtype).reshape(*found.shape, 2)
        out = np.empty((self.places, 2 * n, 2 * self.terms.n_channels), dtype=channels.dtype)
        lay_out(pairs, scale, out)
        return out

    def _rows_at_a_time(self, m: int, itemsize: int) -> int:
        """Say how many rows make a good block, in memory and for matrix products."""
        from invarlearn.kernels._fft import LANES

        one = 2 * self.terms.n_channels * self.places * itemsize
        if self.terms.n_channels > FEW_CHANNELS:
            one = 3 * one + 2 * self.places * 4 * LANES * itemsize
        if self.kernel.pooling != "max":
            one += 2 * m * self.shifts.n_shifts * self.shifts.n_canvases * itemsize
        return max(1, min(64, int(BLOCK_BYTES // one)))

    def _best(self, left: Rows, known: Spectra, n: int, m: int) -> Rows:
        """Give the largest fit over all elements: (n, m)."""
        best = np.full((n, m), -np.inf, dtype=left.dtype)
        nothing = np.empty((0, 0, 0), dtype=left.dtype)
        for spectra, weights, offset in zip(
            known.spectra, known.weights, known.offsets, strict=True
        ):
            if offset is None:
                self._correlate(left, spectra, weights, best, nothing)
            else:
                fits = np.full_like(best, -np.inf)
                self._correlate(left, spectra, weights, fits, nothing)
                fits[:, : known.n] += offset
                np.maximum(best, fits, out=best)
        return best

    def _every(self, left: Rows, known: Spectra, n: int, m: int) -> Rows:
        """Give the fits of all elements: (n, elements, m)."""
        k = self.shifts.n_shifts
        fits = np.empty((n, k * self.shifts.n_canvases, m), dtype=left.dtype)
        nothing = np.empty((0, 0), dtype=left.dtype)
        for g, (spectra, weights, offset) in enumerate(
            zip(known.spectra, known.weights, known.offsets, strict=True)
        ):
            part = fits[:, g * k : (g + 1) * k]
            self._correlate(left, spectra, weights, nothing, part)
            if len(weights[0]):
                part *= weights[0]
                part += weights[1]
            if offset is not None:
                part[..., : known.n] += offset
        return fits

    def _correlate(
        self, left: Rows, right: Rows, weights: tuple[Rows, Rows], best: Rows, every: Rows
    ) -> None:
        """Fill in the best fits, or every fit, of rows with one canvas of each other row."""
        from invarlearn.kernels._fft import LANES, correlations, factors_of, roots_of

        height, width = self.size
        plan = (
            factors_of(height),
            roots_of(height, left.dtype),
            factors_of(width),
            roots_of(width, left.dtype),
        )
        none = np.empty((0, 0, 0), dtype=left.dtype)
        if right.ndim == 4:
            correlations(left, right, none, self.lags, plan, weights, best, every)
            return
        for columns in slices(right.shape[2], 4 * LANES):
            products = left @ right[:, :, columns]
            correlations(
                none[None],
                none[None],
                products,
                self.lags,
                plan,
                (weights[0][:, columns], weights[1][:, columns]),
                best[:, columns],
                every[:, :, columns],
            )

    def _finish(self, fits: Rows, squared: Rows) -> Rows:
        """Turn fits into values of the kernel."""
        if isinstance(self.terms, SquaredWindows):
            return self.terms.finish(fits)
        if isinstance(self.base, RBF):
            return self.base.profile(np.maximum(squared - 2 * fits, 0), 0)
        return self.base.profile(fits, 0)

    def _pool_every(self, values: Rows) -> Rows:
        from invarlearn.kernels._pooling import pool_softmax

        if self.kernel.pooling == "mean":
            return values.mean(axis=1)
        n, k, m = values.shape
        flat = np.ascontiguousarray(values.transpose(0, 2, 1)).reshape(n, m * k)
        out = np.empty((n, m), dtype=values.dtype)
        pool_softmax(flat, k, self.kernel._sharpness(), out)
        return out


def spectral_engine(kernel: OrbitKernel, n_features: int) -> Spectral | None:
    """Give the engine, if the kernel has whole-pixel shifts and they are faster all at once."""
    from invarlearn.kernels._fft import LANES

    base = kernel._base()
    if kernel.features is not None or not isinstance(base, (DotKernel, RBF, LocalPolynomial)):
        return None
    family = kernel._family()
    size = family._size(n_features)
    shifts = shifted(family._listed(n_features)) if 1 < size < np.inf else None
    if shifts is None or shifts.n_shifts < 2:
        return None
    if isinstance(base, LocalPolynomial) and not _fits_local(kernel, base, shifts, n_features):
        return None
    engine = Spectral(kernel, shifts)
    if engine.bytes_of_row(8) * LANES > get_config()["working_memory"] * 2**20:
        return None
    one_by_one = min(WINDOWS, 2 * GEMM * engine.terms.n_channels)
    return engine if engine.cost() < size * n_features * one_by_one else None


def _fits_local(
    kernel: OrbitKernel, base: LocalPolynomial, shifts: Shifted, n_features: int
) -> bool:
    """Tell whether a local kernel has one layer of squares that can be multiplied out."""
    if base._grid(n_features) != shifts.grid or not base._is_squared(shifts.grid):
        return False
    if kernel.normalize and not shifts.periodic:
        return False
    return base.padding != "wrap" or shifts.periodic


def smooth_length(n: int) -> int:
    """Give the next length that is a product of 2, 3, 5 and 7."""
    while True:
        left = n
        for factor in (2, 3, 5, 7):
            while left % factor == 0:
                left //= factor
        if left == 1:
            return n
        n += 1


def _lanes(n: int) -> int:
    from invarlearn.kernels._fft import LANES

    return -(-n // LANES) * LANES
