"""Zhang et al. (2013), Learning with invariance via linear functionals: figures and table."""

from __future__ import annotations

from invarlearn import InvSVC
from invarlearn.datasets import make_two_moons
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.pictures import boundaries
from invarlearn.experiments.zhang_digits import FIGURE_2
from invarlearn.experiments.zhang_extensions import EXPERIMENTS as EXTENSIONS
from invarlearn.experiments.zhang_readings import (
    TABLE_1_COORDINATES,
    TABLE_1_REPEATED,
    TABLE_1_ROWS,
)
from invarlearn.experiments.zhang_table import TABLE_1, TABLE_1_LARGE

# Losses and penalties of Figure 1. Its other settings are sigma = 0.25 (gamma = 8) and lambda = 1.
_MOONS = {
    "logistic, squared": ("logistic", "squared"),
    "hinge, epsilon-insensitive": ("hinge", "epsilon_insensitive"),
}


def moons_model(losses: str, nu: float) -> InvSVC:
    """Return the classifier of Figure 1."""
    loss, penalty = _MOONS[losses]
    return InvSVC(gamma=8.0, loss=loss, penalty=penalty, lam=1.0, nu=nu, epsilon=0.01, tol=1e-4)


def run_moons(losses: str, nu: float, n_samples: int, seed: int) -> dict[str, float]:
    """Train on all points, two of them labelled; return the error on all of them, in percent."""
    moons = make_two_moons(n_samples, 2, noise=0.05, random_state=seed)
    fitted = moons_model(losses, nu).fit(moons.X, moons.y_partial)
    return {"error": 100 * float((fitted.predict(moons.X) != moons.y).mean())}


FIGURE_1 = Experiment(
    id="002-figure1",
    paper="Zhang et al. (2013), Figure 1",
    title="Two moons with two labels, and a penalty on derivatives at all points",
    varies={"losses": list(_MOONS), "nu": [0.0, 0.01, 0.1, 1.0, 10.0]},
    run=run_moons,
    metric="error",
    x="nu",
    lines="losses",
    seeds={"quick": 3, "full": 20},
    settings={"quick": {"n_samples": 100}, "full": {"n_samples": 200}},
    note="The paper shows decision boundaries without numbers. Its points are not published; ours "
    "have noise of standard deviation 0.05.",
    pictures=lambda: [boundaries()],
)


EXPERIMENTS = [
    FIGURE_1,
    TABLE_1,
    TABLE_1_LARGE,
    TABLE_1_ROWS,
    TABLE_1_REPEATED,
    TABLE_1_COORDINATES,
    FIGURE_2,
    *EXTENSIONS,
]
