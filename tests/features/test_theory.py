"""The papers' theorems, with their errata, against simulation."""

import numpy as np
import pytest

from invarlearn import InvariantFeatures
from invarlearn.features.theory import (
    distance_weight,
    expectation_bounds,
    expected_kernel,
    kernel_error,
    orbit_distance,
    risk_bound,
    sample_sizes,
    simulated_kernel,
)
from invarlearn.transforms import Custom, CyclicShift, Identity, Reflection, Rotation, Translation


def sphere(n, d, seed=0):
    X = np.random.RandomState(seed).standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def fitted(X, family, **settings):
    settings = {"thresholds": "midpoint", "templates": "gaussian", "dtype": "float64", **settings}
    return InvariantFeatures(family, random_state=0, **settings).fit(X)


@pytest.mark.parametrize("family", [CyclicShift(), CyclicShift(2), Reflection(1, shape=(3, 4))])
def test_orbit_distance_is_the_mean_over_pairs(family):
    X, Z = sphere(3, 12), sphere(4, 12, 1)
    a, b = family.orbit(X), family.orbit(Z)
    truth = np.linalg.norm(a[:, None, :, None] - b[None, :, None, :], axis=-1).mean(axis=(2, 3))
    np.testing.assert_allclose(orbit_distance(X, Z, family), truth, atol=1e-12)


@pytest.mark.parametrize("d", [2, 16])
@pytest.mark.parametrize("templates", ["gaussian", "sphere"])
def test_the_weight_of_distances_is_a_mean_of_maxima(d, templates):
    """E14 and E13: for any two rows, E max(<x, t>, <z, t>) = c |x - z|."""
    from invarlearn.features.templates import gaussian_templates, sphere_templates

    rng = np.random.RandomState(0)
    m = 400_000
    t = (
        gaussian_templates(m, d, 0.1, rng)
        if templates == "gaussian"
        else sphere_templates(m, d, rng)
    )
    x, z = sphere(2, d, 3)
    values = np.maximum(t @ x, t @ (2 * z))
    truth = distance_weight(d, templates) * np.linalg.norm(x - 2 * z)
    assert values.mean() == pytest.approx(truth, abs=4 * values.std() / np.sqrt(m))


def test_rejected_templates_may_count_as_nothing():
    """E13: the proof's kernel has s F_d and F_(d+1), with the share that is kept."""
    from scipy.stats import chi2

    share = chi2.cdf(16 * 1.1, 17) / np.sqrt(2 * np.pi * 16)
    assert distance_weight(16, resample=False) == pytest.approx(share)
    assert distance_weight(16) > distance_weight(16, resample=False)
    with pytest.raises(ValueError, match="closed form"):
        distance_weight(16, "local")


@pytest.mark.parametrize("templates", ["gaussian", "sphere"])
@pytest.mark.parametrize("family", [CyclicShift(), CyclicShift(2), Identity()])
def test_inner_products_tend_to_the_closed_form(templates, family):
    X = sphere(6, 16)
    features = fitted(X, family, templates=templates, n_templates=20_000, n_bins=60)
    exact = expected_kernel(features, X)
    assert (exact.errors == 0).all()
    phi = features.transform(X)
    np.testing.assert_allclose(phi @ phi.T, exact.values, atol=0.01)


def test_simulation_agrees_with_the_closed_form():
    X, Z = sphere(4, 12), sphere(3, 12, 1)
    features = fitted(X, CyclicShift(), n_templates=50, n_bins=10)
    exact = expected_kernel(features, X, Z).values
    values, errors = simulated_kernel(features, X, Z, 20_000, 0)
    assert (np.abs(values - exact) < 5 * errors).all()
    assert errors.max() < 0.003


def test_simulation_integrates_exactly_over_thresholds():
    """S8: s - mean of max over all pairs of elements, for each template."""
    X = sphere(3, 9)
    family = Custom([lambda rows: 0.5 * rows[:, ::-1]])
    given = sphere(5, 9, 2)
    features = fitted(X, family, templates=given, n_bins=8)
    values, _ = expected_kernel(features, X)
    fits = np.einsum("nd,mkd->nmk", X, family.orbit(given))
    largest = np.maximum(fits[:, None, :, :, None], fits[None, :, :, None, :])
    np.testing.assert_allclose(values, features.s_ - largest.mean(axis=(2, 3, 4)), atol=1e-12)


