"""The engine for whole-pixel shifts: all of them at once, by Fourier transforms.

The similarity of x to every shift of y is a function of a correlation, or of a sum of correlations
of channels (:mod:`invarlearn.kernels.channels`). Correlations are products of spectra. Each pair of
images therefore costs one inverse transform, for any number of shifts and any width of windows.
Other transformations, such as rotations, are applied to y first; all shifts follow for each of
them. If cyclic shifts have a common step, points of a spectrum that differ by a multiple of
size / step have the same factors in the inverse transform. Their products are summed first, as
those of channels are, and the transform is smaller by the step along each axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from invarlearn._utils.parallel import in_threads, slices
from invarlearn.kernels.base import Rows
from invarlearn.kernels.channels import ChannelProducts
from invarlearn.kernels.local import MOST_CHANNELS
from invarlearn.kernels.orbit.engine import OrbitSettings, normalize_orbits
from invarlearn.transforms.shifts import Shifted, factor_shifts

# With more channels than this, products of spectra are matrix products.
FEW_CHANNELS = 4

# Largest sizes of the spectra of transformed rows, and of a block of spectra of other rows.
SPECTRA_BYTES = 192 * 2**20
BLOCK_BYTES = 64 * 2**20

# Measured times in nanoseconds: of an operation in a large matrix product (GEMM) and in many small
# ones (SPECTRUM), of a point in a step of an inverse transform (TRANSFORM), and of a pixel in sums
# over windows (WINDOWS).
GEMM, SPECTRUM, TRANSFORM, WINDOWS = 0.014, 0.03, 0.5, 1.5

# A step with a radix r above 7 takes RADIX * r times as long as a step with a smaller radix.
RADIX = 0.7


@dataclass(frozen=True)
class Spectra:
    """Spectra of rows.

    Attributes
    ----------
    n : int
        Number of rows.
    spectra : list of arrays
        For each canvas, the spectra of all rows.
    weights : list of pairs of arrays
        For each canvas, a scale and an offset of every shift and row, of shape (n_shifts, n rounded
        up to whole lanes); empty if not needed.
    offsets : list of arrays of shape (n,), or None
        For each canvas, an offset of each row that is the same for all shifts.
    origin : float
        Number that is subtracted from all pixels.
    """

    n: int
    spectra: list[Rows]
    weights: list[tuple[Rows, Rows]]
    offsets: list[Rows | None]
    origin: float

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in self.spectra) + sum(2 * w[0].nbytes for w in self.weights)


class SpectralEngine:
    """Engine for all whole-pixel shifts of canvases: an :class:`~.engine.Engine`.

    Parameters
    ----------
    settings : OrbitSettings
    shifts : Shifted
        Shifts and canvases of the family.
    terms : ChannelProducts
        The base kernel as a function of inner products, from :func:`shift_terms`.
    """

    row_chunk = 2048

    def __init__(self, settings: OrbitSettings, shifts: Shifted, terms: ChannelProducts):
        self.settings = settings
        self.shifts = shifts
        self.terms = terms
        self.canvas = shifts.size if shifts.periodic else tuple(map(smooth_length, shifts.size))
        height, width = self.canvas
        lags = (
            (shifts.down - shifts.origin[0]) % height,
            (shifts.right - shifts.origin[1]) % width,
        )
        self.steps = (1, 1)
        if shifts.periodic:
            self.steps = (
                int(np.gcd.reduce([height, *lags[0]])),
                int(np.gcd.reduce([width, *lags[1]])),
            )
        self.lags = lags[0] // self.steps[0], lags[1] // self.steps[1]
        # size of the inverse transforms, and number of points in half of a spectrum
        self.size = height // self.steps[0], width // self.steps[1]
        self.places = self.size[0] * (self.size[1] // 2 + 1)
        self.n_channels = terms.n_channels * self.steps[0] * self.steps[1]

    def cost(self) -> float:
        """Return the estimated time for a pair of rows, in nanoseconds."""
        from invarlearn.kernels.orbit._fft import factors_of

        n_points = self.size[0] * self.size[1]
        radices = [int(radix) for side in self.size for radix in factors_of(side)]
        steps = sum(RADIX * radix if radix > 7 else 1.0 for radix in radices)
        products = SPECTRUM * 4 * self.places * self.n_channels
        return self.shifts.n_canvases * (TRANSFORM * n_points * steps + products)

    def bytes_of_row(self, itemsize: int) -> int:
        """Return the size in bytes of a prepared row: spectra of all canvases, and weights."""
        spectra = 2 * self.n_channels * self.places * itemsize
        has_weights = self.terms.uses_norms or self.settings.normalize
        weights = 2 * self.shifts.n_shifts * itemsize if has_weights else 0
        return self.shifts.n_canvases * (spectra + weights)

    def column_chunk(self, itemsize: int) -> int:
        """Return the number of rows to prepare at a time."""
        from invarlearn.kernels.orbit._fft import LANES

        limit = min(SPECTRA_BYTES, get_config()["working_memory"] * 2**20 / 8)
        return LANES * max(1, int(limit // (self.bytes_of_row(itemsize) * LANES)))

    def prepare(self, Y: Rows) -> Spectra:
        """Compute the spectra of all canvases of rows, of shape (m, n_features)."""
        origin = self._origin(Y)
        spectra: list[Any] = [None] * self.shifts.n_canvases
        weights, offsets = spectra.copy(), spectra.copy()
        squares = (Y.astype(float) ** 2).sum(axis=1)

        def fill_canvas(g: int) -> None:
            canvases = self._padded(self.shifts.canvases(Y, g)) - Y.dtype.type(origin)
            weights[g], offsets[g], canvases = self._weights(canvases, squares)
            spectra[g] = self._right(canvases)

        in_threads(fill_canvas, range(self.shifts.n_canvases))
        return Spectra(len(Y), spectra, weights, offsets, origin)

    def _padded(self, canvases: Rows) -> Rows:
        """Pad canvases with zeros to a size with fast transforms."""
        height, width = (self.canvas[axis] - canvases.shape[1 + axis] for axis in (0, 1))
        if height == width == 0:
            return canvases
        return np.pad(canvases, ((0, 0), (0, height), (0, width), (0, 0)))

    def _origin(self, Y: Rows) -> float:
        """Return a grey level to subtract from all pixels, so that distances are more precise."""
        uses_distances = self.terms.uses_norms and not self.settings.normalize
        return float(Y.mean(dtype=float)) if uses_distances else 0.0

    def _weights(
        self, canvases: Rows, squares: NDArray[np.float64]
    ) -> tuple[tuple[Rows, Rows], Rows | None, Rows]:
        """Return scales and offsets of every shift, offsets of all shifts, and scaled canvases."""
        subtract, normalize = self.terms.uses_norms, self.settings.normalize
        empty = np.empty((0, 0), dtype=canvases.dtype)
        if not (subtract or normalize):
            return (empty, empty), None, canvases
        energies = np.concatenate(
            [self._energies(canvases[rows]) for rows in slices(len(canvases), 64)], axis=1
        )
        if normalize:
            energies[energies <= self.settings.norm_floor**2 * squares] = 0
        norms = np.sqrt(energies)
        inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
        scale = inverse if normalize else np.ones_like(norms)
        offset = -0.5 * energies * scale**2 if subtract else np.zeros_like(norms)
        if self.shifts.periodic:
            canvases = canvases * scale[0][:, None, None, None].astype(canvases.dtype)
            return (empty, empty), offset[0].astype(canvases.dtype), canvases
        padded = np.zeros((2, len(energies), _lanes(len(canvases))), dtype=canvases.dtype)
        padded[0, :, : len(canvases)], padded[1, :, : len(canvases)] = scale, offset
        return (padded[0], padded[1]), None, canvases

    def _energies(self, canvases: Rows) -> NDArray[np.float64]:
        """Return the squared norm of every shift: (n_shifts, n), or (1, n) if shifts are cyclic."""
        squares = (canvases.astype(float) ** 2).sum(axis=3)
        if self.shifts.periodic:
            return squares.sum(axis=(1, 2))[None]
        height, width, _ = self.shifts.grid
        # padded periodically, so that no window is cut
        squares = np.pad(squares, ((0, 0), (1, height), (1, width)), mode="wrap")
        squares[:, 0] = squares[:, :, 0] = 0
        total = squares.cumsum(axis=1).cumsum(axis=2)
        top, left = (-lag % side for lag, side in zip(self.lags, self.canvas, strict=True))
        corner = [
            total[:, (top + a)[:, None], (left + b)[None, :]]
            for a, b in ((height, width), (0, width), (height, 0), (0, 0))
        ]
        energies = corner[0] - corner[1] - corner[2] + corner[3]
        return np.maximum(energies, 0).reshape(len(canvases), -1).T

    def _right(self, canvases: Rows) -> Rows:
        """Return spectra of canvases in the layout of the products, padded to whole lanes."""
        from invarlearn.kernels.orbit._fft import LANES

        n, n_channels, dtype = len(canvases), self.n_channels, canvases.dtype
        has_many_channels = n_channels > FEW_CHANNELS
        if has_many_channels:
            out = np.zeros((self.places, 2 * n_channels, _lanes(n)), dtype=dtype)
        else:
            out = np.zeros((_lanes(n) // LANES, n_channels, self.places, 2 * LANES), dtype=dtype)

        def fill_rows(rows: slice) -> None:
            spectra = self._spectra(self.terms.right(canvases[rows]))
            if has_many_channels:
                by_point = spectra.transpose(2, 1, 3, 0)
                out[:, :, rows] = by_point.reshape(self.places, 2 * n_channels, -1)
            else:
                lanes = out[rows.start // LANES].reshape(n_channels, self.places, 2, LANES)
                lanes[..., : len(spectra)] = spectra.transpose(1, 2, 3, 0)

        in_threads(fill_rows, slices(n, LANES))
        return out

    def _spectra(self, channels: Rows) -> Rows:
        """Return the spectra of (n, channels, height, width): (n, channels, places, 2)."""
        spectra = self._transform(channels)
        flat = spectra.transpose(0, 1, 3, 2).reshape(*spectra.shape[:2], self.places)
        return flat.view(channels.dtype).reshape(*flat.shape, 2)

    def _transform(self, channels: Rows) -> NDArray[np.complexfloating]:
        """Return half spectra: (n, channels, height, width) to (n, n_channels, height, half)."""
        from scipy.fft import fft2, rfft2

        if self.steps == (1, 1):
            return rfft2(channels, s=self.canvas)
        (height, width), (down, right) = self.size, self.steps
        spectra = fft2(channels).reshape(*channels.shape[:2], down, height, right, width)
        half = spectra[..., : width // 2 + 1].transpose(0, 1, 2, 4, 3, 5)
        return half.reshape(len(channels), self.n_channels, height, -1)

    def pool(self, X: Rows, prepared: Spectra) -> Rows:
        """Compute the pooled similarities of rows to prepared orbits: (n, m)."""
        x = X - X.dtype.type(prepared.origin)
        if self.settings.normalize:
            normalize_orbits(x, 1, self.settings.norm_floor)
        squares = np.einsum("nd,nd->n", x, x)[:, None]
        images = x.reshape(len(x), *self.shifts.grid)
        out = np.empty((len(x), prepared.n), dtype=X.dtype)
        m = _lanes(prepared.n)

        def pool_rows(rows: slice) -> None:
            left = self._left(self.terms.left(images[rows]))
            n = rows.stop - rows.start
            if self.settings.pooler.takes_best:
                fits = self._best(left, prepared, n, m)[:, : prepared.n]
                out[rows] = self.terms.finish(fits, squares[rows])
            else:
                fits = self._every(left, prepared, n, m)[..., : prepared.n]
                self._pool_every(self.terms.finish(fits, squares[rows, None]), out[rows])

        in_threads(pool_rows, slices(len(x), self._rows_at_a_time(m, X.itemsize)))
        return out

    def _left(self, channels: Rows) -> Rows:
        """Return spectra, divided by the number of points, in the layout of the products."""
        from invarlearn.kernels.orbit._fft import lay_out

        scale = channels.dtype.type(1 / (self.canvas[0] * self.canvas[1]))
        n = len(channels)
        if self.n_channels <= FEW_CHANNELS:
            return self._spectra(channels) * scale
        spectra = self._transform(channels)
        pairs = spectra.view(channels.dtype).reshape(*spectra.shape, 2)
        out = np.empty((self.places, 2 * n, 2 * self.n_channels), dtype=channels.dtype)
        lay_out(pairs, scale, out)
        return out

    def _rows_at_a_time(self, m: int, itemsize: int) -> int:
        """Return the number of rows of a block that suits memory and matrix products."""
        from invarlearn.kernels.orbit._fft import LANES

        row_bytes = 2 * self.n_channels * self.places * itemsize
        if self.n_channels > FEW_CHANNELS:
            row_bytes = 3 * row_bytes + 2 * self.places * 4 * LANES * itemsize
        if not self.settings.pooler.takes_best:
            row_bytes += 2 * m * self.shifts.n_shifts * self.shifts.n_canvases * itemsize
        return max(1, min(64, int(BLOCK_BYTES // row_bytes)))

    def _best(self, left: Rows, prepared: Spectra, n: int, m: int) -> Rows:
        """Return the largest fits over all elements: (n, m)."""
        best = np.full((n, m), -np.inf, dtype=left.dtype)
        empty = np.empty((0, 0, 0), dtype=left.dtype)
        for spectra, weights, offset in zip(
            prepared.spectra, prepared.weights, prepared.offsets, strict=True
        ):
            if offset is None:
                self._correlate(left, spectra, weights, best, empty)
            else:
                fits = np.full_like(best, -np.inf)
                self._correlate(left, spectra, weights, fits, empty)
                fits[:, : prepared.n] += offset
                np.maximum(best, fits, out=best)
        return best

    def _every(self, left: Rows, prepared: Spectra, n: int, m: int) -> Rows:
        """Return the fits of all elements: (n, n_elements, m)."""
        k = self.shifts.n_shifts
        fits = np.empty((n, k * self.shifts.n_canvases, m), dtype=left.dtype)
        empty = np.empty((0, 0), dtype=left.dtype)
        for g, (spectra, weights, offset) in enumerate(
            zip(prepared.spectra, prepared.weights, prepared.offsets, strict=True)
        ):
            part = fits[:, g * k : (g + 1) * k]
            self._correlate(left, spectra, weights, empty, part)
            if len(weights[0]):
                part *= weights[0]
                part += weights[1]
            if offset is not None:
                part[..., : prepared.n] += offset
        return fits

    def _correlate(
        self, left: Rows, right: Rows, weights: tuple[Rows, Rows], best: Rows, every: Rows
    ) -> None:
        """Write the best fits, or all fits, of rows and one canvas of each prepared row."""
        from invarlearn.kernels.orbit._fft import LANES, correlations, factors_of, roots_of

        height, width = self.size
        plan = (
            factors_of(height),
            roots_of(height, left.dtype),
            factors_of(width),
            roots_of(width, left.dtype),
        )
        empty = np.empty((0, 0, 0), dtype=left.dtype)
        if right.ndim == 4:
            correlations(left, right, empty, self.lags, plan, weights, best, every)
            return
        for columns in slices(right.shape[2], 4 * LANES):
            products = left @ right[:, :, columns]
            correlations(
                empty[None],
                empty[None],
                products,
                self.lags,
                plan,
                (weights[0][:, columns], weights[1][:, columns]),
                best[:, columns],
                every[:, :, columns],
            )

    def _pool_every(self, values: Rows, out: Rows) -> None:
        """Pool values of the kernel, of shape (n, n_elements, m), into ``out``, of shape (n, m)."""
        n, k, m = values.shape
        flat = np.ascontiguousarray(values.transpose(0, 2, 1)).reshape(n, m * k)
        self.settings.pooler.pool(flat, k, self.settings.sharpness, out)


def spectral_engine(settings: OrbitSettings, n_features: int) -> SpectralEngine | None:
    """Return the spectral engine, or None if it does not apply or the listed engine is faster.

    It applies to families with whole-pixel shifts.
    """
    from invarlearn.kernels.orbit._fft import LANES

    size = settings.family.size(n_features)
    if settings.features is not None or not 1 < size < np.inf:
        return None
    shifts = factor_shifts(settings.family.elements(n_features))
    if shifts is None or shifts.n_shifts < 2:
        return None
    terms = shift_terms(settings, shifts)
    if terms is None:
        return None
    engine = SpectralEngine(settings, shifts, terms)
    if engine.bytes_of_row(8) * LANES > get_config()["working_memory"] * 2**20:
        return None
    # as in LocalPolynomial, which sums over windows if there are many channels
    has_products = terms.is_linear or terms.n_channels <= MOST_CHANNELS
    listed_cost = size * n_features * (2 * GEMM * terms.n_channels if has_products else WINDOWS)
    return engine if engine.cost() < listed_cost else None


def shift_terms(settings: OrbitSettings, shifts: Shifted) -> ChannelProducts | None:
    """Return the base kernel as a function of inner products of channels of shifted images.

    None if the kernel is not such a function, or if it does not allow for the pooling, the
    normalisation or the margins of these shifts.
    """
    terms = settings.base.channel_products(shifts.grid)
    if terms is None or (settings.pooler.takes_best and not terms.best_at_largest_inner_product):
        return None
    if settings.normalize and not (shifts.periodic or terms.is_linear):
        return None
    return None if terms.is_cyclic and not shifts.periodic else terms


def smooth_length(n: int) -> int:
    """Return the smallest length of at least n whose prime factors are 2, 3, 5 and 7."""
    while True:
        remainder = n
        for factor in (2, 3, 5, 7):
            while remainder % factor == 0:
                remainder //= factor
        if remainder == 1:
            return n
        n += 1


def _lanes(n: int) -> int:
    """Return n, rounded up to a multiple of the number of lanes."""
    from invarlearn.kernels.orbit._fft import LANES

    return -(-n // LANES) * LANES
