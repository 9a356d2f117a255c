"""The plan: parameters, the family and its shape, and warnings about rows that are no images."""

import warnings

import numpy as np
import pytest
from scipy.signal import lfilter
from sklearn.datasets import load_digits, load_sample_image
from sklearn.decomposition import PCA

from invarlearn import Budget, InvariantClassifier, InvariantRegressor
from invarlearn.datasets import load_mnist_sample
from invarlearn.features.defaults import default_family
from invarlearn.transforms import Custom, CyclicShift, Identity, Rotation, Translation
from invarlearn.transforms.domains import Domain


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
        ({"budget": 100}, TypeError, "budget=100 is not a Budget"),
    ],
)
def test_mistakes_get_clear_errors(digits, small, params, error, message):
    with pytest.raises(error, match=message):
        small(**params).fit(digits.X_train[:20], digits.y_train[:20])


def test_values_beyond_single_precision_get_a_clear_error(small):
    with pytest.raises(ValueError, match="too large for single precision"):
        small().fit(np.full((4, 3), 1e300), [0, 1, 0, 1])


class Unknown:
    """As pandas' NA: whether it equals itself is ambiguous."""

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
def test_bad_groups_get_clear_errors(digits, small, groups, error, message):
    with pytest.raises(error, match=message):
        small().fit(digits.X_train[:20], digits.y_train[:20], groups=groups)


@pytest.mark.parametrize(
    ("n", "n_copies", "budget", "expected"),
    [
        (10, None, Budget(), 150),
        (500, None, Budget(), 18),
        (8000, None, Budget(), 2),
        (10, None, Budget(max_copies=7), 7),
        (100, None, Budget(max_rows=300), 3),
        (100, 4, Budget(max_rows=300), 4),
    ],
)
def test_the_number_of_copies_follows_the_budget(plan_of, n, n_copies, budget, expected):
    X, y = np.random.RandomState(0).rand(n, 6), np.arange(n) % 2
    estimator = InvariantClassifier(CyclicShift(2), n_copies=n_copies, budget=budget)
    plan, _ = plan_of(estimator, X, y)
    assert plan.n_copies == expected
    assert plan.precision == (np.float64 if n * expected <= 4000 else np.float32)
    total = sum(map(len, plan.nystroem_samples))
    assert total >= min(6000, n * expected) if n * expected > budget.max_rows else total == 0


def test_stages_use_random_samples_and_few_copies_if_there_are_many(plan_of):
    X, y = np.arange(400.0).reshape(400, 1) + np.zeros((1, 6)), np.arange(400) % 2
    plan, samples = plan_of(InvariantClassifier(CyclicShift(2), n_copies=20), X, y)
    assert plan.subset_size(2000) == (400, 5)
    assert plan.subset_size(300) == (100, 3)
    assert plan.subset_size(10**6) == (400, 20)
    np.testing.assert_array_equal(samples.X, X[plan.order])
    np.testing.assert_array_equal(samples.Y.argmax(axis=1), y[plan.order])
    assert len(samples.first(30)) == len(samples.first(30).Y) == 30
    # 30 of 400 sorted samples come from both halves
    assert 5 < (plan.order[:30] < 200).sum() < 25


def test_one_line_is_shifted_by_default():
    family = default_family((1, 140), 140, "here")
    assert repr(family) == "Translation(radius=10.0, shape=(1, 140))"
    assert repr(default_family((140, 1), 140, "here")) == "Translation(radius=10.0, shape=(140, 1))"