def test_other_templates_get_an_error_bar():
    X = sphere(4, 64)
    features = fitted(X, Translation(1) * Rotation(10), templates="local", n_templates=4000)
    values, errors = expected_kernel(features, X, n_draws=2000, random_state=1)
    assert (errors > 0).all()
    phi = features.transform(X)
    np.testing.assert_allclose(phi @ phi.T, values, atol=0.01)


def test_uniform_thresholds_have_a_bias_that_midpoints_do_not():
    """E11: in (0, s / n], about s / (2 n)."""
    X = sphere(6, 16)
    settings = {"n_templates": 20_000, "n_bins": 25}
    uniform = kernel_error(fitted(X, CyclicShift(), thresholds="uniform", **settings), X)
    midpoint = kernel_error(fitted(X, CyclicShift(), **settings), X)
    assert uniform.bias == pytest.approx(1.1 / 50, rel=0.1)
    assert abs(midpoint.bias) < 0.001
    assert 0 < uniform.largest <= 1.1 / 25 + 0.003


def test_sampled_elements_have_their_own_expectation():
    """E12: E = s - (1 - 1/k) d_G - c |x - z| / k, as the same elements serve both rows."""
    X = sphere(2, 16, 5)
    k, values = 4, []
    for seed in range(300):
        features = InvariantFeatures(
            CyclicShift(),
            200,
            40,
            templates="gaussian",
            thresholds="midpoint",
            n_elements=k,
            dtype="float64",
            random_state=seed,
        ).fit(X)
        phi = features.transform(X)
        values.append(phi[0] @ phi[1])
    c = distance_weight(16)
    apart = np.linalg.norm(X[0] - X[1])
    orbits = orbit_distance(X[:1], X[1:], CyclicShift())[0, 0]
    truth = 1.1 - (1 - 1 / k) * c * orbits - c * apart / k
    error = np.std(values) / np.sqrt(len(values))
    assert np.mean(values) == pytest.approx(truth, abs=4 * error)
    assert abs(1.1 - c * orbits - truth) > 4 * error


@pytest.mark.parametrize(
    ("what", "counts", "slope"),
    [
        ("n_bins", (5, 10, 20, 40), -1.0),
        ("n_templates", (20, 80, 320, 1280), -0.5),
        ("n_elements", (8, 32, 128), -0.5),
    ],
)
def test_errors_fall_at_the_rates_of_theorem_2(what, counts, slope):
    X = sphere(10, 16)
    errors = []
    for count in counts:
        settings = {"n_templates": 5000, "n_bins": 200, what: count}
        thresholds = "uniform" if what == "n_bins" else "midpoint"
        mean_errors = [
            kernel_error(
                InvariantFeatures(
                    CyclicShift(),
                    templates="gaussian",
                    thresholds=thresholds,
                    dtype="float64",
                    random_state=seed,
                    **settings,
                ).fit(X),
                X,
            ).mean
            for seed in range(8)
        ]
        errors.append(np.mean(mean_errors))
    fitted_slope = np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert fitted_slope == pytest.approx(slope, abs=0.15)


def test_theorem_1_bounds_hold_and_remark_3_scales_them():
    for d in (4, 16, 200):
        for epsilon in (0.1, 0.5, 0.9):
            upper, lower = expectation_bounds(d, epsilon)
            # the proof's kernel: rejected templates count as nothing
            from scipy.stats import chi2

            kept = chi2.cdf(d * (1 + epsilon), d)
            for distance in (0.0, 1.0, 2.0):
                d_g = distance / np.sqrt(2 * np.pi * d)
                kernel = (1 + epsilon) * kept - distance_weight(
                    d, "gaussian", epsilon, False
                ) * distance
                assert -lower - 1e-12 <= kernel - (1 + epsilon - d_g) <= upper + 1e-12
    twice = expectation_bounds(16, 0.1, radius=2.0)
    np.testing.assert_allclose(twice, 2 * np.array(expectation_bounds(16, 0.1)))


