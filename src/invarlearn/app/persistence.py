"""Model files: skops archives, which contain only trusted types and run no code."""

from __future__ import annotations

import json
import re
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from invarlearn import __version__
from invarlearn._utils.files import atomic_write
from invarlearn.app.messages import first_line
from invarlearn.app.models import Model
from invarlearn.app.readers import SOURCES
from invarlearn.app.routes import ROUTES
from invarlearn.transforms import Family
from invarlearn.transforms.spec import stored_type_names

__all__ = ["ModelFileError", "load_model", "save_model"]

# The number is increased whenever types in model files are moved, renamed or changed.
FORMAT = "invarlearn model 4"

# Types that a model file may contain, besides the types of numpy, scipy and scikit-learn that skops
# trusts.
TRUSTED = (
    "invarlearn.estimators.invariant.assess.Assessment",
    "invarlearn.estimators.invariant.augment.Augmentation",
    "invarlearn.estimators.invariant.budget.Budget",
    "invarlearn.estimators.invariant.plan.RowPreparation",
    "invarlearn.estimators.invariant.solve.Machine",
    "invarlearn.estimators.invariant.space.Space",
    "invarlearn.estimators.invariant.targets.ClassTargets",
    "invarlearn.estimators.invariant.targets.Estimate",
    "invarlearn.features.projections.PooledProjections",
    "invarlearn.features.projections.TemplateOrbits",
    "invarlearn.features.centred.Centred",
    "invarlearn.features.defaults.EdgeSettings",
    "invarlearn.features.invariant.InvariantFeatures",
    "invarlearn.features.local.LocalKernelFeatures",
    "invarlearn.features.oriented.OrientedGradients",
    "invarlearn.features.templates.TemplateSampler",
    "invarlearn.features.whitened.WhitenedPatches",
    "invarlearn.functionals.representers.Representers",
    "invarlearn.functionals.base.Values",
    "invarlearn.functionals.basis.Constant",
    "invarlearn.functionals.changes.Change",
    "invarlearn.kernels.radial.RBF",
    "invarlearn.kernels.definiteness.Spectrum",
    "invarlearn.kernels.orbit.kernel.OrbitKernel",
    "invarlearn.kernels.orbit.cache.Orbits",
    "invarlearn.solvers.least_squares.FittedRidge",
    "invarlearn.transforms.actions.Affine",
    "invarlearn.transforms.actions.Composed",
    "invarlearn.transforms.actions.Functions",
    "invarlearn.transforms.actions.Gather",
    "invarlearn.transforms.actions.Joined",
    "invarlearn.transforms.actions.Picked",
    "invarlearn.transforms.combine.Product",
    "invarlearn.transforms.combine.Union",
    "invarlearn.transforms.sampled.Sampled",
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
    # families of this package, from the table of families, and classifiers, from that of routes
    *stored_type_names(),
    *(f"{one.__module__}.{one.__qualname__}" for route in ROUTES.values() for one in route.classes),
)

# Classes of the estimator, or of the last step of a pipeline. An estimator of another trusted type
# could be forged to crash.
ESTIMATORS = tuple(one for route in ROUTES.values() for one in route.classes)


class ModelFileError(ValueError):
    """Error for files that are not models, are damaged, or contain types that are not trusted."""


