"""Images with a part that is covered."""

from __future__ import annotations

import numpy as np

from invarlearn._utils.validation import Shape, check_number
from invarlearn.transforms.actions import Action, Functions, Rows
from invarlearn.transforms.base import Family
from invarlearn.transforms.grid import Grid, ImageFamily


class Cover:
    """A function of rows that replaces the pixels of a rectangle by one value.

    Parameters
    ----------
    box : tuple (top, left, bottom, right)
        Sides of the rectangle, the last two not included.
    value : float or None
        None: the mean of each channel of the image.
    grid : tuple (height, width, channels)
    """

    def __init__(self, box: tuple[int, int, int, int], value: float | None, grid: Grid):
        self.box = box
        self.value = value
        self.grid = grid

    def __call__(self, X: Rows) -> Rows:
        images = X.reshape(-1, *self.grid).copy()
        top, left, bottom, right = self.box
        value = images.mean(axis=(1, 2), keepdims=True) if self.value is None else self.value
        images[:, top:bottom, left:right] = value
        return images.reshape(X.shape)


class Occlusion(ImageFamily):
    """Occlusions of an image: a random rectangle is covered.

    The sides of the rectangle are between one pixel and ``part`` times those of the image, and its
    place is anywhere in the image, all evenly distributed. The elements cannot be listed: use
    :meth:`sample`, or :class:`Sampled` for a list of random elements. There are no tangents, since
    a rectangle of any size changes pixels at once. The family is neither unitary nor a group.

    Parameters
    ----------
    part : float, default=0.3
        Largest side of the rectangle, as a fraction of the side of the image, at most 1. 0: nothing
        is covered.
    value : float, optional
        Value of the covered pixels. None: the mean of each channel of the image.
    shape : tuple, optional
        Shape of a row, as in :class:`Translation`.

    References
    ----------
    Zhong, Zheng, Kang, Li and Yang, Random erasing data augmentation (2020).

    Examples
    --------
    >>> import numpy as np
    >>> covered = Occlusion(0.5, value=0.0).sample(3, random_state=0)(np.ones((1, 64)))
    >>> covered.reshape(3, 64).sum(axis=1)
    array([60., 61., 61.])
    """

    spec_name = "occlusion"
    stored_types = (Cover,)
    ranges_about_zero = ("part",)

    def __init__(self, part: float = 0.3, value: float | None = None, shape: Shape = None):
        self.part = part
        self.value = value
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(), cls(0.5, value=0.0, shape=(4, 8, 2)), cls(shape=(1, 64))]

    def scaled(self, factor: float) -> Occlusion:
        family = super().scaled(factor)
        return family.set_params(part=min(family.part, 1.0))

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        part = check_number(self.part, "part", low=0, high=1)
        value = None if self.value is None else check_number(self.value, "value")
        grid = self.grid(n_features)
        image = np.array(grid[:2])
        longest = np.maximum(1, np.floor(part * image)).astype(int)
        sides = rng.randint(1, longest + 1, size=(k, 2)) if part else np.zeros((k, 2), dtype=int)
        corners = rng.randint(0, image - sides + 1)
        boxes = np.hstack([corners, corners + sides]).tolist()
        return Functions([Cover(tuple(box), value, grid) for box in boxes])
