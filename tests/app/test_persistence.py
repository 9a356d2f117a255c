"""Model files: models are read back, and files that are not trusted are refused."""

import json
import pickle
import zipfile
from contextlib import suppress
from dataclasses import fields

import numpy as np
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from invarlearn import RLSClassifier
from invarlearn.app.models import Model
from invarlearn.app.persistence import FORMAT, IS_VALID, ModelFileError, load_model, save_model
from invarlearn.app.readers import SOURCES
from invarlearn.app.routes import ROUTES
from invarlearn.app.training import train_model
from invarlearn.transforms import Custom, parse_family
from invarlearn.transforms.spec import FAMILIES

IMAGES, SEQUENCES, BAGS = "rotation:15", "cyclic-shift:2", "feature-scaling:0.5,2,3"
MANY = "translation:2 rotation:15 shear:0.3 scaling:1.1"
UNUSUAL = "translation:1 thickness elastic:8,3"
ROWS = (SEQUENCES, BAGS, "permutation:8", "feature-dropping:2")
COLOURS = ("colour-jitter", "hue", "saturation")


@pytest.mark.parametrize(
    ("spec", "route"),
    [
        *((spec, route) for spec in (IMAGES, SEQUENCES) for route in ROUTES),
        *((spec, route) for spec in (MANY, UNUSUAL) for route in ("features", "kernel")),
        *((spec, "features") for spec in FAMILIES if not spec.startswith("feature")),
        *((spec, route) for spec in ROWS for route in ("invariant", "worst-case")),
        ("permutation:8", "features"),
        ("permutation:8", "kernel"),
    ],
)
def test_models_of_every_route_are_read_back(spec, route, tmp_path, waves, digits, settings):
    rows = spec.split(":")[0] in ("cyclic-shift", "permutation") or spec in ROWS
    source = waves() if rows else digits(40, n_classes=4, colours=spec in COLOURS)
    model = train_model(source, spec, route, settings=settings)
    save_model(model, tmp_path / "a.skops")
    again = load_model(tmp_path / "a.skops")
    X = source.read_all()
    np.testing.assert_array_equal(model.predict(X)[0], model.estimator.predict(X))
    for one, other in zip(model.predict(X), again.predict(X), strict=True):
        np.testing.assert_array_equal(one, other)
    assert repr(again.family) == repr(model.family)
    assert (again.route, again.settings, again.accuracy) == (
        model.route,
        model.settings,
        model.accuracy,
    )
    assert [p.name for p in tmp_path.iterdir()] == ["a.skops"]


@pytest.mark.parametrize("name", FAMILIES)
def test_every_named_family_is_trusted(name, tmp_path, model):
    family = parse_family(name)
    model.family = family
    save_model(model, tmp_path / "a.skops")
    assert repr(load_model(tmp_path / "a.skops").family) == repr(family)


def test_a_pickle_is_refused_with_the_reason(tmp_path):
    for name in ("a.pkl", "a.skops"):
        (tmp_path / name).write_bytes(pickle.dumps({"a": 1}))
        with pytest.raises(ModelFileError, match="could run any code"):
            load_model(tmp_path / name)


class Stranger:
    """A type that is not trusted."""

    touched = False

    def __setstate__(self, state):
        Stranger.touched = True


def test_types_that_are_not_trusted_are_refused(tmp_path):
    skops.io.dump({"format": FORMAT, "estimator": Stranger()}, tmp_path / "a.skops")
    with pytest.raises(ModelFileError, match=r"not trusted.*Stranger"):
        load_model(tmp_path / "a.skops")
    assert not Stranger.touched


def test_functions_that_run_commands_are_refused(tmp_path, small_model):
    save_model(small_model(), tmp_path / "a.skops")
    module = RLSClassifier.__module__

    def forge(schema):
        return schema.replace(module, "os").replace("RLSClassifier", "system")

    changed(tmp_path / "a.skops", tmp_path / "b.skops", forge)
    with pytest.raises(ModelFileError, match=r"not trusted.*os\.system"):
        load_model(tmp_path / "b.skops")


def test_files_that_are_not_models_get_clear_errors(tmp_path, small_model):
    path = tmp_path / "a.skops"
    with pytest.raises(ModelFileError, match="does not exist"):
        load_model(path)
    for content in (b"", b"text"):
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match="not a model"):
            load_model(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other", "text")
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(path)
    skops.io.dump(LogisticRegression(), path)
    with pytest.raises(ModelFileError, match="not a model saved by invarlearn"):
        load_model(path)
    # a trusted type, but not an estimator of any route
    forged = small_model()
    forged.estimator = LogisticRegression().fit([[0.0], [1.0]], ["a", "b"])
    save_model(forged, path)
    with pytest.raises(ModelFileError, match="its estimator is not valid"):
        load_model(path)
    forged = small_model()
    forged.settings["n_features"] = "many"
    save_model(forged, path)
    with pytest.raises(ModelFileError, match="its settings"):
        load_model(path)
    save_model(small_model(), path)
    with pytest.raises(ModelFileError, match="unpacks to"):
        load_model(path, max_bytes=10)


def test_a_model_that_could_not_be_loaded_again_is_not_written(tmp_path, model):
    model.family = Custom([np.negative])
    with pytest.raises(ModelFileError, match="which load_model does not trust"):
        save_model(model, tmp_path / "a.skops")
    assert not list(tmp_path.iterdir())


def test_a_model_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch, small_model):
    path = tmp_path / "a.skops"
    save_model(small_model(), path)
    before = path.read_bytes()

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_model(small_model(), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.skops"]


@pytest.mark.fuzz
def test_damaged_models_are_read_or_get_clear_errors(tmp_path, small_model):
    path = tmp_path / "a.skops"
    save_model(small_model(), path)
    whole = path.read_bytes()

    @given(st.lists(st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)), max_size=4))
    def check(changes):
        content = bytearray(whole)
        for at, value in changes:
            content[at] = value
        path.write_bytes(content)
        # a model, or the documented error
        with suppress(ModelFileError):
            assert isinstance(load_model(path), Model)

    check()


