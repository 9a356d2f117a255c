"""Model files: what is written is read back, and nothing else is."""

import json
import pickle
import zipfile
from contextlib import suppress

import numpy as np
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from invarlearn import RLSClassifier
from invarlearn.audit import invariance_report
from invarlearn.datasets import load_mnist_sample
from invarlearn.estimators.routes import ROUTES
from invarlearn.models import Model, family_for, train_model
from invarlearn.persistence import ModelFileError, load_model, save_model
from invarlearn.readers.arrays import Rows
from invarlearn.readers.base import ReadError
from invarlearn.transforms import Custom, CyclicShift, Identity, family_of_words
from invarlearn.transforms.words import WORDS


@pytest.fixture(autouse=True)
def three_copies(monkeypatch):
    monkeypatch.setattr("invarlearn.estimators._copies.MOST_COPIES", 3)


def with_settings(source):
    source.settings["n_features"] = source.n_features
    return source


def digits(n=40, most=10):
    sample = load_mnist_sample()
    rows = np.flatnonzero(sample.y_train < most)[:n]
    names = [str(i) for i in rows]
    rows = Rows(sample.X_train[rows], sample.y_train[rows].astype(str), names, (28, 28), {})
    return with_settings(rows)


def waves(n=40):
    rng = np.random.RandomState(0)
    X = np.sin(np.arange(24) * (1 + np.arange(n)[:, None] % 2)) + 0.2 * rng.randn(n, 24)
    return with_settings(Rows(X, np.arange(n) % 2, [str(i) for i in range(n)], None, {}))


IMAGES, SEQUENCES, BAGS = "rotation:15", "cyclic-shift:2", "feature-scaling:0.5,2,3"
MANY = "translation:2 rotation:15 shear:0.3 scaling:1.1"
UNUSUAL = "translation:1 thickness elastic:8,3"
ROWS = (SEQUENCES, BAGS, "permutation:8", "feature-dropping:2")


@pytest.mark.parametrize(
    ("words", "route"),
    [
        *((words, route) for words in (IMAGES, SEQUENCES) for route in ROUTES),
        *((words, route) for words in (MANY, UNUSUAL) for route in ("features", "kernel")),
        *((words, "features") for words in WORDS if not words.startswith("feature")),
        *((words, route) for words in ROWS for route in ("invariant", "worst-case")),
        ("permutation:8", "features"),
        ("permutation:8", "kernel"),
    ],
)
def test_every_route_is_read_back(words, route, tmp_path, monkeypatch):
    monkeypatch.setattr("invarlearn.estimators.routes.MOST_ELEMENTS", 20)
    rows = words.split(":")[0] in ("cyclic-shift", "permutation") or words in ROWS
    source = waves() if rows else digits(40, most=4)
    model = train_model(source, words, route)
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


@pytest.mark.parametrize("word", WORDS)
def test_families_of_every_word_are_trusted(word, tmp_path):
    family = family_of_words(word)
    model = a_model()
    model.family = family
    save_model(model, tmp_path / "a.skops")
    assert repr(load_model(tmp_path / "a.skops").family) == repr(family)


def a_model():
    estimator = RLSClassifier().fit([[0.0], [1.0], [0.1], [0.9]], ["a", "b", "a", "b"])
    settings = {"kind": "rows", "n_features": 1, "columns": ["x"], "label": "class"}
    return Model(estimator, 1.0, settings, Identity(), "features", (0.5, 0.1, 0.9), 2)


@pytest.mark.parametrize("route", ["features", "kernel"])
def test_models_of_a_whole_group_never_flip(route):
    rng = np.random.RandomState(0)
    t = np.arange(16)
    X = np.stack([np.exp(-0.5 * ((t - 8) / (1 + k % 2)) ** 2) for k in range(40)])
    X = np.stack([np.roll(row, rng.randint(3)) for row in X + 0.05 * rng.randn(40, 16)])
    source = with_settings(Rows(X, np.arange(40) % 2, [str(i) for i in range(40)], None, {}))
    model = train_model(source, "cyclic-shift", route)
    report = invariance_report(model.estimator, X, np.arange(40) % 2, CyclicShift())
    assert report.overall.exhaustive
    assert report.overall.flip_rate.value == 0


