"""InvariantClassifier and InvariantRegressor on images, tables, sequences, sounds, bags."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from golden import moving
from golden.declare import Cases, Labels, Tolerance
from golden.rows import blobs, counts, digits, line, tones, waves
from invarlearn import InvariantClassifier, InvariantRegressor
from invarlearn.features import OrientedGradients
from invarlearn.transforms import (
    Custom,
    CyclicShift,
    FeatureScaling,
    LogSpectrogram,
    PitchShift,
    Reflection,
    Rotation,
    Scaling,
    Shear,
    TimeStretch,
    Translation,
)

CASES = Cases("invariant")

# Features of pixels are computed in single precision; later steps amplify its rounding.
IMAGES = Tolerance(3e-4, "least squares on whitened features in single precision")
TABLES = Tolerance(1e-6, "least squares in double precision, whitened by eigenvectors")


def fitted_values(model: Any, new: Any) -> dict[str, Any]:
    """Return predictions, chosen parameters and estimates."""
    values = {
        "family": moving.format_family(model.family_),
        "n_copies": int(model.n_copies_),
        "lam": float(model.lam_),
        "gamma": float(model.gamma_),
        "lams": np.asarray(model.lams_, dtype=float),
        "left_out_errors": np.asarray(model.cv_errors_, dtype=float),
        "interval": np.array(model.interval_, dtype=float),
    }
    if isinstance(model, InvariantRegressor):
        values["estimated_r2"] = float(model.estimated_r2_)
        return {**values, "prediction": model.predict(new)}
    scores = model.decision_function(new)
    return {
        **values,
        "estimated_accuracy": float(model.estimated_accuracy_),
        "decision": scores,
        "labels": Labels(model.predict(new), scores),
        "probabilities": model.predict_proba(new),
    }


def quiet(model: Any, X: Any, y: Any, **options: Any) -> Any:
    """Return the fitted model, without warnings about few samples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X, y, **options)


SMALL = {"n_copies": 6, "n_landmarks": 24, "n_components": 64}
MODEST = Translation(1) * Rotation(15) * Scaling(1.1) * Shear(0.2)


@CASES.case(IMAGES)
def images() -> dict[str, Any]:
    """Return the classifier of digits with a family, and averaged over augmented copies."""
    X, y, new, _ = digits(40, 20)
    values = {}
    for name, options in (
        ("family", {"family": MODEST}),
        ("averaged", {"family": MODEST, "n_average": 4}),
        ("white", {"family": Rotation(20), "whitening": 1.0}),
        ("not_white", {"family": Rotation(20), "whitening": 0.0, "lam": 0.1}),
        ("seed", {"family": Rotation(20), "random_state": 3}),
        ("one_copy", {"family": Rotation(20), "n_copies": 1}),
    ):
        results = fitted_values(quiet(InvariantClassifier(**{**SMALL, **options}), X, y), new)
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values


@CASES.case(IMAGES)
def default_images() -> dict[str, Any]:
    """Return the classifier of digits with its default family and number of landmarks."""
    X, y, new, _ = digits(30, 20, 3)
    return fitted_values(quiet(InvariantClassifier(n_copies=8), X, y), new)


@CASES.case(IMAGES)
def shifted_and_noisy_images() -> dict[str, Any]:
    """Return classifiers with a large translation, and of noisy images."""
    X, y, new, _ = digits(30, 20, 3)
    rng = np.random.RandomState(0)
    values = {}
    noisy, unseen = ((rows + 0.3 * rng.rand(*rows.shape)).astype("f4") for rows in (X, new))
    for name, family, rows, others in (
        ("far", Translation(6), X, new),
        ("noisy", Translation(1), noisy, unseen),
    ):
        results = fitted_values(quiet(InvariantClassifier(family, **SMALL), rows, y), others)
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values


@CASES.case(IMAGES)
def other_ranges() -> dict[str, Any]:
    """Return the classifier that selects the range of its family."""
    X, y, new, _ = digits(40, 20)
    model = InvariantClassifier(Rotation(20) * Translation(1), ranges=(0.25, 1.0, 4.0), **SMALL)
    return fitted_values(quiet(model, X, y), new)


