"""Figures show the values that they state."""

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.svm import SVC

from invarlearn.datasets import make_two_moons
from invarlearn.experiments import EXPERIMENTS
from invarlearn.experiments.pictures import boundaries, spectra
from invarlearn.experiments.report import page
from invarlearn.plotting import show_boundaries, show_pairs, show_spectra


def test_pairs_are_drawn_side_by_side_in_the_same_shades():
    rows, transformed = np.zeros((5, 6)), np.ones((5, 6))
    rows[:, 0] = 0.5
    titles = [(f"{i}", f"→ {i}") for i in range(5)]
    figure = show_pairs(rows, transformed=transformed, shape=(2, 3), titles=titles)
    drawn = [axis for axis in figure.axes if axis.images]
    assert [axis.get_title() for axis in drawn[:4]] == ["0", "→ 0", "1", "→ 1"]
    first, second = (axis.images[0].get_array() for axis in drawn[:2])
    np.testing.assert_allclose(first, rows[0].reshape(2, 3))
    np.testing.assert_allclose(second, 1.0)


def test_pairs_must_match():
    with pytest.raises(ValueError, match="same shape"):
        show_pairs(np.zeros((2, 4)), np.zeros((3, 4)), (2, 2))
    with pytest.raises(ValueError, match="no rows"):
        show_pairs(np.zeros((0, 4)), np.zeros((0, 4)), (2, 2))
    with pytest.raises(ValueError, match="1 pairs of titles for 2 rows"):
        show_pairs(np.zeros((2, 4)), np.zeros((2, 4)), (2, 2), [("a", "b")])


@pytest.mark.parametrize("gram", [np.zeros((2, 2)), np.triu(np.ones((2, 2))), np.ones((2, 3))])
def test_spectra_need_symmetric_matrices(gram):
    with pytest.raises(ValueError, match="mine"):
        show_spectra({"mine": gram})


def test_the_legend_of_spectra_states_the_negative_share():
    basis = np.linalg.qr(np.random.RandomState(0).randn(4, 4))[0]
    gram = basis @ np.diag([5.0, 3.0, 0.0, -2.0]) @ basis.T
    plot = show_spectra({"mine": gram}).axes[0]
    above, below = (line.get_ydata() for line in plot.lines)
    np.testing.assert_allclose(above, [1.0, 0.6])
    np.testing.assert_allclose(below, [0.4])
    assert plot.get_legend_handles_labels()[1] == ["mine: 20.0%"]


def test_boundaries_lie_where_scores_are_zero():
    X = np.array([[-1.0, 0.0], [1.0, 0.0], [-1.0, 1.0], [1.0, 1.0]])
    y = np.array([0, 1, 0, 1])
    svc = SVC(kernel="linear").fit(X, y)
    plot = show_boundaries({"SVC": svc}, X, y, labeled=[0]).axes[0]
    line = plot.collections[1].get_paths()[0].vertices
    np.testing.assert_allclose(line[:, 0], 0.0, atol=1e-6)
    assert plot.get_title() == "SVC: 0.0% wrong"


def test_boundaries_need_a_plane_and_two_classes():
    moons = make_two_moons(20, random_state=0)
    with pytest.raises(ValueError, match="plane"):
        show_boundaries({}, np.zeros((4, 3)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="two classes"):
        show_boundaries({}, moons.X, np.arange(len(moons.X)))
    with pytest.raises(ValueError, match="no models"):
        show_boundaries({}, moons.X, moons.y)


def test_the_picture_of_spectra_matches_its_caption():
    # the caption says that only the best fit has negative eigenvalues
    legend = spectra(n_rows=100).figure.axes[0].get_legend_handles_labels()[1]
    shares = {label.split(":")[0]: float(label.split(": ")[1][:-1]) for label in legend}
    assert shares["best fit over shifts"] > 1
    assert shares["pixel by pixel"] == shares["average fit over shifts"] == 0


def test_the_alt_text_of_boundaries_states_the_errors():
    picture = boundaries((0.0, 1.0))
    titles = [axis.get_title() for axis in picture.figure.axes if axis.get_title()]
    assert len(titles) == 2
    for title in titles:
        name, error = re.match(r"(nu = [\d.]+): .*?(\d+\.\d)", title).groups()
        assert f"{name}: error {error} %" in picture.alt


PICTURED = [experiment for experiment in EXPERIMENTS.values() if experiment.pictures is not None]


def test_every_paper_has_pictures():
    authors = {experiment.paper.split(" (")[0] for experiment in PICTURED}
    assert authors >= {f"{name} et al." for name in ("Mroueh", "Zhang", "Liu", "Teo")}


@pytest.mark.parametrize("experiment", PICTURED, ids=lambda experiment: experiment.id)
def test_pictures_need_no_data_but_the_package(experiment, monkeypatch, tmp_path):
    monkeypatch.setenv("INVARLEARN_DATA", str(tmp_path))
    monkeypatch.setenv("INVARLEARN_DATA_URL", "http://127.0.0.1:9/")
    monkeypatch.setattr("invarlearn.experiments.liu.spectra", partial(spectra, n_rows=60))
    for figure, alt, caption in experiment.pictures():
        assert figure.axes
        assert len(alt) > 20
        assert caption.endswith(".")


def test_pages_show_the_pictures():
    experiment = replace(EXPERIMENTS["002-figure1"], published={})
    rows = [
        {"losses": losses, "nu": nu, "draws": 1, "mean": 1.0, "sd": None, "paper": None}
        | {"difference": None}
        for losses in experiment.varies["losses"]
        for nu in experiment.varies["nu"]
    ]
    text = page(experiment, "full", rows, []).html()
    assert text.count("<img ") == len(experiment.pictures())
    assert "<h2>Pictures</h2>" in text
