"""The classifier to begin with: what it decides, what it promises, and what it warns of."""

import pickle
import re
import warnings

import numpy as np
import pytest
from scipy.linalg import sqrtm
from scipy.signal import lfilter
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_sample_image
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, SVR

from invarlearn import InvariantClassifier, InvariantRegressor, VirtualSVC
from invarlearn._shares import share_of
from invarlearn.datasets import load_mnist_sample, translated
from invarlearn.estimators import _copies, _images, _leave_out
from invarlearn.estimators._images import moves_far
from invarlearn.estimators._moved import Moved
from invarlearn.features.compress import principal_directions, whitening
from invarlearn.features.defaults import default_family, default_features
from invarlearn.features.oriented import noise_of
from invarlearn.kernels import RBF
from invarlearn.kernels._gaussian import lower_similarity, median_square, similarity
from invarlearn.solvers.groups import Ridge
from invarlearn.transforms import (
    CyclicShift,
    Elastic,
    FeatureScaling,
    Identity,
    PitchShift,
    Reflection,
    Rotation,
    Translation,
)


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
    X, y = digits.X_train[:60][model._order], digits.y_train[:60][model._order]
    copies = [X, *(Moved(model.family_, 64, model._seed + i)(X) for i in range(7))]
    F = model.features_.transform(np.concatenate(copies)) - model._mean
    F = (F @ model._directions).astype(float)
    Y = np.tile(np.where(y[:, None] == model.classes_, 1.0, -1.0), (8, 1))
    alpha = Ridge(RBF(model.gamma_)(F) + 1, Y, model.lam_).alpha
    T = model.features_.transform(digits.X_test[:50]) - model._mean
    expected = (RBF(model.gamma_)((T @ model._directions).astype(float), F) + 1) @ alpha
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
    shifted = small(family=CyclicShift(), n_copies=30).fit(X[:15], y[:15])
    assert "InvariantFeatures" in shifted.summary()
    plain = small(family=CyclicShift(), n_copies=30, features=StandardScaler()).fit(X[:15], y[:15])
    alone = small().fit(X[:15], y[:15]).score(X[15:], y[15:])
    assert shifted.score(X[15:], y[15:]) > alone + 0.1
    assert plain.score(X[15:], y[15:]) > alone + 0.1


def test_long_orbits_are_sampled():
    X = np.random.RandomState(0).rand(12, 300)
    model = small(family=CyclicShift(), n_copies=2).fit(X, np.arange(12) % 2)
    assert model.features_[0].n_elements == 256


def test_it_warns_of_a_family_that_hurts():
    rng = np.random.RandomState(0)
    X = np.zeros((80, 12, 12))
    y = np.arange(80) % 2
    for image, up in zip(X, y, strict=True):
        column = rng.randint(3, 9)
        image[2:10, column] = 1
        image[2 if up else 9, column - 2 : column + 3] = 1  # a T, upright or upside down
    X = (X + 0.2 * rng.rand(*X.shape)).reshape(80, -1)
    with pytest.warns(UserWarning, match="the family seems to hurt") as caught:
        small(family=Reflection(0)).fit(X, y)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small(family=Translation(1)).fit(X, y)


def test_the_summary_says_what_was_done(model):
    text = model.summary()
    for part in ("rotation:15", "copies: 8 of each of 60", "95 % interval", "seconds: features"):
        assert part in text
    assert len(model.lams_) == len(model.left_out_errors_)
    assert model.lam_ == model.lams_[model.left_out_errors_.argmin()]


def test_the_summary_says_what_would_be_without_the_family(digits):
    X, y = digits.X_train[:60], digits.y_train[:60]
    without = small(n_copies=1).fit(X, y)
    moved = small(family=Rotation(15)).fit(X, y)
    expected = f"without the family: {100 * without.estimated_accuracy_:.1f} % are right"
    assert expected in moved.summary()
    assert "without the family" not in without.summary()


def bumps():
    """Give signals whose class is the place of a bump."""
    rng = np.random.RandomState(0)
    X, y = 0.1 * rng.randn(80, 48), np.arange(80) % 2
    for row, label in zip(X, y, strict=True):
        row[12 + 24 * label + np.arange(-2, 3)] += 1
    return X, y


def test_it_warns_of_shifts_where_the_place_matters():
    # features of sequences do not change under the family: without it there must be others
    X, y = bumps()
    with pytest.warns(UserWarning, match="the family seems to hurt"):
        model = small(family=CyclicShift()).fit(X, y)
    assert "without the family: 100.0 % are right" in model.summary()


def test_regression_tells_r2_alike_with_and_without_a_family():
    rng = np.random.RandomState(0)
    X = rng.rand(60, 12)
    y = np.column_stack([X[:, 0] + 5, np.full(60, 3.0)])
    params = {"n_copies": 4, "random_state": 0}
    without = InvariantRegressor(Identity(), **params).fit(X, y)
    moved = InvariantRegressor(FeatureScaling(0.9, 1.1, budget=1), **params).fit(X, y)
    assert f"without the family: R2 is {without.estimated_r2_:.3f}" in moved.summary()
    constant = InvariantRegressor(FeatureScaling(0.9, 1.1, budget=1), **params)
    assert "without the family" not in constant.fit(X, np.full(60, 3.0)).summary()


def test_few_large_errors_count_more_than_many_small_ones():
    model = InvariantRegressor()
    Y = np.zeros((90, 1))
    before, after = np.full((90, 1), 0.10**0.5), np.full((90, 1), 0.11**0.5)
    before[60:], after[60:] = 1.0, 0.2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model._warn_if_worse(after, before, Y, None)


def test_signals_keep_how_strong_they_are():
    def peaks(n, seed):
        rng = np.random.RandomState(seed)
        where, height = 25 + rng.uniform(-5, 5, n), rng.uniform(0.5, 1.5, n)
        away = np.arange(50) - where[:, None]
        return height[:, None] * np.exp(-((away / 3) ** 2)) + 0.05 * rng.randn(n, 50), height

    (X, y), (X_new, y_new) = peaks(60, 0), peaks(300, 1)
    family = Translation(5, shape=(1, 50))
    model = InvariantRegressor(family, n_copies=4).fit(X, y)
    # edges of an image would not have it
    assert model.score(X_new, y_new) > max(0.95, SVR(C=10).fit(X, y).score(X_new, y_new))
    assert "features: InvariantFeatures" in model.summary()
    assert (
        "features of images of 28 x 28: OrientedGradients"
        in small().fit(load_mnist_sample().X_train[:20], np.arange(20) % 2).summary()
    )
    columns = InvariantRegressor(family.with_shape((50, 1)), n_copies=4).fit(X, y)
    assert columns.score(X_new, y_new) > 0.95


