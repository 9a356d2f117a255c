"""InvariantClassifier against what people use instead, one thread each."""

import importlib.util
import sys

from _measure import Ratio, ratio
from invarlearn import InvariantClassifier
from invarlearn.datasets import load_mnist_sample
from invarlearn.experiments.rivals import SmallCNN, TunedSVC
from invarlearn.features.defaults import default_family
from invarlearn.transforms._threads import one_thread

FAMILY = default_family(None, 784, "benchmarks").with_shape((28, 28))


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
            yield fit_against_network(digits.X_train[:n], digits.y_train[:n])
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


def fit_against_network(X, y):
    # updates take all the same time: a tenth of them is enough
    few = SmallCNN(FAMILY, n_steps=150)
    times = ratio(
        alone(lambda: InvariantClassifier().fit(X, y)),
        alone(lambda: few.fit(X, y)),
        repeats=2,
    )
    return Ratio(
        f"InvariantClassifier, fit {len(X)} images",
        "augmented CNN, 1,500 updates (150 timed)",
        times / 10,
        "5 x faster",
    )
