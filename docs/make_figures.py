"""Draw the figures of the README and the documentation: ``python docs/make_figures.py``."""

from pathlib import Path

from invarlearn.datasets import load_mnist_sample
from invarlearn.experiments import EXPERIMENTS, kept_results, summarise
from invarlearn.experiments.figures import plot_cost, plot_metric
from invarlearn.experiments.pictures import boundaries
from invarlearn.plotting import show_family
from invarlearn.transforms import Rotation, Scaling, Shear, Thickness, Translation

FOLDER = Path(__file__).parent / "images"


def main():
    FOLDER.mkdir(exist_ok=True)
    digits = load_mnist_sample()
    x = digits.X_train[(digits.y_train == 4).argmax()]
    family = Translation(2) * Rotation(15) * Scaling(1.15) * Shear(0.3) * Thickness(1.0)
    show_family(family, x, n_shown=20, n_columns=10).savefig(FOLDER / "orbit.png", dpi=110)
    draw_moons()
    draw_few_labels()


def draw_moons(nus=(0.0, 0.01, 0.1, 1.0)):
    """Draw the decision boundaries of two moons, as in Zhang et al. (2013), Figure 1."""
    boundaries(nus).figure.savefig(FOLDER / "moons.png", dpi=110)


def draw_few_labels(name="few-labels-mnist"):
    """Draw the accuracy against the number of labels, and against the seconds of a fit."""
    experiment = EXPERIMENTS[name]
    rows = summarise(
        experiment, "full", kept_results(experiment, "full", FOLDER.parent / "results")
    )
    plot_metric(experiment, "full", rows, FOLDER / f"{name}.png")
    plot_cost(experiment, "full", rows, FOLDER / f"{name}-cost.png")


if __name__ == "__main__":
    main()
