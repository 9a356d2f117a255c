"""Draw the figures of the README and the documentation: ``python docs/make_figures.py``."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from invarlearn.datasets import load_mnist_sample
from invarlearn.experiments import EXPERIMENTS, kept_results, summarise
from invarlearn.experiments.figures import plot_cost, plot_metric
from invarlearn.experiments.pictures import boundaries
from invarlearn.plotting import show_family
from invarlearn.transforms import (
    Blur,
    Brightness,
    ColourJitter,
    Contrast,
    Gamma,
    Noise,
    Occlusion,
    Perspective,
    Rotation,
    Scaling,
    Shear,
    Thickness,
    Translation,
)

FOLDER = Path(__file__).parent / "images"


def main():
    FOLDER.mkdir(exist_ok=True)
    digits = load_mnist_sample()
    x = digits.X_train[(digits.y_train == 4).argmax()]
    family = Translation(2) * Rotation(15) * Scaling(1.15) * Shear(0.3) * Thickness(1.0)
    show_family(family, x, n_shown=20, n_columns=10).savefig(FOLDER / "orbit.png", dpi=110)
    draw_colour_families()
    draw_moons()
    draw_few_labels()


def scene(side=48):
    """Return an image of a house, a tree and the sun, of shape (side, side, 3)."""
    down, right = np.mgrid[0 : 1 : 1j * side, 0 : 1 : 1j * side]
    image = np.stack([0.55 + 0.2 * down, 0.75 + 0.1 * down, np.full_like(down, 0.95)], axis=2)
    parts = {
        (0.95, 0.85, 0.3): (down - 0.18) ** 2 + (right - 0.8) ** 2 < 0.01,
        (0.35, 0.6, 0.25): down > 0.72,
        (0.75, 0.65, 0.55): (down > 0.45) & (down < 0.82) & (right > 0.15) & (right < 0.5),
        (0.65, 0.25, 0.2): (down > 0.25) & (down < 0.45) & (abs(right - 0.325) < down - 0.22),
        (0.3, 0.35, 0.5): (down > 0.52) & (down < 0.64) & (right > 0.22) & (right < 0.32),
        (0.4, 0.28, 0.18): (down > 0.55) & (down < 0.8) & (abs(right - 0.75) < 0.03),
        (0.15, 0.45, 0.2): (down - 0.48) ** 2 + (right - 0.75) ** 2 < 0.02,
    }
    for colour, part in parts.items():
        image[part] = colour
    return image


def draw_colour_families(n_columns=8):
    """Draw random elements of the families that change intensities and colours, and others."""
    image = scene()
    families = [
        Brightness(0.2),
        Contrast(1.8),
        Gamma(2.0),
        ColourJitter(0.2, 1.5, 2.0, 40),
        Blur(2.0, fill="edge"),
        Noise(0.2),
        Occlusion(0.5),
        Perspective(0.4, fill="edge"),
    ]
    figure, axes = plt.subplots(
        len(families), n_columns, figsize=(n_columns, len(families)), layout="constrained"
    )
    for family, line in zip(families, axes, strict=True):
        shaped = family.with_shape(image.shape)
        drawn = shaped.sample(n_columns - 1, random_state=1)(image.reshape(1, -1))[0]
        for axis, shown in zip(line, [image.ravel(), *drawn], strict=True):
            axis.imshow(np.clip(shown.reshape(image.shape), 0, 1))
            axis.set(xticks=[], yticks=[])
        line[0].set_ylabel(type(family).__name__, rotation=0, ha="right", va="center")
    figure.savefig(FOLDER / "families.png", dpi=80)


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
