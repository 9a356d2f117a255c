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

from invarlearn.cli import app, main
from invarlearn.cli._samples import WORDS as SHORT
from invarlearn.datasets import load_mnist_sample
from invarlearn.transforms.words import WORDS

runner = CliRunner()


def run(*arguments):
    result = runner.invoke(app, [str(one) for one in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def few_copies(monkeypatch):
    monkeypatch.setattr("invarlearn.estimators._copies.MOST_COPIES", 8)


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


def test_from_a_folder_of_images_to_an_audit(tmp_path, few_copies):
    sample = load_mnist_sample()
    train = digit_folder(tmp_path / "train", sample.X_train, sample.y_train, 6)
    test = digit_folder(tmp_path / "test", sample.X_test, sample.y_test, 4)
    model, out, page = (tmp_path / name for name in ("m.skops", "p.csv", "a.html"))
    words = "translation:2 rotation:15 shear:0.3"
    found = run("train", train, "--model", model, "--route", "invariant", "--may-change", words)
    assert "expect " in found.output
    assert f"may change: {words}\n" in found.output
    found = run("predict", test, "--model", model, "--out", out)
    assert "% agree with the classes" in found.output
    rows = rows_of(out)
    assert list(rows[0]) == ["sample", "label", "probability", "known"]
    assert len(rows) == 40
    assert all(row["sample"].startswith(row["known"]) for row in rows)
    wrong = Counter((row["known"], row["label"]) for row in rows if row["known"] != row["label"])
    told = json.loads(run("predict", test, "--model", model, "--out", out, "--json").stdout)
    assert {(one["known"], one["label"]): one["samples"] for one in told["mistakes"]} == wrong
    assert told["accuracy"] == pytest.approx(1 - wrong.total() / 40)
    assert ("most often taken: digit " in found.output) == bool(wrong)
    assert rows[0]["sample"].replace("\\", "/") == "digit 0/0.png"
    right = np.mean([row["label"] in row["sample"] for row in rows])
    assert right > 0.75
    assert all(0 < float(row["probability"]) <= 1 for row in rows)
    found = run("audit", test, "--model", model, "--out", page, "--elements", 5)
    assert "predictions that flip" in found.output
    text = page.read_text()
    assert "Audit of m.skops" in text
    assert "digit 3" in text
    # nothing else is left behind
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"train", "test", "m.skops", "p.csv", "a.html"}
    # a class that the model does not know
    (test / "digit 3").rename(test / "cat")
    found = run("predict", test, "--model", model, "--out", out)
    assert "no accuracy: there are classes that the model does not know: cat" in found.output
    assert list(rows_of(out)[0]) == ["sample", "label", "probability"]


def test_json_is_all_that_is_printed(tmp_path, few_copies):
    sample = load_mnist_sample()
    train = digit_folder(tmp_path / "train", sample.X_train, sample.y_train, 4)
    model = tmp_path / "m.skops"
    result = runner.invoke(
        app, ["train", str(train), "--model", str(model), "--route", "invariant", "--json"]
    )
    assert result.exit_code == 0, result.exception
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
    found = json.loads(runner.invoke(app, audit).stdout)
    assert found["table"][0]["name"] == "all together"
    assert found["may_change"] == "reflection:1"


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


def test_from_a_folder_of_sounds_to_an_audit(tmp_path, few_copies):
    train, test = sounds(tmp_path / "train", 0), sounds(tmp_path / "test", 1)
    model, out, page = (tmp_path / name for name in ("m.skops", "p.csv", "a.html"))
    found = run("train", train, "--model", model, "--route", "invariant")
    assert "may change: pitch-shift:400,n_steps=5 time-stretch:0.85,1.18 translation:1\n" in (
        found.output
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


def test_routes_are_compared_and_the_best_is_told(tmp_path, table):
    found = run("train", table, "--model", tmp_path / "m.skops")
    assert "taken" in found.output
    assert "there is nothing to" in found.output
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
def test_groups_are_left_out_together(tmp_path, few_copies, route):
    # patients have levels of their own, and each patient is of one class
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
    found = run("train", table, *options, "--groups", "patient", "--json")
    together = json.loads(found.stdout)
    assert alone["accuracy"] > 0.95
    assert alone["groups"] is None
    assert together["accuracy"] < 0.75
    assert together["groups"] == 12
    assert np.subtract(*together["interval"][::-1]) > 0.3
    if route == "invariant":
        return
    told = run("train", table, *options, "--groups", "patient").output
    assert "96 samples of 2 classes, in 12 groups" in " ".join(told.split())
    assert "all of a group together, of 12" in " ".join(told.split())
    run("predict", table, "--model", model, "--out", tmp_path / "p.csv")


def test_words_are_listed():
    found = run("words")
    assert "rotation:15  (image)" in found.output
    assert "degrees: The largest angle on either side; further: n_steps=3" in found.output


@pytest.fixture
def program(monkeypatch, capsys, tmp_path):
    """Run the command line as the program does; give its code, and what it says of errors."""

    def run_program(*arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["invarlearn", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code, " ".join(capsys.readouterr().err.split())

    return run_program


def test_mistakes_get_one_line_and_the_right_code(tmp_path, table, program):
    model = tmp_path / "m.skops"
    cases = [
        (["train", tmp_path / "nowhere"], 1, "nowhere does not exist"),
        (["train", table, "--route", "magic"], 1, "route 'magic' is unknown"),
        (["train", table, "--may-change", "rotate:3"], 1, "'rotate' is no word"),
        (["train", table, "--may-change", "rotation:15"], 1, "pass --shape"),
        (["train", table, "--label", "z"], 1, "no column 'z'"),
        (["train", table, "--shape", "2xb"], 2, "is not a size"),
        (["train", table, "--shape", "2x2"], 1, "rows of 3 numbers cannot have the shape 2x2"),
        (["train", table, "--model", table], 1, "is read, and would be replaced"),
        (["train", table, "--model", "/dev/null"], 1, "no ordinary file"),
        (["train", table, "--groups", "z"], 1, "no column 'z'"),
        (["train", table, "--groups", "class"], 1, "which column is the class?"),
        (["train"], 2, "Missing argument"),
        (["predict", table, "--model", tmp_path / "no.skops"], 1, "does not exist"),
        (["audit", table, "--model", table], 1, "no model"),
    ]
    for arguments, code, message in cases:
        ended, said = program(*arguments)
        assert ended == code, (arguments, said)
        assert message in said, arguments
        assert "Traceback" not in said
    assert not model.exists()
    run("train", table, "--model", model, "--route", "features")
    (tmp_path / "u.csv").write_text("a,b,c,class\n1,2,3,maybe\n")
    words = ["--may-change", "feature-scaling:0.9,1.1,1"]
    ended, said = program("audit", tmp_path / "u.csv", "--model", model, *words)
    assert ended == 1
    assert "classes that the model does not know: maybe" in said
    ended, said = program("audit", table, "--model", model)
    assert ended == 1
    assert "say --may-change WORDS" in said
    ended, said = program("predict", table, "--model", model, "--out", table)
    assert ended == 1
    assert "would be replaced" in said
    ended, said = program("predict", table, "--model", model, "--out", tmp_path)
    assert ended == 1
    assert "is a folder: name a file" in said


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on Unix")
def test_an_interruption_leaves_nothing_half_written(tmp_path):
    sample = load_mnist_sample()
    np.savez(tmp_path / "a.npz", X=sample.X_train[:300], y=sample.y_train[:300])
    model = tmp_path / "m.skops"
    command = [sys.executable, "-m", "invarlearn", "train", str(tmp_path / "a.npz")]
    process = subprocess.Popen(
        [*command, "--model", str(model), "--shape", "28x28"],
        stderr=subprocess.PIPE,
        text=True,
        # a shell that runs the tests in the background has it ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    for line in process.stderr:
        if "leaving out" in line:
            break
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "nothing was left half-written" in errors
    assert "Traceback" not in errors
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_values_that_make_no_sense_are_told_before_the_work(tmp_path, program):
    X, y = np.eye(64)[:20], np.arange(20) % 2
    np.savez(tmp_path / "a.npz", X=X, y=y)
    arguments = ["train", tmp_path / "a.npz", "--shape", "8x8", "--model", tmp_path / "m.skops"]
    ended, said = program(*arguments, "--may-change", "translation:-2")
    assert ended == 1
    assert "--may-change 'translation:-2': radius=-2 must be" in said
    assert "reading" not in said


@pytest.mark.parametrize("command", ["train", "audit"])
def test_help_lists_the_words(command):
    # lines may end after a hyphen
    found = "".join(run(command, "--help").output.split())
    assert "".join(SHORT.split()) in found
    assert set(WORDS) | {"nothing"} == set(re.findall(r"[a-z-]+(?=[,;]| \(|$)", SHORT))


def test_an_interruption_anywhere_ends_with_a_word(tmp_path, program, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("invarlearn.readers.open_samples", interrupted)
    ended, said = program("train", tmp_path, "--model", tmp_path / "new" / "m.skops")
    assert ended == 130
    assert said == "stopped; nothing was left half-written"
    # nor is a folder
    assert not (tmp_path / "new").exists()


def test_folders_are_made_with_the_model(tmp_path, table):
    model = tmp_path / "new" / "deep" / "m.skops"
    run("train", table, "--model", model, "--route", "invariant")
    assert model.is_file()


def test_progress_is_told_where_samples_are_many(tmp_path, few_copies, monkeypatch):
    monkeypatch.setattr("invarlearn.estimators._copies.MOST_ROWS", 50)
    monkeypatch.setattr("invarlearn.estimators._copies.BLOCK", 20)
    rng = np.random.RandomState(0)
    X, y = rng.rand(60, 64), np.arange(60) % 2
    np.savez(tmp_path / "a.npz", X=X + y[:, None] * np.eye(64)[:1], y=y)
    model = tmp_path / "m.skops"
    shaped = ["--shape", "8x8", "--route", "invariant"]
    found = run("train", tmp_path / "a.npz", "--model", model, *shaped)
    # two copies in blocks of 20
    assert "train: 0 of 6 done" in found.output
    assert "train: 6 of 6 done" in found.output


def test_names_of_any_kind_are_kept(tmp_path, few_copies):
    """Brackets, dollars and bytes that are no text."""
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
    found = run("predict", tmp_path / "data", "--model", model, "--out", out)
    assert out.name in found.output
    names = [row["sample"] for row in rows_of(out)]
    assert any("img[1].png" in name for name in names)
    run("audit", tmp_path / "data", "--model", model, "--out", page, "--elements", 3)
    assert "$5_to_$10" in page.read_text()
