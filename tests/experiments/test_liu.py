"""The authors' settings of Liu et al. (2022), on the digits of the package."""

import numpy as np
import pytest
from scipy.ndimage import rotate
from scipy.signal import correlate2d
from sklearn.neighbors import KNeighborsClassifier

from invarlearn import TangentDistanceClassifier
from invarlearn.datasets import load_mnist_sample
from invarlearn.experiments import liu_authors
from invarlearn.experiments.liu_definiteness import definite_rows, run_theorem
from invarlearn.kernels import OrbitKernel, Polynomial
from invarlearn.transforms import Rotation, Translation


@pytest.fixture(scope="module")
def split():
    digits = load_mnist_sample()
    return digits.X_train[:60], digits.y_train[:60], digits.X_test[:40], digits.y_test[:40]


def shifted_and_rotated(y, shift_first):
    """All circular shifts by up to 1 pixel, and rotations by -1, 0 and 1 degrees."""
    image = y.reshape(28, 28)
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            for degrees in (-1, 0, 1):
                if shift_first:
                    moved = np.roll(image, (down, right), axis=(0, 1))
                    yield rotate(moved, degrees, reshape=False).ravel()
                else:
                    moved = rotate(image, degrees, reshape=False)
                    yield np.roll(moved, (down, right), axis=(0, 1)).ravel()


@pytest.mark.parametrize("shift_first", [True, False])
def test_products_of_families_apply_the_last_part_first(split, shift_first):
    x, y = split[0][:1].astype(float), split[2][:1].astype(float)
    shifts, rotations = Translation(1, wrap=True), liu_authors.whole_degrees(-1, 1)
    family = rotations * shifts if shift_first else shifts * rotations
    value = OrbitKernel(Polynomial(8, 1 / 784), family).to_orbits(x, y)[0, 0]
    products = [x[0] @ moved for moved in shifted_and_rotated(y[0], shift_first)]
    assert value == pytest.approx((max(products) / 784 + 1) ** 8, rel=1e-9)


def test_the_local_kernel_divides_the_sum_over_the_image_by_its_side(split):
    x, y = split[0][0].reshape(28, 28).astype(float), split[2][0].reshape(28, 28).astype(float)
    padded = np.pad(x * y, 4)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (9, 9)).sum(axis=(2, 3))
    expected = (((windows / 81 + 1) ** 2).sum() / 28 + 1) ** 4
    kernel = liu_authors.table_kernel("L")
    value = kernel.to_orbits(x.reshape(1, -1), y.reshape(1, -1))[0, 0]
    assert value == pytest.approx(expected, rel=1e-9)


def test_only_training_images_are_transformed_in_the_average_fit(split):
    x, y = split[0][:1].astype(float), split[2][:1].astype(float)
    image = y.reshape(28, 28)
    values = [
        (x[0] @ rotate(image, degrees, reshape=False).ravel() / 784 + 1) ** 8
        for degrees in range(-10, 10)
    ]
    kernel = liu_authors.table_kernel("RI, average fit")
    assert kernel.to_orbits(x, y)[0, 0] == pytest.approx(np.mean(values))


# with C = 1 and so small a gamma, the SVM on tangent distances is hardly fitted
@pytest.mark.parametrize("method", [m for m in liu_authors.TABLE_METHODS if m != "TD-SVM"])
def test_every_row_is_better_than_chance(split, method):
    if method in ("TI-RI", "L-TI-RI"):
        split = tuple(part[:20] for part in split)
    n_classes = 10
    chance = 100 / n_classes
    assert liu_authors.row_accuracy(method, "MNIST", split) > 1.5 * chance


def test_ties_of_neighbours_go_to_the_smallest_label(split):
    X, y, X_test, y_test = split
    knn = TangentDistanceClassifier(liu_authors.ShiftsAndRotations()).fit(X, y)
    distances, indices = knn.kneighbors(X_test, len(X))
    table = np.empty_like(distances)
    np.put_along_axis(table, indices, distances, axis=1)
    theirs = KNeighborsClassifier(3, metric="precomputed").fit(np.zeros((len(X), len(X))), y)
    assert liu_authors.neighbours_accuracy(split) == pytest.approx(
        100 * theirs.score(table, y_test)
    )


