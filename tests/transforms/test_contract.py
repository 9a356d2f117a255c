"""Every family passes the contract suite; broken ones do not."""

import numpy as np
import pytest

from invarlearn.testing import check_family
from invarlearn.transforms import (
    Custom,
    CyclicShift,
    Elastic,
    Family,
    ImageFamily,
    Permutation,
    PitchShift,
    Reflection,
    Rotation,
    Scaling,
    Shear,
    Thickness,
    TimeStretch,
    Translation,
    own_families,
)


def double(X):
    return 2 * X


# Examples of every family of the library, and combinations of families.
EXAMPLES = [example for family in own_families() for example in family.examples()]
COMBINATIONS = [
    Custom([double]),
    Translation(1) * Rotation(15) * Shear(0.2),
    Rotation(15) | Reflection(1),
    Elastic(20.0, 2.0, fill="edge") * Rotation(10),
    Translation(1, wrap=True) * Rotation(15) * Scaling(1.1),
    PitchShift(100) * TimeStretch((0.9, 1.1)),
    Thickness(0.5) * Translation(1),
    Translation(1) * Thickness(0.5) * Rotation(10),
    CyclicShift() * Permutation(block=32),
    Permutation(block=16) * Permutation(block=32),
    (Rotation(15) | Scaling(1.1)) * Translation(1),
    Translation(1) | (Rotation(15) * Shear(0.1)) | Custom([double]),
    Translation(1, shape=(4, 16)) * Rotation(10),
    Rotation(10) | Shear(0.1, shape=(16, 4)),
    Rotation(180, n_steps=4) * Translation(1, wrap=True, shape=(4, 16)),
    Translation(None, wrap=True, shape=(2, 8, 4)),
    Translation(None, wrap=True, shape=(64, 1)),
]


@pytest.fixture(scope="module")
def rows():
    return np.random.RandomState(0).rand(6, 64)


@pytest.mark.parametrize("family", EXAMPLES + COMBINATIONS, ids=repr)
def test_every_family_keeps_the_contract(family):
    n_features = 64 if family.shape is None else int(np.prod(family.shape))
    check_family(family, np.random.RandomState(0).rand(6, n_features))


def test_examples_cover_all_public_families():
    from invarlearn import transforms

    bases = {Family, transforms.ImageFamily, transforms.AffineFamily}
    public = {
        value
        for value in vars(transforms).values()
        if isinstance(value, type) and issubclass(value, Family)
    }
    assert {type(example) for example in EXAMPLES} == public - bases


@pytest.mark.parametrize("family", own_families(), ids=lambda family: family.__name__)
def test_every_family_has_a_definition_parameters_and_an_example(family):
    summary, _, rest = family.__doc__.partition("\n")
    assert summary.endswith(".")
    assert len(rest.partition("Parameters")[0].split()) > 5, "no definition of the elements"
    for heading in ("Parameters", "Examples"):
        assert f"{heading}\n    ----" in family.__doc__


def _shift_by_one_of_256(X):
    return np.roll(X, 1, axis=1)


class _Broken(Custom):
    """A family with one fault, which the contract check must find."""

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
        (_Broken("tangents", [double]), "differs from finite differences"),
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
def test_the_contract_check_finds_broken_families(family, message, rows):
    check_family(_Broken("", [double]), rows)
    with pytest.raises(AssertionError, match=message):
        check_family(family, rows)


def test_the_contract_check_leaves_rows_writable():
    X = np.random.RandomState(0).rand(4, 64)
    check_family(CyclicShift(), X)
    X[0, 0] = 2.0
    assert X[0, 0] == 2.0


def test_the_contract_check_passes_read_only_rows(rows):
    with pytest.raises(ValueError, match="read-only"):
        check_family(_Broken("writes", [double]), rows)


def test_a_parameter_that_hides_a_method_is_refused_at_class_definition():
    with pytest.raises(
        TypeError, match=r"parameter 'size' of Box hides Family\.size.*another name"
    ):

        class Box(Family):
            def __init__(self, size=3.0, shape=None):
                self.size = size
                self.shape = shape

    with pytest.raises(TypeError, match=r"parameter 'grid' of Lattice hides ImageFamily\.grid"):

        class Lattice(ImageFamily):
            def __init__(self, grid=3, shape=None):
                self.grid = grid
                self.shape = shape

    with pytest.raises(TypeError, match=r"parameter 'n_elements' of Counted hides"):

        class Counted(Family):
            def __init__(self, n_elements=3, shape=None):
                self.shape = shape

    with pytest.raises(TypeError, match=r"attribute 'draw' of Drawn hides Family\.draw"):

        class Drawn(Family):
            draw = 3

    class Fine(Custom):
        n_elements = 2
        flow = Family.flow


def test_an_attribute_that_hides_a_method_is_found(rows):
    family = Custom([double])
    family.size = 3.0
    with pytest.raises(AssertionError, match=r"attribute 'size' of Custom hides the method"):
        check_family(family, rows)
