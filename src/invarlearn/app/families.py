"""Families of transformations for samples in files: specifications, defaults and checks."""

from __future__ import annotations

import warnings

import numpy as np

from invarlearn.app.messages import InputError, Setting
from invarlearn.app.readers import FOLDERS, Source
from invarlearn.transforms import (
    Family,
    format_family,
    parse_family,
)
from invarlearn.transforms.domains import (
    BAG,
    IMAGE,
    POLAR_IMAGE,
    ROWS,
    SEQUENCE,
    SPECTROGRAM,
    Domain,
)

# Pixels that enter a transformed image repeat those at its edge, which usually show background.
FILL = "edge"


# Whether families of a domain need to know the shape of a row.
NEEDS_SHAPE: dict[Domain, bool] = {
    IMAGE: True,
    SPECTROGRAM: True,
    POLAR_IMAGE: False,
    SEQUENCE: False,
    BAG: False,
    ROWS: False,
}


def specification_of(family: Family) -> str:
    """Return the specification of a family, or its repr if it has no specification."""
    return format_family(family, fill=FILL)


def family_for(source: Source, specification: str | None = None) -> Family:
    """Return the family for samples: the specified one, or the default for their kind.

    Pixels that enter a transformed image repeat those at its edge, unless the specification says
    otherwise.

    Parameters
    ----------
    source : Source
    specification : str, optional
        As for :func:`invarlearn.transforms.parse_family`. None: pitch shifts, time stretches and
        small translations of sounds; small rotations, scalings, shears and translations of images;
        no transformation of other rows.

    Returns
    -------
    Family

    Raises
    ------
    InputError
        If the family cannot transform the samples.
    """
    if specification is None:
        return _default_family(source)
    family = parse_family(specification, fill=FILL)
    _check_applicable(family, source, specification)
    if source.shape is not None and not family.is_identity:
        family = family.with_shape(source.shape)
    _check_values(family, source, specification)
    return family


def _default_family(source: Source) -> Family:
    """Return the default family for the kind of the samples."""
    family = source.default_family()
    if source.shape is None:
        return family
    fills = [name for name in family.get_params() if name.split("__")[-1] == "fill"]
    return family.set_params(**dict.fromkeys(fills, FILL)).with_shape(source.shape)


def _check_applicable(family: Family, source: Source, specification: str) -> None:
    """Raise if the family, or a part of it, cannot transform the samples."""
    parts = [part for part in family.bound_parts() if part is not family]
    if parts:
        # the domain of a combination is that of a part
        for part in parts:
            _check_applicable(part, source, specification)
        return
    domain = family.domain
    needs_shape = NEEDS_SHAPE.get(domain)
    if needs_shape is None:
        warnings.warn(
            f"It is not known which samples families of the domain {str(domain)!r} can "
            f"transform: {family!r} is used without a check.",
            stacklevel=2,
        )
        return
    setting = Setting("family", specification)
    if needs_shape and source.shape is None:
        raise InputError(
            setting,
            f" is for {_samples_of(IMAGE)}, but the samples are rows of {source.n_features} "
            "numbers. If they are images, pass ",
            Setting("shape"),
            ".",
        )
    if domain not in source.domains:
        raise InputError(
            setting, f" is for {_samples_of(domain)}, but the samples are {source.kind}."
        )


def _samples_of(domain: Domain) -> str:
    """Return the samples that families of a domain can transform, such as "images or sounds"."""
    kinds = [kind for kind, source in FOLDERS.items() if domain in source.domains]
    return " or ".join(kinds) or f"{domain}s"


def _check_values(family: Family, source: Source, specification: str) -> None:
    """Raise if the family has invalid values, found by transforming a row of zeros."""
    try:
        family.sample(1, random_state=0)(np.zeros((1, source.n_features), dtype=np.float32))
    except (ValueError, TypeError) as error:
        raise InputError(Setting("family", specification), f": {error}") from None
