"""Domains: images, spectrograms, polar images, sequences, bags of words, rows of numbers.

A domain has data only. Packages whose behaviour depends on the domain (default features,
templates, routes, figures) keep their own tables, keyed by domain.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Domain:
    """The kind of data in a row, by which estimators choose default features.

    Parameters
    ----------
    name : str
        Name in the singular, as used in error messages.
    axes : tuple of str
        Names of the axes of a row, in C order; optional channels come last.
    padding : {"zero", "edge", "wrap", "none"}
        Values outside a row, unless the family defines them.

    Examples
    --------
    >>> from invarlearn.transforms import Rotation
    >>> Rotation.domain.axes
    ('height', 'width', 'channels')
    """

    name: str
    axes: tuple[str, ...]
    padding: str

    def __str__(self) -> str:
        return self.name


ROWS = Domain("rows", ("features",), "none")
IMAGE = Domain("image", ("height", "width", "channels"), "zero")
SPECTROGRAM = Domain("spectrogram", ("bands", "frames", "channels"), "zero")
POLAR_IMAGE = Domain("polar image", ("radius", "angle", "channels"), "wrap")
SEQUENCE = Domain("sequence", ("time", "channels"), "wrap")
BAG = Domain("bag", ("words",), "none")

# The order of domains in lists of families. Domains of new families follow.
DOMAINS = (IMAGE, POLAR_IMAGE, SPECTROGRAM, SEQUENCE, BAG, ROWS)
