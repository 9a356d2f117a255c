"""What is kept on disk must not outlive the code that made it."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

from invarlearn import OrbitSVC
from invarlearn.datasets import load_mnist_sample
from invarlearn.estimators._fingerprint import fingerprint
from invarlearn.features import OrientedGradients
from invarlearn.kernels import RBF, OrbitKernel
from invarlearn.transforms import Custom, Rotation, Translation


def written(text, name="f"):
    """Give a function of a user's session."""
    session = {"__name__": "session", "np": np}
    exec(text, session)
    return session[name]


CHANGES = {
    "constant": ("def f(Z): return 0.5 * Z", "def f(Z): return 0.4 * Z"),
    "default": ("def f(Z, a=1): return a * Z", "def f(Z, a=2): return a * Z"),
    "helper": (
        "def g(Z): return Z[:, ::-1]\ndef f(Z): return g(Z)",
        "def g(Z): return Z\ndef f(Z): return g(Z)",
    ),
    "global": ("a = 1\ndef f(Z): return a * Z", "a = 2\ndef f(Z): return a * Z"),
    "within": (
        "def f(Z): return (lambda V: V + 1)(Z)",
        "def f(Z): return (lambda V: V + 2)(Z)",
    ),
    "attribute": ("def f(Z): return np.sin(Z)", "def f(Z): return np.cos(Z)"),
    "object": (
        "class A:\n def __call__(self, Z): return Z\nf = A()",
        "class A:\n def __call__(self, Z): return -Z\nf = A()",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("place", ["family", "features", "partial"])
def test_changed_code_changes_the_fingerprint(change, place):
    def kernel(text):
        f = written(text)
        if place == "features":
            return OrbitKernel(RBF(), Translation(1), features=FunctionTransformer(f))
        return OrbitKernel(RBF(), Custom([partial(f) if place == "partial" else f]))

    before, after = CHANGES[change]
    assert fingerprint(kernel(before)) == fingerprint(kernel(before))
    assert fingerprint(kernel(before)) != fingerprint(kernel(after))


def test_kernels_are_told_apart_by_parameters_and_fits_alone():
    X = np.random.RandomState(0).rand(3, 784)
    kernel = OrbitKernel(RBF(), Translation(1) * Rotation(15), features=OrientedGradients().fit(X))
    assert fingerprint(clone(kernel)) == fingerprint(clone(kernel))
    assert fingerprint(clone(kernel)) != fingerprint(kernel)
    assert fingerprint(clone(kernel).set_params(base__gamma=2)) != fingerprint(clone(kernel))
    assert fingerprint(clone(kernel).set_params(pooling="mean")) != fingerprint(clone(kernel))


def test_memory_notices_a_function_that_kept_its_name(tmp_path):
    digits = load_mnist_sample()
    X, y = digits.X_train[:30], digits.y_train[:30]
    for text in ("def f(Z): return Z[:, ::-1]", "def f(Z): return np.roll(Z, 3, axis=1)"):
        family = Custom([written(text)])
        kept = OrbitSVC(family, memory=str(tmp_path)).fit(X, y).smallest_eigenvalue_
        assert kept == OrbitSVC(family).fit(X, y).smallest_eigenvalue_


def test_what_cannot_be_told_apart_is_refused(tmp_path):
    digits = load_mnist_sample()
    lines = (line for line in "abc")
    family = Custom([lambda Z: Z if lines else -Z])
    with pytest.raises(ValueError, match="leave memory= out"):
        OrbitSVC(family, memory=str(tmp_path)).fit(digits.X_train[:30], digits.y_train[:30])
