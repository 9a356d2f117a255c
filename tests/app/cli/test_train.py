"""Train, predict and audit from the command line."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest
from PIL import Image
from scipy.io import wavfile
from typer.testing import CliRunner

from invarlearn import Budget
from invarlearn.app.cli import app, main
from invarlearn.app.readers import FILES, FOLDERS
from invarlearn.app.routes import ROUTES, RouteSettings
from invarlearn.datasets import load_mnist_sample
from invarlearn.transforms.spec import FAMILIES

runner = CliRunner()


FEW_COPIES = RouteSettings(budget=Budget(max_copies=8))


def run(*arguments, settings=FEW_COPIES):
    """Run a command with limited work, and return its result."""
    texts = [str(argument) for argument in arguments]
    result = runner.invoke(app, texts, catch_exceptions=False, obj=settings)
    assert result.exit_code == 0, result.output
    return result


def digit_folder(folder, X, y, each):
    for label in range(10):
        (folder / f"digit {label}").mkdir(parents=True)
        for i, row in enumerate(X[y == label][:each]):
            pixels = np.round(255 * row).astype(np.uint8).reshape(28, 28)
            Image.fromarray(pixels).save(folder / f"digit {label}" / f"{i}.png")
    return folder


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_images_are_trained_on_predicted_and_audited(tmp_path):
    sample = load_mnist_sample()
    train = digit_folder(tmp_path / "train", sample.X_train, sample.y_train, 6)
    test = digit_folder(tmp_path / "test", sample.X_test, sample.y_test, 4)
    model, out, page = (tmp_path / name for name in ("m.skops", "p.csv", "a.html"))
    spec = "translation:2 rotation:15 shear:0.3"
    result = run("train", train, "--model", model, "--route", "invariant", "--may-change", spec)
    assert "leave-one-out over 60 samples." in result.output
    assert f"Family: {spec}\n" in result.output
    result = run("predict", test, "--model", model, "--out", out)
    assert "%, by the classes in" in result.output
    rows = rows_of(out)
    assert list(rows[0]) == ["sample", "label", "probability", "known"]
    assert len(rows) == 40
    assert all(row["sample"].startswith(row["known"]) for row in rows)
    wrong = Counter((row["known"], row["label"]) for row in rows if row["known"] != row["label"])
    answer = json.loads(run("predict", test, "--model", model, "--out", out, "--json").stdout)
    assert {(one["known"], one["label"]): one["samples"] for one in answer["mistakes"]} == wrong
    assert answer["accuracy"] == pytest.approx(1 - wrong.total() / 40)
    expected = f"Most frequent confusion{'s' * (len(wrong) > 1)}: digit "
    assert (expected in result.output) == bool(wrong)
    assert rows[0]["sample"].replace("\\", "/") == "digit 0/0.png"
    right = np.mean([row["label"] in row["sample"] for row in rows])
    assert right > 0.75
    assert all(0 < float(row["probability"]) <= 1 for row in rows)
    result = run("audit", test, "--model", model, "--out", page, "--elements", 5)
    assert "Flip rate (predictions that change" in result.output
    text = page.read_text()
    assert "Audit of m.skops" in text
    assert "digit 3" in text
    # no other files are written
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"train", "test", "m.skops", "p.csv", "a.html"}
    # a class that the model was not trained on
    (test / "digit 3").rename(test / "cat")
    result = run("predict", test, "--model", model, "--out", out)
    assert (
        "No accuracy: the samples have classes that the model was not trained on: cat"
        in result.output
    )
    assert list(rows_of(out)[0]) == ["sample", "label", "probability"]


def test_the_json_option_prints_only_json(tmp_path):
    sample = load_mnist_sample()
    train = digit_folder(tmp_path / "train", sample.X_train, sample.y_train, 4)
    model = tmp_path / "m.skops"
    result = run("train", train, "--model", model, "--route", "invariant", "--json")
    trained = json.loads(result.stdout)
    assert trained["route"] == "invariant"
    assert len(trained["classes"]) == 10
    low, high = trained["interval"]
    assert 0 <= low <= trained["accuracy"] <= high <= 1
    result = runner.invoke(
        app,
        ["predict", str(train), "--model", str(model), "--out", str(tmp_path / "p.csv"), "--json"],
    )
    assert json.loads(result.stdout)["samples"] == 40
    audit = ["audit", str(train), "--model", str(model), "--out", str(tmp_path / "a.html")]
    audit += ["--elements", "2", "--json", "--may-change", "reflection"]
    audited = json.loads(runner.invoke(app, audit).stdout)
    assert audited["table"][0]["name"] == "all together"
    assert audited["may_change"] == "reflection:1"


def sounds(folder, seed, each=6):
    """Rising and falling tones of different pitch."""
    rng = np.random.RandomState(seed)
    for label, way in (("rising", 1), ("falling", -1)):
        (folder / label).mkdir(parents=True)
        for i in range(each):
            t = np.arange(4000 + rng.randint(2000)) / 8000
            octaves = way * t / t[-1]
            phase = 2 * np.pi * np.cumsum(400 * 2 ** (rng.uniform(-0.5, 0.5) + octaves)) / 8000
            wave = 0.3 * np.sin(phase) + 0.01 * rng.randn(len(t))
            wavfile.write(folder / label / f"{i}.wav", 8000, (32767 * wave).astype(np.int16))
    return folder


def test_sounds_are_trained_on_predicted_and_audited(tmp_path):
    train, test = sounds(tmp_path / "train", 0), sounds(tmp_path / "test", 1)
    model, out, page = (tmp_path / name for name in ("m.skops", "p.csv", "a.html"))
    result = run("train", train, "--model", model, "--route", "invariant")
    assert "Family: pitch-shift:400,n_steps=5 time-stretch:0.85,1.18 translation:1\n" in (
        result.output
    )
    run("predict", test, "--model", model, "--out", out)
    assert np.mean([row["label"] in row["sample"] for row in rows_of(out)]) == 1
    run("audit", test, "--model", model, "--out", page, "--elements", 4)
    assert "pitchshift" in page.read_text()


@pytest.fixture
def table(tmp_path):
    rng = np.random.RandomState(0)
    X, y = rng.randn(60, 3), np.arange(60) % 2
    X[:, 0] += 3 * y
    lines = [
        f"{a},{b},{c},{'yes' if label else 'no'}" for (a, b, c), label in zip(X, y, strict=True)
    ]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,c,class", *lines, ""]))
    return path


def test_routes_are_compared_and_the_best_is_used(tmp_path, table):
    result = run("train", table, "--model", tmp_path / "m.skops")
    assert "best" in result.output
    assert "there is nothing" in result.output
    assert "3-fold cross-validation over 60 samples." in result.output
    # routes that cannot be used are not counted
    assert "it is the best of 3 routes." in result.output
    out = tmp_path / "p.csv"
    run("predict", table, "--model", tmp_path / "m.skops", "--out", out)
    rows = rows_of(out)
    assert [row["sample"] for row in rows[:3]] == ["1", "2", "3"]
    assert {row["label"] for row in rows} == {"yes", "no"}
    # the same seed, the same model
    run("train", table, "--model", tmp_path / "n.skops")
    again = tmp_path / "q.csv"
    run("predict", table, "--model", tmp_path / "n.skops", "--out", again)
    assert again.read_text() == out.read_text()


@pytest.mark.parametrize("route", ["invariant", "features"])
def test_groups_are_held_out_together(tmp_path, route):
    # each patient has a mean of its own and belongs to one class
    rng = np.random.RandomState(0)
    patient = np.repeat(np.arange(12), 8)
    X = rng.randn(12, 6)[patient] + 0.1 * rng.randn(96, 6)
    lines = ["patient,a,b,c,d,e,f,class"]
    for number, row in zip(patient, X, strict=True):
        values = ",".join(f"{value:.4f}" for value in row)
        lines.append(f"p{number},{values},{'yes' if number % 2 else 'no'}")
    table = tmp_path / "t.csv"
    table.write_text("\n".join(lines))
    model = tmp_path / "m.skops"
    options = ["--model", model, "--route", route]
    alone = json.loads(run("train", table, *options, "--ignore", "patient", "--json").stdout)
    result = run("train", table, *options, "--groups", "patient", "--json")
    together = json.loads(result.stdout)
    assert alone["accuracy"] > 0.95
    assert alone["groups"] is None
    assert together["accuracy"] < 0.75
    assert together["groups"] == 12
    assert np.subtract(*together["interval"][::-1]) > 0.3
    if route == "invariant":
        return
    printed = " ".join(run("train", table, *options, "--groups", "patient").output.split())
    assert "96 samples of 2 classes in 12 groups" in printed
    assert "3-fold cross-validation over 12 groups" in printed
    run("predict", table, "--model", model, "--out", tmp_path / "p.csv")


def test_families_are_listed():
    result = run("families")
    assert "rotation:15  (image)" in result.output
    assert "degrees: The largest angle on either side; further: n_steps=3" in result.output


@pytest.fixture
def program(monkeypatch, capsys, tmp_path):
    """Return a function that runs the command line, and returns its exit code and errors."""

    def run_program(*arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["invarlearn", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code, " ".join(capsys.readouterr().err.split())

    return run_program


def test_errors_are_one_line_with_the_right_exit_code(tmp_path, table, program):
    model = tmp_path / "m.skops"
    cases = [
        (["train", tmp_path / "nowhere"], 1, "nowhere does not exist"),
        (["train", table, "--route", "magic"], 1, "--route magic is unknown"),
        (["train", table, "--may-change", "rotate:3"], 1, "unknown family 'rotate'"),
        (["train", table, "--may-change", "rotation:15"], 1, "pass --shape"),
        (["train", table, "--label", "z"], 1, "no column 'z'"),
        (["train", table, "--shape", "2xb"], 2, "is not a size"),
        (["train", table, "--shape", "2x2"], 1, "--shape 2x2 does not fit rows of 3 features"),
        (["train", table, "--model", table], 1, "is an input and would be replaced"),
        (["train", table, "--model", "/dev/null"], 1, "is not a regular file"),
        (["train", table, "--groups", "z"], 1, "no column 'z'"),
        (
            ["train", table, "--groups", "class"],
            1,
            "not clear which column is the class. Pass --label, one of",
        ),
        (["train"], 2, "Missing argument"),
        (["predict", table, "--model", tmp_path / "no.skops"], 1, "does not exist"),
        (["audit", table, "--model", table], 1, "is not a model"),
    ]
    for arguments, expected_code, expected in cases:
        code, message = program(*arguments)
        assert code == expected_code, (arguments, message)
        assert expected in message, arguments
        assert "Traceback" not in message
    assert not model.exists()
    run("train", table, "--model", model, "--route", "features")
    (tmp_path / "u.csv").write_text("a,b,c,class\n1,2,3,maybe\n")
    family = ["--may-change", "feature-scaling:0.9,1.1,1"]
    code, message = program("audit", tmp_path / "u.csv", "--model", model, *family)
    assert code == 1
    assert "classes that the model was not trained on: maybe" in message
    code, message = program("audit", table, "--model", model)
    assert code == 1
    assert "Name some with --may-change SPEC" in message
    code, message = program("predict", table, "--model", model, "--out", table)
    assert code == 1
    assert "would be replaced" in message
    code, message = program("predict", table, "--model", model, "--out", tmp_path)
    assert code == 1
    assert "is a folder. Name a file" in message


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on Unix")
def test_an_interruption_leaves_no_incomplete_file(tmp_path):
    sample = load_mnist_sample()
    np.savez(tmp_path / "a.npz", X=sample.X_train[:300], y=sample.y_train[:300])
    model = tmp_path / "m.skops"
    command = [sys.executable, "-m", "invarlearn", "train", str(tmp_path / "a.npz")]
    process = subprocess.Popen(
        [*command, "--model", str(model), "--shape", "28x28"],
        stderr=subprocess.PIPE,
        text=True,
        # a shell ignores SIGINT in commands that it runs in the background
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    for line in process.stderr:
        if "Comparing" in line:
            break
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "No incomplete file was left" in errors
    assert "Traceback" not in errors
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_invalid_values_are_reported_before_samples_are_read(tmp_path, program):
    X, y = np.eye(64)[:20], np.arange(20) % 2
    np.savez(tmp_path / "a.npz", X=X, y=y)
    arguments = ["train", tmp_path / "a.npz", "--shape", "8x8", "--model", tmp_path / "m.skops"]
    code, message = program(*arguments, "--may-change", "translation:-2")
    assert code == 1
    assert "--may-change translation:-2: radius=-2 must be" in message
    assert "Reading" not in message


@pytest.mark.parametrize("command", ["train", "audit"])
def test_help_lists_the_families(command):
    # lines may end after a hyphen
    text = "".join(run(command, "--help").output.split())
    names = re.search(r"Families:(.*?)\.`invarlearnfamilies`", text).group(1)
    assert set(FAMILIES) | {"nothing"} == set(re.findall(r"[a-z-]+(?=[,;(]|$)", names))


@pytest.mark.parametrize("command", ["train", "predict", "audit"])
def test_help_lists_every_kind_of_samples(command):
    text = " ".join(run(command, "--help").output.split())
    for source in FOLDERS.values():
        assert source.formats in text
    for suffix in FILES:
        assert suffix in text
    assert "{sample kinds}" not in text


def test_help_lists_every_route():
    text = " ".join(run("train", "--help").output.split())
    assert f"{', '.join(list(ROUTES)[:-1])} or {list(ROUTES)[-1]}; auto compares" in text


def test_an_interruption_anywhere_ends_with_a_message(tmp_path, program, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("invarlearn.app.readers.open_samples", interrupted)
    code, message = program("train", tmp_path, "--model", tmp_path / "new" / "m.skops")
    assert code == 130
    assert message == "Stopped. No incomplete file was left."
    # no folder either
    assert not (tmp_path / "new").exists()


def test_missing_folders_of_the_model_are_created(tmp_path, table):
    model = tmp_path / "new" / "deep" / "m.skops"
    run("train", table, "--model", model, "--route", "invariant")
    assert model.is_file()


def test_progress_is_reported_for_many_samples(tmp_path):
    rng = np.random.RandomState(0)
    X, y = rng.rand(250, 64), np.arange(250) % 2
    np.savez(tmp_path / "a.npz", X=X + y[:, None] * np.eye(64)[:1], y=y)
    model = tmp_path / "m.skops"
    options = ["--model", model, "--shape", "8x8", "--route", "invariant"]
    settings = RouteSettings(budget=Budget(max_rows=50, block_rows=100))
    result = run("train", tmp_path / "a.npz", *options, settings=settings)
    # two copies of 250 samples, in blocks of 100
    assert "train: 0 of 6 done" in result.output
    assert "train: 6 of 6 done" in result.output


def test_unusual_file_names_are_kept(tmp_path):
    """Brackets, dollars and bytes that are not UTF-8."""
    rng = np.random.RandomState(0)
    for label, bright in (("$5_to_$10", 60), ("[red]", 200)):
        folder = tmp_path / "data" / label
        folder.mkdir(parents=True)
        for i in range(5):
            pixels = np.tile(np.linspace(0, bright, 12) * (1 if bright > 100 else -1), (12, 1))
            pixels = (pixels + 100 + 20 * rng.rand(12, 12)).clip(0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / f"img[{i}].png")
    if os.name == "posix":
        folder = os.fsencode(tmp_path / "data" / "[red]")
        os.rename(os.path.join(folder, b"img[0].png"), os.path.join(folder, b"caf\xe9.png"))
    model, out, page = (tmp_path / name for name in ("m.skops", "p[x].csv", "a.html"))
    run("train", tmp_path / "data", "--model", model, "--route", "invariant")
    result = run("predict", tmp_path / "data", "--model", model, "--out", out)
    assert out.name in result.output
    names = [row["sample"] for row in rows_of(out)]
    assert any("img[1].png" in name for name in names)
    run("audit", tmp_path / "data", "--model", model, "--out", page, "--elements", 3)
    assert "$5_to_$10" in page.read_text()
