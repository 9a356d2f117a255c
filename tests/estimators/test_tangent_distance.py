"""Tangent distance against least squares for each pair of rows."""

import numpy as np
import pytest
from sklearn import config_context

from invarlearn import TangentDistanceClassifier
from invarlearn.kernels._tangent_distance import one_sided, two_sided
from invarlearn.kernels.tangent_planes import orthonormal
from invarlearn.transforms import CyclicShift, Rotation, Scaling, Thickness, Translation


def least_squares(x, y, columns):
    """min over a of |x - y - columns a|^2."""
    difference = x - y
    a = np.linalg.lstsq(columns, difference, rcond=1e-10)[0]
    return float(((difference - columns @ a) ** 2).sum())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_distances_are_least_squares(digits, dtype):
    family = Translation(1) * Rotation(10) * Scaling(1.1) * Thickness(1)
    X, Y = digits.X_test[:6].astype(dtype), digits.X_train[:8].astype(dtype)
    tangents_x, tangents_y = family.tangents(X), family.tangents(Y)
    basis_x, basis_y = orthonormal(tangents_x), orthonormal(tangents_y)
    two = two_sided(X, basis_x, Y, basis_y)
    one = one_sided(X, Y, basis_y)
    assert two.dtype == one.dtype == dtype
    tolerance = {"rtol": 1e-5 if dtype == np.float64 else 1e-3}
    for i in range(6):
        for j in range(8):
            x, y = X[i].astype(float), Y[j].astype(float)
            both = np.concatenate([tangents_x[i], tangents_y[j]]).T.astype(float)
            assert two[i, j] == pytest.approx(least_squares(x, y, both), rel=tolerance["rtol"])
            single = least_squares(x, y, tangents_y[j].T.astype(float))
            assert one[i, j] == pytest.approx(single, rel=tolerance["rtol"])
            assert two[i, j] <= one[i, j] * 1.0001


def test_bases_are_orthonormal_and_zero_where_nothing_is_left():
    rng = np.random.RandomState(0)
    tangents = rng.randn(5, 3, 20)
    tangents[1, 2] = tangents[1, 0] + tangents[1, 1]
    tangents[2] = 0
    basis = orthonormal(tangents)
    gram = basis @ basis.transpose(0, 2, 1)
    np.testing.assert_allclose(gram[0], np.eye(3), atol=1e-9)
    assert np.linalg.matrix_rank(gram[1], tol=1e-6) == 2
    assert not basis[2].any()
    # the plane is the same
    coefficients = np.linalg.lstsq(basis[0].T, tangents[0].T, rcond=None)[0]
    np.testing.assert_allclose(basis[0].T @ coefficients, tangents[0].T, atol=1e-9)


def test_the_distance_to_a_small_transformation_is_nearly_zero(digits):
    family = Translation(1) * Rotation(10)
    x = family.smooth(digits.X_test[:1].astype(float))
    moved = x + 0.01 * family.tangents(x, smoothing=0)[:, 2]
    knn = TangentDistanceClassifier(family, smoothing=0)
    knn.fit(np.concatenate([moved, digits.X_train[:5]]), np.arange(6))
    distance, index = knn.kneighbors(x)
    assert index[0, 0] == 0
    assert distance[0, 0] ** 2 < 1e-3 * ((x - moved) ** 2).sum()


def test_without_directions_it_is_euclidean(digits):
    X, Y = digits.X_test[:20], digits.X_train[:50]
    from invarlearn.transforms import Identity

    knn = TangentDistanceClassifier(Identity(), n_neighbors=3).fit(Y, digits.y_train[:50])
    distance, index = knn.kneighbors(X)
    truth = ((X[:, None].astype(float) - Y[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(index, np.argsort(truth, axis=1)[:, :3])
    np.testing.assert_allclose(distance, np.sqrt(np.sort(truth, axis=1)[:, :3]), rtol=1e-4)


def test_blocks_and_threads_do_not_change_the_neighbours(digits):
    args = digits.X_train[:40], digits.y_train[:40]
    whole = TangentDistanceClassifier().fit(*args).kneighbors(digits.X_test[:50], 5)
    threads = TangentDistanceClassifier(n_jobs=2).fit(*args).kneighbors(digits.X_test[:50], 5)
    np.testing.assert_array_equal(whole, threads)
    with config_context(working_memory=4):
        parts = TangentDistanceClassifier().fit(*args).kneighbors(digits.X_test[:50], 5)
    np.testing.assert_array_equal(whole[1], parts[1])
    np.testing.assert_allclose(whole[0], parts[0], rtol=1e-4)


def test_ties_go_to_the_nearest():
    X = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 3.0], [0.0, 0.0, 4.0]])
    from invarlearn.transforms import Identity

    knn = TangentDistanceClassifier(Identity(), n_neighbors=4).fit(X, [1, 0, 0, 1])
    assert knn.predict([[0.0, 0.0, 0.0]]) == [1]


