"""Functionals: products against dense matrices, growth, and fits against other classifiers.

Run as a program, ``python benchmarks/functionals.py``, it fits InvSVC with all derivatives of 5,000
rows with 241 features, and prints time and memory.
"""

import resource
import time

import numpy as np
from sklearn.svm import SVC

from _measure import Ratio, growth, ratio
from invarlearn import InvSVC, LaplacianSVC
from invarlearn.functionals import Derivative, Representers
from invarlearn.kernels import RBF


def benchmarks():
    yield _product_against_dense()
    yield from _growth()
    yield from _fits()


def _derivatives(n, d, seed=0):
    X = np.random.RandomState(seed).standard_normal((n, d))
    return Representers(RBF(1 / (2 * d)), [Derivative()], X)


def _product_against_dense(n=40, d=241):
    z = _derivatives(n, d)
    gram = z.gram()
    c = np.random.RandomState(1).standard_normal(len(z))
    error = np.abs(z.dot(c) - gram @ c).max() / np.abs(gram @ c).max()
    assert error < 1e-10, error
    return Ratio(
        f"product with all derivatives, {n} rows x {d} features",
        "product with the stored dense matrix",
        ratio(lambda: z.dot(c), lambda: gram @ c, repeats=15),
        ">= 20 x faster",
    )


def _growth():
    def product(n, d):
        z = _derivatives(n, d)
        c = np.random.RandomState(1).standard_normal(len(z))
        return lambda: z.dot(c)

    yield growth(
        "product with all derivatives of 1,000 rows, by features",
        [120, 960],
        lambda d: product(1000, d),
        "about 1",
    )
    yield growth(
        "product with all derivatives of 100 features, by rows",
        [500, 3000],
        lambda n: product(n, 100),
        "about 2",
    )


def _fits(n=600, d=20, n_labels=60):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, d))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    partial = np.where(np.arange(n) < n_labels, y, -1)
    inv = InvSVC(gamma="median", loss="hinge", lam=100.0, nu=0.01, tol=1e-4)
    gamma = inv.fit(X, partial).kernel_.gamma
    lap = LaplacianSVC(gamma=gamma, lam=100.0, nu=1.0, tol=1e-4)
    svc = SVC(gamma=gamma, C=100.0)
    what = f"InvSVC, all derivatives of {n} rows x {d}, {n_labels} labels"
    for other, name in ((lap, "LaplacianSVC on the same rows"), (svc, "SVC on labelled rows")):
        rows = (X, partial) if other is lap else (X[:n_labels], y[:n_labels])
        yield Ratio(
            what,
            name,
            ratio(
                lambda: inv.fit(X, partial),
                lambda other=other, rows=rows: other.fit(*rows),
                repeats=3,
            ),
        )


def main(n=5000, d=241, n_labels=100):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, d))
    X[:, 0] += 3 * rng.choice([-1, 1], n)
    y = np.where(np.arange(n) < n_labels, (X[:, 0] > 0).astype(int), -1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    start = time.perf_counter()
    svc = InvSVC(gamma="median", lam=1000.0, nu=0.01, tol=1e-4).fit(X, y)
    seconds = time.perf_counter() - start
    accuracy = ((svc.predict(X) == 1) == (X[:, 0] > 0))[n_labels:].mean()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{n:,} rows x {d} features, {n * d:,} derivatives, {n_labels} labels: {seconds:.0f} s, "
        f"{svc.n_iter_} iterations ({svc.solver_}), gap {svc.gap_[0]:.1e} of "
        f"{svc.objective_[0]:.4g}; peak memory {after:.2f} GiB ({before:.2f} before); "
        f"accuracy on the other rows {accuracy:.1%}"
    )


if __name__ == "__main__":
    main()