def test_rows_of_any_norm():
    """Remark 3: s = R (1 + epsilon)."""
    X = sphere(5, 16) * np.array([[0.5], [1.0], [2.0], [3.0], [0.1]])
    features = fitted(X, CyclicShift(), n_templates=20_000, n_bins=80)
    assert features.s_ == pytest.approx(3.3)
    phi = features.transform(X)
    np.testing.assert_allclose(phi @ phi.T, expected_kernel(features, X).values, atol=0.012)


def test_sample_sizes_are_enough_and_follow_the_proof():
    assert sample_sizes((0.1, 0.1, 0.1), 0.05, 1000) == (11, 4236, 57822)
    assert sample_sizes((0.1, 0.1, 0.1), 0.05, 1000, sharp=True) == (11, 4069, 18303)
    # Corollary 1 shares the error evenly
    assert sample_sizes(0.3, 0.05, 1000) == sample_sizes((0.1, 0.1, 0.1), 0.05, 1000)
    X = sphere(8, 16)
    n_bins, m, _ = sample_sizes((0.1, 0.05, 0.1), 0.1, 8, sharp=True)
    features = fitted(X, CyclicShift(), thresholds="uniform", n_templates=m, n_bins=n_bins)
    assert kernel_error(features, X).largest <= 0.15
    for wrong in (0, 1.5, (0.1, 0.1)):
        with pytest.raises(ValueError, match="epsilon"):
            sample_sizes(wrong, 0.05, 100)
    with pytest.raises(ValueError, match="delta"):
        sample_sizes(0.1, 0, 100)


def test_risk_bound_is_theorem_3_corrected():
    n, m, k, bins, s, delta = 10_000, 500, 245, 20, 1.1, 0.05
    kappa = 2 + 1 / bins
    learning = 2 / np.sqrt(n) * (4 * kappa * s + 2 + kappa * s * np.sqrt(np.log(2 / delta) / 2))
    templates = 2 * s / np.sqrt(m) * (1 + np.sqrt(2 * np.log(1 / delta)))
    elements = 2 * s / np.sqrt(k) * (1 + np.sqrt(2 * np.log(m / delta))) + 2 * s / bins
    assert risk_bound(n, m, k, bins) == pytest.approx(learning + templates + elements)
    with pytest.raises(ValueError, match="delta"):
        risk_bound(10, 10, 10, 10, delta=2)


def test_quantile_thresholds_have_no_expected_kernel():
    X = sphere(5, 16)
    with pytest.raises(ValueError, match="depends on the training rows"):
        expected_kernel(InvariantFeatures(CyclicShift(), 10).fit(X), X)


def test_rows_of_another_length_are_refused():
    """Compiled functions do not check lengths, so the error must come before them."""
    X = sphere(4, 16)
    features = fitted(X, Translation(1), templates="local", n_templates=5)
    for wrong in (X[:, :9], np.ones((2, 25))):
        with pytest.raises(ValueError, match="features"):
            expected_kernel(features, wrong)
        with pytest.raises(ValueError, match="features"):
            expected_kernel(features, X, wrong)
        with pytest.raises(ValueError, match="they must agree"):
            orbit_distance(X, wrong, CyclicShift())
    with pytest.raises(ValueError, match="rows have 9 features, not 16"):
        Translation(1).elements(16).act(X[:, :9], 0, 2)


def test_simulation_is_over_the_whole_family():
    X = sphere(3, 16)
    drawn = fitted(X, CyclicShift(), templates="auto", n_elements=2, n_templates=5)
    whole = fitted(X, CyclicShift(), n_templates=5)
    np.testing.assert_allclose(expected_kernel(drawn, X).values, expected_kernel(whole, X).values)
    with pytest.raises(ValueError, match="size=-1"):
        risk_bound(10, 10, 10, 10, size=-1)