def rows_of(kind, rng):
    """Give 80 rows of a square number of something that is no grey square, or is one."""
    if kind == "signals":
        return np.sin(rng.rand(80, 1) * 6 + np.arange(256) / 8) + 0.1 * rng.randn(80, 256)
    if kind == "noisy signals":
        return lfilter([1], [1, -0.5], rng.randn(80, 256), axis=1)
    if kind == "table":
        table = rng.randn(80, 64) * rng.rand(64)
        table[:, 0] = np.arange(80)  # a number of the sample
        return table
    if kind == "scores":
        return PCA(64).fit_transform(load_mnist_sample().X_train)[:80]
    if kind == "colours":
        photograph = load_sample_image("china.jpg") / 255.0
        at = rng.randint(300, size=(80, 2))
        return np.stack([photograph[i : i + 24, j : j + 32].ravel() for i, j in at])
    down, right = np.mgrid[:16, :16]
    at = rng.uniform(4, 12, (80, 2, 1, 1))
    spots = np.exp(-((down - at[:, 0]) ** 2 + (right - at[:, 1]) ** 2) / 20)
    if kind == "grey":
        return spots.reshape(80, -1)
    images = spots[..., None] * rng.rand(80, 1, 1, 4)
    images[..., 3] = 1
    return images.reshape(80, -1)


@pytest.mark.parametrize(
    "kind", ["signals", "noisy signals", "table", "scores", "colours", "with alpha"]
)
def test_rows_that_do_not_look_like_grey_squares_are_told_of(kind):
    X, y = rows_of(kind, np.random.RandomState(0)), np.arange(80) % 2
    side = int(X.shape[1] ** 0.5)
    for family in (None, Translation(2)):
        with pytest.warns(UserWarning, match=f"taken for grey images of {side} x {side}") as caught:
            small(family=family, n_copies=2).fit(X, y)
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "the family seems to hurt")
        small(shape=(side, side), n_copies=2).fit(X, y)
        small(family=Translation(2, shape=(1, side * side)), n_copies=2).fit(X, y)
        small(family=Identity()).fit(X, y)


def test_images_look_like_images(digits):
    rng, y = np.random.RandomState(0), digits.y_train[:40]
    X = digits.X_train[:40]
    hot = X.copy()
    hot[7, 300] = 50
    eights = load_digits()
    by_class = np.argsort(eights.target, kind="stable")[:400]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for images in (X, 1 - X, X + 0.3 * rng.randn(*X.shape), hot, 255 * X):
            small(n_copies=2).fit(images, y)
        # the first hundreds are all of one class
        small(n_copies=2).fit(eights.data[by_class], eights.target[by_class])
        warnings.filterwarnings("ignore", "the family seems to hurt")
        small(n_copies=2).fit(rows_of("grey", rng), np.arange(80) % 2)
        # too small for the default family: nothing is said
        small(family=Translation(1), n_copies=2).fit(rng.rand(80, 4), np.arange(80) % 2)


def test_one_line_is_shifted_if_nothing_is_said():
    family = default_family((1, 140), 140, "here")
    assert repr(family) == "Translation(radius=10.0, shape=(1, 140))"
    assert repr(default_family((140, 1), 140, "here")) == "Translation(radius=10.0, shape=(140, 1))"


def test_directions_within_classes_are_those_of_all_samples_that_are_left_out(digits, monkeypatch):
    monkeypatch.setattr(_copies, "CHOICE_ROWS", 60)  # three copies of 20 samples
    monkeypatch.setattr(_copies, "ESTIMATE_ROWS", 180)
    X, y = digits.X_train[:60], digits.y_train[:60] % 3
    refined = small(n_copies=3).fit(X, y)
    monkeypatch.setattr(_copies, "PRIOR_SAMPLES", 1e12)
    plain = small(n_copies=3).fit(X, y)
    classes = np.tile(y[plain._order], 3)
    white = whitening(plain._rows, classes, 0.5 * 57 / (57 + 300), 0.3)
    np.testing.assert_allclose(refined._rows, plain._rows @ white, rtol=1e-5, atol=1e-7)


def test_channels_that_come_first_are_told_of():
    X = np.random.RandomState(0).rand(10, 3 * 16 * 16)
    for options in ({"shape": (3, 16, 16)}, {"family": Rotation(180, shape=(3, 16, 16))}):
        with pytest.warns(UserWarning, match="3 x 16 pixels with 16 channels") as caught:
            small(n_copies=2, **options).fit(X, np.arange(10) % 2)
        assert caught[0].filename == __file__
    with pytest.raises(ValueError, match=r"pass X.reshape\(len\(X\), -1\)"):
        small(n_copies=2).fit(X[:, :64], np.arange(10) % 2).predict(np.zeros((2, 8, 8)))
    alike = InvariantRegressor(Identity()).fit(X[:, :5], np.ones(10))
    assert "all targets are alike" in alike.summary()


def quick(**params):
    return small(**{"n_copies": 3, "n_landmarks": 32} | params)


def test_noisy_images_are_told_by_samples_left_out(digits):
    rng = np.random.RandomState(0)

    def noisy(X):
        return (X + 0.2 * rng.randn(*X.shape)).astype(np.float32)

    X, y = noisy(digits.X_train[:80]), digits.y_train[:80]
    X_new, y_new = noisy(digits.X_test[:150]), digits.y_test[:150]
    model = quick().fit(X, y)
    assert model._options == {"noisy": True}
    assert "features of noisy images of 28 x 28" in model.summary()
    other = quick(features=default_features(model.family_, 784, 32, 0)).fit(X, y)
    assert model.score(X_new, y_new) > other.score(X_new, y_new) + 0.04
    # pixels of coarse images differ as much, and mean something
    X, y = load_digits(return_X_y=True)
    assert noise_of(X[:100], (8, 8)) > _images.NOISE
    assert not quick().fit(X[:60], y[:60])._options
    # nobody asks whether images without noise are noisy
    assert noise_of(digits.X_train[:100], (28, 28)) == 0


