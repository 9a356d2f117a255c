"""What images need before their edges are compared: how bright, noisy and far away they are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from invarlearn.features.centred import border_median
from invarlearn.features.oriented import noise_of
from invarlearn.transforms.grid import image_grid

# Images are noisy with more noise than this, in so many of them, and numbers in all.
NOISE, NOISE_ROWS, NUMBERS = 0.005, 200, 2**23
# A family moves images far if so many spots in the middle come away by more than this part of a
# side, and a pixel.
SPOTS, FAR = 64, 1 / 16
# Of images, pixels below each other do not differ so many times as much as those beside each other,
# or the reverse; and some neighbours differ by less than this part of what any two pixels do.
UNEVEN, UNLIKE = 3.0, 0.9


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
    """Warn of rows that were taken for grey squares and seem to be something else."""
    d = X.shape[1]
    some = X[: int(np.clip(NUMBERS // d, 1, NOISE_ROWS))].astype(float)
    some = some[some.std(axis=1) > 0]
    if not len(some):
        return
    images = some.reshape(-1, *shape[:2])
    # what any two pixels of an image differ by; the median image has no hot pixels
    any_two = 2 * some.var(axis=1)
    pairs = [np.diff(images, axis=1), np.diff(images, axis=2)]
    # channels beside each other come again after three or four
    pairs += [some[:, lag:] - some[:, :-lag] for lag in (3, 4)]
    down, right, *again = (
        float(np.median((pair.reshape(len(some), -1) ** 2).mean(axis=1) / any_two))
        for pair in pairs
    )
    few, many = sorted((down, right))
    if many <= UNEVEN * few and few <= UNLIKE and 2 * min(again) >= right:
        return
    height, width = shape[:2]
    warnings.warn(
        f"rows of {d} numbers were taken for grey images of {height} x {width} pixels, and do not "
        f"look like them: pass shape=({height}, {width}) if they are, shape=(height, width) or "
        f"(height, width, channels) if images are others, shape=(1, {d}) with "
        "family=Translation(…) for signals, and family=Identity() for tables",
        stacklevel=stacklevel + 1,
    )


def warn_if_channels_first(shape: tuple[int, ...], stacklevel: int) -> None:
    """Warn of a shape of few rows of pixels and many channels."""
    if len(shape) == 3 and shape[0] in (3, 4) and shape[2] > 4:
        warnings.warn(
            f"shape={shape} means {shape[0]} x {shape[1]} pixels with {shape[2]} channels, which "
            "come last; if yours come first, pass np.moveaxis(images, 1, -1), and their shape",
            stacklevel=stacklevel + 1,
        )
