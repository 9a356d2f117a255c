"""Bilinear interpolation of images, with cached weights."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.parallel import in_threads, slices

Rows = NDArray[np.floating]

# Interpolation weights are computed in blocks of this size.
READING_BYTES = 16 * 2**20

# The most recently used interpolation weights are cached, up to this size in all.
CACHE_BYTES = 64 * 2**20


class Reading:
    """Interpolation of images at m points: weighted sums of up to four pixels each.

    Parameters
    ----------
    index : array of shape (m, 4)
        Indices of the four pixels of each point.
    weight : array of shape (m, 4)
        Weights of these pixels; pixels outside the image have weight zero.
    """

    def __init__(self, index: NDArray[np.uint32], weight: Rows):
        self.index = index
        self.weight = weight

    @property
    def nbytes(self) -> int:
        """Memory of the indices and weights."""
        return self.index.nbytes + self.weight.nbytes

    def read(self, X: Rows, channels: int = 1, out: Rows | None = None) -> Rows:
        """Interpolate images.

        Parameters
        ----------
        X : array of shape (n_samples, n_pixels * channels)
        channels : int, default=1
        out : array of shape (n_samples, ...) with m * channels numbers in each row, optional
            Array that receives the result. Each of its rows must be contiguous.

        Returns
        -------
        array of shape (n_samples, m * channels), or ``out``
        """
        from invarlearn.transforms.compiled.interpolation import read_four, read_four_grey

        X = np.ascontiguousarray(X)
        if out is None:
            out = np.empty((len(X), len(self.index) * channels), dtype=X.dtype)
        index = self.index if channels == 1 else self.index * np.uint32(channels)

        def read_rows(part: slice) -> None:
            for x, row in zip(X[part], out[part], strict=True):
                if channels == 1:
                    read_four_grey(x, index, self.weight, row.reshape(-1))
                else:
                    read_four(x, index, self.weight, channels, row.reshape(-1))

        in_threads(read_rows, slices(len(X), 2**20 // max(out[0].nbytes, 1)))
        return out


class ReadingCache:
    """A cache of the most recently used readings, safe for threads.

    Parameters
    ----------
    max_bytes : int
        Largest size of all cached readings.

    Attributes
    ----------
    built : int
        Number of readings computed so far.
    """

    def __init__(self, max_bytes: int):
        self.max_bytes = max_bytes
        self.built = 0
        self._kept: OrderedDict[Any, Reading] = OrderedDict()
        self._lock = Lock()

    @property
    def nbytes(self) -> int:
        """Size of all cached readings."""
        return sum(cached.nbytes for cached in self._kept.values())

    def get(self, key: tuple[Any, ...]) -> Reading:
        """Return ``affine_reading(*key)``, from the cache if possible."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        reading = affine_reading(*key)
        with self._lock:
            self.built += 1
            self._kept[key] = reading
            while self.nbytes > self.max_bytes:
                self._kept.popitem(last=False)
        return reading


readings = ReadingCache(CACHE_BYTES)


def affine_reading(
    maps: bytes,
    size: tuple[int, int],
    fill: str,
    dtype: str,
    window: tuple[int, int, int, int] | None = None,
) -> Reading:
    """Return the reading of an image under k affine maps.

    Parameters
    ----------
    maps : bytes
        k matrices of shape (3, 3), as in :class:`Affine`.
    size : tuple (height, width)
        Size of the image.
    fill : {"zero", "edge", "wrap"}
        Values outside the image.
    dtype : str
        Dtype of the weights.
    window : tuple (row, column, height, width), optional
        Part of the transformed image that is read. None: the frame of the image.

    Returns
    -------
    Reading
        Reading at k * height * width points, for the height and width of the window.
    """
    height, width = size
    matrices = np.frombuffer(maps).reshape(-1, 3, 3)
    centre = np.array([(height - 1) / 2, (width - 1) / 2])
    row, column, window_height, window_width = window or (0, 0, height, width)
    offset = np.array([[row], [column]])
    points = np.indices((window_height, window_width)).reshape(2, -1) + offset
    inverses = np.linalg.inv(matrices)[:, :2]
    source = inverses[:, :, :2] @ (points - centre[:, None]) + inverses[:, :, 2:] + centre[:, None]
    return bilinear_reading(source.transpose(1, 0, 2).reshape(2, -1), size, fill, dtype)


def bilinear_reading(
    source: NDArray[np.float64], size: tuple[int, int], fill: str, dtype: Any
) -> Reading:
    """Return the bilinear interpolation of an image at m points.

    Parameters
    ----------
    source : array of shape (2, m)
        Row and column of each point.
    size : tuple (height, width)
    fill : {"zero", "edge", "wrap"}
        Values outside the image.
    dtype : dtype
        Dtype of the weights.

    Returns
    -------
    Reading
    """
    height, width = size
    # rounded, so that shifts, reflections and rotations by 90 degrees are exact
    source = np.round(source, 9)
    corner = np.floor(source)
    fraction = source - corner
    corner = corner.astype(np.int64)

    index = np.empty((source.shape[1], 4), dtype=np.uint32)
    weights = np.empty((source.shape[1], 4), dtype=dtype)
    for tap, (down, right) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1)]):
        row, column = corner[0] + down, corner[1] + right
        weight = (fraction[0] if down else 1 - fraction[0]) * (
            fraction[1] if right else 1 - fraction[1]
        )
        if fill == "wrap":
            row, column = row % height, column % width
        elif fill == "edge":
            row, column = row.clip(0, height - 1), column.clip(0, width - 1)
        else:
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            weight = np.where(inside, weight, 0.0)
            row, column = np.where(inside, row, 0), np.where(inside, column, 0)
        index[:, tap] = row * width + column
        weights[:, tap] = weight
    return Reading(index, weights)
