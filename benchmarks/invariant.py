"""InvariantClassifier against what people use instead, one thread each."""

import importlib.util
import sys

from _measure import Ratio, ratio
from invarlearn import InvariantClassifier
from invarlearn.datasets import load_mnist_sample, translated
from invarlearn.experiments.rivals import SmallCNN, TunedSVC
from invarlearn.features.defaults import default_family
from invarlearn.transforms import Translation
from invarlearn.transforms._threads import one_thread

FAMILY = default_family(None, 784, "benchmarks")
MOVED = Translation(6, shape=(40, 40))


def alone(function):
    def limited():
        with one_thread():
            function()

    return limited


def benchmarks():
    digits = load_mnist_sample()
    if importlib.util.find_spec("torch") is None:
        print(
            "no torch: pip install 'invarlearn[rivals]' to compare with a network", file=sys.stderr
        )
    else:
        for n in (100, 500):
            yield fit_against_network(digits.X_train[:n], digits.y_train[:n], FAMILY)
        # images are centred, and noise is taken off, if left-out samples say so
        canvas = translated(digits.X_train[:100], 40, 0.1, 0)
        yield fit_against_network(canvas, digits.y_train[:100], MOVED)
    X, y = digits.X_train[:100], digits.y_train[:100]
    model, svc = InvariantClassifier().fit(X, y), TunedSVC(FAMILY).fit(X, y)
    rows = digits.X_test
    yield Ratio(
        f"InvariantClassifier, predict {len(rows):,} images",
        "SVC on as many copies",
        ratio(
            alone(lambda: model.predict(rows)),
            alone(lambda: svc.predict(rows)),
            repeats=3,
        ),
    )


def fit_against_network(X, y, family):
    # updates take all the same time: a tenth of them is enough
    few = SmallCNN(family, family.shape, n_steps=150)
    times = ratio(
        alone(lambda: InvariantClassifier(family).fit(X, y)),
        alone(lambda: few.fit(X, y)),
        repeats=2,
    )
    return Ratio(
        f"InvariantClassifier, fit {len(X)} images of {' x '.join(map(str, family.shape))}",
        "augmented CNN, 1,500 updates (150 timed)",
        times / 10,
        "5 x faster",
    )
