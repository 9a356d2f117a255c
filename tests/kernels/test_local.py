"""Local polynomial kernels against explicit sums of the paper."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invarlearn.kernels import Linear, LocalPolynomial, Polynomial
from invarlearn.kernels.local import MOST_CHANNELS
from invarlearn.testing import check_kernel


def naive(x, y, widths, degrees, padding, average, image_scale=None):
    """Equations 5 and 6 with windows of k pixels, sum by sum, for images (h, w, c)."""
    z = (x * y).sum(axis=2)
    for width, degree in zip(widths, degrees, strict=False):
        height, wide = z.shape
        kr, kc = (width if side > 1 else 1 for side in x.shape[:2])
        half_r, half_c = kr // 2, kc // 2
        starts_r = range(height - kr + 1) if padding == "valid" else range(height)
        starts_c = range(wide - kc + 1) if padding == "valid" else range(wide)
        new = np.zeros((len(starts_r), len(starts_c)))
        for r, c in product(starts_r, starts_c):
            total = 0.0
            for i, j in product(range(kr), range(kc)):
                if padding == "zero":
                    row, column = r + i - half_r, c + j - half_c
                    if not (0 <= row < height and 0 <= column < wide):
                        continue
                else:
                    row, column = (r + i) % height, (c + j) % wide
                total += z[row, column]
            new[r, c] = ((total / (kr * kc) if average else total) + 1) ** degree
        z = new
    if image_scale is None:
        image_scale = 1 / z.size if average else 1
    return (image_scale * z.sum() + 1) ** degrees[-1]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    shape=st.sampled_from([(7, 7, 1), (6, 9, 1), (8, 7, 3), (1, 12, 1), (1, 11, 2), (10, 1, 1)]),
    layers=st.sampled_from(
        [
            ((3,), (2, 4)),
            ((5,), (2, 2)),
            ((5,), (3, 1)),
            ((3, 3), (2, 2, 2)),
            ((1, 3, 3), (1, 2, 1, 2)),
        ]
    ),
    padding=st.sampled_from(["zero", "valid", "wrap"]),
    average=st.booleans(),
    image_scale=st.sampled_from([None, 1 / 28, 2.0]),
)
def test_equals_the_sums_written_out(seed, shape, layers, padding, average, image_scale):
    widths, degrees = layers
    rng = np.random.RandomState(seed)
    X, Y = rng.randn(2, *shape), rng.randn(3, *shape)
    kernel = LocalPolynomial(widths, degrees, padding, average, shape, image_scale)
    ours = kernel(X.reshape(2, -1), Y.reshape(3, -1))
    for i, j in product(range(2), range(3)):
        truth = naive(X[i], Y[j], widths, degrees, padding, average, image_scale)
        assert ours[i, j] == pytest.approx(truth, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("width", range(1, 13))
def test_windows_of_every_width_are_sums_of_that_many_pixels(width):
    rng = np.random.RandomState(width)
    X = rng.randn(2, 13, 14, 1)
    for padding in ("zero", "valid", "wrap"):
        if padding == "zero" and width % 2 == 0:
            continue
        kernel = LocalPolynomial((width,), (3, 2), padding, shape=(13, 14))
        truth = naive(X[0], X[1], (width,), (3, 2), padding, True)
        assert kernel(X[:1].reshape(1, -1), X[1:].reshape(1, -1))[0, 0] == pytest.approx(truth)


@pytest.mark.parametrize(
    "kernel",
    [
        LocalPolynomial((3,), (2, 4)),
        LocalPolynomial((3,), (2, 2), average=False),
        LocalPolynomial((3, 3), (2, 2, 2), "valid"),
        LocalPolynomial((5,), (3, 1), "wrap"),
        LocalPolynomial((5,), (2, 2)),
        LocalPolynomial((3,), (2, 2), shape=64),
        LocalPolynomial((3,), (2, 2), shape=(4, 8, 2)),
    ],
    ids=repr,
)
def test_keeps_the_contract(kernel):
    rng = np.random.RandomState(0)
    check_kernel(kernel, rng.rand(6, 64), rng.rand(4, 64))


def test_windows_of_one_pixel_and_degree_one_are_an_ordinary_polynomial():
    rng = np.random.RandomState(0)
    X, Y = rng.randn(5, 36), rng.randn(4, 36)
    local = LocalPolynomial((1,), (1, 3), average=False)(X, Y)
    np.testing.assert_allclose(local, (Linear()(X, Y) + 36 + 1) ** 3)
    averaged = LocalPolynomial((1,), (1, 3))(X, Y)
    np.testing.assert_allclose(averaged, Polynomial(3, gamma=1 / 36, coef0=2.0)(X, Y))


def test_the_authors_kernel_in_their_units():
    """Window 5, zero padding: (<p, q> / 25 + 1)^2 at 784 positions, then (mean + 1)^4."""
    from numpy.lib.stride_tricks import sliding_window_view

    rng = np.random.RandomState(0)
    x, y = rng.rand(2, 28, 28).astype(np.float32)
    patches = [sliding_window_view(np.pad(a.astype(float), 2), (5, 5)) for a in (x, y)]
    inner = ((patches[0] * patches[1]).sum(axis=(2, 3)) / 25 + 1) ** 2
    ours = LocalPolynomial((5,), (2, 4))(x.reshape(1, -1), y.reshape(1, -1))
    assert ours.dtype == np.float32
    assert inner.size == 784
    assert ours[0, 0] == pytest.approx((inner.mean() + 1) ** 4, rel=1e-6)


def test_wrapped_windows_do_not_see_cyclic_shifts():
    rng = np.random.RandomState(0)
    x, y = rng.rand(2, 8, 8)
    moved = [np.roll(a, (3, 5), axis=(0, 1)).reshape(1, -1) for a in (x, y)]
    for padding, same in (("wrap", True), ("zero", False)):
        kernel = LocalPolynomial((3,), (2, 2), padding)
        plain, shifted = kernel(x.reshape(1, -1), y.reshape(1, -1)), kernel(*moved)
        assert np.isclose(plain, shifted, rtol=1e-10).all() == same


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (LocalPolynomial((-3,), (2, 4)), "widths=-3 must be a whole number, at least 1"),
        (LocalPolynomial((3.5,), (2, 4)), "widths=3.5"),
        (LocalPolynomial((3,), (0, 4)), "degrees=0"),
        (LocalPolynomial((3,), (2,)), "one degree for each width"),
        (LocalPolynomial((), (2,)), "one degree for each width"),
        (LocalPolynomial((4,), (2, 4)), "must be odd"),
        (LocalPolynomial((9,), (2, 4)), "do not fit in images of 8 x 8"),
        (LocalPolynomial((5, 5), (2, 2, 2), "valid"), "do not fit"),
        (LocalPolynomial(padding="mirror"), "padding='mirror' is unknown"),
        (LocalPolynomial((3,), shape=(5, 5)), "25 features, but X has 64"),
    ],
    ids=repr,
)
def test_bad_settings_get_clear_errors(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel(np.ones((1, 64)))


def test_images_of_zeros_have_finite_values():
    values = LocalPolynomial((3,), (2, 4))(np.zeros((2, 64)))
    np.testing.assert_allclose(values, 16.0)


@pytest.mark.parametrize("padding", ["zero", "valid", "wrap"])
@pytest.mark.parametrize("shape", [(9, 9), (7, 11), (1, 40), (6, 8, 3)])
@pytest.mark.parametrize("widths", [(3,), (5,)])
def test_products_of_channels_and_sums_over_windows_agree(widths, shape, padding):
    """Small windows are expanded into products of two pixels, which sums over windows are not."""
    rng = np.random.RandomState(0)
    images, others = rng.randn(3, *shape), rng.randn(2, *shape)
    grid = (*shape, 1) if len(shape) == 2 else shape
    for average in (True, False):
        kernel = LocalPolynomial(widths, (2, 3), padding, average, shape)
        terms = kernel.channel_products(grid)
        uses_products = terms is not None and terms.n_channels <= MOST_CHANNELS
        assert uses_products == (1 in shape or (widths == (3,) and grid[2] == 1))
        X, Y = images.reshape(3, -1), others.reshape(2, -1)
        truth = np.array(
            [
                [
                    naive(x.reshape(grid), y.reshape(grid), widths, (2, 3), padding, average)
                    for y in others
                ]
                for x in images
            ]
        )
        np.testing.assert_allclose(kernel(X, Y), truth, rtol=1e-10)
        single = kernel(X.astype(np.float32), Y.astype(np.float32))
        np.testing.assert_allclose(single, truth, rtol=1e-5)


def test_large_images_in_single_precision():
    X = np.random.RandomState(0).rand(2, 200 * 200)
    kernel = LocalPolynomial((7,), (2, 4))
    double, single = kernel(X), kernel(X.astype(np.float32))
    np.testing.assert_allclose(single, double, rtol=1e-6)


def test_errors_name_the_kernel():
    with pytest.raises(ValueError, match="LocalPolynomial acts on images"):
        LocalPolynomial()(np.ones((2, 63)))
    with pytest.raises(ValueError, match="LocalPolynomial has shape"):
        LocalPolynomial(shape=(7, 8))(np.ones((2, 63)))
