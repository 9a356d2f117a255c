"""Intervals of proportions and sign tests, of independent and of grouped samples."""

import numpy as np
import pytest
from scipy.stats import binomtest

from invarlearn._utils.statistics import (
    estimate_proportion,
    jackknife_ratio_interval,
    sign_test_p_value,
    sum_by_group,
)


def test_intervals_of_binary_values_are_wilson_intervals():
    values = np.r_[np.ones(17), np.zeros(6)]
    exact = binomtest(17, 23).proportion_ci(method="wilson")
    proportion = estimate_proportion(values)
    assert (proportion.low, proportion.high) == pytest.approx((exact.low, exact.high))
    for extreme in (np.zeros(10), np.ones(10)):
        assert 0 <= estimate_proportion(extreme).low <= estimate_proportion(extreme).high <= 1
        assert estimate_proportion(extreme).high - estimate_proportion(extreme).low > 0.2


def test_intervals_have_nominal_coverage():
    # each sample has its own share, estimated from 10 tries
    rng = np.random.RandomState(0)
    covered = 0
    for _ in range(400):
        own = rng.beta(0.3, 1.2, size=60)
        interval = estimate_proportion(rng.binomial(10, own) / 10)
        covered += interval.low <= 0.2 <= interval.high
    assert 0.91 < covered / 400 < 0.99


def test_the_sign_test_accounts_for_groups():
    # each group gains or loses as a whole, with equal probability
    rng = np.random.RandomState(0)
    groups = np.repeat(np.arange(12), 20)
    p_values = [sign_test_p_value(rng.choice([-1, 1], size=12)[groups], groups) for _ in range(300)]
    assert np.mean(np.array(p_values) < 0.05) < 0.08
    # treated as independent samples, far more tests are significant
    ungrouped = [sign_test_p_value(rng.choice([-1, 1], size=12)[groups]) for _ in range(300)]
    assert np.mean(np.array(ungrouped) < 0.05) > 0.2


def test_the_sign_test_with_groups_of_one_equals_that_of_samples():
    gains = np.array([1] * 9 + [-1] * 3 + [0] * 5)
    exact = sign_test_p_value(gains)
    assert sign_test_p_value(gains, np.arange(17)) == pytest.approx(exact)
    many = np.tile(gains, 5)
    drawn = sign_test_p_value(many, np.arange(85))
    assert drawn == pytest.approx(sign_test_p_value(many), abs=0.003)
    assert sign_test_p_value(np.zeros(5)) == 1


def test_intervals_of_groups_are_wider():
    values = np.repeat([1, 0, 1, 1, 0, 1, 1, 1], 10)
    groups = np.repeat(np.arange(8), 10)
    alone, together = estimate_proportion(values), estimate_proportion(values, groups)
    assert together.value == alone.value
    assert together.high - together.low > 2 * (alone.high - alone.low)
    # groups of one sample change nothing
    own = estimate_proportion(values, np.arange(80))
    assert (own.low, own.high) == pytest.approx((alone.low, alone.high), abs=0.01)


@pytest.mark.parametrize(
    "sizes",
    [[100] * 3, [50] * 6, [5] * 40, [20, 20, 20, 20, 300], [10, 10, 280], [5, 661]],
    ids=lambda sizes: f"{len(sizes)} of {sizes[0]} to {sizes[-1]}",
)
@pytest.mark.parametrize("mean", [0.8, 0.95])
def test_intervals_of_groups_have_nominal_coverage(sizes, mean):
    rng = np.random.RandomState(0)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    covered = 0
    for _ in range(300):
        # each group has its own share
        shares = rng.beta(10 * mean, 10 * (1 - mean), len(sizes))
        share = estimate_proportion(rng.rand(len(groups)) < shares[groups], groups)
        covered += share.low <= mean <= share.high
    assert covered >= 0.9 * 300


@pytest.mark.parametrize("n_groups", [2, 5])
def test_groups_that_agree_by_chance_have_wide_intervals(n_groups):
    groups = np.repeat(np.arange(n_groups), 100)

    def width(wrong):
        values = np.ones(100 * n_groups)
        for group, count in enumerate(wrong):
            values[100 * group : 100 * group + count] = 0
        share = estimate_proportion(values, groups)
        return share.high - share.low

    alone = estimate_proportion(np.r_[np.zeros(5 * n_groups), np.ones(95 * n_groups)])
    for count in range(5, 95, 5):
        same = width([count] * n_groups)
        nearly = width([count + 1, *[count] * (n_groups - 1)])
        # the width is continuous in the counts
        assert nearly == pytest.approx(same, rel=0.1)
        assert same > 2 * (alone.high - alone.low)
    none, one = width([0] * n_groups), width([1] + [0] * (n_groups - 1))
    assert one == pytest.approx(none, rel=0.2)
    assert width([30] + [0] * (n_groups - 1)) > width([30 // n_groups] * n_groups)
    assert estimate_proportion([1, 1, 0], np.zeros(3)).low < 0.2


def test_intervals_widen_with_the_prior_correlation():
    values, groups = np.repeat([1, 1, 0, 1, 1], 20), np.repeat(np.arange(5), 20)
    widths = []
    for correlation in (0.0, 0.2, 1.0):
        interval = estimate_proportion(values, groups, prior_correlation=correlation)
        widths.append(interval.high - interval.low)
    assert widths[0] < widths[1] < widths[2]


def test_ratio_intervals_are_logarithmic_and_have_nominal_coverage():
    low, high = jackknife_ratio_interval(2.0, np.full(400, 2.0))
    assert low * high == pytest.approx(4)
    assert high < 2.02
    wide = jackknife_ratio_interval(2.0, np.full(4, 2.0))
    wider = jackknife_ratio_interval(2.0, np.full(4, 2.0), prior_log_variance=4.0)
    assert wider[0] < wide[0] < low < high < wide[1] < wider[1]
    rng = np.random.RandomState(0)
    covered = 0
    for _ in range(200):
        a, b = rng.gamma(20, size=(2, 30))
        low, high = jackknife_ratio_interval(a.sum() / b.sum(), (a.sum() - a) / (b.sum() - b))
        covered += low <= 1 <= high
    assert covered >= 0.93 * 200


def test_group_sums_are_sorted_by_name():
    sums = sum_by_group(np.array([1.0, 2.0, 4.0]), np.array(["b", "a", "b"]))
    np.testing.assert_array_equal(sums, [2.0, 5.0])
