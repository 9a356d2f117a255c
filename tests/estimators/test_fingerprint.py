"""Fingerprints of kernels in the cache change with code, parameters and fitted state."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

from invarlearn import OrbitSVC
from invarlearn.datasets import load_mnist_sample
from invarlearn.estimators._fingerprint import fingerprint
from invarlearn.features import InvariantFeatures, OrientedGradients
from invarlearn.kernels import RBF, OrbitKernel
from invarlearn.transforms import Custom, Rotation, Translation


def written(text, name="f"):
    """Return a function of a user's session."""
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
    "attribute of a class": (
        "class A:\n s = 1\n def __call__(self, Z): return self.s * Z\nf = A()",
        "class A:\n s = 2\n def __call__(self, Z): return self.s * Z\nf = A()",
    ),
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


def test_fingerprints_depend_on_parameters_and_fitted_state_only():
    X = np.random.RandomState(0).rand(3, 784)
    kernel = OrbitKernel(RBF(), Translation(1) * Rotation(15), features=OrientedGradients().fit(X))
    assert fingerprint(clone(kernel)) == fingerprint(clone(kernel))
    assert fingerprint(clone(kernel)) != fingerprint(kernel)
    assert fingerprint(clone(kernel).set_params(base__gamma=2)) != fingerprint(clone(kernel))
    assert fingerprint(clone(kernel).set_params(pooling="mean")) != fingerprint(clone(kernel))


def test_memory_recomputes_a_changed_function_of_the_same_name(tmp_path):
    digits = load_mnist_sample()
    X, y = digits.X_train[:30], digits.y_train[:30]
    for text in ("def f(Z): return Z[:, ::-1]", "def f(Z): return np.roll(Z, 3, axis=1)"):
        family = Custom([written(text)])
        kept = OrbitSVC(family, memory=str(tmp_path)).fit(X, y).smallest_eigenvalue_
        assert kept == OrbitSVC(family).fit(X, y).smallest_eigenvalue_


def test_functions_without_a_fingerprint_are_refused(tmp_path):
    digits = load_mnist_sample()
    lines = (line for line in "abc")
    family = Custom([lambda Z: Z if lines else -Z])
    with pytest.raises(ValueError, match="pass memory=None"):
        OrbitSVC(family, memory=str(tmp_path)).fit(digits.X_train[:30], digits.y_train[:30])


def test_code_in_a_module_of_the_user_changes_the_fingerprint(tmp_path, monkeypatch):
    import importlib
    import sys

    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "helper_of_user.py"
    path.write_text("def g(Z): return Z")
    module = importlib.import_module("helper_of_user")
    f = written("import helper_of_user\ndef f(Z): return helper_of_user.g(Z)")
    before = fingerprint(OrbitKernel(RBF(), Custom([f])))
    path.write_text("def g(Z): return 2 * Z")
    importlib.reload(module)
    assert fingerprint(OrbitKernel(RBF(), Custom([f]))) != before
    del sys.modules["helper_of_user"]


def test_features_with_internal_caches_are_cached_once(tmp_path):
    digits = load_mnist_sample()
    X, y = digits.X_train[:30], digits.y_train[:30]
    features = InvariantFeatures(None, 5, 3, random_state=0)
    svc = OrbitSVC(Translation(1), features=features, memory=str(tmp_path)).fit(X, y)
    again = OrbitSVC(Translation(1), features=features, memory=str(tmp_path)).fit(X, y)
    assert svc.smallest_eigenvalue_ == again.smallest_eigenvalue_
    assert len(list(tmp_path.rglob("output.pkl"))) == 1