def save_model(model: Model, path: Path | str) -> None:
    """Write a model to a file.

    An existing file is replaced only when the new one is complete.

    Parameters
    ----------
    model : Model
        The result of :func:`invarlearn.app.training.train_model`.
    path : path
        The suffix should be ``.skops``.

    Raises
    ------
    ModelFileError
        If the model contains a type that :func:`load_model` does not trust.
    """
    import skops.io

    if not isinstance(model, Model):
        raise TypeError(
            f"{type(model).__name__} is not a Model, as train_model returns. Save an estimator "
            "with joblib.dump, as with scikit-learn."
        )
    path = Path(path)
    content = {name: getattr(model, name) for name in _field_names()}
    content |= {"format": FORMAT, "version": __version__}
    data = skops.io.dumps(content, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
    untrusted = sorted(set(skops.io.get_untrusted_types(data=data)) - set(TRUSTED))
    if untrusted:
        raise ModelFileError(
            f"the model contains {', '.join(untrusted)}, which load_model does not trust."
        )
    with atomic_write(path) as file:
        file.write(data)


def load_model(path: Path | str, max_bytes: int = 8 * 2**30) -> Model:
    """Read a model from a file that contains only trusted types.

    Parameters
    ----------
    path : path
    max_bytes : int
        Files whose uncompressed size is larger are refused.

    Returns
    -------
    Model

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, has another format, or contains types that are not
        trusted. No code in the file is run.
    """
    import skops.io
    from skops.io.exceptions import UntrustedTypesFoundException

    path = Path(path)
    if not path.is_file():
        raise ModelFileError(f"{path} does not exist.")
    _check_archive(path, max_bytes)
    _check_format(path)
    try:
        content = skops.io.load(path, trusted=list(TRUSTED))
    except UntrustedTypesFoundException as error:
        raise ModelFileError(f"{path} is not trusted and was not loaded: {error}") from None
    except Exception as error:  # a damaged file can fail anywhere in the reader
        reason = first_line(error)
        raise ModelFileError(f"{path} is damaged: {reason}. Train the model again.") from error
    return _checked_model(path, content)


def _field_names() -> list[str]:
    return [item.name for item in fields(Model)]


def _check_archive(path: Path, max_bytes: int) -> None:
    """Raise if a file is a pickle, is not an archive, or is too large when unpacked."""
    with open(path, "rb") as file:
        start = file.read(2)
    if start[:1] == b"\x80" or path.suffix.lower() in (".pkl", ".pickle", ".joblib"):
        raise ModelFileError(
            f"{path} is a pickle, which could run any code when it is loaded. Models are .skops "
            "files, which cannot: train the model again."
        )
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except Exception:  # a damaged archive can fail anywhere in the reader
        raise ModelFileError(f"{path} is not a model: it is not a .skops archive.") from None
    if size > max_bytes:
        raise ModelFileError(
            f"{path} unpacks to {size:,} bytes, more than max_bytes={max_bytes:,}, and was not "
            "loaded."
        )


def _check_format(path: Path) -> None:
    """Raise if a model has another format, whose types may no longer exist."""
    try:
        with zipfile.ZipFile(path) as archive:
            schema = json.loads(archive.read("schema.json"))
        file_format = json.loads(schema["content"]["format"]["content"])
    except Exception:  # not a model, which load_model reports later
        return
    if file_format != FORMAT and re.fullmatch(r"invarlearn model \d+", str(file_format)):
        raise ModelFileError(
            f"{path} was saved by another version of invarlearn (format {file_format!r}, expected "
            f"{FORMAT!r}). Train the model again."
        )


def _checked_model(path: Path, content: Any) -> Model:
    """Return the model with the content of a file, or raise if a field is not valid."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelFileError(
            f"{path} is a skops file, but not a model saved by invarlearn ({FORMAT})."
        )
    for name in _field_names():
        if name not in content or not IS_VALID[name](content[name]):
            raise ModelFileError(
                f"{path} is damaged: its {name} is not valid. Train the model again."
            )
    model = Model(**{name: content[name] for name in _field_names()})
    _check_prediction(path, model)
    return model


def _check_prediction(path: Path, model: Model) -> None:
    """Predict one row, so that a damaged model fails when it is loaded and not later."""
    n_features = model.settings["n_features"]
    try:
        if model.estimator.n_features_in_ != n_features:
            raise ValueError(
                f"its estimator has {model.estimator.n_features_in_} features, its settings have "
                f"{n_features}"
            )
        with warnings.catch_warnings():
            # warnings about this row do not concern samples
            warnings.simplefilter("ignore")
            model.predict(np.linspace(0, 1, n_features, dtype=np.float32)[None])
    except (MemoryError, ImportError):
        raise
    except Exception as error:  # a damaged estimator can fail anywhere
        raise ModelFileError(
            f"{path} is damaged: its estimator cannot predict ({first_line(error)}). Train the "
            "model again."
        ) from error


def _is_estimator(value: Any) -> bool:
    """Return whether a value is a classifier of a route, with an array of classes."""
    classifier = value.steps[-1][1] if isinstance(value, Pipeline) else value
    has_classes = np.ndim(getattr(classifier, "classes_", 0)) == 1
    return isinstance(classifier, ESTIMATORS) and has_classes


def _are_settings(value: Any) -> bool:
    """Return whether :func:`invarlearn.app.readers.open_samples` accepts ``value`` as ``like``."""
    if not isinstance(value, dict) or value.get("kind") not in list(SOURCES):
        return False
    return SOURCES[value["kind"]].accepts_settings(value)


def _is_interval(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 3 and all(map(_is_number, value))


def _is_number(value: Any) -> bool:
    return isinstance(value, float) and bool(np.isfinite(value))


def _is_a(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind)


# Whether the value of a field of a model is valid.
IS_VALID: dict[str, Callable[[Any], bool]] = {
    "estimator": _is_estimator,
    "inverse_temperature": lambda value: value is None or _is_number(value),
    "settings": _are_settings,
    "family": _is_a(Family),
    "route": _is_a(str),
    "accuracy": _is_interval,
    "n_samples": _is_a(int),
    "compared": _is_a(list),
    "validation": _is_a(str),
}
