"""Which invariances help: where the answer is known."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from invarlearn import InvariantClassifier, VirtualSVC
from invarlearn._shares import chance_of_gain, share_of
from invarlearn.audit import choose_family
from invarlearn.transforms import CyclicShift, FeatureScaling, Identity, Reflection


def waves(n, shifted, seed=0):
    """Give steep rises or steep falls, mirror images of each other, wherever they begin."""
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 2
    t = np.arange(16)
    saw = np.where(t < 6, t / 5, 0)
    X = np.stack([saw, saw[::-1]])[y] + 0.3 * rng.randn(n, 16)
    if shifted:
        X = np.stack([np.roll(row, k) for row, k in zip(X, rng.randint(16, size=n), strict=True)])
    return X, y


def test_what_helps_is_found_and_what_does_not_is_left():
    X, y = waves(80, shifted=True)
    candidates = {"shift": CyclicShift(), "mirror": Reflection(shape=(1, 16))}
    found = choose_family(VirtualSVC(C=10), X, y, candidates, ranges=(1.0,))
    assert found.helps
    assert found.family is found.best
    assert found.family.get_params() == CyclicShift().get_params()
    assert found.accuracy.value > found.plain_accuracy.value + 0.1
    assert found.p_value < 0.05
    assert "helps: " in found.summary()
    assert "CyclicShift" in found.summary()
    rows = found.table()
    assert rows[0]["family"] == "none"
    assert not rows[0]["chosen"]
    assert sum(row["chosen"] for row in rows) >= 1


def test_none_is_said_when_none_helps():
    # what matters is the sign of the first column: mirror images would destroy it
    rng = np.random.RandomState(0)
    X = rng.randn(60, 9)
    y = (X[:, 0] > X[:, 8]).astype(int)
    found = choose_family(VirtualSVC(C=10), X, y, Reflection(shape=(1, 9)), ranges=(1.0,))
    assert not found.helps
    assert isinstance(found.family, Identity)
    assert isinstance(found.best, Identity)
    assert "none" in found.summary()
    assert found.p_value == 1
    assert found.accuracy == found.plain_accuracy
    assert [row["chosen"] for row in found.table()] == [True, False]


def test_chance_seldom_makes_anything_help():
    helps = 0
    for seed in range(8):
        rng = np.random.RandomState(seed)
        X, y = rng.randn(40, 6), np.arange(40) % 2
        found = choose_family(
            VirtualSVC(C=1), X, y, [CyclicShift(), Reflection(shape=(1, 6))], cv=3
        )
        helps += found.helps
        # labels are random: so is what is predicted of samples that took no part
        assert found.accuracy.low < 0.5
    assert helps <= 1


def test_the_estimate_is_that_of_samples_that_took_no_part():
    """Nested by hand: the choice in each training part, with scikit-learn's tools."""
    X, y = waves(60, shifted=True, seed=1)
    families = [Identity(), CyclicShift()]
    found = choose_family(
        VirtualSVC(C=10), X, y, families[1], ranges=(1.0,), cv=4, inner_cv=3, random_state=5
    )
    with_ = np.empty(60, dtype=bool)
    for train, test in StratifiedKFold(4, shuffle=True, random_state=5).split(X, y):
        inner = StratifiedKFold(3, shuffle=True, random_state=5)
        right = [
            cross_val_predict(VirtualSVC(family, C=10), X[train], y[train], cv=inner) == y[train]
            for family in families
        ]
        gain = right[1].astype(float) - right[0]
        chosen = families[int(gain.mean() > gain.std() / np.sqrt(len(gain)))]
        with_[test] = VirtualSVC(chosen, C=10).fit(X[train], y[train]).predict(X[test]) == y[test]
    assert found.accuracy.value == pytest.approx(with_.mean())


