"""Virtual samples and tangent distance with few labels; not a table of a paper."""

from __future__ import annotations

from sklearn.svm import SVC

from invarlearn import TangentDistanceClassifier, VirtualSVC
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.data import random_split
from invarlearn.transforms import Rotation, Shear, Translation

FAMILY = Translation(1) * Rotation(15, n_steps=3) * Shear(0.2, n_steps=3)

_METHODS = {
    "SVC": lambda: SVC(C=10),
    "VirtualSVC": lambda: VirtualSVC(FAMILY),
    "VirtualSVC, support only": lambda: VirtualSVC(FAMILY, support_only=True),
    "tangent distance": lambda: TangentDistanceClassifier(),
}


def run_virtual_samples(method: str, n_labels: int, n_test: int, seed: int) -> dict[str, float]:
    """Train on one draw of MNIST; return the accuracy on the test images, in percent."""
    X, y, X_test, y_test = random_split("MNIST", n_labels, n_test, seed)
    return {"accuracy": 100 * _METHODS[method]().fit(X, y).score(X_test, y_test)}


EXPERIMENT = Experiment(
    id="virtual-samples",
    paper="The VIR-SVM of Teo et al. (2007), on random draws",
    title="Virtual samples on MNIST",
    varies={"method": list(_METHODS), "n_labels": [50, 100, 200]},
    quick={"n_labels": [50, 100]},
    run=run_virtual_samples,
    x="n_labels",
    lines="method",
    settings={"quick": {"n_test": 1000}, "full": {"n_test": 10000}},
    note="Shifts of 1 pixel, rotations of 15 degrees and shears of 0.2, RBF, C = 10.",
)
