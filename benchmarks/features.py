"""Invariant features and least squares: ratios, growth, and streams of rows.

Run as a program, ``python benchmarks/features.py``, it trains on streams of up to 500,000 rows and
prints time, memory and accuracy.
"""

import resource
import time

import numpy as np

from _measure import Ratio, growth, ratio
from invarlearn import InvariantFeatures, RLSClassifier
from invarlearn.datasets import load_mnist_sample
from invarlearn.solvers.normal_equations import HeldOutRows, NormalEquations, scatter
from invarlearn.solvers.ridge import PrimalPath
from invarlearn.transforms import Rotation, Translation


def benchmarks():
    yield from _features_against_gemm()
    yield _least_squares_against_solving_again()
    yield from _growth()


def _features_against_gemm():
    digits = load_mnist_sample()
    X = np.concatenate([digits.X_train, digits.X_test])[:2000]
    family = Translation(3) * Rotation(20, n_steps=5)
    for pooling in ("cdf", "histogram", "moments", "max"):
        n_bins = 4 if pooling == "moments" else 20
        features = InvariantFeatures(family, 300, n_bins, pooling=pooling, random_state=0).fit(X)
        orbit = np.concatenate(
            [rows for _, rows in features.projections_.orbits.blocks(np.float32)]
        )
        blocks = np.array_split(orbit, 8)

        def projections(blocks=blocks):
            for block in blocks:
                X @ block.T

        yield Ratio(
            f"InvariantFeatures, {pooling}, 2,000 digits, 300 templates, 245 affine maps",
            "GEMM of the same projections",
            ratio(lambda features=features: features.transform(X), projections, repeats=5),
            "<= 1.25 x" if pooling == "cdf" else "",
        )


def _least_squares_against_solving_again():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((3000, 500))
    y = rng.randint(10, size=3000)
    codes = np.where(y[:, None] == np.arange(10), 1.0, -1.0)
    lams = RLSClassifier().fit(X, y).lams_

    def solve_for_each_lam():
        centred = X - X.mean(axis=0)
        gram, cross = centred.T @ centred, centred.T @ codes
        for lam in lams:
            np.linalg.solve(gram + 3000 * lam * np.eye(500), cross)

    return Ratio(
        "RLSClassifier, 3,000 x 500, 25 lams with leave-one-out errors",
        "solving for each lam, without errors",
        ratio(lambda: RLSClassifier().fit(X, y), solve_for_each_lam, repeats=3),
    )


def _growth():
    digits = load_mnist_sample()
    X = np.concatenate([digits.X_train, digits.X_test])
    features = InvariantFeatures(Translation(2), 100, 10, random_state=0).fit(X[:500])
    yield growth(
        "InvariantFeatures, rows",
        [500, 4000],
        lambda n: lambda: features.transform(X[:n]),
        "about 1",
    )
    yield growth(
        "InvariantFeatures, templates",
        [50, 400],
        lambda m: _transforming(InvariantFeatures(Translation(2), m, 10, random_state=0), X),
        "about 1",
    )
    yield growth(
        "InvariantFeatures, elements",
        [25, 225],
        lambda k: _transforming(
            InvariantFeatures(Translation((k**0.5 - 1) // 2), 50, 10, random_state=0), X
        ),
        "about 1",
    )
    yield growth(
        "RLSClassifier, stream of transformed digits, rows",
        [10_000, 40_000],
        lambda n: lambda: stream(n),
        "about 1",
    )


def _transforming(features, X):
    features.fit(X[:500])
    return lambda: features.transform(X[:1000])


def transformed_digits(n, batch=5000, seed=0, X=None, y=None):
    """Yield batches of n randomly transformed digits."""
    if X is None:
        digits = load_mnist_sample()
        X, y = digits.X_train, digits.y_train
    rng = np.random.RandomState(seed)
    family = Translation(2) * Rotation(15, n_steps=3)
    done = 0
    while done < n:
        size = min(batch, n - done)
        rows = rng.randint(len(X), size=size)
        elements = family.sample(20, random_state=rng.randint(2**31 - 1))
        parts = np.array_split(rows, 20)
        transformed = [element(X[part]) for element, part in zip(elements, parts, strict=True)]
        yield np.concatenate(transformed), y[rows]
        done += size


def stream(n, n_templates=100, n_bins=12, X=None, y=None):
    """Train on n randomly transformed digits, batch by batch."""
    digits = load_mnist_sample()
    family = Translation(2) * Rotation(15, n_steps=3)
    features = InvariantFeatures(family, n_templates, n_bins, random_state=0)
    features.fit(digits.X_train[:1000])
    rls = RLSClassifier()
    for rows, labels in transformed_digits(n, X=X, y=y):
        rls.partial_fit(features.transform(rows), labels, classes=np.arange(10))
    return features, rls, rls.coef_


def constants():
    """Print the speeds that the calculation in docs/scale.md uses."""
    digits = load_mnist_sample()
    family = Translation(3) * Rotation(20, n_steps=5)
    features = InvariantFeatures(family, 500, 20, random_state=0).fit(digits.X_train[:500])
    seconds = _shortest(lambda: features.transform(digits.X_train))
    print(f"projections and distribution: {2 * 784 * 500 * 245 * 2000 / seconds / 1e9:.0f} GFlop/s")
    rng = np.random.RandomState(0)
    rows = rng.rand(4096, 10_000)
    seconds = _shortest(lambda: scatter(rows))
    print(f"sums: {4096 * 1e8 / seconds / 1e9:.0f} GFlop/s")
    equations = NormalEquations(np.zeros(3000), 10, HeldOutRows(10))
    equations.add(rng.rand(8000, 3000), rng.rand(8000, 10), np.ones(8000))
    seconds = _shortest(lambda: PrimalPath.of(equations.moments()))
    print(f"factorisation: {seconds / 27:.2f} s x (D / 1000)^3")


def _shortest(function, repeats=2):
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    """Train on up to 500,000 transformed images of MNIST; print time, peak memory and accuracy."""
    from invarlearn.datasets import fetch_mnist

    digits = fetch_mnist()
    for n in (62_500, 125_000, 250_000, 500_000):
        start = time.perf_counter()
        features, rls, _ = stream(n, X=digits.X_train, y=digits.y_train)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        score = 100 * rls.score(features.transform(digits.X_test), digits.y_test)
        print(f"{n:>9,} rows: {seconds:6.0f} s, peak memory {peak:.2f} GiB, accuracy {score:.2f} %")
    # last, since it needs more memory
    constants()


if __name__ == "__main__":
    main()