def rows_of(kind, rng):
    """Return 80 rows of a square number of features of some kind."""
    if kind == "signals":
        return np.sin(rng.rand(80, 1) * 6 + np.arange(256) / 8) + 0.1 * rng.randn(80, 256)
    if kind == "noisy signals":
        return lfilter([1], [1, -0.5], rng.randn(80, 256), axis=1)
    if kind == "table":
        table = rng.randn(80, 64) * rng.rand(64)
        table[:, 0] = np.arange(80)  # the number of the sample
        return table
    if kind == "scores":
        return PCA(64).fit_transform(load_mnist_sample().X_train)[:80]
    if kind == "colours":
        photograph = load_sample_image("china.jpg") / 255.0
        at = rng.randint(300, size=(80, 2))
        return np.stack([photograph[i : i + 24, j : j + 32].ravel() for i, j in at])
    vertical, horizontal = np.mgrid[:16, :16]
    at = rng.uniform(4, 12, (80, 2, 1, 1))
    spots = np.exp(-((vertical - at[:, 0]) ** 2 + (horizontal - at[:, 1]) ** 2) / 20)
    if kind == "grey":
        return spots.reshape(80, -1)
    images = spots[..., None] * rng.rand(80, 1, 1, 4)
    images[..., 3] = 1
    return images.reshape(80, -1)


@pytest.mark.parametrize(
    "kind", ["signals", "noisy signals", "table", "scores", "colours", "with alpha"]
)
def test_rows_that_do_not_look_like_images_get_a_warning(kind, small):
    X, y = rows_of(kind, np.random.RandomState(0)), np.arange(80) % 2
    side = int(X.shape[1] ** 0.5)
    for family in (None, Translation(2)):
        with pytest.warns(UserWarning, match=f"as grey images of {side} x {side}") as caught:
            small(family=family, n_copies=2).fit(X, y)
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "The declared family lowers")
        small(shape=(side, side), n_copies=2).fit(X, y)
        small(family=Translation(2, shape=(1, side * side)), n_copies=2).fit(X, y)
        small(family=Identity()).fit(X, y)


def test_images_look_like_images(digits, small):
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
        warnings.filterwarnings("ignore", "The declared family lowers")
        small(n_copies=2).fit(rows_of("grey", rng), np.arange(80) % 2)
        # images too small for the default family are not checked
        small(family=Translation(1), n_copies=2).fit(rng.rand(80, 4), np.arange(80) % 2)


def test_channels_that_come_first_get_a_warning(small):
    X = np.random.RandomState(0).rand(10, 3 * 16 * 16)
    for options in ({"shape": (3, 16, 16)}, {"family": Rotation(180, shape=(3, 16, 16))}):
        with pytest.warns(UserWarning, match="3 x 16 pixels with 16 channels") as caught:
            small(n_copies=2, **options).fit(X, np.arange(10) % 2)
        assert caught[0].filename == __file__


class Mirrored(Custom):
    """A family whose domain the package does not know."""

    domain = Domain("sentence", ("words",), "none")

    def __init__(self, shape=None):
        super().__init__([lambda X: X[:, ::-1]], shape=shape)


@pytest.mark.parametrize("estimator", [InvariantClassifier, InvariantRegressor])
def test_a_domain_without_default_features_gets_a_warning(estimator):
    X, y = np.random.RandomState(0).rand(20, 6), np.arange(20) % 2
    family = Custom([np.negative])
    family.domain = Domain("sentence", ("words",), "none")
    with pytest.warns(UserWarning, match="no default features for the domain 'sentence'") as caught:
        estimator(family, n_copies=2).fit(X, y)
    assert caught[0].filename == __file__


def test_samples_come_first_from_all_groups(plan_of):
    X = np.random.RandomState(0).rand(100, 6)
    groups = np.repeat([2, 0, 1], [60, 30, 10])
    plan, samples = plan_of(InvariantClassifier(), X, np.arange(100) % 2, groups)
    assert sorted(plan.order) == list(range(100))
    assert set(samples.groups[:3]) == {0, 1, 2}
    counts = np.unique(samples.groups[:50], return_counts=True)[1]
    assert counts == pytest.approx([15, 5, 30], abs=1)


def test_the_budget_says_how_small_an_image_may_be(plan_of):
    X, y = np.random.RandomState(0).rand(30, 36), np.arange(30) % 2
    for budget, is_image in ((Budget(), False), (Budget(smallest_image=6), True)):
        estimator = InvariantClassifier(n_copies=2, budget=budget)
        plan, _ = plan_of(estimator, X, y)
        assert (plan.edges is not None) == is_image
