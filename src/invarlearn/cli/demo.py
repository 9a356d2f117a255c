"""``invarlearn demo``: what naming an invariance gives with 100 labelled digits."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from invarlearn.report import Page

N_LABELS = 100
N_DRAWS = 3


def demo_command(
    out: Annotated[Path, typer.Option(help="Folder for the figure and the report.")] = Path(
        "invarlearn-demo"
    ),
) -> None:
    """Learn digits from 100 labels, with and without invariance: a table and a report.

    Uses the digits inside the package; takes a minute or two on two cores.
    """
    import numpy as np

    from invarlearn._progress import Clock
    from invarlearn.cli._show import console, progress_of, show_table
    from invarlearn.datasets import load_mnist_sample

    out.mkdir(parents=True, exist_ok=True)  # before the work, so that it is not in vain
    digits = load_mnist_sample()
    methods = _methods()
    scores: dict[str, list[float]] = {name: [] for name in methods}
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    guesses: dict[str, NDArray[Any]] = {}
    with progress_of("demo") as progress:
        clock = Clock(N_DRAWS * len(methods), 0, progress)
        for seed in range(N_DRAWS):
            rows = np.random.RandomState(seed).choice(2000, N_LABELS, replace=False)
            for name, make in methods.items():
                begun = time.perf_counter()
                model = make().fit(digits.X_train[rows], digits.y_train[rows])
                guesses[name] = model.predict(digits.X_test)
                seconds[name].append(time.perf_counter() - begun)
                scores[name].append(100 * float((guesses[name] == digits.y_test).mean()))
                clock.tick()
    baseline = np.mean(next(iter(scores.values())))
    table = [
        {
            "method": name,
            "accuracy_%": f"{np.mean(values):.1f} ± {np.std(values, ddof=1):.1f}",
            "gain": f"{np.mean(values) - baseline:+.1f}",
            "seconds": f"{np.mean(seconds[name]):.1f}",
        }
        for name, values in scores.items()
    ]
    title = f"{N_LABELS} labelled digits, 2,000 test digits, mean ± sd of {N_DRAWS} draws"
    show_table(table, title, numbers=("accuracy_%", "gain", "seconds"))
    path = out / "demo.png"
    _draw(scores, guesses, digits, path)
    report = _page(table, title, path, digits.X_test[4]).write(out / "demo.html")
    console.print(f"figure: {path}; report: {report}", soft_wrap=True)


def _page(table: list[dict[str, str]], title: str, figure: Path, digit: NDArray[Any]) -> Page:
    """Give the report: what invariance gains, and what it looks like."""
    from invarlearn.experiments.virtual_samples import FAMILY
    from invarlearn.plotting import show_family
    from invarlearn.report import Page
    from invarlearn.transforms import words_of_family

    plain, best = table[0], table[-1]
    page = Page(
        f"What knowing what should not matter gives with {N_LABELS} labelled digits",
        f"{plain['method']} reads {plain['accuracy_%']} % of the test digits rightly, "
        f"{best['method']} {best['accuracy_%']} %: {best['gain']} points, in {best['seconds']} "
        "seconds to learn and read.",
    )
    page.table(
        [
            {
                name: text if name == "method" else (text, _number(text))
                for name, text in row.items()
            }
            for row in table
        ],
        caption=title,
    )
    page.figure(
        figure,
        alt="Accuracy of each method, as in the table, and digits that the plain method reads "
        "wrongly and all others rightly",
    )
    page.heading("What should not matter")
    page.paragraph(
        f"The family {words_of_family(FAMILY)}, at one digit: some of the images it is taken to be."
    )
    page.figure(
        show_family(FAMILY, digit, n_shown=16, n_columns=8),
        alt="Shifted, turned and slanted images of one digit, and its tangents: where ink comes "
        "and goes when it starts to move",
    )
    return page.made_by("invarlearn demo", seeds=f"0 to {N_DRAWS - 1}")


def _number(text: str) -> float:
    return float(text.split()[0])


def _methods() -> dict[str, Any]:
    """Give the methods to compare; the plain one first."""
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC

    from invarlearn import (
        InvariantClassifier,
        InvariantFeatures,
        OrbitSVC,
        RLSClassifier,
        TangentDistanceClassifier,
        VirtualSVC,
    )
    from invarlearn.experiments.virtual_samples import FAMILY
    from invarlearn.features import OrientedGradients
    from invarlearn.transforms import Rotation, Translation

    maps = (16, 16, 8)  # of the gradients
    family = Translation(2, shape=maps) * Rotation(15, n_steps=3, shape=maps)
    features = InvariantFeatures(family, 200, 12, envelope=2.5, random_state=0)
    return {
        "SVC": lambda: SVC(C=10),
        "VirtualSVC": lambda: VirtualSVC(FAMILY),
        "OrbitSVC": lambda: OrbitSVC(FAMILY),
        "OrbitSVC, gradients": lambda: OrbitSVC(FAMILY, features=OrientedGradients()),
        "InvariantFeatures, gradients": lambda: make_pipeline(
            OrientedGradients(), clone(features), RLSClassifier()
        ),
        "TangentDistanceClassifier": lambda: TangentDistanceClassifier(n_jobs=-1),
        "InvariantClassifier": InvariantClassifier,
    }


def _draw(
    scores: dict[str, list[float]], guesses: dict[str, NDArray[Any]], digits: Any, path: Path
) -> None:
    """Draw the accuracies, and digits that only the invariant methods read rightly."""
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from invarlearn._files import whole_file

    plain, *others = guesses
    right = [guesses[name] == digits.y_test for name in others]
    won = np.flatnonzero(np.all(right, axis=0) & (guesses[plain] != digits.y_test))[:15]
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, right_half = figure.subfigures(1, 2).ravel()  # type: ignore[union-attr]
    bars = left.subplots()
    means = [float(np.mean(values)) for values in scores.values()]
    spread = [float(np.std(values, ddof=1)) for values in scores.values()]
    colours = ["0.6", *(f"C{number}" for number in range(len(scores) - 1))]
    bars.barh(range(len(scores)), means, xerr=spread, capsize=4, color=colours)
    bars.set_yticks(range(len(scores)), list(scores))
    bars.invert_yaxis()
    bars.set_xlim(50, 100)
    bars.set_xlabel(f"accuracy (%) from {N_LABELS} labels")
    bars.spines[["top", "right"]].set_visible(False)
    right_half.suptitle(f"Read by {plain} → by all others, rightly", fontsize=10)
    for axis, i in zip(right_half.subplots(3, 5).flat, won, strict=False):
        axis.imshow(digits.X_test[i].reshape(28, 28), cmap="gray_r")
        axis.set_title(f"{guesses[plain][i]} → {digits.y_test[i]}", fontsize=9)
    for axis in right_half.axes:
        axis.axis("off")
    with whole_file(path) as file:
        figure.savefig(file, format="png", dpi=150)
