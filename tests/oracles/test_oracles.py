"""Worst cases against brute force: over scalings, listed elements, labels and sequences."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from invarlearn.estimators.structured import Chain, StructuredProblem
from invarlearn.kernels import RBF
from invarlearn.oracles import (
    Costs,
    ListedRisk,
    OrbitColumns,
    RivalRisk,
    ScaledRisk,
    linear_risk,
)
from invarlearn.transforms import (
    CyclicShift,
    Family,
    FeatureDropping,
    FeatureScaling,
    Identity,
    Reflection,
)


def random_costs(n_classes, n_elements, rng):
    cost = rng.rand(n_classes, n_classes, n_elements) + 0.2
    cost[np.arange(n_classes), np.arange(n_classes)] = 0
    return Costs.check(cost, rng.rand(n_classes, n_classes) + 0.5, n_classes, n_elements)


def class_scores(risk, w, row):
    table, constant = risk.split(w)
    scores = row @ table + constant
    return scores if len(scores) > 1 else np.array([-scores[0], scores[0]]) / 2


def brute_force(risk, w, i, rows):
    """Return the largest loss over all transformed rows and all labels."""
    own = risk.y[i]
    best = risk.costs.null[own]
    for s, row in enumerate(rows):
        scores = class_scores(risk, w, row)
        for rival in range(risk.costs.n_classes):
            if rival != own:
                here = min(s, risk.costs.cost.shape[2] - 1)
                value = risk.costs.scale[own, rival] * (scores[rival] - scores[own])
                best = max(best, value + risk.costs.cost[own, rival, here])
    return best


def scaled_rows(x, family):
    """Return every row with up to ``budget`` features at an end of the range."""
    low, high, budget = family.bounds()
    for factors in product((1.0, low, high), repeat=len(x)):
        if sum(f != 1 for f in factors) <= budget:
            yield x * factors


numbers = st.floats(-3, 3, allow_nan=False).map(lambda v: round(v, 1))


@settings(max_examples=60, deadline=None)
@given(
    data=st.data(),
    n_classes=st.integers(2, 4),
    n_features=st.integers(1, 4),
    budget=st.integers(0, 6),
    low=st.sampled_from([-0.5, 0.0, 0.5, 1.0]),
    high=st.sampled_from([1.0, 2.0, 8.0]),
    bias=st.sampled_from([0.0, 1.0, 2.5]),
)
def test_scaled_risk_equals_brute_force(data, n_classes, n_features, budget, low, high, bias):
    """Including zero gains, ties and budgets larger than the row."""
    row = st.lists(numbers, min_size=n_features, max_size=n_features)
    X = np.array(data.draw(st.lists(row, min_size=2, max_size=4)))
    y = np.arange(len(X)) % n_classes
    rng = np.random.RandomState(0)
    costs = random_costs(n_classes, 1, rng)
    family = FeatureScaling(low, high, budget)
    risk = ScaledRisk(X, y, family, costs, bias=bias)
    w = np.array(data.draw(st.lists(numbers, min_size=risk.n_weights, max_size=risk.n_weights)))
    for _ in range(2):  # the second time it starts from guesses of the first
        losses, slope = risk.subgradient(w)
        truth = [brute_force(risk, w, i, scaled_rows(X[i], family)) for i in range(len(X))]
        np.testing.assert_allclose(losses, truth, atol=1e-9)
    worst = [risk.worst(w, i) for i in range(len(X))]
    np.testing.assert_allclose([w @ one.psi + one.delta for one in worst], truth, atol=1e-9)
    np.testing.assert_allclose(slope, np.mean([one.psi for one in worst], axis=0), atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("family", [CyclicShift(), Reflection(shape=(1, 4)), Identity()], ids=repr)
@pytest.mark.parametrize("bias", [0.0, 1.5])
def test_listed_risk_equals_brute_force(family, n_classes, bias):
    rng = np.random.RandomState(0)
    X, y = rng.randn(7, 4), np.arange(7) % n_classes
    orbit = family.orbit(X)
    risk = ListedRisk(X, y, family, random_costs(n_classes, orbit.shape[1], rng), bias=bias)
    w = rng.randn(risk.n_weights)
    losses, slope = risk.subgradient(w)
    truth = [brute_force(risk, w, i, orbit[i]) for i in range(7)]
    np.testing.assert_allclose(losses, truth)
    worst = [risk.worst(w, i) for i in range(7)]
    np.testing.assert_allclose([w @ one.psi + one.delta for one in worst], truth)
    np.testing.assert_allclose(slope, np.mean([one.psi for one in worst], axis=0))


class OwnScaling(FeatureScaling):
    """A user-defined family: the same transformations, with its own oracle."""

    def worst_case(self, X, w, sign=None):
        return FeatureScaling(self.low, self.high, self.budget).worst_case(X, w, sign)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_a_user_defined_oracle_agrees_with_the_compiled_one(n_classes, as_sparse):
    rng = np.random.RandomState(0)
    X, y = rng.poisson(1, (30, 12)).astype(float), np.arange(30) % n_classes
    rows = sparse.csr_matrix(X) if as_sparse else X
    costs = random_costs(n_classes, 1, rng)
    weights = rng.rand(30)
    ours = linear_risk(rows, y, FeatureScaling(0.5, 3, 4), costs, weights, 1.0)
    own = linear_risk(rows, y, OwnScaling(0.5, 3, 4), costs, weights, 1.0)
    assert isinstance(ours, ScaledRisk)
    assert isinstance(own, RivalRisk)
    w = rng.randn(ours.n_weights)
    for a, b in zip(ours.subgradient(w), own.subgradient(w), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    a, b = ours.worst(w, 3), own.worst(w, 3)
    np.testing.assert_allclose(a.psi, b.psi)
    assert a.delta == pytest.approx(b.delta)


def test_slopes_are_subgradients_and_the_risk_is_convex():
    rng = np.random.RandomState(1)
    X, y = rng.poisson(1, (40, 9)).astype(float), np.arange(40) % 3
    for family in (FeatureScaling(0.5, 4, 3), FeatureDropping(2), CyclicShift()):
        costs = Costs.check(None, None, 3, family.size(9))
        risk = linear_risk(X, y, family, costs, None, 1.0)
        for _ in range(20):
            w, v = rng.randn(2, risk.n_weights)
            value, slope = risk.shares @ risk.subgradient(w)[0], risk.subgradient(w)[1]
            assert risk.shares @ risk.subgradient(v)[0] >= value + slope @ (v - w) - 1e-10


def test_the_loss_bounds_the_worst_cost():
    """Lemma 2: the cost of the worst transformed prediction is never above the loss."""
    rng = np.random.RandomState(0)
    X, y = rng.randn(30, 5), np.arange(30) % 3
    family = CyclicShift()
    risk = ListedRisk(X, y, family, Costs.check(None, None, 3, 5))
    orbit = family.orbit(X)
    for _ in range(10):
        w = rng.randn(risk.n_weights)
        scores = orbit @ risk.split(w)[0]
        worst = (scores.argmax(axis=2) != y[:, None]).any(axis=1)
        assert (risk.subgradient(w)[0] >= worst).all()


def test_an_element_that_does_not_apply_is_never_the_worst():
    rng = np.random.RandomState(0)
    X, y = rng.randn(20, 4), np.arange(20) % 2
    cost = np.repeat((1.0 - np.eye(2))[:, :, None], 2, axis=2)
    cost[0, 1, 1] = -np.inf  # the first class is not to be reflected
    family = Reflection(shape=(1, 4))
    risk = ListedRisk(X, y, family, Costs.check(cost, None, 2, 2))
    both = ListedRisk(X, y, family, Costs.check(None, None, 2, 2))
    plain = ListedRisk(X, y, Identity(), Costs.check(None, None, 2, 1))
    w = rng.randn(4)
    first = y == 0
    losses = [one.subgradient(w)[0] for one in (risk, plain, both)]
    # rounding of products depends on their shape
    np.testing.assert_allclose(losses[0][first], losses[1][first], rtol=1e-12)
    np.testing.assert_allclose(losses[0][~first], losses[2][~first], rtol=1e-12)


@pytest.mark.parametrize("cache_bytes", [0, 2000, 1e8])
def test_kernel_values_are_the_same_with_and_without_a_cache(cache_bytes):
    rng = np.random.RandomState(0)
    X, y = rng.randn(12, 5), np.arange(12) % 3
    costs = random_costs(3, 5, rng)
    source = OrbitColumns(X, y, RBF(0.2), costs, CyclicShift(), cache_bytes)
    A = np.zeros((3, 0))
    for _ in range(4):
        priced = source.price(A, np.full(12, -np.inf), 1)
        A = np.concatenate([A, rng.randn(3, source.n_rows - A.shape[1])], axis=1)
        keep = np.flatnonzero(rng.rand(source.n_rows) > 0.2)
        source.keep(keep)
        A = A[:, keep]
    priced = source.price(A, np.full(12, -np.inf), 2)
    orbit = CyclicShift().orbit(X)
    n = A.shape[1]
    for i in range(12):
        scores = RBF(0.2)(orbit[i], source.rows[:n]) @ A.T
        losses = [
            costs.scale[y[i], r] * (scores[s, r] - scores[s, y[i]]) + costs.cost[y[i], r, s]
            for s in range(5)
            for r in range(3)
            if r != y[i]
        ]
        assert priced.losses[i] == pytest.approx(max(0, *losses))
    # rows are made for the columns that were asked for, and no others
    made = {tuple(one) for one in source.origin}
    assert len(made) == source.n_rows
    for row, (i, s) in zip(source.rows, source.origin, strict=True):
        np.testing.assert_allclose(row, orbit[i, s])


def test_the_chain_finds_the_worst_labels_and_transformations():
    rng = np.random.RandomState(0)
    chain = Chain(3, 4, CyclicShift())
    for _ in range(20):
        x, y, w = rng.randn(3, 4), rng.randint(3, size=3), rng.randn(chain.n_features)
        moved, other, cost = chain.worst(w, x, y)
        value = w @ (chain.features(moved, other) - chain.features(moved, y)) + cost
        orbit = CyclicShift().orbit(x)
        truth = max(
            w @ (chain.features(m, labels) - chain.features(m, y)) + (np.array(labels) != y).sum()
            for labels in product(range(3), repeat=3)
            for m in (orbit[np.arange(3), list(s)] for s in product(range(4), repeat=3))
        )
        assert value == pytest.approx(truth)
        best = max(product(range(3), repeat=3), key=lambda one: w @ chain.features(x, one))
        assert tuple(chain.predict(w, x)) == best


@pytest.mark.parametrize(
    ("cost", "scale", "message"),
    [
        (np.ones(3), None, r"cost has shape \(3,\); for 3 classes it must be \(3, 3\)"),
        (np.ones((3, 3, 7)), None, r"or \(3, 3, 4\)"),
        (np.full((3, 3), np.nan), None, "cost must be numbers"),
        (-np.ones((3, 3)), None, "itself must be zero or more"),
        (None, -np.ones((3, 3)), "margin_scale must be finite, and zero or more"),
        (None, np.ones((2, 2)), r"margin_scale has shape \(2, 2\)"),
        ([["a"]], None, "cost must be an array of numbers"),
    ],
)
def test_wrong_costs_get_clear_errors(cost, scale, message):
    with pytest.raises(ValueError, match=message):
        Costs.check(cost, scale, 3, 4)


def test_chains_refuse_invalid_input():
    chain = Chain(3, 2)
    w = np.zeros(chain.n_features)
    with pytest.raises(ValueError, match="have 3 features, not 2"):
        chain.predict(w, np.ones((2, 3)))
    with pytest.raises(ValueError, match="whole numbers from 0 to 2"):
        chain.features(np.ones((2, 2)), [0, 3])
    with pytest.raises(ValueError, match="cannot be listed"):
        Chain(2, 2, FeatureScaling())
    assert isinstance(chain, StructuredProblem)
    assert isinstance(chain.family, Family)