@CASES.case(IMAGES)
def groups_of_images() -> dict[str, Any]:
    """Return the classifier with groups that are held out together."""
    X, y, new, _ = digits(40, 20)
    model = quiet(InvariantClassifier(MODEST, **SMALL), X, y, groups=np.arange(40) // 3)
    return fitted_values(model, new)


@CASES.case(IMAGES)
def given_features() -> dict[str, Any]:
    """Return classifiers with features of their own, of grey and of coloured images."""
    X, y, new, _ = digits(40, 20, 10, 14)
    values = {}
    colours, unseen = (np.repeat(rows, 2, axis=1) for rows in (X, new))
    for name, model, rows, others in (
        ("gradients", InvariantClassifier(MODEST, OrientedGradients(), **SMALL), X, new),
        (
            "colours",
            InvariantClassifier(Reflection(1), shape=(14, 14, 2), **SMALL),
            colours,
            unseen,
        ),
    ):
        results = fitted_values(quiet(model, rows, y), others)
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values


@CASES.case(TABLES)
def tables() -> dict[str, Any]:
    """Return classifiers of tables: no family, a custom one, groups."""
    X, y, new = blobs(40, 3)
    family = Custom([mirrored], is_group=True, is_unitary=True)
    values = {}
    for name, model, groups in (
        ("plain", InvariantClassifier(), None),
        ("custom", InvariantClassifier(family, n_copies=4), None),
        ("groups", InvariantClassifier(), np.arange(40) // 4),
    ):
        results = fitted_values(quiet(model, X, y, groups=groups), new)
        del results["family"]
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values


def mirrored(X):
    """Return rows with their last number negated."""
    return X * np.array([1.0, 1.0, -1.0], dtype=X.dtype)


@CASES.case(TABLES)
def sequences_and_bags() -> dict[str, Any]:
    """Return classifiers of sequences under shifts, and of bags of words under scaling."""
    values = {}
    for name, family, (X, y, new) in (
        ("scaled", FeatureScaling(0.5, 2, 3), counts(40)),
        ("shifts", CyclicShift(2), waves(40)),
    ):
        features = StandardScaler() if name == "shifts" else None
        model = InvariantClassifier(family, features, n_copies=10)
        results = fitted_values(quiet(model, X, y), new)
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values


@CASES.case(IMAGES)
def default_sequences() -> dict[str, Any]:
    """Return the classifier of sequences with its default features."""
    X, y, new = waves(40)
    return fitted_values(quiet(InvariantClassifier(CyclicShift(2), n_copies=5), X, y), new)


@CASES.case(Tolerance(2e-3, "landmarks and normal equations in single precision"))
def many_copies() -> dict[str, Any]:
    """Return the classifier that represents many copies by landmarks."""
    X, y, new = waves(100, 8)
    model = InvariantClassifier(CyclicShift(2), StandardScaler(), n_copies=91, lam=0.3)
    return fitted_values(quiet(model, X, y), new)


@CASES.case(IMAGES)
def sounds() -> dict[str, Any]:
    """Return the classifier of spectrograms under changes of pitch and of tempo."""
    maker = LogSpectrogram(n_bins=24, n_frames=16)
    X, new = maker.fit(tones()).transform(tones(24)), maker.transform(tones(8, seed=1))
    family = PitchShift(300, n_steps=5) * TimeStretch((0.85, 1.18)) * Translation(1)
    model = InvariantClassifier(family, shape=(24, 16), **SMALL)
    return fitted_values(quiet(model, X, np.arange(24) % 2), new)


@CASES.case(IMAGES)
def regression_of_images() -> dict[str, Any]:
    """Return regressors of digits: the width of the ink, and several targets."""
    X, _, new, _ = digits(40, 20)
    ink = X.reshape(-1, 28, 28).any(axis=1).sum(axis=1).astype(float)
    several = np.stack([ink, X.mean(axis=1)], axis=1)
    values = {}
    for name, y, options in (
        ("one", ink, {}),
        ("several", several, {"n_average": 3}),
    ):
        model = InvariantRegressor(Rotation(15), **SMALL, **options)
        results = fitted_values(quiet(model, X, y), new)
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values


@CASES.case(TABLES)
def regression_of_tables() -> dict[str, Any]:
    """Return regressors of tables, with and without groups."""
    X, y, new = line()
    values = {}
    for name, groups in (("alone", None), ("groups", np.arange(40) // 4)):
        results = fitted_values(quiet(InvariantRegressor(), X, y, groups=groups), new)
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values
