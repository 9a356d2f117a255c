"""InvariantClassifier against other methods, each in one thread."""

import importlib.util
import sys

from _measure import Ratio, ratio
from invarlearn import InvariantClassifier
from invarlearn._utils.parallel import single_threaded
from invarlearn.datasets import load_mnist_sample, translated
from invarlearn.experiments.rivals import SmallCNN, TunedSVC
from invarlearn.features.defaults import default_family
from invarlearn.transforms import Translation

FAMILY = default_family(None, 784, "benchmarks")
SHIFTS = Translation(6, shape=(40, 40))


def in_one_thread(function):
    def limited():
        with single_threaded():
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
        # centring and noise removal are tried on these images
        canvas = translated(digits.X_train[:100], 40, 0.1, 0)
        yield fit_against_network(canvas, digits.y_train[:100], SHIFTS)
    X, y = digits.X_train[:100], digits.y_train[:100]
    model, svc = InvariantClassifier().fit(X, y), TunedSVC(FAMILY).fit(X, y)
    rows = digits.X_test
    yield Ratio(
        f"InvariantClassifier, predict {len(rows):,} images",
        "SVC on as many augmented copies",
        ratio(
            in_one_thread(lambda: model.predict(rows)),
            in_one_thread(lambda: svc.predict(rows)),
            repeats=3,
        ),
    )


def fit_against_network(X, y, family):
    # all updates take the same time, so a tenth of them is timed
    network = SmallCNN(family, family.shape, n_steps=150)
    times = ratio(
        in_one_thread(lambda: InvariantClassifier(family).fit(X, y)),
        in_one_thread(lambda: network.fit(X, y)),
        repeats=2,
    )
    return Ratio(
        f"InvariantClassifier, fit {len(X)} images of {' x '.join(map(str, family.shape))}",
        "augmented CNN, 1,500 updates (150 timed)",
        times / 10,
        "5 x faster",
    )
