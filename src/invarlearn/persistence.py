"""Model files: skops archives that load only types which are known, and run no code."""

from __future__ import annotations

import zipfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from invarlearn import (
    InvariantClassifier,
    InvSVCCV,
    OrbitSVC,
    RLSClassifier,
    WorstCaseLinearSVC,
    WorstCaseSVC,
    __version__,
)
from invarlearn._files import whole_file
from invarlearn.models import Model
from invarlearn.transforms import Family

__all__ = ["ModelFileError", "load_model", "save_model"]

FORMAT = "invarlearn model 1"
# A file that unpacks to more than this is no model of few samples.
MOST_BYTES = 8 * 2**30

# What a model may consist of besides what skops trusts of numpy, scipy and scikit-learn.
TRUSTED = (
    "invarlearn.estimators.invariant.InvariantClassifier",
    "invarlearn.estimators.orbit.OrbitSVC",
    "invarlearn.estimators.representer_cv.InvSVCCV",
    "invarlearn.estimators.rls.RLSClassifier",
    "invarlearn.estimators.rls.Solution",
    "invarlearn.estimators.worst_case.WorstCaseSVC",
    "invarlearn.estimators.worst_case_linear.WorstCaseLinearSVC",
    "invarlearn.features._projections.TemplateOrbits",
    "invarlearn.features.centred.Centred",
    "invarlearn.features.invariant.InvariantFeatures",
    "invarlearn.features.local.LocalKernelFeatures",
    "invarlearn.features.oriented.OrientedGradients",
    "invarlearn.functionals.base.Representers",
    "invarlearn.functionals.base.Values",
    "invarlearn.functionals.basis.Constant",
    "invarlearn.functionals.changes.Change",
    "invarlearn.kernels.base.RBF",
    "invarlearn.kernels.definiteness.Spectrum",
    "invarlearn.kernels.orbit.OrbitKernel",
    "invarlearn.kernels.orbit.Orbits",
    "invarlearn.transforms._actions.Affine",
    "invarlearn.transforms._actions.Composed",
    "invarlearn.transforms._actions.Functions",
    "invarlearn.transforms._actions.Gather",
    "invarlearn.transforms._actions.Joined",
    "invarlearn.transforms._actions.Picked",
    "invarlearn.transforms.audio.PitchShift",
    "invarlearn.transforms.audio.TimeStretch",
    "invarlearn.transforms.bags.FeatureDropping",
    "invarlearn.transforms.bags.FeatureScaling",
    "invarlearn.transforms.base.Identity",
    "invarlearn.transforms.base._unchanged",
    "invarlearn.transforms.combine.Product",
    "invarlearn.transforms.combine.Union",
    "invarlearn.transforms.elastic.Elastic",
    "invarlearn.transforms.elastic._Deform",
    "invarlearn.transforms.images.Hyperbolic",
    "invarlearn.transforms.images.Reflection",
    "invarlearn.transforms.images.Rotation",
    "invarlearn.transforms.images.Scaling",
    "invarlearn.transforms.images.Shear",
    "invarlearn.transforms.images.Thickness",
    "invarlearn.transforms.images._Thicken",
    "invarlearn.transforms.images.Translation",
    "invarlearn.transforms.sampled.Sampled",
    "invarlearn.transforms.sequences.CyclicShift",
    "invarlearn.transforms.sequences.Permutation",
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
)


# What a model predicts with: other estimators could be trusted, but forged to crash.
ESTIMATORS = (
    InvariantClassifier,
    OrbitSVC,
    InvSVCCV,
    RLSClassifier,
    WorstCaseSVC,
    WorstCaseLinearSVC,
)


class ModelFileError(ValueError):
    """A file that is no model, or one that is not trusted."""