def test_a_bright_background_is_as_good_as_a_dark_one(digits):
    X, y = digits.X_train[:80], digits.y_train[:80]
    dark = quick().fit(X, y)
    for channels in (1, 3):
        # another brightness of each image, and of each channel
        ground = np.random.RandomState(0).randint(-9, 9, (180, 1, channels))

        def on_ground(X, ground, channels=channels):
            return (X[:, :, None] + ground).reshape(len(X), -1)

        bright = quick(shape=(28, 28, channels)[: 1 + channels]).fit(on_ground(X, ground[:80]), y)
        found = bright.decision_function(
            np.asfortranarray(on_ground(digits.X_test[:100], ground[80:]))
        )
        np.testing.assert_allclose(found, dark.decision_function(digits.X_test[:100]), atol=1e-3)
    flat = np.ones((20, 784)) * np.arange(20)[:, None]
    with pytest.raises(ValueError, match=r"all images are flat.*StandardScaler\(\)"):
        quick().fit(flat, np.arange(20) // 10)
    with pytest.warns(UserWarning, match="2 of 7 images are flat") as caught:
        dark.predict(np.concatenate([X[:5], flat[:2]]))
    assert caught[0].filename == __file__


def test_hot_pixels_of_noisy_images_on_bright_ground_do_not_matter(digits):
    rng = np.random.RandomState(0)

    def noisy(X):
        return 0.8 - 0.3 * X + 0.06 * rng.randn(*X.shape)

    X, y = noisy(digits.X_train[:80]), digits.y_train[:80]
    X_new, y_new = noisy(digits.X_test[:100]), digits.y_test[:100]
    X[7, 300] = 50
    model = quick().fit(X, y)
    assert model._options == {"noisy": True}
    score = model.score(X_new, y_new)
    for pixel, value in ((400, 20.0), (13 * 28, -9.0), (0, 20.0), (783, 20.0)):
        X_new[:, pixel] = value
    assert abs(model.score(X_new, y_new) - score) <= 0.03


def test_images_that_shift_far_are_centred_if_that_helps(digits):
    rng = np.random.RandomState(0)
    X, y = translated(digits.X_train[:80], 40, 0.0, rng), digits.y_train[:80]
    X_new, y_new = translated(digits.X_test[:150], 40, 0.0, rng), digits.y_test[:150]
    family = Translation(6, shape=(40, 40))
    model = quick(family=family).fit(X, y)
    assert model._options == {"centred": True}
    assert "features of images of 40 x 40: Centred, then OrientedGradients" in model.summary()
    other = quick(family=family, features=default_features(family, 1600, 32, 0)).fit(X, y)
    assert model.score(X_new, y_new) > other.score(X_new, y_new) + 0.05
    # without the family nobody would centre them
    share = float(re.search(r"without the family: ([\d.]+) %", model.summary())[1]) / 100
    assert share < model.estimated_accuracy_ - 0.15
    # where something is tells the answer, whatever was said
    place = np.arange(80) % 2
    beside = np.zeros((80, 40, 40))
    beside[:, 6:34, :28] = digits.X_train[:80].reshape(-1, 28, 28)
    beside[place == 1] = np.roll(beside[place == 1], 12, axis=2)
    denied = quick(family=family).fit(beside.reshape(80, -1), place)
    assert moves_far(denied._moves(3)[1:], (40, 40))
    assert not denied._options


@pytest.mark.parametrize(
    ("family", "side", "far"),
    [
        (None, 8, False),
        (None, 28, False),
        (Rotation(180), 28, False),
        (Translation(3), 40, False),
        (Translation(6), 40, True),
        (Translation(2), 8, True),
        (Rotation(30) * Translation(8), 64, True),
    ],
)
def test_families_that_move_far_are_told_from_others(family, side, far):
    shape = (side, side)
    family = default_family(shape, side * side, "images") if family is None else family
    assert moves_far([Moved(family.with_shape(shape), 30, 0)], shape) == far


def test_noise_is_taken_off_images_that_shift_far_and_are_centred(digits):
    rng = np.random.RandomState(0)
    X, y = translated(digits.X_train[:100], 40, 0.1, rng), digits.y_train[:100]
    groups = np.arange(100) // 2
    model = quick(family=Translation(6, shape=(40, 40))).fit(X, y, groups=groups)
    assert model._options == {"centred": True, "noisy": True}
    # nothing is said to move
    assert quick(n_copies=1, shape=(40, 40)).fit(X, y)._options.keys() <= {"noisy"}


def slides(n_groups, each, seed):
    """Give images of two classes from slides, and the slide of each.

    A class is where a bright pixel is; but a slide has a mark in each class of its own as well,
    which is much larger, so that samples of other slides are of no help.
    """
    rng = np.random.RandomState(seed)
    groups = np.repeat(np.arange(n_groups), each)
    y = np.arange(n_groups * each) % 2
    marks = rng.randn(n_groups, 2, 40)
    X = marks[groups, y] + 0.3 * rng.randn(len(y), 40)
    X[:, 0] += 0.5 * y
    return X, y, groups


def test_groups_are_left_out_together():
    X, y, groups = slides(12, 10, 0)
    new, labels, _ = slides(40, 10, 1)
    params = {"family": FeatureScaling(0.9, 1.1, budget=3), "n_copies": 3}
    alone = InvariantClassifier(**params).fit(X, y)
    model = InvariantClassifier(**params).fit(X, y, groups=groups)
    truth = model.score(new, labels)
    # other samples of its slide tell what a sample is, but there are none of a new slide
    assert alone.estimated_accuracy_ > 0.95
    assert truth < 0.8
    assert abs(model.estimated_accuracy_ - truth) < 0.15
    assert model.interval_[0] <= truth <= model.interval_[1]
    # not as sure as 120 samples that are independent
    sure = share_of([1] * 66 + [0] * 54)
    assert np.subtract(*model.interval_[::-1]) > 1.2 * (sure.high - sure.low)
    assert "by leaving out each of 12 groups (120 samples" in model.summary()
    assert model.predict_proba(new).max(axis=1).mean() < 0.85


@pytest.mark.parametrize("names", [np.arange(60), [f"patient {i}" for i in range(60)]])
def test_a_group_for_each_sample_changes_nothing(digits, model, names):
    again = clone(model).fit(digits.X_train[:60], digits.y_train[:60], groups=names)
    assert again.estimated_accuracy_ == model.estimated_accuracy_
    np.testing.assert_array_equal(again.left_out_errors_, model.left_out_errors_)
    np.testing.assert_allclose(again.interval_, model.interval_, atol=0.01)


@pytest.mark.parametrize("weight", [1.0, 4.5])
def test_groups_are_predicted_as_if_they_had_never_been_there(weight):
    rng = np.random.RandomState(0)
    F, Y = rng.randn(3, 20, 5), rng.randn(20, 2)
    groups = rng.permutation(np.repeat([0, 1, 2, 3], [2, 4, 4, 10]))
    parts = _leave_out._members(20, groups)
    found = _leave_out._predicted(0.2, F, Y, parts, [0.1], False, weight)[0]
    for group in range(4):
        out = groups == group
        rows = F[:, ~out].reshape(-1, 5)
        # a sample itself counts once
        lams = 0.1 / np.repeat([1.0, weight, weight], (~out).sum())
        alpha = Ridge(RBF(0.2)(rows) + 1, np.tile(Y[~out], (3, 1)), lams).alpha
        expected = (RBF(0.2)(F[0, out], rows) + 1) @ alpha
        np.testing.assert_allclose(found[out], expected, atol=1e-8)


def test_few_copies_stand_for_many():
    """As if each of them were there three times."""
    rng = np.random.RandomState(0)
    F, Y = rng.randn(3, 20, 5), rng.randn(20, 2)
    few, many = (
        _leave_out.left_out(copies, Y, None, [0.1, 1.0], lambda Y, _: Y[:, 0] < 9, False, 7)
        for copies in (F, F[[0, 1, 1, 1, 2, 2, 2]])
    )
    assert (few.gamma, few.lam) == (many.gamma, many.lam)
    np.testing.assert_allclose(few.errors, many.errors, atol=1e-8)
    np.testing.assert_allclose(few.predicted, many.predicted, atol=1e-8)


def test_lam_is_chosen_for_the_copies_that_there_will_be(digits, monkeypatch):
    """Ten copies of each sample, three of which are looked at."""
    monkeypatch.setattr(_copies, "CHOICE_ROWS", 120)
    known = {}

    def spied(F, Y, *others):
        # without the family, or with what was chosen
        if len(F) == 1 or others[-1] is not None:
            return _leave_out.left_out(F, Y, *others)
        known["found"] = _leave_out.left_out(F, Y, *others)
        weight = 9 / (len(F) - 1)
        parts = _leave_out._members(len(Y), None)
        gamma, lams = known["found"].gamma, known["found"].lams
        known["expected"] = _leave_out._predicted(gamma, F, Y, parts, lams, False, weight)
        known["copies"] = len(F)
        return known["found"]

    monkeypatch.setattr(_copies, "left_out", spied)
    model = small(n_copies=10).fit(digits.X_train[:40], digits.y_train[:40])
    assert known["copies"] == 3
    best = int(np.argmin(model.left_out_errors_))
    np.testing.assert_array_equal(known["found"].predicted, known["expected"][best])


def test_a_tiny_lam_does_in_single_precision(digits, monkeypatch):
    monkeypatch.setattr(_copies, "DOUBLE_ROWS", 100)
    X, y = digits.X_train[:40], digits.y_train[:40]
    assert small(n_copies=60, lam=1e-5).fit(X, y).score(X, y) == 1


@pytest.mark.parametrize("weight", [1.0, 4.5])
def test_numbers_of_groups_are_predicted_without_their_mean(weight):
    rng = np.random.RandomState(0)
    F, y = rng.randn(2, 20, 5), 5 + rng.randn(20, 1)
    groups = rng.permutation(np.repeat([0, 1, 2], [3, 5, 12]))
    Y = y - y.mean()
    parts = _leave_out._members(20, groups)
    found = _leave_out._predicted(0.2, F, Y, parts, [1.0], True, weight)[0]
    for group in range(3):
        out = groups == group
        rows, mean = F[:, ~out].reshape(-1, 5), y[~out].mean()
        lams = 1.0 / np.repeat([1.0, weight], (~out).sum())
        alpha = Ridge(RBF(0.2)(rows) + 1, np.tile(y[~out] - mean, (2, 1)), lams).alpha
        expected = (RBF(0.2)(F[0, out], rows) + 1) @ alpha + mean
        np.testing.assert_allclose(found[out] + y.mean(), expected, atol=1e-8)


@pytest.mark.parametrize(("n_groups", "each"), [(2, 20), (5, 20), (40, 1)])
def test_intervals_of_r2_hold_the_truth(n_groups, each):
    def draw(n_groups, each, seed):
        rng = np.random.RandomState(seed)
        groups = np.repeat(np.arange(n_groups), each)
        X = 0.7 * rng.randn(n_groups, 4)[groups] + rng.randn(len(groups), 4)
        return X, X[:, 0] + 0.7 * rng.randn(n_groups)[groups] + 0.3 * rng.randn(len(groups)), groups

    X_new, y_new, _ = draw(300, 5, 99)
    held, values = 0, []
    for seed in range(40):
        X, y, groups = draw(n_groups, each, seed)
        model = InvariantRegressor(Identity(), lam=1.0).fit(X, y, groups=groups)
        held += model.interval_[0] <= model.score(X_new, y_new) <= model.interval_[1]
        values.append(model.interval_[0] <= model.estimated_r2_ <= model.interval_[1])
    assert held >= 0.8 * 40
    assert all(values)


def test_the_interval_of_r2_knows_groups():
    rng = np.random.RandomState(0)
    groups = np.repeat(np.arange(8), 15)
    X = rng.randn(8, 6)[groups] + 0.1 * rng.randn(120, 6)
    y = X[:, 0] + rng.randn(8)[groups]
    alone, model = InvariantRegressor().fit(X, y), InvariantRegressor().fit(X, y, groups=groups)
    assert alone.estimated_r2_ > 0.9 > model.estimated_r2_ + 0.3
    widths = [np.subtract(*one.interval_[::-1]) for one in (alone, model)]
    assert widths[1] > 2 * widths[0]


class Unknown:
    """As pandas' NA: it cannot be said whether it is equal to itself."""

    __hash__ = None

    def __eq__(self, other):
        return self

    def __bool__(self):
        raise TypeError("ambiguous")


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        (np.zeros(20), ValueError, "one group only"),
        (np.arange(19), ValueError, r"groups has shape \(19,\) for 20 samples"),
        (np.full(20, np.nan), ValueError, "groups has NaN"),
        ([None, "a"] * 10, ValueError, "groups has NaN"),
        (["a", float("nan")] * 10, ValueError, "groups has NaN"),
        (np.array(["a", Unknown()] * 10, dtype=object), ValueError, "groups has NaN"),
        (np.array(["2020-01-01", "NaT"] * 10, dtype="datetime64[D]"), ValueError, "groups has NaN"),
        (np.ma.masked_equal([1, 2] * 10, 1), ValueError, "groups has NaN"),
        ([1, "1"] * 10, TypeError, "all numbers or all strings"),
        ([["a"], ["b", "c"]] * 10, ValueError, "list of lists"),
        (np.zeros((20, 1)), ValueError, r"pass groups.ravel\(\)"),
        (np.zeros((20, 2)), ValueError, r"groups has shape \(20, 2\) for 20 samples"),
        (3, ValueError, r"groups has shape \(\) for 20 samples"),
    ],
)
def test_groups_that_are_none_get_clear_errors(digits, groups, error, message):
    with pytest.raises(error, match=message):
        small().fit(digits.X_train[:20], digits.y_train[:20], groups=groups)


