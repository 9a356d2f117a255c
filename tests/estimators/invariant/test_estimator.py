"""The whole recipe: what is fitted and predicted, and for which rows."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_sample_image
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from invarlearn import Budget, InvariantClassifier, InvariantRegressor, VirtualSVC
from invarlearn._utils.parallel import single_threaded
from invarlearn.estimators.invariant.space import Space
from invarlearn.kernels import RBF
from invarlearn.solvers.ridge import Ridge
from invarlearn.transforms import (
    CyclicShift,
    Elastic,
    Identity,
    PitchShift,
    Rotation,
    Translation,
)


def test_few_digits_are_classified_better_than_by_svms(digits, small):
    X, y = digits.X_train[:100], digits.y_train[:100]
    rivals = [SVC(C=10), VirtualSVC(Translation(1))]
    theirs = max(rival.fit(X, y).score(digits.X_test, digits.y_test) for rival in rivals)
    ours = small(n_copies=12).fit(X, y).score(digits.X_test, digits.y_test)
    assert ours > theirs + 0.05


def test_the_fit_is_ridge_regression_on_copies_in_the_kernel_of_features(digits, model):
    """Computed again from the published parts."""
    machine = model.machine_
    order = machine.sample_index[:60]
    X, y = digits.X_train[:60][order], digits.y_train[:60][order]
    copies = [make_copy(X, 0) for make_copy in model.augmentation_.copy_makers(8)]
    space = machine.space
    F = model.features_.transform(np.concatenate(copies)) - space.mean
    F = (F @ space.directions).astype(float)
    Y = np.tile(np.where(y[:, None] == model.classes_, 1.0, -1.0), (8, 1))
    alpha = Ridge(RBF(model.gamma_)(F) + 1, Y, model.lam_).alpha
    T = model.features_.transform(digits.X_test[:50]) - space.mean
    expected = (RBF(model.gamma_)((T @ space.directions).astype(float), F) + 1) @ alpha
    decisions = model.decision_function(digits.X_test[:50])
    np.testing.assert_allclose(decisions, expected, atol=1e-6)
    np.testing.assert_array_equal(
        model.predict(digits.X_test[:50]), model.classes_[decisions.argmax(axis=1)]
    )


def test_copies_of_a_sample_are_never_on_both_sides(digits, small):
    y = np.random.RandomState(0).randint(2, size=60)
    model = small().fit(digits.X_train[:60], y)
    assert model.score(digits.X_train[:60], y) > 0.95
    assert model.estimated_accuracy_ < 0.75
    low, high = model.interval_
    assert 0.3 < low < model.estimated_accuracy_ < high < 0.9


def test_same_seed_same_result_and_inputs_are_not_modified(digits, model):
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
def test_images_are_recognised_by_their_shape(X, shape, image, small):
    y = load_digits().target[:60] if image else np.repeat([0, 1, 2], 17)[: len(X)]
    model = small(shape=shape).fit(X, y)
    assert isinstance(model.family_, Identity) is not image
    assert model.n_copies_ == (8 if image else 1)
    assert ("LocalKernelFeatures" in model.summary()) is image
    if image:
        assert model.estimated_accuracy_ > 0.6


def colour_crops(n, seed):
    """Return crops of 24 x 24 pixels in colour from two photographs, and which photograph."""
    rng = np.random.RandomState(seed)
    photos = [load_sample_image(name) / 255 for name in ("china.jpg", "flower.jpg")]
    y = np.arange(n) % 2
    X = np.empty((n, 24, 24, 3))
    for i in range(n):
        photo = photos[y[i]]
        row, column = (rng.randint(side - 24) for side in photo.shape[:2])
        X[i] = photo[row : row + 24, column : column + 24]
    return X.reshape(n, -1), y


def test_images_of_other_sizes_with_default_arguments():
    budget = Budget(max_copies=12)
    X, y = load_digits(return_X_y=True)
    X = np.kron(X.reshape(-1, 8, 8), np.ones((2, 2))).reshape(len(X), -1)  # 16 x 16
    ours = InvariantClassifier(budget=budget).fit(X[:50], y[:50]).score(X[50:400], y[50:400])
    assert ours > SVC(C=10).fit(X[:50], y[:50]).score(X[50:400], y[50:400]) + 0.02
    X, y = colour_crops(300, 0)
    model = InvariantClassifier(shape=(24, 24, 3), budget=budget)
    assert model.fit(X[:40], y[:40]).score(X[40:], y[40:]) > 0.8


def test_a_shape_is_passed_on_to_the_family(small):
    X, y = colour_crops(20, 0)
    model = small(family=Rotation(20), shape=(24, 24, 3), n_copies=2).fit(X, y)
    assert model.family_.shape == (24, 24, 3)
    with pytest.raises(ValueError, match="is not the shape of the family"):
        small(family=Rotation(20, shape=(24, 72)), shape=(24, 24, 3)).fit(X, y)


def test_families_that_cannot_be_listed(digits, small):
    family = Elastic(20.0, 4.0) * Rotation(10)
    model = small(family=family).fit(digits.X_train[:60], digits.y_train[:60])
    assert model.score(digits.X_test[:300], digits.y_test[:300]) > 0.6


def test_sequences_are_augmented_too(small):
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


def test_signals_keep_their_amplitude(small, digits):
    def peaks(n, seed):
        rng = np.random.RandomState(seed)
        where, height = 25 + rng.uniform(-5, 5, n), rng.uniform(0.5, 1.5, n)
        distance = np.arange(50) - where[:, None]
        return height[:, None] * np.exp(-((distance / 3) ** 2)) + 0.05 * rng.randn(n, 50), height

    (X, y), (X_new, y_new) = peaks(60, 0), peaks(300, 1)
    family = Translation(5, shape=(1, 50))
    model = InvariantRegressor(family, n_copies=4).fit(X, y)
    # features of edges would not describe it
    assert model.score(X_new, y_new) > max(0.95, SVR(C=10).fit(X, y).score(X_new, y_new))
    assert "features: InvariantFeatures" in model.summary()
    columns = InvariantRegressor(family.with_shape((50, 1)), n_copies=4).fit(X, y)
    assert columns.score(X_new, y_new) > 0.95


@pytest.mark.parametrize("shape", [(16, 4), (5, 40), (40, 3), (2, 2)])
def test_spectrograms_of_any_size(shape):
    """Also with fewer frames than lie between windows, and with fewer patches than landmarks."""
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(36, *shape))
    X[::2, : shape[0] // 2] += 2
    X, y = X.reshape(36, -1), np.arange(36) % 2
    model = InvariantClassifier(PitchShift(10, shape=shape), n_copies=3).fit(X[:20], y[:20])
    assert model.score(X[20:], y[20:]) > 0.8
    n_landmarks = len(model.features_[-1].landmarks_)
    assert n_landmarks < 512 if shape == (2, 2) else n_landmarks == 512
    assert f"features of spectrograms of {shape[0]} x {shape[1]}: " in model.summary()


def test_features_can_be_passed(digits, small):
    scaler = StandardScaler()
    model = small(features=scaler).fit(digits.X_train[:60], digits.y_train[:60])
    assert isinstance(model.features_, StandardScaler)
    assert not hasattr(scaler, "mean_")
    assert "StandardScaler" in model.summary()
    with pytest.raises(TypeError, match="has no transform"):
        small(features="pixels").fit(digits.X_train[:60], digits.y_train[:60])


def test_sorted_samples_are_drawn_from_all_classes(digits, small):
    """Where a stage uses some of the samples, these are random ones."""
    order = np.argsort(digits.y_train[:400], kind="stable")
    X, y = digits.X_train[:400][order], digits.y_train[:400][order]
    model = small(n_copies=2, budget=Budget(search_rows=100)).fit(X, y)
    assert model.estimated_accuracy_ > 0.6


def test_columns_far_from_zero_keep_their_meaning():
    X = np.random.RandomState(0).randn(200, 3)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = InvariantClassifier(budget=Budget(double_rows=10)).fit(X[:150] + 1e8, y[:150])
    assert model.score(X[150:] + 1e8, y[150:]) > 0.8


def test_equal_rows_get_equal_predictions():
    X, y = np.ones((6, 5)), [0, 1, 1, 0, 1, 1]
    assert set(InvariantClassifier().fit(X, y).predict(X)) == {1}
    assert InvariantRegressor().fit(X, y).predict(X) == pytest.approx(2 / 3, abs=0.05)


def test_equal_targets_are_predicted():
    X = np.random.RandomState(0).rand(10, 5)
    model = InvariantRegressor().fit(X, np.full(10, 3.0))
    np.testing.assert_allclose(model.predict(X), 3.0)
    assert "estimated R2: undefined, since all targets are equal, leave-one" in model.summary()


def random_bars(n, seed):
    """Return bars of some length at any angle and place, and their length."""
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


def test_regression_with_rotations():
    X, y = random_bars(120, 0)
    family = Rotation(180, n_steps=3) * Translation(1)
    params = {"n_copies": 30, "n_landmarks": 64, "n_components": 200}
    model = InvariantRegressor(family, **params).fit(X[:30], y[:30])
    score = model.score(X[30:], y[30:])
    assert score > 0.8
    without = InvariantRegressor(Identity(), **params).fit(X[:30], y[:30])
    assert score > without.score(X[30:], y[30:])
    low, high = model.interval_
    assert low < model.estimated_r2_ < high
    assert low - 0.1 < score < high + 0.1
    assert "estimated R2" in model.summary()
    both = InvariantRegressor(family, **params).fit(X[:30], np.stack([y, -y], axis=1)[:30])
    expected = model.predict(X[30:])
    np.testing.assert_allclose(both.predict(X[30:]), np.stack([expected, -expected], axis=1))


def test_predictions_are_averaged_over_copies(digits, model):
    rows = digits.X_test[:30].astype(float)
    averaged = clone(model).set_params(n_average=3).fit(digits.X_train[:60], digits.y_train[:60])
    seed = model.augmentation_.seed
    copies = [rows, *(g(rows) for g in model.family_.scaled(0.5).sample(2, seed))]
    expected = np.mean([model.decision_function(copy) for copy in copies], axis=0)
    np.testing.assert_allclose(averaged.decision_function(rows), expected, atol=1e-4)


def test_probabilities_are_calibrated_on_held_out_samples(digits, small):
    model = small().fit(digits.X_train[:150], digits.y_train[:150])
    P = model.predict_proba(digits.X_test)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(digits.X_test))
    correct = model.predict(digits.X_test) == digits.y_test
    assert abs(P.max(axis=1).mean() - correct.mean()) < 0.05
    # higher for correct predictions
    assert P.max(axis=1)[correct].mean() > P.max(axis=1)[~correct].mean() + 0.1


def test_a_bright_background_is_as_good_as_a_dark_one(digits, quick):
    X, y = digits.X_train[:80], digits.y_train[:80]
    dark = quick().fit(X, y)
    for channels in (1, 3):
        # another brightness of each image, and of each channel
        background = np.random.RandomState(0).randint(-9, 9, (180, 1, channels))

        def on_background(X, background):
            return (X[:, :, None] + background).reshape(len(X), -1)

        bright = quick(shape=(28, 28, channels)[: 1 + channels])
        bright.fit(on_background(X, background[:80]), y)
        new = np.asfortranarray(on_background(digits.X_test[:100], background[80:]))
        expected = dark.decision_function(digits.X_test[:100])
        np.testing.assert_allclose(bright.decision_function(new), expected, atol=1e-3)


def test_flat_images(digits, quick):
    flat = np.ones((20, 784)) * np.arange(20)[:, None]
    with pytest.raises(ValueError, match=r"All images are flat.*StandardScaler\(\)"):
        quick().fit(flat, np.arange(20) // 10)
    X = digits.X_train[:80]
    model = quick().fit(X, digits.y_train[:80])
    with pytest.warns(UserWarning, match="2 of 7 images are flat") as caught:
        model.predict(np.concatenate([X[:5], flat[:2]]))
    assert caught[0].filename == __file__


def test_groups_are_routed(digits, small):
    X, y, groups = digits.X_train[:60], digits.y_train[:60] % 2, np.arange(60) // 5
    grid = {"n_copies": [2, 3]}
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(small().set_fit_request(groups=True), grid, cv=GroupKFold(3))
        search.fit(X, y, groups=groups)
    assert "over 12 groups" in search.best_estimator_.summary()


@pytest.mark.parametrize("estimator", [InvariantClassifier(), InvariantRegressor()])
def test_images_that_are_not_rows_get_a_hint(estimator, small):
    X = np.random.RandomState(0).rand(20, 8, 8)
    with pytest.raises(ValueError, match=r"pass X.reshape\(len\(X\), -1\), and shape=\(8, 8\)"):
        estimator.fit(X, np.arange(20) % 2)
    model = small(n_copies=2).fit(X.reshape(20, -1), np.arange(20) % 2)
    with pytest.raises(ValueError, match=r"pass X.reshape\(len\(X\), -1\)"):
        model.predict(X)


@pytest.mark.parametrize("features", [None, StandardScaler()])
def test_threads_do_not_change_results(features, digits, small):
    X, y, new = digits.X_train[:40], digits.y_train[:40], digits.X_test[:1100]

    def results():
        model = small(features=features, n_copies=6).fit(X, y)
        return model.machine_.rows, model.machine_.alpha, model.decision_function(new)

    with single_threaded():
        expected = results()
    for one, other in zip(results(), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_error_in_a_thread_reaches_the_caller(digits, small, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("no such features")

    model = small(n_copies=6).fit(digits.X_train[:40], digits.y_train[:40])
    monkeypatch.setattr(Space, "transform", fail)
    with pytest.raises(RuntimeError, match="no such features"):
        model.predict(digits.X_test[:1100])


def test_progress_is_reported_where_samples_are_many(digits, small):
    calls = []
    model = small(
        n_copies=2,
        budget=Budget(max_rows=50, block_rows=100),
        verbose=lambda done, total, seconds_left=None, message="": calls.append((done, total)),
    )
    model.fit(digits.X_train[:250], digits.y_train[:250])
    # two copies of the samples, in blocks of 100 samples
    assert calls == [(done, 6) for done in range(7)]


def test_nothing_is_written_before_the_fit_is_complete(digits, small, monkeypatch):
    model = small().fit(digits.X_train[:40], digits.y_train[:40])
    before = dict(vars(model))

    def fail(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("invarlearn.estimators.invariant.estimator.solve", fail)
    fail.__name__ = "solve"
    with pytest.raises(KeyboardInterrupt):
        model.fit(digits.X_train[:60], digits.y_train[:60])
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


def test_a_model_survives_a_fit_that_fails(digits, small):
    X, y = digits.X_train[:40], digits.y_train[:40]
    model = small(features=StandardScaler()).fit(X, y)
    expected = model.predict(X)
    with pytest.raises(ValueError, match="whitening=7"):
        model.set_params(whitening=7).fit(X[:, :100], y)
    np.testing.assert_array_equal(model.predict(X), expected)


def test_names_of_features_are_those_of_the_last_fit(digits, small):
    pd = pytest.importorskip("pandas")
    X, y = digits.X_train[:40, 300:340], digits.y_train[:40]
    frame = pd.DataFrame(X, columns=[f"pixel {i}" for i in range(40)])
    model = small(features=StandardScaler()).fit(frame, y)
    assert model.feature_names_in_[3] == "pixel 3"
    model.fit(X[:, :30], y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 30


def test_fits_do_not_warn_without_a_reason(digits, small):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small().fit(digits.X_train[:100], digits.y_train[:100])
