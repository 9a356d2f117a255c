"""What images need before their edges are compared: how bright, noisy and far away they are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from invarlearn.features.centred import border_median
from invarlearn.features.defaults import SMALLEST_IMAGE
from invarlearn.features.oriented import noise_of
from invarlearn.transforms.grid import image_grid

# Images are noisy with more noise than this, in so many of them, and numbers in all.
NOISE, NOISE_ROWS, NUMBERS = 0.005, 200, 2**23
# A family moves images far if so many spots in the middle come away by more than this part of a
# side, and a pixel.
SPOTS, FAR = 64, 1 / 16
# How alike neighbours are: 0 if they differ as any pixels do, and 1 if not at all. Of images some
# are alike, those below each other and those beside each other differ by no more than this factor,
# and no pixel is so much liker to the third or fourth after it, as where channels come in turn.
ALIKE, UNEVEN, AGAIN, LOOKED_AT = 0.1, 3.0, 1.25, 2**21


def on_ground(X: NDArray, shape: tuple[int, ...]) -> NDArray:
    """Take what lies around each image off it, so that what comes in from outside is like it.

    X may be changed.
    """
    images = np.ascontiguousarray(X).reshape(-1, *image_grid(shape, X.shape[1], "images"))
    images -= border_median(images)[:, None, None]
    return images.reshape(X.shape)


def seems_noisy(X: NDArray, shape: tuple[int, ...]) -> bool:
    """Say whether images seem noisy; coarse ones do as well."""
    some = X[: int(np.clip(NUMBERS // X.shape[1], 1, NOISE_ROWS))]
    return noise_of(some, shape) > NOISE


def moves_far(moves: Sequence[Callable[[NDArray], NDArray]], shape: tuple[int, ...]) -> bool:
    """Say whether what is in the middle of images is moved far away."""
    sides, n_features = np.array(shape[:2]), int(np.prod(shape))
    places = [np.arange(side) - (side - 1) / 2 for side in sides]
    down, right = (np.exp(-0.5 * (8 * at / len(at)) ** 2) for at in places)
    spot = np.outer(down, right).astype(np.float32).reshape(*sides, *[1] * (len(shape) - 2))
    count = int(np.clip(NUMBERS // n_features, 1, SPOTS))
    spots = np.tile(np.broadcast_to(spot, shape).ravel(), (count, 1))
    moved = np.concatenate([move(spots) for move in moves])
    light = np.abs(moved).reshape(len(moved), *sides, -1).sum(axis=3)
    light /= np.maximum(light.sum(axis=(1, 2), keepdims=True), np.finfo(light.dtype).tiny)
    away = np.stack([light.sum(axis=2) @ places[0], light.sum(axis=1) @ places[1]], axis=1)
    distance = np.sqrt((away**2).mean(axis=0))
    return bool(np.any((distance > FAR * sides) & (distance > 1)))


def warn_if_unlike_images(X: NDArray, shape: tuple[int, ...], stacklevel: int) -> None:
    """Warn of random rows that were taken for grey squares and seem to be something else."""
    d = X.shape[1]
    some = X[: int(np.clip(LOOKED_AT // d, 1, NOISE_ROWS))].astype(float)
    some = some[some.std(axis=1) > 0]
    if min(shape[:2]) < SMALLEST_IMAGE or not len(some):
        return
    images = some.reshape(-1, *shape[:2])
    down, right = _alike(images[:, 1:], images[:, :-1]), _alike(images[..., 1:], images[..., :-1])
    again = max(_alike(some[:, lag:], some[:, :-lag]) for lag in (3, 4))
    few, many = sorted((down, right))
    if many >= ALIKE and many <= UNEVEN * few and AGAIN * (1 - again) >= 1 - right:
        return
    height, width = shape[:2]
    warnings.warn(
        f"rows of {d} numbers were taken for grey images of {height} x {width} pixels, and do not "
        f"look like them: pass shape=({height}, {width}) if they are, shape=(height, width) or "
        f"(height, width, channels) if images are others, family=Translation(…, shape=(1, {d})) "
        "for signals, and family=Identity() for tables",
        stacklevel=stacklevel + 1,
    )


def _alike(a: NDArray, b: NDArray) -> float:
    """Say how alike pixels are to those they are paired with, in the median image."""
    a, b = a.reshape(len(a), -1), b.reshape(len(b), -1)
    differ = ((a - b) ** 2).mean(axis=1)
    # what the same pixels differ by in random pairs
    apart = (a**2).mean(axis=1) + (b**2).mean(axis=1) - 2 * a.mean(axis=1) * b.mean(axis=1)
    return float(np.median(1 - differ / np.maximum(apart, np.finfo(float).tiny)))


def warn_if_channels_first(shape: tuple[int, ...], stacklevel: int) -> None:
    """Warn of a shape of few rows of pixels and many channels."""
    if len(shape) == 3 and shape[0] in (3, 4) and shape[2] > 4:
        warnings.warn(
            f"shape={shape} means {shape[0]} x {shape[1]} pixels with {shape[2]} channels, which "
            "come last; if yours come first, pass np.moveaxis(images, 1, -1), and their shape",
            stacklevel=stacklevel + 1,
        )