def test_classes_are_the_same_with_and_without_a_point():
    model = train_model(waves(), "cyclic-shift:1", "features")
    np.testing.assert_array_equal(model.known(np.array([1.0, 0.0])), [1, 0])
    np.testing.assert_array_equal(model.known(np.array(["0", "1"])), [0, 1])
    with pytest.raises(ValueError, match="does not know: 2; it knows 0, 1"):
        model.known(np.array([0, 2]))


def test_a_class_with_one_sample_is_named_if_it_cannot_be_left_out():
    source = waves(6)
    source.labels = np.array(list("aaaaab"))
    with pytest.raises(ValueError, match="class b has 1 samples"):
        train_model(source, "cyclic-shift:1", "auto")


def test_slow_routes_are_left_out_of_comparisons_only(monkeypatch):
    monkeypatch.setattr("invarlearn.estimators.routes.MOST_SAMPLES", 10)
    model = train_model(waves(), "cyclic-shift:1")
    reasons = {one["route"]: one["reason"] for one in model.compared}
    assert "slow with more than 10" in reasons["worst-case"]
    assert train_model(waves(), "cyclic-shift:1", "worst-case").route == "worst-case"


def test_what_comes_in_from_outside_is_said_word_by_word():
    source = digits(10)
    fills = lambda words: [part.fill for part in family_for(source, words).parts]  # noqa: E731
    assert fills("translation:2 rotation:15") == ["edge", "edge"]
    assert fills("translation:2 rotation:15,3,zero") == ["edge", "zero"]
    assert fills("translation:2,fill=wrap rotation:15") == ["wrap", "edge"]


def test_what_may_change_must_be_of_such_samples():
    source = digits(10)
    source.kind = "images"
    for words, of in (
        ("cyclic-shift:2", "sequences"),
        ("rotation:15 cyclic-shift:2", "sequences"),
        ("pitch-shift:200", "sounds"),
    ):
        with pytest.raises(ReadError, match=f"{words}' is for {of}, and these are images"):
            family_for(source, words)


def test_routes_that_cannot_be_used_say_why():
    for route in ("features", "kernel", "functionals"):
        with pytest.raises(ValueError, match="take the route worst-case or invariant"):
            train_model(waves(), BAGS, route)
    with pytest.raises(ValueError, match="nothing may change"):
        train_model(waves(), None, "worst-case")


def test_probabilities_are_those_of_the_class_that_is_named():
    model = train_model(digits(60), "translation:1", "features")
    labels, chances = model.predict(digits(60).read_all())
    assert chances.min() >= 0.1
    assert chances.max() <= 1
    assert (labels == digits(60).labels).mean() > 0.9
    # those that are sure are right more often, among samples that were not learned from
    sample = load_mnist_sample()
    labels, chances = model.predict(sample.X_test[:400])
    right = labels == sample.y_test[:400].astype(str)
    sure = chances > np.median(chances)
    assert right[sure].mean() > right[~sure].mean() + 0.1


def test_a_pickle_is_refused_with_the_reason(tmp_path):
    for name in ("a.pkl", "a.skops"):
        (tmp_path / name).write_bytes(pickle.dumps({"a": 1}))
        with pytest.raises(ModelFileError, match="could run any code"):
            load_model(tmp_path / name)


class Stranger:
    """A type that nobody trusts."""

    touched = False

    def __setstate__(self, state):
        Stranger.touched = True