def test_a_class_of_one_group_is_told_of():
    X, y, groups = slides(6, 10, 0)
    groups = np.where(y == 1, 0, groups)
    model = InvariantClassifier(FeatureScaling(0.9, 1.1, budget=3), n_copies=3)
    with pytest.warns(UserWarning, match="all samples of class 1 are of one group") as caught:
        model.fit(X, y, groups=groups)
    assert caught[0].filename == __file__
    assert model.estimated_accuracy_ <= 0.5


def test_a_class_with_one_sample_is_told_of(digits):
    X, y = digits.X_train[:30], digits.y_train[:30].astype(str)
    few = np.r_[np.flatnonzero(y != "7"), np.flatnonzero(y == "7")[:1]]
    with pytest.warns(UserWarning, match="one sample only of class 7: .* add samples") as caught:
        model = small().fit(X[few], y[few])
    assert caught[0].filename == __file__
    assert model.estimated_accuracy_ < 1


def test_a_class_is_not_said_to_have_one_sample_if_others_are_not_left_out(digits, monkeypatch):
    monkeypatch.setattr(_copies, "CHOICE_ROWS", 90)
    monkeypatch.setattr(_copies, "ESTIMATE_ROWS", 90)
    X, y = digits.X_train[:200], digits.y_train[:200]
    few = np.r_[np.flatnonzero(y != 7), np.flatnonzero(y == 7)[:4]]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for seed in range(10):
            small(n_copies=3, random_state=seed).fit(X[few], y[few])
    found = [str(one.message) for one in caught if "one sample only" in str(one.message)]
    assert found
    assert all("among the 30 that are left out: without" in one for one in found)