def test_jobs_do_not_change_the_result():
    X, y = waves(40, shifted=True)
    seen = []
    results = [
        choose_family(
            VirtualSVC(C=10),
            X,
            y,
            CyclicShift(),
            ranges=(0.5, 1.0),
            cv=3,
            n_jobs=n_jobs,
            progress=lambda done, total, left: seen.append((done, total)),
        )
        for n_jobs in (1, 2)
    ]
    assert results[0].table() == results[1].table()
    assert results[0].accuracy == results[1].accuracy
    assert seen[-1][0] == seen[-1][1] > 0


def test_groups_are_left_out_together():
    X, y = waves(48, shifted=True)
    groups = np.repeat(np.arange(12), 4)
    seen = []

    class Spy(VirtualSVC):
        def fit(self, X_part, y_part):
            seen.append(
                {g for g, row in zip(groups, X, strict=True) if (row == X_part).all(1).any()}
            )
            return super().fit(X_part, y_part)

        def predict(self, X_part):
            out = {g for g, row in zip(groups, X, strict=True) if (row == X_part).all(1).any()}
            assert not out & seen[-1]
            return super().predict(X_part)

    choose_family(Spy(C=10), X, y, CyclicShift(), ranges=(1.0,), cv=3, groups=groups)
    assert len(seen) > 6


def test_pipelines_name_their_parameter():
    X, y = waves(40, shifted=True)
    pipe = make_pipeline(FunctionTransformer(), VirtualSVC(C=10))
    ways = {"ranges": (1.0,), "cv": 3}
    found = choose_family(pipe, X, y, CyclicShift(), param="virtualsvc__family", **ways)
    assert found.table() == choose_family(VirtualSVC(C=10), X, y, CyclicShift(), **ways).table()


def test_mistakes_get_clear_errors():
    X, y = waves(20, shifted=False)
    with pytest.raises(ValueError, match="no parameter 'family'"):
        choose_family(LogisticRegression(), X, y, CyclicShift())
    with pytest.raises(TypeError, match="must be families"):
        choose_family(VirtualSVC(), X, y, ["rotation"])
    with pytest.raises(TypeError, match="must be families"):
        choose_family(VirtualSVC(), X, y, [])
    with pytest.raises(ValueError, match="one class only"):
        choose_family(VirtualSVC(), X, np.zeros(20), CyclicShift())
    with pytest.raises(ValueError, match="smaller cv"):
        choose_family(VirtualSVC(), X[:4], y[:4], CyclicShift())
    with pytest.raises(ValueError, match="ranges"):
        choose_family(VirtualSVC(), X, y, CyclicShift(), ranges=())


def test_chance_is_judged_by_groups():
    # every group gains or loses as a whole, either as likely
    rng = np.random.RandomState(0)
    groups = np.repeat(np.arange(12), 20)
    found = [chance_of_gain(rng.choice([-1, 1], size=12)[groups], groups) for _ in range(300)]
    assert np.mean(np.array(found) < 0.05) < 0.08
    # as if samples were independent, far more often
    alone = [chance_of_gain(rng.choice([-1, 1], size=12)[groups]) for _ in range(300)]
    assert np.mean(np.array(alone) < 0.05) > 0.2


def test_chance_with_groups_of_one_is_that_of_samples():
    gains = np.array([1] * 9 + [-1] * 3 + [0] * 5)
    exact = chance_of_gain(gains)
    assert chance_of_gain(gains, np.arange(17)) == pytest.approx(exact)
    many = np.tile(gains, 5)
    drawn = chance_of_gain(many, np.arange(85))
    assert drawn == pytest.approx(chance_of_gain(many), abs=0.003)
    assert chance_of_gain(np.zeros(5)) == 1


def test_intervals_of_groups_are_wider():
    values = np.repeat([1, 0, 1, 1, 0, 1, 1, 1], 10)
    groups = np.repeat(np.arange(8), 10)
    alone, together = share_of(values), share_of(values, groups)
    assert together.value == alone.value
    assert together.high - together.low > 2 * (alone.high - alone.low)
    # groups of one are no groups
    own = share_of(values, np.arange(80))
    assert (own.low, own.high) == pytest.approx((alone.low, alone.high), abs=0.01)