def save_model(model: Model, path: Path | str) -> None:
    """Write a model; a file of that name is replaced when the new one is whole.

    Parameters
    ----------
    model : Model
        What :func:`invarlearn.models.train_model` gives; its ``estimator`` is the classifier.
    path : path
        Its ending should be ``.skops``.
    """
    import skops.io

    if not isinstance(model, Model):
        raise TypeError(
            f"{type(model).__name__} is no Model, which invarlearn train makes and which knows how "
            "files are read: save an estimator with joblib.dump, as any of scikit-learn's"
        )
    path = Path(path)
    content = {name: getattr(model, name) for name in _names()}
    content |= {"format": FORMAT, "version": __version__}
    data = skops.io.dumps(content, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
    unknown = sorted(set(skops.io.get_untrusted_types(data=data)) - set(TRUSTED))
    if unknown:
        raise ModelFileError(f"a model with {', '.join(unknown)} could not be loaded again")
    with whole_file(path) as file:
        file.write(data)


def load_model(path: Path | str) -> Model:
    """Read a model, if it consists of trusted types only.

    Parameters
    ----------
    path : path

    Returns
    -------
    Model

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged, or asks for types that are not trusted. None of its
        code is run, since it cannot have any.
    """
    import skops.io
    from skops.io.exceptions import UntrustedTypesFoundException

    path = Path(path)
    if not path.is_file():
        raise ModelFileError(f"{path} does not exist: train writes a model with --model {path}")
    _check_archive(path)
    try:
        content = skops.io.load(path, trusted=list(TRUSTED))
    except UntrustedTypesFoundException as error:
        raise ModelFileError(f"{path} is not trusted, and was not loaded: {error}") from None
    except Exception as error:  # a damaged file can fail anywhere in the reader
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelFileError(f"{path} is damaged: {reason}; train it again") from None
    return _checked(path, content)


def _names() -> list[str]:
    return [one.name for one in fields(Model)]


def _check_archive(path: Path) -> None:
    with open(path, "rb") as file:
        start = file.read(2)
    if start[:1] == b"\x80" or path.suffix.lower() in (".pkl", ".pickle", ".joblib"):
        raise ModelFileError(
            f"{path} is a pickle, which could run any code when it is loaded: models are .skops "
            "files that cannot; train it again with --model NAME.skops"
        )
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(one.file_size for one in archive.infolist())
    except Exception:  # a damaged archive can fail anywhere in the reader
        raise ModelFileError(f"{path} is no model: it is not a .skops archive") from None
    if size > MOST_BYTES:
        raise ModelFileError(f"{path} claims to unpack to {size:,} bytes: it was not loaded")


def _checked(path: Path, content: Any) -> Model:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelFileError(
            f"{path} is a skops file, but no model of `invarlearn train` ({FORMAT})"
        )
    for name in _names():
        if name not in content or not _is_sound(name, content[name]):
            raise ModelFileError(f"{path} is damaged: its {name} is not as it should be")
    return Model(**{name: content[name] for name in _names()})


def _is_sound(name: str, value: Any) -> bool:
    """Say whether a part of a model is of the kind that it should be."""
    if name == "estimator":
        last = value.steps[-1][1] if isinstance(value, Pipeline) else value
        return isinstance(last, ESTIMATORS) and np.ndim(getattr(last, "classes_", 0)) == 1
    if name == "settings":
        return _are_settings(value)
    if name == "accuracy":
        return isinstance(value, tuple) and len(value) == 3 and all(map(_is_number, value))
    if name == "steepness":
        return value is None or _is_number(value)
    kinds = {"family": Family, "route": str, "n_samples": int, "compared": list}
    return isinstance(value, kinds[name])


def _are_settings(value: Any) -> bool:
    """Say whether :func:`invarlearn.readers.open_samples` can take these."""
    if not isinstance(value, dict) or value.get("kind") not in ("images", "sounds", "rows"):
        return False
    counts = [value.get("n_features")]
    counts += [
        value.get(name) for name in ("rate", "n_bins", "n_frames") if value["kind"] == "sounds"
    ]
    if value["kind"] == "images":
        counts += [*_listed(value.get("size"), 2)]
    counts += [] if value.get("shape") is None else _listed(value["shape"], None)
    names = value.get("columns")
    return (
        all(isinstance(one, int) and 0 < one < 2**31 for one in counts)
        and (names is None or (isinstance(names, list) and all(isinstance(n, str) for n in names)))
        and isinstance(value.get("label"), str | None)
    )


def _listed(value: Any, length: int | None) -> list[Any]:
    return value if isinstance(value, list) and length in (None, len(value)) else [None]


def _is_number(value: Any) -> bool:
    return isinstance(value, float) and np.isfinite(value)
