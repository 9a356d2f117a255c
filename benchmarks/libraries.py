"""Parts that are written here although a library has something close, beside that library."""

from functools import partial

import numpy as np
from scipy.ndimage import maximum_filter, minimum_filter
from scipy.optimize import minimize
from scipy.signal import ShortTimeFFT
from sklearn.datasets import make_moons
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import rbf_kernel

from _measure import Ratio, ratio
from invarlearn.datasets import load_mnist_sample
from invarlearn.features import LocalKernelFeatures, OrientedGradients
from invarlearn.features.compress import principal_directions
from invarlearn.features.oriented import despike
from invarlearn.functionals import Derivative, Representers, Value
from invarlearn.kernels import RBF
from invarlearn.kernels.gaussian import rbf_plus_one
from invarlearn.losses import Logistic, Squared
from invarlearn.solvers import LBFGS, RepresenterProblem
from invarlearn.solvers.representer import Term
from invarlearn.transforms.audio import LogSpectrogram


def benchmarks():
    yield from _principal_directions()
    yield _despike()
    yield _similarity()
    yield _spectrogram()
    yield _lbfgs()


def _principal_directions():
    digits = load_mnist_sample()
    gradients = OrientedGradients()
    maps = gradients.fit_transform(digits.X_train)
    local = LocalKernelFeatures(256, step=3, blur=1.5, shape=gradients.shape_, random_state=0)
    features = local.fit_transform(maps)
    for n in (900, 2000):
        F = features[:n]
        n_components = min(1024, n - 1)
        for solver in ("full", "covariance_eigh", "randomized"):
            pca = PCA(n_components, svd_solver=solver, random_state=0)
            yield Ratio(
                f"principal_directions, {n} x {F.shape[1]:,}, {n_components} directions",
                f"PCA(svd_solver={solver!r})",
                ratio(partial(principal_directions, F, 1024), partial(pca.fit, F), repeats=2),
            )


def _despike():
    images = load_mnist_sample().X_train.reshape(-1, 28, 28, 1)
    neighbours = np.ones((1, 3, 3, 1), dtype=bool)
    neighbours[0, 1, 1, 0] = False

    def by_filters():
        low, high = (
            f(images, footprint=neighbours, mode="mirror") for f in (minimum_filter, maximum_filter)
        )
        return np.clip(images, low, high)

    np.testing.assert_array_equal(despike(images), by_filters())
    return Ratio(
        "despike, 2,000 images of 28 x 28",
        "scipy.ndimage.minimum_filter and maximum_filter",
        ratio(lambda: despike(images), by_filters, repeats=3),
    )


def _similarity():
    X = np.random.RandomState(0).standard_normal((4000, 500)).astype(np.float32)
    return Ratio(
        "similarity, 4,000 x 500, single precision",
        "sklearn.metrics.pairwise.rbf_kernel",
        ratio(lambda: rbf_plus_one(X, X, 1e-3), lambda: rbf_kernel(X, gamma=1e-3) + 1, repeats=3),
    )


def _spectrogram():
    clips = np.random.RandomState(0).standard_normal((50, 8000))
    maps = LogSpectrogram().fit(clips)
    # 32 frames: scipy places them at whole steps, which clips of another length do not have
    window = np.hanning(258)[1:-1]
    transform = ShortTimeFFT(window, hop=250, fs=8000, mfft=1024)

    def by_scipy():
        for clip in clips:
            transform.spectrogram(clip)

    return Ratio(
        "LogSpectrogram, 50 clips of a second, 32 frames",
        "scipy.signal.ShortTimeFFT, linear frequencies",
        ratio(lambda: maps.transform(clips), by_scipy, repeats=5),
    )


def _lbfgs(n=80, n_labels=2, nu=0.1, lam=10.0):
    X, y = make_moons(n, noise=0.05, random_state=0)
    representers = Representers(RBF(2.0), [Value(), Derivative()], [X[:n_labels], X])
    G = representers.gram()
    terms = [
        Term(slice(0, n_labels), Logistic(), 2.0 * y[:n_labels] - 1, lam),
        Term(slice(n_labels, len(representers)), Squared(), 0.0, nu),
    ]
    problem = RepresenterProblem.dense(G, np.zeros((len(G), 0)), terms)
    solution = LBFGS().solve(problem, tol=1e-6, max_iter=5000)

    def objective(c):
        u = G @ c
        return problem.objective(c, np.zeros(0)), u + G @ problem.slopes(u)

    def in_coefficients():
        return minimize(
            objective, np.zeros(len(G)), jac=True, method="L-BFGS-B", options={"maxiter": 5000}
        )

    theirs = in_coefficients()
    print(
        f"{len(G)} functionals: objective {solution.objective:.6f} after {solution.n_iter} "
        f"iterations; scipy {theirs.fun:.6f} after {theirs.nit}: {theirs.message}"
    )
    return Ratio(
        f"LBFGS, {len(G)} functionals of two moons",
        f"scipy L-BFGS-B in the coefficients, {theirs.nit} iterations for {solution.n_iter}",
        ratio(lambda: LBFGS().solve(problem, tol=1e-6, max_iter=5000), in_coefficients, repeats=2),
    )
