"""Constants of the recipe that change its results or its cost."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from invarlearn._utils.validation import check_number


@dataclass(frozen=True)
class Budget:
    """Limits on the work of :class:`InvariantClassifier`, and the constants of its method.

    Pass it as ``InvariantClassifier(budget=Budget(max_copies=30))``. An *augmented sample* is a
    training sample or a transformed copy of one; a *row* is an augmented sample. Stages that need
    fewer rows than there are use the first samples, in a random order, with fewer augmented copies
    each.

    Attributes
    ----------
    min_copies, max_copies : int
        Smallest and largest number of augmented copies of each sample, itself included, if
        ``n_copies`` is None.
    max_rows : int
        Largest number of rows if ``n_copies`` is None, unless ``min_copies`` needs more. Up to this
        number, each row has a weight of its own, and time grows with the cube of the number.
    n_nystroem_rows : int
        With more than ``max_rows`` rows, the solution is an expansion in this number of random
        augmented samples (the Nyström method).
    n_elements, max_elements : int
        Number of random elements of the family for all augmented copies together, and largest
        number for one augmented copy of the samples, which use these elements in turn.
    feature_elements : int
        Default features that use orbits (:class:`InvariantFeatures`) have this number of random
        elements of larger families.
    min_search_copies : int
        Smallest number of augmented copies in each stage, if there are enough.
    search_rows : int
        Number of rows for the features, their compression and the search.
    gamma_rows : int
        Number of rows on which values of gamma are compared.
    assess_rows : int
        Number of rows for the estimate of the accuracy.
    median_rows : int
        Number of samples of which the median squared distance is computed.
    gammas : tuple of float
        Values of gamma to compare, divided by the median squared distance of the samples.
    lams : tuple of float
        Values of lam to compare, if ``lam`` is None.
    trial_landmarks, trial_rows : int
        Number of landmarks of the features, and of rows that they are fitted on, in trials of steps
        before the default image features (centring, noise removal).
    trial_error_ratio : float
        A step is taken if it multiplies the held-out squared error by less than this.
    noise_level : float
        Noise removal is tried for images with a higher :func:`noise_level`.
    far_shift : float
        Centring is tried if the family moves the middle of an image by more than this part of a
        side, and by more than a pixel.
    n_spots : int
        Largest number of test images, each with a spot in the middle, by which the distance of
        shifts is measured.
    spot_width : float
        Standard deviation of the spot, as a part of a side.
    image_rows, image_pixels : int
        Largest number of images, and of their pixels, by which noise and shifts are measured.
    smallest_image : int
        Without a shape, rows are treated as square grey images if their side is at least this long.
    similarity_pixels : int
        Largest number of pixels by which it is checked whether rows look like images.
    least_similarity : float
        Smallest similarity of neighbouring pixels of an image, in the direction in which they are
        more similar.
    most_uneven : float
        Largest ratio of the similarities in both directions of an image.
    channel_factor : float
        Channels are interleaved if the dissimilarity of neighbours is larger than that of pixels
        three or four apart, times this factor.
    whitening_floor : float
        Added to the variances between augmented copies, relative to their mean, before whitening
        divides by them.
    class_prior : float
        With about this number of samples, whitening within classes has half of its full strength.
    double_rows : int
        Up to this many rows, the solution is computed in double precision.
    min_single_lam : float
        With a smaller lam, held-out predictions are computed in double precision.
    warning_level : float
        A family that increases the held-out loss gets a warning if a sign test rejects chance at
        this level.
    average_range : float
        Augmented copies of a new sample, over which predictions are averaged, come from the range
        of the family times this factor.
    block_rows : int
        Largest number of rows whose features are in memory at a time.
    max_bytes : int
        Largest memory for features.
    min_block_rows : int
        Number of rows whose features are computed together, even if they need more memory.

    Examples
    --------
    >>> from dataclasses import replace
    >>> replace(Budget(), max_copies=30).max_copies
    30
    """

    min_copies: int = 2
    max_copies: int = 150
    max_rows: int = 9000
    n_nystroem_rows: int = 6000
    n_elements: int = 512
    max_elements: int = 64
    feature_elements: int = 256
    min_search_copies: int = 3
    search_rows: int = 2000
    gamma_rows: int = 900
    assess_rows: int = 4500
    median_rows: int = 1000
    gammas: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0)
    lams: tuple[float, ...] = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
    trial_landmarks: int = 100
    trial_rows: int = 100
    trial_error_ratio: float = 0.95
    noise_level: float = 0.005
    far_shift: float = 1 / 16
    n_spots: int = 64
    spot_width: float = 1 / 8
    image_rows: int = 200
    image_pixels: int = 2**23
    smallest_image: int = 8
    similarity_pixels: int = 2**21
    least_similarity: float = 0.1
    most_uneven: float = 3.0
    channel_factor: float = 1.25
    whitening_floor: float = 0.3
    class_prior: float = 300.0
    double_rows: int = 4000
    min_single_lam: float = 3e-4
    warning_level: float = 0.05
    average_range: float = 0.5
    block_rows: int = 2048
    max_bytes: int = 2**29
    min_block_rows: int = 100

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(field.default, int):
                check_number(value, field.name, low=1, whole=True)
            elif isinstance(field.default, float):
                check_number(value, field.name, low=0)
            else:
                _check_positive(value, field.name)
        if self.min_copies > self.max_copies:
            raise ValueError(
                f"min_copies={self.min_copies} must not exceed max_copies={self.max_copies}"
            )

    def rows_in_memory(self, n_rows: int, n_features: int, itemsize: int) -> int:
        """Return the number of rows of features that fit into ``max_bytes``.

        It is at least ``min_block_rows``, if there are as many rows.

        Parameters
        ----------
        n_rows : int
            The number of available rows, which is not exceeded.
        n_features : int
        itemsize : int
            Bytes of one number.
        """
        return min(n_rows, max(self.min_block_rows, self.max_bytes // (n_features * itemsize)))


def _check_positive(values: tuple[float, ...], name: str) -> None:
    if np.ndim(values) != 1 or not len(values):
        raise ValueError(f"{name}={values!r} must be a tuple of positive numbers, such as (0.5, 1)")
    for value in values:
        check_number(value, name, low=np.finfo(float).tiny)