def test_classes_of_one_group_do_not_spoil_what_is_chosen():
    X, y, groups = slides(6, 20, 0)
    X[:, 1] += 5 * y
    # a third class, of one slide, far from the others: when left out it is always wrong, and surely
    X, y = np.vstack([X, X[:20] + 10]), np.r_[y, np.full(20, 2)]
    groups = np.r_[groups, np.zeros(20, dtype=int)]
    family = FeatureScaling(0.9, 1.1, budget=3)
    without = InvariantClassifier(family, n_copies=3).fit(X[:120], y[:120], groups=groups[:120])
    with pytest.warns(UserWarning, match="all samples of class 2 are of one group"):
        model = InvariantClassifier(family, n_copies=3).fit(X, y, groups=groups)
    assert model.lam_ <= 3 * without.lam_
    assert model.predict_proba(X[:120]).max(axis=1).mean() > 0.8
    with pytest.warns(UserWarning, match="each of the classes 0, 1, 2 are of one group"):
        model.fit(X, y, groups=y)
    assert model.estimated_accuracy_ == 0


@pytest.mark.parametrize("seed", range(2))
def test_small_groups_are_never_missing_where_few_samples_choose(digits, monkeypatch, seed):
    monkeypatch.setattr(_copies, "CHOICE_ROWS", 60)
    monkeypatch.setattr(_copies, "ESTIMATE_ROWS", 60)
    for module in (_copies, _leave_out):
        monkeypatch.setattr(module, "GAMMA_ROWS", 30)
    groups = np.r_[np.zeros(95), np.ones(3), [2, 3]]
    model = small(random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="all samples of")
        model.fit(digits.X_train[:100], digits.y_train[:100], groups=groups)
    assert model._n_groups == 4
    assert model._left[0] < 100
    # nobody knows much of a single group
    assert np.subtract(*model.interval_[::-1]) > 0.3


def test_samples_of_groups_come_in_proportion():
    groups = np.repeat([5, 1, 3], [60, 30, 10])
    order = _leave_out.evenly(np.random.RandomState(0).permutation(100), groups)
    assert sorted(order) == list(range(100))
    assert set(groups[order[:3]]) == {1, 3, 5}
    assert np.unique(groups[order[:50]], return_counts=True)[1] == pytest.approx([15, 5, 30], abs=1)


def test_groups_are_routed(digits):
    X, y, groups = digits.X_train[:60], digits.y_train[:60] % 2, np.arange(60) // 5
    grid = {"n_copies": [2, 3]}
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(small().set_fit_request(groups=True), grid, cv=GroupKFold(3))
        search.fit(X, y, groups=groups)
    assert "each of 12 groups" in search.best_estimator_.summary()


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"family": "rotation"}, TypeError, "is not a Family"),
        ({"n_copies": 0}, ValueError, "n_copies=0"),
        ({"lam": 0}, ValueError, "lam=0 must be above 0"),
        ({"n_components": 0}, ValueError, "n_components=0"),
        ({"shape": (5, 5)}, ValueError, "shape"),
        ({"n_landmarks": 0}, ValueError, "n_landmarks=0"),
        ({"n_average": 0}, ValueError, "n_average=0"),
        ({"whitening": 2}, ValueError, "whitening=2"),
        ({"ranges": ()}, ValueError, "ranges="),
        ({"ranges": 0.5}, ValueError, "ranges=0.5"),
        ({"ranges": (-1,)}, ValueError, "ranges=-1"),
    ],
)
def test_mistakes_get_clear_errors(digits, params, error, message):
    with pytest.raises(error, match=message):
        small(**params).fit(digits.X_train[:20], digits.y_train[:20])


def test_numbers_that_single_precision_cannot_hold_get_a_clear_error():
    with pytest.raises(ValueError, match="too large for single precision"):
        small().fit(np.full((4, 3), 1e300), [0, 1, 0, 1])


def test_the_kernel_is_the_gaussian_and_a_constant():
    rng = np.random.RandomState(0)
    X, Y = rng.randn(9, 5), rng.randn(7, 5)
    np.testing.assert_allclose(similarity(X, Y, 0.3), RBF(0.3)(X, Y) + 1, rtol=1e-12)
    single = similarity(X.astype(np.float32), X.astype(np.float32), 0.3)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, RBF(0.3)(X) + 1, atol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 30])
def test_median_squares(n):
    X = np.random.RandomState(0).randn(n, 4)
    pairs = [((a - b) ** 2).sum() for i, a in enumerate(X) for b in X[:i]]
    assert median_square(X) == pytest.approx(np.median(pairs) if pairs else 1.0)
    assert median_square(np.ones((5, 3))) == 1.0


def test_principal_directions_are_those_of_the_covariance():
    rng = np.random.RandomState(0)
    F = rng.randn(200, 80) * 0.9 ** np.arange(80) @ np.linalg.qr(rng.randn(80, 80))[0]
    # more rows than features, and fewer
    for rows in (F, F[:60]):
        mean, directions = principal_directions(rows, 10)
        np.testing.assert_allclose(mean, rows.mean(axis=0))
        np.testing.assert_allclose(directions.T @ directions, np.eye(10), atol=1e-8)
        _, _, exact = np.linalg.svd(rows - mean, full_matrices=False)
        np.testing.assert_allclose(np.abs(np.sum(directions * exact[:10].T, axis=0)), 1)
    # no more than there are
    assert principal_directions(F[:5], 10)[1].shape == (80, 4)
    assert principal_directions(np.tile(F[:5], (30, 1)).astype(np.float32), 10)[1].shape == (80, 4)
    assert principal_directions(np.ones((5, 3)), 10)[1].shape == (3, 0)


def test_ranges_are_chosen_by_samples_left_out(digits):
    X, y = digits.X_train[:80], digits.y_train[:80]
    few = {"n_copies": 4}
    tried = {f: small(family=Rotation(30).scaled(f), **few).fit(X, y) for f in (0.1, 0.5, 6)}
    errors = {f: model.left_out_errors_.min() for f, model in tried.items()}
    best = min(errors, key=errors.get)
    model = small(family=Rotation(30), ranges=(0.1, 6, 0.5), **few).fit(X, y)
    # features are those of the widest range: nearly the same errors
    assert model.family_.degrees == 30 * best
    assert best != 6


def test_probabilities_are_those_of_left_out_samples(digits):
    model = small().fit(digits.X_train[:150], digits.y_train[:150])
    P = model.predict_proba(digits.X_test)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(digits.X_test))
    right = model.predict(digits.X_test) == digits.y_test
    assert abs(P.max(axis=1).mean() - right.mean()) < 0.05
    # sure of what is right, less so of what is wrong
    assert P.max(axis=1)[right].mean() > P.max(axis=1)[~right].mean() + 0.1


def test_predictions_average_over_copies(digits, model):
    rows = digits.X_test[:30].astype(float)
    averaged = clone(model).set_params(n_average=3).fit(digits.X_train[:60], digits.y_train[:60])
    copies = [rows, *(g(rows) for g in model.family_.scaled(0.5).sample(2, model._seed))]
    expected = np.mean([model.decision_function(copy) for copy in copies], axis=0)
    np.testing.assert_allclose(averaged.decision_function(rows), expected, atol=1e-4)


def test_features_can_be_given(digits):
    scaler = StandardScaler()
    model = small(features=scaler).fit(digits.X_train[:60], digits.y_train[:60])
    assert isinstance(model.features_, StandardScaler)
    assert not hasattr(scaler, "mean_")
    assert "StandardScaler" in model.summary()
    with pytest.raises(TypeError, match="has no transform"):
        small(features="pixels").fit(digits.X_train[:60], digits.y_train[:60])


