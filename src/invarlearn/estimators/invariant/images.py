"""Preparation and checks of images: background, noise, distance of motions, shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from invarlearn.estimators.invariant.augment import MakeCopy
from invarlearn.estimators.invariant.budget import Budget
from invarlearn.features.centred import border_median
from invarlearn.features.oriented import noise_level
from invarlearn.transforms.grid import image_grid


def subtract_background(X: NDArray, shape: tuple[int, ...]) -> NDArray:
    """Subtract the median of the border from each channel of each image.

    The background is then zero, which is also the value that families fill in at the border.

    Parameters
    ----------
    X : array of shape (n, n_features)
        May be modified.
    shape : tuple
        (height, width) or (height, width, channels).

    Returns
    -------
    array of shape (n, n_features)
    """
    images = np.ascontiguousarray(X).reshape(-1, *image_grid(shape, X.shape[1], "images"))
    images -= border_median(images)[:, None, None]
    return images.reshape(X.shape)


def seems_noisy(X: NDArray, shape: tuple[int, ...], budget: Budget) -> bool:
    """Return whether the noise of images X, (n, n_features), is above ``budget.noise_level``.

    Images of few pixels can be above it without noise, because their neighbouring pixels differ.
    """
    n_images = int(np.clip(budget.image_pixels // X.shape[1], 1, budget.image_rows))
    return noise_level(X[:n_images], shape) > budget.noise_level


def moves_far(copy_makers: Sequence[MakeCopy], shape: tuple[int, ...], budget: Budget) -> bool:
    """Return whether copies move the middle of an image further than ``budget.far_shift``.

    The copy makers are applied to images of a spot in the middle; the distance is the root mean
    square distance of the spot's centre of mass from the middle, along either axis.
    """
    sides, n_features = np.array(shape[:2]), int(np.prod(shape))
    positions = [np.arange(side) - (side - 1) / 2 for side in sides]
    vertical, horizontal = (
        np.exp(-0.5 * (at / (budget.spot_width * len(at))) ** 2) for at in positions
    )
    spot = np.outer(vertical, horizontal).astype(np.float32)
    spot = spot.reshape(*sides, *[1] * (len(shape) - 2))
    n_spots = int(np.clip(budget.image_pixels // n_features, 1, budget.n_spots))
    spots = np.tile(np.broadcast_to(spot, shape).ravel(), (n_spots, 1))
    copies = np.concatenate([make_copy(spots, 0) for make_copy in copy_makers])
    mass = np.abs(copies).reshape(len(copies), *sides, -1).sum(axis=3)
    mass /= np.maximum(mass.sum(axis=(1, 2), keepdims=True), np.finfo(mass.dtype).tiny)
    centres = np.stack([mass.sum(axis=2) @ positions[0], mass.sum(axis=1) @ positions[1]], axis=1)
    distance = np.sqrt((centres**2).mean(axis=0))
    return bool(np.any((distance > budget.far_shift * sides) & (distance > 1)))


def unlike_images_message(X: NDArray, shape: tuple[int, ...], budget: Budget) -> str | None:
    """Return a warning about rows that are treated as grey squares but do not look like images.

    Neighbouring pixels of images are similar in both directions. Interleaved colour channels are
    detected by pixels that are more similar to the third or fourth pixel after them than to the
    next one.

    Parameters
    ----------
    X : array of shape (n, n_features)
        Random rows; only the first ones are used.
    shape : tuple
        The shape of an image that is assumed for a row.
    budget : Budget
        With the limits ``least_similarity``, ``most_uneven`` and ``channel_factor``.

    Returns
    -------
    str or None
    """
    n_features = X.shape[1]
    rows = X[: max(1, budget.similarity_pixels // n_features)].astype(float)
    rows = rows[rows.std(axis=1) > 0]
    if min(shape[:2]) < budget.smallest_image or not len(rows):
        return None
    images = rows.reshape(-1, *shape[:2])
    vertical = _median_similarity(images[:, 1:], images[:, :-1])
    horizontal = _median_similarity(images[..., 1:], images[..., :-1])
    periodic = max(_median_similarity(rows[:, lag:], rows[:, :-lag]) for lag in (3, 4))
    lower, higher = sorted((vertical, horizontal))
    is_even = higher <= budget.most_uneven * lower
    has_channels = budget.channel_factor * (1 - periodic) < 1 - horizontal
    if higher >= budget.least_similarity and is_even and not has_channels:
        return None
    height, width = shape[:2]
    return (
        f"Rows of {n_features} features are treated as grey images of {height} x {width} pixels, "
        f"but do not look like images. Pass shape=({height}, {width}) if they are; "
        "shape=(height, width) or (height, width, channels) for images of another shape; "
        f"family=Translation(…, shape=(1, {n_features})) for signals; family=Identity() for tables."
    )


def _median_similarity(a: NDArray, b: NDArray) -> float:
    """Return the median similarity of pixels over images: 0 for unrelated, 1 for equal pixels.

    The similarity is one minus the squared difference of pixels, divided by that of random pairs.

    Parameters
    ----------
    a, b : arrays of shape (n, ...)
        Pixels to compare in each of n images.
    """
    a, b = a.reshape(len(a), -1), b.reshape(len(b), -1)
    differences = ((a - b) ** 2).mean(axis=1)
    random_pairs = (a**2).mean(axis=1) + (b**2).mean(axis=1) - 2 * a.mean(axis=1) * b.mean(axis=1)
    return float(np.median(1 - differences / np.maximum(random_pairs, np.finfo(float).tiny)))


def channels_first_message(shape: tuple[int, ...]) -> str | None:
    """Return a warning if the channels of a shape seem to come first, otherwise None."""
    if len(shape) != 3 or shape[0] not in (3, 4) or shape[2] <= 4:
        return None
    return (
        f"shape={shape} means {shape[0]} x {shape[1]} pixels with {shape[2]} channels, since "
        "channels come last. If yours come first, pass np.moveaxis(images, 1, -1) and its shape."
    )
