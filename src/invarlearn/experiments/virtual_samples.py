"""What virtual samples and tangent distance give with few labels: ours, no paper's table."""

from __future__ import annotations

from sklearn.svm import SVC

from invarlearn import TangentDistanceClassifier, VirtualSVC
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.data import draw
from invarlearn.transforms import Rotation, Shear, Translation

FAMILY = Translation(1) * Rotation(15, n_steps=3) * Shear(0.2, n_steps=3)

_METHODS = {
    "SVC": lambda: SVC(C=10),
    "VirtualSVC": lambda: VirtualSVC(FAMILY),
    "VirtualSVC, support only": lambda: VirtualSVC(FAMILY, support_only=True),
    "tangent distance": lambda: TangentDistanceClassifier(),
}


def run(method: str, n_labels: int, n_test: int, seed: int) -> dict[str, float]:
    """Train on one draw of MNIST and give the accuracy on the test images, in percent."""
    X, y, X_test, y_test = draw("MNIST", n_labels, n_test, seed)
    return {"accuracy": 100 * _METHODS[method]().fit(X, y).score(X_test, y_test)}


EXPERIMENT = Experiment(
    id="virtual-samples",
    paper="The VIR-SVM of paper 004, on random draws",
    title="Virtual samples on MNIST",
    varies={"method": list(_METHODS), "n_labels": [50, 100, 200]},
    quick={"n_labels": [50, 100]},
    run=run,
    x="n_labels",
    lines="method",
    settings={"quick": {"n_test": 1000}, "full": {"n_test": 10000}},
    note="Shifts of 1 pixel, rotations of 15 degrees and shears of 0.2, RBF, C = 10.",
)
