"""Lemmas of Mroueh et al. (2015) against quadrature and simulation; the choice of templates."""

import doctest

import numpy as np
import pytest
from scipy.stats import chi2, multivariate_normal
from sklearn.pipeline import make_pipeline

from invarlearn import InvariantFeatures, RLSClassifier
from invarlearn.features.theory import (
    approximation_bound,
    chi2_tail_bounds,
    choose_templates,
    distribution_bound,
    estimation_bound,
    expectation_bounds,
    expected_kernel,
    maximum_moments,
    mean_bound,
    risk_bound,
    template_kernels,
)
from invarlearn.kernels import RBF, HaarKernel
from invarlearn.transforms import CyclicShift


def sphere(n, d, seed=0):
    X = np.random.RandomState(seed).standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def fitted(X, n_templates, **settings):
    settings = {"thresholds": "midpoint", "templates": "gaussian", "dtype": "float64", **settings}
    return InvariantFeatures(CyclicShift(), n_templates, random_state=0, **settings).fit(X)


@pytest.mark.parametrize("correlation", [-0.7, 0.0, 0.9])
def test_moments_of_a_maximum_are_those_of_quadrature(correlation):
    """Lemma 2."""
    means, sds = (0.3, -0.4), (1.0, 0.6)
    cross = correlation * sds[0] * sds[1]
    x, y = np.meshgrid(np.linspace(-7, 7, 1501), np.linspace(-5, 5, 1501))
    weights = multivariate_normal(means, [[sds[0] ** 2, cross], [cross, sds[1] ** 2]]).pdf(
        np.stack([x, y], axis=-1)
    )

    def moment(power):
        return np.sum(np.maximum(x, y) ** power * weights) / np.sum(weights)

    mean, variance = maximum_moments(means, sds, correlation)
    assert mean == pytest.approx(moment(1), abs=1e-5)
    assert variance == pytest.approx(moment(2) - moment(1) ** 2, abs=1e-5)


def test_equal_variables_have_their_own_moments():
    assert maximum_moments((1.0, 1.0), (2.0, 2.0), 1.0) == (1.0, 4.0)
    assert maximum_moments((1.0, 3.0), (2.0, 2.0), 1.0) == (3.0, 4.0)
    with pytest.raises(ValueError, match="correlation"):
        maximum_moments((0.0, 0.0), (1.0, 1.0), 1.5)


def test_the_weight_of_theorem_1_is_that_of_lemma_2():
    """Equations 11 and 13: the maximum of <x, n> and <z, n> has mean |x - z| / sqrt(2 pi d)."""
    d, cosine = 16, 0.3
    sd = 1 / np.sqrt(d)
    mean, variance = maximum_moments((0.0, 0.0), (sd, sd), cosine)
    assert mean == pytest.approx(np.sqrt(2 - 2 * cosine) / np.sqrt(2 * np.pi * d))
    assert variance + mean**2 == pytest.approx(1 / d)


@pytest.mark.parametrize("k", [2, 3, 16, 200])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 0.99])
def test_chi_squared_tails_are_within_their_bounds(k, epsilon):
    """Lemma 3."""
    above, below = chi2_tail_bounds(k, epsilon)
    limit = k * (1 + epsilon)
    assert chi2.sf(limit, k) <= above <= 1
    assert chi2.cdf(limit, k) <= below <= 1
    # neither bound is trivial
    assert above < 1
    assert below < 1


def test_empirical_distributions_are_within_the_bound():
    """Theorem 4: in all but a share delta of the draws; the constant is tight."""
    rng, n = np.random.RandomState(0), 100
    draws = np.sort(rng.uniform(size=(4000, n)), axis=1)
    steps = np.arange(n + 1) / n
    errors = np.maximum(steps[1:] - draws, draws - steps[:-1]).max(axis=1)
    share = np.mean(errors > distribution_bound(n, 0.1))
    assert 0.05 < share <= 0.11


def test_means_of_vectors_are_within_the_bound():
    """Lemma 7."""
    rng, n = np.random.RandomState(0), 50
    directions = rng.standard_normal((2000, n, 3))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    errors = 2 * np.linalg.norm(directions.mean(axis=1), axis=1)
    bound = mean_bound(n, 0.1, largest=2.0)
    assert np.mean(errors > bound) <= 0.1
    # twice the bound of unit vectors, and not more than four times the largest of 90 % of errors
    assert bound == pytest.approx(2 * mean_bound(n, 0.1))
    assert bound < 4 * np.quantile(errors, 0.9)


