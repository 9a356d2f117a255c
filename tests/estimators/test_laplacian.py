"""LaplacianSVC against its closed form."""

import numpy as np
from sklearn.svm import SVC

from invarlearn import LaplacianSVC
from invarlearn.datasets import make_two_moons
from invarlearn.functionals import (
    Laplacian,
)
from invarlearn.kernels import RBF


def test_it_is_an_svc_on_the_deformed_kernel():
    """Against the kernel of Sindhwani et al.: k - k_X' (1 / (2 nu) + L K)^-1 L k_X."""
    moons = make_two_moons(60, 6, random_state=0)
    X, labelled = moons.X, moons.labeled
    nu, kernel = 3.0, RBF(4.0)
    K, L = kernel(X), Laplacian(4).matrix(X)
    inner = np.linalg.solve(np.eye(60) / (2 * nu) + L @ K, L @ K)
    deformed = K - K @ inner
    order = np.sort(labelled)
    truth = SVC(kernel="precomputed", C=2.0, tol=1e-8)
    truth.fit(deformed[np.ix_(order, order)], moons.y[order])
    ours = LaplacianSVC(4, gamma=4.0, lam=2.0, nu=nu).fit(X, moons.y_partial)
    np.testing.assert_allclose(
        ours.decision_function(X), truth.decision_function(deformed[:, order]), atol=1e-3
    )
