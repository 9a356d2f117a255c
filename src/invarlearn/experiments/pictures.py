"""Pictures for the reports of experiments, from data of the package."""

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


def orbit(family: Family, description: str) -> Picture:
    """Return a picture of one digit, transformed by elements of a family."""
    digits = load_mnist_sample()
    x = digits.X_train[(digits.y_train == 4).argmax()]
    return Picture(
        show_family(family.with_shape((28, 28)), x, n_shown=16, n_columns=8),
        "A handwritten 4 under some transformations of the family, and its tangents: the "
        "derivative of each pixel at the start of a transformation",
        f"Some transformations of one digit: {description}.",
    )


def boundaries(nus: Sequence[float] = (0.0, 0.01, 0.1, 1.0)) -> Picture:
    """Return a picture of the boundaries of Zhang et al. (2013), Figure 1, by the weight nu."""
    moons = make_two_moons(200, 2, noise=0.05, random_state=0)
    models = {f"nu = {nu:g}": InvSVC(gamma=8.0, nu=nu).fit(moons.X, moons.y_partial) for nu in nus}
    errors = ", ".join(
        f"{name}: error {100 * (model.predict(moons.X) != moons.y).mean():.1f} %"
        for name, model in models.items()
    )
    return Picture(
        show_boundaries(models, moons.X, moons.y, moons.labeled),
        f"Decision boundaries of two moons with one label each, by the weight nu of the penalty on "
        f"derivatives; {errors}",
        "Two moons with one label each. With a larger weight nu of the penalty on derivatives at "
        "all points, more of the boundary lies in regions without points.",
    )


def spectra(radius: int | None = 2, n_rows: int = 200) -> Picture:
    """Return a picture of the spectra of best-fit and average-fit kernels (Liu et al., 2022)."""
    X = load_mnist_sample().X_train[:n_rows].astype(float)
    family = Translation(radius, wrap=True)
    shifts = "all circular shifts" if radius is None else f"circular shifts of up to {radius} px"
    kernels = {
        "pixel by pixel": OrbitKernel(Linear(), None, normalize=True),
        "average fit over shifts": OrbitKernel(Linear(), family, "mean", normalize=True),
        "best fit over shifts": OrbitKernel(Linear(), family, "max", normalize=True),
    }
    return Picture(
        show_spectra({name: kernel(X) for name, kernel in kernels.items()}),
        "Absolute eigenvalues of three Gram matrices. Only the best fit has negative eigenvalues",
        f"Eigenvalues of Gram matrices of {n_rows} digits: cosines, over {shifts}. Crosses are "
        "negative eigenvalues: the best fit is not a positive definite kernel.",
    )


def worst_cases(family: Family, n_rows: int = 100) -> Picture:
    """Return a picture of digits and their worst transformations (Teo et al., 2007)."""
    digits = load_mnist_sample()
    X, y = digits.X_train.astype(float), digits.y_train
    svc = WorstCaseSVC(gamma=0.03, C=10.0, random_state=0).fit(X[:n_rows], y[:n_rows])
    X, y = digits.X_test[:n_rows].astype(float), digits.y_test[:n_rows]
    worst = worst_case_accuracy(svc, X, y, family)
    flipped = np.flatnonzero((svc.predict(X) == y) & (worst.margins < 0))
    rows = flipped[np.argsort(worst.margins[flipped])][:8]
    predicted = svc.predict(worst.rows[rows])
    pairs = list(zip(y[rows], predicted, strict=True))
    titles = [(str(label), f"→ {prediction}") for label, prediction in pairs]
    return Picture(
        show_pairs(X[rows], worst.rows[rows], (28, 28), titles),
        "Pairs of digits, original and transformed: "
        + "; ".join(f"{label} classified as {prediction}" for label, prediction in pairs),
        f"Digits that a classifier trained without transformations ({n_rows} labels) classifies "
        "correctly, each beside its transformation with the smallest margin.",
    )


def templates(family: Family) -> Picture:
    """Return a picture of a template and its transformations (Mroueh et al., 2015)."""
    X = load_mnist_sample().X_train[:50]
    features = InvariantFeatures(family.with_shape((28, 28)), 1, 8, random_state=0).fit(X)
    return Picture(
        show_family(family.with_shape((28, 28)), features.templates_[0], 16, 8),
        "A template, smooth noise under a window, transformed by some elements of the family",
        "A random template and some of its transformations. The features of an image describe the "
        "distribution of its projections on all transformations of a template.",
    )