def test_lemma_4_bounds_the_approximation_of_a_function():
    """A function of F_p with weights w(t, tau) = C p(t) sin(4 tau) h(t), against sampled ones."""
    size, s, d = 1.0, 1.1, 8
    X = sphere(60, d)
    rng = np.random.RandomState(1)
    direction = sphere(1, d, 5)[0]

    def function(m, k, n_bins, rng):
        """Return the mean over m templates, k elements and the thresholds s j / n_bins."""
        templates = rng.standard_normal((m, d)) / np.sqrt(d)
        weights = np.sign(templates @ direction)
        shifts = rng.randint(d, size=k) if k else np.arange(d)
        orbits = np.stack([np.roll(templates, shift, axis=1) for shift in shifts], axis=1)
        projections = np.einsum("nd,mkd->nmk", X, orbits)
        # bin-averaged weights, with which the Riemann sum is exact
        edges = s * np.arange(-n_bins, n_bins + 1) / n_bins
        averages = -np.diff(np.cos(4 * edges)) / 4 / np.diff(edges)
        middle = (edges[1:] + edges[:-1]) / 2
        below = (projections[..., None] <= middle).mean(axis=2)
        return size * (below @ (averages * s / n_bins) @ weights) / m

    truth = function(3000, 0, 40, np.random.RandomState(2))
    m, k, n_bins = 50, 5, 20
    distances = [np.sqrt(np.mean((function(m, k, n_bins, rng) - truth) ** 2)) for _ in range(30)]
    bound = approximation_bound(m, k, n_bins, size, 0.05, s)
    assert max(distances) <= bound
    # Lemma 5 multiplies by the Lipschitz constant
    assert approximation_bound(m, k, n_bins, size, 0.05, s, lipschitz=3.0) == pytest.approx(
        3 * bound
    )


def test_lemma_6_bounds_the_rademacher_complexity():
    """The supremum over the class is a sum of absolute values; n thresholds would be too few."""
    rng, n_rows, n_bins, s = np.random.RandomState(0), 40, 5, 1.1
    # a template opposite to all rows: the empirical distribution functions are all one
    psi = np.ones((n_rows, 2 * n_bins + 1))
    signs = rng.choice([-1.0, 1.0], (20_000, n_rows))
    complexity = np.mean(s / n_bins * np.abs(signs @ psi).sum(axis=1) / n_rows)
    without_loss = estimation_bound(n_rows, n_bins, 1.0, 0.05, s, 1.0, 0.0)
    tail = np.sqrt(np.log(2 / 0.05) / 2)
    bound = without_loss / (4 + tail)
    assert bound == pytest.approx((2 + 1 / n_bins) * s / np.sqrt(n_rows))
    assert s / np.sqrt(n_rows) < complexity <= bound


def test_theorem_3_is_the_sum_of_its_lemmas():
    sizes = {"size": 2.0, "delta": 0.1, "s": 1.2, "lipschitz": 0.5}
    total = 2 * estimation_bound(1000, 20, **sizes, loss_at_zero=0.7)
    total += approximation_bound(500, 245, 20, **sizes)
    assert risk_bound(1000, 500, 245, 20, **sizes, loss_at_zero=0.7) == pytest.approx(total)


def test_lemma_1_kernel_expansions_have_bounded_weights():
    """A combination of kernel values is linear in the features, with weights up to sum |a_i|."""
    X = sphere(12, 16)
    features = fitted(X, 3000, n_bins=40)
    Z = features.transform(X)
    a = np.random.RandomState(0).standard_normal(len(X))
    weights = Z.T @ a
    np.testing.assert_allclose(Z @ weights, expected_kernel(features, X).values @ a, atol=0.1)
    # of the class with C = sum |a_i|: |w| <= C * scale
    assert np.abs(weights).max() <= np.abs(a).sum() * features.scale_ * (1 + 1e-12)


def test_chosen_templates_have_less_distortion_on_other_rows():
    X, new = sphere(40, 8), sphere(40, 8, 1)
    candidates = fitted(X, 400, n_bins=60)
    choice = choose_templates(candidates, X, 20)
    assert len(np.unique(choice.indices)) == 20
    np.testing.assert_array_equal(choice.templates, candidates.templates_[choice.indices])
    kernels = template_kernels(candidates, new)
    target = expected_kernel(candidates, new).values.ravel()

    def distortion(rows):
        return np.sqrt(np.mean((kernels[rows].mean(axis=0) - target) ** 2))

    drawn = [distortion(np.arange(20 * i, 20 * i + 20)) for i in range(20)]
    assert distortion(choice.indices) < 0.7 * np.median(drawn)


def test_each_choice_is_the_best_next_one():
    X = sphere(6, 8)
    candidates = fitted(X, 30, n_bins=10)
    target = expected_kernel(candidates, X).values
    choice = choose_templates(candidates, X, 4, target)
    kernels = template_kernels(candidates, X)
    chosen = []
    for step in range(4):
        errors = [
            np.inf
            if i in chosen
            else np.sqrt(np.mean((kernels[[*chosen, i]].mean(axis=0) - target.ravel()) ** 2))
            for i in range(30)
        ]
        chosen.append(int(np.argmin(errors)))
        assert choice.distortions[step] == pytest.approx(min(errors))
    assert choice.indices.tolist() == chosen


