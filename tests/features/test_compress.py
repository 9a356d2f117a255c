"""Compression: principal directions and whitening."""

import numpy as np
from scipy.linalg import sqrtm

from invarlearn.features.compress import principal_directions, whitening


def test_principal_directions_are_those_of_the_covariance():
    rng = np.random.RandomState(0)
    F = rng.randn(200, 80) * 0.9 ** np.arange(80) @ np.linalg.qr(rng.randn(80, 80))[0]
    # more rows than features, and fewer rows than features
    for rows in (F, F[:60]):
        mean, directions = principal_directions(rows, 10)
        np.testing.assert_allclose(mean, rows.mean(axis=0))
        np.testing.assert_allclose(directions.T @ directions, np.eye(10), atol=1e-8)
        _, _, exact = np.linalg.svd(rows - mean, full_matrices=False)
        np.testing.assert_allclose(np.abs(np.sum(directions * exact[:10].T, axis=0)), 1)


def test_there_are_no_more_directions_than_the_rank():
    rng = np.random.RandomState(0)
    F = rng.randn(5, 80)
    assert principal_directions(F, 10)[1].shape == (80, 4)
    assert principal_directions(np.tile(F, (30, 1)).astype(np.float32), 10)[1].shape == (80, 4)
    assert principal_directions(np.ones((5, 3)), 10)[1].shape == (3, 0)


def test_whitened_copies_vary_equally_in_all_directions():
    rng = np.random.RandomState(0)
    samples, spread = 5 * rng.randn(40, 6), np.array([3.0, 1, 0.5, 0.1, 0, 0])
    F = (samples + rng.randn(50, 40, 6) * spread).reshape(-1, 6) @ np.linalg.qr(rng.randn(6, 6))[0]
    copies = (F @ whitening(F, np.tile(np.arange(40), 50), 1.0, 1e-9)).reshape(50, 40, 6)
    values = np.linalg.eigvalsh(np.cov((copies - copies.mean(axis=0)).reshape(-1, 6).T))
    np.testing.assert_allclose(values[2:], values[-1], rtol=1e-2)


def test_whitening_is_a_power_of_the_covariance_within_groups_of_any_size():
    rng = np.random.RandomState(0)
    groups = rng.randint(12, size=300)
    F = rng.randn(300, 6) @ rng.randn(6, 6) + 5 * rng.randn(12, 6)[groups]
    means = np.array([F[groups == g].mean(axis=0) for g in groups])
    S = np.cov((F - means).T, bias=True)
    S = S / (np.trace(S) / 6) + 0.3 * np.eye(6)
    np.testing.assert_allclose(whitening(F, groups, 1.0, 0.3), sqrtm(np.linalg.inv(S)), atol=1e-8)
    twice = whitening(F, groups, 0.5, 0.3) @ whitening(F, groups, 0.5, 0.3)
    np.testing.assert_allclose(twice, whitening(F, groups, 1.0, 0.3), atol=1e-8)


def test_whitening_of_equal_copies_is_the_identity():
    rng = np.random.RandomState(0)
    F = rng.randn(100, 4)
    np.testing.assert_array_equal(whitening(F, np.arange(100), 1.0, 0.3), np.eye(4))
    np.testing.assert_allclose(whitening(F, np.arange(100) % 9, 0.0, 0.3), np.eye(4), atol=1e-12)
    # copies that differ by rounding only
    copies = np.tile(F[:20], (5, 1)) + 1e-15 * rng.randn(100, 4)
    samples = np.tile(np.arange(20), 5)
    np.testing.assert_array_equal(whitening(copies, samples, 1.0, 0.3), np.eye(4))
    np.testing.assert_array_equal(whitening(F[:, :0], samples, 1.0, 0.3), np.eye(0))
