"""The command line: the output and the files of train, predict and audit; saved models."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scipy.io import wavfile

from golden import moving
from golden.declare import Cases, Labels, Near, Tolerance
from golden.rows import blobs, digits, steady_waves, tones
from golden.storage import MODELS
from invarlearn import InvariantClassifier
from invarlearn.transforms import Rotation, Translation

CASES = Cases("command_line")

JSON = Tolerance(1e-6, "shares of samples, and their intervals")
# predictions.csv has four digits, and probabilities of fitted machines move
PROBABILITIES = (2e-3, "probabilities, written with four digits, of classifiers that iterate")


def flattened(content: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Return the leaves of nested JSON by their paths; without names of files."""
    if isinstance(content, dict):
        for key, value in content.items():
            if key == "reason":
                # its wording may change
                yield f"{name}.has_reason", bool(value)
            elif key not in ("model", "predictions", "report"):
                yield from flattened(value, f"{name}.{key}" if name else key)
    elif isinstance(content, list):
        yield f"{name}.count", len(content)
        for i, value in enumerate(content):
            yield from flattened(value, f"{name}.{i}")
    else:
        yield name, content


def predictions(path: Path) -> dict[str, Any]:
    """Return the columns of a file of predictions."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    chances = np.array([float(row["probability"]) for row in rows])
    values: dict[str, Any] = {
        "columns": list(rows[0]),
        "samples": [row["sample"].replace("\\", "/") for row in rows],
        "labels": [row["label"] for row in rows],
        "probabilities": Near(chances, *PROBABILITIES),
    }
    if "known" in rows[0]:
        values["known"] = [row["known"] for row in rows]
    return values


def whole_path(
    train: Path, test: Path, folder: Path, options: list[Any], audit: list[Any] | None = None
) -> dict[str, Any]:
    """Return the results of train, predict and audit on the same files."""
    model, out = folder / "model.skops", folder / "predictions.csv"
    printed = moving.run_command("train", train, "--model", model, *options, "--json")
    values = {f"train.{name}": value for name, value in flattened(json.loads(printed))}
    printed = moving.run_command("predict", test, "--model", model, "--out", out, "--json")
    values |= {f"predict.{name}": value for name, value in flattened(json.loads(printed))}
    values |= {f"predictions.{name}": value for name, value in predictions(out).items()}
    if audit is not None:
        page = ["--out", folder / "audit.html", "--elements", 6, "--json"]
        printed = moving.run_command("audit", test, "--model", model, *page, *audit)
        values |= {f"audit.{name}": value for name, value in flattened(json.loads(printed))}
    return values


@contextmanager
def temporary() -> Iterator[Path]:
    """Return a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def write_images(folder: Path, X: Any, y: Any) -> Path:
    """Write digits as a folder of images, a subfolder for each class."""
    side = int(X.shape[1] ** 0.5)
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        place = folder / f"digit {label}"
        place.mkdir(parents=True, exist_ok=True)
        pixels = np.round(255 * row).astype(np.uint8).reshape(side, side)
        Image.fromarray(pixels).save(place / f"{i:02}.png")
    return folder


def write_sounds(folder: Path, seed: int, n: int) -> Path:
    """Write rising and falling tones as a folder of WAV files."""
    for i, wave in enumerate(tones(n, seed=seed)):
        place = folder / ("falling" if i % 2 else "rising")
        place.mkdir(parents=True, exist_ok=True)
        wavfile.write(place / f"{i:02}.wav", 8000, (32767 * wave).astype(np.int16))
    return folder


def write_table(path: Path, X: Any, y: Any, groups: bool = False) -> Path:
    """Write rows as a table with named classes."""
    names = [f"x{i}" for i in range(X.shape[1])]
    lines = [",".join([*["patient"] * groups, *names, "class"])]
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        first = [f"p{i // 4}"] * groups
        lines.append(",".join([*first, *(f"{value:.6f}" for value in row), "abc"[label]]))
    path.write_text("\n".join([*lines, ""]))
    return path


@CASES.case(JSON)
def images() -> dict[str, Any]:
    """Return the results for a folder of images."""
    X, y, new, truth = digits(9, 12, 3)
    with temporary() as folder:
        train = write_images(folder / "train", X, y)
        test = write_images(folder / "test", new, truth)
        spec = "translation:1 rotation:15"
        options = ["--route", "invariant", "--may-change", spec, "--size", "16x16"]
        return whole_path(train, test, folder, options, [])