@pytest.mark.parametrize(
    "sizes",
    [[100] * 3, [50] * 6, [5] * 40, [20, 20, 20, 20, 300], [10, 10, 280], [5, 661]],
    ids=lambda sizes: f"{len(sizes)} of {sizes[0]} to {sizes[-1]}",
)
@pytest.mark.parametrize("mean", [0.8, 0.95])
def test_intervals_of_groups_hold_the_truth_as_often_as_they_say(sizes, mean):
    rng = np.random.RandomState(0)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    held = 0
    for _ in range(300):
        # groups have shares of their own
        shares = rng.beta(10 * mean, 10 * (1 - mean), len(sizes))
        share = share_of(rng.rand(len(groups)) < shares[groups], groups)
        held += share.low <= mean <= share.high
    assert held >= 0.9 * 300


@pytest.mark.parametrize("n_groups", [2, 5])
def test_groups_that_happen_to_agree_are_not_sure(n_groups):
    groups = np.repeat(np.arange(n_groups), 100)

    def width(wrong):
        values = np.ones(100 * n_groups)
        for group, count in enumerate(wrong):
            values[100 * group : 100 * group + count] = 0
        share = share_of(values, groups)
        return share.high - share.low

    alone = share_of(np.r_[np.zeros(5 * n_groups), np.ones(95 * n_groups)])
    for count in range(5, 95, 5):
        same = width([count] * n_groups)
        nearly = width([count + 1, *[count] * (n_groups - 1)])
        # rounding decides nothing
        assert nearly == pytest.approx(same, rel=0.1)
        assert same > 2 * (alone.high - alone.low)
    none, one = width([0] * n_groups), width([1] + [0] * (n_groups - 1))
    assert one == pytest.approx(none, rel=0.2)
    assert width([30] + [0] * (n_groups - 1)) > width([30 // n_groups] * n_groups)
    assert share_of([1, 1, 0], np.zeros(3)).low < 0.2


def test_groups_are_told_to_estimators_that_take_them():
    X, y = waves(48, shifted=True)
    groups, seen = np.repeat(np.arange(12), 4), []

    class Spy(VirtualSVC):
        def fit(self, X, y, groups=None):
            seen.append(groups)
            return super().fit(X, y)

    choose_family(Spy(C=10), X, y, CyclicShift(), ranges=(1.0,), cv=3, groups=groups)
    assert len(seen) > 6
    assert all(some is not None and 1 < len(np.unique(some)) < 12 for some in seen)


def test_too_few_samples_are_told_before_the_work():
    X = waves(20, shifted=False)[0]
    calls = []

    class Spy(VirtualSVC):
        def fit(self, X, y):
            calls.append(1)
            return super().fit(X, y)

    with pytest.raises(ValueError, match="fewer than two classes remain"):
        choose_family(Spy(), X, np.r_[1, np.zeros(19)], CyclicShift())
    assert not calls


def test_ranges_that_change_nothing_are_tried_once():
    X, y = waves(40, shifted=True)
    found = choose_family(VirtualSVC(C=10), X, y, [CyclicShift(), CyclicShift(radius=2)], cv=3)
    tried = [row["family"] for row in found.table() if "*" not in row["family"]]
    assert len(tried) == len(set(tried))
    assert tried.count("CyclicShift()") == 1


def test_parts_do_not_warn_of_their_own_estimates():
    """A class of three samples has one or two in the parts that are learned from."""
    rng = np.random.RandomState(0)
    y = np.r_[np.zeros(15, dtype=int), np.ones(15, dtype=int), [2, 2, 2]]
    X = rng.randn(len(y), 4) + 3 * y[:, None]
    family = FeatureScaling(0.9, 1.1, budget=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = choose_family(InvariantClassifier(n_copies=2), X, y, family, ranges=(1.0,), cv=3)
    assert 0 <= found.accuracy.value <= 1