def test_sorted_samples_are_drawn_from_all_classes(digits, monkeypatch):
    """Where choices are made on some of the samples, these are random ones."""
    monkeypatch.setattr(_copies, "CHOICE_ROWS", 100)
    order = np.argsort(digits.y_train[:400], kind="stable")
    X, y = digits.X_train[:400][order], digits.y_train[:400][order]
    model = small(n_copies=2).fit(X, y)
    assert model.estimated_accuracy_ > 0.6


def test_many_rows_are_carried_by_landmarks(digits, monkeypatch):
    """With as many landmarks as there are virtual samples, nothing changes."""
    X, y = digits.X_train[:60], digits.y_train[:60]
    exact = small(n_copies=5).fit(X, y)
    monkeypatch.setattr(_copies, "MOST_ROWS", 100)
    all_rows = small(n_copies=5).fit(X, y)
    np.testing.assert_allclose(
        all_rows.decision_function(digits.X_test[:100]),
        exact.decision_function(digits.X_test[:100]),
        atol=1e-3,
    )
    monkeypatch.setattr(_copies, "LANDMARKS", 200)
    few = small(n_copies=5).fit(X, y)
    assert "200 of them stand for all" in few.summary()
    same = few.predict(digits.X_test) == exact.predict(digits.X_test)
    assert same.mean() > 0.9


def turned_bars(n, seed):
    """Give bars of some length at any angle and place, and their length."""
    rng = np.random.RandomState(seed)
    grid = np.stack(np.meshgrid(np.arange(16.0), np.arange(16.0), indexing="ij"))
    lengths = rng.uniform(4, 12, size=n)
    X = np.empty((n, 256))
    for i, length in enumerate(lengths):
        angle, centre = rng.uniform(0, np.pi), rng.uniform(6.5, 8.5, size=2)
        along = np.array([np.cos(angle), np.sin(angle)])
        away = grid - centre[:, None, None]
        reach = np.tensordot(along, away, axes=1)
        off = np.sqrt(np.maximum((away**2).sum(axis=0) - reach**2, 0))
        X[i] = (np.clip(length / 2 - np.abs(reach) + 0.5, 0, 1) * np.clip(1.5 - off, 0, 1)).ravel()
    return X, lengths


def test_regression_learns_what_turning_does_not_change():
    X, y = turned_bars(120, 0)
    family = Rotation(180, n_steps=3) * Translation(1)
    params = {"n_copies": 30, "n_landmarks": 64, "n_components": 200}
    model = InvariantRegressor(family, **params).fit(X[:30], y[:30])
    found = model.score(X[30:], y[30:])
    assert found > 0.8
    assert found > InvariantRegressor(Identity(), **params).fit(X[:30], y[:30]).score(
        X[30:], y[30:]
    )
    low, high = model.interval_
    assert low < model.estimated_r2_ < high
    assert low - 0.1 < found < high + 0.1
    assert "estimated R2" in model.summary()
    both = InvariantRegressor(family, **params).fit(X[:30], np.stack([y, -y], axis=1)[:30])
    expected = model.predict(X[30:])
    np.testing.assert_allclose(both.predict(X[30:]), np.stack([expected, -expected], axis=1))


def test_regression_warns_of_a_family_that_hurts():
    rng = np.random.RandomState(0)
    X = 0.05 * rng.rand(60, 12, 12)
    y = rng.randint(2, 10, size=60)
    X[np.arange(60), y, 3:9] = 1  # how far down a line is
    with pytest.warns(UserWarning, match="the family seems to hurt"):
        InvariantRegressor(Reflection(0), n_copies=8, n_landmarks=32).fit(X.reshape(60, -1), y)


def test_equal_targets_are_predicted():
    X = np.random.RandomState(0).rand(10, 5)
    model = InvariantRegressor().fit(X, np.full(10, 3.0))
    np.testing.assert_allclose(model.predict(X), 3.0)


def test_after_whitening_copies_differ_alike_in_all_directions():
    rng = np.random.RandomState(0)
    samples, spread = 5 * rng.randn(40, 6), np.array([3.0, 1, 0.5, 0.1, 0, 0])
    F = (samples + rng.randn(50, 40, 6) * spread).reshape(-1, 6) @ np.linalg.qr(rng.randn(6, 6))[0]
    samples = np.tile(np.arange(40), 50)
    white = F @ whitening(F, samples, 1.0, 1e-9)
    copies = white.reshape(50, 40, 6)
    values = np.linalg.eigvalsh(np.cov((copies - copies.mean(axis=0)).reshape(-1, 6).T))
    np.testing.assert_allclose(values[2:], values[-1], rtol=1e-2)
    # one copy, or copies that are all alike, say nothing
    np.testing.assert_array_equal(whitening(F, np.arange(2000), 1.0, 0.3), np.eye(6))
    np.testing.assert_allclose(whitening(F, samples, 0.0, 0.3), np.eye(6), atol=1e-12)
    # groups need not be of one size
    half = np.flatnonzero((samples > 0) | (np.arange(2000) % 3 == 0))
    rows, groups = F[half], samples[half]
    means = np.array([rows[groups == g].mean(axis=0) for g in groups])
    S = np.cov((rows - means).T, bias=True)
    power = sqrtm(np.linalg.inv(S / (np.trace(S) / 6) + 0.3 * np.eye(6)))
    np.testing.assert_allclose(whitening(rows, groups, 1.0, 0.3), power, atol=1e-8)


def colour_crops(n, seed):
    """Give crops of 24 x 24 pixels in colour from two photographs, and which one."""
    rng = np.random.RandomState(seed)
    photos = [load_sample_image(name) / 255 for name in ("china.jpg", "flower.jpg")]
    y = np.arange(n) % 2
    X = np.empty((n, 24, 24, 3))
    for i in range(n):
        photo = photos[y[i]]
        row, column = (rng.randint(side - 24) for side in photo.shape[:2])
        X[i] = photo[row : row + 24, column : column + 24]
    return X.reshape(n, -1), y


def test_images_of_other_sizes_do_with_default_arguments(monkeypatch):
    monkeypatch.setattr(_copies, "MOST_COPIES", 12)
    X, y = load_digits(return_X_y=True)
    X = np.kron(X.reshape(-1, 8, 8), np.ones((2, 2))).reshape(len(X), -1)  # 16 x 16
    ours = InvariantClassifier().fit(X[:50], y[:50]).score(X[50:400], y[50:400])
    assert ours > SVC(C=10).fit(X[:50], y[:50]).score(X[50:400], y[50:400]) + 0.02
    X, y = colour_crops(300, 0)
    ours = InvariantClassifier(shape=(24, 24, 3)).fit(X[:40], y[:40]).score(X[40:], y[40:])
    assert ours > 0.8


def test_equal_rows_are_all_alike():
    X, y = np.ones((6, 5)), [0, 1, 1, 0, 1, 1]
    assert set(InvariantClassifier().fit(X, y).predict(X)) == {1}
    assert InvariantRegressor().fit(X, y).predict(X) == pytest.approx(2 / 3, abs=0.05)


