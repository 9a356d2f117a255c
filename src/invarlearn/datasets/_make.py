"""Generators of artificial data, and of translated and rotated images."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.datasets import make_moons
from sklearn.utils import Bunch

from invarlearn._utils.validation import check_generator
from invarlearn.transforms import Translation


def make_xperm(
    length: int = 5, n_letters: int = 8, n_targets: int = 2, random_state: Any = None
) -> Bunch:
    """Make all words of a length; the class is whether a word contains all target letters.

    The order of the letters does not matter. With the default parameters, this is the data set
    X_perm of Mroueh et al. (2015): 8^5 = 32,768 words in one-hot encoding.

    Parameters
    ----------
    length : int, default=5
        Number of letters in a word.
    n_letters : int, default=8
        Size of the alphabet.
    n_targets : int, default=2
        Number of target letters.
    random_state : int, RandomState or None
        Seed of the target letters.

    Returns
    -------
    Bunch
        ``X`` of shape (n_words, length * n_letters), with n_words = n_letters ** length; ``y`` of
        shape (n_words,), 0 or 1; ``words`` of shape (n_words, length), indices of letters;
        ``targets`` of shape (n_targets,).

    Examples
    --------
    >>> words = make_xperm(random_state=0)
    >>> words.X.shape, int(words.y.sum())
    ((32768, 40), 6930)
    """
    if not 1 <= n_targets <= n_letters:
        raise ValueError(f"n_targets={n_targets} must be between 1 and n_letters={n_letters}")
    targets = np.sort(check_generator(random_state).choice(n_letters, n_targets, replace=False))
    words = np.array(list(product(range(n_letters), repeat=length)))
    X = np.eye(n_letters, dtype=np.float32)[words].reshape(len(words), -1)
    y = (words[:, :, None] == targets).any(axis=1).all(axis=1).astype(int)
    return Bunch(X=X, y=y, words=words, targets=targets)


def make_two_moons(
    n_samples: int = 200, n_labeled: int = 2, noise: float = 0.1, random_state: Any = None
) -> Bunch:
    """Make two interleaved half circles with a few labelled points.

    Parameters
    ----------
    n_samples : int, default=200
    n_labeled : int, default=2
        Number of labelled points, half of them in each half circle.
    noise : float, default=0.1
        Standard deviation of the Gaussian noise.
    random_state : int, RandomState or None

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, 2); ``y`` of shape (n_samples,), 0 or 1; ``labeled`` of shape
        (n_labeled,), indices of the labelled points; ``y_partial`` of shape (n_samples,), the
        classes of the labelled points and -1 for the others.
    """
    if n_labeled < 2 or n_labeled % 2 or n_labeled > n_samples:
        raise ValueError(f"n_labeled={n_labeled} must be even, at least 2 and at most n_samples")
    rng = check_generator(random_state)
    X, y = make_moons(n_samples, noise=noise, random_state=rng)
    labeled = np.concatenate(
        [rng.choice(np.flatnonzero(y == c), n_labeled // 2, replace=False) for c in (0, 1)]
    )
    y_partial = np.full(len(y), -1)
    y_partial[labeled] = y[labeled]
    return Bunch(X=X, y=y, labeled=labeled, y_partial=y_partial)


def translated(
    X: ArrayLike,
    canvas: int = 64,
    noise: float = 0.1,
    random_state: Any = None,
    shape: tuple[int, int] | None = None,
) -> NDArray:
    """Place images at random positions on a larger canvas with Gaussian noise.

    The data set Translated MNIST of Liu et al. (2022), section 4.1.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    canvas : int, default=64
        Side of the canvas, in pixels. The whole image is on the canvas.
    noise : float, default=0.1
        Standard deviation of the noise, which is added to the whole canvas.
    random_state : int, RandomState or None
    shape : tuple (height, width), optional
        Shape of an image. None: square images.

    Returns
    -------
    array of shape (n_samples, canvas * canvas)

    Examples
    --------
    >>> translated(np.ones((3, 784)), random_state=0).shape
    (3, 4096)
    """
    images, rng = _check_images(X, canvas, shape, random_state)
    height, width = images.shape[1:]
    rows = rng.randint(canvas - height + 1, size=len(images))
    columns = rng.randint(canvas - width + 1, size=len(images))
    canvases = noise * rng.standard_normal((len(images), canvas, canvas)).astype(images.dtype)
    for target, image, row, column in zip(canvases, images, rows, columns, strict=True):
        target[row : row + height, column : column + width] += image
    return canvases.reshape(len(images), -1)


def rotated(
    X: ArrayLike,
    canvas: int = 40,
    noise: float = 0.1,
    random_state: Any = None,
    shape: tuple[int, int] | None = None,
) -> NDArray:
    """Rotate images by random angles, in the centre of a canvas with Gaussian noise.

    The data set Rotated MNIST of Liu et al. (2022), section 4.1.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    canvas : int, default=40
        Side of the canvas, in pixels. The default is longer than the diagonal of 28 x 28 images.
    noise : float, default=0.1
        Standard deviation of the noise, which is added outside the rotated image only.
    random_state : int, RandomState or None
    shape : tuple (height, width), optional
        Shape of an image. None: square images.

    Returns
    -------
    array of shape (n_samples, canvas * canvas)
    """
    from scipy.ndimage import rotate

    images, rng = _check_images(X, canvas, shape, random_state)
    height, width = images.shape[1:]
    top, left = (canvas - height) // 2, (canvas - width) // 2
    angles = rng.uniform(0, 360, size=len(images))
    canvases = noise * rng.standard_normal((len(images), canvas, canvas)).astype(images.dtype)
    # the image, and a mask of the pixels that it covers
    layers = np.zeros((2, canvas, canvas), dtype=images.dtype)
    for target, image, angle in zip(canvases, images, angles, strict=True):
        layers[0, top : top + height, left : left + width] = image
        layers[1, top : top + height, left : left + width] = 1
        rotated_image, mask = rotate(layers, angle, axes=(1, 2), reshape=False, order=1)
        target *= 1 - mask
        target += rotated_image
    return canvases.reshape(len(images), -1)


def _check_images(
    X: ArrayLike, canvas: int, shape: tuple[int, int] | None, random_state: Any
) -> tuple[NDArray, np.random.RandomState]:
    """Return the images, which must fit on the canvas, and the random generator."""
    family = Translation(shape=shape)
    X = family.validate_rows(X)
    size = family.resolve_shape(X.shape[1])
    if len(size) != 2 or max(size) > canvas:
        raise ValueError(f"images of shape {size} do not fit on a canvas of {canvas} x {canvas}")
    return X.reshape(-1, *size), check_generator(random_state)
