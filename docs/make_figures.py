"""Draw the figures of README and documentation: python docs/make_figures.py."""

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from invarlearn import InvSVC
from invarlearn.datasets import load_mnist_sample, make_two_moons
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


def draw_moons(nus=(0.0, 0.01, 0.1, 1.0)):
    """Draw the boundaries of paper 002's Figure 1: sigma = 0.25, lambda = 1."""
    moons = make_two_moons(200, 2, noise=0.05, random_state=0)
    figure = Figure(figsize=(3 * len(nus), 2.6), layout="constrained")
    FigureCanvasAgg(figure)
    x, y = np.meshgrid(np.linspace(-1.4, 2.4, 150), np.linspace(-0.9, 1.4, 100))
    for nu, plot in zip(nus, figure.subplots(1, len(nus)), strict=True):
        svc = InvSVC(gamma=8.0, nu=nu).fit(moons.X, moons.y_partial)
        values = svc.decision_function(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
        most = np.abs(values).max()
        plot.contourf(x, y, values, 20, cmap="RdBu_r", vmin=-most, vmax=most, alpha=0.6)
        plot.contour(x, y, values, [0.0], colors="black", linewidths=1.5)
        plot.scatter(*moons.X.T, s=5, c="0.3")
        for row, mark in zip(moons.labeled, "os", strict=True):
            plot.scatter(*moons.X[row], s=70, marker=mark, c="gold", edgecolors="black", zorder=3)
        wrong = (svc.predict(moons.X) != moons.y).mean()
        plot.set_title(f"nu = {nu:g}: {wrong:.1%} wrong", fontsize=11)
        plot.set_xticks([])
        plot.set_yticks([])
    figure.savefig(FOLDER / "moons.png", dpi=110)


if __name__ == "__main__":
    main()