def test_types_that_are_not_trusted_are_refused(tmp_path):
    skops.io.dump({"format": "invarlearn model 1", "estimator": Stranger()}, tmp_path / "a.skops")
    with pytest.raises(ModelFileError, match=r"not trusted.*Stranger"):
        load_model(tmp_path / "a.skops")
    assert not Stranger.touched


def test_functions_that_run_commands_are_refused(tmp_path):
    save_model(a_model(), tmp_path / "a.skops")
    with zipfile.ZipFile(tmp_path / "a.skops") as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(content["schema.json"])
    text = json.dumps(schema).replace("invarlearn.estimators.rls", "os")
    text = text.replace("RLSClassifier", "system")
    content["schema.json"] = text.encode()
    with zipfile.ZipFile(tmp_path / "b.skops", "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    with pytest.raises(ModelFileError, match=r"not trusted.*os\.system"):
        load_model(tmp_path / "b.skops")


def test_files_that_are_no_models_get_clear_errors(tmp_path, monkeypatch):
    path = tmp_path / "a.skops"
    with pytest.raises(ModelFileError, match="does not exist"):
        load_model(path)
    for content in (b"", b"text"):
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match="no model"):
            load_model(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other", "text")
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(path)
    skops.io.dump(LogisticRegression(), path)
    with pytest.raises(ModelFileError, match="no model of `invarlearn train`"):
        load_model(path)
    # trusted, but no estimator that a route has
    forged = a_model()
    forged.estimator = LogisticRegression().fit([[0.0], [1.0]], ["a", "b"])
    save_model(forged, path)
    with pytest.raises(ModelFileError, match="its estimator is not as it should be"):
        load_model(path)
    forged = a_model()
    forged.settings["n_features"] = "many"
    save_model(forged, path)
    with pytest.raises(ModelFileError, match="its settings"):
        load_model(path)
    save_model(a_model(), path)
    monkeypatch.setattr("invarlearn.persistence.MOST_BYTES", 10)
    with pytest.raises(ModelFileError, match="claims to unpack"):
        load_model(path)


def test_a_model_that_could_not_be_loaded_again_is_not_written(tmp_path):
    model = a_model()
    model.family = Custom([np.negative])
    with pytest.raises(ModelFileError, match="could not be loaded again"):
        save_model(model, tmp_path / "a.skops")
    assert not list(tmp_path.iterdir())


def test_a_model_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "a.skops"
    save_model(a_model(), path)
    before = path.read_bytes()

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_model(a_model(), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.skops"]


@pytest.mark.fuzz
def test_damaged_models_are_read_or_get_clear_errors(tmp_path):
    path = tmp_path / "a.skops"
    save_model(a_model(), path)
    whole = path.read_bytes()

    @given(st.lists(st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)), max_size=4))
    def check(changes):
        content = bytearray(whole)
        for at, value in changes:
            content[at] = value
        path.write_bytes(content)
        # a model, or the one kind of error that says what is wrong
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
    ("invarlearn.models", "Model"),
    ("invarlearn.cli.train", "train_command"),
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
    found = [node] if isinstance(node, dict) and key in node else []
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    return found + [place for child in children for place in places_of(child, key)]


@pytest.mark.fuzz
def test_models_that_ask_for_other_types_run_nothing(tmp_path, monkeypatch):
    path = tmp_path / "a.skops"
    save_model(a_model(), path)
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    ran = []
    for module, name in (("os", "system"), ("builtins", "eval"), ("builtins", "exec")):
        monkeypatch.setattr(f"{module}.{name}", lambda *a, **k: ran.append(a))
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
        with suppress(ModelFileError):
            model = load_model(path)
            with suppress(RuntimeError):
                model.predict(np.zeros((2, 1)))

    check()
    assert not ran


def test_an_estimator_alone_is_told_how_to_be_saved(tmp_path):
    with pytest.raises(TypeError, match=r"RLSClassifier is no Model.*joblib\.dump"):
        save_model(RLSClassifier(), tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())