def test_it_beats_euclidean_neighbours(digits):
    from sklearn.neighbors import KNeighborsClassifier

    X, y = digits.X_train[:100], digits.y_train[:100]
    plain = KNeighborsClassifier(1).fit(X, y).score(digits.X_test[:500], digits.y_test[:500])
    one = TangentDistanceClassifier(sides=1).fit(X, y)
    two = TangentDistanceClassifier(sides=2).fit(X, y)
    scores = [m.score(digits.X_test[:500], digits.y_test[:500]) for m in (one, two)]
    assert plain + 0.02 < scores[0] < scores[1]


def test_bad_input_gets_clear_errors():
    X, y = np.random.RandomState(0).rand(6, 9), [0, 1] * 3
    with pytest.raises(ValueError, match="sides=3"):
        TangentDistanceClassifier(sides=3).fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors=7"):
        TangentDistanceClassifier(n_neighbors=7).fit(X, y)
    with pytest.raises(ValueError, match="n_samples = 6"):
        TangentDistanceClassifier().fit(X, y).kneighbors(X, 7)
    with pytest.raises(TypeError, match="is not a Family"):
        TangentDistanceClassifier("rotation").fit(X, y)
    with pytest.raises(ValueError, match="not a square one"):
        TangentDistanceClassifier().fit(X[:, :8], y)
    assert TangentDistanceClassifier(CyclicShift()).fit(X[:, :8], y).predict(X[:, :8]).shape == (6,)


@pytest.mark.parametrize("offset", [0.0, 1000.0])
@pytest.mark.parametrize("sides", [1, 2])
def test_single_precision_survives_an_offset(digits, offset, sides):
    family = Translation(1, fill="edge") * Rotation(10, fill="edge")
    X, y = digits.X_train[:60] + np.float32(offset), digits.y_train[:60]
    X_test = digits.X_test[:100] + np.float32(offset)
    single = TangentDistanceClassifier(family, sides=sides).fit(X, y)
    double = TangentDistanceClassifier(family, sides=sides).fit(X.astype(float), y)
    (near, which), (truth, expected) = single.kneighbors(X_test), double.kneighbors(X_test)
    assert (which == expected).mean() > 0.97
    np.testing.assert_allclose(near, truth, rtol=1e-2)


@pytest.mark.parametrize("scale", [1e-4, 1e7])
def test_the_unit_of_the_pixels_does_not_matter(digits, scale):
    X, y, X_test = digits.X_train[:40].astype(float), digits.y_train[:40], digits.X_test[:50]
    plain = TangentDistanceClassifier().fit(X, y).kneighbors(X_test)
    scaled = TangentDistanceClassifier().fit(scale * X, y).kneighbors(scale * X_test.astype(float))
    np.testing.assert_array_equal(plain[1], scaled[1])
    np.testing.assert_allclose(scaled[0], scale * plain[0], rtol=1e-4)


def test_later_changes_of_parameters_and_rows_have_no_effect(digits):
    family = Translation(1) * Rotation(10)
    X = digits.X_train[:40].copy()
    knn = TangentDistanceClassifier(family, smoothing=0).fit(X, digits.y_train[:40])
    before = knn.kneighbors(digits.X_test[:20])
    family.set_params(rotation=Scaling(1.1))
    knn.set_params(smoothing=3)
    X[:] = 0
    after = knn.kneighbors(digits.X_test[:20])
    np.testing.assert_array_equal(before[0], after[0])


def test_memory_is_bounded_by_blocks(digits):
    import tracemalloc

    knn = TangentDistanceClassifier().fit(digits.X_train[:10], digits.y_train[:10])
    X = np.concatenate([digits.X_train, digits.X_test])
    knn.predict(X[:10])
    tracemalloc.start()
    knn.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # the tangents of all rows alone, in double precision, take 175 MB
    assert peak < 160e6