@CASES.case(JSON)
def sounds() -> dict[str, Any]:
    """Return the results for a folder of sounds."""
    with temporary() as folder:
        train = write_sounds(folder / "train", 0, 12)
        test = write_sounds(folder / "test", 1, 8)
        spec = "pitch-shift:400 translation:1"
        options = ["--route", "kernel", "--may-change", spec]
        return whole_path(train, test, folder, options, [])


@CASES.case(JSON)
def table_of_groups() -> dict[str, Any]:
    """Return the results for a table with groups, and an audit of another family."""
    X, y, _ = blobs(40, 3)
    with temporary() as folder:
        table = write_table(folder / "table.csv", X, y, groups=True)
        options = ["--route", "invariant", "--groups", "patient"]
        audit = ["--may-change", "feature-scaling:0.9,1.1,2"]
        return whole_path(table, table, folder, options, audit)


@CASES.case(JSON)
def compared_routes() -> dict[str, Any]:
    """Return the comparison of all routes on a table, and the best one."""
    X, y, _ = blobs(8, 2)
    with temporary() as folder:
        table = write_table(folder / "table.csv", X + 8, y)
        return whole_path(table, table, folder, ["--may-change", "cyclic-shift:1"], [])


def of_route(route: str) -> dict[str, Any]:
    """Return the results for an array, by one route."""
    with temporary() as folder:
        return whole_path(*write_waves(folder), folder, ["--route", route, *WAVES[1:]], [])


# a family of three elements, and arrays
WAVES = ("waves", "--may-change", "cyclic-shift:1", "--seed", "1")


def write_waves(folder: Path) -> tuple[Path, Path]:
    """Write waves as arrays, for training and for testing."""
    X, y = steady_waves(40)
    other, truth = steady_waves(20, seed=1)
    np.savez(folder / "train.npz", X=X, y=y)
    np.savez(folder / "test.npz", X=other, y=truth)
    return folder / "train.npz", folder / "test.npz"


ROUTES = ("features", "kernel", "functionals", "worst-case")
for _route in ROUTES:
    CASES.add(f"route_{_route}", partial(of_route, _route), JSON)


@CASES.case()
def routes() -> dict[str, Any]:
    """Return the names of the routes, each of which has a saved model."""
    return {"names": moving.route_names(), "saved": sorted(path.stem for path in saved_models())}


# -- saved models ----------------------------------------------------------------------------


def saved_models() -> list[Path]:
    """Return the files of models in the record."""
    return sorted(MODELS.glob("*.skops"))


def of_saved_model(name: str) -> dict[str, Any]:
    """Return the predictions and the metadata of a recorded model."""
    model = moving.load_model(MODELS / f"{name}.skops")
    new = digits(20, 20, 2, 14)[2] if name == "invariant" else steady_waves(20, seed=1)[0]
    labels, chances = model.predict(new)
    return {
        "labels": Labels(labels),
        "probabilities": Near(chances, 1e-4, "single precision"),
        "route": model.route,
        "family": moving.format_family(model.family),
        "accuracy": np.array(model.accuracy, dtype=float),
    }


for _route in ("invariant", *ROUTES):
    CASES.add(f"saved_{_route}", partial(of_saved_model, _route), JSON)


def small_invariant() -> Any:
    """Return a small classifier of the recommended route."""
    X, y, _, _ = digits(20, 20, 2, 14)
    family = Rotation(15) * Translation(1)
    model = InvariantClassifier(family, n_copies=3, n_landmarks=12, n_components=12)
    return model.fit(X, y)


@CASES.case(Tolerance(2e-4, "least squares on features in single precision"))
def saved_invariant_again() -> dict[str, Any]:
    """Return the predictions of the recommended route after training it again."""
    model, new = small_invariant(), digits(20, 20, 2, 14)[2]
    scores = model.decision_function(new)
    return {"labels": Labels(model.predict(new), scores), "decision": scores}


def record_models() -> None:
    """Write the saved models again."""
    MODELS.mkdir(exist_ok=True)
    family = Rotation(15) * Translation(1)
    moving.save_fitted(small_invariant(), family, "invariant", 196, MODELS / "invariant.skops")
    with temporary() as folder:
        train, _ = write_waves(folder)
        for route in ROUTES:
            path = MODELS / f"{route}.skops"
            moving.run_command("train", train, "--model", path, "--route", route, *WAVES[1:])
