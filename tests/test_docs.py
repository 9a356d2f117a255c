"""The code that README and docs show really runs."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted((ROOT / "examples").glob("plot_*.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(), flags=re.DOTALL)


@pytest.fixture
def quickly(tmp_path, monkeypatch, few_copies):
    """Work in a folder of its own, with fewer copies of samples than users get."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_code_blocks_run(path, monkeypatch, few_test_digits):
    monkeypatch.setattr("invarlearn.datasets.load_mnist_sample", lambda: few_test_digits)
    for code in blocks(path):
        exec(compile(code, str(path), "exec"), {"__name__": "block"})


def numbers(text, start):
    """Give the numbers of the line that starts so."""
    line = next(line for line in text.splitlines() if line.startswith(start))
    return [float(n) for n in re.findall(r"-?[0-9]+\.[0-9]+", line.removeprefix(start))]


# What each tutorial says, in what it prints: this line's number is above that one's.
CLAIMS = {
    "plot_1_begin": [("InvariantClassifier: ", "SVC: ", 0)],
    "plot_2_features": [("2,000 rows: ", "features: ", 0)],
    "plot_3_functionals": [("InvSVC: ", "SVC: ", 0)],
    "plot_4_similarity": [("OrbitSVC, gradients: ", "OrbitSVC: ", 0), ("OrbitSVC: ", "SVC: ", 0)],
    "plot_5_worst_case": [("worst case: AUC", "plain: AUC", 1)],
    "plot_6_audit": [("accuracy: ", "samples that are always right: ", 0)],
}


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_tutorials_run_and_show_what_they_say(path, capsys):
    runpy.run_path(str(path))
    out = capsys.readouterr().out
    for above, below, place in CLAIMS[path.stem]:
        assert numbers(out, above)[place] > numbers(out, below)[place]
    if path.stem == "plot_1_begin":
        assert "the family seems to hurt" in out


def test_each_route_has_a_tutorial():
    titles = " ".join(path.read_text().split("\n", 3)[1] for path in TUTORIALS)
    for route in ("features", "functionals", "Similarity", "worst case"):
        assert route in titles


def test_there_are_blocks_to_run():
    assert sum(len(blocks(path)) for path in PAGES) >= 4


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_inside_the_repository_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path.name} links to {target}"
