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

    The sides of the rectangle are between 0 and ``part`` times those of the image, and its place is
    anywhere in the image, all evenly distributed. The elements cannot be listed: use
    :meth:`sample`, or :class:`Sampled` for a list of random elements. There are no tangents, since
    a rectangle of any size changes pixels at once. The family is neither unitary nor a group.

    Parameters
    ----------
    part : float, default=0.3
        Largest side of the rectangle, as a fraction of the side of the image.
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
    array([58., 60., 56.])
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

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        part = min(1.0, check_number(self.part, "part", low=0))
        value = None if self.value is None else check_number(self.value, "value")
        grid = self.grid(n_features)
        image = np.array(grid[:2])
        # an axis of one pixel is covered as a whole
        longest = np.where(image > 1, part * image, 1)
        sides = np.round(np.where(image > 1, rng.uniform(0, 1, size=(k, 2)), 1) * longest)
        corners = np.round(rng.uniform(0, 1, size=(k, 2)) * (image - sides))
        boxes = np.hstack([corners, corners + sides]).astype(int).tolist()
        return Functions([Cover(tuple(box), value, grid) for box in boxes])
