"""Code blocks, tutorials, links and commands in README and docs work."""

import re
import runpy
from pathlib import Path

import pytest

from invarlearn.experiments import EXPERIMENTS

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted((ROOT / "examples").glob("plot_*.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(), flags=re.DOTALL)


@pytest.fixture
def temporary_folder(tmp_path, monkeypatch):
    """Run in a temporary folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("temporary_folder")
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_code_blocks_run(path, monkeypatch, few_test_digits):
    monkeypatch.setattr("invarlearn.datasets.load_mnist_sample", lambda: few_test_digits)
    for code in blocks(path):
        exec(compile(code, str(path), "exec"), {"__name__": "block"})


def numbers(text, start):
    """Return the numbers in the line that begins with ``start``."""
    line = next(line for line in text.splitlines() if line.startswith(start))
    return [float(n) for n in re.findall(r"-?[0-9]+\.[0-9]+", line.removeprefix(start))]


# For each tutorial: prefixes of two printed lines, and the position of the numbers to compare. The
# number in the first line must be larger.
CLAIMS = {
    "plot_1_begin": [("InvariantClassifier: ", "SVC: ", 0)],
    "plot_2_features": [("2,000 rows: ", "features: ", 0)],
    "plot_3_functionals": [("InvSVC: ", "SVC: ", 0)],
    "plot_4_similarity": [("OrbitSVC, gradients: ", "OrbitSVC: ", 0), ("OrbitSVC: ", "SVC: ", 0)],
    "plot_5_worst_case": [("worst case: AUC", "plain: AUC", 1)],
    "plot_6_audit": [("Accuracy: ", "Samples classified correctly under all transformations: ", 0)],
}


@pytest.mark.usefixtures("temporary_folder")
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_tutorials_run_and_print_what_they_claim(path, capsys):
    runpy.run_path(str(path))
    out = capsys.readouterr().out
    for above, below, place in CLAIMS[path.stem]:
        assert numbers(out, above)[place] > numbers(out, below)[place]
    if path.stem == "plot_1_begin":
        assert "The declared family lowers held-out accuracy" in out


def test_each_route_has_a_tutorial():
    titles = " ".join(path.read_text().split("\n", 3)[1] for path in TUTORIALS)
    for route in ("features", "functionals", "Similarity", "worst case"):
        assert route in titles


def test_the_readme_has_one_table():
    lines = (ROOT / "README.md").read_text().splitlines()
    assert sum(line.startswith("| ---") for line in lines) == 1
    assert len(lines) < 130


def test_pages_have_code_blocks():
    assert sum(len(blocks(path)) for path in PAGES) >= 4


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_inside_the_repository_exist(path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_errata_name_existing_tests():
    names = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "errata.md").read_text()))
    sources = [path.read_text() for path in (ROOT / "tests").rglob("test_*.py")]
    assert len(names) > 10
    missing = {name for name in names if not any(f"def {name}(" in text for text in sources)}
    assert not missing


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_experiments_named_on_pages_exist(path):
    prefixes = ("000-", "001-", "002-", "003-", "004-", "few-labels")
    for name in re.findall(r"`(?:invarlearn reproduce )?([\w-]+)(?: --full)?`", path.read_text()):
        if name.startswith(prefixes):
            assert any(experiment.startswith(name) for experiment in EXPERIMENTS), name
