"""The classifier to begin with: what it decides, what it promises, and what it warns of."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.svm import SVC

from invarlearn import InvariantClassifier, VirtualSVC
from invarlearn.datasets import load_mnist_sample
from invarlearn.estimators.invariant import gaussian, median_square
from invarlearn.features.compress import principal_directions
from invarlearn.kernels import RBF
from invarlearn.solvers.groups import Ridge
from invarlearn.transforms import CyclicShift, Elastic, Identity, Reflection, Rotation, Translation


@pytest.fixture(scope="module")
def digits():
    return load_mnist_sample()


def small(**params):
    return InvariantClassifier(**{"n_copies": 8, "n_landmarks": 64, "n_components": 200} | params)


@pytest.fixture(scope="module")
def model(digits):
    return small().fit(digits.X_train[:60], digits.y_train[:60])


def test_few_digits_are_read_better_than_by_svms(digits):
    X, y = digits.X_train[:100], digits.y_train[:100]
    rivals = [SVC(C=10), VirtualSVC(Translation(1))]
    theirs = max(rival.fit(X, y).score(digits.X_test, digits.y_test) for rival in rivals)
    ours = small(n_copies=12).fit(X, y).score(digits.X_test, digits.y_test)
    assert ours > theirs + 0.05


def test_the_fit_is_least_squares_on_copies_in_the_kernel_of_features(digits, model):
    """By the parts that it names, put together again."""
    X, y = digits.X_train[:60].astype(float), digits.y_train[:60]
    copies = [X, *(g(X) for g in model.family_.sample(7, model._seed))]
    F = model.features_.transform(np.concatenate(copies)) - model._mean
    F = (F @ model._directions).astype(float)
    Y = np.tile(np.where(y[:, None] == model.classes_, 1.0, -1.0), (8, 1))
    alpha = Ridge(RBF(model.gamma_)(F), Y, model.lam_).alpha
    T = model.features_.transform(digits.X_test[:50].astype(float)) - model._mean
    expected = RBF(model.gamma_)((T @ model._directions).astype(float), F) @ alpha
    found = model.decision_function(digits.X_test[:50])
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_array_equal(
        model.predict(digits.X_test[:50]), model.classes_[found.argmax(axis=1)]
    )


def test_copies_of_a_sample_are_never_on_both_sides(digits):
    y = np.random.RandomState(0).randint(2, size=60)
    model = small().fit(digits.X_train[:60], y)
    assert model.score(digits.X_train[:60], y) > 0.95
    assert model.estimated_accuracy_ < 0.75
    low, high = model.interval_
    assert 0.3 < low < model.estimated_accuracy_ < high < 0.9


def test_the_estimate_is_near_the_truth(digits):
    model = small().fit(digits.X_train[:150], digits.y_train[:150])
    low, high = model.interval_
    assert low <= model.score(digits.X_test, digits.y_test) <= high


def test_same_seed_same_result_and_inputs_stay(digits, model):
    X = digits.X_train[:60].astype(float)
    X.flags.writeable = False
    again = clone(model).fit(X, digits.y_train[:60])
    np.testing.assert_array_equal(
        again.decision_function(digits.X_test[:20]), model.decision_function(digits.X_test[:20])
    )
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(digits.X_test), model.predict(digits.X_test))


@pytest.mark.parametrize(
    ("X", "shape", "image"),
    [
        (load_digits().data[:60], None, True),  # 8 x 8
        (np.repeat(load_digits().data[:60], 3, axis=1), (8, 8, 3), True),  # colours
        (np.kron(load_digits().images[:60], np.ones((2, 3))).reshape(60, -1), (16, 24), True),
        (load_iris().data[::3], None, False),
        (np.random.RandomState(0).rand(50, 36), None, False),  # too small for an image
    ],
    ids=["8x8", "colour", "16x24", "iris", "36 numbers"],
)
def test_it_knows_images_by_their_shape(X, shape, image):
    y = load_digits().target[:60] if image else np.repeat([0, 1, 2], 17)[: len(X)]
    model = small(shape=shape).fit(X, y)
    assert isinstance(model.family_, Identity) is not image
    assert model.n_copies_ == (8 if image else 1)
    assert ("LocalKernelFeatures" in model.summary()) is image
    if image:
        assert model.estimated_accuracy_ > 0.6


def test_families_without_a_list_will_do(digits):
    family = Elastic(20.0, 4.0) * Rotation(10)
    model = small(family=family).fit(digits.X_train[:60], digits.y_train[:60])
    assert model.score(digits.X_test[:300], digits.y_test[:300]) > 0.6


def test_rows_that_are_no_images_get_copies_too():
    rng = np.random.RandomState(0)
    t = np.arange(30)
    y = np.arange(60) % 3
    X = np.sin(2 * np.pi * ((y[:, None] + 1) * t / 30 + rng.rand(60, 1))) + 0.3 * rng.randn(60, 30)
    shifted = small(family=CyclicShift(), n_copies=30).fit(X[:15], y[:15]).score(X[15:], y[15:])
    assert shifted > small().fit(X[:15], y[:15]).score(X[15:], y[15:]) + 0.1


def test_it_warns_of_a_family_that_hurts():
    rng = np.random.RandomState(0)
    X = np.zeros((80, 12, 12))
    y = np.arange(80) % 2
    for image, up in zip(X, y, strict=True):
        column = rng.randint(3, 9)
        image[2:10, column] = 1
        image[2 if up else 9, column - 2 : column + 3] = 1  # a T, upright or upside down
    X = (X + 0.2 * rng.rand(*X.shape)).reshape(80, -1)
    with pytest.warns(UserWarning, match="the family seems to hurt"):
        small(family=Reflection(0)).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small(family=Translation(1)).fit(X, y)


def test_the_summary_says_what_was_done(model):
    text = model.summary()
    for part in ("Rotation", "copies: 8 of each of 60", "95 % interval", "seconds: features"):
        assert part in text
    assert len(model.lams_) == len(model.left_out_errors_)
    assert model.lam_ == model.lams_[model.left_out_errors_.argmin()]


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"family": "rotation"}, TypeError, "is not a Family"),
        ({"n_copies": 0}, ValueError, "n_copies=0"),
        ({"lam": 0}, ValueError, "lam=0 must be above 0"),
        ({"n_components": 0}, ValueError, "n_components=0"),
        ({"shape": (5, 5)}, ValueError, "shape"),
        ({"n_landmarks": 0}, ValueError, "n_landmarks=0"),
    ],
)
def test_mistakes_get_clear_errors(digits, params, error, message):
    with pytest.raises(error, match=message):
        small(**params).fit(digits.X_train[:20], digits.y_train[:20])


def test_numbers_that_single_precision_cannot_hold_get_a_clear_error():
    with pytest.raises(ValueError, match="too large for single precision"):
        small().fit(np.full((4, 3), 1e300), [0, 1, 0, 1])


def test_the_kernel_is_the_gaussian():
    rng = np.random.RandomState(0)
    X, Y = rng.randn(9, 5), rng.randn(7, 5)
    np.testing.assert_allclose(gaussian(X, Y, 0.3), RBF(0.3)(X, Y), rtol=1e-12)
    single = gaussian(X.astype(np.float32), X.astype(np.float32), 0.3)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, RBF(0.3)(X), atol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 30])
def test_median_squares(n):
    X = np.random.RandomState(0).randn(n, 4)
    pairs = [((a - b) ** 2).sum() for i, a in enumerate(X) for b in X[:i]]
    assert median_square(X) == pytest.approx(np.median(pairs) if pairs else 1.0)
    assert median_square(np.ones((5, 3))) == 1.0


def test_principal_directions_are_those_of_the_covariance():
    rng = np.random.RandomState(0)
    F = rng.randn(200, 80) * 0.9 ** np.arange(80) @ np.linalg.qr(rng.randn(80, 80))[0]
    mean, directions = principal_directions(F, 10, rng)
    np.testing.assert_allclose(mean, F.mean(axis=0))
    np.testing.assert_allclose(directions.T @ directions, np.eye(10), atol=1e-8)
    _, _, exact = np.linalg.svd(F - mean, full_matrices=False)
    np.testing.assert_allclose(np.abs(np.sum(directions * exact[:10].T, axis=0)), 1, atol=1e-3)
    # no more than there are
    assert principal_directions(F[:5], 10, rng)[1].shape == (80, 4)
