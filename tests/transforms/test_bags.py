"""The worst scaling against brute force, and against the paper's own algorithm."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from invarlearn.transforms import FeatureDropping, FeatureScaling


def brute_force(x, b, low, high, budget):
    """Try the ends of the range on every set of at most ``budget`` features."""
    best = b @ x
    for size in range(1, min(budget, len(x)) + 1):
        for chosen in combinations(range(len(x)), size):
            for factors in product((low, high), repeat=size):
                moved = x.copy()
                moved[list(chosen)] *= factors
                best = min(best, b @ moved)
    return best


def paper_algorithm_3(x, b, low, high, budget):
    """Algorithm 3 as printed; right only while budget <= len(x)."""
    x = x.copy()
    parts = b * x
    order = np.argsort(parts)
    i, j = 0, len(x) - 1
    for _ in range(budget):
        if parts[order[i]] * (1 - high) > parts[order[j]] * (1 - low):
            x[order[i]] *= high
            i += 1
        else:
            x[order[j]] *= low
            j -= 1
    return b @ x


numbers = st.floats(-3, 3, allow_nan=False).map(lambda v: round(v, 2))


@settings(max_examples=200, deadline=None)
@given(
    data=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5),
    low=st.sampled_from([-0.5, 0.0, 0.3, 1.0]),
    high=st.sampled_from([1.0, 1.5, 8.0]),
    budget=st.integers(0, 7),
    sign=st.sampled_from([-1.0, 1.0]),
)
def test_worst_case_equals_brute_force(data, low, high, budget, sign):
    x, w = np.array(data).T
    family = FeatureScaling(low, high, budget)
    rows, scores = family.worst_case(x[None], w, [sign])
    truth = brute_force(x, sign * w, low, high, budget)
    assert scores[0] == pytest.approx(truth, abs=1e-9)
    assert sign * (rows[0] @ w) == pytest.approx(truth, abs=1e-9)
    changed = rows[0] != x
    assert changed.sum() <= budget
    ratio = rows[0][changed] / x[changed]
    assert np.isin(np.round(ratio, 9), [low, high]).all()


def test_agrees_with_the_paper_where_it_is_right_and_not_beyond():
    rng = np.random.RandomState(0)
    wrong_beyond = 0
    for _ in range(200):
        x, w = rng.rand(6), rng.randn(6)
        scores = [FeatureScaling(0.5, 2, k).worst_case(x[None], w)[1][0] for k in (4, 9)]
        assert scores[0] == pytest.approx(paper_algorithm_3(x, w, 0.5, 2, 4))
        with_too_much = paper_algorithm_3_or_nan(x, w, 9)
        wrong_beyond += not np.isclose(with_too_much, brute_force(x, w, 0.5, 2, 6))
        assert scores[1] == pytest.approx(brute_force(x, w, 0.5, 2, 6))
    assert wrong_beyond > 20


def paper_algorithm_3_or_nan(x, w, budget):
    try:
        return paper_algorithm_3(x, w, 0.5, 2, budget)
    except IndexError:
        return np.nan


def test_nothing_changes_without_a_gain():
    rows, _ = FeatureScaling(0.5, 2, 3).worst_case([[0.0, 0.0, 3.0]], [1.0, 1.0, 1.0])
    assert np.array_equal(rows, [[0.0, 0.0, 1.5]])
    rows, _ = FeatureScaling(0.5, 2, 2).worst_case([[1.0, 2.0, 3.0]], np.zeros(3))
    assert np.array_equal(rows, [[1.0, 2.0, 3.0]])


def test_ties_go_to_the_first_features():
    rows, _ = FeatureDropping(2).worst_case([[1.0, 1.0, 1.0, 1.0]], np.ones(4))
    assert np.array_equal(rows, [[0.0, 0.0, 1.0, 1.0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("family", [FeatureScaling(0.5, 8, 10), FeatureDropping(14)], ids=repr)
def test_sparse_equals_dense(family, dtype):
    rng = np.random.RandomState(0)
    X = sparse.random(60, 400, 0.2, format="csr", random_state=rng, dtype=dtype)
    w, sign = rng.randn(400), rng.choice([-1, 1], 60)
    before = X.copy()
    rows, scores = family.worst_case(X, w, sign)
    dense, dense_scores = family.worst_case(X.toarray(), w, sign)
    assert sparse.issparse(rows)
    assert rows.dtype == dtype
    np.testing.assert_allclose(rows.toarray(), dense)
    np.testing.assert_allclose(scores, dense_scores, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(scores, sign * (rows @ w), rtol=1e-4, atol=1e-4)
    assert (before != X).nnz == 0


def test_random_elements_keep_to_the_budget_and_the_range():
    X = np.random.RandomState(0).rand(5, 30) * (np.random.RandomState(1).rand(5, 30) > 0.5)
    moved = FeatureScaling(0.5, 3, 4).sample(20, random_state=0)(X)
    changed = moved != X[:, None]
    assert changed.any()
    assert (changed.sum(axis=2) <= 4).all()
    ratio = (moved / np.where(X == 0, 1, X)[:, None])[changed]
    assert (ratio >= 0.5).all()
    assert (ratio <= 3).all()
    dropped = FeatureDropping(4).sample(20, random_state=0)(X)
    assert ((dropped == 0).sum(axis=2) == (X == 0).sum(axis=1)[:, None] + 4).all()


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (FeatureScaling(1.5, 2), "low=1.5 must be a number, at most 1"),
        (FeatureScaling(0.5, np.inf), "high=inf"),
        (FeatureScaling(budget=-1), "budget=-1"),
        (FeatureDropping(budget=1.5), "budget=1.5"),
    ],
)
def test_wrong_parameters_get_clear_errors(family, message):
    with pytest.raises(ValueError, match=message):
        family.worst_case(np.ones((1, 2)), np.ones(2))


def test_wrong_lengths_get_clear_errors():
    with pytest.raises(ValueError, match=r"w has shape \(3,\)"):
        FeatureDropping().worst_case(np.ones((1, 2)), np.ones(3))
    with pytest.raises(ValueError, match=r"sign has shape \(2,\)"):
        FeatureDropping().worst_case(np.ones((1, 2)), np.ones(2), [1, 1])


def by_sorting(x, b, low, high, budget):
    parts = b * x
    gains = np.maximum(parts * (1 - high), parts * (1 - low))
    return parts.sum() - np.sort(gains)[::-1][:budget].clip(0).sum()


@settings(max_examples=150, deadline=None)
@given(
    size=st.integers(1, 700),
    budget=st.sampled_from([1, 2, 9, 15, 16, 17, 40, 200, 1000]),
    decimals=st.integers(0, 3),
    seed=st.integers(0, 2**16),
)
def test_long_rows_agree_with_sorting(size, budget, decimals, seed):
    """Few decimals make many ties; long rows overflow the list of candidates."""
    rng = np.random.RandomState(seed)
    x, w = rng.rand(size).round(decimals), rng.randn(size).round(decimals)
    rows, scores = FeatureScaling(0.5, 8, budget).worst_case(x[None], w)
    truth = by_sorting(x, w, 0.5, 8, budget)
    assert scores[0] == pytest.approx(truth, abs=1e-9 * size)
    assert rows[0] @ w == pytest.approx(truth, abs=1e-9 * size)
    assert (rows[0] != x).sum() <= budget


def test_random_elements_keep_sparse_rows_sparse():
    X = sparse.random(20, 50, 0.3, format="csr", random_state=0)
    for family in (FeatureScaling(0.5, 3, 4), FeatureDropping(4)):
        element = family.sample(3, random_state=0)[1]
        moved = element(X)
        assert sparse.issparse(moved)
        np.testing.assert_allclose(moved.toarray(), element(X.toarray()))
        assert 0 < (moved != X).nnz <= 80
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        FeatureScaling().sample(3, random_state=0)(X)


def test_tangents_are_the_scaling_of_one_feature_at_a_time():
    X = np.random.RandomState(0).rand(3, 5)
    t = 1e-6
    for j in range(5):
        factor = np.ones(5)
        factor[j] += t
        np.testing.assert_allclose(
            (X * factor - X) / t, FeatureScaling().tangents(X)[:, j], atol=1e-8
        )
