"""Mroueh et al. (2015), Figure 2: digits at the paper's size.

Figure 2, right, has one set of templates and many draws of the training images. The features of an
image are therefore computed once, and kept as counts of 8 bits, which are exact.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from invarlearn import RLSClassifier
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.counted import Counts, classify_by_gram, count_rows
from invarlearn.experiments.data import image_data, stratified_rows, stratified_split
from invarlearn.experiments.mroueh import PAPER_FAMILY, pixel_features
from invarlearn.experiments.pictures import templates as show_templates

_TEMPLATES = {
    "CDF, Gaussian templates": "gaussian",
    "CDF, local templates": "local",
}


class DigitCounts:
    """Features of the images of MNIST, computed when they are first used.

    Parameters
    ----------
    templates : str
        Kind of templates.
    n_templates, n_bins : int
    seed : int
        Seed of the templates.
    """

    def __init__(self, templates: str, n_templates: int, n_bins: int, seed: int = 0):
        self.data = image_data("MNIST")
        self.images = {"train": self.data.X_train, "test": self.data.X_test}
        self.features = pixel_features(seed, n_templates, n_bins, templates=templates)
        self.features.fit(self.data.X_train)
        n_columns = n_templates * n_bins
        self._counts = {
            part: np.empty((len(images), n_columns), dtype=np.uint8)
            for part, images in self.images.items()
        }
        self._is_known = {
            part: np.zeros(len(images), dtype=bool) for part, images in self.images.items()
        }

    def rows(self, part: str, indices: NDArray[np.intp]) -> Counts:
        """Return the counts of images of a part, "train" or "test": (n, n_templates * n_bins)."""
        todo = indices[~self._is_known[part][indices]]
        self._counts[part][todo] = count_rows(self.features, self.images[part][todo])
        self._is_known[part][todo] = True
        return self._counts[part][indices]


@lru_cache(maxsize=2)
def _digit_counts(templates: str, n_templates: int, n_bins: int) -> DigitCounts:
    return DigitCounts(templates, n_templates, n_bins)


def run_sizes(
    features: str,
    n_per_class: int,
    n_templates: int,
    n_bins: int,
    n_validated: int,
    n_test: int,
    seed: int,
) -> dict[str, float]:
    """Train on digits of one draw; return the accuracy on test digits, in percent."""
    data = image_data("MNIST")
    train, test = stratified_rows(data, n_per_class, n_test, seed)
    y, y_test = data.y_train[train], data.y_test[test]
    if features == "raw":
        model = RLSClassifier().fit(data.X_train[train], y)
        return {"accuracy": 100 * model.score(data.X_test[test], y_test)}
    counts = _digit_counts(_TEMPLATES[features], n_templates, n_bins)
    rows = counts.rows("train", train), counts.rows("test", test)
    predicted = classify_by_gram(rows[0], y, rows[1], n_validated)
    return {"accuracy": 100 * float(np.mean(predicted == y_test))}


_SIZES: dict[str, Any] = {
    "quick": {"n_templates": 20, "n_bins": 10, "n_validated": 5000, "n_test": 1000},
    "full": {"n_templates": 500, "n_bins": 50, "n_validated": 5000, "n_test": 10000},
}
_RIGHT_NOTE = (
    "CDF(50, 500), as in the paper: 500 templates under shifts of 3 px and rotations of up to 20 "
    "degrees in steps of 10, and 50 thresholds at quantiles of 81 unlabelled training images. "
    "Templates are the same for all draws of the training images; draws of one seed are nested. "
    "All 10,000 test images. The paper's templates are Gaussian; local ones are ours."
)

FIGURE_2_RIGHT = Experiment(
    id="000-figure2",
    paper="Mroueh et al. (2015), Figure 2, right",
    title="MNIST, CDF(50, 500): accuracy against the number of training images",
    varies={"features": ["raw", *_TEMPLATES], "n_per_class": [10, 30, 100]},
    quick={"n_per_class": [10]},
    run=run_sizes,
    x="n_per_class",
    lines="features",
    seeds={"quick": 2, "full": 100},
    settings=_SIZES,
    published_draws=100,
    one_process=True,
    note=_RIGHT_NOTE + " lam by leave-one-out.",
    pictures=lambda: [show_templates(PAPER_FAMILY)],
)

HEADLINE = Experiment(
    id="000-figure2-headline",
    paper="Mroueh et al. (2015), Figure 2, right, last points",
    title="MNIST, CDF(50, 500): 300 and 1,000 training images of each class",
    varies={"features": ["raw", *_TEMPLATES], "n_per_class": [300, 1000]},
    quick={"n_per_class": [100]},
    run=run_sizes,
    x="n_per_class",
    lines="features",
    seeds={"quick": 1, "full": 10},
    settings=_SIZES,
    published={("CDF, Gaussian templates", 1000): 98.97},
    published_draws=100,
    one_process=True,
    note=(
        _RIGHT_NOTE + " lam by leave-one-out with 300, validated on a fifth of the training "
        "images with 1,000."
    ),
)


@lru_cache(maxsize=1)
def _features_of_draw(
    templates: str, n_bins: int, n_templates: int, n_per_class: int, n_test: int, seed: int
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return features, (n, n_templates, n_bins), and classes of training and test images."""
    X, y, X_test, y_test = stratified_split("MNIST", n_per_class, n_test, seed)
    cdf = pixel_features(seed, n_templates, n_bins, templates=templates).fit(X)
    rows, test = (cdf.transform(images) for images in (X, X_test))
    shape = (-1, n_templates, n_bins)
    return rows.reshape(shape), y, test.reshape(shape), y_test


def run_bins(
    templates: str,
    n_bins: int,
    n_templates: int,
    most_templates: int,
    n_per_class: int,
    n_test: int,
    seed: int,
) -> dict[str, float]:
    """Return the accuracy of RLS with the first of ``most_templates`` templates, in percent."""
    rows, y, test, y_test = _features_of_draw(
        templates, n_bins, most_templates, n_per_class, n_test, seed
    )
    rows, test = (features[:, :n_templates].reshape(len(features), -1) for features in (rows, test))
    return {"accuracy": 100 * RLSClassifier().fit(rows, y).score(test, y_test)}


FIGURE_2_LEFT = Experiment(
    id="000-figure2-templates",
    paper="Mroueh et al. (2015), Figure 2, left",
    title="MNIST, regularised least squares: accuracy against templates and bins",
    varies={
        "templates": ["gaussian", "local"],
        "n_bins": [5, 25],
        "n_templates": [1, 3, 10, 30, 100],
    },
    quick={"n_templates": [1, 10, 100]},
    run=run_bins,
    x="n_templates",
    lines="n_bins",
    seeds={"quick": 2, "full": 30},
    settings={
        "quick": {"most_templates": 100, "n_per_class": 30, "n_test": 1000},
        "full": {"most_templates": 100, "n_per_class": 1000, "n_test": 10000},
    },
    published_draws=30,
    one_process=True,
    note=(
        "Shifts of 3 px and rotations of up to 20 degrees. Each draw has its own templates and "
        "training images; the templates of a draw are nested. The paper's templates are Gaussian."
    ),
    pictures=FIGURE_2_RIGHT.pictures,
)

EXPERIMENTS = [FIGURE_2_LEFT, FIGURE_2_RIGHT, HEADLINE]