def test_choices_see_copies_however_many_samples_there_are(digits, monkeypatch):
    monkeypatch.setattr(_copies, "CHOICE_ROWS", 100)
    monkeypatch.setattr(_copies, "ESTIMATE_ROWS", 100)
    X, y = digits.X_train[:300], digits.y_train[:300]
    model = small(n_copies=4, family=Rotation(30), ranges=(0.01, 1)).fit(X, y)
    assert model._left == (33, 3)
    assert "each of 33 samples with its copies, 3 of each" in model.summary()
    scales = np.linalg.norm(model._directions, axis=0)
    assert scales.max() > 1.2 * scales.min()


def test_columns_far_from_zero_keep_their_meaning(monkeypatch):
    monkeypatch.setattr(_copies, "DOUBLE_ROWS", 10)
    X = np.random.RandomState(0).randn(200, 3)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = InvariantClassifier().fit(X[:150] + 1e8, y[:150])
    assert model.score(X[150:] + 1e8, y[150:]) > 0.8


def refitted(model, Y, parts, copies, mean=False):
    """Predict parts of the samples by the first copies of the others, counted as all copies."""
    n = len(Y)
    F = model._rows[: copies * n].astype(float)
    lams = np.where(np.arange(len(F)) < n, 1.0, (copies - 1) / (model.n_copies_ - 1)) * model.lam_
    found = np.empty(Y.shape)
    for part in parts:
        rest = np.flatnonzero(~np.isin(np.arange(len(F)) % n, part))
        offset = Y[rest[rest < n]].mean(axis=0) if mean else 0.0
        K = similarity(F[rest], F[rest], model.gamma_) + np.diag(lams[rest])
        alpha = np.linalg.solve(K, Y[rest % n] - offset)
        found[part] = similarity(F[part], F[rest], model.gamma_) @ alpha + offset
    return found


@pytest.mark.parametrize("grouped", [False, True])
def test_what_is_estimated_is_of_half_of_the_copies_without_each_sample(
    digits, monkeypatch, grouped
):
    # directions that samples of a class differ in are not shrunk
    monkeypatch.setattr(_copies, "PRIOR_SAMPLES", 1e12)
    monkeypatch.setattr(_copies, "CHOICE_ROWS", 120)
    monkeypatch.setattr(_copies, "ESTIMATE_ROWS", 240)
    X, y = digits.X_train[:60], digits.y_train[:60] % 3
    groups = np.arange(60) // 7 if grouped else np.arange(60)
    # so wide that many are wrong
    model = small(family=Rotation(180)).fit(X, y, groups=groups if grouped else None)
    y, groups = y[model._order], groups[model._order]
    Y = np.where(y[:, None] == model.classes_, 1.0, -1.0)
    predicted = refitted(model, Y, [np.flatnonzero(groups == one) for one in np.unique(groups)], 4)
    right = predicted.argmax(axis=1) == y
    assert 0.4 < right.mean() < 0.98
    assert model.estimated_accuracy_ == pytest.approx(share_of(right * 1.0, groups).value)
    expected = "each of 9 groups (60 samples, with 4 copies" if grouped else "copies, 4 of each"
    assert expected in model.summary()


def test_what_is_estimated_of_numbers_is_of_half_of_the_copies_without_each_sample(
    digits, monkeypatch
):
    monkeypatch.setattr(_copies, "CHOICE_ROWS", 100)
    monkeypatch.setattr(_copies, "ESTIMATE_ROWS", 150)
    X = digits.X_train[:50]
    y = X.mean(axis=1)
    model = InvariantRegressor(n_copies=6, n_landmarks=64).fit(X, y)
    Y = ((y - y.mean()) / y.std())[model._order][:, None]
    errors = (refitted(model, Y, list(np.arange(50)[:, None]), 3, mean=True) - Y) ** 2
    assert model.estimated_r2_ == pytest.approx(1 - errors.mean(), abs=1e-4)


def test_labels_of_patients_that_mean_nothing_are_estimated_so():
    """Directions that samples of a class differ in would tell patients who are left out."""
    found = []
    for seed in range(5):
        rng = np.random.RandomState(seed)
        patients = np.repeat(np.arange(30), 10)
        X = rng.randn(30, 200)[patients] + 0.5 * rng.randn(300, 200)
        y = rng.permutation(np.arange(30) % 2)[patients]
        family = FeatureScaling(0.9, 1.1, budget=20)
        model = InvariantClassifier(family, n_copies=3).fit(X, y, groups=patients)
        found.append(model.estimated_accuracy_)
    assert np.mean(found) < 0.6


def test_copies_that_differ_by_rounding_do_not_differ():
    rng = np.random.RandomState(0)
    F = np.tile(rng.randn(20, 4), (5, 1)) + 1e-15 * rng.randn(100, 4)
    np.testing.assert_array_equal(whitening(F, np.tile(np.arange(20), 5), 1.0, 0.3), np.eye(4))


def test_a_shape_is_the_familys_if_that_has_none():
    X, y = colour_crops(20, 0)
    model = small(family=Rotation(20), shape=(24, 24, 3), n_copies=2).fit(X, y)
    assert model.family_.shape == (24, 24, 3)
    with pytest.raises(ValueError, match="is not the family's"):
        small(family=Rotation(20, shape=(24, 72)), shape=(24, 24, 3)).fit(X, y)


def test_every_row_is_moved_by_one_element_and_all_elements_move_rows():
    X = np.random.RandomState(0).rand(50, 64)
    family = Rotation(30, shape=(8, 8))
    move, elements = Moved(family, 6, 3), family.sample(6, 3)
    moved = move(X)
    ways = np.array([np.abs(g(X) - moved).max(axis=1) < 1e-12 for g in elements])
    np.testing.assert_array_equal(ways.sum(axis=0), 1)
    assert set(ways.sum(axis=1)) == {8, 9}
    # some of the rows are moved as they are among all
    np.testing.assert_allclose(move(X[:2]), moved[:2])
    np.testing.assert_allclose(move(X[20:], 20), moved[20:])


def test_classes_count_more_the_more_samples_there_are(digits, monkeypatch):
    """Directions that samples of a class differ in are shrunk after everything is chosen."""
    X, y = digits.X_train[:60], digits.y_train[:60]
    found = {}
    for prior in (1e12, 300, 1):
        monkeypatch.setattr(_copies, "PRIOR_SAMPLES", prior)
        found[prior] = small().fit(X, y)
    none, some, much = found.values()
    # what labels are looked at for leaves no trace in what is estimated
    assert none.estimated_accuracy_ == some.estimated_accuracy_ == much.estimated_accuracy_
    assert none.lam_ == some.lam_ == much.lam_

    def within(model):
        """Give how far samples of one class are apart, of the distance of any two."""
        F = model._rows[:60].astype(float)
        labels = y[model._order]
        away = ((F[:, None] - F) ** 2).sum(axis=2)
        same = (labels[:, None] == labels) & ~np.eye(60, dtype=bool)
        return away[same].mean() / away.mean()

    assert within(much) < within(some) < within(none)
    # gamma stays what it was, relative to distances
    assert none.gamma_ * median_square(none._rows[:60]) == pytest.approx(
        much.gamma_ * median_square(much._rows[:60]), rel=1e-3
    )


