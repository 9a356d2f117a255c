"""Images with additive noise."""

from __future__ import annotations

import numpy as np

from invarlearn._utils.validation import Shape, check_number
from invarlearn.transforms.actions import Action, Functions, Rows
from invarlearn.transforms.base import Family
from invarlearn.transforms.grid import ImageFamily


class AddNoise:
    """A function of rows that adds the same normal noise to each row.

    Parameters
    ----------
    sigma : float
        Standard deviation.
    seed : int
        The noise is drawn again from it at every call, so that it takes no memory.
    """

    def __init__(self, sigma: float, seed: int):
        self.sigma = sigma
        self.seed = seed

    def __call__(self, X: Rows) -> Rows:
        noise = np.random.RandomState(self.seed).standard_normal(X.shape[1:])
        return X + (self.sigma * noise).astype(X.dtype)


class Noise(ImageFamily):
    """Noise of an image: independent normal numbers are added to all pixels.

    An element is one image of noise, which is added to every row. Its standard deviation is between
    0 and ``sigma``, evenly distributed. The elements cannot be listed: use :meth:`sample`, or
    :class:`Sampled` for a list of random elements. There are no tangents, since there would be one
    for each pixel. The family is neither unitary nor a group.

    Parameters
    ----------
    sigma : float, default=0.05
        The largest standard deviation, in the unit of the pixels; the default is for pixels from 0
        to 1.
    shape : tuple, optional
        Shape of a row, as in :class:`Translation`.

    Examples
    --------
    >>> import numpy as np
    >>> noisy = Noise(0.1).sample(500, random_state=0)(np.zeros((1, 64)))
    >>> bool(0.05 < noisy.std() < 0.065)
    True
    """

    spec_name = "noise"
    stored_types = (AddNoise,)
    ranges_about_zero = ("sigma",)

    def __init__(self, sigma: float = 0.05, shape: Shape = None):
        self.sigma = sigma
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(), cls(0.2, shape=(4, 8, 2))]

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        limit = check_number(self.sigma, "sigma", low=0)
        sigmas, seeds = rng.uniform(0, limit, size=k), rng.randint(2**31 - 1, size=k)
        return Functions(
            [AddNoise(float(s), int(seed)) for s, seed in zip(sigmas, seeds, strict=True)]
        )
