"""Makers of artificial data, and of harder versions of images."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.datasets import make_moons
from sklearn.utils import Bunch

from invarlearn.transforms import Translation
from invarlearn.transforms._checks import check_generator


def make_xperm(
    length: int = 5, n_letters: int = 8, n_targets: int = 2, random_state: Any = None
) -> Bunch:
    """Make all words of a length, positive if they contain the target letters in any order.

    The data set X_perm of paper 001: 8^5 = 32,768 words in one-hot coding.

    Parameters
    ----------
    length, n_letters, n_targets : int
    random_state : int, RandomState or None
        Draws the target letters.

    Returns
    -------
    Bunch
        ``X`` of shape (n_letters ** length, length * n_letters), ``y`` in {0, 1}, ``words`` as
        letter numbers, ``targets``.

    Examples
    --------
    >>> words = make_xperm(random_state=0)
    >>> words.X.shape, int(words.y.sum())
    ((32768, 40), 6930)
    """
    if not 1 <= n_targets <= n_letters:
        raise ValueError(f"n_targets={n_targets} must lie between 1 and n_letters={n_letters}")
    targets = np.sort(check_generator(random_state).choice(n_letters, n_targets, replace=False))
    words = np.array(list(product(range(n_letters), repeat=length)))
    X = np.eye(n_letters, dtype=np.float32)[words].reshape(len(words), -1)
    y = (words[:, :, None] == targets).any(axis=1).all(axis=1).astype(int)
    return Bunch(X=X, y=y, words=words, targets=targets)


def make_two_moons(
    n_samples: int = 200, n_labeled: int = 2, noise: float = 0.1, random_state: Any = None
) -> Bunch:
    """Make two interleaved half circles of which a few points are labelled.

    Parameters
    ----------
    n_samples : int
    n_labeled : int
        Labelled points, half of them in either moon.
    noise : float
        Standard deviation of Gaussian noise.
    random_state : int, RandomState or None

    Returns
    -------
    Bunch
        ``X``, ``y`` in {0, 1}, ``labeled`` (rows) and ``y_partial``, where the others are -1.
    """
    if n_labeled < 2 or n_labeled % 2 or n_labeled > n_samples:
        raise ValueError(f"n_labeled={n_labeled} must be even, at least 2 and at most n_samples")
    rng = check_generator(random_state)
    X, y = make_moons(n_samples, noise=noise, random_state=rng)
    half = [rng.choice(np.flatnonzero(y == c), n_labeled // 2, replace=False) for c in (0, 1)]
    labeled = np.concatenate(half)
    partial = np.full(len(y), -1)
    partial[labeled] = y[labeled]
    return Bunch(X=X, y=y, labeled=labeled, y_partial=partial)


def translated(
    X: ArrayLike,
    canvas: int = 64,
    noise: float = 0.1,
    random_state: Any = None,
    shape: tuple[int, int] | None = None,
) -> NDArray:
    """Place images at random on a larger canvas with Gaussian noise (paper 003, section 4.1).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    canvas : int
        Side of the canvas; images stay inside it.
    noise : float
        Standard deviation of the noise, everywhere on the canvas.
    random_state : int, RandomState or None
    shape : tuple (height, width), optional
        None: square images.

    Returns
    -------
    array of shape (n_samples, canvas * canvas)

    Examples
    --------
    >>> translated(np.ones((3, 784)), random_state=0).shape
    (3, 4096)
    """
    images, rng = _placed(X, canvas, shape, random_state)
    height, width = images.shape[1:]
    rows = rng.randint(canvas - height + 1, size=len(images))
    columns = rng.randint(canvas - width + 1, size=len(images))
    out = noise * rng.standard_normal((len(images), canvas, canvas)).astype(images.dtype)
    for canvas_i, image, row, column in zip(out, images, rows, columns, strict=True):
        canvas_i[row : row + height, column : column + width] += image
    return out.reshape(len(images), -1)


def rotated(
    X: ArrayLike,
    canvas: int = 40,
    noise: float = 0.1,
    random_state: Any = None,
    shape: tuple[int, int] | None = None,
) -> NDArray:
    """Turn images by any angle in the middle of a canvas, noise around (paper 003, section 4.1).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    canvas : int
        Side of the canvas; 40 holds the diagonal of a 28 x 28 image.
    noise : float
        Standard deviation of the Gaussian noise outside the turned image.
    random_state : int, RandomState or None
    shape : tuple (height, width), optional
        None: square images.

    Returns
    -------
    array of shape (n_samples, canvas * canvas)
    """
    from scipy.ndimage import rotate

    images, rng = _placed(X, canvas, shape, random_state)
    height, width = images.shape[1:]
    top, left = (canvas - height) // 2, (canvas - width) // 2
    angles = rng.uniform(0, 360, size=len(images))
    out = noise * rng.standard_normal((len(images), canvas, canvas)).astype(images.dtype)
    pair = np.zeros((2, canvas, canvas), dtype=images.dtype)
    for canvas_i, image, angle in zip(out, images, angles, strict=True):
        pair[0, top : top + height, left : left + width] = image
        pair[1, top : top + height, left : left + width] = 1
        turned, covered = rotate(pair, angle, axes=(1, 2), reshape=False, order=1)
        canvas_i *= 1 - covered
        canvas_i += turned
    return out.reshape(len(images), -1)


def _placed(
    X: ArrayLike, canvas: int, shape: tuple[int, int] | None, random_state: Any
) -> tuple[NDArray, np.random.RandomState]:
    """Give the images, if they fit on the canvas, and the generator."""
    family = Translation(shape=shape)
    X = family._check(X)
    size = family.resolve_shape(X.shape[1])
    if len(size) != 2 or max(size) > canvas:
        raise ValueError(f"images of shape {size} do not fit on a canvas of {canvas} x {canvas}")
    return X.reshape(-1, *size), check_generator(random_state)