@pytest.mark.parametrize("ranges", [(1.0,), (0.01, 1.0), (1.0, 10.0)])
def test_what_is_known_of_copies_is_not_found_again(digits, monkeypatch, ranges):
    X, y = digits.X_train[:60], digits.y_train[:60]
    # of some copies of some samples
    monkeypatch.setattr(_copies, "CHOICE_ROWS", 120)
    monkeypatch.setattr(_copies, "ESTIMATE_ROWS", 240)
    found = []
    compressed = InvariantClassifier._compressed
    monkeypatch.setattr(
        InvariantClassifier,
        "_compressed",
        lambda self, X: (found.append(len(X)), compressed(self, X))[1],
    )
    model = small(n_copies=6, ranges=ranges, family=Rotation(15)).fit(X, y)
    # where accuracy is estimated, more is known
    assert model._left == (60, 4)
    # 40 samples and 2 copies are known by the widest; the others are found for the choice
    assert sum(found) == 6 * 60 - 120 + 120 * (len(ranges) - 1)
    moves = model._moves(6)
    F = np.concatenate([compressed(model, move(X[model._order])) for move in moves])
    # by the chosen family, which is not always the widest, and in the metric that was found last
    np.testing.assert_allclose(model._rows, F, atol=1e-5)
    if ranges == (1.0, 10.0):
        assert model.family_.degrees == 15


def test_half_of_the_similarities_are_enough(monkeypatch):
    X = np.random.RandomState(0).randn(11, 3)
    expected = similarity(X, X, 0.3)
    for rows in (4, 11, 512):
        monkeypatch.setattr(_copies, "SIMILARITY_ROWS", rows)
        found = lower_similarity(X, 0.3)
        assert found.flags.f_contiguous
        np.testing.assert_allclose(np.tril(found), np.tril(expected))


def test_single_precision_does(digits, monkeypatch):
    X, y, rows = digits.X_train[:60], digits.y_train[:60], digits.X_test[:300]
    double = small().fit(X, y)
    expected = double.decision_function(rows)
    monkeypatch.setattr(_copies, "DOUBLE_ROWS", 10)
    single = small().fit(X, y)
    assert (double._alpha.dtype, single._alpha.dtype) == (np.float64, np.float32)
    assert np.abs(single.decision_function(rows) - expected).max() < 0.02
    monkeypatch.setattr(_copies, "MOST_ROWS", 100)
    monkeypatch.setattr(_copies, "LANDMARKS", 480)
    landmarks = small().fit(X, y)
    assert landmarks._alpha.dtype == np.float32
    assert np.abs(landmarks.decision_function(rows) - expected).max() < 0.05


class Counting(FunctionTransformer):
    """Give columns many times over, and remember how many rows came at once."""

    most = 0

    def transform(self, X):
        Counting.most = max(Counting.most, len(X))
        return np.tile(X, 20)


def test_features_in_memory_are_bounded(digits, monkeypatch):
    X, y = digits.X_train[:150], digits.y_train[:150]
    monkeypatch.setattr(_copies, "BYTES", 120 * 20 * 784 * 4)
    model = small(features=Counting(), n_copies=3).fit(X, y)
    model.predict(digits.X_test[:300])
    assert 100 < Counting.most <= 120


def test_large_images_have_no_more_windows_than_others():
    for side, windows in ((28, 5), (128, 11), (256, 12)):
        family = Rotation(15, shape=(side, side))
        features = default_features(family, side * side, 16, 0)
        X = np.random.RandomState(0).rand(3, side * side)
        assert features.fit(X).transform(X).shape == (3, windows**2 * 16)


@pytest.mark.parametrize("estimator", [InvariantClassifier(), InvariantRegressor()])
def test_images_that_are_not_rows_get_a_hint(estimator):
    X = np.random.RandomState(0).rand(20, 8, 8)
    with pytest.raises(ValueError, match=r"pass X.reshape\(len\(X\), -1\), and shape=\(8, 8\)"):
        estimator.fit(X, np.arange(20) % 2)


def test_the_summary_says_if_rows_are_not_taken_for_images():
    X = np.random.RandomState(0).rand(20, 6)
    model = InvariantClassifier().fit(X, np.arange(20) % 2)
    assert "family: nothing; if rows are images, pass shape=(height, width) or (height" in (
        model.summary()
    )
    model = InvariantClassifier(Identity()).fit(X, np.arange(20) % 2)
    assert "family: nothing\n" in model.summary()


@pytest.mark.parametrize("features", [None, StandardScaler()])
def test_threads_change_nothing(features, monkeypatch):
    digits = load_mnist_sample()
    X, y, Z = digits.X_train[:40], digits.y_train[:40], digits.X_test[:1100]
    found = []
    for threads in (1, 3):
        monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", threads)
        model = small(features=features, n_copies=6).fit(X, y)
        found.append((model._rows, model._alpha, model.decision_function(Z)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_error_in_a_thread_reaches_the_caller(monkeypatch):
    def fails(*arguments):
        raise RuntimeError("no such features")

    digits = load_mnist_sample()
    monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", 2)
    model = small(n_copies=6).fit(digits.X_train[:40], digits.y_train[:40])
    monkeypatch.setattr(type(model), "_compressed", fails)
    with pytest.raises(RuntimeError, match="no such features"):
        model.predict(digits.X_test[:1100])


@pytest.mark.parametrize(
    ("family", "n_landmarks", "expected"),
    [
        (Rotation(15, shape=(28, 28)), None, (256, 3, 1.5)),
        (PitchShift(400, shape=(63, 24)), None, (512, 4, 2.5)),
        (PitchShift(400, shape=(63, 24)), 100, (100, 4, 2.5)),
        (PitchShift(400, shape=(250, 24)), None, (512, 11, 6.875)),
    ],
)
def test_patches_of_sounds_are_told_apart_more_finely_under_wider_windows(
    family, n_landmarks, expected
):
    model = InvariantClassifier(family, n_landmarks=n_landmarks)
    local = model._new_features(family, int(np.prod(family.shape)), 0, {})[-1]
    assert (local.n_landmarks, local.step, local.blur) == expected


@pytest.mark.parametrize("shape", [(16, 4), (5, 40), (40, 3), (2, 2)])
def test_spectrograms_of_any_size_are_learned(shape):
    """Also with fewer frames than lie between windows, and with fewer patches than landmarks."""
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(36, *shape))
    X[::2, : shape[0] // 2] += 2
    X, y = X.reshape(36, -1), np.arange(36) % 2
    model = InvariantClassifier(PitchShift(10, shape=shape), n_copies=3).fit(X[:20], y[:20])
    assert model.score(X[20:], y[20:]) > 0.8
    landmarks = len(model.features_[-1].landmarks_)
    assert landmarks < 512 if shape == (2, 2) else landmarks == 512
    assert f"features of spectrograms of {shape[0]} x {shape[1]}: " in model.summary()


def test_models_that_know_less_of_themselves_still_tell(model):
    """Those that were saved before."""
    older = pickle.loads(pickle.dumps(model))
    for name in ("_without", "_edges", "_options"):
        delattr(older, name)
    told = model.summary().replace(" of images of 28 x 28", "").splitlines()
    assert older.summary().splitlines() == [x for x in told if not x.startswith("without the")]
