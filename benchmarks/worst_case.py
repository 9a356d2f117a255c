"""Worst cases: passes over the data against products X @ w, fits against LinearSVC, growth.

Run as a program, ``python benchmarks/worst_case.py``, it trains on 4,000 sparse rows of 206,908
features to a gap of 1e-3 with each family, and prints the seconds beside those of LinearSVC.
"""

import time

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from _measure import Ratio, growth, ratio
from invarlearn import VirtualSVC, WorstCaseLinearSVC, WorstCaseSVC
from invarlearn.oracles import Costs, ScaledRisk
from invarlearn.transforms import CyclicShift, FeatureDropping, FeatureScaling, Identity


def benchmarks():
    yield from _passes()
    yield from _fits()
    yield from _growth()


def text(n=4000, d=206_908, n_words=150, seed=0):
    """Return e-mails of random words; the class is the sign of a noisy linear score."""
    rng = np.random.RandomState(seed)
    words = rng.randint(0, d, (n, n_words))
    counts = 1.0 + rng.poisson(1, (n, n_words))
    rows = np.repeat(np.arange(n), n_words)
    X = sparse.csr_matrix((counts.ravel(), (rows, words.ravel())), shape=(n, d))
    X = normalize(X.log1p())
    scores = X @ rng.standard_normal(d)
    return X, (scores + 0.3 * scores.std() * rng.standard_normal(n) > 0).astype(int)


def _passes():
    X, y = text()
    w = np.random.RandomState(1).standard_normal(X.shape[1])
    signs = np.where(y == 1, 1.0, -1.0)
    costs = Costs.check(None, None, 2, np.inf)
    for family in (FeatureScaling(0.5, 8, 10), FeatureDropping(14)):
        risk = ScaledRisk(X, y, family, costs)
        name = f"{family}, 4,000 x 206,908 sparse"
        yield Ratio(
            f"losses and slope, {name}",
            "one mat-vec X @ w",
            ratio(lambda risk=risk: risk.subgradient(w), lambda: X @ w, repeats=25),
            "<= 3 x",
        )
        yield Ratio(
            f"losses and slope, {name}",
            "the same for the plain hinge loss: X @ w, X.T @ g",
            ratio(
                lambda risk=risk: risk.subgradient(w),
                lambda: X.T @ np.where(signs * (X @ w) < 1, signs, 0.0),
                repeats=25,
            ),
        )
    yield Ratio(
        "FeatureScaling.worst_case, which also returns the rows",
        "one mat-vec X @ w",
        ratio(
            lambda: FeatureScaling(0.5, 8, 10).worst_case(X, w, signs), lambda: X @ w, repeats=25
        ),
    )


def _fits():
    X, y = text()
    lam = 1e-3
    svc = LinearSVC(loss="hinge", C=1 / (lam * len(y)), tol=1e-3, max_iter=10_000)
    for family in (Identity(), FeatureDropping(14), FeatureScaling(0.5, 8, 10)):
        ours = WorstCaseLinearSVC(family, lam=lam, tol=1e-3)
        yield Ratio(
            f"WorstCaseLinearSVC({family}), lam = 1e-3, gap 1e-3, 4,000 x 206,908",
            "LinearSVC with the hinge",
            ratio(lambda ours=ours: ours.fit(X, y), lambda: svc.fit(X, y), repeats=3),
        )
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((150, 40)), np.arange(150) % 3
    X[np.arange(150), y] += 3
    yield Ratio(
        "WorstCaseSVC, 150 rows, 40 shifts, 3 classes, gap 1e-2",
        "VirtualSVC on all 6,000 augmented copies",
        ratio(
            lambda: WorstCaseSVC(CyclicShift(), C=1.0, tol=1e-2, random_state=0).fit(X, y),
            lambda: VirtualSVC(CyclicShift(), C=1.0 / 40).fit(X, y),
            repeats=3,
        ),
    )


def _growth():
    def problem(n=150, n_classes=4, step=4):
        """Fit noisy waves of random phase, with one frequency per class."""
        rng = np.random.RandomState(0)
        y = np.arange(n) % n_classes
        phases = np.outer(y + 1, np.arange(64)) / 64 + rng.rand(n, 1)
        X = np.sin(2 * np.pi * phases) + 0.5 * rng.standard_normal(phases.shape)
        svc = WorstCaseSVC(CyclicShift(step=step), C=1.0, tol=1e-2, random_state=0)
        return lambda: svc.fit(X, y)

    yield growth(
        "WorstCaseSVC, 16 shifts, 4 classes, by rows", [75, 600], lambda n: problem(n=n), "about 2"
    )
    yield growth(
        "WorstCaseSVC, 150 rows, 4 classes, by shifts",
        [8, 64],
        lambda k: problem(step=64 // k),
        "about 1 to 2",
    )
    yield growth(
        "WorstCaseSVC, 150 rows, 16 shifts, by classes",
        [3, 12],
        lambda k: problem(n_classes=k),
        "about 1",
    )

    def one_pass(n):
        X, y = text(n, d=20_000)
        risk = ScaledRisk(X, y, FeatureScaling(0.5, 8, 10), Costs.check(None, None, 2, np.inf))
        w = np.random.RandomState(1).standard_normal(X.shape[1])
        return lambda: risk.subgradient(w)

    yield growth("losses and slope, FeatureScaling, by rows", [4000, 64_000], one_pass, "about 1")


def main():
    X, y = text()
    print(f"{X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} values")
    for lam in (1e-2, 1e-3):
        start = time.perf_counter()
        LinearSVC(loss="hinge", C=1 / (lam * len(y)), tol=1e-3, max_iter=10_000).fit(X, y)
        print(f"lam {lam:g}: LinearSVC, hinge: {time.perf_counter() - start:.2f} s")
        for family in (None, FeatureDropping(14), FeatureScaling(0.5, 8, 10)):
            svc = WorstCaseLinearSVC(family, lam=lam, tol=1e-3).fit(X[:50], y[:50])
            start = time.perf_counter()
            svc.fit(X, y)
            seconds = time.perf_counter() - start
            print(
                f"lam {lam:g}: WorstCaseLinearSVC({family}): {seconds:.2f} s, {svc.n_iter_} steps, "
                f"gap {svc.gap_ / svc.objective_:.1e} of {svc.objective_:.4f}"
            )


if __name__ == "__main__":
    main()