def test_the_expected_kernel_is_symmetric_and_positive_semidefinite():
    """Theorem 1 (3), in the closed form and by simulation."""
    X = sphere(25, 6)
    for templates in ("gaussian", sphere(40, 6, 3)):
        values = expected_kernel(fitted(X, 40, templates=templates, n_bins=4), X).values
        np.testing.assert_allclose(values, values.T, atol=1e-12)
        assert np.linalg.eigvalsh(values).min() > -1e-10


def test_the_bounds_of_theorem_1_vanish_in_high_dimension():
    """Theorem 1 (2); they vanish faster than d_G, so that they are not void for large d."""
    sizes = [sum(expectation_bounds(d, 0.3)) for d in (16, 160, 1600, 16_000)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 1e-12
    # the largest d_G is 2 / sqrt(2 pi d)
    assert sizes[2] < 0.01 * 2 / np.sqrt(2 * np.pi * 1600)


@pytest.mark.parametrize("is_closed", [False, True])
def test_the_closed_form_of_a_local_family_needs_inverses(is_closed):
    """Remark 3 (2): the second version lacks the condition, for elements that do not commute."""
    x, z = sphere(2, 6, 4)
    rng = np.random.RandomState(0)
    first, second = rng.permutation(6), rng.permutation(6)
    elements = [np.arange(6), first, second]
    if is_closed:
        elements += [np.argsort(first), np.argsort(second)]
    templates = rng.standard_normal((400_000, 6)) / np.sqrt(6)
    largest = [
        np.maximum(templates[:, g] @ x, templates[:, h] @ z) for g in elements for h in elements
    ]
    simulated = np.mean(largest, axis=0)
    apart = np.mean([np.linalg.norm(x[g] - z[h]) for g in elements for h in elements])
    printed = apart / np.sqrt(2 * np.pi * 6)
    error = simulated.std() / np.sqrt(len(simulated))
    assert (abs(simulated.mean() - printed) < 4 * error) == is_closed


def test_the_boundary_of_an_invariant_kernel_is_invariant():
    """Section 1.1: f(g x) = f(x) for the minimiser, with the kernel and with features."""
    X = sphere(40, 8)
    y = X[:, 0] > X[:, 1]
    moved = CyclicShift().orbit(X)
    kernel = RLSClassifier(kernel=HaarKernel(RBF(2.0), CyclicShift())).fit(X, y)
    features = make_pipeline(fitted(X, 50, n_bins=10), RLSClassifier()).fit(X, y)
    raw = RLSClassifier().fit(X, y)
    for model, is_invariant in ((kernel, True), (features, True), (raw, False)):
        values = model.decision_function(moved.reshape(-1, 8)).reshape(40, -1)
        assert (np.ptp(values, axis=1).max() < 1e-6) == is_invariant


def test_a_haar_kernel_needs_a_value_for_each_pair_and_element():
    """Section 1.2: features need no transformed rows, and products with the templates only."""
    counts = []

    class CountingRBF(RBF):
        def values(self, X, Y):
            counts.append(len(X) * len(X if Y is None else Y))
            return super().values(X, Y)

    HaarKernel(CountingRBF(1.0), CyclicShift())(sphere(6, 8), sphere(5, 8, 1))
    assert sum(counts) == 6 * 5 * 8


def test_the_risk_on_orbits_is_the_risk_on_the_core_set():
    """Section 1.1 and Lemma 1: for an invariant function, with orbits of equal measure."""
    core, y = sphere(30, 8), np.arange(30) % 2
    model = make_pipeline(fitted(core, 50, n_bins=10), RLSClassifier()).fit(core, y)

    def risk(rows, labels):
        margins = (2 * labels - 1) * model.decision_function(rows)
        return np.maximum(0, 1 - margins).mean()

    orbits = CyclicShift().orbit(core).reshape(-1, 8)
    assert risk(orbits, np.repeat(y, 8)) == pytest.approx(risk(core, y), abs=1e-7)


def test_the_mean_of_the_kernels_of_templates_is_that_of_the_features():
    X = sphere(5, 8)
    features = fitted(X, 7, n_bins=4)
    Z = features.transform(X)
    mean = template_kernels(features, X).mean(axis=0).reshape(5, 5)
    np.testing.assert_allclose(mean, Z @ Z.T)


@pytest.mark.parametrize(
    ("n_templates", "target", "message"),
    [(31, None, "n_templates=31"), (3, np.eye(4), "target has shape")],
)
def test_impossible_choices_are_refused(n_templates, target, message):
    X = sphere(6, 8)
    with pytest.raises(ValueError, match=message):
        choose_templates(fitted(X, 30, n_bins=4), X, n_templates, target)


def test_the_example_of_choose_templates_runs_where_it_is_pasted():
    test = doctest.DocTestFinder().find(choose_templates, globs={})[0]
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
