"""The command line, in process and as a program."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from invarlearn import Budget, __version__
from invarlearn.app.cli import app
from invarlearn.app.cli.reproduce import select_experiments
from invarlearn.app.routes import RouteSettings
from invarlearn.experiments import EXPERIMENTS

runner = CliRunner()


def program(*arguments, **options):
    command = [sys.executable, "-m", "invarlearn", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


def test_version_and_help():
    assert runner.invoke(app, ["--version"]).output.strip() == f"invarlearn {__version__}"
    for command in ([], ["demo"], ["reproduce"], ["data"]):
        result = runner.invoke(app, [*command, "--help"])
        assert result.exit_code == 0
        assert "Usage" in result.output


def test_the_demo_writes_a_table_and_a_figure(tmp_path, monkeypatch, few_test_digits):
    monkeypatch.setattr("invarlearn.datasets.load_mnist_sample", lambda: few_test_digits)
    arguments = ["demo", "--labels", "40", "--draws", "2", "--out", str(tmp_path / "demo")]
    settings = RouteSettings(budget=Budget(max_copies=5))
    result = runner.invoke(app, arguments, obj=settings)
    assert result.exit_code == 0, result.output
    assert "VirtualSVC" in result.output
    assert "±" in result.output
    assert (tmp_path / "demo" / "demo.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "demo" / "demo.html").read_text()
    assert "TangentDistanceClassifier" in page
    assert page.count("<img ") == 2


def test_reproduce_lists_the_experiments():
    result = runner.invoke(app, ["reproduce", "--list"])
    assert result.exit_code == 0
    # names are not truncated in a narrow terminal
    assert all(name in result.output for name in EXPERIMENTS)


def test_a_prefix_selects_all_experiments_that_start_with_it():
    experiments = {"a-b": 1, "a-c": 2, "ab": 3, "d": 4, "d-e": 5}
    assert select_experiments("a", experiments) == [1, 2]
    assert select_experiments("d", experiments) == [4]
    with pytest.raises(ValueError, match="choose one of a-b"):
        select_experiments("x", experiments)


def test_reproduce_runs_and_compares(tmp_path, monkeypatch):
    import importlib.util
    from pathlib import Path

    path = Path(__file__).parents[2] / "experiments" / "toy.py"
    spec = importlib.util.spec_from_file_location("toy", path)
    toy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(toy)
    monkeypatch.setitem(EXPERIMENTS, "toy", toy.TOY)
    arguments = ["reproduce", "toy", "--out", str(tmp_path), "--n-jobs", "1"]
    result = runner.invoke(app, [*arguments, "--so-far"])
    assert result.exit_code == 0, result.output
    assert "has no results of this size" in result.output
    assert not list(tmp_path.iterdir())
    result = runner.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "difference" in result.output
    assert "9.00" in result.output
    for kind in ("csv", "md", "png", "html"):
        assert (tmp_path / "toy" / f"quick.{kind}").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["reproduce"], 2, "name an experiment"),
        (["reproduce", "003-table2", "--quick", "--full"], 2, "choose one of"),
        (["reproduce", "nothing"], 1, "choose one of 000-figure1, 001-figure4-elements"),
        (["data", "cats.npz"], 1, "choose one of"),
        (["fly"], 2, "No such command"),
    ],
)
def test_errors_are_one_line_and_exit_codes_are_right(arguments, code, message):
    result = program(*arguments)
    assert result.returncode == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", [["demo"], ["reproduce", "virtual-samples"]])
def test_an_output_folder_that_cannot_be_created_is_an_early_error(command, tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = program(*command, "--out", str(tmp_path / "file" / "out"))
    assert result.returncode == 1
    assert "file" in result.stderr
    assert "Traceback" not in result.stderr
    debugged = program(
        *command, "--out", str(tmp_path / "file" / "out"), env={"INVARLEARN_DEBUG": "1"}
    )
    assert "Traceback" in debugged.stderr


def test_data_reports_damaged_files(tmp_path):
    (tmp_path / "mnist.npz").write_bytes(b"half")
    environment = {"INVARLEARN_DATA": str(tmp_path), "INVARLEARN_CACHE": str(tmp_path / "cache")}
    result = program("data", env=environment)
    assert result.returncode == 1
    assert "Delete a damaged file" in result.stdout
    assert "missing" in result.stdout
    result = program("data", "mnist.npz", env=environment)
    assert result.returncode == 1
    assert "damaged or cut short" in result.stderr
    assert "Traceback" not in result.stderr


def test_data_lists_files_and_returns_them(tmp_path, monkeypatch):
    monkeypatch.setenv("INVARLEARN_DATA", str(tmp_path))
    monkeypatch.setenv("INVARLEARN_CACHE", str(tmp_path / "cache"))
    result = runner.invoke(app, ["data"])
    assert result.exit_code == 0
    assert "set the environment variable INVARLEARN_DATA" in " ".join(result.output.split())
    assert "Delete a damaged file" not in result.output
    (tmp_path / "mnist.npz").write_bytes(b"half")
    result = runner.invoke(app, ["data"])
    assert result.exit_code == 1
    assert "Delete a damaged file" in result.output


def test_data_names_the_place_of_a_file(real_data, monkeypatch):
    monkeypatch.setenv("INVARLEARN_DATA", str(real_data))
    result = runner.invoke(app, ["data", "uci_heart.csv"])
    assert result.exit_code == 0
    assert result.output.strip() == f"uci_heart.csv: whole, {real_data / 'uci_heart.csv'}"
