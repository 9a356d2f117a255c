"""Blocks of similarities on a Dask cluster of worker processes."""

import os
import signal

import numpy as np
import pytest
from joblib import parallel_config
from sklearn import config_context

from invarlearn import OrbitSVC
from invarlearn.datasets import load_mnist_sample
from invarlearn.kernels import RBF, LocalPolynomial, OrbitKernel
from invarlearn.transforms import Custom, Rotation, Translation

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 3, "threads_per_worker": 1, "processes": True}
    with (
        distributed.LocalCluster(**options, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def digits(n):
    return load_mnist_sample().X_train[:n]


@pytest.mark.parametrize(
    "kernel",
    [
        OrbitKernel(RBF(3.0), Translation(1) * Rotation(15), normalize=True),
        OrbitKernel(LocalPolynomial((3,), (2, 4)), Translation(3, wrap=True)),
        OrbitKernel(RBF(3.0), Rotation(15), "mean", normalize=True),
    ],
    ids=["listed", "spectral", "mean"],
)
def test_a_cluster_computes_the_same_values(cluster, kernel):
    X = digits(60)
    with config_context(working_memory=4):
        here = kernel(X)
        with parallel_config(backend="dask"):
            there = kernel(X)
    np.testing.assert_allclose(there, here, rtol=0, atol=1e-6 * np.abs(here).max())


def test_an_estimator_is_trained_and_predicts_on_a_cluster(cluster):
    data = load_mnist_sample()
    svc = OrbitSVC(Translation(1) * Rotation(15))
    here = svc.fit(data.X_train[:80], data.y_train[:80]).decision_function(data.X_test[:40])
    with parallel_config(backend="dask"):
        svc.fit(data.X_train[:80], data.y_train[:80])
        there = svc.decision_function(data.X_test[:40])
    # libsvm stops within its own tolerance
    np.testing.assert_allclose(there, here, atol=1e-3)


def test_a_killed_worker_does_not_change_the_values(cluster, tmp_path):
    marks = tmp_path / "blocks"
    parent = os.getpid()

    def mirrored(rows):
        """Reverse rows; the third block that a worker begins kills that worker."""
        if os.getpid() != parent:
            with open(marks, "a") as file:
                file.write("begun\n")
            if marks.read_text().count("begun") == 3:
                os.kill(os.getpid(), signal.SIGKILL)
        return rows[:, ::-1]

    kernel = OrbitKernel(RBF(3.0), Custom([mirrored]), normalize=True)
    X = digits(100)
    with config_context(working_memory=1):
        here = kernel(X)
        with parallel_config(backend="dask"):
            there = kernel(X)
    assert marks.read_text().count("begun") > 3, "no worker was killed before the end"
    np.testing.assert_allclose(there, here, rtol=0, atol=1e-6)