NASTY = [
    ("os", "system"),
    ("builtins", "eval"),
    ("builtins", "exec"),
    ("subprocess", "Popen"),
    ("numpy", "load"),
    ("sklearn.svm._classes", "SVC"),
    ("invarlearn.app.models", "Model"),
    ("invarlearn.app.cli.train", "train_command"),
    ("operator", "methodcaller"),
    ("functools", "partial"),
]
LOADERS = [
    "ObjectNode",
    "TypeNode",
    "FunctionNode",
    "MethodNode",
    "JsonNode",
    "DictNode",
    "ReduceNode",
]


def places_of(node, key):
    """List all dicts of a schema that have a key."""
    own = [node] if isinstance(node, dict) and key in node else []
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    return own + [place for child in children for place in places_of(child, key)]


@pytest.mark.fuzz
def test_models_that_ask_for_other_types_run_nothing(tmp_path, small_model):
    path = tmp_path / "a.skops"
    save_model(small_model(), path)
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    ran = []
    schema = content["schema.json"]
    count = len(places_of(json.loads(schema), "__loader__"))
    change = st.tuples(
        st.integers(0, count - 1),
        st.sampled_from([*NASTY, *LOADERS]),
        st.sampled_from([0, "x", None]),
    )

    @given(st.lists(change, min_size=1, max_size=3))
    def check(changes):
        tree = json.loads(schema)
        places = places_of(tree, "__loader__")
        for at, what, value in changes:
            if isinstance(what, tuple):
                places[at]["__module__"], places[at]["__class__"] = what
            elif value == 0:
                places[at]["__loader__"] = what
            else:
                places[at]["content"] = value
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in content.items():
                archive.writestr(name, json.dumps(tree) if name == "schema.json" else data)
        # only while the file is read and used, since hypothesis itself calls exec
        with pytest.MonkeyPatch.context() as patch, suppress(ModelFileError):
            for name in ("os.system", "builtins.eval", "builtins.exec"):
                patch.setattr(name, lambda *a, **k: ran.append(a))
            model = load_model(path)
            # a forged estimator may fail, but must not run code
            with suppress(Exception):
                model.predict(np.zeros((2, 1)))

    check()
    assert not ran


def changed(path, other, change):
    """Copy a model file with a changed schema."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content["schema.json"] = change(content["schema.json"].decode()).encode()
    with zipfile.ZipFile(other, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)


def test_a_model_of_an_earlier_format_gets_a_clear_error(tmp_path, small_model):
    save_model(small_model(), tmp_path / "a.skops")

    def older(schema):
        # the error names the format, not types that have moved since
        moved = schema.replace("invarlearn.estimators", "invarlearn.machines")
        return moved.replace(FORMAT, "invarlearn model 2")

    changed(tmp_path / "a.skops", tmp_path / "b.skops", older)
    with pytest.raises(
        ModelFileError,
        match=r"another version of invarlearn \(format 'invarlearn model 2', .*Train the model",
    ):
        load_model(tmp_path / "b.skops")


def test_a_model_that_cannot_predict_is_not_loaded(tmp_path, small_model):
    model = small_model()
    model.settings["n_features"] = 3
    save_model(model, tmp_path / "a.skops")
    with pytest.raises(ModelFileError, match="has 1 features, its settings have 3"):
        load_model(tmp_path / "a.skops")
    model = small_model()
    kept = {*model.estimator.get_params(), "classes_", "n_features_in_"}
    for name in set(vars(model.estimator)) - kept:
        delattr(model.estimator, name)
    save_model(model, tmp_path / "a.skops")
    with pytest.raises(ModelFileError, match=r"its estimator cannot predict .*Train the model"):
        load_model(tmp_path / "a.skops")


def test_saving_an_estimator_alone_suggests_joblib(tmp_path):
    with pytest.raises(TypeError, match=r"RLSClassifier is not a Model.*joblib\.dump"):
        save_model(RLSClassifier(), tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


def test_every_field_of_a_model_has_a_check():
    assert list(IS_VALID) == [field.name for field in fields(Model)]


SETTINGS = {
    "images": {"size": [8, 9], "colour": False},
    "sounds": {
        "rate": 8000,
        "n_bins": 64,
        "n_frames": 32,
        "bins_per_octave": 12,
        "top_frequency": 0.475,
    },
    "rows": {"columns": ["a"], "label": "class", "shape": [4, 5]},
}


@pytest.mark.parametrize("kind", SOURCES)
def test_forged_settings_of_every_reader_are_not_valid(kind):
    is_valid = IS_VALID["settings"]
    settings = {"kind": kind, "n_features": 20, **SETTINGS[kind]}
    assert is_valid(settings)
    assert not is_valid({**settings, "kind": "smells"})
    assert not is_valid({**settings, "kind": ["images"]})
    for name in set(settings) - {"kind", "colour"}:
        for forged in (-1, 1.5, [0], ["a", 2], {}):
            assert not is_valid({**settings, name: forged}), (name, forged)


def test_models_of_sounds_without_later_settings_are_valid():
    settings = {"kind": "sounds", "n_features": 20, "rate": 8000, "n_bins": 64, "n_frames": 32}
    assert IS_VALID["settings"](settings)
