"""Every family passes the contract suite; broken ones do not."""

import numpy as np
import pytest

from invarlearn.testing import check_family
from invarlearn.transforms import (
    Custom,
    CyclicShift,
    Elastic,
    Family,
    FeatureDropping,
    FeatureScaling,
    Hyperbolic,
    Identity,
    Permutation,
    PitchShift,
    PolarRotation,
    Reflection,
    Rotation,
    Sampled,
    Scaling,
    Shear,
    Thickness,
    TimeStretch,
    Translation,
)


def double(X):
    return 2 * X


FAMILIES = [
    Identity(),
    Translation(2),
    Translation(1, step=0.5, fill="edge"),
    Translation(2, wrap=True),
    Translation(None, wrap=True),
    Translation(None, step=2, wrap=True),
    Translation(0),
    Rotation(15, n_steps=5),
    Rotation(180, n_steps=4),
    Rotation(180, n_steps=6),
    Rotation(180, n_steps=2, fill="wrap"),
    Scaling(1.2),
    Shear(0.3, axis=0),
    Shear(0.3, axis=1, fill="edge"),
    Hyperbolic(0.1),
    Hyperbolic(0.1, diagonal=True),
    Reflection(0),
    Reflection(1),
    Thickness(0.5),
    Sampled(Rotation(20) * Scaling(1.2), 7),
    Sampled(Elastic(8.0, 3.0), 4, seed=3),
    PolarRotation(),
    PolarRotation(radius=2),
    CyclicShift(),
    CyclicShift(radius=3, step=2),
    CyclicShift(step=4),
    Permutation(block=16),
    Permutation(block=4, max_elements=50),
    PitchShift(150, n_steps=5),
    TimeStretch((0.8, 1.25)),
    FeatureScaling(low=0.5, high=3, budget=4),
    FeatureDropping(budget=3),
    Elastic(8.0, 3.0),
    Elastic(20.0, 2.0, fill="edge") * Rotation(10),
    Custom([np.fliplr], is_group=True, is_unitary=True),
    Custom([double]),
    Translation(1) * Rotation(15) * Shear(0.2),
    Translation(1, wrap=True) * Rotation(15) * Scaling(1.1),
    PitchShift(100) * TimeStretch((0.9, 1.1)),
    Thickness(0.5) * Translation(1),
    Translation(1) * Thickness(0.5) * Rotation(10),
    CyclicShift() * Permutation(block=32),
    Permutation(block=16) * Permutation(block=32),
    Rotation(15) | Reflection(1),
    (Rotation(15) | Scaling(1.1)) * Translation(1),
    Translation(1) | (Rotation(15) * Shear(0.1)) | Custom([double]),
]


@pytest.fixture(scope="module")
def rows():
    return np.random.RandomState(0).rand(6, 64)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_every_family_keeps_the_contract(family, rows):
    check_family(family, rows)


@pytest.mark.parametrize(
    "family",
    [
        Translation(1, shape=(8, 4, 2)),
        Rotation(30, shape=(4, 16)),
        Rotation(180, n_steps=2, shape=(4, 16)),
        Reflection(0, shape=(4, 8, 2)),
        Translation(None, wrap=True, shape=(2, 8, 4)),
        Thickness(0.3, shape=(4, 8, 2)),
        CyclicShift(shape=(16, 4)),
        CyclicShift(shape=64),
        PitchShift(100, shape=(32, 2)),
        TimeStretch((0.5, 2.0), shape=(2, 32)),
        Translation(1, shape=(4, 16)) * Rotation(10),
        Rotation(10) | Shear(0.1, shape=(16, 4)),
        Rotation(180, n_steps=4) * Translation(1, wrap=True, shape=(4, 16)),
        Translation(1, shape=(1, 64)),
        Translation(None, wrap=True, shape=(64, 1)),
    ],
    ids=repr,
)
def test_families_keep_the_contract_on_other_shapes(family, rows):
    check_family(family, rows)


def test_every_public_family_is_listed():
    listed = {type(part) for family in FAMILIES for part in getattr(family, "parts", [family])}
    from invarlearn import transforms

    public = {
        obj
        for obj in vars(transforms).values()
        if isinstance(obj, type) and issubclass(obj, Family) and obj is not Family
    }
    assert public - listed <= {transforms.Product, transforms.Union}


def _shift_by_one_of_256(X):
    return np.roll(X, 1, axis=1)


class _Broken(Custom):
    """A family with one fault, to see that the suite can fail."""

    def __init__(self, fault="", functions=(), is_group=False, is_unitary=False, shape=None):
        super().__init__(functions, is_group, is_unitary, shape)
        self.fault = fault

    def orbit(self, X):
        orbit = super().orbit(X)
        if self.fault == "identity last":
            return orbit[:, ::-1]
        if self.fault == "float64":
            return orbit.astype(float)
        if self.fault == "writes":
            np.asarray(X)[0, 0] = 0
        if self.fault == "rows mixed":
            orbit[:, 1] += X.mean()
        return orbit

    def tangents(self, X, smoothing=None):
        wrong = 1.1 if self.fault == "tangents" else 1.0
        return super().tangents(X, smoothing) * wrong

    def flow(self, X, t, smoothing=None):
        return X[:, None] + t * super().tangents(X)

    def sample(self, k, random_state=None):
        if self.fault == "global":
            np.random.rand()
        if self.fault == "sample":
            return Custom([double]).sample(k, random_state)
        return super().sample(k, random_state)

    def worst_case(self, X, w, sign=None):
        rows, scores = super().worst_case(X, w, sign)
        return (X, np.asarray(sign) * (X @ w)) if self.fault == "worst" else (rows, scores)


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (_Broken("identity last", [double]), "not the identity"),
        (_Broken("float64", [double]), "dtype"),
        (_Broken("rows mixed", [double]), "depends on the other rows"),
        (_Broken("tangents", [double]), "differs from differences"),
        (_Broken("global", [double]), "global generator"),
        (_Broken("worst", [double, np.negative]), "does worse"),
        (_Broken("", [double], is_unitary=True), "listed elements change norms"),
        (_Broken("", [double], is_group=True), "leaves the orbit"),
        (_Broken("sample", [np.fliplr], is_unitary=True), "random elements change norms"),
        (_Broken("sample", [np.fliplr], is_group=True), "random elements are not in it"),
        (_Broken("", [_shift_by_one_of_256], is_group=True), "leaves the orbit"),
        ("translation", "is not a Family"),
    ],
)
def test_the_suite_finds_what_is_broken(family, message, rows):
    check_family(_Broken("", [double]), rows)
    with pytest.raises(AssertionError, match=message):
        check_family(family, rows)


def test_the_suite_leaves_the_callers_rows_alone():
    X = np.random.RandomState(0).rand(4, 64)
    check_family(CyclicShift(), X)
    X[0, 0] = 2.0
    assert X[0, 0] == 2.0


def test_the_suite_lends_out_rows_that_cannot_be_written(rows):
    with pytest.raises(ValueError, match="read-only"):
        check_family(_Broken("writes", [double]), rows)