def test_derivatives_are_correlations_with_the_template(split):
    template = np.zeros((5, 5))
    template[1:4, 1] = -0.5 * np.array([0.1667, 0.6667, 0.1667])
    template[2, 0] = -0.08
    template -= template[:, ::-1]
    X = split[0][:2].astype(float)
    down, right = liu_authors.ShiftsAndRotations().gradients(X)
    for image, d, r in zip(X.reshape(-1, 28, 28), down[..., 0], right[..., 0], strict=True):
        np.testing.assert_allclose(r, correlate2d(image, template, mode="same"), atol=1e-12)
        np.testing.assert_allclose(d, correlate2d(image, template.T, mode="same"), atol=1e-12)


def test_tangents_are_those_of_shifts_and_rotations(split):
    """Up to the template, which has a larger scale and another smoothing."""
    X = split[0][:20].astype(float)
    ours = liu_authors.ShiftsAndRotations().tangents(X)
    others = (Translation(1) * Rotation(10)).tangents(X, smoothing=0.5)
    cosines = np.einsum("nkd,nkd->nk", ours, others)
    cosines /= np.linalg.norm(ours, axis=2) * np.linalg.norm(others, axis=2)
    assert np.abs(cosines).min() > 0.95


def test_the_authors_split_is_theirs(real_data):
    X, y, X_test, y_test = liu_authors.authors_images()
    assert (len(X), len(X_test)) == (50000, 10000)
    # the accuracies that the paper prints, to the last digit
    split = X[:100], y[:100], X_test, y_test
    assert round(liu_authors.row_accuracy("SVM", "MNIST", split), 2) == 68.16
    assert round(liu_authors.row_accuracy("TD", "MNIST", split), 2) == 73.04


@pytest.mark.parametrize("make", [liu_authors.shifted_whole, liu_authors.rotated_whole])
def test_moved_digits_are_whole(split, make):
    X = split[0][:10]
    moved = make(X, 0.0, 0)
    assert moved.shape == (10, 64 * 64)
    np.testing.assert_allclose(moved.sum(axis=1), X.sum(axis=1), rtol=0.02)
    np.testing.assert_array_equal(make(X, 0.0, 0), moved)
    noisy = make(X, 0.1, 0)
    background = noisy.reshape(10, 64, 64)[moved.reshape(10, 64, 64) == 0]
    assert 0.02 < background.std() < 0.12


def test_definite_rows_agrees_with_trying_every_size():
    rng = np.random.RandomState(0)
    rows = rng.standard_normal((12, 20))
    gram = rows @ rows.T
    gram[7:, 7:] -= 0.9 * np.diag(np.diag(gram)[7:])
    smallest = [np.linalg.eigvalsh(gram[:n, :n])[0] for n in range(1, 13)]
    expected = max(n for n, value in enumerate(smallest, 1) if value > 0)
    # the matrix is overwritten
    assert definite_rows(gram.copy()) == expected < 12
    assert definite_rows(np.eye(4)) == 4
    gram[2, 1] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        definite_rows(gram)


@pytest.mark.parametrize("what", ["TI, linear", "TI, polynomial", "RI, polynomial"])
def test_the_bound_is_enough_and_many_times_it_is_not(what):
    assert run_theorem(what, 1.0, 16, 20, 0)["definite"] == 100
    if what == "TI, linear":
        assert run_theorem(what, 128.0, 8, 5, 0)["definite"] == 0


def test_the_residual_network_learns(split):
    pytest.importorskip("torch", reason="the extra 'rivals' is not installed")
    from invarlearn.experiments.resnet import ResNet18, resnet18

    digits = load_mnist_sample()
    is_binary, is_binary_test = digits.y_train[:400] < 2, digits.y_test[:200] < 2
    network = ResNet18(n_epochs=10).fit(
        digits.X_train[:400][is_binary], digits.y_train[:400][is_binary]
    )
    rows, labels = digits.X_test[:200][is_binary_test], digits.y_test[:200][is_binary_test]
    assert network.score(rows, labels) > 0.9
    X, y, _, _ = split
    again = ResNet18(n_epochs=1).fit(X, y).predict(X)
    np.testing.assert_array_equal(ResNet18(n_epochs=1).fit(X, y).predict(X), again)
    # the number of weights of torchvision's resnet18 with one input channel and ten classes
    n_weights = sum(weights.numel() for weights in resnet18(10).parameters())
    assert n_weights == 11_175_370
