"""``invarlearn demo``: the gain in accuracy by a declared family, with 100 labelled digits."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from invarlearn.app.cli._options import OutFolder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from invarlearn.app.routes import RouteSettings
    from invarlearn.report import Page

# Rows and columns of the grid of test digits in the figure.
PANEL_GRID = (3, 5)
# Index of the test digit that shows the family in the report, a 4.
SHOWN_DIGIT = 4


@dataclass(frozen=True)
class DemoResults:
    """Results of the methods of the demo.

    Attributes
    ----------
    n_labels, n_draws : int
        Number of labelled digits, and number of draws of them.
    accuracies, seconds : dict from str to list of float
        Accuracy in percent and time of each method, by draw. The first method has no invariance.
    predictions : dict from str to array of shape (n_test,)
        Predictions of each method in the last draw.
    """

    n_labels: int
    n_draws: int
    accuracies: dict[str, list[float]]
    seconds: dict[str, list[float]]
    predictions: dict[str, NDArray[Any]]

    @property
    def title(self) -> str:
        """Title of the table of results."""
        n_test = len(next(iter(self.predictions.values())))
        return (
            f"{self.n_labels} labelled digits, {n_test:,} test digits, mean ± sd of "
            f"{self.n_draws} draws"
        )

    def table(self) -> list[dict[str, str]]:
        """Return the table of results, with one row per method."""
        import numpy as np

        baseline = np.mean(next(iter(self.accuracies.values())))
        return [
            {
                "method": name,
                "accuracy_%": f"{np.mean(values):.1f} ± {np.std(values, ddof=1):.1f}",
                "gain": f"{np.mean(values) - baseline:+.1f}",
                "seconds": f"{np.mean(self.seconds[name]):.1f}",
            }
            for name, values in self.accuracies.items()
        ]


def demo_command(
    context: typer.Context,
    out: OutFolder = Path("invarlearn-demo"),
    labels: Annotated[int, typer.Option(min=10, help="Number of labelled digits.")] = 100,
    draws: Annotated[int, typer.Option(min=2, help="Number of draws of labelled digits.")] = 3,
) -> None:
    """Compare methods on a hundred labelled digits.

    The demo prints a table and writes a report. It uses the sample of MNIST in the package, and
    takes one to two minutes on two cores.
    """
    from invarlearn.app.cli._terminal import say, show_table
    from invarlearn.datasets import load_mnist_sample

    # the folder is created first, so that an error does not come after the work
    out.mkdir(parents=True, exist_ok=True)
    digits = load_mnist_sample()
    results = _compare(_methods(context.obj), digits, labels, draws)
    table = results.table()
    show_table(table, results.title, numbers=("accuracy_%", "gain", "seconds"))
    figure = out / "demo.png"
    _draw(results, digits, figure)
    report = _page(results, table, figure, digits.X_test[SHOWN_DIGIT]).write(out / "demo.html")
    say(f"Figure: {figure}; report: {report}")


def _compare(methods: dict[str, Any], digits: Any, n_labels: int, n_draws: int) -> DemoResults:
    """Fit each method to the same draws of labelled digits."""
    import numpy as np

    from invarlearn._utils.progress import ProgressClock
    from invarlearn.app.cli._terminal import progress_bar

    accuracies: dict[str, list[float]] = {name: [] for name in methods}
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    predictions: dict[str, NDArray[Any]] = {}
    with progress_bar("demo") as progress:
        clock = ProgressClock(n_draws * len(methods), 0, progress)
        for seed in range(n_draws):
            rng = np.random.RandomState(seed)
            rows = rng.choice(len(digits.y_train), n_labels, replace=False)
            for name, make in methods.items():
                start = time.perf_counter()
                model = make().fit(digits.X_train[rows], digits.y_train[rows])
                predictions[name] = model.predict(digits.X_test)
                seconds[name].append(time.perf_counter() - start)
                correct = predictions[name] == digits.y_test
                accuracies[name].append(100 * float(correct.mean()))
                clock.tick()
    return DemoResults(n_labels, n_draws, accuracies, seconds, predictions)


def _page(
    results: DemoResults, table: list[dict[str, str]], figure: Path, digit: NDArray[Any]
) -> Page:
    """Return the report: the accuracies, and a digit under transformations of the family."""
    from invarlearn.experiments.virtual_samples import FAMILY
    from invarlearn.plotting import show_family
    from invarlearn.report import Page
    from invarlearn.transforms import format_family

    plain, best = table[0], table[-1]
    page = Page(
        f"Gain in accuracy by a declared family, with {results.n_labels} labelled digits",
        f"{plain['method']} classifies {plain['accuracy_%']} % of the test digits correctly, "
        f"{best['method']} {best['accuracy_%']} %: a gain of {best['gain']} points. "
        f"{best['method']} takes {best['seconds']} seconds to fit and predict.",
    )
    page.table([_with_keys(row) for row in table], caption=results.title)
    page.figure(
        figure,
        alt="The accuracy of each method, as in the table; digits that "
        f"{plain['method']} misclassifies and every other method classifies correctly",
    )
    page.heading("The declared family")
    page.paragraph(
        f"Images of one digit, transformed by elements of the family {format_family(FAMILY)}. The "
        "family declares that they all show the same digit."
    )
    page.figure(
        show_family(FAMILY, digit, n_shown=16, n_columns=8),
        alt="Translated, rotated and sheared images of one digit, and its tangents: the derivative "
        "of each pixel at the start of each transformation",
    )
    return page.made_by("invarlearn demo", seeds=f"0 to {results.n_draws - 1}")


def _with_keys(row: dict[str, str]) -> dict[str, Any]:
    """Return a row whose texts are paired with numbers to sort by."""
    return {
        name: text if name == "method" else (text, float(text.split()[0]))
        for name, text in row.items()
    }


def _methods(settings: RouteSettings | None) -> dict[str, Any]:
    """Return functions that make the estimators, by method; the first has no invariance."""
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

    # height, width and channels of the gradients of a digit
    maps = (16, 16, 8)
    family = Translation(2, shape=maps) * Rotation(15, n_steps=3, shape=maps)
    features = InvariantFeatures(family, 200, 12, envelope=2.5, random_state=0)
    budget = None if settings is None else settings.budget
    return {
        "SVC": lambda: SVC(C=10),
        "VirtualSVC": lambda: VirtualSVC(FAMILY),
        "OrbitSVC": lambda: OrbitSVC(FAMILY),
        "OrbitSVC, gradients": lambda: OrbitSVC(FAMILY, features=OrientedGradients()),
        "InvariantFeatures, gradients": lambda: make_pipeline(
            OrientedGradients(), clone(features), RLSClassifier()
        ),
        "TangentDistanceClassifier": lambda: TangentDistanceClassifier(n_jobs=-1),
        "InvariantClassifier": lambda: InvariantClassifier(budget=budget),
    }


def _draw(results: DemoResults, digits: Any, path: Path) -> None:
    """Draw the accuracies, and digits that only the method without invariance misclassifies."""
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from invarlearn._utils.files import atomic_write

    plain, *others = results.predictions
    correct = [results.predictions[name] == digits.y_test for name in others]
    is_wrong = results.predictions[plain] != digits.y_test
    gained = np.flatnonzero(np.all(correct, axis=0) & is_wrong)[: PANEL_GRID[0] * PANEL_GRID[1]]
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subfigures(1, 2).ravel()  # type: ignore[union-attr]
    bars = left.subplots()
    means = [float(np.mean(values)) for values in results.accuracies.values()]
    deviations = [float(np.std(values, ddof=1)) for values in results.accuracies.values()]
    colours = ["0.6", *(f"C{number}" for number in range(len(others)))]
    bars.barh(range(len(means)), means, xerr=deviations, capsize=4, color=colours)
    bars.set_yticks(range(len(means)), list(results.accuracies))
    bars.invert_yaxis()
    bars.set_xlim(50, 100)
    bars.set_xlabel(f"accuracy (%) with {results.n_labels} labels")
    bars.spines[["top", "right"]].set_visible(False)
    right.suptitle(f"Misclassified by {plain}, correct with every other method", fontsize=10)
    for axis, i in zip(right.subplots(*PANEL_GRID).flat, gained, strict=False):
        axis.imshow(digits.X_test[i].reshape(28, 28), cmap="gray_r")
        axis.set_title(f"{results.predictions[plain][i]} → {digits.y_test[i]}", fontsize=9)
    for axis in right.axes:
        axis.axis("off")
    with atomic_write(path) as file:
        figure.savefig(file, format="png", dpi=150)
