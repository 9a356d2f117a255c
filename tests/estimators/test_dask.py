"""Features and least squares on a Dask cluster of worker processes."""

import os
import signal

import numpy as np
import pytest

from invarlearn import InvariantFeatures, RLSClassifier, RLSRegressor
from invarlearn.datasets import load_mnist_sample
from invarlearn.features import Centred, OrientedGradients
from invarlearn.transforms import Translation

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 4, "threads_per_worker": 1, "processes": True}
    with (
        distributed.LocalCluster(**options, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def rows():
    digits = load_mnist_sample()
    features = InvariantFeatures(Translation(1), 20, 6, random_state=0).fit(digits.X_train[:200])
    return digits.X_train, digits.y_train, features


@pytest.mark.parametrize("lam", [None, 1e-3])
def test_a_cluster_fits_the_same_model(cluster, rows, lam):
    X, y, features = rows
    here = RLSClassifier(lam, n_held_out=300).fit(features.transform(X), y)
    blocks = features.transform(da.from_array(X, chunks=(230, 400)))
    there = RLSClassifier(lam, n_held_out=300).fit(blocks, da.from_array(y, chunks=230))
    assert blocks.chunks[1] == (120,)
    assert there.lam_ == pytest.approx(here.lam_, rel=1e-4)
    scale = np.abs(here.coef_).max()
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-5 * scale)
    np.testing.assert_allclose(there.intercept_, here.intercept_, atol=1e-5)
    np.testing.assert_array_equal(there.predict(features.transform(X)), here.predict(blocks))


def test_regression_and_dataframes(cluster, rows):
    pandas = pytest.importorskip("pandas")
    dataframe = pytest.importorskip("dask.dataframe")
    X, y, features = rows
    table = dataframe.from_pandas(pandas.DataFrame(X[:600]), npartitions=5)
    labels = dataframe.from_pandas(pandas.Series(y[:600]), npartitions=5)
    here = RLSClassifier().fit(features.transform(X[:600]), y[:600])
    there = RLSClassifier().fit(features.transform(table), labels)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-5 * np.abs(here.coef_).max())
    numbers = da.from_array(y[:600].astype(float), chunks=100)
    A = features.transform(X[:600])
    distributed_fit = RLSRegressor().fit(da.from_array(A, chunks=(100, -1)), numbers)
    local = RLSRegressor().fit(A, y[:600].astype(float))
    np.testing.assert_allclose(
        distributed_fit.coef_, local.coef_, atol=1e-5 * np.abs(local.coef_).max()
    )


def test_a_killed_worker_does_not_change_the_model(cluster, rows, tmp_path):
    X, y, features = rows
    marks = tmp_path / "blocks"
    parent = os.getpid()

    def deadly(block):
        """Return the block unchanged; the fourth block that a worker begins kills that worker."""
        if os.getpid() != parent and len(block):
            with open(marks, "a") as file:
                file.write("begun\n")
            if marks.read_text().count("begun") == 4:
                os.kill(os.getpid(), signal.SIGKILL)
        return block

    here = RLSClassifier(n_held_out=300).fit(features.transform(X), y)
    blocks = da.from_array(X, chunks=(150, -1)).map_blocks(deadly, dtype=X.dtype)
    there = RLSClassifier(n_held_out=300).fit(
        features.transform(blocks), da.from_array(y, chunks=150)
    )
    assert marks.read_text().count("begun") > 14
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-5 * np.abs(here.coef_).max())


def test_bad_input_gets_clear_errors(rows):
    X, y, _ = rows
    blocks, labels = da.from_array(X, chunks=(500, -1)), da.from_array(y, chunks=500)
    cases = [
        (lambda: RLSClassifier().fit(blocks, y), "y is not"),
        (
            lambda: RLSClassifier().fit(blocks, labels.rechunk(400)),
            "rechunk them to the same blocks",
        ),
        (lambda: RLSClassifier().fit(blocks, labels, sample_weight=labels), "sample_weight"),
        (lambda: RLSClassifier(class_weight="balanced").fit(blocks, labels), "dict of"),
        (lambda: RLSClassifier().fit(blocks, da.zeros(2000, chunks=500)), "one class only"),
    ]
    for run, message in cases:
        with pytest.raises((TypeError, ValueError), match=message):
            run()
    numbers = da.from_array(np.where(np.arange(2000) == 7, np.nan, 1.0 * y), chunks=500)
    with pytest.raises(ValueError, match="NaN"):
        RLSRegressor().fit(blocks, numbers)
    with pytest.raises(ValueError, match="NaN"):
        RLSClassifier().fit(blocks, numbers)
    with pytest.raises(ValueError, match="continuous"):
        RLSClassifier().fit(blocks, labels + 0.5 * blocks[:, 300])


def test_features_are_fitted_on_rows_of_all_blocks(rows):
    X, _, _ = rows
    dark = np.concatenate([np.zeros_like(X[:500]), X[:1500]])
    fitted = InvariantFeatures(Translation(1), 20, 6, random_state=0)
    fitted.fit(da.from_array(dark, chunks=(100, -1)))
    same = InvariantFeatures(Translation(1), 20, 6, random_state=0).fit(dark)
    spread = same.thresholds_.std()
    assert np.abs(fitted.thresholds_ - same.thresholds_).mean() < 0.1 * spread


def test_empty_blocks_and_predictions(rows):
    X, y, features = rows
    keep = np.arange(2000) >= 400
    blocks = da.from_array(X, chunks=(200, -1))[keep]
    labels = da.from_array(y, chunks=200)[keep]
    maps = features.transform(blocks)
    there = RLSClassifier().fit(maps, labels)
    here = RLSClassifier().fit(features.transform(X[keep]), y[keep])
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-5 * np.abs(here.coef_).max())
    predicted = there.predict(maps)
    assert isinstance(predicted, da.Array)
    np.testing.assert_array_equal(predicted.compute(), here.predict(features.transform(X[keep])))
    assert there.decision_function(maps).compute().shape == (1600, 10)
    for kind in (np.float32, np.float64):
        sample = X[:60].astype(kind)
        for step in (OrientedGradients(), Centred().fit(sample)):
            lazy = step.transform(da.from_array(sample, chunks=(20, -1)))
            assert lazy.dtype == lazy.compute().dtype == kind
            np.testing.assert_allclose(lazy.compute(), step.transform(sample), atol=1e-6)
    two = RLSRegressor().fit(maps, da.stack([labels, -labels], axis=1).rechunk({1: -1}) * 1.0)
    assert two.predict(maps).compute().shape == (1600, 2)


def test_generators_as_random_state_are_drawn_from_once(rows):
    X, y, features = rows
    maps = da.from_array(features.transform(X[:400]), chunks=(20, -1))
    labels = da.from_array(y[:400], chunks=20)
    lams = {
        RLSClassifier(n_held_out=5, random_state=np.random.RandomState(0)).fit(maps, labels).lam_
        for _ in range(4)
    }
    assert len(lams) == 1
