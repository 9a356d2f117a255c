"""Comparisons of paired values."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from invarlearn._utils.statistics import compare_paired, mcnemar_p_value


def test_paired_differences_are_tested_as_one_sample():
    rng = np.random.RandomState(0)
    values, baseline = rng.randn(12) + 0.5, rng.randn(12)
    values[3] = baseline[3]
    comparison = compare_paired(values, baseline)
    differences = values - baseline
    assert comparison.mean == pytest.approx(differences.mean())
    assert comparison.sd == pytest.approx(np.std(differences, ddof=1))
    assert comparison.p_value == pytest.approx(ttest_1samp(differences, 0).pvalue)
    assert (comparison.n_pairs, comparison.n_equal) == (12, 1)
    assert comparison.n_above == (differences > 0).sum()
    assert comparison.n_below == (differences < 0).sum()


def test_one_pair_has_no_p_value():
    comparison = compare_paired([2.0], [1.5])
    assert (comparison.mean, comparison.sd, comparison.n_above) == (0.5, 0.0, 1)
    assert np.isnan(comparison.p_value)


def test_values_without_a_partner_are_refused():
    with pytest.raises(ValueError, match=r"shapes \(2,\) and \(1,\)"):
        compare_paired([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="non-empty"):
        compare_paired([], [])


def test_mcnemar_counts_samples_on_which_classifiers_differ():
    correct = np.array([True] * 8 + [False] * 2 + [True] * 50)
    other = np.array([False] * 8 + [True] * 2 + [True] * 50)
    # of 10 samples, at most 2 on one side: (1 + 10 + 45) / 1024, twice
    assert mcnemar_p_value(correct, other) == pytest.approx(2 * 56 / 1024)
    assert mcnemar_p_value(other, correct) == pytest.approx(2 * 56 / 1024)
    assert mcnemar_p_value(correct, correct) == 1.0
