"""What the pages of experiments show besides numbers; all from data inside the package."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from invarlearn import InvariantFeatures, InvSVC, WorstCaseSVC
from invarlearn.audit import worst_case_accuracy
from invarlearn.datasets import load_mnist_sample, make_two_moons
from invarlearn.experiments.base import Picture
from invarlearn.kernels import Linear, OrbitKernel
from invarlearn.plotting import show_boundaries, show_family, show_pairs, show_spectra
from invarlearn.transforms import Family, Translation


def orbit(family: Family, words: str) -> Picture:
    """Show what a family makes of one digit, and say in words what it is."""
    digits = load_mnist_sample()
    x = digits.X_train[(digits.y_train == 4).argmax()]
    return Picture(
        show_family(family.with_shape((28, 28)), x, n_shown=16, n_columns=8),
        "A handwritten 4 under some of the transformations, and its tangents: where ink comes and "
        "goes when it starts to move",
        f"Some of what should not matter, for one digit: {words}.",
    )


def boundaries(nus: Sequence[float] = (0.0, 0.01, 0.1, 1.0)) -> Picture:
    """Show the boundaries of paper 002's Figure 1: sigma = 0.25, lambda = 1."""
    moons = make_two_moons(200, 2, noise=0.05, random_state=0)
    models = {f"nu = {nu:g}": InvSVC(gamma=8.0, nu=nu).fit(moons.X, moons.y_partial) for nu in nus}
    wrong = [f"{100 * (one.predict(moons.X) != moons.y).mean():.1f} %" for one in models.values()]
    told = ", ".join(f"{name}: {share} wrong" for name, share in zip(models, wrong, strict=True))
    return Picture(
        show_boundaries(models, moons.X, moons.y, moons.labeled),
        f"Boundaries between two moons with a label in each, by the weight of derivatives; {told}",
        "Two moons with a label in each. The more derivatives at all points count (nu), the more "
        "the boundary keeps to where there are no points.",
    )


def spectra(radius: int | None = 2, n_rows: int = 200) -> Picture:
    """Show that best fits are indefinite and average fits are not (paper 003): cosines."""
    X = load_mnist_sample().X_train[:n_rows].astype(float)
    family = Translation(radius, wrap=True)
    how_far = "any number of" if radius is None else f"up to {radius}"
    kernels = {
        "pixel by pixel": OrbitKernel(Linear(), None, normalize=True),
        "average fit over shifts": OrbitKernel(Linear(), family, "mean", normalize=True),
        "best fit over shifts": OrbitKernel(Linear(), family, "max", normalize=True),
    }
    return Picture(
        show_spectra({name: kernel(X) for name, kernel in kernels.items()}),
        "Eigenvalues of three Gram matrices by size. Only the best fit has negative ones",
        f"Eigenvalues of Gram matrices of {n_rows} digits, cosines over circular shifts "
        f"by {how_far} pixels. Crosses are "
        "negative: best fits are similarities, but no inner products.",
    )


def worst_cases(family: Family, n_rows: int = 100) -> Picture:
    """Show the transformation that hurts most, for some digits (paper 004)."""
    digits = load_mnist_sample()
    X, y = digits.X_train.astype(float), digits.y_train
    svc = WorstCaseSVC(gamma=0.03, C=10.0, random_state=0).fit(X[:n_rows], y[:n_rows])
    X, y = digits.X_test[:n_rows].astype(float), digits.y_test[:n_rows]
    found = worst_case_accuracy(svc, X, y, family)
    right = np.flatnonzero((svc.predict(X) == y) & (found.margins < 0))
    some = right[np.argsort(found.margins[right])][:8]
    taken = svc.predict(found.rows[some])
    titles = [(str(a), f"→ {b}") for a, b in zip(y[some], taken, strict=True)]
    return Picture(
        show_pairs(X[some], found.rows[some], (28, 28), titles),
        "Pairs of digits, as they are and transformed: "
        + "; ".join(f"{a} taken for {b[2:]}" for a, b in titles),
        f"Digits that a machine without transformations ({n_rows} labels) reads rightly, and "
        "beside each the transformation that it does worst on.",
    )


def templates(family: Family) -> Picture:
    """Show a template and what the family makes of it (papers 000 and 001)."""
    X = load_mnist_sample().X_train[:50]
    features = InvariantFeatures(family.with_shape((28, 28)), 1, 8, random_state=0).fit(X)
    return Picture(
        show_family(family.with_shape((28, 28)), features.templates_[0], 16, 8),
        "A template, smooth noise under a window, moved by some elements of the family",
        "A random template and some of its transformations: features are how an image's "
        "projections on all of them are distributed.",
    )
